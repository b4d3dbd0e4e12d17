// Bounds of broadcast, reduce, all_to_allv, and of an all_reduce in which nodes outside of the
// group add.
#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include "alg/bounds/cuts.h"
#include "alg/flow/max_flow.h"

namespace espalier {

namespace {

double in_gb(double bytes_per_second) { return bytes_per_second / 1e9; }

// Keeps the most promising of several crossings that are tried for one reason.
class BestCrossing {
 public:
  // `make` returns the proposal.
  template <class Make>
  void offer(double seconds, Make make) {
    constexpr double kClearlyMore = 1 + 1e-12;  // of equal bounds, the first is reported
    if (seconds <= seconds_ * kClearlyMore) return;
    seconds_ = seconds;
    best_ = {make()};
  }
  [[nodiscard]] double seconds() const { return seconds_; }
  void move_to(std::vector<Proposal>& proposals) {
    std::move(best_.begin(), best_.end(), std::back_inserter(proposals));
    best_.clear();
  }

 private:
  double seconds_ = 0;
  std::vector<Proposal> best_;  // at most one
};

// Bytes pass the links of one node, and have the way to other nodes before them (or from there
// behind them).
class NodeAlone {
 public:
  NodeAlone(const Topology& topology, NodeId node, Direction direction)
      : topology_(topology),
        cut_(single_node(topology, node, direction)),
        node_(node),
        rate_(static_cast<double>(border_rate(topology, cut_))) {}

  // `others` are the nodes at the other end. The last one is `picoseconds` away, and none is
  // nearer.
  void offer(BestCrossing& best, double bytes, std::uint64_t picoseconds,
             const std::vector<NodeId>& others) const {
    best.offer(bytes / rate_ + static_cast<double>(picoseconds) * 1e-12, [&] {
      const bool out = cut_.direction == Direction::out;
      CrossingCertificate crossing;
      crossing.into = out ? other_side(cut_).inside : cut_.inside;
      crossing.from = out ? std::vector<NodeId>{node_} : others;
      crossing.to = out ? others : std::vector<NodeId>{node_};
      std::string text = fmt::format(
          "{}: {:g} GB/s {}, and {:g} ns {} {}", topology_.vertex_name(node_), in_gb(rate_),
          to_string(cut_.direction), static_cast<double>(picoseconds) * 1e-3, out ? "to" : "from",
          topology_.vertex_name(others.back()));
      return Proposal{std::move(crossing), std::move(text)};
    });
  }

 private:
  const Topology& topology_;
  Cut cut_;
  NodeId node_;
  double rate_;
};

// The least cut between two nodes, which `bytes` have to cross.
class LeastCut {
 public:
  explicit LeastCut(const Topology& topology)
      : topology_(topology), network_(topology.num_vertices()) {
    for (const TopologyLink& link : topology.links()) {
      network_.add_arc(link.from.index(), link.to.index(), link.spec.bytes_per_second);
    }
  }

  void offer(BestCrossing& best, double bytes, NodeId from, NodeId to) {
    const auto rate = static_cast<double>(network_.max_flow(from.index(), to.index()));
    best.offer(bytes / rate, [&] {
      CrossingCertificate crossing;
      for (std::size_t v = 0; v < topology_.num_vertices(); ++v) {
        crossing.into.push_back(!network_.on_source_side(v));
      }
      crossing.from = {from};
      crossing.to = {to};
      return Proposal{std::move(crossing),
                      fmt::format("cut from {} to {}: {:g} GB/s", topology_.vertex_name(from),
                                  topology_.vertex_name(to), in_gb(rate))};
    });
  }

 private:
  const Topology& topology_;
  WideFlow network_;
};

// All data pass from the root (out) to each node that takes part, or to the root (in); in an
// all_reduce from each such node to each other one.
class WholeDataSearch {
 public:
  WholeDataSearch(const Topology& topology, const Demand& demand)
      : topology_(topology),
        bytes_(static_cast<double>(demand.size)),
        op_(demand.op),
        root_(demand.scope.root),
        least_cut_(topology) {
    for (std::size_t n = 0; n < topology.num_nodes(); ++n) {
      if (!demand.scope.has(NodeId(n))) continue;
      members_.push_back({NodeId(n), NodeAlone(topology, NodeId(n), Direction::out),
                          NodeAlone(topology, NodeId(n), Direction::in)});
    }
  }

