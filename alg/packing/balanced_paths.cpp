#include "alg/packing/balanced_paths.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <numeric>
#include <optional>
#include <queue>
#include <set>
#include <utility>

#include "alg/packing/link_order.h"
#include "alg/routes/links.h"

namespace espalier {

namespace {

// Sources take turns at parallel links, and so do pieces with one order of the dimensions.
std::uint32_t lane_of(const std::vector<std::uint32_t>& source, std::uint32_t piece) {
  const auto dims = static_cast<std::uint32_t>(source.size());
  return std::accumulate(source.begin(), source.end(), piece / dims);
}

// Dimension by dimension, beginning with another one for every piece.
LinkPath grid_path(const Topology& topology, NodeId from, NodeId to, std::uint32_t piece) {
  const GridShape& grid = *topology.grid();
  const std::vector<std::uint32_t> source = grid.coordinates(from);
  const std::vector<std::uint32_t> target = grid.coordinates(to);
  const std::uint32_t lane = lane_of(source, piece);
  std::uint32_t sum = piece;
  for (const auto* place : {&source, &target}) {
    sum = std::accumulate(place->begin(), place->end(), sum);
  }
  LinkPath path;
  NodeId at = from;
  for (std::size_t i = 0; i < grid.dims.size(); ++i) {
    const std::size_t dim = (i + piece) % grid.dims.size();
    const std::uint32_t size = grid.dims[dim];
    if (source[dim] == target[dim]) continue;
    const bool larger = target[dim] > source[dim];
    const std::uint32_t up = larger ? target[dim] - source[dim] : target[dim] + size - source[dim];
    bool plus = larger;
    std::uint32_t hops = larger ? up : size - up;
    if (grid.wraps[dim]) {
      // Half-way: the source, the other dimensions and the piece share both directions evenly.
      plus = 2 * up == size ? (sum - target[dim]) % 2 == 0 : 2 * up < size;
      hops = std::min(up, size - up);
    }
    for (std::uint32_t h = 0; h < hops; ++h) {
      const LinkId link = grid_link(topology, at, dim, plus, lane);
      path.push_back(link);
      at = topology.link(link).to;
    }
  }
  return path;
}

// On a twisted torus the same way from every node loads all links of a direction alike. So each
// piece of a difference between nodes gets one of the shortest ways, such that the directions are
// level.
class TwistedPaths {
 public:
  TwistedPaths(const Topology& topology, std::uint32_t pieces)
      : topology_(topology),
        grid_(*topology.grid()),
        pieces_(pieces),
        seconds_(2 * grid_.dims.size(), 0) {
    for (std::size_t dim = 0; dim < grid_.dims.size(); ++dim) {
      const LinkId link = grid_link(topology, NodeId(0), dim, true);
      hop_seconds_.push_back(
          link.valid() ? 1 / (static_cast<double>(topology.link(link).spec.bytes_per_second) *
                              grid_.links[dim])
                       : 0);
    }
    for (std::size_t to = 0; to < topology.num_nodes(); ++to) {
      ways_.push_back(shortest_ways(grid_, NodeId(0), NodeId(to)));
      chosen_.insert(chosen_.end(), pieces, 0);
    }
    constexpr std::uint32_t kPasses = 30;
    for (std::uint32_t pass = 0; pass <= kPasses; ++pass) {
      for (std::size_t piece = pieces; piece < chosen_.size(); ++piece) {
        if (pass > 0) add(piece, -1);
        choose(piece);
        add(piece, 1);
      }
    }
  }

  [[nodiscard]] LinkPath path(NodeId from, NodeId to, std::uint32_t piece) const {
    LinkPath links;
    const std::vector<std::uint32_t> source = grid_.coordinates(from);
    std::vector<std::int64_t> hops;
    for (const std::uint32_t place : source) hops.push_back(-std::int64_t{place});
    const NodeId difference = grid_.node_after(to, hops);
    const Way& way = way_of(difference.index() * pieces_ + piece);
    const std::uint32_t lane = lane_of(source, piece);
    NodeId at = from;
    for (std::size_t i = 0; i < way.size(); ++i) {
      const std::size_t dim = (i + piece) % way.size();
      for (std::int64_t left = std::abs(way[dim]); left > 0; --left) {
        links.push_back(grid_link(topology_, at, dim, way[dim] > 0, lane));
        at = topology_.link(links.back()).to;
      }
    }
    return links;
  }

