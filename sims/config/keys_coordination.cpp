// Keys of section `coordination`.
#include "sims/config/key_table.h"

namespace espalier {

namespace {

constexpr std::uint64_t kMostGroups = 1 << 16;

void add_cycle_keys(KeyTable& table) {
  const auto all = table.group("coordination", &RunPoint::coordination);
  const auto in_mode = [&](const std::vector<std::string>& modes) {
    return all.only(table.where("coordination.mode", modes));
  };
  const auto with_cycles = in_mode({"coordinator", "hierarchical", "cached"});
  all.choice("defaults", &CoordinationConfig::defaults)
      .doc(
          "Horovod version whose cycle time and fusion threshold are the defaults; v0_21: 1 ms, "
          "128 MiB; v0_15: 5 ms, 64 MiB");
  with_cycles.time("cycle_time", &CoordinationConfig::cycle_time_ps)
      .word("defaults")
      .doc("time between the starts of two cycles of a rank");
  with_cycles.size("fusion_threshold", &CoordinationConfig::fusion_threshold)
      .range(1, std::uint64_t{1} << 40)
      .word("defaults")
      .doc("largest size of a fused all-reduce");
  with_cycles.boolean("fuse_groups", &CoordinationConfig::fuse_groups)
      .doc("true: groups may be fused with each other");
  in_mode({"cached"})
      .integer("cache_capacity", &CoordinationConfig::cache_capacity)
      .range(0, 65535)
      .doc("number of responses that every rank caches; 0: none, as in mode coordinator");
  with_cycles.choice("wait", &CoordinationConfig::wait)
      .doc(
          "behaviour of the background thread while an all-reduce runs: asynchronous as with NCCL, "
          "or blocking as with MPI");
  with_cycles.time("request_time", &CoordinationConfig::request_time_ps)
      .min(0)
      .doc("time that a coordinator needs for the request of one tensor");
  in_mode({"hierarchical", "in_ni"})
      .integer("arity", &CoordinationConfig::arity)
      .range(1, 1 << 16)
      .doc("number of children of a rank in the tree of coordinators or NIs");
  all.only(table.where_not("coordination.mode", {"in_ni"}))
      .time("message_overhead", &CoordinationConfig::message_overhead_ps)
      .min(0)
      .doc(
          "time that software needs for each message sent, each message received and each "
          "all-reduce started; at least one cycle");
  in_mode({"in_ni"})
      .cycles("ni_update_cycles", &CoordinationConfig::ni_update_cycles)
      .min(1)
      .doc("cycles from when a bit is set or a message arrives until the NI acts on it");
}

void add_tensor_keys(KeyTable& table) {
  const std::string mode = "coordination.mode";
  const auto all = table.group("coordination", &RunPoint::coordination);
  const auto jitter =
      table.group("coordination", &RunPoint::coordination, &CoordinationConfig::jitter);
  const KeyCondition has_cycles = table.where(mode, {"coordinator", "hierarchical", "cached"});
  const auto names =
      table.group("coordination", &RunPoint::coordination, &CoordinationConfig::names)
          .only(has_cycles);
  all.choice("tensors", &CoordinationConfig::tensors)
      .doc("tensors of a layer: weights alone, with a bias, or with batch norm");
  all.integer("num_groups", &CoordinationConfig::num_groups)
      .range(0, kMostGroups)
      .doc(
          "number of groups of tensors, equal in number of tensors; a group is submitted as a "
          "whole; 0: tensors are submitted one by one");
  all.time("compute_time", &CoordinationConfig::compute_time_ps)
      .range(1'000, 100 * kSecond)
      .word("model")
      .doc(
          "compute time of an iteration without jitter; model: the time that training.compute "
          "gives");
  all.integer("iterations", &CoordinationConfig::iterations)
      .range(1, 10'000)
      .doc("number of iterations; the first iteration fills the response caches");
  jitter.fraction("rank_skew", &JitterSpec::rank_skew)
      .doc("slows each rank's computing by a fixed random factor of up to 1 + this");
  jitter.fraction("jitter", &JitterSpec::jitter)
      .doc("adds a new random factor of up to 1 + this in each iteration");
  jitter.integer("order_window", &JitterSpec::order_window)
      .range(1, kMostGroups)
      .doc(
          "tensors complete out of order, but each fewer than this many places from its place in "
          "the order");
  all.fraction("compute_contention", &CoordinationConfig::compute_contention)
      .between(0, 0.9)
      .doc(
          "share of speed that a rank's computation loses while an all-reduce is posted and not "
          "complete");
  jitter.integer("seed", &JitterSpec::seed).doc("seed of skew, jitter and order");
  all.only(has_cycles)
      .integer("new_shapes_every", &CoordinationConfig::new_shapes_every)
      .range(0, 10'000)
      .doc("number of iterations after which all tensors change their shapes; 0: never");
  names.integer("name_bytes", &NameShape::name_bytes)
      .range(0, 4096)
      .doc("bytes of a tensor's name in requests and responses");
  names.integer("name_dimensions", &NameShape::dimensions)
      .range(0, 64)
      .doc("number of dimensions of a tensor in requests");
}

void add_plane_keys(KeyTable& table) {
  const auto all = table.group("coordination", &RunPoint::coordination);
  all.choice("control_plane", &CoordinationConfig::control_plane)
      .doc(
          "control messages run in the simulated network or as a closed form; auto: the network up "
          "to 1024 ranks");
  all.choice("data_plane", &CoordinationConfig::data_plane)
      .doc(
          "all-reduces run in the simulated network or as a closed form; auto: the network up to "
          "64 ranks");
  const auto closed = table
                          .group("coordination.closed_form", &RunPoint::coordination,
                                 &CoordinationConfig::closed_form)
                          .only(table.where_not("coordination.data_plane", {"network"}));
  closed.choice("algorithm", &ClosedFormConfig::algorithm)
      .doc("algorithm of the closed form; ring: 2 (N - 1) steps; tree: 2 ceil(log2 N) steps");
  closed.rate("bandwidth", &ClosedFormConfig::bytes_per_second)
      .word("links")
      .doc("bandwidth of a rank; links: the rate that messages between neighbouring ranks reach");
  closed.time("step_latency", &ClosedFormConfig::step_latency_ps)
      .word("links")
      .doc(
          "latency of a step; links: the time that a short message between neighbouring ranks "
          "takes");
}

}  // namespace

void add_coordination_keys(KeyTable& table) {
  table.group("coordination", &RunPoint::coordination)
      .choice("mode", &CoordinationConfig::mode)
      .doc(
          "component that decides which tensors are all-reduced next: none, rank 0, a tree of "
          "ranks, rank 0 with response caches, or the NIs");
  add_cycle_keys(table);
  add_tensor_keys(table);
  add_plane_keys(table);
}

}  // namespace espalier
