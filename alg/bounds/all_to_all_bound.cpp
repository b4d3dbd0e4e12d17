// Bounds of an all_to_all: cuts that are likely to bind, and prices of links.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <functional>
#include <limits>
#include <map>
#include <queue>
#include <utility>
#include <vector>

#include "alg/bounds/cuts.h"
#include "alg/routes/links.h"
#include "alg/schedule/work_budget.h"

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
// long as the gap to that flow's busiest resource asks for (Polyak 1969). Resources are links and
// the crossbar inputs of switches, by the link that ends there. Each has one second a second.
class PriceSearch {
 public:
  // `counts`: bytes of every pair; nullptr: 1 of each. `held`: see Demand.
  PriceSearch(const Topology& topology, const std::vector<Bytes>* counts,
              const std::vector<double>& held)
      : nodes_(topology.num_nodes()), links_(topology.num_links()), counts_(counts) {
    add_arcs(topology, held);
    price_.assign(links_ + inputs_.size(), 1);
    cheapest_.assign(price_.size(), 0);
    load_.assign(price_.size(), 0);
  }

  LinkPrices run() {
    follow_loads();
    follow_subgradients();
    follow_averages();
    LinkPrices prices;
    prices.seconds = best_ / (counts_ == nullptr ? static_cast<double>(nodes_) : 1);
    for (std::size_t l = 0; l < links_; ++l) {
      prices.price.push_back(best_price_[l] * link_seconds_[l]);
    }
    if (!inputs_.empty()) prices.input.assign(links_, 0);
    for (std::size_t i = 0; i < inputs_.size(); ++i) {
      prices.input[inputs_[i].index()] = best_price_[links_ + i];
    }
    return prices;
  }

 private:
  // What a byte does on its way: it takes a resource for some seconds.
  struct Arc {
    std::size_t from;
    std::size_t to;
    std::size_t resource;
    double seconds;
  };

  // With `held`, a byte comes to a place of its own at a switch for each link, and leaves from
  // another one for each time for which it holds the crossbar.
  void add_arcs(const Topology& topology, const std::vector<double>& held) {
    std::size_t places = topology.num_vertices();
    std::vector<std::size_t> leaves(links_);
    std::vector<std::size_t> comes(links_);
    for (std::size_t l = 0; l < links_; ++l) {
      const TopologyLink& link = topology.link(LinkId(l));
      const bool splits = !held.empty() && topology.is_switch(link.to);
      comes[l] = splits ? places++ : link.to.index();
      leaves[l] = link.from.index();
    }
    for (std::size_t v = nodes_; !held.empty() && v < topology.num_vertices(); ++v) {
      const std::size_t first_input = links_ + inputs_.size();
      for (const LinkId in : topology.in_links(NodeId(v))) inputs_.push_back(in);
      std::map<double, std::size_t> place_of;
      for (const LinkId out : topology.out_links(NodeId(v))) {
        const auto [place, is_new] = place_of.try_emplace(held[out.index()], places);
        leaves[out.index()] = place->second;
        if (!is_new) continue;
        ++places;
        for (std::size_t r = first_input; r < links_ + inputs_.size(); ++r) {
          arcs_.push_back({comes[inputs_[r - links_].index()], place->second, r, place->first});
        }
      }
    }
    for (std::size_t l = 0; l < links_; ++l) {
      const TopologyLink& link = topology.link(LinkId(l));
      link_seconds_.push_back(1 / static_cast<double>(link.spec.bytes_per_second));
      arcs_.push_back({leaves[l], comes[l], l, link_seconds_.back()});
    }
    out_arcs_.resize(places);
    for (std::size_t a = 0; a < arcs_.size(); ++a) out_arcs_[arcs_[a].from].push_back(a);
  }

  void follow_loads() {
    for (std::size_t n = 0; n < nodes_; ++n) {
      find_paths(n);
      add_loads(n);
      flow_.push_back(cheapest_);
      for (std::size_t r = 0; r < load_.size(); ++r) load_[r] += cheapest_[r];
    }
    steepness_ = kFirstSteepness;
    for (std::uint32_t round = 0; round < kLoadRounds && !is_good(); ++round) {
      peak_ = *std::max_element(load_.begin(), load_.end());
      least_peak_ = std::min(least_peak_, peak_);
      for (std::size_t r = 0; r < load_.size(); ++r) price_[r] = price_at(load_[r]);
      for (std::size_t n = 0; n < nodes_; ++n) {
        find_paths(n);
        add_loads(n);
        move_flow(flow_[n]);
      }
      take_bound();
      steepness_ = std::min(steepness_ * kSteeper, kMostSteepness);
    }
  }

  [[nodiscard]] double price_at(double load) const {
    return std::exp(steepness_ * (load / peak_ - 1));
  }

