// Proves properties of a schedule before a simulation, in time linear in its transfers (times N/64
// for the contribution sets). Plain functions over the IR, which trust no generator.
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

#include "alg/schedule/schedule.h"
#include "alg/schedule/schedule_table.h"

namespace espalier {

struct DimensionPlan;

enum class ViolationKind : std::uint8_t {
  // An id out of range, a route that does not lead from sender to receiver, a dependency on a later
  // step, ...
  malformed,
  // An output chunk lacks a contribution, or contains one twice.
  postcondition,
  // A transfer may read or overwrite data that is still being written or read.
  read_before_write,
  // A cycle of dependencies and table order, or of VC channels; or a wait for a message that no
  // node sends.
  deadlock,
  // Two transfers of one step on one link although the schedule claims otherwise.
  contention,
  // A table or its children field is too small.
  capacity,
};
inline constexpr std::size_t kViolationKinds = 6;
[[nodiscard]] const char* to_string(ViolationKind kind);

struct Violation {
  ViolationKind kind;
  // Names the transfers or entries; for a deadlock the whole cycle, for contention the pair.
  std::string what;
};

struct CertifierLimits {
  std::size_t table_entries = 0;    // without NOPs; 0: as many as the schedule needs
  std::size_t children_fields = 0;  // 0: as many as the schedule needs
  Bytes element_bytes = 0;          // data are cut only between elements; 0: unknown
  // VC classes that the routers keep apart; 0: as many as the network's routes need.
  std::uint32_t vc_classes = 0;
};

struct Certificate {
  // At most kListedPerKind of each kind, in a deterministic order. If there are more, a line with
  // their number follows.
  static constexpr std::size_t kListedPerKind = 8;
  std::vector<Violation> violations;
  std::size_t transfers = 0;
  // The transfers that were judged one by one. In a periodic schedule, whose table rows repeat, one
  // round stands for all rounds, and in a schedule with symmetry one root for all roots.
  std::size_t judged_transfers = 0;
  bool contention_free = false;  // proven, independent of the schedule's claim
  // The largest table of a node. NOPs are not counted: they contain
  // only a step number, which the hardware derives from the gap between the steps of two entries.
  std::size_t most_table_entries = 0;
  std::size_t most_children = 0;
  [[nodiscard]] bool ok() const { return violations.empty(); }
};

// Raises the tables and certifies the result, together with the order in which each NI issues its
// entries. Later checks need the results of earlier ones: malformed tables are not checked further,
// and data are followed only if the schedule completes.
[[nodiscard]] Certificate certify(const Topology& topology, const ScheduleTables& tables,
                                  const CertifierLimits& limits = {});

struct TableError : std::runtime_error {
  using std::runtime_error::runtime_error;
};
// The schedule that the tables alone describe, so that the certifier judges what the hardware will
// do and not what the generator intended. Throws TableError, which names node and entry, if an
// entry has no meaning (a Reduce without a parent, a peer without a route, an address range that
// does not end at chunk borders, a wait for a message that no node sends). certify() reports all
// such entries instead of throwing. Empty chunks at the beginning or end of a range are left out of
// the result.
[[nodiscard]] Schedule raise_from_tables(const Topology& topology, const ScheduleTables& tables);

// Certifies a dimension plan by composition: every dimension's algorithm is proven on one group of
// the dimension, and a chunk that visits every dimension once is reduced (or gathered) over the
// product of the groups.
//
// Proves, with the entry named where it fails:
//   form           - sizes, chunks cover the collective, stages name dimensions that exist, an
//                    algorithm fits its dimension (halving_doubling: a power of two);
//   postcondition  - each chunk has exactly the stages of its collective, each dimension once per
//                    kind, all reduce_scatters before all all_gathers, the latter in reverse order;
//                    and each dimension's steps bring every block together exactly once from every
//                    NPU (multisets), and to every NPU;
//   data order     - no step sends a block that its NPU does not hold complete at that step;
//   deadlock       - start_order (where given) names every stage exactly once, and the order of
//                    starts together with the order of each chunk's stages has no cycle, with
//                    `in_flight` stages at once in a dimension. A cycle is named.
// A start_order that names a missing stage, or a stage of another dimension, is malformed; a
// malformed plan is not judged further. Chunks, stages and starts are named by their index,
// dimensions as in the paper, from dim1. Dimensions of more than 4096 NPUs are refused, as a proof
// takes time in proportion to the square (a third of a second for a ring of 1024).
[[nodiscard]] std::vector<Violation> certify_dimension_plan(const DimensionPlan& plan,
                                                            std::uint32_t in_flight);

}  // namespace espalier
