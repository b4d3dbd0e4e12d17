#include "alg/bounds/certificate.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <functional>
#include <limits>
#include <queue>
#include <utility>

namespace espalier {

namespace {

constexpr double kNever = std::numeric_limits<double>::infinity();

// What a link adds to a bound: from `idle_seconds` on, `amount` per second.
struct Window {
  double idle_seconds = 0;
  double amount = 0;
};

// The least time in which all windows together take `needed`. A window that is not open yet takes
// nothing, so the windows that open first decide.
double time_to_take(std::vector<Window> windows, double needed) {
  std::sort(windows.begin(), windows.end(),
            [](const Window& a, const Window& b) { return a.idle_seconds < b.idle_seconds; });
  double least = kNever;
  double amount = 0;
  double lost = 0;
  for (const Window& window : windows) {
    if (window.idle_seconds == kNever) break;
    amount += window.amount;
    lost += window.amount * window.idle_seconds;
    if (amount > 0) least = std::min(least, (needed + lost) / amount);
  }
  return least;
}

enum class Way : std::uint8_t { from_sources, to_sources };

// By vertex, the least of what a vertex has in `sum` and the sum of `cost` of the links on a way
// from there, or to there.
template <class Cost>
std::vector<double> spread(const Topology& topology, std::vector<double> sum, Way way, Cost cost) {
  using Entry = std::pair<double, std::size_t>;
  std::priority_queue<Entry, std::vector<Entry>, std::greater<>> open;
  for (std::size_t v = 0; v < sum.size(); ++v) {
    if (sum[v] != kNever) open.emplace(sum[v], v);
  }
  while (!open.empty()) {
    const auto [so_far, v] = open.top();
    open.pop();
    if (so_far > sum[v]) continue;
    const bool ahead = way == Way::from_sources;
    for (const LinkId id : ahead ? topology.out_links(NodeId(v)) : topology.in_links(NodeId(v))) {
      const TopologyLink& link = topology.link(id);
      const std::size_t next = (ahead ? link.to : link.from).index();
      const double then = so_far + cost(id);
      if (then >= sum[next]) continue;
      sum[next] = then;
      open.emplace(then, next);
    }
  }
  return sum;
}

// By vertex, the least sum of `cost` of the links on a way from one of `sources` to it, or from it
// to one of them.
template <class Cost>
std::vector<double> nearest(const Topology& topology, const std::vector<std::size_t>& sources,
                            Way way, Cost cost) {
  std::vector<double> sum(topology.num_vertices(), kNever);
  for (const std::size_t source : sources) sum[source] = 0;
  return spread(topology, std::move(sum), way, cost);
}

double seconds_of(const TopologyLink& link) {
  return static_cast<double>(link.spec.latency_ps) * 1e-12;
}

class BoundChecker {
 public:
  BoundChecker(const Topology& topology, const Demand& demand)
      : topology_(topology), demand_(demand) {}

  ProvenBound check(const CrossingCertificate& crossing) const {
    if (std::string problem = problem_of(crossing); !problem.empty()) return {0, problem};
    const double bytes = crossing_bytes(crossing);
    if (bytes == 0) return {};
    const auto arrival =
        nearest(topology_, indices(crossing.from), Way::from_sources, latency_cost());
    const auto rest = nearest(topology_, indices(crossing.to), Way::to_sources, latency_cost());
    std::vector<Window> windows;
    for (const TopologyLink& link : topology_.links()) {
      if (crossing.into[link.from.index()] || !crossing.into[link.to.index()]) continue;
      windows.push_back({arrival[link.from.index()] + seconds_of(link) + rest[link.to.index()],
                         static_cast<double>(link.spec.bytes_per_second)});
    }
    return {time_to_take(std::move(windows), bytes), {}};
  }

