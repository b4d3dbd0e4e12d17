#include "alg/rank_order/order_model.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <numeric>
#include <stdexcept>

#include "alg/generators/rank_shapes.h"
#include "alg/rank_order/cost_formula.h"

namespace espalier {

CostMatrix::CostMatrix(std::size_t nodes, const std::vector<std::uint64_t>& latencies, Bytes window,
                       Bytes largest, std::size_t messages)
    : nodes_(nodes), latency_(nodes * nodes, 0), window_(window) {
  if (latencies.size() != nodes * nodes) {
    throw std::invalid_argument(fmt::format("a matrix of {} nodes needs {} entries; found {}",
                                            nodes, nodes * nodes, latencies.size()));
  }
  std::uint64_t most = 0;
  for (std::size_t i = 0; i < nodes; ++i) {
    for (std::size_t j = 0; j < nodes; ++j) {
      if (i == j) continue;
      latency_[i * nodes + j] = std::max(latencies[i * nodes + j], latencies[j * nodes + i]);
      most = std::max(most, latency_[i * nodes + j]);
    }
  }
  // Signs of the search, and sums over both ends of a message, need one bit each.
  const long double sum = 4.0L * static_cast<long double>(std::max(nodes + 64, messages)) *
                          static_cast<long double>(most) *
                          (static_cast<long double>(window) + static_cast<long double>(largest));
  if (window == 0 || sum > static_cast<long double>(std::numeric_limits<std::int64_t>::max())) {
    throw std::invalid_argument(
        fmt::format("the costs of {} nodes with messages of {} bytes exceed 64 bits; give the "
                    "latencies in a larger unit",
                    nodes, largest));
  }
}

namespace {

using Index = std::int64_t;  // signed: segments may be empty, and printed children lie outside them

// T(0, N-1): the root of a segment is its middle, its children are the middles of both sides, and
// an empty side costs nothing. As printed, the children are (3i+j)/2 - 1 and (i+3j)/2 + 1 modulo
// the ranks, and a side's edge counts even if the side is empty.
class SegmentTree {
 public:
  SegmentTree(std::size_t ranks, Bytes bytes, bool printed)
      : ranks_(static_cast<Index>(ranks)), printed_(printed) {
    model_.bytes = bytes;
    const std::uint32_t root = add_segment(0, ranks_ - 1);
    if (root == TreeModelEdge::kNothing) model_.vertices.emplace_back();
  }

  [[nodiscard]] TreeModel take() { return std::move(model_); }

 private:
  // The vertex of segment i..j; kNothing if it costs nothing.
  std::uint32_t add_segment(Index i, Index j) {
    if (i >= j) return TreeModelEdge::kNothing;
    const Index m = (i + j) / 2;
    std::vector<TreeModelEdge> edges;
    add_side(m, i, m - 1, printed_ ? (3 * i + j) / 2 - 1 : (i + m - 1) / 2, edges);
    add_side(m, m + 1, j, printed_ ? (i + 3 * j) / 2 + 1 : (m + 1 + j) / 2, edges);
    model_.vertices.push_back(std::move(edges));
    return static_cast<std::uint32_t>(model_.vertices.size() - 1);
  }

  void add_side(Index root, Index begin, Index end, Index child,
                std::vector<TreeModelEdge>& edges) {
    if (begin > end && !printed_) return;
    const std::uint32_t below = add_segment(begin, end);
    edges.push_back({{wrapped(root), wrapped(child)}, below});
  }

  [[nodiscard]] std::uint32_t wrapped(Index rank) const {
    return static_cast<std::uint32_t>((rank % ranks_ + ranks_) % ranks_);
  }