  // Returns the seconds of the cuts alone.
  double run(std::vector<Proposal>& proposals) {
    if (op_ != CollectiveOp::all_reduce) {
      const Direction direction = op_ == CollectiveOp::broadcast ? Direction::out : Direction::in;
      try_cuts(root_, direction);
      try_ways(root_, direction);
    } else {
      // Whatever separates two nodes separates the first one from one of them.
      try_cuts(members_.front().node, Direction::out);
      try_cuts(members_.front().node, Direction::in);
      for (const Member& member : members_) try_ways(member.node, Direction::out);
    }
    const double seconds = best_cut_.seconds();
    best_cut_.move_to(proposals);
    if (op_ != CollectiveOp::reduce) try_farther(proposals, Direction::out);
    if (op_ != CollectiveOp::broadcast) try_farther(proposals, Direction::in);
    best_alone_.move_to(proposals);
    return seconds;
  }

 private:
  struct Member {
    NodeId node;
    NodeAlone out;
    NodeAlone in;
    [[nodiscard]] const NodeAlone& alone(Direction direction) const {
      return direction == Direction::out ? out : in;
    }
  };

  void try_cuts(NodeId root, Direction direction) {
    for (const Member& member : members_) {
      if (member.node == root) continue;
      const bool out = direction == Direction::out;
      least_cut_.offer(best_cut_, bytes_, out ? root : member.node, out ? member.node : root);
    }
  }

  // The best cut's data have to get to (out) or come from the farthest node behind it, too.
  void try_farther(std::vector<Proposal>& proposals, Direction direction) {
    if (proposals.empty()) return;
    Proposal farther = proposals.front();
    auto& crossing = std::get<CrossingCertificate>(farther.certificate);
    const bool out = direction == Direction::out;
    const auto latency = latencies(topology_, out ? crossing.from : crossing.to, direction);
    NodeId& far = (out ? crossing.to : crossing.from).front();
    for (const Member& member : members_) {
      if (crossing.into[member.node.index()] != out) continue;
      if (latency[member.node.index()] > latency[far.index()]) far = member.node;
    }
    proposals.push_back(std::move(farther));
  }

  void try_ways(NodeId root, Direction direction) {
    const auto latency = latencies(topology_, {root}, direction);
    const auto at_root = std::find_if(members_.begin(), members_.end(),
                                      [&](const Member& m) { return m.node == root; });
    for (const Member& member : members_) {
      if (member.node == root) continue;
      const std::uint64_t way = latency[member.node.index()];
      member.alone(opposite(direction)).offer(best_alone_, bytes_, way, {root});
      at_root->alone(direction).offer(best_alone_, bytes_, way, {member.node});
    }
  }

  const Topology& topology_;
  double bytes_;
  CollectiveOp op_;
  NodeId root_;
  std::vector<Member> members_;  // nodes that take part
  LeastCut least_cut_;
  BestCrossing best_cut_;
  BestCrossing best_alone_;
};

class ExchangeSearch {
 public:
  ExchangeSearch(const Topology& topology, const Scope& scope, const std::vector<double>& held)
      : topology_(topology),
        scope_(scope),
        held_(held),
        counts_(scope.counts),
        nodes_(topology.num_nodes()) {}

