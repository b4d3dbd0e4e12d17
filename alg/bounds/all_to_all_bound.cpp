// Bounds of an all_to_all: cuts that are likely to bind, and prices of links.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <functional>
#include <limits>
#include <queue>
#include <utility>
#include <vector>

#include "alg/bounds/cuts.h"
#include "alg/routes/links.h"

namespace espalier {

namespace {

class CutSearch {
 public:
  explicit CutSearch(const Topology& topology) : topology_(topology) {}

  BandwidthBound run() {
    visit_likely_cuts(topology_, true, [&](const std::vector<bool>& inside, const auto& name) {
      try_cut(inside, name);
    });
    try_volume();
    return best_;
  }

 private:
  [[nodiscard]] double nodes() const { return static_cast<double>(topology_.num_nodes()); }

  template <class Describe, class Certify>
  void offer(double seconds_per_byte, Describe describe, Certify certify) {
    // Of bounds that differ only by rounding, the first one is reported.
    if (seconds_per_byte <= best_.seconds_per_byte * (1 + 1e-12)) return;
    best_ = {seconds_per_byte, describe(), certify()};
  }

  template <class Describe>
  void try_cut(const std::vector<bool>& inside, Describe describe) {
    std::size_t count = 0;
    for (std::size_t n = 0; n < topology_.num_nodes(); ++n) count += inside[n] ? 1U : 0U;
    if (count == 0 || count == topology_.num_nodes()) return;
    double out = 0;
    double in = 0;
    for (const TopologyLink& link : topology_.links()) {
      const bool from = inside[link.from.index()];
      const bool to = inside[link.to.index()];
      if (from && !to) out += static_cast<double>(link.spec.bytes_per_second);
      if (to && !from) in += static_cast<double>(link.spec.bytes_per_second);
    }
    const auto held = static_cast<double>(count);
    const double rate = std::min(out, in);
    offer(
        held * (nodes() - held) / nodes() / rate,
        [&] { return fmt::format("{}: {:g} GB/s", describe(), rate / 1e9); },
        [&] {
          return crossing_of(topology_, {inside, in < out ? Direction::in : Direction::out});
        });
  }

  void try_volume() {
    double links_taken = 0;
    for (std::size_t n = 0; n < topology_.num_nodes(); ++n) {
      const auto distance = distances_from(topology_, NodeId(n));
      for (std::size_t m = 0; m < topology_.num_nodes(); ++m) {
        links_taken += static_cast<double>(distance[m]);
      }
    }
    double rate = 0;
    for (const TopologyLink& link : topology_.links()) {
      rate += static_cast<double>(link.spec.bytes_per_second);
    }
    // Every link asks for the same.
    offer(
        links_taken / nodes() / rate,
        [&] {
          return fmt::format("mean distance {:.4g} links over all links together: {:g} GB/s",
                             links_taken / nodes() / (nodes() - 1), rate / 1e9);
        },
        [&] { return PriceCertificate{std::vector<double>(topology_.num_links(), 1.0)}; });
  }

  const Topology& topology_;
  BandwidthBound best_;
};

// The dual of the concurrent flow. First, prices that grow exponentially with the load of a flow
// whose sources take turns to move to their cheapest paths; then steps along the subgradient, as
// long as the gap to that flow's busiest link asks for (Polyak 1969).
class PriceSearch {
 public:
  // `counts`: bytes of every pair; nullptr: 1 of each.
  explicit PriceSearch(const Topology& topology, const std::vector<Bytes>* counts = nullptr)
      : topology_(topology),
        counts_(counts),
        rate_(topology.num_links()),
        price_(topology.num_links()),
        cheapest_(topology.num_links(), 0),
        load_(topology.num_links(), 0) {
    for (std::size_t l = 0; l < rate_.size(); ++l) {
      rate_[l] = static_cast<double>(topology.link(LinkId(l)).spec.bytes_per_second);
      price_[l] = 1 / rate_[l];
    }
  }

  LinkPrices run() {
    follow_loads();
    follow_subgradients();
    if (counts_ == nullptr) best_.seconds /= static_cast<double>(topology_.num_nodes());
    return std::move(best_);
  }