 private:
  using Way = std::vector<std::int64_t>;

  [[nodiscard]] const Way& way_of(std::size_t piece) const {
    return ways_[piece / pieces_][chosen_[piece]];
  }
  [[nodiscard]] static std::size_t direction(std::size_t dim, std::int64_t hops) {
    return 2 * dim + (hops > 0 ? 1 : 0);
  }

  void add(std::size_t piece, double times) {
    const Way& way = way_of(piece);
    for (std::size_t dim = 0; dim < way.size(); ++dim) {
      seconds_[direction(dim, way[dim])] +=
          times * static_cast<double>(std::abs(way[dim])) * hop_seconds_[dim];
    }
  }

  // The way whose directions are the least busy.
  void choose(std::size_t piece) {
    constexpr double kSteepness = 50;
    const double peak = std::max(*std::max_element(seconds_.begin(), seconds_.end()), 1e-30);
    double least = std::numeric_limits<double>::infinity();
    const auto& ways = ways_[piece / pieces_];
    for (std::size_t w = 0; w < ways.size(); ++w) {
      double price = 0;
      for (std::size_t dim = 0; dim < ways[w].size(); ++dim) {
        const double busy = seconds_[direction(dim, ways[w][dim])] / peak;
        price += static_cast<double>(std::abs(ways[w][dim])) * hop_seconds_[dim] *
                 std::exp(kSteepness * (busy - 1));
      }
      if (price >= least) continue;
      least = price;
      chosen_[piece] = w;
    }
  }

  const Topology& topology_;
  const GridShape& grid_;
  std::uint32_t pieces_;
  std::vector<double> seconds_;         // of a node's links, by direction
  std::vector<double> hop_seconds_;     // by dimension
  std::vector<std::vector<Way>> ways_;  // by difference
  std::vector<std::size_t> chosen_;     // by difference and piece
};

class PathSearch {
 public:
  // `sizes`: of the pairs' pieces; empty: 1 each.
  PathSearch(const Topology& topology, std::uint32_t pieces, std::vector<std::uint32_t> sizes,
             RateRule rule, const WorkBudget& budget)
      : topology_(topology),
        budget_(budget),
        pieces_(pieces),
        sizes_(std::move(sizes)),
        load_(topology.num_links(), 0),
        price_(topology.num_links(), 0),
        follow_(topology.num_links()),
        paths_(topology.num_nodes() * topology.num_nodes() * pieces) {
    if (rule == RateRule::slowest) {
      for (const TopologyLink& link : topology.links()) {
        if (!topology.is_switch(link.to)) continue;
        for (const LinkId next : topology.out_links(link.to)) {
          if (topology.link(next).spec.bytes_per_second == link.spec.bytes_per_second) continue;
          rates_.insert(link.spec.bytes_per_second);
          rates_.insert(topology.link(next).spec.bytes_per_second);
        }
      }
    }
    if (rates_.empty()) rates_.insert(0);
    cost_.resize(topology.num_nodes() + topology.num_links() * rates_.size());
    came_by_.resize(cost_.size());
    LinkOrder order(topology);
    if (topology.num_switches() != 0) order.admit_all();
    for (std::size_t first = 0; first < follow_.size(); ++first) {
      const TopologyLink& link = topology.link(LinkId(first));
      if (!topology.is_switch(link.to)) continue;
      for (const LinkId second : topology.out_links(link.to)) {
        if (topology.link(second).to == link.from) continue;
        if (order.admits(LinkId(first), second, false)) follow_[first].push_back(second);
      }
    }
  }

  std::vector<LinkPath> run() {
    const std::size_t nodes = topology_.num_nodes();
    // In the order of a cyclic shift, so that no part of the network fills up first.
    for (std::size_t shift = 1; shift < nodes; ++shift) {
      for (std::size_t from = 0; from < nodes; ++from) {
        const std::size_t pair = from * nodes + (from + shift) % nodes;
        for (std::uint32_t p = 0; p < pieces_ && size_of(pair) != 0; ++p) {
          order_.push_back(pair * pieces_ + p);
        }
      }
    }
    // Large pieces first: small ones fit in beside them.
    if (!sizes_.empty()) {
      std::stable_sort(order_.begin(), order_.end(), [this](std::size_t a, std::size_t b) {
        return size_of(a / pieces_) > size_of(b / pieces_);
      });
    }
    set_prices(kFirstSteepness);
    for (const std::size_t piece : order_) {
      route(piece);
      // Pieces without a route will use the links too, so prices follow the busiest link so far.
      set_prices(kFirstSteepness);
    }
    std::vector<LinkPath> best = paths_;
    double best_peak = busiest();
    double steepness = kFirstSteepness;
    std::uint32_t without_gain = 0;
    budget_.found_plan();
    while (without_gain < kPatience && !budget_.is_spent()) {
      improve(steepness);
      const double peak = busiest();
      ++without_gain;
      if (peak < best_peak) {
        best_peak = peak;
        best = paths_;
        without_gain = 0;
      }
      steepness *= kSteeper;
    }
    return best;
  }