  // Moves a source's flow towards its cheapest paths, to where the prices of both are equal.
  void move_flow(std::vector<double>& flow) {
    moved_.clear();
    for (std::size_t r = 0; r < flow.size(); ++r) {
      if (cheapest_[r] != flow[r]) moved_.push_back({r, cheapest_[r] - flow[r]});
    }
    const auto gain = [&](double step) {
      double sum = 0;
      for (const auto& [r, change] : moved_) sum -= change * price_at(load_[r] + step * change);
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
    for (const auto& [r, change] : moved_) {
      flow[r] += step * change;
      load_[r] += step * change;
      price_[r] = price_at(load_[r]);
    }
  }

  void follow_subgradients() {
    price_ = best_price_;
    for (std::uint32_t round = 0; round < kSubgradientRounds && !is_good(); ++round) {
      const double bound = take_bound();
      double length = 0;
      for (const double load : cheapest_) length += (load - bound) * (load - bound);
      if (length == 0) return;
      // Half-way from the best bound to what a flow needs: the least time lies between them.
      const double step = ((best_ + least_peak_) / 2 - bound) / length;
      for (std::size_t r = 0; r < price_.size(); ++r) {
        price_[r] = std::max(0.0, price_[r] + step * (cheapest_[r] - bound));
      }
    }
  }

  // Single subgradients point across a narrow valley, their average along it. So steps from the
  // best prices follow the mean load of the cheapest paths found so far, which is also the load of
  // a flow (the volume algorithm: Barahona and Anbil 2000).
  void follow_averages() {
    constexpr std::uint64_t kWorkOfArc = 18;
    const WorkBudget budget(kWorkOfAverages);
    budget.found_plan();
    std::vector<double> mean = load_;
    double share = 0.1;  // of new paths in the mean
    double pace = 1;
    std::uint32_t without_gain = 0;
    while (!is_good() && !budget.is_spent() && pace > kLeastPace) {
      budget.spend(kWorkOfArc * nodes_ * arcs_.size());
      double length = 0;
      for (std::size_t r = 0; r < mean.size(); ++r) {
        const double over = mean[r] - best_;
        if (over > 0 || best_price_[r] > 0) length += over * over;
      }
      if (length == 0) return;
      const double step = pace * (least_peak_ - best_) / length;
      for (std::size_t r = 0; r < mean.size(); ++r) {
        price_[r] = std::max(0.0, best_price_[r] + step * (mean[r] - best_));
      }
      const double before = best_;
      take_bound();
      for (std::size_t r = 0; r < mean.size(); ++r) mean[r] += share * (cheapest_[r] - mean[r]);
      least_peak_ = std::min(least_peak_, *std::max_element(mean.begin(), mean.end()));
      if (best_ > before) {
        without_gain = 0;
        pace *= kFaster;
      } else if (++without_gain == kPatience) {
        without_gain = 0;
        pace *= kSlower;
        share = std::max(share * kSmaller, kLeastShare);
      }
    }
  }

  [[nodiscard]] bool is_good() const { return least_peak_ <= best_ * kGood; }

  // Scales prices so that all resources together ask for 1 per second. Returns the bound that they
  // prove, times N; cheapest_ has the loads of the cheapest paths.
  double take_bound() {
    double all = 0;
    for (const double p : price_) all += p;
    for (double& p : price_) p /= all;
    std::fill(cheapest_.begin(), cheapest_.end(), 0.0);
    double paid = 0;
    for (std::size_t n = 0; n < nodes_; ++n) {
      find_paths(n);
      paid += add_paths(n);
    }
    if (paid > best_) {
      best_ = paid;
      best_price_ = price_;
    }
    return paid;
  }

  void find_paths(std::size_t source) {
    cost_.assign(out_arcs_.size(), std::numeric_limits<double>::infinity());
    came_by_.assign(out_arcs_.size(), 0);
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
      for (const std::size_t a : out_arcs_[v]) {
        const Arc& arc = arcs_[a];
        const double then = cost + price_[arc.resource] * arc.seconds;
        if (then >= cost_[arc.to]) continue;
        cost_[arc.to] = then;
        came_by_[arc.to] = a;
        frontier.emplace(then, arc.to);
      }
    }
  }

  [[nodiscard]] double demand(std::size_t from, std::size_t to) const {
    if (counts_ == nullptr) return 1;
    return static_cast<double>((*counts_)[from * nodes_ + to]);
  }

