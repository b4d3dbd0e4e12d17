#include "hw/topology/families/family.h"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>

namespace espalier {

const Family& NetworkSpec::family() const {
  for (const Family& family : families()) {
    if (family.name == type) return family;
  }
  throw std::invalid_argument(fmt::format("no family is named {}", type));
}

std::vector<std::uint64_t> NetworkSpec::numbers(const std::string& key) const {
  const auto given = values_.find(key);
  if (given != values_.end()) return given->second;
  for (const Family& family : families()) {
    for (const FamilyKey& known : family.keys) {
      if (known.name != key) continue;
      if (known.entries != FamilyKey::Entries::one) return {};
      return {known.preset};
    }
  }
  throw std::logic_error(fmt::format("no family has a key {}", key));
}

LinkSpec NetworkSpec::link(const std::string& name, LinkSpec link) const {
  if (const auto latency = number(name + ".latency")) link.latency_ps = latency;
  if (const auto bandwidth = number(name + ".bandwidth")) link.bytes_per_second = bandwidth;
  return link;
}

std::vector<std::string> families_where(bool (*is_so)(const Family&)) {
  std::vector<std::string> names;
  for (const Family& family : families()) {
    if (is_so(family)) names.push_back(family.name);
  }
  return names;
}

std::string family_of(Family::Source source) {
  for (const Family& family : families()) {
    if (family.source == source) return family.name;
  }
  throw std::logic_error("no family has this source");
}

std::optional<NetworkProblem> problem_of(const NetworkSpec& spec) {
  const Family& family = spec.family();
  if (family.problem != nullptr) {
    if (auto problem = family.problem(spec)) return problem;
  }
  const NetworkSize size = family.size(spec);
  if (size.nodes < 2) {
    return NetworkProblem{
        fmt::format("a network needs at least 2 nodes; {} has {}", size.name, size.nodes),
        family.small_hint};
  }
  const auto too_many = [&](std::uint64_t count, std::uint64_t most, const char* of_what) {
    return NetworkProblem{
        fmt::format("{} has {} {}; allowed are at most {}", size.name, count, of_what, most), {}};
  };
  if (size.nodes > kMostNodes) return too_many(size.nodes, kMostNodes, "nodes");
  if (size.links > kMostLinks) return too_many(size.links, kMostLinks, "links");
  if (size.most_ports <= family.most_ports) return std::nullopt;
  return too_many(size.most_ports, family.most_ports, "ports at one router");
}

Topology make_network(const NetworkSpec& spec, LinkSpec link) {
  constexpr std::size_t kMostSides = 3;
  if (spec.family().build == nullptr) {
    throw std::invalid_argument(fmt::format("a network of type {} has no builder", spec.type));
  }
  for (const FamilyKey& key : spec.family().keys) {
    if (key.kind == FamilyKey::Kind::file) continue;
    const auto numbers = spec.numbers(key.name);
    const bool in_range = std::all_of(numbers.begin(), numbers.end(), [&](std::uint64_t number) {
      if (key.kind == FamilyKey::Kind::word) return number < key.words.size();
      if (key.kind == FamilyKey::Kind::flag) return number < 2;
      const bool counts = key.kind == FamilyKey::Kind::count || key.kind == FamilyKey::Kind::sides;
      return !counts || (key.min <= number && number <= kLargestCount);
    });
    const bool fits =
        key.entries == FamilyKey::Entries::one ? numbers.size() == 1 : numbers.size() <= kMostSides;
    if (!in_range || !fits) {
      throw std::invalid_argument(
          fmt::format("{}: {} is out of range", key.name, fmt::join(numbers, "x")));
    }
  }
  if (const auto problem = problem_of(spec)) throw std::invalid_argument(problem->what);
  return spec.family().build(spec, link);
}

}  // namespace espalier
