// The partition that binds an all_reduce of a process group whose relays add: every part holds a
// node that takes part, and every relay is in some part. The best partition is hard to find. The
// prices of links that trees fill (alg/flow/steiner_trees.h) come close.
#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <utility>
#include <vector>

#include "alg/bounds/cuts.h"
#include "alg/flow/steiner_trees.h"
#include "alg/routes/links.h"

namespace espalier {

namespace {

constexpr std::size_t kMostThresholds = 40;  // of prices that are tried
constexpr std::uint32_t kTreeCounts[] = {8, 16, 32};
constexpr double kSteepness[] = {8, 20, 60};

class PartitionSearch {
 public:
  PartitionSearch(const Topology& topology, const std::vector<bool>& takes_part)
      : topology_(topology), takes_part_(takes_part) {
    for (std::uint32_t l = 0; l < topology.num_links(); ++l) {
      const TopologyLink& link = topology.link(LinkId(l));
      const LinkId back = link_back(topology, LinkId(l));
      if (back.valid() && back.value() < l) continue;
      edges_.push_back(
          {link.from.value(), link.to.value(), static_cast<double>(link.spec.bytes_per_second)});
    }
  }

  // The parts, by vertex: the least vertex of the part. Empty if there is no partition.
  std::vector<std::uint32_t> run() {
    std::vector<std::uint32_t> members;
    for (std::uint32_t v = 0; v < takes_part_.size(); ++v) {
      if (takes_part_[v]) members.push_back(v);
    }
    SteinerTrees trees(topology_.num_vertices(), members, edges_);
    for (const std::uint32_t count : kTreeCounts) {
      if (trees.find(count).empty()) break;
      for (const double steepness : kSteepness) try_prices(trees.prices(steepness));
    }
    return best_;
  }

 private:
  // Joins what cheap edges join.
  void try_prices(const std::vector<double>& price) {
    std::vector<std::uint32_t> order(edges_.size());
    std::iota(order.begin(), order.end(), 0U);
    std::stable_sort(order.begin(), order.end(),
                     [&](std::uint32_t a, std::uint32_t b) { return price[a] < price[b]; });
    part_.resize(topology_.num_vertices());
    std::iota(part_.begin(), part_.end(), 0U);
    const std::size_t step = std::max<std::size_t>(1, order.size() / kMostThresholds);
    for (std::size_t i = 0; i <= order.size(); ++i) {
      const bool same =
          i > 0 && i < order.size() && price[order[i]] <= price[order[i - 1]] * 1.0001;
      if (!same && (i % step == 0 || i + 1 == order.size())) evaluate(part_);
      if (i < order.size()) join(part_, edges_[order[i]].a, edges_[order[i]].b);
    }
  }

  static std::uint32_t root(std::vector<std::uint32_t>& part, std::uint32_t v) {
    while (part[v] != v) v = part[v] = part[part[v]];
    return v;
  }
  static void join(std::vector<std::uint32_t>& part, std::uint32_t a, std::uint32_t b) {
    a = root(part, a);
    b = root(part, b);
    part[std::max(a, b)] = std::min(a, b);
  }

  // Parts without a member join the neighbour to which they have the most rate.
  void evaluate(std::vector<std::uint32_t> part) {
    const std::size_t vertices = part.size();
    std::vector<bool> has_member(vertices, false);
    const auto settle = [&] {
      std::fill(has_member.begin(), has_member.end(), false);
      for (std::uint32_t v = 0; v < vertices; ++v) {
        part[v] = root(part, v);
        if (takes_part_[v]) has_member[part[v]] = true;
      }
    };
    settle();
    for (std::uint32_t v = 0; v < vertices;) {
      if (part[v] != v || has_member[v]) {
        ++v;
        continue;
      }
      std::vector<double> rate_to(vertices, 0);
      for (const TopologyLink& link : topology_.links()) {
        const std::uint32_t from = part[link.from.index()];
        const std::uint32_t to = part[link.to.index()];
        if (from == to || (from != v && to != v)) continue;
        rate_to[from == v ? to : from] += static_cast<double>(link.spec.bytes_per_second);
      }
      const auto most = std::max_element(rate_to.begin(), rate_to.end());
      join(part, v, static_cast<std::uint32_t>(most - rate_to.begin()));
      settle();
    }
    std::size_t parts = 0;
    double rate = 0;
    for (std::uint32_t v = 0; v < vertices; ++v) parts += part[v] == v ? 1U : 0U;
    for (const TopologyLink& link : topology_.links()) {
      if (part[link.from.index()] != part[link.to.index()]) {
        rate += static_cast<double>(link.spec.bytes_per_second);
      }
    }
    if (parts < 2 || static_cast<double>(parts - 1) <= best_ratio_ * rate) return;
    best_ratio_ = static_cast<double>(parts - 1) / rate;
    best_ = std::move(part);
  }

  const Topology& topology_;
  const std::vector<bool>& takes_part_;
  std::vector<SteinerEdge> edges_;
  std::vector<std::uint32_t> part_;
  double best_ratio_ = 0;
  std::vector<std::uint32_t> best_;
};

}  // namespace

std::vector<Proposal> partition_proposals(const Topology& topology, const Scope& scope) {
  if (topology.num_switches() != 0) return {};
  std::vector<bool> takes_part;
  for (std::size_t n = 0; n < topology.num_nodes(); ++n) takes_part.push_back(scope.has(NodeId(n)));
  const std::vector<std::uint32_t> part = PartitionSearch(topology, takes_part).run();
  PartitionCertificate partition;
  for (std::uint32_t v = 0; v < part.size(); ++v) {
    if (part[v] != v) continue;
    auto& vertices = partition.parts.emplace_back();
    for (std::uint32_t w = 0; w < part.size(); ++w) {
      if (part[w] == v) vertices.emplace_back(w);
    }
  }
  if (partition.parts.empty()) return {};
  std::string text = fmt::format("partition into {} parts", partition.parts.size());
  return {{std::move(partition), std::move(text)}};
}

}  // namespace espalier