  ProvenBound check(const PartitionCertificate& partition) const {
    if (std::string problem = problem_of(partition); !problem.empty()) return {0, problem};
    const double times = demand_.op == CollectiveOp::all_reduce ? 2 : 1;
    const Way beyond = partition.outwards ? Way::to_sources : Way::from_sources;
    const auto other_end = nearest(topology_, all_nodes(), beyond, latency_cost());
    std::vector<Window> windows;
    std::vector<std::size_t> last_part(topology_.num_vertices(), partition.parts.size());
    for (std::size_t part = 0; part < partition.parts.size(); ++part) {
      for (const NodeId v : partition.parts[part]) last_part[v.index()] = part;
      for (const NodeId v : partition.parts[part]) {
        for (const LinkId id :
             partition.outwards ? topology_.out_links(v) : topology_.in_links(v)) {
          const TopologyLink& link = topology_.link(id);
          const std::size_t there = (partition.outwards ? link.to : link.from).index();
          if (last_part[there] == part) continue;
          windows.push_back({seconds_of(link) + other_end[there],
                             static_cast<double>(link.spec.bytes_per_second)});
        }
      }
    }
    double needed = 0;
    const std::vector<RankGroup>& groups = demand_.scope.groups;
    for (std::size_t g = 0; g < std::max<std::size_t>(1, groups.size()); ++g) {
      const auto has_member = [&](const std::vector<NodeId>& part) {
        return std::any_of(part.begin(), part.end(), [&](NodeId v) {
          return !topology_.is_switch(v) && demand_.scope.has(v, g);
        });
      };
      const auto parts = std::count_if(partition.parts.begin(), partition.parts.end(), has_member);
      const auto crossings = times * static_cast<double>(parts - 1);
      needed += crossings * static_cast<double>(several() ? groups[g].size : demand_.size);
    }
    return {time_to_take(std::move(windows), needed), {}};
  }

  ProvenBound check(const PriceCertificate& prices) const {
    if (std::string problem = problem_of(prices); !problem.empty()) return {0, problem};
    const std::vector<std::size_t> nodes = all_nodes();
    double paid = several() ? paid_by_trees(prices) : 0;
    for (const std::size_t n : nodes) {
      if (several() || !sends_any(n)) continue;
      const auto cheapest = cheapest_paths(n, prices);
      for (const std::size_t m : nodes) paid += m == n ? 0 : pair_bytes(n, m) * cheapest[m];
    }
    const auto before = nearest(topology_, nodes, Way::from_sources, latency_cost());
    const auto after = nearest(topology_, nodes, Way::to_sources, latency_cost());
    std::vector<Window> windows;
    for (std::size_t l = 0; l < topology_.num_links(); ++l) {
      const TopologyLink& link = topology_.link(LinkId(l));
      // A crossbar input works from the first arrival of data on, and until they leave.
      const double idle = before[link.from.index()] + seconds_of(link) + after[link.to.index()];
      const double of_input = prices.input.empty() ? 0 : prices.input[l];
      windows.push_back(
          {idle, prices.price[l] * static_cast<double>(link.spec.bytes_per_second) + of_input});
    }
    return {time_to_take(std::move(windows), paid), {}};
  }

  ProvenBound check(const DimensionCertificate& dimensions) const {
    if (!topology_.dimensions()) return {0, "the network has no dimensions"};
    return prove(*topology_.dimensions(), demand_, dimensions);
  }

 private:
  [[nodiscard]] std::function<double(LinkId)> latency_cost() const {
    return [this](LinkId id) { return seconds_of(topology_.link(id)); };
  }

  [[nodiscard]] std::string problem_of(const CrossingCertificate& crossing) const {
    if (crossing.into.size() != topology_.num_vertices()) return "the set is of another network";
    if (crossing.from.empty() || crossing.to.empty()) return "no node sends or none receives";
    if (std::string problem = problem_of(crossing.from, "sends"); !problem.empty()) return problem;
    if (std::string problem = problem_of(crossing.to, "receives"); !problem.empty()) return problem;
    for (const NodeId node : crossing.from) {
      if (crossing.into[node.index()]) {
        return topology_.vertex_name(node) + " sends and is in the set";
      }
    }
    for (const NodeId node : crossing.to) {
      if (!crossing.into[node.index()]) {
        return topology_.vertex_name(node) + " receives and is not in the set";
      }
    }
    if (demand_.op == CollectiveOp::custom) return "data of custom need not cross";
    if (demand_.op == CollectiveOp::broadcast && !is_root_alone(crossing.from)) {
      return "a broadcast's data come from its root";
    }
    if (demand_.op == CollectiveOp::reduce && !is_root_alone(crossing.to)) {
      return "only the root of a reduce waits for data";
    }
    return {};
  }
  [[nodiscard]] bool is_root_alone(const std::vector<NodeId>& nodes) const {
    return nodes.size() == 1 && nodes.front() == demand_.scope.root;
  }

