// A2A_PATHS: an all_to_all over paths that load all links as evenly as the network permits.
// The data of a pair of nodes are cut into pieces, each with its own path, and every hop between
// nodes is a message of its own (alg/packing/README.md).
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <stdexcept>
#include <utility>

#include "alg/generators/generator.h"
#include "alg/packing/balanced_paths.h"
#include "alg/packing/forest_task.h"
#include "alg/packing/round_plan.h"
#include "alg/routes/links.h"
#include "alg/time/schedule_time.h"

namespace espalier {

namespace {

// Searches on larger networks take more than ten seconds.
constexpr std::size_t kMostGridNodes = 256;
constexpr std::size_t kMostSearchedNodes = 144;
constexpr std::size_t kMostNodesThroughSwitches = 72;
constexpr std::uint32_t kMostPieces = 8;  // if off: 33 % slower
// Pieces of this many hops in all are planned, if fewer pieces are not many enough.
constexpr std::size_t kMostHopMessages = 400'000;
constexpr std::size_t kMostJustified = 20'000;  // messages through switches that move into gaps
constexpr std::uint32_t kMostRounds = 64;
constexpr std::uint32_t kFewestRounds = 4;  // fewer lose to the filling; if off: 12 % slower
constexpr Bytes kSizes = 1000;              // sizes of pairs that plans tell apart
constexpr Bytes kUnitSizes = 16;            // where every size is a number of messages
constexpr Bytes kLeastUnit = 8 << 10;
constexpr double kFineSizes = 1 << 16;
constexpr double kClearlyFaster = 0.998;  // more messages must be worth it

struct PathPlan {
  explicit PathPlan(const Topology& topology) : routes(topology) {}
  std::uint32_t pieces = 1;  // of a pair's data, each with its path
  std::uint32_t rounds = 1;  // parts of a piece that follow each other
  RouteSet routes;
  std::vector<RoundOp> hops;  // `unit`: counts pairs of nodes, pieces, and their parts
  RoundPlan plan;
  std::optional<RoundPlan> justified;  // all rounds' hops as those of one round, if faster
  std::uint64_t time_ps = 0;
  bool held = false;    // by time slots
  bool stored = false;  // switches store every message
};

class PathScheduler {
 public:
  PathScheduler(const Topology& topology, const CollectiveRequest& request)
      : topology_(topology),
        request_(request),
        offsets_(cut_evenly(request.size, topology.num_nodes(), request.element_bytes)),
        scope_(request.scope(topology.num_nodes())) {
    if (is_even()) {
      most_ = unit_ = offsets_[1];
      return;
    }
    most_ = *std::max_element(scope_.counts.begin(), scope_.counts.end());
    if (most_ == 0) return;
    // Larger units would be partly empty; smaller units would have too many heads.
    const Bytes sizes = is_cut_to_units() ? kUnitSizes : kSizes;
    unit_ = std::max((most_ + sizes - 1) / sizes, std::min(most_, kLeastUnit));
    unit_ = (unit_ + request.element_bytes - 1) / request.element_bytes * request.element_bytes;
    for (const Bytes count : scope_.counts) {
      shares_.push_back(static_cast<std::uint32_t>((count + unit_ - 1) / unit_));
      const double size = static_cast<double>(count) / static_cast<double>(most_) * kFineSizes;
      sizes_.push_back(static_cast<std::uint32_t>(std::ceil(size)));
    }
  }

  Schedule build() {
    if (most_ == 0) return emit(PathPlan(topology_));
    const std::uint32_t given = request_.segments;
    for (std::uint32_t pieces = 1; pieces <= kMostPieces; pieces *= 2) {
      const std::uint32_t count = given == 0 ? pieces : given;
      if (best_ &&
          (budget_.is_spent() || !is_worth(count) || best_->hops.size() * 2 > kMostHopMessages))
        break;
      PathPlan p = with_paths(count);
      for (std::uint32_t rounds = 1; rounds <= kMostRounds; rounds *= 2) {
        if (rounds > 1 && (given != 0 || !gains_by_rounds(p) || !is_worth(count * rounds) ||
                           p.hops.size() * rounds > kMostHopMessages)) {
          break;
        }
        if (rounds > 1 && rounds < kFewestRounds) continue;
        if (best_ && budget_.is_spent()) break;
        p.rounds = rounds;
        plan(p);
        if (!best_ ||
            static_cast<double>(p.time_ps) < static_cast<double>(best_->time_ps) * kClearlyFaster) {
          best_ = p;
        }
      }
      if (given != 0) break;
    }
    if (given == 0 && stores()) {
      for (std::uint32_t pieces = 1; pieces <= kMostPieces && !budget_.is_spent(); pieces *= 2) {
        try_stored(pieces);
      }
    }
    return emit(*best_);
  }