  Index ranks_;
  bool printed_;
  TreeModel model_;
};

// The second tree is the first with every rank decremented.
std::vector<TreeModel> with_decremented(TreeModel first, std::size_t ranks) {
  TreeModel second = first;
  const auto n = static_cast<std::uint32_t>(ranks);
  for (auto& vertex : second.vertices) {
    for (TreeModelEdge& edge : vertex) {
      edge.pair = {(edge.pair.a + n - 1) % n, (edge.pair.b + n - 1) % n};
    }
  }
  return {std::move(first), std::move(second)};
}

// The trees that the generator builds (alg/generators/rank_shapes.h).
TreeModel model_of_tree(const RankTree& tree, Bytes bytes) {
  // The deepest ranks are first.
  std::vector<std::size_t> order(tree.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return tree.depth[a] > tree.depth[b]; });
  std::vector<std::uint32_t> vertex_of(tree.size());
  for (std::size_t v = 0; v < order.size(); ++v) {
    vertex_of[order[v]] = static_cast<std::uint32_t>(v);
  }
  TreeModel model;
  model.bytes = bytes;
  model.vertices.resize(tree.size());
  for (std::size_t r = 0; r < tree.size(); ++r) {
    if (r == tree.root) continue;
    const std::size_t parent = tree.parent[r];
    model.vertices[vertex_of[parent]].push_back(
        {{static_cast<std::uint32_t>(parent), static_cast<std::uint32_t>(r)}, vertex_of[r]});
  }
  return model;
}

RankPair pair_of(std::size_t a, std::size_t b) {
  return {static_cast<std::uint32_t>(a), static_cast<std::uint32_t>(b)};
}

// A hop of the generator carries a chunk, a hop of the paper's formula all data.
void add_ring(const CostModelRequest& request, CostModel& model) {
  model.is_ring = true;
  const bool whole = request.form != OrderForm::generated;
  const Bytes bytes = whole ? request.size : request.size / request.ranks;
  for (std::size_t r = 0; r < request.ranks; ++r) {
    model.rounds.push_back({bytes, {pair_of(r, (r + 1) % request.ranks)}});
  }
}

// The odd rank of a folded pair is a member.
std::vector<std::vector<std::uint32_t>> folded_places(std::size_t ranks) {
  std::size_t members = 1;
  while (2 * members <= ranks) members *= 2;
  const std::size_t folded = ranks - members;
  std::vector<std::vector<std::uint32_t>> places;
  for (std::uint32_t m = 0; m < members; ++m) {
    if (m < folded) {
      places.push_back({2 * m, 2 * m + 1});
    } else {
      places.push_back({m + static_cast<std::uint32_t>(folded)});
    }
  }
  return places;
}

void add_halving_doubling(const CostModelRequest& request, CostModel& model) {
  model.places = folded_places(request.ranks);
  const std::size_t members = model.places.size();
  if (request.ranks != members) {
    CostRound fold{request.size, {}};
    for (const auto& place : model.places) {
      if (place.size() == 2) fold.pairs.push_back(pair_of(place.front(), place.back()));
    }
    model.rounds.push_back(std::move(fold));
  }
  // The generator halves the distance with the data, the paper doubles it.
  const bool generated = request.form == OrderForm::generated;
  for (std::size_t distance = 1, share = 2; distance < members; distance *= 2, share *= 2) {
    CostRound round{request.size / (generated ? members / distance : share), {}};
    for (std::size_t m = 0; m < members; ++m) {
      if ((m & distance) != 0) continue;
      round.pairs.push_back(pair_of(model.places[m].back(), model.places[m ^ distance].back()));
    }
    model.rounds.push_back(std::move(round));
  }
}

// The formula pairs j and j + 2^i for the lower half of the ranks, whatever their bits.
void add_printed_halving_doubling(const CostModelRequest& request, CostModel& model) {
  for (std::size_t distance = 1, share = 2; distance < request.ranks; distance *= 2, share *= 2) {
    CostRound round{request.size / share, {}};
    for (std::size_t j = 0; j < request.ranks / 2; ++j) {
      round.pairs.push_back(pair_of(j, (j + distance) % request.ranks));
    }
    model.rounds.push_back(std::move(round));
  }
}

void add_bcube(const CostModelRequest& request, CostModel& model) {
  const std::size_t base = request.base;
  const bool generated = request.form == OrderForm::generated;
  Bytes share = base;
  for (std::size_t distance = 1; distance < request.ranks; distance *= base, share *= base) {
    const Bytes parts = generated ? request.ranks / distance : share;
    CostRound round{request.size / parts, {}};
    for (std::size_t j = 0; j < request.ranks; ++j) {
      // Each pair is counted once, at its lower digit.
      for (std::size_t k = 1; j / distance % base + k < base; ++k) {
        round.pairs.push_back(pair_of(j, j + k * distance));
      }
    }
    model.rounds.push_back(std::move(round));
  }
}

// In the formula k runs to B, and j + k B^i leaves the digit's group.
void add_printed_bcube(const CostModelRequest& request, CostModel& model) {
  const std::size_t base = request.base;
  Bytes share = base;
  for (std::size_t distance = 1; distance < request.ranks; distance *= base, share *= base) {
    CostRound round{request.size / share, {}};
    for (std::size_t j = 0; j < request.ranks / base; ++j) {
      for (std::size_t k = 1; k <= base; ++k) {
        const std::size_t peer = (j + k * distance) % request.ranks;
        if (peer != j) round.pairs.push_back(pair_of(j, peer));
      }
    }
    model.rounds.push_back(std::move(round));
  }
}

void add_trees(const CostModelRequest& request, CostModel& model) {
  const Bytes half = request.size / 2;
  if (request.form != OrderForm::generated) {
    const bool printed = request.form == OrderForm::as_printed;
    model.trees = with_decremented(SegmentTree(request.ranks, half, printed).take(), request.ranks);
    return;
  }
  for (const RankTree& tree : make_double_tree(request.ranks)) {
    model.trees.push_back(model_of_tree(tree, half));
  }
}

}  // namespace