  [[nodiscard]] std::string problem_of(const std::vector<NodeId>& nodes, const char* does) const {
    std::vector<bool> seen(topology_.num_nodes(), false);
    for (const NodeId node : nodes) {
      if (!node.valid() || node.index() >= topology_.num_nodes()) {
        return fmt::format("a vertex that {} is no node", does);
      }
      if (seen[node.index()]) return fmt::format("{} {} twice", topology_.vertex_name(node), does);
      if (!demand_.scope.has(node)) {
        return fmt::format("{} {} and takes no part", topology_.vertex_name(node), does);
      }
      seen[node.index()] = true;
    }
    return {};
  }

  [[nodiscard]] std::string problem_of(const PartitionCertificate& partition) const {
    if (demand_.op != CollectiveOp::all_reduce && !(several() && !is_exchange(demand_.op))) {
      return "partitions bind an all_reduce, or several groups";
    }
    if (partition.parts.size() < 2) return "a partition has at least two parts";
    std::vector<bool> in_part(topology_.num_nodes(), false);
    for (std::size_t part = 0; part < partition.parts.size(); ++part) {
      std::vector<bool> here(topology_.num_vertices(), false);
      bool has_node = false;
      for (const NodeId v : partition.parts[part]) {
        if (!v.valid() || v.index() >= here.size()) return "a part has a vertex of another network";
        if (here[v.index()]) return topology_.vertex_name(v) + " is in a part twice";
        here[v.index()] = true;
        if (topology_.is_switch(v)) continue;
        if (in_part[v.index()]) return topology_.vertex_name(v) + " is in two parts";
        in_part[v.index()] = true;
        has_node = has_node || several() || demand_.scope.has(v);
      }
      if (!has_node) return fmt::format("part {} has no node that takes part", part + 1);
    }
    for (std::size_t n = 0; n < in_part.size(); ++n) {
      if (!in_part[n]) return topology_.vertex_name(NodeId(n)) + " is in no part";
    }
    return {};
  }

  [[nodiscard]] std::string problem_of(const PriceCertificate& prices) const {
    if (!is_exchange(demand_.op) && (!several() || demand_.op == CollectiveOp::all_reduce)) {
      return "prices bind exchanges, or an all_gather or reduce_scatter of several groups";
    }
    if (prices.price.size() != topology_.num_links()) return "the prices are of another network";
    bool any = false;
    for (const auto* list : {&prices.price, &prices.input}) {
      for (const double price : *list) {
        if (!std::isfinite(price) || price < 0) return "a price is not a number from 0 on";
        any = any || price > 0;
      }
    }
    if (!any) return "no link has a price";
    if (prices.input.empty()) return {};
    if (several()) return "crossbar inputs bind exchanges";
    if (demand_.held.empty()) return "slow outputs do not hold crossbar inputs";
    if (prices.input.size() != prices.price.size() || demand_.held.size() != prices.price.size()) {
      return "the crossbar inputs are of another network";
    }
    for (std::size_t l = 0; l < prices.input.size(); ++l) {
      if (!(demand_.held[l] >= 0)) return "a byte holds a crossbar input for a negative time";
      const NodeId at = topology_.link(LinkId(l)).to;
      if (prices.input[l] > 0 && !topology_.is_switch(at)) {
        return topology_.vertex_name(at) + " is a node, where data may leave and enter again";
      }
    }
    return {};
  }

  // By vertex, what a byte from `source` pays at least. With prices of crossbar inputs it depends
  // on the link by which it comes what it pays next.
  [[nodiscard]] std::vector<double> cheapest_paths(std::size_t source,
                                                   const PriceCertificate& prices) const {
    if (prices.input.empty()) {
      return nearest(topology_, {source}, Way::from_sources,
                     [&](LinkId id) { return prices.price[id.index()]; });
    }
    std::vector<double> by_link(topology_.num_links(), kNever);
    for (const LinkId id : topology_.out_links(NodeId(source))) {
      by_link[id.index()] = prices.price[id.index()];
    }
    std::vector<double> cheapest(topology_.num_vertices(), kNever);
    cheapest[source] = 0;
    for (bool changes = true; changes;) {
      changes = false;
      for (std::size_t in = 0; in < by_link.size(); ++in) {
        const NodeId at = topology_.link(LinkId(in)).to;
        cheapest[at.index()] = std::min(cheapest[at.index()], by_link[in]);
        for (const LinkId out : topology_.out_links(at)) {
          const double then = by_link[in] + prices.input[in] * demand_.held[out.index()] +
                              prices.price[out.index()];
          if (then >= by_link[out.index()]) continue;
          by_link[out.index()] = then;
          changes = true;
        }
      }
    }
    return cheapest;
  }

