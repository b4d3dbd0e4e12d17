// Keys of the section `coordination`.
#include <limits>

#include "sims/config/key_builders.h"
#include "sims/point/enum_names.h"

namespace espalier {

using namespace key_builders;

namespace {

constexpr std::uint64_t kMostGroups = 1 << 16;
constexpr std::uint64_t kLargestThreshold = std::uint64_t{1} << 40;

CoordinationConfig& of(RunPoint& point) { return *point.coordination; }
const CoordinationConfig& of(const RunPoint& point) { return *point.coordination; }

ValueShape shares() {
  ValueShape shape;
  shape.min_fraction = 0.0;
  shape.max_fraction = 1.0;
  return shape;
}

ValueShape contention_shares() {
  ValueShape shape;
  shape.min_fraction = 0.0;
  shape.max_fraction = 0.9;
  return shape;
}

Key with_cycles(Key key) {
  return only_when(std::move(key), "coordination.mode", "coordinator, hierarchical or cached",
                   [](const RunPoint& p) {
                     const CoordinationMode mode = of(p).mode;
                     return mode != CoordinationMode::none && mode != CoordinationMode::in_ni;
                   });
}

Key in_mode(Key key, CoordinationMode mode) {
  return only_when(std::move(key), "coordination.mode", name_of(mode),
                   [mode](const RunPoint& p) { return of(p).mode == mode; });
}

Key with_trees(Key key) {
  return only_when(
      std::move(key), "coordination.mode", "hierarchical or in_ni", [](const RunPoint& p) {
        const CoordinationMode mode = of(p).mode;
        return mode == CoordinationMode::hierarchical || mode == CoordinationMode::in_ni;
      });
}

Key in_closed_form(Key key) {
  return only_when(std::move(key), "coordination.data_plane", "not network",
                   [](const RunPoint& p) { return of(p).data_plane != PlaneChoice::network; });
}

void add_cycle_keys(std::vector<Key>& table) {
  table.push_back(choice_key<CoordinationDefaults>(
      "coordination.defaults",
      "cycle time and fusion threshold of Horovod: v0_21: 1 ms, 128 MiB; v0_15: 5 ms, 64 MiB",
      [](auto& p) -> auto& { return of(p).defaults; }));
  table.push_back(with_cycles(or_word(number_key(
                                          ValueType::time, "coordination.cycle_time", 1, kSecond,
                                          "between the starts of two cycles of a rank",
                                          [](auto& p) -> auto& { return of(p).cycle_time_ps; }),
                                      "defaults")));
  table.push_back(with_cycles(listable(or_word(
      number_key(
          ValueType::size, "coordination.fusion_threshold", 1, kLargestThreshold,
          "of one fused all-reduce", [](auto& p) -> auto& { return of(p).fusion_threshold; }),
      "defaults"))));
  table.push_back(with_cycles(boolean_key(
      "coordination.fuse_groups", "groups may be fused with each other",
      [](auto& p) -> auto& { return of(p).fuse_groups; })));
  table.push_back(in_mode(integer_key(
                              "coordination.cache_capacity", 0, 65535,
                              "responses that every rank caches; 0: none, as coordinator",
                              [](auto& p) -> auto& { return of(p).cache_capacity; }),
                          CoordinationMode::cached));
  table.push_back(with_cycles(choice_key<DataPlaneWait>(
      "coordination.wait", "the background thread while an all-reduce runs: NCCL's or MPI's way",
      [](auto& p) -> auto& { return of(p).wait; })));
  table.push_back(with_cycles(number_key(
      ValueType::time, "coordination.request_time", 0, kSecond,
      "a coordinator handles one tensor's request",
      [](auto& p) -> auto& { return of(p).request_time_ps; })));
  table.push_back(with_trees(integer_key(
      "coordination.arity", 1, 1 << 16, "children of a rank in the tree of coordinators or NIs",
      [](auto& p) -> auto& { return of(p).arity; })));
  table.push_back(only_when(
      number_key(
          ValueType::time, "coordination.message_overhead", 0, kSecond,
          "software, for each message sent, each received and each all-reduce started; a cycle at "
          "least",
          [](auto& p) -> auto& { return of(p).message_overhead_ps; }),
      "coordination.mode", "not in_ni",
      [](const RunPoint& p) { return of(p).mode != CoordinationMode::in_ni; }));
  table.push_back(in_mode(integer_key(
                              "coordination.ni_update_cycles", 1, kLongestLatencyCycles,
                              "a bit is set, or a message taken in, until the NI acts on it",
                              [](auto& p) -> auto& { return of(p).ni_update_cycles; }),
                          CoordinationMode::in_ni));
}

void add_tensor_keys(std::vector<Key>& table) {
  table.push_back(choice_key<LayerTensors>(
      "coordination.tensors", "tensors of a layer: weights, with a bias, or with batch norm",
      [](auto& p) -> auto& { return of(p).tensors; }));
  table.push_back(listable(integer_key(
      "coordination.num_groups", 0, kMostGroups,
      "tensors are submitted in so many groups of equal number; 0: one by one",
      [](auto& p) -> auto& { return of(p).num_groups; })));
  table.push_back(or_word(number_key(
                              ValueType::time, "coordination.compute_time", 1'000, 100 * kSecond,
                              "of an iteration without jitter; model: of training.compute",
                              [](auto& p) -> auto& { return of(p).compute_time_ps; }),
                          "model"));
  table.push_back(integer_key(
      "coordination.iterations", 1, 10'000, "the first of which fills response caches",
      [](auto& p) -> auto& { return of(p).iterations; }));
  table.push_back(fraction_key(
      "coordination.rank_skew", shares(), "each rank computes longer by up to this share, always",
      [](auto& p) -> auto& { return of(p).jitter.rank_skew; }));
  table.push_back(fraction_key(
      "coordination.jitter", shares(), "and by up to this share anew in each iteration",
      [](auto& p) -> auto& { return of(p).jitter.jitter; }));
  table.push_back(integer_key(
      "coordination.order_window", 1, kMostGroups,
      "tensors are complete up to so many places, less one, from their order",
      [](auto& p) -> auto& { return of(p).jitter.order_window; }));
  table.push_back(listable(fraction_key(
      "coordination.compute_contention", contention_shares(),
      "of its speed that a rank's computing loses from when an all-reduce is posted until it is "
      "done",
      [](auto& p) -> auto& { return of(p).compute_contention; })));
  table.push_back(listable(integer_key(
      "coordination.seed", 0, std::numeric_limits<std::uint64_t>::max(),
      "of skew, jitter and order", [](auto& p) -> auto& { return of(p).jitter.seed; })));
  table.push_back(with_cycles(integer_key(
      "coordination.new_shapes_every", 0, 10'000,
      "iterations after which all tensors change their shapes; 0: never",
      [](auto& p) -> auto& { return of(p).new_shapes_every; })));
  table.push_back(with_cycles(integer_key(
      "coordination.name_bytes", 0, 4096, "of a tensor's name in requests and responses",
      [](auto& p) -> auto& { return of(p).names.name_bytes; })));
  table.push_back(with_cycles(integer_key(
      "coordination.name_dimensions", 0, 64, "of a tensor in requests",
      [](auto& p) -> auto& { return of(p).names.dimensions; })));
}

void add_plane_keys(std::vector<Key>& table) {
  table.push_back(choice_key<PlaneChoice>(
      "coordination.control_plane",
      "messages in the simulated network or in closed form; auto: the network up to 1024 ranks",
      [](auto& p) -> auto& { return of(p).control_plane; }));
  table.push_back(choice_key<PlaneChoice>(
      "coordination.data_plane",
      "all-reduces in the simulated network or in closed form; auto: the network up to 64 ranks",
      [](auto& p) -> auto& { return of(p).data_plane; }));
  table.push_back(in_closed_form(choice_key<ClosedFormAllReduce>(
      "coordination.closed_form.algorithm", "ring: 2 (N - 1) steps; tree: 2 ceil(log2 N)",
      [](auto& p) -> auto& { return of(p).closed_form.algorithm; })));
  table.push_back(in_closed_form(
      or_word(number_key(
                  ValueType::rate, "coordination.closed_form.bandwidth", 1'000, 1'000 * kSecond,
                  "of a rank; links: what messages between neighbouring ranks reach",
                  [](auto& p) -> auto& { return of(p).closed_form.bytes_per_second; }),
              "links")));
  table.push_back(in_closed_form(
      or_word(number_key(
                  ValueType::time, "coordination.closed_form.step_latency", 1, kSecond,
                  "of a step; links: what a short message between neighbouring ranks takes",
                  [](auto& p) -> auto& { return of(p).closed_form.step_latency_ps; }),
              "links")));
}

}  // namespace

void add_coordination_keys(std::vector<Key>& table) {
  table.push_back(listable(choice_key<CoordinationMode>(
      "coordination.mode",
      "who decides what is all-reduced when: nobody, rank 0, a tree of ranks, response caches, or "
      "the NIs",
      [](auto& p) -> auto& { return of(p).mode; })));
  add_cycle_keys(table);
  add_tensor_keys(table);
  add_plane_keys(table);
}

}  // namespace espalier
