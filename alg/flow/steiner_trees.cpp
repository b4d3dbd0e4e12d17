#include "alg/flow/steiner_trees.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace espalier {

namespace {

constexpr std::uint32_t kNone = ~0U;
// Of the search for one cheapest tree; larger groups would take minutes.
constexpr double kMostExactSteps = 20'000;
constexpr double kFirstSteepness = 8;
constexpr double kSteeper = 1.25;
constexpr double kSteepest = 200;
constexpr double kLeastPrice = 0.02;   // idle edges cost, too
constexpr double kBusy = 0.94;         // of the busiest edge
constexpr double kLeastGain = 0.0005;  // otherwise patience ends
constexpr std::uint32_t kPatience = 8;

}  // namespace

SteinerTrees::SteinerTrees(std::size_t vertices, std::vector<std::uint32_t> terminals,
                           std::vector<SteinerEdge> edges)
    : terminals_(std::move(terminals)),
      edges_(std::move(edges)),
      is_terminal_(vertices, false),
      at_(vertices),
      load_(edges_.size(), 0),
      price_(edges_.size(), 0) {
  for (const std::uint32_t t : terminals_) is_terminal_[t] = true;
  for (std::uint32_t e = 0; e < edges_.size(); ++e) {
    at_[edges_[e].a].push_back(e);
    at_[edges_[e].b].push_back(e);
  }
}

std::vector<std::vector<std::uint32_t>> SteinerTrees::find(std::uint32_t count) {
  std::fill(load_.begin(), load_.end(), 0);
  trees_.assign(count, {});
  for (std::uint32_t t = 0; t < count; ++t) {
    set_prices(kFirstSteepness);
    if (!grow(t)) return {};
  }
  auto best = trees_;
  std::vector<double> best_load = load_;
  double best_peak = peak();
  double steepness = kFirstSteepness;
  for (std::uint32_t without_gain = 0; without_gain < kPatience; ++without_gain) {
    improve(steepness);
    const double now = peak();
    if (now < best_peak * (1 - kLeastGain)) without_gain = 0;
    if (now < best_peak) {
      best_peak = now;
      best = trees_;
      best_load = load_;
    }
    steepness = std::min(steepness * kSteeper, kSteepest);
  }
  load_ = std::move(best_load);
  return best;
}

const std::vector<double>& SteinerTrees::prices(double steepness) {
  set_prices(steepness);
  return price_;
}

double SteinerTrees::peak() const {
  double most = 0;
  for (std::size_t e = 0; e < edges_.size(); ++e) most = std::max(most, filled(e));
  return most;
}

void SteinerTrees::set_prices(double steepness) {
  peak_ = std::max(peak(), std::numeric_limits<double>::min());
  steepness_ = steepness;
  for (std::size_t e = 0; e < edges_.size(); ++e) set_price(e);
}

void SteinerTrees::set_price(std::size_t edge) {
  price_[edge] =
      (std::exp(steepness_ * (filled(edge) / peak_ - 1)) + kLeastPrice) / edges_[edge].rate;
}

void SteinerTrees::add_load(const std::vector<std::uint32_t>& tree, double change) {
  for (const std::uint32_t e : tree) {
    load_[e] += change;
    set_price(e);
  }
}

void SteinerTrees::improve(double steepness) {
  set_prices(steepness);
  std::vector<std::uint32_t> order(trees_.size());
  std::iota(order.begin(), order.end(), 0U);
  std::shuffle(order.begin(), order.end(), random_);
  for (const std::uint32_t t : order) {
    const bool busy = std::any_of(trees_[t].begin(), trees_[t].end(),
                                  [&](std::uint32_t e) { return filled(e) >= kBusy * peak_; });
    if (!busy) continue;
    add_load(trees_[t], -1);
    grow(t);
  }
}

bool SteinerTrees::grow(std::uint32_t tree) {
  auto& edges = trees_[tree];
  edges.clear();
  const double steps = std::pow(3, terminals_.size() - 1) * static_cast<double>(at_.size());
  const auto first = static_cast<std::uint32_t>(tree % terminals_.size());
  if (!(steps <= kMostExactSteps ? grow_least(edges) : grow_near(terminals_[first], edges))) {
    return false;
  }
  add_load(edges, 1);
  return true;
}

