// How the data of packed trees pass: in how many segments, how many of them at the same time, and
// in how many rounds. Chosen by planned time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "alg/packing/round_plan.h"
#include "alg/packing/shift_routes.h"
#include "alg/schedule/collective_request.h"
#include "alg/schedule/work_budget.h"

namespace espalier {

// Data that one node owns, in units of equal shares.
struct OwnedData {
  std::uint32_t group = 0;
  NodeId owner;
  Bytes bytes = 0;
  std::uint32_t units = 1;
  NodeId destination = {};  // of an exchange
};

// Trees as ops of one round; each unit is a flow with an equal share of its owner's data.
struct TreeOps {
  TreeOps(const Topology& topology, std::size_t the_units, std::uint32_t units_per_rank)
      : routes(topology), units(the_units), per_rank(units_per_rank), reduced(units) {}
  RouteSet routes;
  std::vector<RoundOp> ops;
  std::size_t units = 0;                            // rank by rank, or of the whole data
  std::uint32_t per_rank = 0;                       // 0: units are not bound to ranks
  std::vector<OwnedData> owned;                     // otherwise empty: by rank
  std::vector<std::vector<std::uint32_t>> reduced;  // by unit: the reduces into its root
};

constexpr std::uint32_t kMostSegments = 8192;
constexpr std::size_t kMostListedSends = 1'500'000;  // of an order without a period

// Takes trees of several kinds and keeps the kind whose data pass fastest.
class SegmentSearch {
 public:
  SegmentSearch(const Topology& topology, const CollectiveRequest& request,
                std::uint64_t most_work = WorkBudget::kMost)
      : topology_(topology),
        request_(request),
        budget_(topology.num_switches() == 0 ? 2 * most_work : most_work),
        listing_(most_work) {}

  // Trees considered from now on name links of a part of the network: its link l is `links[l]`.
  void renumber_links(std::vector<LinkId> links) { part_links_ = std::move(links); }

  // Plans numbers of segments and keeps the trees if their best plan is the best so far. Through
  // switches, or if table rows repeat, in rounds and without. Where rows repeat, plans whose table
  // has more than `table_rows` entries in a period are taken only if there is no other plan.
  void consider(TreeOps trees);
  // The same in rounds of messages that switches store (stored_plan.cpp). Precondition: the
  // request's timing has such messages and slot counters.
  void consider_stored(const TreeOps& trees);
  // The same for ops that are sent step by step (shift_routes.h), in one round unless the request
  // asks for more.
  void consider_steps(const TreeOps& trees, const std::vector<ShiftStep>& steps,
                      const std::vector<std::uint32_t>& turns);
  // The same for ops that start at given times, each with a unit's whole data. Returns the planned
  // time.
  std::uint64_t consider_starts(const TreeOps& trees, std::vector<std::uint64_t> starts);
  // When the last of the ops arrives that start at these times.
  [[nodiscard]] std::uint64_t end_ps(const TreeOps& trees,
                                     const std::vector<std::uint64_t>& starts) const;
  // Planners that find trees spend it, too.
  [[nodiscard]] const WorkBudget& budget() const { return budget_; }
  [[nodiscard]] bool is_spent() const { return budget_.is_spent(); }
  // The bytes of a unit, at most.
  [[nodiscard]] Bytes unit_bytes(const TreeOps& trees) const;
  [[nodiscard]] bool empty() const { return !best_ && waiting_.empty(); }
  // The planned time of the best one. Precondition: not empty(), and there are switches.
  [[nodiscard]] std::uint64_t time_ps() const { return passing_.time_ps; }
  // Precondition: not empty().
  [[nodiscard]] Schedule schedule(const char* algorithm);

 private:
  // Every unit in `together` segments per round, and `rounds` rounds.
  struct Passing {
    std::uint32_t together = 1;
    std::uint32_t rounds = 1;
    Bytes segment = 0;
    RoundPlan plan;
    std::uint64_t time_ps = 0;
    std::size_t rows = 0;  // of the longest table, one period
  };

  // Without switches, and if rows do not repeat, a table lists the messages of all segments in an
  // order without a period (listed_segments.cpp).
  [[nodiscard]] bool is_listed(const TreeOps& trees) const;
  // One round of so many segments; as many rounds of a segment.
  [[nodiscard]] Passing listed_passing(const TreeOps& trees, Bytes segments) const;
  [[nodiscard]] Passing round_passing(const TreeOps& trees, Bytes segments) const;
  [[nodiscard]] RoundTask task_of(const TreeOps& trees, Bytes segment) const;
  // Whether so many segments are neither too small nor too many; the most that are tried.
  [[nodiscard]] bool fits_list(const TreeOps& trees, std::uint32_t segments) const;
  [[nodiscard]] std::uint32_t most_listed(const TreeOps& trees) const;
  // `least`: the busiest link's time.
  [[nodiscard]] Passing list_passing(const TreeOps& trees, std::uint64_t least);
  // Plans the trees that wait. Those that seem fastest come first: most often they make the others
  // needless.
  void plan_waiting();
  void consider_passing(const TreeOps& trees, Passing p);
  // Where time slots hold the order and rows do not repeat, `rounds` or fewer rounds leave their
  // period (listed_segments.cpp).
  void consider_justified(const TreeOps& trees, std::uint32_t rounds);
  [[nodiscard]] std::uint32_t well_cut(Bytes unit, std::uint32_t wanted) const;
  [[nodiscard]] Bytes segment_bytes(Bytes unit, Bytes segments) const;
  [[nodiscard]] std::size_t rows_of(const std::vector<RoundOp>& ops) const;
  [[nodiscard]] bool has_many_rows(const Passing& p) const;
  [[nodiscard]] bool is_better(const Passing& a, const Passing& b) const;
  // What the units of the trees have, in their order.
  [[nodiscard]] std::vector<OwnedData> owned_by(const TreeOps& trees) const;
  void cut(Schedule& schedule, std::uint32_t segments) const;

  const Topology& topology_;
  const CollectiveRequest& request_;
  // Without switches twice as much: the trees of an 8x8x8 torus double its rate and take so long.
  WorkBudget budget_;
  WorkBudget listing_;              // of trees that have waited
  std::vector<LinkId> part_links_;  // empty: trees name links of the network
  std::vector<TreeOps> waiting_;    // to be listed; without switches, until all trees are known
  std::optional<TreeOps> best_;
  Passing passing_;
};

}  // namespace espalier
