// How many undirected trees an all_reduce uses, and at which rate.
#include <algorithm>
#include <cmath>
#include <functional>
#include <utility>

#include "alg/packing/forest_task.h"
#include "alg/routes/links.h"

namespace espalier {

namespace {

constexpr std::size_t kMostUndirectedTrees = 48;
constexpr std::size_t kMoreUndirectedTrees[] = {4, 8, 16, 32};

struct RatedPairs {
  std::vector<EdgePair> pairs;
  std::vector<double> rates;  // by pair: of its slower direction
};

// Empty if some link has no link back.
RatedPairs rated_pairs(const Topology& topology, const PackGraph& graph) {
  RatedPairs found;
  for (std::size_t l = 0; l < graph.edges.size(); ++l) {
    const LinkId back = link_back(topology, LinkId(l));
    if (!back.valid()) return {};
    if (back.index() < l) continue;
    found.pairs.push_back({static_cast<std::uint32_t>(l), back.value(), 0});
    found.rates.push_back(
        static_cast<double>(std::min(graph.edges[l].rate, graph.edges[back.index()].rate)));
  }
  return found;
}

// Neither all trees together nor a node alone can do better.
double most_total_rate(const PackGraph& graph, const RatedPairs& rated) {
  const auto nodes = static_cast<double>(graph.nodes);
  std::vector<double> at_node(graph.nodes, 0);
  double most = 0;
  for (std::size_t p = 0; p < rated.pairs.size(); ++p) {
    most += rated.rates[p] / (nodes - 1);
    at_node[graph.edges[rated.pairs[p].there].from] += rated.rates[p];
    at_node[graph.edges[rated.pairs[p].there].to] += rated.rates[p];
  }
  for (const double r : at_node) most = std::min(most, r);
  return most;
}

// A tree's rate; a pair of rate b then carries floor(b / rate) trees. Only rates b / c with a whole
// c change that. Highest first, between `lowest` and `highest`.
std::vector<double> candidate_rates(const std::vector<double>& rates, std::size_t count,
                                    double lowest, double highest) {
  std::vector<double> candidates;
  for (const double rate : rates) {
    for (double c = std::ceil(rate / highest); c <= static_cast<double>(count) && rate / c > lowest;
         ++c) {
      candidates.push_back(rate / c);
    }
  }
  std::sort(candidates.begin(), candidates.end(), std::greater<>());
  candidates.erase(std::unique(candidates.begin(), candidates.end()), candidates.end());
  return candidates;
}

// `count` trees at the highest rate, and their total rate, if it is clearly above `beaten`.
std::pair<std::vector<PackedTree>, double> trees_of_highest_rate(const PackGraph& graph,
                                                                 RatedPairs& rated,
                                                                 std::size_t count, double most,
                                                                 double beaten, double good_loss,
                                                                 const WorkBudget& budget) {
  const auto n = static_cast<double>(count);
  const std::vector<double> candidates =
      candidate_rates(rated.rates, count, beaten * (1 + good_loss / 8) / n, most / n * (1 + 1e-12));
  std::pair<std::vector<PackedTree>, double> found;
  std::size_t low = 0;
  std::size_t high = candidates.size();
  while (low < high && !budget.is_spent()) {
    const std::size_t middle = (low + high) / 2;
    for (std::size_t p = 0; p < rated.pairs.size(); ++p) {
      rated.pairs[p].units =
          static_cast<std::int64_t>(rated.rates[p] / candidates[middle] * (1 + 1e-9));
    }
    auto trees = pack_undirected_trees(graph, rated.pairs, count, budget);
    if (trees) {
      found = {std::move(*trees), candidates[middle] * n};
      high = middle;
    } else {
      low = middle + 1;
    }
  }
  return found;
}

}  // namespace

std::vector<std::vector<PackedTree>> best_undirected_trees(const Topology& topology,
                                                           const PackGraph& graph, double good_loss,
                                                           const WorkBudget& budget) {
  RatedPairs rated = rated_pairs(topology, graph);
  if (rated.pairs.empty()) return {};
  const double most = most_total_rate(graph, rated);
  std::vector<std::vector<PackedTree>> choices(1);
  double best_rate = 0;
  for (std::size_t count = 1; count <= kMostUndirectedTrees; ++count) {
    if (best_rate >= most * (1 - good_loss / 4) || budget.is_spent()) break;
    auto [trees, rate] =
        trees_of_highest_rate(graph, rated, count, most, best_rate, good_loss, budget);
    if (trees.empty()) continue;
    budget.found_plan();
    choices.front() = std::move(trees);
    best_rate = rate;
  }
  // Few trees at a high rate are high, so their data fill the links late. More trees at this rate
  // may be lower.
  const std::size_t fewest = choices.front().size();
  for (const std::size_t count : kMoreUndirectedTrees) {
    if (count <= fewest) continue;
    auto [trees, rate] = trees_of_highest_rate(graph, rated, count, best_rate * (1 + 1e-9),
                                               best_rate * (1 - good_loss / 2), good_loss, budget);
    if (!trees.empty()) choices.push_back(std::move(trees));
  }
  return choices;
}

void plan_undirected_trees(const ForestTask& task, SegmentSearch& search) {
  const PackGraph graph = pack_graph(task.topology, false);
  auto choices = best_undirected_trees(task.topology, graph, kGoodLoss, search.budget());
  if (choices.empty()) return;
  if (task.is_small(1)) {
    for (const std::size_t count : {1U, 2U, 4U, 8U}) {
      choices.push_back(low_undirected_trees(task.topology, graph, count));
    }
  }
  for (const std::vector<PackedTree>& packed : choices) {
    if (packed.empty()) continue;
    TreeOps trees(task.topology, packed.size(), 0);
    for (std::size_t u = 0; u < packed.size(); ++u) {
      task.add_reduces(graph, packed[u], u, false, trees);
      task.add_copies(graph, packed[u], u, trees);
    }
    search.consider(std::move(trees));
  }
}

}  // namespace espalier
