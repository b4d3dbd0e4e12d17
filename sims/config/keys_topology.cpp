// Keys of sections system.topology and system.dimensions: the network's shape and size.
#include <algorithm>

#include "flowctl/framing.h"
#include "sims/config/key_table.h"

namespace espalier {

namespace {

using Topo = TopologyConfig;

// A key, and the families that have it.
struct SharedKey {
  FamilyKey key;
  std::vector<std::string> families;
};

std::vector<SharedKey> keys_of_families() {
  std::vector<SharedKey> all;
  for (const Family& family : families()) {
    for (const FamilyKey& key : family.keys) {
      auto shared = std::find_if(all.begin(), all.end(), [&](const SharedKey& known) {
        return known.key.name == key.name;
      });
      if (shared == all.end()) {
        shared = all.insert(all.end(), {key, {}});
      } else if (key.doc != shared->key.doc) {
        shared->key.doc += "; " + family.name + ": " + key.doc;
      }
      shared->families.push_back(family.name);
    }
  }
  return all;
}

class TopologyKeys {
 public:
  explicit TopologyKeys(KeyTable& table)
      : table_(table),
        group_(table.group("system.topology", &RunPoint::system, &SystemConfig::topology)) {}

  void add() {
    group_.named("type", &Topo::type, families_where([](const Family&) { return true; }))
        .required();
    for (const SharedKey& shared : keys_of_families()) {
      // Giving the key for another family is an error.
      KeyDraft draft = draft_of(shared.key);
      if (shared.key.required) draft.required();
      draft.only(table_.where(kTypeKey, shared.families)).exclusive().doc(shared.key.doc);
    }
    group_.only(table_.where_not_dimensional())
        .number(ValueType::part, "without", &Topo::without)
        .list(ListOf::any_number)
        .word("none")
        .optional()
        .exclusive();
    add_external_keys();
  }

 private:
  KeyDraft draft_of(const FamilyKey& key) const {
    KeyDraft draft = draft_of_entry(key);
    switch (key.entries) {
      case FamilyKey::Entries::one:
        break;
      case FamilyKey::Entries::each_dimension:
        draft.list(key.kind == FamilyKey::Kind::sides ? ListOf::grid : ListOf::per_dimension);
        if (key.kind == FamilyKey::Kind::count) draft.min(1).word("auto");
        if (!key.required) draft.optional();
        break;
      case FamilyKey::Entries::several:
        draft.list(ListOf::any_number).word("none").optional();
        break;
    }
    return draft;
  }

  KeyDraft draft_of_entry(const FamilyKey& key) const {
    switch (key.kind) {
      case FamilyKey::Kind::count:
      case FamilyKey::Kind::sides:
        break;
      case FamilyKey::Kind::number:
        return number(ValueType::integer, key)
            .range(0, key.entries == FamilyKey::Entries::one ? kAnyNumber : kLargestCount);
      case FamilyKey::Kind::flag:
        return number(ValueType::boolean, key).range(0, 1);
      case FamilyKey::Kind::word:
        return number(ValueType::name, key).names(key.words);
      case FamilyKey::Kind::latency:
        return number(ValueType::time, key).range(1, kSecond).word("link");
      case FamilyKey::Kind::bandwidth:
        return number(ValueType::rate, key).range(kSlowestLink, kFastestLink).word("link");
      case FamilyKey::Kind::file:
        return group_.path(key.name.c_str(), &Topo::file);
    }
    return number(ValueType::integer, key).range(key.min, kLargestCount);
  }

  KeyDraft number(ValueType type, const FamilyKey& of_family) const {
    Key& key = table_.add("system.topology." + of_family.name);
    key.shape.type = type;
    const bool is_list = of_family.entries != FamilyKey::Entries::one;
    key.set = [name = of_family.name, is_list](RunPoint& point, const Value& value) {
      point.system.topology.set(name, is_list ? value.items : std::vector{value.number});
    };
    key.get = [name = of_family.name, is_list](const RunPoint& point) {
      Value value;
      std::vector<std::uint64_t> numbers = point.system.topology.numbers(name);
      if (!is_list) return number_value(numbers.at(0));
      value.items = std::move(numbers);
      return value;
    };
    return KeyDraft(key);
  }

  void add_external_keys() const {
    using External = ExternalConfig;
    const auto external = table_
                              .group("system.topology.external", &RunPoint::system,
                                     &SystemConfig::topology, &Topo::external)
                              .only(table_.where_not_dimensional());
    const auto add = [&](const char* name, std::vector<std::string> External::*member) {
      return external.number(ValueType::vertex, name, member)
          .list(ListOf::any_number)
          .word("none")
          .optional()
          .exclusive();
    };
    add("routers", &External::routers);
    add("nis", &External::nis);
  }

  KeyTable& table_;
  KeyGroup<Topo> group_;
};

void add_dimension_keys(KeyTable& table) {
  using Dims = DimensionsConfig;
  const auto any = table.group("system.dimensions", &RunPoint::system, &SystemConfig::dimensions)
                       .only(table.where_dimensional());
  // Only in our own files; a file of another tool has its own form.
  const auto written =
      table.group("system.dimensions", &RunPoint::system, &SystemConfig::dimensions)
          .only(table.where(kTypeKey, {family_of(Family::Source::dimensions)}));
  written.choice("shape", &Dims::shape).list(ListOf::per_dimension).required();
  written.integer("size", &Dims::size)
      .list(ListOf::per_dimension)
      .range(2, kLargestCount)
      .required();
  written.integer("links", &Dims::links).list(ListOf::per_dimension).range(1, 4096).word("auto");
  written.rate("bandwidth", &Dims::bytes_per_second).list(ListOf::per_dimension).required();
  written.time("latency", &Dims::latency_ps).list(ListOf::per_dimension).required();
  any.integer("flit_bytes", &Dims::flit_bytes)
      .list(ListOf::per_dimension)
      .range(1, kWidestFlit)
      .word("auto");
  any.integer("packet_flits", &Dims::packet_flits).range(1, kMostPacketFlits - 1);
  any.integer("vc_depth_flits", &Dims::vc_depth_flits)
      .list(ListOf::per_dimension)
      .range(1, 1U << 20U)
      .word("auto");
  any.choice("algorithm", &Dims::algorithm).list(ListOf::per_dimension);
  any.integer("switch_bytes_per_cycle", &Dims::switch_bytes_per_cycle)
      .range(1, 1U << 20U)
      .word("ni");
}

}  // namespace

void add_topology_keys(KeyTable& table) {
  TopologyKeys(table).add();
  add_dimension_keys(table);
}

}  // namespace espalier
