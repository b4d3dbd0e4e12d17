// How the registry's keys are made, one function for each kind. Internal to keys*.cpp.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "alg/algorithm.h"
#include "sims/config/keys.h"
#include "sims/point/enum_names.h"

namespace espalier {

// keys_control.cpp, keys_coordination.cpp, keys_cost.cpp, keys_dimensions.cpp, keys_faults.cpp,
// keys_program.cpp, keys_rank_order.cpp, keys_tenants.cpp, keys_training.cpp, keys_workload.cpp
void add_control_keys(std::vector<Key>& table);
void add_coordination_keys(std::vector<Key>& table);
void add_cost_keys(std::vector<Key>& table);
void add_readiness_macro_keys(std::vector<Key>& table);
void add_dimension_keys(std::vector<Key>& table);
void add_dimension_queue_keys(std::vector<Key>& table);
void add_fault_keys(std::vector<Key>& table);
void add_plan_keys(std::vector<Key>& table);
void add_program_keys(std::vector<Key>& table);
void add_program_ni_keys(std::vector<Key>& table);
void add_folding_key(std::vector<Key>& table);
void add_rank_order_keys(std::vector<Key>& table);
void add_reorder_keys(std::vector<Key>& table);
void add_tenant_keys(std::vector<Key>& table);
void add_training_keys(std::vector<Key>& table);
void add_workload_keys(std::vector<Key>& table);

}  // namespace espalier

namespace espalier::key_builders {

// `field` returns a reference to the struct's member.

template <class Field>
Key number_key(ValueType type, std::string name, std::uint64_t min, std::uint64_t max,
               std::string description, Field field) {
  Key key;
  key.name = std::move(name);
  key.shape.type = type;
  key.shape.min = min;
  key.shape.max = max;
  key.description = std::move(description);
  key.set = [field](RunPoint& point, const Value& value) {
    auto& member = field(point);
    member = static_cast<std::decay_t<decltype(member)>>(value.number);
  };
  key.get = [field](const RunPoint& point) {
    Value value;
    value.number = static_cast<std::uint64_t>(field(point));
    return value;
  };
  return key;
}

template <class Field>
Key integer_key(std::string name, std::uint64_t min, std::uint64_t max, std::string description,
                Field field) {
  return number_key(ValueType::integer, std::move(name), min, max, std::move(description), field);
}

template <class Field>
Key boolean_key(std::string name, std::string description, Field field) {
  return number_key(ValueType::boolean, std::move(name), 0, 1, std::move(description), field);
}

template <class Enum, class Field>
Key choice_key(std::string name, std::string description, Field field) {
  Key key = number_key(ValueType::name, std::move(name), 0, 0, std::move(description), field);
  key.shape.names = all_names<Enum>();
  return key;
}

template <class Field>
Key fraction_key(std::string name, const ValueShape& range, std::string description, Field field) {
  Key key;
  key.name = std::move(name);
  key.shape = range;
  key.shape.type = ValueType::fraction;
  key.description = std::move(description);
  key.set = [field](RunPoint& point, const Value& value) { field(point) = value.fraction; };
  key.get = [field](const RunPoint& point) {
    Value value;
    value.fraction = field(point);
    return value;
  };
  return key;
}

inline Key or_word(Key key, std::string word) {
  key.shape.zero_word = std::move(word);
  return key;
}
// Cycles that "auto" leaves to the cost model; 0 may have a meaning of its own. `is_implied`
// returns a reference to what keeps that they were.
template <class IsImplied>
Key or_implied(Key key, IsImplied is_implied) {
  key = or_word(std::move(key), "auto");
  key.shape.word_number = kNever;
  const auto set_number = key.set;
  const auto get_number = key.get;
  key.set = [set_number, is_implied](RunPoint& point, const Value& value) {
    is_implied(point) = value.number == kNever;
    if (!is_implied(point)) set_number(point, value);
  };
  key.get = [get_number, is_implied](const RunPoint& point) {
    Value value = get_number(point);
    if (is_implied(point)) value.number = kNever;
    return value;
  };
  return key;
}
inline Key listable(Key key) {
  key.listable = true;
  return key;
}
inline Key required(Key key) {
  key.required = true;
  return key;
}
inline Key only_when(Key key, std::string other, const std::string& state,
                     std::function<bool(const RunPoint&)> applies) {
  key.applies_when = other + " is " + state;
  key.applies_to = std::move(other);
  key.applies = std::move(applies);
  return key;
}

// Applies where collective.algorithm names an algorithm whose row has the key as a parameter.
inline Key of_algorithms(Key key) {
  std::vector<std::string> names;
  std::vector<std::string> ignored_with;
  for (const Algorithm& algorithm : algorithms()) {
    const AlgorithmParameter* parameter = algorithm.parameter(key.name);
    if (parameter == nullptr) continue;
    names.push_back(algorithm.name);
    for (const CollectiveOp op : parameter->ignored_with) ignored_with.emplace_back(to_string(op));
  }
  std::sort(names.begin(), names.end());
  std::string state = fmt::format("{}", fmt::join(names, " or "));
  if (!ignored_with.empty()) {
    state += fmt::format(", and collective.op is not {}", fmt::join(ignored_with, " or "));
  }
  const std::string name = key.name;
  return only_when(std::move(key), "collective.algorithm", state, [name](const RunPoint& p) {
    const Algorithm* algorithm = find_algorithm(p.collective->algorithm);
    return algorithm != nullptr && algorithm->reads(name, p.collective->op);
  });
}

// What a multi-dimensional system has in another form, or not at all.
inline Key of_any_dimensions(Key key) {
  return only_when(std::move(key), "system.topology.type", "dimensions or astra_network",
                   [](const RunPoint& p) { return p.system.topology.is_dimensional(); });
}

inline Key not_for_dimensions(Key key) {
  const auto applies = std::move(key.applies);
  key.applies = [applies](const RunPoint& p) {
    return !p.system.topology.is_dimensional() && (!applies || applies(p));
  };
  const std::string condition = "system.topology.type is not dimensions or astra_network";
  key.applies_when = applies ? key.applies_when + ", and " + condition : condition;
  if (!applies) key.applies_to = "system.topology.type";
  return key;
}

}  // namespace espalier::key_builders