 private:
  [[nodiscard]] bool is_worth(std::uint32_t parts) const { return most_ / parts >= kLeastMessage; }
  // One round fills links of one rate between two nodes as well. A slow link needs as long for a
  // piece as a fast one for many, and what is stored behind it waits.
  [[nodiscard]] bool gains_by_rounds(const PathPlan& p) const {
    if (shares_links(p.routes, p.hops)) return true;
    const auto& links = topology_.links();
    return std::any_of(links.begin(), links.end(), [&](const TopologyLink& link) {
      return link.spec.bytes_per_second != links.front().spec.bytes_per_second;
    });
  }
  // True if the sizes of all pairs differ by at most one element.
  [[nodiscard]] bool is_even() const { return request_.op == CollectiveOp::all_to_all; }

  // Links behind switches fill only with messages of one size: there a large piece is cut into
  // parts of a unit.
  [[nodiscard]] bool is_cut_to_units() const { return !is_even() && topology_.num_switches() != 0; }
  [[nodiscard]] std::uint32_t parts_of(std::size_t pair) const {
    return is_cut_to_units() && most_ != 0 ? std::max(1U, shares_[pair]) : 1;
  }

  // Switches that store messages pass them on at each link's own rate.
  [[nodiscard]] bool stores() const {
    return request_.timing.stored_bytes != 0 && best_->held &&
           mixes_rates({topology_, best_->routes, best_->hops, unit_, request_.timing});
  }
  void try_stored(std::uint32_t pieces) {
    constexpr Bytes kPerBuffer = 2;  // a message arrives while another one leaves
    const Bytes longest = std::max<Bytes>(1, request_.timing.stored_bytes / kPerBuffer);
    PathPlan p = with_paths(pieces, RateRule::own);
    p.held = p.stored = true;
    const Bytes least = (most_ / pieces + longest - 1) / longest;
    for (Bytes rounds = std::max<Bytes>(1, least); rounds <= 4 * least; rounds *= 2) {
      if (!is_worth(pieces * static_cast<std::uint32_t>(rounds)) ||
          p.hops.size() * rounds > kMostHopMessages || budget_.is_spent()) {
        break;
      }
      p.rounds = static_cast<std::uint32_t>(rounds);
      plan(p);
      if (p.time_ps < best_->time_ps) best_ = p;
    }
  }

  [[nodiscard]] PathPlan with_paths(std::uint32_t pieces, RateRule rule = RateRule::slowest) {
    PathPlan p(topology_);
    p.pieces = pieces;
    const std::vector<LinkPath> paths =
        is_even() ? balanced_paths(topology_, pieces, rule, budget_)
                  : balanced_paths(topology_, pieces, sizes_, rule, budget_);
    std::uint32_t unit = 0;
    for (std::size_t path = 0; path < paths.size(); ++path) {
      const std::size_t pair = path / pieces;
      for (std::uint32_t part = 0; part < parts_of(pair); ++part) {
        add_hops(paths[path], pair, unit++, p);
      }
    }
    return p;
  }

  void add_hops(const LinkPath& path, std::size_t pair, std::uint32_t unit, PathPlan& p) const {
    std::vector<LinkId> hop;
    std::vector<std::uint32_t> after;
    NodeId from(pair / topology_.num_nodes());
    for (const LinkId l : path) {
      hop.push_back(l);
      const NodeId to = topology_.link(l).to;
      if (topology_.is_switch(to)) continue;
      RoundOp op;
      op.from = from;
      op.to = to;
      op.route = p.routes.add(topology_, hop);
      op.unit = unit;
      if (!is_even() && !is_cut_to_units()) op.share = shares_[pair];
      op.after = after;
      after = {static_cast<std::uint32_t>(p.hops.size())};
      p.hops.push_back(std::move(op));
      hop.clear();
      from = to;
    }
  }

  void plan(PathPlan& p) {
    const Bytes elements = unit_ / request_.element_bytes;
    const Bytes parts = Bytes{p.pieces} * p.rounds;
    const Bytes part = (elements + parts - 1) / parts * request_.element_bytes;
    RoundTask task{topology_, p.routes, p.hops, part, request_.timing};
    if (p.stored) {
      p.plan = plan_stored_round(task);
      budget_.spend(kWorkOfStored * p.hops.size());
      p.time_ps = p.plan.end_ps(p.rounds);
      return;
    }
    task.segment = guarded(task).segment;
    p.plan = plan_round(task, p.rounds != 1, p.plan.stretch);
    budget_.spend(p.plan.work);
    p.held = request_.timing.slot_counter && shares_links(p.routes, p.hops);
    p.time_ps = p.held ? p.plan.end_ps(p.rounds) : replay_ps(task, p.plan, p.rounds);
    p.justified.reset();
    if (p.held && !request_.table_repeat && p.hops.size() * p.rounds <= kMostJustified) {
      RoundPlan shorter = justified(task, p.plan, p.rounds);
      budget_.spend(kWorkOfJustified * shorter.start_ps.size());
      if (shorter.span_ps < p.time_ps) {
        p.time_ps = shorter.span_ps;
        p.justified = std::move(shorter);
      }
    }
  }

