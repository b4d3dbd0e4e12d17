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
  all.choice("defaults", &CoordinationConfig::defaults);
  with_cycles.time("cycle_time", &CoordinationConfig::cycle_time_ps).word("defaults");
  with_cycles.size("fusion_threshold", &CoordinationConfig::fusion_threshold)
      .range(1, std::uint64_t{1} << 40)
      .word("defaults");
  with_cycles.boolean("fuse_groups", &CoordinationConfig::fuse_groups);
  in_mode({"cached"})
      .integer("cache_capacity", &CoordinationConfig::cache_capacity)
      .range(0, 65535);
  with_cycles.choice("wait", &CoordinationConfig::wait);
  with_cycles.time("request_time", &CoordinationConfig::request_time_ps).min(0);
  in_mode({"hierarchical", "in_ni"}).integer("arity", &CoordinationConfig::arity).range(1, 1 << 16);
  all.only(table.where_not("coordination.mode", {"in_ni"}))
      .time("message_overhead", &CoordinationConfig::message_overhead_ps)
      .min(0);
  in_mode({"in_ni"}).cycles("ni_update_cycles", &CoordinationConfig::ni_update_cycles).min(1);
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
  all.choice("tensors", &CoordinationConfig::tensors);
  all.integer("num_groups", &CoordinationConfig::num_groups).range(0, kMostGroups);
  all.time("compute_time", &CoordinationConfig::compute_time_ps)
      .range(1'000, 100 * kSecond)
      .word("model");
  all.integer("iterations", &CoordinationConfig::iterations).range(1, 10'000);
  jitter.fraction("rank_skew", &JitterSpec::rank_skew);
  jitter.fraction("jitter", &JitterSpec::jitter);
  jitter.integer("order_window", &JitterSpec::order_window).range(1, kMostGroups);
  all.fraction("compute_contention", &CoordinationConfig::compute_contention).between(0, 0.9);
  jitter.integer("seed", &JitterSpec::seed);
  all.only(has_cycles)
      .integer("new_shapes_every", &CoordinationConfig::new_shapes_every)
      .range(0, 10'000);
  names.integer("name_bytes", &NameShape::name_bytes).range(0, 4096);
  names.integer("name_dimensions", &NameShape::dimensions).range(0, 64);
}

void add_plane_keys(KeyTable& table) {
  const auto all = table.group("coordination", &RunPoint::coordination);
  all.choice("control_plane", &CoordinationConfig::control_plane);
  all.choice("data_plane", &CoordinationConfig::data_plane);
  const auto closed = table
                          .group("coordination.closed_form", &RunPoint::coordination,
                                 &CoordinationConfig::closed_form)
                          .only(table.where_not("coordination.data_plane", {"network"}));
  closed.choice("algorithm", &ClosedFormConfig::algorithm);
  closed.rate("bandwidth", &ClosedFormConfig::bytes_per_second).word("links");
  closed.time("step_latency", &ClosedFormConfig::step_latency_ps).word("links");
}

}  // namespace

void add_coordination_keys(KeyTable& table) {
  table.group("coordination", &RunPoint::coordination).choice("mode", &CoordinationConfig::mode);
  add_cycle_keys(table);
  add_tensor_keys(table);
  add_plane_keys(table);
}

}  // namespace espalier
