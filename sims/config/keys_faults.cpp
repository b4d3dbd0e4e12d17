// Keys of section `faults`.
#include "sims/config/key_table.h"

namespace espalier {

namespace {

constexpr std::uint64_t kMostNodeNumber = std::uint64_t{1} << 20;

// One field of a list of mappings, and how to set the struct's member.
template <class Struct>
struct RecordField {
  ValueField field;
  std::function<void(Struct&, const Value&)> set;
  std::function<Value(const Struct&)> get;
};

template <class Struct, class Member>
RecordField<Struct> record_field(const char* name, Member Struct::*member, ValueType type,
                                 std::uint64_t min, std::uint64_t max, bool required) {
  ValueShape shape;
  shape.type = type;
  shape.min = min;
  shape.max = max;
  return {{name, shape, required},
          [member](Struct& record, const Value& value) {
            key_values::set_member(record.*member, value);
          },
          [member](const Struct& record) { return key_values::value_of_member(record.*member); }};
}
template <class Struct>
RecordField<Struct> node_field(std::uint32_t Struct::*member) {
  return record_field("node", member, ValueType::integer, 0, kMostNodeNumber, true);
}
template <class Struct>
RecordField<Struct> cycles_field(const char* name, Cycle Struct::*member, bool required) {
  return record_field(name, member, ValueType::integer, 1, kLongestLatencyCycles, required);
}

// Adds a key whose value is a list of mappings.
template <class Struct>
void add_records(KeyTable& table, const char* name, std::vector<Struct> FaultsConfig::*list,
                 const std::vector<RecordField<Struct>>& fields, const char* description) {
  Key& key = table.add(name);
  key.shape.type = ValueType::record;
  key.shape.list = ListOf::any_number;
  key.shape.zero_word = "none";
  for (const RecordField<Struct>& field : fields) key.shape.fields.push_back(field.field);
  key.description = description;
  key.optional = true;
  key.set = [list, fields](RunPoint& point, const Value& value) {
    auto& records = point.faults.*list;
    records.clear();
    for (const std::vector<Value>& written : value.records) {
      Struct& record = records.emplace_back();
      for (std::size_t f = 0; f < fields.size(); ++f) fields[f].set(record, written[f]);
    }
  };
  key.get = [list, fields](const RunPoint& point) {
    Value value;
    for (const Struct& record : point.faults.*list) {
      auto& written = value.records.emplace_back();
      for (const RecordField<Struct>& field : fields) written.push_back(field.get(record));
    }
    return value;
  };
}

}  // namespace

void add_fault_keys(KeyTable& table) {
  add_records<SlowLink>(
      table, "faults.slow_links", &FaultsConfig::slow_links,
      {record_field("from", &SlowLink::from, ValueType::vertex, 0, 0, true),
       record_field("to", &SlowLink::to, ValueType::vertex, 0, 0, true),
       record_field("bandwidth", &SlowLink::bytes_per_second, ValueType::rate, kSlowestLink,
                    kFastestLink, false),
       record_field("latency", &SlowLink::latency_ps, ValueType::time, 1, kSecond, false)},
      "slow links: all links from one vertex to a neighbour, in one direction; their bandwidth is "
      "lower or their latency longer than that of healthy links");
  add_records<LateNi>(table, "faults.late_nis", &FaultsConfig::late_nis,
                      {node_field(&LateNi::node), cycles_field("cycles", &LateNi::cycles, true)},
                      "late hosts: the host of the node posts the collective this many cycles "
                      "later than all other hosts");
  add_records<ClockSkew>(
      table, "faults.clock_skew", &FaultsConfig::clock_skew,
      {node_field(&ClockSkew::node), cycles_field("cycles", &ClockSkew::cycles, false),
       cycles_field("per_step", &ClockSkew::per_step, false)},
      "skewed clocks: the lockstep clock of the NI is `cycles` behind, and its down-counter takes "
      "`per_step` cycles longer in each step");
  const auto spread =
      table.group("faults.post_spread", &RunPoint::faults, &FaultsConfig::post_spread);
  spread.cycles("max_cycles", &PostSpread::max_cycles)
      .word("none")
      .optional()
      .doc("hosts that nothing synchronizes: each posts the collective 0 to this many cycles late");
  spread.integer("seed", &PostSpread::seed).optional().doc("seed of the hosts' delays");
  const auto jitter =
      table.group("faults.dma_jitter", &RunPoint::faults, &FaultsConfig::dma_jitter);
  jitter.cycles("max_cycles", &DmaJitterConfig::max_cycles)
      .required()
      .doc(
          "each message is read from memory 0 to this many cycles later; each packet where "
          "system.ni.dma.bandwidth is given");
  jitter.integer("seed", &DmaJitterConfig::seed).doc("seed of the additional cycles");
  jitter.integer("nodes", &DmaJitterConfig::nodes)
      .list(ListOf::any_number)
      .range(0, kMostNodeNumber)
      .word("all")
      .doc("nodes whose DMA engines jitter; all: every node");
}

}  // namespace espalier