  [[nodiscard]] Schedule emit(const PathPlan& p) const {
    const std::size_t nodes = topology_.num_nodes();
    Schedule schedule = empty_schedule("a2a_paths", topology_, request_);
    schedule.routes = p.routes;
    schedule.is_budget_spent = budget_.is_spent();
    schedule.ni_ports = most_links_of_a_node(topology_);
    std::vector<std::uint32_t> first_unit{0};  // by pair of nodes
    for (std::size_t pair = 0; pair < nodes * nodes; ++pair) {
      first_unit.push_back(first_unit.back() + p.pieces * parts_of(pair));
    }
    // By rank of the root, then by rank of the destination, then by unit and round.
    std::vector<std::size_t> first_chunk(first_unit.back());
    Bytes begin = 0;
    for (std::size_t root = 0; root < nodes; ++root) {
      for (std::size_t to = 0; to < nodes; ++to) {
        const NodeId from_node = request_.node_of(root);
        const NodeId to_node = request_.node_of(to);
        const Bytes bytes =
            is_even() ? offsets_[to + 1] - offsets_[to] : request_.counts[root * nodes + to];
        const std::size_t pair = from_node.index() * nodes + to_node.index();
        const std::uint32_t chunks = p.pieces * parts_of(pair) * p.rounds;
        const std::vector<Bytes> cuts = cut_evenly(bytes, chunks, request_.element_bytes);
        for (std::uint32_t i = 0; i < chunks; ++i) {
          if (i % p.rounds == 0) {
            first_chunk[first_unit[pair] + i / p.rounds] = schedule.chunks.size();
          }
          schedule.chunks.push_back({begin + cuts[i], cuts[i + 1] - cuts[i], from_node, to_node});
        }
        begin += bytes;
      }
    }
    const std::uint32_t together = p.justified ? p.rounds : 1;
    add_sends(schedule, tree_copies(p.hops, together), p.justified ? *p.justified : p.plan,
              p.rounds / together, p.held, [&](const RoundOp& op, std::uint32_t round) {
                return ChunkId(first_chunk[op.unit / together] + op.unit % together + round);
              });
    return schedule;
  }

  const Topology& topology_;
  const CollectiveRequest& request_;
  std::vector<Bytes> offsets_;  // of a node's parts, by rank of the destination
  Scope scope_;
  Bytes most_ = 0;  // of a pair
  // The planned unit of data: of an all_to_all every pair's bytes. Of an all_to_allv, by pair of
  // nodes: its bytes in units, rounded up, and in finer units for the search of paths.
  Bytes unit_ = 0;
  std::vector<std::uint32_t> shares_;
  std::vector<std::uint32_t> sizes_;
  std::optional<PathPlan> best_;
  WorkBudget budget_;
};

std::string a2a_paths_unsuited(const Topology& topology) {
  if (std::string why = unsuited_for_times(topology, "a2a_paths"); !why.empty()) return why;
  const std::size_t most = is_even_grid(topology)         ? kMostGridNodes
                           : topology.num_switches() == 0 ? kMostSearchedNodes
                                                          : kMostNodesThroughSwitches;
  if (topology.num_nodes() <= most) return {};
  return fmt::format("a2a_paths plans up to {} nodes on such a network, and this one has {}", most,
                     topology.num_nodes());
}

std::optional<ParameterProblem> a2a_paths_problem(const Topology& topology,
                                                  const CollectiveRequest& request) {
  const std::uint64_t pairs = std::uint64_t{topology.num_nodes()} * topology.num_nodes();
  const std::uint64_t most = std::max<std::uint64_t>(1, kMostHopMessages / pairs);
  if (request.segments <= most) return {};
  return ParameterProblem{"collective.segments",
                          fmt::format("a2a_paths plans up to {} pieces for each pair of {} nodes",
                                      most, topology.num_nodes()),
                          most};
}

Schedule generate_a2a_paths(const Topology& topology, const CollectiveRequest& request) {
  if (request.groups.empty() && request.relays.empty()) {
    return PathScheduler(topology, request).build();
  }
  SegmentSearch search(topology, request);
  plan_group_trees(ForestTask(topology, request), search);
  if (search.empty()) throw std::invalid_argument(groups_not_joined(request));
  return search.schedule("a2a_paths");
}

}  // namespace

Generator a2a_paths_row() {
  Generator row("a2a_paths",
                "an all_to_all over several paths per pair, which load all links evenly",
                {CollectiveOp::all_to_all, CollectiveOp::all_to_allv}, a2a_paths_unsuited,
                generate_a2a_paths);
  row.parameters = {{"collective.segments", {}}, {"collective.relay", {}}};
  row.problem = a2a_paths_problem;
  row.plans_times = true;
  row.has_own_routes = true;
  row.plans_groups = true;
  return row;
}

}  // namespace espalier
