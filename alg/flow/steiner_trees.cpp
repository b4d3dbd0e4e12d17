#include "alg/flow/steiner_trees.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace espalier {

namespace {

constexpr std::uint32_t kNone = ~0U;
// Of the search for one cheapest tree; larger groups would take minutes. Directed trees fill links
// as well without it.
constexpr double kMostExactSteps = 20'000;
constexpr double kMostDirectedSteps = 2'000;
constexpr double kFirstSteepness = 8;
constexpr double kSteeper = 1.25;
constexpr double kSteepest = 200;
constexpr double kBusy = 0.94;         // of the busiest edge
constexpr double kLeastGain = 0.0005;  // otherwise patience ends
constexpr std::uint32_t kPatience = 8;

}  // namespace

SteinerTrees::SteinerTrees(std::size_t vertices, std::vector<double> rates,
                           std::vector<SteinerEdge> edges, std::vector<SteinerItem> items,
                           bool directed)
    : rates_(std::move(rates)),
      edges_(std::move(edges)),
      items_(std::move(items)),
      directed_(directed),
      is_terminal_(items_.size(), std::vector<bool>(vertices, false)),
      allowed_(items_.size()),
      out_(vertices),
      fastest_(*std::max_element(rates_.begin(), rates_.end())),
      load_(rates_.size(), 0),
      price_(rates_.size(), 0) {
  for (std::size_t i = 0; i < items_.size(); ++i) {
    for (const std::uint32_t t : items_[i].terminals) is_terminal_[i][t] = true;
    if (!items_[i].within.empty()) allowed_[i].resize(vertices, false);
    for (const std::uint32_t v : items_[i].within) allowed_[i][v] = true;
  }
  for (std::uint32_t e = 0; e < edges_.size(); ++e) {
    edges_[e].hold.resize(edges_[e].links.size(), 1);
    out_[edges_[e].a].push_back(e);
    if (!directed_) out_[edges_[e].b].push_back(e);
  }
  into_ = out_;
  if (!directed_) return;
  into_.assign(vertices, {});
  for (std::uint32_t e = 0; e < edges_.size(); ++e) into_[edges_[e].b].push_back(e);
}