 private:
  [[nodiscard]] std::uint32_t size_of(std::size_t pair) const {
    return sizes_.empty() ? 1 : sizes_[pair];
  }
  [[nodiscard]] double rate(std::size_t link) const {
    return static_cast<double>(topology_.link(LinkId(link)).spec.bytes_per_second);
  }
  // Seconds per byte of a piece.
  [[nodiscard]] double busiest() const {
    double most = 0;
    for (std::size_t l = 0; l < load_.size(); ++l) {
      most = std::max(most, load_[l] / rate(l));
    }
    return most;
  }

  void set_prices(double steepness) {
    peak_ = std::max(busiest(), 1e-30);
    steepness_ = steepness;
    for (std::size_t l = 0; l < price_.size(); ++l) set_price(l);
  }
  void set_price(std::size_t l) {
    const double filled = load_[l] / rate(l) / peak_;
    price_[l] = (std::exp(steepness_ * (filled - 1)) + kLeastPrice) / rate(l);
  }
  // A message occupies the links between two nodes for as long as the slowest of them takes.
  void add_load(const LinkPath& path, double change) {
    for (std::size_t begin = 0; begin < path.size();) {
      std::size_t end = begin + 1;
      while (topology_.is_switch(topology_.link(path[end - 1]).to)) ++end;
      double slowest = rate(path[begin].index());
      for (std::size_t i = begin; i < end; ++i) slowest = std::min(slowest, rate(path[i].index()));
      for (; begin < end; ++begin) {
        const std::size_t l = path[begin].index();
        load_[l] += holds() ? change * (rate(l) / slowest) : change;
        set_price(l);
      }
    }
  }
  [[nodiscard]] bool holds() const { return *rates_.rbegin() != 0; }

  // Takes every piece off the busiest links and routes it anew.
  void improve(double steepness) {
    set_prices(steepness);
    for (const std::size_t piece : order_) {
      if (budget_.is_spent()) return;
      const bool busy = std::any_of(paths_[piece].begin(), paths_[piece].end(), [&](LinkId l) {
        return load_[l.index()] / rate(l.index()) >= kBusy * peak_;
      });
      if (!busy) continue;
      add_load(paths_[piece], -static_cast<double>(size_of(piece / pieces_)));
      route(piece);
    }
  }

  void route(std::size_t piece) {
    const std::size_t pair = piece / pieces_;
    const std::size_t nodes = topology_.num_nodes();
    const std::size_t to = pair % nodes;
    find_paths(pair / nodes, to);
    std::size_t state = to;
    LinkPath& path = paths_[piece];
    path.clear();
    while (came_by_[state].link.valid()) {
      path.push_back(came_by_[state].link);
      state = came_by_[state].from;
    }
    std::reverse(path.begin(), path.end());
    add_load(path, size_of(pair));
  }

  // A place of a path: a node, or a link into a switch, which decides what may follow, and the rate
  // of the message between two nodes, one of rates_. A message may be slower than its links, which
  // then costs more than the place of a higher rate.
  [[nodiscard]] std::size_t place_behind(LinkId link, std::size_t rate) const {
    const NodeId to = topology_.link(link).to;
    return topology_.is_switch(to)
               ? topology_.num_nodes() + rate * topology_.num_links() + link.index()
               : to.index();
  }

