// Keys of the section `faults`.
#include <limits>

#include "sims/config/key_builders.h"

namespace espalier {

using namespace key_builders;

namespace {

constexpr std::uint64_t kMostNodeNumber = std::uint64_t{1} << 20;

ValueField number_field(const char* name, ValueType type, std::uint64_t min, std::uint64_t max) {
  ValueField field;
  field.name = name;
  field.shape.type = type;
  field.shape.min = min;
  field.shape.max = max;
  return field;
}

ValueField node_field() { return number_field("node", ValueType::integer, 0, kMostNodeNumber); }
ValueField cycles_field(const char* name) {
  return number_field(name, ValueType::integer, 1, kLongestLatencyCycles);
}

ValueField vertex_field(const char* name) {
  ValueField field;
  field.name = name;
  field.shape.type = ValueType::vertex;
  return field;
}

ValueField required(ValueField field) {
  field.required = true;
  return field;
}

Value number(std::uint64_t n) {
  Value value;
  value.number = n;
  return value;
}

Value text(const std::string& t) {
  Value value;
  value.text = t;
  return value;
}

// A list of mappings; `field` returns a reference to the struct's vector, `make` and `write` turn
// one entry's values into the struct and back.
template <class Field, class Make, class Write>
Key records_key(const char* name, const char* description, std::vector<ValueField> fields,
                Field field, Make make, Write write) {
  Key key;
  key.name = name;
  key.shape.type = ValueType::record;
  key.shape.list = ListOf::any_number;
  key.shape.zero_word = "none";
  key.shape.fields = std::move(fields);
  key.description = description;
  key.optional = true;
  key.set = [field, make](RunPoint& point, const Value& value) {
    auto& members = field(point);
    members.clear();
    for (const std::vector<Value>& record : value.records) members.push_back(make(record));
  };
  key.get = [field, write](const RunPoint& point) {
    Value value;
    for (const auto& member : field(point)) value.records.push_back(write(member));
    return value;
  };
  return key;
}

Key slow_links_key() {
  return records_key(
      "faults.slow_links",
      "all links from one vertex to a neighbour, one way: slower or farther than healthy ones",
      {required(vertex_field("from")), required(vertex_field("to")),
       number_field("bandwidth", ValueType::rate, 1'000, 1'000 * kSecond),
       number_field("latency", ValueType::time, 1, kSecond)},
      [](auto& p) -> auto& { return p.faults.slow_links; },
      [](const std::vector<Value>& v) {
        return SlowLink{v[0].text, v[1].text, v[2].number, v[3].number};
      },
      [](const SlowLink& link) {
        return std::vector<Value>{text(link.from), text(link.to), number(link.bytes_per_second),
                                  number(link.latency_ps)};
      });
}

Key late_nis_key() {
  return records_key(
      "faults.late_nis", "the node's host posts the collective so much later than all others",
      {required(node_field()), required(cycles_field("cycles"))},
      [](auto& p) -> auto& { return p.faults.late_nis; },
      [](const std::vector<Value>& v) {
        return LateNi{static_cast<std::uint32_t>(v[0].number), v[1].number};
      },
      [](const LateNi& late) {
        return std::vector<Value>{number(late.node), number(late.cycles)};
      });
}

Key clock_skew_key() {
  return records_key(
      "faults.clock_skew",
      "the NI's lockstep clock is so many cycles behind, its down-counter per_step longer each "
      "step",
      {required(node_field()), cycles_field("cycles"), cycles_field("per_step")},
      [](auto& p) -> auto& { return p.faults.clock_skew; },
      [](const std::vector<Value>& v) {
        return ClockSkew{static_cast<std::uint32_t>(v[0].number), v[1].number, v[2].number};
      },
      [](const ClockSkew& skew) {
        return std::vector<Value>{number(skew.node), number(skew.cycles), number(skew.per_step)};
      });
}

Key jitter_nodes_key() {
  Key key;
  key.name = "faults.dma_jitter.nodes";
  key.shape.type = ValueType::integer;
  key.shape.list = ListOf::any_number;
  key.shape.max = kMostNodeNumber;
  key.shape.zero_word = "all";
  key.description = "whose DMA engines; all: every node's";
  key.set = [](RunPoint& point, const Value& value) {
    auto& nodes = point.faults.dma_jitter->nodes;
    nodes.clear();
    for (const std::uint64_t item : value.items) {
      nodes.push_back(static_cast<std::uint32_t>(item));
    }
  };
  key.get = [](const RunPoint& point) {
    Value value;
    const auto& nodes = point.faults.dma_jitter->nodes;
    value.items.assign(nodes.begin(), nodes.end());
    return value;
  };
  return key;
}

}  // namespace

void add_fault_keys(std::vector<Key>& table) {
  table.push_back(slow_links_key());
  table.push_back(late_nis_key());
  table.push_back(clock_skew_key());
  table.push_back(key_builders::required(integer_key(
      "faults.dma_jitter.max_cycles", 0, kLongestLatencyCycles,
      "each message (each packet where system.ni.dma.bandwidth is given) is read from memory 0 to "
      "so many cycles later",
      [](auto& p) -> auto& { return p.faults.dma_jitter->max_cycles; })));
  table.push_back(integer_key(
      "faults.dma_jitter.seed", 0, std::numeric_limits<std::uint64_t>::max(), "of these cycles",
      [](auto& p) -> auto& { return p.faults.dma_jitter->seed; }));
  table.push_back(jitter_nodes_key());
}

}  // namespace espalier