Bytes CostModel::largest() const {
  Bytes most = 0;
  for (const CostRound& round : rounds) most = std::max(most, round.bytes);
  for (const TreeModel& tree : trees) most = std::max(most, tree.bytes);
  return most;
}

std::size_t CostModel::num_messages() const {
  std::size_t messages = 0;
  for_each_message(*this, [&](const RankPair& /*pair*/, Bytes /*bytes*/) { ++messages; });
  return messages;
}

std::string unsuited_for_model(const CostModelRequest& request) {
  if (request.ranks < 2) return "An order needs at least two ranks.";
  if (request.objective == OrderObjective::max && request.model != OrderModel::ring) {
    return "reorder.objective max works only with the model ring, where the slowest hop governs "
           "all steps.";
  }
  if (request.model == OrderModel::bcube) return unsuited_for_bcube(request.ranks, request.base);
  const bool printed = request.form == OrderForm::as_printed;
  if (printed && request.model == OrderModel::halving_doubling &&
      (request.ranks & (request.ranks - 1)) != 0) {
    return fmt::format("halving_doubling as printed needs a power of two of ranks; found {}.",
                       request.ranks);
  }
  return {};
}

CostModel make_cost_model(const CostModelRequest& request) {
  CostModel model;
  model.ranks = request.ranks;
  model.objective = request.objective;
  for (std::uint32_t r = 0; r < request.ranks; ++r) model.places.push_back({r});
  if (request.model == OrderModel::bcube) model.base = request.base;
  const bool printed = request.form == OrderForm::as_printed;
  switch (request.model) {
    case OrderModel::ring:
      add_ring(request, model);
      break;
    case OrderModel::halving_doubling:
      printed ? add_printed_halving_doubling(request, model) : add_halving_doubling(request, model);
      break;
    case OrderModel::dbtree:
      add_trees(request, model);
      break;
    case OrderModel::bcube:
      printed ? add_printed_bcube(request, model) : add_bcube(request, model);
      break;
  }
  return model;
}

Cost full_cost(const CostModel& model, const CostMatrix& costs, const RankOrder& order) {
  std::vector<Cost> of_vertex;
  return cost_by(
      model,
      [&](const RankPair& pair, Bytes bytes) {
        return costs.cost(order[pair.a], order[pair.b], bytes);
      },
      of_vertex);
}

}  // namespace espalier