  // Every member of every group once as the root of the cheapest tree over its group.
  [[nodiscard]] double paid_by_trees(const PriceCertificate& prices) const {
    double paid = 0;
    for (std::size_t g = 0; g < demand_.scope.groups.size(); ++g) {
      const std::vector<NodeId>& members = demand_.scope.groups[g].members;
      for (const double cost : cheapest_trees(members, prices)) {
        paid += cost * static_cast<double>(demand_.parts[g]);
      }
    }
    return paid;
  }

  // By member: the cost of a cheapest tree from it to all others (reduce_scatter: to it), by
  // dynamic programming over sets of members (Dreyfus, Wagner 1971). Of large groups, the way to
  // the farthest member, which every tree has.
  [[nodiscard]] std::vector<double> cheapest_trees(const std::vector<NodeId>& members,
                                                   const PriceCertificate& prices) const {
    constexpr std::size_t kMostMembers = 8;
    const Way to_member =
        demand_.op == CollectiveOp::all_gather ? Way::to_sources : Way::from_sources;
    const auto price = [&](LinkId id) { return prices.price[id.index()]; };
    std::vector<double> costs(members.size(), 0);
    if (members.size() > kMostMembers) {
      for (const NodeId member : members) {
        const auto away = nearest(topology_, {member.index()}, to_member, price);
        for (std::size_t root = 0; root < members.size(); ++root) {
          costs[root] = std::max(costs[root], away[members[root].index()]);
        }
      }
      return costs;
    }
    const std::size_t sets = std::size_t{1} << members.size();
    // By set and vertex: the cheapest tree from the vertex to the set.
    std::vector<std::vector<double>> cost(sets);
    for (std::size_t set = 1; set < sets; ++set) {
      std::vector<double> here(topology_.num_vertices(), kNever);
      for (std::size_t m = 0; m < members.size(); ++m) {
        if (set == std::size_t{1} << m) here[members[m].index()] = 0;
      }
      for (std::size_t part = (set - 1) & set; part > (set ^ part); part = (part - 1) & set) {
        for (std::size_t v = 0; v < topology_.num_nodes(); ++v) {
          here[v] = std::min(here[v], cost[part][v] + cost[set ^ part][v]);
        }
      }
      cost[set] = spread(topology_, std::move(here), to_member, price);
    }
    for (std::size_t root = 0; root < members.size(); ++root) {
      costs[root] = cost[sets - 1 - (std::size_t{1} << root)][members[root].index()];
    }
    return costs;
  }

  [[nodiscard]] bool several() const { return demand_.scope.groups.size() > 1; }

  // Of several groups: what the members of `from` have for those of `to`, of each group by itself.
  [[nodiscard]] double group_bytes(const CrossingCertificate& crossing) const {
    double bytes = 0;
    for (std::size_t g = 0; g < demand_.scope.groups.size(); ++g) {
      const auto in_group = [&](NodeId node) { return demand_.scope.has(node, g); };
      const auto from = std::count_if(crossing.from.begin(), crossing.from.end(), in_group);
      const auto to = std::count_if(crossing.to.begin(), crossing.to.end(), in_group);
      if (from == 0 || to == 0) continue;
      if (demand_.op == CollectiveOp::all_reduce) {
        bytes += static_cast<double>(demand_.scope.groups[g].size);
      } else {
        bytes += static_cast<double>(demand_.parts[g]) *
                 static_cast<double>(demand_.op == CollectiveOp::all_gather ? from : to);
      }
    }
    return bytes;
  }

  [[nodiscard]] double crossing_bytes(const CrossingCertificate& crossing) const {
    if (several()) return group_bytes(crossing);
    if (demand_.op == CollectiveOp::all_gather) return parts_of(crossing.from);
    if (demand_.op == CollectiveOp::reduce_scatter) return parts_of(crossing.to);
    if (!is_exchange(demand_.op)) return static_cast<double>(demand_.size);
    double bytes = 0;
    for (const NodeId from : crossing.from) {
      for (const NodeId to : crossing.to) bytes += pair_bytes(from.index(), to.index());
    }
    return bytes;
  }

