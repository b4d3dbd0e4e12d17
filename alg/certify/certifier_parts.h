// Shared by certifier.cpp, certify_*.cpp and raise_tables.cpp; internal to alg/certify.
#pragma once

#include <fmt/format.h>

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "alg/certify/certifier.h"
#include "alg/certify/channel_dependencies.h"
#include "alg/schedule/schedule.h"
#include "alg/schedule/schedule_table.h"
#include "hw/topology/topology.h"

namespace espalier::certifier {

// Collects violations. Only the first few of each kind are described and the others counted, so
// that a schedule with millions of bad transfers does not make millions of strings.
class Findings {
 public:
  template <class... Args>
  void add(ViolationKind kind, fmt::format_string<Args...> text, Args&&... args) {
    add_described(kind, [&] { return fmt::format(text, std::forward<Args>(args)...); });
  }
  // `describe` makes the text, if it is listed.
  template <class Describe>
  void add_described(ViolationKind kind, Describe&& describe) {
    if (!full(kind)) listed_.push_back({kind, std::forward<Describe>(describe)()});
    ++count_.at(static_cast<std::size_t>(kind));
  }
  [[nodiscard]] std::size_t count(ViolationKind kind) const {
    return count_.at(static_cast<std::size_t>(kind));
  }
  [[nodiscard]] bool full(ViolationKind kind) const {
    return count(kind) >= Certificate::kListedPerKind;
  }
  // For a search that stops early: the list says so instead of stating the number of other
  // violations.
  void not_exhaustive(ViolationKind kind) { open_ended_.at(static_cast<std::size_t>(kind)) = true; }
  [[nodiscard]] std::vector<Violation> list() const;

 private:
  std::vector<Violation> listed_;
  std::array<std::size_t, kViolationKinds> count_{};
  std::array<bool, kViolationKinds> open_ended_{};
};

// Checks that routes lead to the right vertices. Each route is examined once.
class RouteCheck {
 public:
  RouteCheck(const Topology& topology, const RouteSet& routes);
  // Returns an empty text if `route` leads from `from` to `to` without passing a vertex twice,
  // otherwise the error.
  [[nodiscard]] std::string problem(RouteId route, NodeId from, NodeId to);

 private:
  enum class State : std::uint8_t { unknown, sound, unsound };
  [[nodiscard]] bool is_sound(RouteId route);

  const Topology& topology_;
  const RouteSet& routes_;
  std::vector<State> state_;  // by route
  // By vertex: 1 + the last examined route that passes it.
  std::vector<std::size_t> last_passed_by_;
};

// The place of a transfer in the tables.
struct EntryPlace {
  NodeId node;
  std::uint32_t entry = 0;
};

struct RaisedTables {
  RaisedTables(const Topology& topology, const ScheduleTables& tables);
  Schedule schedule;
  std::vector<EntryPlace> places;  // by transfer
};

// Reports entries without meaning as malformed, and then waits for messages that no node sends as
// deadlock. The result is complete only if neither is reported.
[[nodiscard]] RaisedTables raise_tables(const Topology& topology, const ScheduleTables& tables,
                                        Findings& findings);

// Checks that chunks are in order and without gaps, and have the owners that the collective needs;
// and that the scope is one of this collective and network.
void check_chunks(const std::vector<Chunk>& chunks, Bytes size, CollectiveOp op, const Scope& scope,
                  std::size_t num_nodes, Findings& findings);
// Checks that dependencies exist, arrive at the sender and belong to no later step. Returns whether
// dependencies can be followed; this is still true for a dependency on a later step.
[[nodiscard]] bool check_dependencies(const Schedule& schedule, Findings& findings);
// The checks that need no tables. Precondition: ids are in range, and dependencies can be followed.
void check_schedule(const Topology& topology, const Schedule& schedule,
                    const CertifierLimits& limits, Certificate& certificate, Findings& findings);

// Returns whether the schedule is free of contention. Reports contention only if the schedule
// claims to be free of it.
[[nodiscard]] bool check_contention(const Topology& topology, const Schedule& schedule,
                                    Findings& findings);
void check_channel_cycles(const Topology& topology, const Schedule& schedule,
                          std::uint32_t vc_classes, Findings& findings);
void check_issue_order(const ScheduleTables& tables, const RaisedTables& raised,
                       Findings& findings);

// The transfers in a topological order, and their dependencies as positions in this order.
struct OrderedTransfers {
  std::vector<TransferId> at;  // by position
  std::vector<std::size_t> begin;
  // before[begin[p] .. begin[p + 1]): positions of p's dependencies.
  std::vector<std::uint32_t> before;
};
// Reports a cycle of dependencies; the result is then empty.
[[nodiscard]] OrderedTransfers order_transfers(const Schedule& schedule, Findings& findings);

// A run is a set of chunks that travel together in every transfer. It is judged once.
struct ChunkRun {
  ChunkId first;
  ChunkId last;
  NodeId owner;
  NodeId destination;
  std::uint32_t group = 0;
  bool empty = true;  // true: the chunks have no bytes
};
struct ChunkRuns {
  std::vector<ChunkRun> runs;
  std::vector<std::size_t> begin;  // by run
  // positions[begin[r] .. begin[r + 1]): the transfers that carry run r, ascending.
  std::vector<std::uint32_t> positions;
};
[[nodiscard]] ChunkRuns group_by_chunk(const Schedule& schedule, const OrderedTransfers& ordered);
[[nodiscard]] std::string name_of(const ChunkRun& run);

// Precondition: the sizes of the chunks add up. element_bytes 0: unknown.
void check_shares(CollectiveOp op, const Scope& scope, Bytes element_bytes,
                  const std::vector<Chunk>& chunks, std::size_t num_nodes, Findings& findings);
void check_postcondition(const Schedule& schedule, const OrderedTransfers& ordered,
                         const ChunkRuns& chunks, Findings& findings);
void check_data_order(const Schedule& schedule, const OrderedTransfers& ordered,
                      const ChunkRuns& chunks, Findings& findings);

// Checks that the rows of tables that repeat (ScheduleTables::repeated) issue the tables' entries.
void check_rows(const ScheduleTables& tables, Findings& findings);

// One round of periodic tables. What check_schedule() proves of it holds for every round.
struct RoundProof {
  RaisedTables round;
  std::size_t transfers = 0;  // of all rounds
  bool contention_free = false;
};
// Nothing if the tables are not periodic, or if their order could deadlock: then every entry has to
// be judged. Precondition: check_rows() finds nothing.
[[nodiscard]] std::optional<RoundProof> fold_rounds(const Topology& topology,
                                                    const ScheduleTables& tables);

// Checks a table that all nodes share (ScheduleTables::symmetry). Returns whether its entries have
// a meaning, so that the part of one root can be judged for all roots.
[[nodiscard]] bool check_symmetry(const Topology& topology, const ScheduleTables& tables,
                                  Findings& findings);
// Like check_contention(), for the transfers of root 0 and all their translates.
[[nodiscard]] bool check_symmetric_contention(const Topology& topology,
                                              const ScheduleTables& tables, Findings& findings);
// Checks that every entry waits only for earlier steps. Then the order of the entries of different
// roots in a table cannot form a cycle.
void check_symmetric_order(const Schedule& first_root, Findings& findings);

// Fills in most_table_entries and most_children, and reports exceeded limits.
void check_capacity(const ScheduleTables& tables, const CertifierLimits& limits,
                    Certificate& certificate, Findings& findings);

}  // namespace espalier::certifier
