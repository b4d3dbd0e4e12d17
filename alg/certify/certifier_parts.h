// Shared by certifier.cpp, certify_*.cpp and raise_tables.cpp; internal to alg/certify.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "alg/certify/certifier.h"
#include "alg/certify/channel_dependencies.h"
#include "alg/schedule/schedule.h"
#include "alg/schedule/schedule_table.h"
#include "hw/topology/topology.h"

namespace espalier::certifier {

// Collects violations. Only the first few of each kind are described; the rest are counted, so that
// a schedule of millions of bad transfers does not make millions of strings.
class Findings {
 public:
  template <class Describe>
  void add(ViolationKind kind, Describe&& describe) {
    if (!full(kind)) listed_.push_back({kind, std::forward<Describe>(describe)()});
    ++count_.at(static_cast<std::size_t>(kind));
  }
  [[nodiscard]] std::size_t count(ViolationKind kind) const {
    return count_.at(static_cast<std::size_t>(kind));
  }
  [[nodiscard]] bool full(ViolationKind kind) const {
    return count(kind) >= Certificate::kListedPerKind;
  }
  // For a search that stops early: said in place of the number of the rest.
  void not_exhaustive(ViolationKind kind) { open_ended_.at(static_cast<std::size_t>(kind)) = true; }
  [[nodiscard]] std::vector<Violation> list() const;

 private:
  std::vector<Violation> listed_;
  std::array<std::size_t, kViolationKinds> count_{};
  std::array<bool, kViolationKinds> open_ended_{};
};

// Checks that routes lead where they should; examines each route once.
class RouteCheck {
 public:
  RouteCheck(const Topology& topology, const RouteSet& routes);
  // Empty where `route` leads from `from` to `to` without passing a vertex twice, else what is
  // wrong with it.
  [[nodiscard]] std::string problem(RouteId route, NodeId from, NodeId to);

 private:
  enum class State : std::uint8_t { unknown, sound, unsound };
  [[nodiscard]] bool is_sound(RouteId route);

  const Topology& topology_;
  const RouteSet& routes_;
  std::vector<State> state_;                 // by route
  std::vector<std::size_t> last_passed_by_;  // by vertex: 1 + the last route seen to pass it
};

// Where a transfer is in the tables.
struct TableSlot {
  NodeId node;
  std::uint32_t entry = 0;
};

struct RaisedTables {
  RaisedTables(const Topology& topology, const ScheduleTables& tables);
  Schedule schedule;
  std::vector<TableSlot> slots;  // by transfer
};

// Reports meaningless entries as malformed, then waits for messages that nobody sends as deadlock.
// The schedule is complete only if it reports neither.
[[nodiscard]] RaisedTables raise_tables(const Topology& topology, const ScheduleTables& tables,
                                        Findings& findings);

// Chunks in order and without gaps, owners where the collective needs them.
void check_chunks(const std::vector<Chunk>& chunks, Bytes size, CollectiveOp op,
                  std::size_t num_nodes, Findings& findings);
// Dependencies exist, arrive at the sender and are of no later step. Returns whether they can be
// followed: one on a later step is wrong, but can be.
[[nodiscard]] bool check_dependencies(const Schedule& schedule, Findings& findings);
// Returns whether the other checks can run.
[[nodiscard]] bool check_form(const Topology& topology, const Schedule& schedule,
                              Findings& findings);

// Returns whether contention-free; a finding only where the schedule claims it wrongly.
[[nodiscard]] bool check_contention(const Topology& topology, const Schedule& schedule,
                                    Findings& findings);
void check_channel_cycles(const Topology& topology, const Schedule& schedule,
                          std::uint32_t vc_classes, Findings& findings);
void check_issue_order(const ScheduleTables& tables, const RaisedTables& raised,
                       Findings& findings);

// The transfers and their dependencies, renamed to positions in a topological order.
struct OrderedTransfers {
  std::vector<TransferId> at;  // by position
  std::vector<std::size_t> begin;
  std::vector<std::uint32_t>
      before;  // before[begin[p] .. begin[p + 1]): positions of p's dependencies
};
// Reports a cycle of dependencies, and is then empty.
[[nodiscard]] OrderedTransfers order_transfers(const Schedule& schedule, Findings& findings);

// Chunks that travel together in every transfer are one run, which is judged once.
struct ChunkRun {
  ChunkId first;
  ChunkId last;
  NodeId owner;
  NodeId destination;
  bool empty = true;  // of bytes
};
struct ChunkRuns {
  std::vector<ChunkRun> runs;
  std::vector<std::size_t> begin;  // by run
  std::vector<std::uint32_t>
      positions;  // positions[begin[r] .. begin[r + 1]): ascending, the transfers that carry run r
};
[[nodiscard]] ChunkRuns group_by_chunk(const Schedule& schedule, const OrderedTransfers& ordered);
[[nodiscard]] std::string name_of(const ChunkRun& run);

// Precondition: the sizes of the chunks add up. element_bytes 0: not known.
void check_shares(CollectiveOp op, Bytes element_bytes, const std::vector<Chunk>& chunks,
                  std::size_t num_nodes, Findings& findings);
void check_postcondition(const Schedule& schedule, const OrderedTransfers& ordered,
                         const ChunkRuns& chunks, Findings& findings);
void check_data_order(const Schedule& schedule, const OrderedTransfers& ordered,
                      const ChunkRuns& chunks, Findings& findings);

// Tables that every node holds alike (ScheduleTables::symmetry): whether they mean something, so
// that one root's part can be judged for all. Returns whether it can.
[[nodiscard]] bool check_symmetry(const Topology& topology, const ScheduleTables& tables,
                                  Findings& findings);
// As check_contention, for the transfers of root 0 and all their translates.
[[nodiscard]] bool check_symmetric_contention(const Topology& topology,
                                              const ScheduleTables& tables, Findings& findings);
// Every entry waits for earlier steps only, so that the order of the entries of different roots in
// a table cannot close a circle.
void check_symmetric_order(const Schedule& first_root, Findings& findings);

// Fills in the certificate's figures.
void check_capacity(const ScheduleTables& tables, const CertifierLimits& limits,
                    Certificate& certificate, Findings& findings);

}  // namespace espalier::certifier