 private:
  void follow_loads() {
    for (std::size_t n = 0; n < topology_.num_nodes(); ++n) {
      find_paths(n);
      add_loads(n);
      flow_.push_back(cheapest_);
      for (std::size_t l = 0; l < load_.size(); ++l) load_[l] += cheapest_[l];
    }
    steepness_ = kFirstSteepness;
    for (std::uint32_t round = 0; round < kLoadRounds && !is_good(); ++round) {
      peak_ = 0;
      for (std::size_t l = 0; l < load_.size(); ++l) {
        peak_ = std::max(peak_, load_[l] / rate_[l]);
      }
      least_peak_ = std::min(least_peak_, peak_);
      for (std::size_t l = 0; l < load_.size(); ++l) price_[l] = price_at(l, load_[l]);
      for (std::size_t n = 0; n < topology_.num_nodes(); ++n) {
        find_paths(n);
        add_loads(n);
        move_flow(flow_[n]);
      }
      take_bound();
      steepness_ = std::min(steepness_ * kSteeper, kMostSteepness);
    }
  }

  [[nodiscard]] double price_at(std::size_t link, double load) const {
    return std::exp(steepness_ * (load / rate_[link] / peak_ - 1)) / rate_[link];
  }

  // Moves a source's flow towards its cheapest paths, to where the prices of both are equal.
  void move_flow(std::vector<double>& flow) {
    moved_.clear();
    for (std::size_t l = 0; l < flow.size(); ++l) {
      if (cheapest_[l] != flow[l]) moved_.push_back({l, cheapest_[l] - flow[l]});
    }
    const auto gain = [&](double step) {
      double sum = 0;
      for (const auto& [l, change] : moved_) sum -= change * price_at(l, load_[l] + step * change);
      return sum;
    };
    double step = 1;
    if (gain(1) < 0) {
      double high = 1;
      step = 0;
      constexpr std::uint32_t kHalvings = 8;
      for (std::uint32_t i = 0; i < kHalvings; ++i) {
        const double middle = (step + high) / 2;
        (gain(middle) < 0 ? high : step) = middle;
      }
    }
    for (const auto& [l, change] : moved_) {
      flow[l] += step * change;
      load_[l] += step * change;
      price_[l] = price_at(l, load_[l]);
    }
  }

  void follow_subgradients() {
    price_ = best_.price;
    for (std::uint32_t round = 0; round < kSubgradientRounds && !is_good(); ++round) {
      const double bound = take_bound();
      double length = 0;
      for (std::size_t l = 0; l < price_.size(); ++l) {
        const double over = cheapest_[l] / rate_[l] - bound;
        length += over * over;
      }
      if (length == 0) return;
      // Half-way from the best bound to what a flow needs: the least time lies between them.
      const double step = ((best_.seconds + least_peak_) / 2 - bound) / length;
      for (std::size_t l = 0; l < price_.size(); ++l) {
        const double over = cheapest_[l] / rate_[l] - bound;
        price_[l] = std::max(0.0, price_[l] + step * over / rate_[l]);
      }
    }
  }

  [[nodiscard]] bool is_good() const { return least_peak_ <= best_.seconds * kGood; }

  // Scales prices so that all links together ask for 1 per second. Returns the bound that they
  // prove, times N; cheapest_ has the loads of the cheapest paths.
  double take_bound() {
    double all = 0;
    for (std::size_t l = 0; l < price_.size(); ++l) all += price_[l] * rate_[l];
    for (double& p : price_) p /= all;
    std::fill(cheapest_.begin(), cheapest_.end(), 0.0);
    double paid = 0;
    for (std::size_t n = 0; n < topology_.num_nodes(); ++n) {
      find_paths(n);
      paid += add_paths(n);
    }
    if (paid > best_.seconds) best_ = {price_, paid};
    return paid;
  }