// The nearest terminal that the tree lacks joins it, again and again (Takahashi, Matsuyama 1980).
bool SteinerTrees::grow_near(std::uint32_t from, std::vector<std::uint32_t>& tree) {
  std::vector<bool> in_tree(at_.size(), false);
  in_tree[from] = true;
  for (std::size_t joined = 1; joined < terminals_.size(); ++joined) {
    std::uint32_t v = nearest(in_tree);
    if (v == kNone) return false;
    while (!in_tree[v]) {
      in_tree[v] = true;
      tree.push_back(came_by_[v]);
      v = other_end(came_by_[v], v);
    }
  }
  return true;
}

// By the cheapest way from the tree, in came_by_.
std::uint32_t SteinerTrees::nearest(const std::vector<bool>& in_tree) {
  Frontier frontier;
  cost_.assign(at_.size(), kNever);
  came_by_.assign(at_.size(), kNone);
  for (std::uint32_t v = 0; v < in_tree.size(); ++v) {
    if (!in_tree[v]) continue;
    cost_[v] = 0;
    frontier.emplace(0, v);
  }
  while (!frontier.empty()) {
    const auto [cost, v] = frontier.top();
    frontier.pop();
    if (cost > cost_[v]) continue;
    if (is_terminal_[v] && !in_tree[v]) return v;
    for (const std::uint32_t e : at_[v]) {
      const std::uint32_t next = other_end(e, v);
      if (cost + price_[e] >= cost_[next]) continue;
      cost_[next] = cost + price_[e];
      came_by_[next] = e;
      frontier.emplace(cost_[next], next);
    }
  }
  return kNone;
}

// The cheapest tree (Dreyfus, Wagner 1971): over all sets of terminals but the last, and all
// vertices that a tree of the set reaches.
bool SteinerTrees::grow_least(std::vector<std::uint32_t>& tree) {
  const std::size_t vertices = at_.size();
  const std::size_t others = terminals_.size() - 1;
  const std::uint32_t sets = 1U << others;
  least_.assign(sets * vertices, {kNever, kNone, 0});
  for (std::size_t t = 0; t < others; ++t) {
    least_[(std::size_t{1} << t) * vertices + terminals_[t]].cost = 0;
  }
  for (std::uint32_t set = 1; set < sets; ++set) {
    Least* of_set = &least_[set * vertices];
    Frontier frontier;
    for (std::uint32_t v = 0; v < vertices; ++v) {
      for (std::uint32_t part = (set - 1) & set; part > (set ^ part); part = (part - 1) & set) {
        const double cost =
            least_[part * vertices + v].cost + least_[(set ^ part) * vertices + v].cost;
        if (cost < of_set[v].cost) of_set[v] = {cost, kNone, part};
      }
      if (of_set[v].cost < kNever) frontier.emplace(of_set[v].cost, v);
    }
    while (!frontier.empty()) {
      const auto [cost, v] = frontier.top();
      frontier.pop();
      if (cost > of_set[v].cost) continue;
      for (const std::uint32_t e : at_[v]) {
        const std::uint32_t next = other_end(e, v);
        if (cost + price_[e] >= of_set[next].cost) continue;
        of_set[next] = {cost + price_[e], e, 0};
        frontier.emplace(of_set[next].cost, next);
      }
    }
  }
  std::vector<std::pair<std::uint32_t, std::uint32_t>> open{{sets - 1, terminals_.back()}};
  while (!open.empty()) {
    const auto [set, v] = open.back();
    open.pop_back();
    const Least& least = least_[set * vertices + v];
    if (least.cost == kNever) return false;
    if (least.edge != kNone) {
      tree.push_back(least.edge);
      open.emplace_back(set, other_end(least.edge, v));
    } else if (least.part != 0) {
      open.emplace_back(least.part, v);
      open.emplace_back(set ^ least.part, v);
    }
  }
  return true;
}

}  // namespace espalier