  [[nodiscard]] double parts_of(const std::vector<NodeId>& nodes) const {
    double bytes = 0;
    for (const NodeId node : nodes) bytes += part_of(node.index());
    return bytes;
  }
  [[nodiscard]] double part_of(std::size_t node) const {
    return demand_.parts.empty()
               ? static_cast<double>(demand_.size) / static_cast<double>(topology_.num_nodes())
               : static_cast<double>(demand_.parts[node]);
  }
  // What one node sends to another in an all_to_all or all_to_allv.
  [[nodiscard]] double pair_bytes(std::size_t from, std::size_t to) const {
    if (demand_.op == CollectiveOp::all_to_all) return part_of(to);
    return static_cast<double>(demand_.scope.counts[from * topology_.num_nodes() + to]);
  }
  [[nodiscard]] bool sends_any(std::size_t node) const {
    if (demand_.op == CollectiveOp::all_to_all) return true;
    const auto row =
        demand_.scope.counts.begin() + static_cast<std::ptrdiff_t>(node * topology_.num_nodes());
    return std::any_of(row, row + static_cast<std::ptrdiff_t>(topology_.num_nodes()),
                       [](Bytes bytes) { return bytes != 0; });
  }

  [[nodiscard]] std::vector<std::size_t> all_nodes() const {
    std::vector<std::size_t> all(topology_.num_nodes());
    for (std::size_t n = 0; n < all.size(); ++n) all[n] = n;
    return all;
  }
  [[nodiscard]] static std::vector<std::size_t> indices(const std::vector<NodeId>& nodes) {
    std::vector<std::size_t> all;
    for (const NodeId node : nodes) all.push_back(node.index());
    return all;
  }

  const Topology& topology_;
  const Demand& demand_;
};

}  // namespace

const char* to_string(ScheduleClass schedules) {
  return schedules == ScheduleClass::any ? "any" : "in_network_switches";
}

ProvenBound prove(const Topology& topology, const Demand& demand,
                  const BoundCertificate& certificate) {
  const std::size_t groups = demand.scope.groups.size();
  if (!demand.parts.empty() &&
      demand.parts.size() != (groups > 1 ? groups : topology.num_nodes())) {
    return {0, "the parts are of another network"};
  }
  if (groups > 1 && (is_exchange(demand.op) || is_rooted(demand.op) ||
                     (demand.parts.empty() && demand.op != CollectiveOp::all_reduce))) {
    return {0, "several groups have all_reduces, or parts"};
  }
  if (demand.op == CollectiveOp::all_to_allv &&
      demand.scope.counts.size() != topology.num_nodes() * topology.num_nodes()) {
    return {0, "the counts are of another network"};
  }
  const BoundChecker checker(topology, demand);
  return std::visit([&](const auto& known) { return checker.check(known); }, certificate);
}

ProvenBound prove(const DimensionedShape& shape, const Demand& demand,
                  const DimensionCertificate& certificate) {
  const bool reduces = demand.op == CollectiveOp::all_reduce;
  if (!reduces && demand.op != CollectiveOp::all_gather &&
      demand.op != CollectiveOp::reduce_scatter) {
    return {0, fmt::format("dimensions bind no {}", to_string(demand.op))};
  }
  if (certificate.dimensions.empty()) return {0, "no dimension is cut"};
  double parts = 1;
  std::vector<Window> windows;  // of one NPU
  for (std::size_t i = 0; i < certificate.dimensions.size(); ++i) {
    const std::uint32_t d = certificate.dimensions[i];
    if (d >= shape.dimensions.size()) return {0, "there is no such dimension"};
    if (i > 0 && d <= certificate.dimensions[i - 1]) return {0, "dimensions do not ascend"};
    const DimensionSpec& dimension = shape.dimensions[d];
    if (dimension.one_switch && reduces && !certificate.switches_add) {
      return {0, fmt::format("the switches of dim{} add", d + 1)};
    }
    std::uint64_t latency = dimension.link.latency_ps;
    if (dimension.shape == DimensionShape::switched) {
      latency += dimension.from_switch_latency_ps != 0 ? dimension.from_switch_latency_ps
                                                       : dimension.link.latency_ps;
    }
    parts *= dimension.size;
    windows.push_back({static_cast<double>(latency) * 1e-12,
                       static_cast<double>(dimension.links) *
                           static_cast<double>(dimension.link.bytes_per_second)});
  }
  double nodes = 1;
  for (const DimensionSpec& dimension : shape.dimensions) nodes *= dimension.size;
  const double crossings = !reduces                   ? parts - 1
                           : certificate.switches_add ? parts
                                                      : 2 * (parts - 1);
  return {time_to_take(std::move(windows), crossings * static_cast<double>(demand.size) / nodes),
          {}};
}

}  // namespace espalier
