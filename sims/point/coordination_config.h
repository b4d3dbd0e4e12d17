// Section `coordination` as written: how hosts agree on the next all-reduce.
#pragma once

#include <cstdint>

#include "sims/workload/coordination/coordination_spec.h"

namespace espalier {

// Horovod's defaults of cycle time and fusion threshold: before its version 0.21, and since.
enum class CoordinationDefaults : std::uint8_t { v0_21, v0_15 };
// The carrier of control messages, or of reductions: the simulated network or its closed form.
enum class PlaneChoice : std::uint8_t { automatic, network, closed_form };
enum class ClosedFormAllReduce : std::uint8_t { ring, tree };

struct ClosedFormConfig {
  ClosedFormAllReduce algorithm = ClosedFormAllReduce::ring;
  std::uint64_t bytes_per_second = 0;  // bandwidth of a rank; 0 ("links")
  std::uint64_t step_latency_ps = 0;   // 0 ("links")
};

struct CoordinationConfig {
  CoordinationMode mode = CoordinationMode::cached;
  CoordinationDefaults defaults = CoordinationDefaults::v0_21;
  std::uint64_t cycle_time_ps = 0;  // 0 ("defaults")
  Bytes fusion_threshold = 0;       // 0 ("defaults")
  std::uint32_t num_groups = 0;     // 0: none
  bool fuse_groups = true;
  std::uint32_t cache_capacity = 1024;
  std::uint32_t arity = 8;
  DataPlaneWait wait = DataPlaneWait::asynchronous;
  std::uint64_t request_time_ps = 1'750'000;  // Romero et al.'s crossover at 384 GPUs; 1.5 to 2 us
  std::uint64_t message_overhead_ps = 500'000;  // of software, for each send and each receive
  Cycle ni_update_cycles = 2;
  std::uint32_t iterations = 3;
  LayerTensors tensors = LayerTensors::weights;
  std::uint64_t compute_time_ps = 0;  // of an iteration; 0 ("model")
  std::uint32_t new_shapes_every = 0;
  JitterSpec jitter;
  double compute_contention = 0;  // share of the computing speed that is lost while all-reduces run
  NameShape names;
  PlaneChoice control_plane = PlaneChoice::automatic;
  PlaneChoice data_plane = PlaneChoice::automatic;
  ClosedFormConfig closed_form;
};

// The largest number of ranks for which `auto` chooses the network.
inline constexpr std::size_t kMostControlRanks = 1024;
inline constexpr std::size_t kMostDataRanks = 64;

[[nodiscard]] constexpr bool is_on_network(PlaneChoice choice, std::size_t ranks,
                                           std::size_t most) {
  return choice == PlaneChoice::network || (choice == PlaneChoice::automatic && ranks <= most);
}

[[nodiscard]] inline std::uint64_t cycle_time_ps(const CoordinationConfig& config) {
  if (config.cycle_time_ps != 0) return config.cycle_time_ps;
  constexpr std::uint64_t kMillisecond = 1'000'000'000;
  return config.defaults == CoordinationDefaults::v0_21 ? kMillisecond : 5 * kMillisecond;
}
[[nodiscard]] inline Bytes fusion_threshold(const CoordinationConfig& config) {
  if (config.fusion_threshold != 0) return config.fusion_threshold;
  return (config.defaults == CoordinationDefaults::v0_21 ? Bytes{128} : Bytes{64}) << 20;
}

}  // namespace espalier