std::vector<SteinerTrees::Tree> SteinerTrees::find(const std::vector<std::uint32_t>& counts,
                                                   const TreeGrowth& growth,
                                                   std::uint64_t most_work) {
  growth_ = growth;
  std::fill(load_.begin(), load_.end(), 0);
  trees_.clear();
  weight_.clear();
  for (std::size_t i = 0; i < items_.size(); ++i) {
    weight_.push_back(items_[i].bytes / items_[0].bytes * counts[0] / counts[i]);
  }
  const std::uint32_t most = *std::max_element(counts.begin(), counts.end());
  for (std::uint32_t t = 0; t < most; ++t) {
    for (std::size_t i = 0; i < items_.size(); ++i) {
      if (t < counts[i]) trees_.push_back({i, {}});
    }
  }
  for (std::uint32_t t = 0; t < trees_.size(); ++t) {
    set_prices(kFirstSteepness);
    if (!grow(t)) return {};
  }
  auto best = trees_;
  std::vector<double> best_load = load_;
  double best_peak = peak();
  double steepness = kFirstSteepness;
  for (std::uint32_t without_gain = 0; without_gain < kPatience && work_ < most_work;
       ++without_gain) {
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

std::vector<std::vector<double>> SteinerTrees::weighed_prices(std::uint32_t phases) {
  constexpr double kDearer = 0.05;
  std::vector<std::vector<double>> found;
  std::vector<double> first_load(rates_.size(), 0);
  double scale = 0;  // the load of the busiest link in the first phase
  for (std::size_t l = 0; l < rates_.size(); ++l) price_[l] = 1 / rates_[l];
  for (std::uint32_t phase = 0; phase < phases; ++phase) {
    for (item_ = 0; item_ < items_.size(); ++item_) {
      std::vector<std::uint32_t> tree;
      if (!grow_edges(phase, false, tree)) return {};
      for (const std::uint32_t e : tree) {
        for (std::size_t i = 0; i < edges_[e].links.size(); ++i) {
          const std::uint32_t l = edges_[e].links[i];
          const double load = items_[item_].bytes * edges_[e].hold[i] / rates_[l];
          if (phase == 0) {
            scale = std::max(scale, first_load[l] += load);
          } else {
            price_[l] *= 1 + kDearer * load / scale;
          }
        }
      }
    }
    if (phase + 1 == phases / 2 || phase + 1 == phases) found.push_back(price_);
  }
  return found;
}

double SteinerTrees::peak() const {
  double most = 0;
  for (std::size_t l = 0; l < rates_.size(); ++l) most = std::max(most, filled(l));
  return most;
}

void SteinerTrees::set_prices(double steepness) {
  // At least what a tree of item 0 is on the fastest link.
  peak_ = std::max(peak(), 1 / fastest_);
  steepness_ = steepness;
  for (std::size_t l = 0; l < rates_.size(); ++l) set_price(l);
}

void SteinerTrees::set_price(std::size_t link) {
  price_[link] = std::exp(steepness_ * (filled(link) / peak_ - 1)) / rates_[link] +
                 growth_.least_price / fastest_;
}

void SteinerTrees::add_load(const Tree& tree, double change) {
  for (const std::uint32_t e : tree.edges) {
    for (std::size_t i = 0; i < edges_[e].links.size(); ++i) {
      const std::uint32_t l = edges_[e].links[i];
      load_[l] += change * weight_[tree.item] * edges_[e].hold[i];
      set_price(l);
    }
  }
}

void SteinerTrees::improve(double steepness) {
  set_prices(steepness);
  std::vector<std::uint32_t> order(trees_.size());
  std::iota(order.begin(), order.end(), 0U);
  std::shuffle(order.begin(), order.end(), random_);
  for (const std::uint32_t t : order) {
    const auto& edges = trees_[t].edges;
    const bool busy = std::any_of(edges.begin(), edges.end(), [&](std::uint32_t e) {
      const auto& links = edges_[e].links;
      return std::any_of(links.begin(), links.end(),
                         [&](std::uint32_t l) { return filled(l) >= kBusy * peak_; });
    });
    if (!busy) continue;
    add_load(trees_[t], -1);
    grow(t);
  }
}

bool SteinerTrees::grow(std::uint32_t tree) {
  item_ = trees_[tree].item;
  trees_[tree].edges.clear();
  const bool fills = directed_ && items_.size() == 1;
  if (!grow_edges(tree / items_.size(), fills, trees_[tree].edges)) return false;
  if (!fills) add_load(trees_[tree], 1);
  return true;
}

bool SteinerTrees::grow_edges(std::size_t turn, bool fills, std::vector<std::uint32_t>& edges) {
  const std::vector<std::uint32_t>& terminals = items_[item_].terminals;
  const double steps = std::pow(3, terminals.size() - 1) * static_cast<double>(out_.size());
  const std::uint32_t first = directed_ ? terminals.back() : terminals[turn % terminals.size()];
  const bool exact = !growth_.lowest && steps <= (directed_ ? kMostDirectedSteps : kMostExactSteps);
  if (!exact) return grow_near(first, fills, edges);
  if (!grow_least(edges)) return false;
  if (fills) add_load({item_, edges}, 1);
  return true;
}

// The nearest terminal that the tree lacks joins it, again and again (Takahashi, Matsuyama 1980);
// nearest to the tree or, for low trees, to its root.
bool SteinerTrees::grow_near(std::uint32_t from, bool fills, std::vector<std::uint32_t>& tree) {
  std::vector<double> in_tree(out_.size(), kNever);  // by vertex in the tree: where costs begin
  in_tree[from] = 0;
  for (std::size_t joined = 1; joined < items_[item_].terminals.size(); ++joined) {
    std::uint32_t v = nearest(in_tree);
    if (v == kNone) return false;
    while (in_tree[v] == kNever) {
      in_tree[v] = growth_.lowest ? cost_[v] : 0;
      tree.push_back(came_by_[v]);
      if (fills) add_load({item_, {came_by_[v]}}, 1);
      v = other_end(came_by_[v], v);
    }
  }
  return true;
}

// By the cheapest way from the tree, in came_by_.
std::uint32_t SteinerTrees::nearest(const std::vector<double>& in_tree) {
  Frontier frontier;
  cost_ = in_tree;
  came_by_.assign(out_.size(), kNone);
  for (std::uint32_t v = 0; v < in_tree.size(); ++v) {
    if (in_tree[v] != kNever) frontier.emplace(cost_[v], v);
  }
  while (!frontier.empty()) {
    const auto [so_far, v] = frontier.top();
    frontier.pop();
    if (so_far > cost_[v]) continue;
    if (is_terminal_[item_][v] && in_tree[v] == kNever) return v;
    work_ += out_[v].size();
    for (const std::uint32_t e : out_[v]) {
      const std::uint32_t next = other_end(e, v);
      const double then = so_far + cost(e);
      if (then >= cost_[next] || !may_pass(next)) continue;
      cost_[next] = then;
      came_by_[next] = e;
      frontier.emplace(cost_[next], next);
    }
  }
  return kNone;
}

// The cheapest tree (Dreyfus, Wagner 1971): over all sets of terminals but the last, and all
// vertices that a tree of the set reaches.
bool SteinerTrees::grow_least(std::vector<std::uint32_t>& tree) {
  const std::vector<std::uint32_t>& terminals = items_[item_].terminals;
  const std::size_t vertices = out_.size();
  const std::size_t others = terminals.size() - 1;
  const std::uint32_t sets = 1U << others;
  least_.assign(sets * vertices, {kNever, kNone, 0});
  for (std::size_t t = 0; t < others; ++t) {
    least_[(std::size_t{1} << t) * vertices + terminals[t]].cost = 0;
  }
  for (std::uint32_t set = 1; set < sets; ++set) {
    Least* of_set = &least_[set * vertices];
    Frontier frontier;
    for (std::uint32_t v = 0; v < vertices; ++v) {
      for (std::uint32_t part = (set - 1) & set; part > (set ^ part); part = (part - 1) & set) {
        const double both =
            least_[part * vertices + v].cost + least_[(set ^ part) * vertices + v].cost;
        if (both < of_set[v].cost) of_set[v] = {both, kNone, part};
      }
      if (of_set[v].cost < kNever) frontier.emplace(of_set[v].cost, v);
    }
    while (!frontier.empty()) {
      const auto [so_far, v] = frontier.top();
      frontier.pop();
      if (so_far > of_set[v].cost) continue;
      work_ += into_[v].size();
      for (const std::uint32_t e : into_[v]) {
        const std::uint32_t next = other_end(e, v);
        const double then = so_far + cost(e);
        if (then >= of_set[next].cost || !may_pass(next)) continue;
        of_set[next] = {then, e, 0};
        frontier.emplace(of_set[next].cost, next);
      }
    }
  }
  std::vector<std::pair<std::uint32_t, std::uint32_t>> open{{sets - 1, terminals.back()}};
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
