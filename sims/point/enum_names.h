// The names of the configuration's choices, in the order of their enumerators.
#pragma once

#include <array>
#include <string>
#include <vector>

#include "sims/point/config.h"

namespace espalier {

template <class Enum>
struct EnumNames;

template <>
struct EnumNames<TopologyKind> {
  static constexpr std::array value{
      "torus",    "mesh",    "fully_connected", "switch",       "dgx2",
      "fat_tree", "bigraph", "dragonfly",       "gpu_cluster",  "data_center",
      "file",     "anynet",  "dimensions",      "astra_network"};
};
template <>
struct EnumNames<Placement> {
  static constexpr std::array value{"packed", "spread", "random"};
};
template <>
struct EnumNames<CoordinationMode> {
  static constexpr std::array value{"none", "coordinator", "hierarchical", "cached", "in_ni"};
};
template <>
struct EnumNames<CoordinationDefaults> {
  static constexpr std::array value{"v0_21", "v0_15"};
};
template <>
struct EnumNames<DataPlaneWait> {
  static constexpr std::array value{"asynchronous", "blocking"};
};
template <>
struct EnumNames<LayerTensors> {
  static constexpr std::array value{"weights", "bias", "batch_norm"};
};
template <>
struct EnumNames<PlaneChoice> {
  static constexpr std::array value{"auto", "network", "closed_form"};
};
template <>
struct EnumNames<ClosedFormAllReduce> {
  static constexpr std::array value{"ring", "tree"};
};
// As hw/cost/technology.cpp calls them.
template <>
struct EnumNames<CellLibrary> {
  static constexpr std::array value{"osu050",     "osu035",   "osu018",    "gf180mcu",
                                    "ihp_sg13g2", "sky130hd", "nangate45", "asap7"};
};
template <>
struct EnumNames<Storage> {
  static constexpr std::array value{"auto", "flip_flop", "sram"};
};
template <>
struct EnumNames<DimensionShape> {
  static constexpr std::array value{"ring", "fully_connected", "switch"};
};
template <>
struct EnumNames<DimensionAlgorithm> {
  static constexpr std::array value{"ring", "direct", "halving_doubling", "in_network"};
};
template <>
struct EnumNames<QueueOrder> {
  static constexpr std::array value{"fifo", "scf"};
};
template <>
struct EnumNames<ChunkKey> {
  static constexpr std::array value{"larger", "before", "after"};
};
template <>
struct EnumNames<TieRule> {
  static constexpr std::array value{"newest", "oldest"};
};
template <>
struct EnumNames<PartSizes> {
  static constexpr std::array value{"auto", "equal", "exact"};
};
template <>
struct EnumNames<Folding> {
  static constexpr std::array value{"auto", "on", "off"};
};
template <>
struct EnumNames<FlowControlMode> {
  static constexpr std::array value{"message", "packet"};
};
template <>
struct EnumNames<Switching> {
  static constexpr std::array value{"vct", "wormhole"};
};
template <>
struct EnumNames<SwitchHold> {
  static constexpr std::array value{"packet", "flit"};
};
template <>
struct EnumNames<CrossbarInputs> {
  static constexpr std::array value{"port", "vc"};
};
template <>
struct EnumNames<LockstepMode> {
  static constexpr std::array value{"off", "estimate", "drain", "full"};
};
template <>
struct EnumNames<ReductionMode> {
  static constexpr std::array value{"streaming", "after_message"};
};
template <>
struct EnumNames<Fidelity> {
  static constexpr std::array value{"auto", "train", "cycle"};
};
template <>
struct EnumNames<ControlPattern> {
  static constexpr std::array value{"uniform", "neighbor"};
};
template <>
struct EnumNames<ControlVcs> {
  static constexpr std::array value{"own", "shared"};
};
template <>
struct EnumNames<TrafficPattern> {
  static constexpr std::array value{"uniform", "neighbor", "transpose", "bit_complement", "file"};
};
template <>
struct EnumNames<CollectiveOp> {
  static constexpr std::array value{"all_reduce", "reduce_scatter", "all_gather", "all_to_all",
                                    "broadcast",  "reduce",         "custom"};
};
template <>
struct EnumNames<ProtocolChoice> {
  static constexpr std::array value{"auto", "Simple", "LL", "LL128"};
};
template <>
struct EnumNames<OrderModel> {
  static constexpr std::array value{"ring", "halving_doubling", "dbtree", "bcube"};
};
template <>
struct EnumNames<OrderForm> {
  static constexpr std::array value{"generated", "corrected", "as_printed"};
};
template <>
struct EnumNames<OrderObjective> {
  static constexpr std::array value{"sum", "max", "load"};
};
template <>
struct EnumNames<OrderSearch> {
  static constexpr std::array value{"annealing", "tabu"};
};
template <>
struct EnumNames<OrderDirection> {
  static constexpr std::array value{"best", "worst"};
};
template <>
struct EnumNames<OrderStart> {
  static constexpr std::array value{"clustered", "identity", "random"};
};
template <>
struct EnumNames<Overlap> {
  static constexpr std::array value{"none", "layerwise"};
};
template <>
struct EnumNames<WorkloadKind> {
  static constexpr std::array value{"resnet152", "gnmt", "dlrm", "transformer_1t"};
};
template <>
struct EnumNames<GradientExchange> {
  static constexpr std::array value{"bulk", "per_layer"};
};
template <>
struct EnumNames<PeSharing> {
  static constexpr std::array value{"samples", "folds"};
};
template <>
struct EnumNames<LayerWeights> {
  static constexpr std::array value{"own", "shared", "none", "lookup"};
};

// As in the configuration: name_of(LockstepMode::drain) is "drain".
template <class Enum>
[[nodiscard]] constexpr const char* name_of(Enum choice) {
  return EnumNames<Enum>::value.at(static_cast<std::size_t>(choice));
}

template <class Enum>
[[nodiscard]] std::vector<std::string> all_names() {
  return {EnumNames<Enum>::value.begin(), EnumNames<Enum>::value.end()};
}

}  // namespace espalier
