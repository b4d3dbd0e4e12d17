// A bound of all messages together.
#include <algorithm>
#include <functional>
#include <map>
#include <set>
#include <vector>

#include "alg/rank_order/bound_parts.h"
#include "alg/rank_order/cost_formula.h"

namespace espalier {

namespace {

// What a rank exchanges with its partners, each another node: messages and bytes, the most first.
struct Partners {
  std::vector<std::uint64_t> messages;
  std::vector<Bytes> bytes;

  friend bool operator<(const Partners& a, const Partners& b) {
    return a.messages != b.messages ? a.messages < b.messages : a.bytes < b.bytes;
  }
};

// Ranks that differ in them, each once.
std::set<Partners> kinds_of_ranks(const CostModel& model) {
  struct Sum {
    std::uint64_t messages = 0;
    Bytes bytes = 0;
  };
  std::vector<std::map<std::uint32_t, Sum>> of_rank(model.ranks);
  for_each_message(model, [&](const RankPair& pair, Bytes bytes) {
    for (const auto& [from, to] : {std::pair{pair.a, pair.b}, std::pair{pair.b, pair.a}}) {
      Sum& sum = of_rank[from][to];
      ++sum.messages;
      sum.bytes += bytes;
    }
  });
  std::set<Partners> kinds;
  for (const auto& partners : of_rank) {
    Partners kind;
    for (const auto& [peer, sum] : partners) {
      kind.messages.push_back(sum.messages);
      kind.bytes.push_back(sum.bytes);
    }
    std::sort(kind.messages.begin(), kind.messages.end(), std::greater<>());
    std::sort(kind.bytes.begin(), kind.bytes.end(), std::greater<>());
    kinds.insert(std::move(kind));
  }
  return kinds;
}

// Most with the nearest: no assignment of partners costs less.
Cost least_of(const Partners& kind, const std::vector<Cost>& latency,
              const std::vector<Cost>& per_byte) {
  Cost cost = 0;
  for (std::size_t k = 0; k < kind.messages.size(); ++k) {
    cost += kind.messages[k] * latency[k] + kind.bytes[k] * per_byte[k];
  }
  return cost;
}

}  // namespace

// Every message is seen from both ends.
Cost load_bound(const CostModel& model, const CostMatrix& costs) {
  const std::set<Partners> kinds = kinds_of_ranks(model);
  const std::size_t nodes = costs.nodes();
  Cost twice = 0;
  for (std::size_t n = 0; n < nodes; ++n) {
    std::vector<Cost> latency;
    std::vector<Cost> per_byte;
    for (std::size_t m = 0; m < nodes; ++m) {
      if (m == n) continue;
      latency.push_back(costs.cost(n, m, 0));
      per_byte.push_back(costs.cost(n, m, 1) - latency.back());
    }
    std::sort(latency.begin(), latency.end());
    std::sort(per_byte.begin(), per_byte.end());
    Cost least = least_of(*kinds.begin(), latency, per_byte);
    for (const Partners& kind : kinds) least = std::min(least, least_of(kind, latency, per_byte));
    twice += least;
  }
  return (twice + 1) / 2;
}

}  // namespace espalier