  // Returns the seconds of cuts and prices alone.
  double run(std::vector<Proposal>& proposals) {
    for (std::size_t n = 0; n < nodes_; ++n) {
      try_node(NodeId(n), Direction::out);
      try_node(NodeId(n), Direction::in);
    }
    const bool small = topology_.num_vertices() <= kMostPricedVertices;
    visit_likely_cuts(topology_, small, [&](const std::vector<bool>& inside, const auto& name) {
      try_cut({inside, Direction::out}, name);
      try_cut({inside, Direction::in}, name);
    });
    double seconds = best_cut_.seconds();
    best_cut_.move_to(proposals);
    best_alone_.move_to(proposals);
    if (small && std::any_of(counts_.begin(), counts_.end(), [](Bytes b) { return b != 0; })) {
      LinkPrices prices = all_to_allv_prices(topology_, counts_);
      seconds = std::max(seconds, prices.seconds);
      proposals.push_back(
          {PriceCertificate{std::move(prices.price)}, "prices of links: all paths together"});
      if (!held_.empty()) {
        LinkPrices crossed = all_to_allv_prices(topology_, counts_, held_);
        const bool any = std::any_of(crossed.input.begin(), crossed.input.end(),
                                     [](double price) { return price > 0; });
        if (any) {
          std::string text = held_inputs_text(topology_, crossed, seconds);
          proposals.push_back(
              {PriceCertificate{std::move(crossed.price), std::move(crossed.input)}, text});
        }
      }
    }
    return seconds;
  }

 private:
  // Bytes that the node sends to `other`, or receives from it.
  [[nodiscard]] Bytes count(NodeId node, std::size_t other, Direction direction) const {
    if (node.index() == other) return 0;
    return direction == Direction::out ? counts_[node.index() * nodes_ + other]
                                       : counts_[other * nodes_ + node.index()];
  }

  // What the node sends (out) or receives, the farthest first.
  void try_node(NodeId node, Direction direction) {
    const auto latency = latencies(topology_, {node}, direction);
    std::vector<std::size_t> others;
    for (std::size_t m = 0; m < nodes_; ++m) {
      if (count(node, m, direction) != 0) others.push_back(m);
    }
    std::stable_sort(others.begin(), others.end(),
                     [&](std::size_t a, std::size_t b) { return latency[a] > latency[b]; });
    const NodeAlone alone(topology_, node, direction);
    double bytes = 0;
    std::vector<NodeId> far;
    for (const std::size_t m : others) {
      bytes += static_cast<double>(count(node, m, direction));
      far.emplace_back(m);
      alone.offer(best_alone_, bytes, latency[m], far);
    }
  }

  template <class Name>
  void try_cut(const Cut& cut, const Name& name) {
    double bytes = 0;
    for (std::size_t n = 0; n < nodes_; ++n) {
      if (!cut.inside[n]) continue;
      for (std::size_t m = 0; m < nodes_; ++m) {
        if (!cut.inside[m]) bytes += static_cast<double>(count(NodeId(n), m, cut.direction));
      }
    }
    if (bytes == 0) return;
    const auto rate = static_cast<double>(border_rate(topology_, cut));
    best_cut_.offer(bytes / rate, [&] {
      return Proposal{
          crossing_of(topology_, cut, scope_),
          fmt::format("{}: {:g} GB/s {}", name(), in_gb(rate), to_string(cut.direction))};
    });
  }

  const Topology& topology_;
  const Scope& scope_;
  const std::vector<double>& held_;
  const std::vector<Bytes>& counts_;
  std::size_t nodes_;
  BestCrossing best_cut_;
  BestCrossing best_alone_;
};

}  // namespace

CollectiveBound scoped_bound(const Topology& topology, CollectiveOp op, Bytes size,
                             const Scope& scope, const std::vector<double>& held) {
  const Demand demand{op, size, {}, scope, held};
  CollectiveBound bound;
  std::vector<Proposal> proposals;
  if (op == CollectiveOp::all_to_allv) {
    bound.bandwidth_seconds = ExchangeSearch(topology, scope, held).run(proposals);
  } else if (size != 0) {
    bound.bandwidth_seconds = WholeDataSearch(topology, demand).run(proposals);
    if (op == CollectiveOp::all_reduce) {
      for (Proposal& p : partition_proposals(topology, scope)) proposals.push_back(std::move(p));
    }
  }
  take_best_proof(topology, demand, std::move(proposals), bound);
  if (!bound.certificate) bound.binding = "nothing to send";
  return bound;
}

}  // namespace espalier