  // Cheapest paths from a node, until `to` is reached.
  void find_paths(std::size_t from, std::size_t to) {
    std::fill(cost_.begin(), cost_.end(), std::numeric_limits<double>::infinity());
    std::fill(came_by_.begin(), came_by_.end(), CameBy{});
    using Entry = std::pair<double, std::size_t>;
    std::priority_queue<Entry, std::vector<Entry>, std::greater<>> frontier;
    cost_[from] = 0;
    frontier.emplace(0, from);
    const auto take = [&](std::size_t place, LinkId l, std::size_t rate_number,
                          std::uint64_t at_rate) {
      const std::uint64_t own = topology_.link(l).spec.bytes_per_second;
      if (own < at_rate) return;
      const std::size_t next = place_behind(l, rate_number);
      double then = price_[l.index()];
      if (at_rate != 0) then *= static_cast<double>(own) / static_cast<double>(at_rate);
      then += cost_[place];
      if (then >= cost_[next]) return;
      cost_[next] = then;
      came_by_[next] = {l, place};
      frontier.emplace(then, next);
    };
    constexpr std::uint64_t kWorkOfPlace = 300;  // with its links
    while (!frontier.empty()) {
      budget_.spend(kWorkOfPlace);
      const auto [cost, place] = frontier.top();
      frontier.pop();
      if (cost > cost_[place]) continue;
      if (place == to) return;
      std::size_t rate_number = 0;
      for (const std::uint64_t at_rate : rates_) {
        if (place < topology_.num_nodes()) {
          for (const LinkId l : topology_.out_links(NodeId(place))) {
            const bool direct = !topology_.is_switch(topology_.link(l).to);
            if (!direct || rate_number == 0) take(place, l, rate_number, direct ? 0 : at_rate);
          }
        } else if ((place - topology_.num_nodes()) / topology_.num_links() == rate_number) {
          const std::size_t last = (place - topology_.num_nodes()) % topology_.num_links();
          for (const LinkId l : follow_[last]) take(place, l, rate_number, at_rate);
        }
        ++rate_number;
      }
    }
  }

  struct CameBy {
    LinkId link;
    std::size_t from = 0;
  };

  static constexpr double kFirstSteepness = 8;   // if off: 10 % slower
  static constexpr double kSteeper = 1.25;       // if off: 10 % slower
  static constexpr double kLeastPrice = 0.01;    // idle links cost, too; if off: 7 % slower
  static constexpr double kBusy = 0.94;          // of the busiest link's time; if off: 4.9 % slower
  static constexpr std::uint32_t kPatience = 5;  // if off: 11 % slower

  const Topology& topology_;
  WorkBudget budget_;
  std::uint32_t pieces_;
  std::vector<std::uint32_t> sizes_;  // by pair; empty: 1 each
  std::vector<double> load_;          // by link: sizes of pieces, at the link's rate
  // Of links that meet others of another rate at a switch; 0: every link has its own.
  std::set<std::uint64_t> rates_;
  std::vector<double> price_;
  double peak_ = 0;
  double steepness_ = 0;
  std::vector<std::vector<LinkId>> follow_;  // by link into a switch
  std::vector<double> cost_;                 // by place
  std::vector<CameBy> came_by_;
  std::vector<std::size_t> order_;
  std::vector<LinkPath> paths_;
};

}  // namespace

std::vector<LinkPath> balanced_paths(const Topology& topology, std::uint32_t pieces, RateRule rule,
                                     const WorkBudget& budget) {
  const auto& grid = topology.grid();
  const bool is_twisted = grid && !grid->twist.empty();
  const bool all_wrap =
      grid && std::find(grid->wraps.begin(), grid->wraps.end(), false) == grid->wraps.end();
  if (!is_even_grid(topology) || (is_twisted && !all_wrap)) {
    return PathSearch(topology, pieces, {}, rule, budget).run();
  }
  std::optional<TwistedPaths> twisted;
  if (is_twisted) twisted.emplace(topology, pieces);
  const std::size_t nodes = topology.num_nodes();
  std::vector<LinkPath> paths;
  paths.reserve(nodes * nodes * pieces);
  for (std::size_t from = 0; from < nodes; ++from) {
    for (std::size_t to = 0; to < nodes; ++to) {
      for (std::uint32_t p = 0; p < pieces; ++p) {
        paths.push_back(twisted ? twisted->path(NodeId(from), NodeId(to), p)
                                : grid_path(topology, NodeId(from), NodeId(to), p));
      }
    }
  }
  return paths;
}

std::vector<LinkPath> balanced_paths(const Topology& topology, std::uint32_t pieces,
                                     const std::vector<std::uint32_t>& sizes, RateRule rule,
                                     const WorkBudget& budget) {
  return PathSearch(topology, pieces, sizes, rule, budget).run();
}

}  // namespace espalier
