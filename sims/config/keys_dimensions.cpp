// The keys of multi-dimensional systems: section system.dimensions, the NI's dimension queues, and
// how a collective is planned.
#include "flowctl/framing.h"
#include "sims/config/key_builders.h"

namespace espalier {

using namespace key_builders;

namespace {

constexpr const char* kTypeKey = "system.topology.type";
constexpr std::uint64_t kMostSize = 65536;
constexpr std::uint64_t kMostLinksPerNode = 4096;

bool is_written_out(const RunPoint& point) {
  return point.system.topology.kind == TopologyKind::dimensions;
}

// What a file of another tool's says in its own form.
Key of_dimensions(Key key) {
  return only_when(std::move(key), kTypeKey, "dimensions", is_written_out);
}

// `field` returns a reference to a vector of numbers or enumerators.
template <class Field>
Key list_key(ValueType type, const char* name, std::uint64_t min, std::uint64_t max,
             const char* description, Field field) {
  Key key;
  key.name = std::string("system.dimensions.") + name;
  key.shape.type = type;
  key.shape.list = ListOf::per_dimension;
  key.shape.min = min;
  key.shape.max = max;
  key.description = description;
  key.set = [field](RunPoint& point, const Value& value) {
    auto& member = field(point.system.dimensions);
    member.clear();
    for (const std::uint64_t item : value.items) {
      member.push_back(static_cast<typename std::decay_t<decltype(member)>::value_type>(item));
    }
  };
  key.get = [field](const RunPoint& point) {
    Value value;
    for (const auto item : field(point.system.dimensions)) {
      value.items.push_back(static_cast<std::uint64_t>(item));
    }
    return value;
  };
  return key;
}

Key shape_key() {
  Key key = list_key(
      ValueType::name, "shape", 0, 0, "network among the NPUs that differ in this dimension only",
      [](auto& d) -> auto& { return d.shape; });
  key.shape.names = all_names<DimensionShape>();
  return key;
}

// The first name is "auto", which no enumerator stands for.
Key stage_algorithm_key() {
  Key key;
  key.name = "system.dimensions.algorithm";
  key.shape.type = ValueType::name;
  key.shape.list = ListOf::per_dimension;
  key.shape.zero_word = "auto";
  key.shape.names = all_names<DimensionAlgorithm>();
  key.shape.names.insert(key.shape.names.begin(), key.shape.zero_word);
  key.description =
      "of a stage; auto: ring on a ring, direct where fully_connected, halving_doubling on a "
      "switch "
      "(direct where its size is no power of two)";
  key.set = [](RunPoint& point, const Value& value) {
    auto& member = point.system.dimensions.algorithm;
    member.clear();
    for (const std::uint64_t item : value.items) {
      member.push_back(item == 0 ? std::nullopt
                                 : std::optional(static_cast<DimensionAlgorithm>(item - 1)));
    }
  };
  key.get = [](const RunPoint& point) {
    Value value;
    for (const auto& item : point.system.dimensions.algorithm) {
      value.items.push_back(item ? static_cast<std::uint64_t>(*item) + 1 : 0);
    }
    return value;
  };
  return key;
}

}  // namespace

void add_dimension_keys(std::vector<Key>& table) {
  table.push_back(required(of_dimensions(shape_key())));
  table.push_back(required(of_dimensions(list_key(
      ValueType::integer, "size", 2, kMostSize, "NPUs of a group",
      [](auto& d) -> auto& { return d.size; }))));
  table.push_back(of_dimensions(
      or_word(list_key(
                  ValueType::integer, "links", 1, kMostLinksPerNode,
                  "that leave an NPU; auto: 2 on a ring, size - 1 fully_connected, 1 on a switch",
                  [](auto& d) -> auto& { return d.links; }),
              "auto")));
  table.push_back(required(of_dimensions(list_key(
      ValueType::rate, "bandwidth", 1'000, 1'000 * kSecond, "of one link, one direction",
      [](auto& d) -> auto& { return d.bytes_per_second; }))));
  table.push_back(required(of_dimensions(list_key(
      ValueType::time, "latency", 1, kSecond,
      "NPU to NPU of a minimal message, NIs and routers included",
      [](auto& d) -> auto& { return d.latency_ps; }))));
  table.push_back(of_any_dimensions(or_word(
      list_key(
          ValueType::integer, "flit_bytes", 1, kWidestFlit,
          "payload of one flit; auto: the narrowest of which a link carries at most one per cycle",
          [](auto& d) -> auto& { return d.flit_bytes; }),
      "auto")));
  table.push_back(of_any_dimensions(integer_key(
      "system.dimensions.packet_flits", 1, kMostPacketFlits - 1,
      "payload of a packet, or of a sub-packet in message mode",
      [](auto& p) -> auto& { return p.system.dimensions.packet_flits; })));
  table.push_back(
      of_any_dimensions(or_word(list_key(
                                    ValueType::integer, "vc_depth_flits", 1, 1U << 20U,
                                    "buffer of one VC; auto: what covers the credit loop",
                                    [](auto& d) -> auto& { return d.vc_depth_flits; }),
                                "auto")));
  table.push_back(of_any_dimensions(stage_algorithm_key()));
}

void add_dimension_queue_keys(std::vector<Key>& table) {
  table.push_back(of_any_dimensions(listable(choice_key<QueueOrder>(
      "system.ni.dimension_queue.order",
      "which of the chunks that wait for a dimension goes next; scf: the smallest",
      [](auto& p) -> auto& { return p.system.ni.dimension_queue.arbiter.order; }))));
  table.push_back(of_any_dimensions(choice_key<ChunkKey>(
      "system.ni.dimension_queue.key",
      "which size of a chunk scf compares: before the stage, after it, the larger of both",
      [](auto& p) -> auto& { return p.system.ni.dimension_queue.arbiter.key; })));
  table.push_back(of_any_dimensions(choice_key<TieRule>(
      "system.ni.dimension_queue.ties", "which arrival of equal chunks scf takes",
      [](auto& p) -> auto& { return p.system.ni.dimension_queue.arbiter.ties; })));
  table.push_back(of_any_dimensions(listable(
      or_word(integer_key(
                  "system.ni.dimension_queue.in_flight", 1, 1024,
                  "chunks that share a dimension at a time; auto: 8, and more where their bytes do "
                  "not cover the fixed delay of their steps",
                  [](auto& p) -> auto& { return p.system.ni.dimension_queue.in_flight; }),
              "auto"))));
  table.push_back(of_any_dimensions(or_implied(
      integer_key(
          "system.ni.dimension_queue.arbitration_cycles", 1, 1000,
          "a place and a chunk are there to its start; auto: the cycles that system.cost implies "
          "for the SCF finder at this clock",
          [](auto& p) -> auto& { return p.system.ni.dimension_queue.arbitration_cycles; }),
      [](auto& p) -> auto& { return p.system.ni.dimension_queue.arbitration_is_implied; })));
  table.push_back(of_any_dimensions(boolean_key(
      "system.ni.dimension_queue.enforce_order",
      "all NPUs start a dimension's stages in one order, fixed before the run (section 4.6.2)",
      [](auto& p) -> auto& { return p.system.ni.dimension_queue.enforce_order; })));
}

void add_plan_keys(std::vector<Key>& table) {
  table.push_back(of_algorithms(listable(integer_key(
      "collective.chunks", 1, 65536, "equal chunks, each with its own way through the dimensions",
      [](auto& p) -> auto& { return p.collective->chunks; }))));
  table.push_back(of_algorithms(integer_key(
      "collective.threshold_divisor", 1, 65536,
      "loads that differ by less than a stage of chunk size / this count as equal",
      [](auto& p) -> auto& { return p.collective->threshold_divisor; })));
  table.push_back(of_algorithms(boolean_key(
      "collective.loads_start_at_fixed_delay",
      "a dimension's load starts at its steps' latency, as the paper's text says, not at 0",
      [](auto& p) -> auto& { return p.collective->loads_start_at_fixed_delay; })));
  table.push_back(of_algorithms(choice_key<PartSizes>(
      "collective.parts",
      "what NPUs have of a chunk: equal (padded), exact (to an element); auto: equal where "
      "padding adds at most 1 %",
      [](auto& p) -> auto& { return p.collective->parts; })));
}

void add_folding_key(std::vector<Key>& table) {
  table.push_back(of_any_dimensions(choice_key<Folding>(
      "simulation.fold",
      "one NPU stands for all, with the same result to the cycle; auto: where all do the same",
      [](auto& p) -> auto& { return p.simulation.fold; })));
}

}  // namespace espalier
