#include "sims/config/rank_order_checks.h"

#include <fmt/format.h>

#include "alg/algorithm.h"
#include "sims/model/build_program.h"

namespace espalier {

namespace {

constexpr const char* kKey = "collective.rank_order";

std::vector<std::string> names_of_able() {
  std::vector<std::string> names;
  for (const Algorithm& algorithm : algorithms()) {
    if (algorithm.follows_rank_order()) names.push_back(algorithm.name);
  }
  return names;
}

void check_parameters(const RunPoint& point, const Algorithm& algorithm, const Topology& topology,
                      const GivenKeys& given, Diagnostics& diagnostics) {
  if (algorithm.generator == nullptr || algorithm.generator->problem == nullptr) return;
  for (const AlgorithmParameter& parameter : algorithm.parameters) {
    if (!given.usable({parameter.key.c_str()})) return;
  }
  const auto problem =
      algorithm.generator->problem(topology, collective_request(*point.collective));
  if (!problem) return;
  diagnostics.error(given.place_of_first({problem->key.c_str(), "collective.algorithm"}),
                    fmt::format("{}: {}", problem->key, problem->reason),
                    fmt::format("for example {}: {}", problem->key, problem->instead));
}

}  // namespace

Place place_of_rank_order(const GivenKeys& given, const std::string& source) {
  if (const GivenKey* key = given.find(kKey)) {
    for (const GivenValue& value : key->values) {
      if (value.value.text == source) return value.place;
    }
  }
  return given.place_of(kKey);
}

void check_rank_order(const RunPoint& point, const Topology* topology, const GivenKeys& given,
                      Diagnostics& diagnostics) {
  if (!point.collective || !given.usable({"collective.algorithm"})) return;
  const Algorithm* algorithm = find_algorithm(point.collective->algorithm);
  if (algorithm == nullptr) return;
  if (topology != nullptr) check_parameters(point, *algorithm, *topology, given, diagnostics);
  const RankOrderConfig& order = point.collective->rank_order;
  if (order.is_identity()) return;
  if (algorithm->follows_rank_order()) return;
  diagnostics.error(
      place_of_rank_order(given, order.source),
      fmt::format("{}: {} takes no rank order: {}", kKey, algorithm->name, algorithm->fixed_ranks),
      fmt::format("identity; these take one: {}", fmt::join(names_of_able(), ", ")));
}

}  // namespace espalier