  void find_paths(std::size_t source) {
    const std::size_t vertices = topology_.num_vertices();
    cost_.assign(vertices, std::numeric_limits<double>::infinity());
    came_by_.assign(vertices, LinkId());
    order_.clear();
    using Entry = std::pair<double, std::size_t>;
    std::priority_queue<Entry, std::vector<Entry>, std::greater<>> frontier;
    cost_[source] = 0;
    frontier.emplace(0, source);
    while (!frontier.empty()) {
      const auto [cost, v] = frontier.top();
      frontier.pop();
      if (cost > cost_[v]) continue;
      order_.push_back(v);
      for (const LinkId id : topology_.out_links(NodeId(v))) {
        const std::size_t to = topology_.link(id).to.index();
        const double then = cost + price_[id.index()];
        if (then >= cost_[to]) continue;
        cost_[to] = then;
        came_by_[to] = id;
        frontier.emplace(then, to);
      }
    }
  }

  [[nodiscard]] double demand(std::size_t from, std::size_t to) const {
    if (counts_ == nullptr) return 1;
    return static_cast<double>((*counts_)[from * topology_.num_nodes() + to]);
  }

  // Adds the demand of every node along the paths that were found. Returns the sum of their
  // payments.
  double add_paths(std::size_t source) {
    below_.assign(topology_.num_vertices(), 0);
    double paid = 0;
    for (std::size_t i = order_.size(); i-- > 0;) {
      const std::size_t v = order_[i];
      if (v == source) continue;
      if (v < topology_.num_nodes()) {
        below_[v] += demand(source, v);
        paid += demand(source, v) * cost_[v];
      }
      const LinkId by = came_by_[v];
      cheapest_[by.index()] += below_[v];
      below_[topology_.link(by).from.index()] += below_[v];
    }
    return paid;
  }
  void add_loads(std::size_t source) {
    std::fill(cheapest_.begin(), cheapest_.end(), 0.0);
    add_paths(source);
  }

  static constexpr double kFirstSteepness = 10;
  static constexpr double kSteeper = 1.1;
  static constexpr double kMostSteepness = 60;
  static constexpr double kGood = 1.0005;
  static constexpr std::uint32_t kLoadRounds = 25;
  static constexpr std::uint32_t kSubgradientRounds = 300;

  const Topology& topology_;
  const std::vector<Bytes>* counts_;
  std::vector<double> rate_;
  std::vector<double> price_;
  std::vector<double> cheapest_;           // load of the cheapest paths, by link
  std::vector<double> load_;               // of the flow
  std::vector<std::vector<double>> flow_;  // by source and link
  std::vector<std::pair<std::size_t, double>> moved_;
  double steepness_ = 0;
  double peak_ = 0;  // seconds per unit: the busiest link
  double least_peak_ = std::numeric_limits<double>::infinity();
  std::vector<double> cost_;
  std::vector<LinkId> came_by_;
  std::vector<double> below_;
  std::vector<std::size_t> order_;  // by cost
  LinkPrices best_;
};

}  // namespace

LinkPrices all_to_all_prices(const Topology& topology) { return PriceSearch(topology).run(); }

LinkPrices all_to_allv_prices(const Topology& topology, const std::vector<Bytes>& counts) {
  return PriceSearch(topology, &counts).run();
}

BandwidthBound all_to_all_bound(const Topology& topology) {
  BandwidthBound bound = CutSearch(topology).run();
  // Dimension by dimension, the links of an even grid reach the bound of its cuts or distances.
  const bool is_reached = is_even_grid(topology) && topology.grid()->twist.empty();
  if (is_reached || topology.num_vertices() > kMostPricedVertices) return bound;
  const LinkPrices prices = all_to_all_prices(topology);
  constexpr double kClearly = 1.0005;  // a cut says more to the user
  if (prices.seconds <= bound.seconds_per_byte * kClearly) return bound;
  double most = 0;
  for (std::size_t l = 0; l < prices.price.size(); ++l) {
    most = std::max(most, prices.price[l] *
                              static_cast<double>(topology.link(LinkId(l)).spec.bytes_per_second));
  }
  std::size_t dear = 0;
  for (std::size_t l = 0; l < prices.price.size(); ++l) {
    const double rate = static_cast<double>(topology.link(LinkId(l)).spec.bytes_per_second);
    dear += prices.price[l] * rate > most / 2 ? 1U : 0U;
  }
  return {prices.seconds,
          fmt::format("prices of links: all paths together overload {} of {} links", dear,
                      topology.num_links()),
          PriceCertificate{prices.price}};
}

}  // namespace espalier
