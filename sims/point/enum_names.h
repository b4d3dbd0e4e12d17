// The configuration's words for enumerators.
#pragma once

#include <array>
#include <cstddef>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "sims/point/collective_config.h"
#include "sims/point/coordination_config.h"
#include "sims/point/ni_config.h"
#include "sims/point/reorder_config.h"
#include "sims/point/router_config.h"
#include "sims/point/simulation_config.h"
#include "sims/point/system_config.h"
#include "sims/point/topology_config.h"
#include "sims/point/traffic_config.h"
#include "sims/point/training_config.h"

namespace espalier {

template <class Enum>
struct EnumName {
  Enum value;
  const char* name;
};

namespace enum_names {

// GCC and Clang print a value without an enumerator as a cast: "(espalier::TieRule)3".
template <auto Value>
constexpr bool has_enumerator() {
  constexpr std::string_view text = __PRETTY_FUNCTION__;
  constexpr std::string_view before = "Value = ";
  return text[text.find(before) + before.size()] != '(';
}

// The names by enumerator. Does not compile unless every enumerator is listed, in order.
template <class Enum, std::size_t Count>
constexpr std::array<const char*, Count> all_of(const EnumName<Enum> (&names)[Count]) {
  static_assert(has_enumerator<static_cast<Enum>(Count - 1)>(), "a name without an enumerator");
  static_assert(!has_enumerator<static_cast<Enum>(Count)>(), "an enumerator without a name");
  std::array<const char*, Count> by_number{};
  for (std::size_t i = 0; i < Count; ++i) {
    if (names[i].value != static_cast<Enum>(i)) throw std::logic_error("not in order");
    by_number[i] = names[i].name;
  }
  return by_number;
}

}  // namespace enum_names

template <class Enum>
inline constexpr int kEnumNames = 0;

template <>
inline constexpr auto kEnumNames<Routing> =
    enum_names::all_of<Routing>({{Routing::automatic, "auto"},
                                 {Routing::dimension_order, "dimension_order"},
                                 {Routing::up_down, "up_down"},
                                 {Routing::shortest, "shortest"},
                                 {Routing::ecmp, "ecmp"},
                                 {Routing::split, "split"},
                                 {Routing::table, "file"}});

template <>
inline constexpr auto kEnumNames<RtlBlock> =
    enum_names::all_of<RtlBlock>({{RtlBlock::ni_control, "ni_control"},
                                  {RtlBlock::dependency_state, "dependency_state"},
                                  {RtlBlock::dimension_queue, "dimension_queue"},
                                  {RtlBlock::output_hold, "output_hold"}});

template <>
inline constexpr auto kEnumNames<CoordinationMode> =
    enum_names::all_of<CoordinationMode>({{CoordinationMode::none, "none"},
                                          {CoordinationMode::coordinator, "coordinator"},
                                          {CoordinationMode::hierarchical, "hierarchical"},
                                          {CoordinationMode::cached, "cached"},
                                          {CoordinationMode::in_ni, "in_ni"}});
template <>
inline constexpr auto kEnumNames<CoordinationDefaults> = enum_names::all_of<CoordinationDefaults>(
    {{CoordinationDefaults::v0_21, "v0_21"}, {CoordinationDefaults::v0_15, "v0_15"}});
template <>
inline constexpr auto kEnumNames<DataPlaneWait> = enum_names::all_of<DataPlaneWait>(
    {{DataPlaneWait::asynchronous, "asynchronous"}, {DataPlaneWait::blocking, "blocking"}});
template <>
inline constexpr auto kEnumNames<LayerTensors> =
    enum_names::all_of<LayerTensors>({{LayerTensors::weights, "weights"},
                                      {LayerTensors::bias, "bias"},
                                      {LayerTensors::batch_norm, "batch_norm"}});
template <>
inline constexpr auto kEnumNames<PlaneChoice> =
    enum_names::all_of<PlaneChoice>({{PlaneChoice::automatic, "auto"},
                                     {PlaneChoice::network, "network"},
                                     {PlaneChoice::closed_form, "closed_form"}});
template <>
inline constexpr auto kEnumNames<ClosedFormAllReduce> = enum_names::all_of<ClosedFormAllReduce>(
    {{ClosedFormAllReduce::ring, "ring"}, {ClosedFormAllReduce::tree, "tree"}});
// The same names as in hw/cost/technology.cpp.
template <>
inline constexpr auto kEnumNames<CellLibrary> =
    enum_names::all_of<CellLibrary>({{CellLibrary::osu050, "osu050"},
                                     {CellLibrary::osu035, "osu035"},
                                     {CellLibrary::osu018, "osu018"},
                                     {CellLibrary::gf180mcu, "gf180mcu"},
                                     {CellLibrary::ihp_sg13g2, "ihp_sg13g2"},
                                     {CellLibrary::sky130hd, "sky130hd"},
                                     {CellLibrary::nangate45, "nangate45"},
                                     {CellLibrary::asap7, "asap7"}});
template <>
inline constexpr auto kEnumNames<Storage> = enum_names::all_of<Storage>(
    {{Storage::automatic, "auto"}, {Storage::flip_flop, "flip_flop"}, {Storage::sram, "sram"}});
template <>
inline constexpr auto kEnumNames<DimensionShape> =
    enum_names::all_of<DimensionShape>({{DimensionShape::ring, "ring"},
                                        {DimensionShape::fully_connected, "fully_connected"},
                                        {DimensionShape::switched, "switch"}});
template <>
inline constexpr auto kEnumNames<DimensionAlgorithm> = enum_names::all_of<DimensionAlgorithm>(
    {{DimensionAlgorithm::ring, "ring"},
     {DimensionAlgorithm::direct, "direct"},
     {DimensionAlgorithm::halving_doubling, "halving_doubling"},
     {DimensionAlgorithm::in_network, "in_network"}});
template <>
inline constexpr auto kEnumNames<QueueOrder> =
    enum_names::all_of<QueueOrder>({{QueueOrder::fifo, "fifo"}, {QueueOrder::scf, "scf"}});
template <>
inline constexpr auto kEnumNames<ChunkKey> = enum_names::all_of<ChunkKey>(
    {{ChunkKey::larger, "larger"}, {ChunkKey::before, "before"}, {ChunkKey::after, "after"}});
template <>
inline constexpr auto kEnumNames<TieRule> =
    enum_names::all_of<TieRule>({{TieRule::newest, "newest"}, {TieRule::oldest, "oldest"}});
template <>
inline constexpr auto kEnumNames<PartSizes> = enum_names::all_of<PartSizes>(
    {{PartSizes::automatic, "auto"}, {PartSizes::equal, "equal"}, {PartSizes::exact, "exact"}});
template <>
inline constexpr auto kEnumNames<Folding> = enum_names::all_of<Folding>(
    {{Folding::automatic, "auto"}, {Folding::on, "on"}, {Folding::off, "off"}});
template <>
inline constexpr auto kEnumNames<FlowControlMode> = enum_names::all_of<FlowControlMode>(
    {{FlowControlMode::message, "message"}, {FlowControlMode::packet, "packet"}});
template <>
inline constexpr auto kEnumNames<Switching> =
    enum_names::all_of<Switching>({{Switching::vct, "vct"}, {Switching::wormhole, "wormhole"}});
template <>
inline constexpr auto kEnumNames<SwitchHold> =
    enum_names::all_of<SwitchHold>({{SwitchHold::packet, "packet"}, {SwitchHold::flit, "flit"}});
template <>
inline constexpr auto kEnumNames<CrossbarInputs> = enum_names::all_of<CrossbarInputs>(
    {{CrossbarInputs::port, "port"}, {CrossbarInputs::vc, "vc"}});
template <>
inline constexpr auto kEnumNames<TrafficLoop> =
    enum_names::all_of<TrafficLoop>({{TrafficLoop::open, "open"}, {TrafficLoop::closed, "closed"}});
template <>
inline constexpr auto kEnumNames<VcOrder> =
    enum_names::all_of<VcOrder>({{VcOrder::lowest, "lowest"},
                                 {VcOrder::rotating, "rotating"},
                                 {VcOrder::destination, "destination"}});
template <>
inline constexpr auto kEnumNames<InjectionVcs> = enum_names::all_of<InjectionVcs>(
    {{InjectionVcs::automatic, "auto"}, {InjectionVcs::one, "one"}, {InjectionVcs::all, "all"}});
template <>
inline constexpr auto kEnumNames<LockstepMode> =
    enum_names::all_of<LockstepMode>({{LockstepMode::off, "off"},
                                      {LockstepMode::estimate, "estimate"},
                                      {LockstepMode::drain, "drain"},
                                      {LockstepMode::full, "full"},
                                      {LockstepMode::nop, "nop"}});
template <>
inline constexpr auto kEnumNames<StepEnd> =
    enum_names::all_of<StepEnd>({{StepEnd::paper, "paper"}, {StepEnd::authors, "authors"}});
template <>
inline constexpr auto kEnumNames<LineOrder> =
    enum_names::all_of<LineOrder>({{LineOrder::folded, "folded"}, {LineOrder::natural, "natural"}});
template <>
inline constexpr auto kEnumNames<NiRules> =
    enum_names::all_of<NiRules>({{NiRules::linked, "linked"},
                                 {NiRules::authors, "authors"},
                                 {NiRules::authors_linked, "authors_linked"}});
template <>
inline constexpr auto kEnumNames<ReductionMode> = enum_names::all_of<ReductionMode>(
    {{ReductionMode::streaming, "streaming"}, {ReductionMode::after_message, "after_message"}});
template <>
inline constexpr auto kEnumNames<Fidelity> = enum_names::all_of<Fidelity>(
    {{Fidelity::automatic, "auto"}, {Fidelity::train, "train"}, {Fidelity::cycle, "cycle"}});
template <>
inline constexpr auto kEnumNames<ControlPattern> = enum_names::all_of<ControlPattern>(
    {{ControlPattern::uniform, "uniform"}, {ControlPattern::neighbor, "neighbor"}});
template <>
inline constexpr auto kEnumNames<ControlVcs> =
    enum_names::all_of<ControlVcs>({{ControlVcs::own, "own"}, {ControlVcs::shared, "shared"}});
template <>
inline constexpr auto kEnumNames<TrafficPattern> =
    enum_names::all_of<TrafficPattern>({{TrafficPattern::uniform, "uniform"},
                                        {TrafficPattern::neighbor, "neighbor"},
                                        {TrafficPattern::transpose, "transpose"},
                                        {TrafficPattern::bit_complement, "bit_complement"},
                                        {TrafficPattern::bit_reverse, "bit_reverse"},
                                        {TrafficPattern::shuffle, "shuffle"},
                                        {TrafficPattern::tornado, "tornado"},
                                        {TrafficPattern::hotspot, "hotspot"},
                                        {TrafficPattern::file, "file"},
                                        {TrafficPattern::sockets, "sockets"}});
template <>
inline constexpr auto kEnumNames<CollectiveOp> =
    enum_names::all_of<CollectiveOp>({{CollectiveOp::all_reduce, "all_reduce"},
                                      {CollectiveOp::reduce_scatter, "reduce_scatter"},
                                      {CollectiveOp::all_gather, "all_gather"},
                                      {CollectiveOp::all_to_all, "all_to_all"},
                                      {CollectiveOp::broadcast, "broadcast"},
                                      {CollectiveOp::reduce, "reduce"},
                                      {CollectiveOp::custom, "custom"},
                                      {CollectiveOp::all_to_allv, "all_to_allv"},
                                      {CollectiveOp::all_gatherv, "all_gatherv"},
                                      {CollectiveOp::reduce_scatterv, "reduce_scatterv"}});
template <>
inline constexpr auto kEnumNames<ProtocolChoice> =
    enum_names::all_of<ProtocolChoice>({{ProtocolChoice::automatic, "auto"},
                                        {ProtocolChoice::simple, "Simple"},
                                        {ProtocolChoice::ll, "LL"},
                                        {ProtocolChoice::ll128, "LL128"},
                                        {ProtocolChoice::message, "Message"}});
template <>
inline constexpr auto kEnumNames<OrderModel> =
    enum_names::all_of<OrderModel>({{OrderModel::ring, "ring"},
                                    {OrderModel::halving_doubling, "halving_doubling"},
                                    {OrderModel::dbtree, "dbtree"},
                                    {OrderModel::bcube, "bcube"}});
template <>
inline constexpr auto kEnumNames<OrderForm> =
    enum_names::all_of<OrderForm>({{OrderForm::generated, "generated"},
                                   {OrderForm::corrected, "corrected"},
                                   {OrderForm::as_printed, "as_printed"}});
template <>
inline constexpr auto kEnumNames<OrderObjective> = enum_names::all_of<OrderObjective>(
    {{OrderObjective::sum, "sum"}, {OrderObjective::max, "max"}, {OrderObjective::load, "load"}});
template <>
inline constexpr auto kEnumNames<OrderDirection> = enum_names::all_of<OrderDirection>(
    {{OrderDirection::best, "best"}, {OrderDirection::worst, "worst"}});
template <>
inline constexpr auto kEnumNames<OrderStart> =
    enum_names::all_of<OrderStart>({{OrderStart::clustered, "clustered"},
                                    {OrderStart::identity, "identity"},
                                    {OrderStart::random, "random"}});
template <>
inline constexpr auto kEnumNames<Overlap> =
    enum_names::all_of<Overlap>({{Overlap::none, "none"}, {Overlap::layerwise, "layerwise"}});
template <>
inline constexpr auto kEnumNames<WorkloadKind> =
    enum_names::all_of<WorkloadKind>({{WorkloadKind::resnet152, "resnet152"},
                                      {WorkloadKind::gnmt, "gnmt"},
                                      {WorkloadKind::dlrm, "dlrm"},
                                      {WorkloadKind::transformer_1t, "transformer_1t"}});
template <>
inline constexpr auto kEnumNames<GradientExchange> = enum_names::all_of<GradientExchange>(
    {{GradientExchange::bulk, "bulk"}, {GradientExchange::per_layer, "per_layer"}});
template <>
inline constexpr auto kEnumNames<PeSharing> =
    enum_names::all_of<PeSharing>({{PeSharing::samples, "samples"}, {PeSharing::folds, "folds"}});
template <>
inline constexpr auto kEnumNames<LayerWeights> =
    enum_names::all_of<LayerWeights>({{LayerWeights::own, "own"},
                                      {LayerWeights::shared, "shared"},
                                      {LayerWeights::none, "none"},
                                      {LayerWeights::lookup, "lookup"}});

// The configuration's word: name_of(LockstepMode::drain) is "drain".
template <class Enum>
[[nodiscard]] constexpr const char* name_of(Enum choice) {
  return kEnumNames<Enum>.at(static_cast<std::size_t>(choice));
}

template <class Enum>
[[nodiscard]] std::vector<std::string> all_names() {
  return {kEnumNames<Enum>.begin(), kEnumNames<Enum>.end()};
}

}  // namespace espalier