  // Adds the demand of every node along the paths that were found. Returns the sum of their
  // payments.
  double add_paths(std::size_t source) {
    below_.assign(out_arcs_.size(), 0);
    double paid = 0;
    for (std::size_t i = order_.size(); i-- > 0;) {
      const std::size_t v = order_[i];
      if (v == source) continue;
      if (v < nodes_) {
        below_[v] += demand(source, v);
        paid += demand(source, v) * cost_[v];
      }
      const Arc& by = arcs_[came_by_[v]];
      cheapest_[by.resource] += below_[v] * by.seconds;
      below_[by.from] += below_[v];
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
  static constexpr std::uint64_t kWorkOfAverages = 1'000'000'000;  // a quarter of planning
  static constexpr std::uint32_t kPatience = 10;
  static constexpr double kFaster = 1.1;
  static constexpr double kSlower = 0.67;
  static constexpr double kSmaller = 0.8;
  static constexpr double kLeastShare = 0.002;
  static constexpr double kLeastPace = 1e-4;

  std::size_t nodes_;
  std::size_t links_;
  const std::vector<Bytes>* counts_;
  std::vector<LinkId> inputs_;  // of switches, as resources behind the links
  std::vector<Arc> arcs_;
  std::vector<std::vector<std::size_t>> out_arcs_;  // by place
  std::vector<double> link_seconds_;                // a byte's, by link
  std::vector<double> price_;                       // per second, by resource
  std::vector<double> cheapest_;                    // seconds of the cheapest paths, by resource
  std::vector<double> load_;                        // of the flow
  std::vector<std::vector<double>> flow_;           // by source and resource
  std::vector<std::pair<std::size_t, double>> moved_;
  double steepness_ = 0;
  double peak_ = 0;  // seconds per unit: the busiest resource
  double least_peak_ = std::numeric_limits<double>::infinity();
  std::vector<double> cost_;
  std::vector<std::size_t> came_by_;
  std::vector<double> below_;
  std::vector<std::size_t> order_;  // by cost
  double best_ = 0;
  std::vector<double> best_price_;
};

}  // namespace

LinkPrices all_to_all_prices(const Topology& topology, const std::vector<double>& held) {
  return PriceSearch(topology, nullptr, held).run();
}

LinkPrices all_to_allv_prices(const Topology& topology, const std::vector<Bytes>& counts,
                              const std::vector<double>& held) {
  return PriceSearch(topology, &counts, held).run();
}

std::string held_inputs_text(const Topology& topology, const LinkPrices& prices,
                             double links_seconds) {
  std::map<std::size_t, double> paid;  // by switch
  for (std::size_t l = 0; l < prices.input.size(); ++l) {
    paid[topology.link(LinkId(l)).to.index()] += prices.input[l];
  }
  using Entry = std::pair<const std::size_t, double>;
  const auto less = [](const Entry& a, const Entry& b) { return a.second < b.second; };
  const Entry most = *std::max_element(paid.begin(), paid.end(), less);
  const auto others = std::count_if(paid.begin(), paid.end(), [&](const Entry& entry) {
    return entry.first != most.first && entry.second > most.second / 2;
  });
  return fmt::format(
      "slower outputs hold the crossbar inputs of {}{}: with system.router.hold: flit or "
      "crossbar_inputs: vc the bound is {:.2f} times lower",
      topology.vertex_name(NodeId(most.first)),
      others == 0 ? "" : fmt::format(" and {} more", others), prices.seconds / links_seconds);
}

BandwidthBound all_to_all_bound(const Topology& topology, const std::vector<double>& held) {
  BandwidthBound bound = CutSearch(topology).run();
  // Dimension by dimension, the links of an even grid reach the bound of its cuts or distances.
  const bool is_reached = is_even_grid(topology) && topology.grid()->twist.empty();
  if (is_reached || topology.num_vertices() > kMostPricedVertices) return bound;
  constexpr double kClearly = 1.0005;  // a cut says more to the user
  const LinkPrices prices = all_to_all_prices(topology);
  if (prices.seconds > bound.seconds_per_byte * kClearly) {
    double most = 0;
    std::vector<double> asked;  // by link, in a second
    for (std::size_t l = 0; l < prices.price.size(); ++l) {
      asked.push_back(prices.price[l] *
                      static_cast<double>(topology.link(LinkId(l)).spec.bytes_per_second));
      most = std::max(most, asked.back());
    }
    const auto dear =
        std::count_if(asked.begin(), asked.end(), [&](double price) { return price > most / 2; });
    bound = {prices.seconds,
             fmt::format("prices of links: all paths together overload {} of {} links", dear,
                         topology.num_links()),
             PriceCertificate{prices.price}};
  }
  if (held.empty()) return bound;
  const LinkPrices crossed = all_to_all_prices(topology, held);
  if (crossed.seconds <= bound.seconds_per_byte * kClearly) return bound;
  return {crossed.seconds, held_inputs_text(topology, crossed, bound.seconds_per_byte),
          PriceCertificate{crossed.price, crossed.input}};
}

}  // namespace espalier
