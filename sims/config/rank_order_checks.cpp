#include "sims/config/rank_order_checks.h"

#include <fmt/format.h>

#include "alg/algorithm.h"
#include "alg/generators/bcube.h"

namespace espalier {

namespace {

constexpr const char* kKey = "collective.rank_order";

std::vector<std::string> names_of_able() {
  std::vector<std::string> names;
  for (const Algorithm& algorithm : algorithms()) {
    if (algorithm.generator != nullptr && algorithm.generator->follows_rank_order) {
      names.push_back(algorithm.name);
    }
  }
  return names;
}

// In words, why the algorithm's ranks stand where they stand; empty where they do not.
std::string obstacle_of(const Algorithm& algorithm) {
  if (algorithm.planner != nullptr) return "its NPUs' places in the dimensions are their ranks";
  if (algorithm.is_program()) return "rank r of a collective program is node r";
  if (!algorithm.generator->follows_rank_order) return "one table stands for all nodes alike";
  return {};
}

void check_base(const RunPoint& point, const Topology& topology, const GivenKeys& given,
                Diagnostics& diagnostics) {
  const CollectiveConfig& collective = *point.collective;
  if (collective.algorithm != "bcube" || !given.usable({"collective.base"})) return;
  const std::string problem = unsuited_for_bcube(topology.num_nodes(), collective.base);
  if (problem.empty()) return;
  const std::uint32_t possible = smallest_bcube_base(topology.num_nodes());
  diagnostics.error(given.place_of_first({"collective.base", "collective.algorithm"}),
                    "collective.base: " + problem,
                    fmt::format("for example collective.base: {}", possible));
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
  if (topology != nullptr) check_base(point, *topology, given, diagnostics);
  const RankOrderConfig& order = point.collective->rank_order;
  if (order.is_identity()) return;
  const std::string obstacle = obstacle_of(*algorithm);
  if (obstacle.empty()) return;
  diagnostics.error(place_of_rank_order(given, order.source),
                    fmt::format("{}: {} takes no rank order: {}", kKey, algorithm->name, obstacle),
                    fmt::format("identity; these take one: {}", fmt::join(names_of_able(), ", ")));
}

}  // namespace espalier
