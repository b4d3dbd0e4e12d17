// Keys of section `faults`.
#include <utility>

#include "sims/config/key_table.h"

namespace espalier {

namespace {

constexpr std::uint64_t kMostNodeNumber = std::uint64_t{1} << 20;

template <class Struct>
RecordField<Struct> node_field(std::uint32_t Struct::*member) {
  ValueField field = value_field("node", ValueType::integer, 0, kMostNodeNumber, true);
  field.shape.is_node = true;
  return {member, std::move(field)};
}
template <class Struct>
RecordField<Struct> cycles_field(const char* name, Cycle Struct::*member, bool required) {
  return {member, value_field(name, ValueType::integer, 1, kLongestLatencyCycles, required)};
}

}  // namespace

void add_fault_keys(KeyTable& table) {
  const auto faults = table.group("faults", &RunPoint::faults);
  faults.records<SlowLink>(
      "slow_links", &FaultsConfig::slow_links,
      {{&SlowLink::from, value_field("from", ValueType::vertex, 0, 0, true)},
       {&SlowLink::to, value_field("to", ValueType::vertex, 0, 0, true)},
       {&SlowLink::bytes_per_second,
        value_field("bandwidth", ValueType::rate, kSlowestLink, kFastestLink, false)},
       {&SlowLink::latency_ps, value_field("latency", ValueType::time, 1, kSecond, false)}});
  faults.records<LateNi>(
      "late_nis", &FaultsConfig::late_nis,
      {node_field(&LateNi::node), cycles_field("cycles", &LateNi::cycles, true)});
  faults.records<ClockSkew>(
      "clock_skew", &FaultsConfig::clock_skew,
      {node_field(&ClockSkew::node), cycles_field("cycles", &ClockSkew::cycles, false),
       cycles_field("per_step", &ClockSkew::per_step, false)});
  const auto jitter =
      table.group("faults.dma_jitter", &RunPoint::faults, &FaultsConfig::dma_jitter);
  jitter.cycles("max_cycles", &DmaJitterConfig::max_cycles).required();
  jitter.integer("seed", &DmaJitterConfig::seed);
  jitter.integer("nodes", &DmaJitterConfig::nodes)
      .list(ListOf::any_number)
      .range(0, kMostNodeNumber)
      .nodes()
      .word("all");
}

}  // namespace espalier
