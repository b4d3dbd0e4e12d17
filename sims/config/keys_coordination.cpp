// Keys of section `coordination`.
#include "sims/config/key_table.h"

namespace espalier {

namespace {

using Config = CoordinationConfig;

constexpr std::uint64_t kMostGroups = 1 << 16;

void add_cycle_keys(KeyTable& table) {
  const auto all = table.group("coordination", &RunPoint::coordination);
  const auto in_mode = [&](const std::vector<std::string>& modes) {
    return all.only(table.where("coordination.mode", modes));
  };
  const auto with_cycles = in_mode({"coordinator", "hierarchical", "cached"});
  all.choice("defaults", &Config::defaults)
      .doc("cycle time and fusion threshold of Horovod: v0_21: 1 ms, 128 MiB; v0_15: 5 ms, 64 MiB");
  with_cycles.time("cycle_time", &Config::cycle_time_ps)
      .word("defaults")
      .doc("between the starts of two cycles of a rank");
  with_cycles.size("fusion_threshold", &Config::fusion_threshold)
      .range(1, std::uint64_t{1} << 40)
      .word("defaults")
      .doc("most data of one fused all-reduce");
  with_cycles.boolean("fuse_groups", &Config::fuse_groups)
      .doc("groups may be fused with each other");
  in_mode({"cached"})
      .integer("cache_capacity", &Config::cache_capacity)
      .range(0, 65535)
      .doc("responses that every rank caches; 0: none, as coordinator");
  with_cycles.choice("wait", &Config::wait)
      .doc(
          "the background thread while an all-reduce runs: asynchronous as with NCCL, blocking as "
          "with MPI");
  with_cycles.time("request_time", &Config::request_time_ps)
      .min(0)
      .doc("a coordinator's time for one tensor's request");
  in_mode({"hierarchical", "in_ni"})
      .integer("arity", &Config::arity)
      .range(1, 1 << 16)
      .doc("children of a rank in the tree of coordinators or NIs");
  all.only(table.where_not("coordination.mode", {"in_ni"}))
      .time("message_overhead", &Config::message_overhead_ps)
      .min(0)
      .doc(
          "software's time, at least a cycle, for each message sent, each message received and "
          "each "
          "all-reduce started");
  in_mode({"in_ni"})
      .cycles("ni_update_cycles", &Config::ni_update_cycles)
      .min(1)
      .doc("from when a bit is set, or a message taken in, until the NI acts on it");
}

void add_tensor_keys(KeyTable& table) {
  const std::string mode = "coordination.mode";
  const auto all = table.group("coordination", &RunPoint::coordination);
  const auto jitter = table.group("coordination", &RunPoint::coordination, &Config::jitter);
  const KeyCondition has_cycles = table.where(mode, {"coordinator", "hierarchical", "cached"});
  const auto names =
      table.group("coordination", &RunPoint::coordination, &Config::names).only(has_cycles);
  all.choice("tensors", &Config::tensors)
      .doc("tensors of a layer: weights alone, with a bias, or with batch norm");
  all.integer("num_groups", &Config::num_groups)
      .range(0, kMostGroups)
      .doc(
          "groups of equal numbers of tensors that are submitted together; 0: tensors are "
          "submitted "
          "one by one");
  all.time("compute_time", &Config::compute_time_ps)
      .range(1'000, 100 * kSecond)
      .word("model")
      .doc("of an iteration without jitter; model: as training.compute gives it");
  all.integer("iterations", &Config::iterations)
      .range(1, 10'000)
      .doc("the first iteration fills response caches");
  jitter.fraction("rank_skew", &JitterSpec::rank_skew)
      .doc("slows each rank's computing by a fixed random factor of up to 1 + this");
  jitter.fraction("jitter", &JitterSpec::jitter)
      .doc("adds a new random factor of up to 1 + this in each iteration");
  jitter.integer("order_window", &JitterSpec::order_window)
      .range(1, kMostGroups)
      .doc("tensors are complete fewer than this many places from their order");
  all.fraction("compute_contention", &Config::compute_contention)
      .between(0, 0.9)
      .doc(
          "share of its speed that a rank's computing loses from when an all-reduce is posted "
          "until it is done");
  jitter.integer("seed", &JitterSpec::seed).doc("of skew, jitter and order");
  all.only(has_cycles)
      .integer("new_shapes_every", &Config::new_shapes_every)
      .range(0, 10'000)
      .doc("iterations after which all tensors change their shapes; 0: never");
  names.integer("name_bytes", &NameShape::name_bytes)
      .range(0, 4096)
      .doc("of a tensor's name in requests and responses");
  names.integer("name_dimensions", &NameShape::dimensions)
      .range(0, 64)
      .doc("of a tensor in requests");
}

void add_plane_keys(KeyTable& table) {
  const auto all = table.group("coordination", &RunPoint::coordination);
  all.choice("control_plane", &Config::control_plane)
      .doc(
          "messages in the simulated network or in closed form; auto: the network up to 1024 "
          "ranks");
  all.choice("data_plane", &Config::data_plane)
      .doc(
          "all-reduces in the simulated network or in closed form; auto: the network up to 64 "
          "ranks");
  const auto closed =
      table.group("coordination.closed_form", &RunPoint::coordination, &Config::closed_form)
          .only(table.where_not("coordination.data_plane", {"network"}));
  closed.choice("algorithm", &ClosedFormConfig::algorithm)
      .doc("ring: 2 (N - 1) steps; tree: 2 ceil(log2 N)");
  closed.rate("bandwidth", &ClosedFormConfig::bytes_per_second)
      .word("links")
      .doc("of a rank; links: the rate that messages between neighbouring ranks reach");
  closed.time("step_latency", &ClosedFormConfig::step_latency_ps)
      .word("links")
      .doc("of a step; links: the time that a short message between neighbouring ranks takes");
}

}  // namespace

void add_coordination_keys(KeyTable& table) {
  table.group("coordination", &RunPoint::coordination)
      .choice("mode", &Config::mode)
      .doc(
          "who decides what is all-reduced when: nobody, rank 0, a tree of ranks, response caches, "
          "or the NIs");
  add_cycle_keys(table);
  add_tensor_keys(table);
  add_plane_keys(table);
}

}  // namespace espalier
