// Section collective.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "alg/plans/plan_layout.h"
#include "alg/program/program.h"
#include "alg/schedule/algorithm_row.h"
#include "alg/schedule/construction.h"
#include "alg/schedule/schedule.h"
#include "hw/ids.h"

namespace espalier {

// The protocol of a collective program; automatic: the program's own.
enum class ProtocolChoice : std::uint8_t { automatic, simple, ll, ll128, message };

// A collective program, built in or from a file.
struct ProgramConfig {
  std::string file;      // algorithm program: path as written, relative to `folder`
  std::string promises;  // promises of a custom collective: path as `file`; empty: none
  std::string folder;    // of the configuration; empty: the current one
  std::uint32_t channels = 1;
  std::uint32_t instances = 1;
  std::uint32_t ranks_per_server = 0;  // 0 ("auto"): as the topology has them
  ProtocolChoice protocol = ProtocolChoice::automatic;
  std::shared_ptr<const Program> given;  // the contents of the file
};

// The node of each rank of a collective.
struct RankOrderConfig {
  static constexpr const char* kIdentity = "identity";
  static constexpr const char* kRandom = "random";

  // "identity", "random", or a mapping file's path as written, relative to `folder`.
  std::string source = kIdentity;
  std::string folder;      // of the configuration; empty: the current one
  std::uint64_t seed = 1;  // of a random order
  // By rank, filled in by the reader; empty: rank r is node r.
  std::vector<NodeId> nodes;

  [[nodiscard]] bool is_identity() const { return source == kIdentity; }
  [[nodiscard]] bool is_random() const { return source == kRandom; }
  [[nodiscard]] bool is_file() const { return !is_identity() && !is_random(); }
};

// How the bytes of an operation with counts are spread over the pairs of ranks, or the ranks.
struct CountsConfig {
  static constexpr const char* kZipf = "zipf";

  // "zipf", or the path of a table of weights as written, relative to `folder`.
  std::string source = kZipf;
  std::string folder;  // of the configuration; empty: the current one
  // [from * ranks + to], or by rank, filled in by the reader. The rank whose row has the largest
  // sum sends `size` bytes, the others in proportion; the parts are `size` together.
  std::vector<std::uint64_t> weights;

  [[nodiscard]] bool is_file() const { return source != kZipf; }
};

// One of several groups that run at the same time.
struct GroupConfig {
  std::vector<std::uint32_t> ranks;  // the node of each rank
  Bytes size = 0;                    // 0: collective.size
};

// What a library of collectives chooses on its machine; the reader writes its choice into the
// point.
inline constexpr const char* kNcclAlgorithm = "nccl";

struct NcclMachine;  // sims/nccl/machine.h

struct CollectiveConfig {
  CollectiveOp op = CollectiveOp::all_reduce;
  std::string algorithm = kAutoAlgorithm;
  Bytes size = 0;  // with training: of all gradients
  Bytes element_bytes = 4;
  bool remaining_height_first = false;       // MULTITREE's tree order
  StepEnd step_end = StepEnd::paper;         // MULTITREE
  LineOrder line_order = LineOrder::folded;  // 2D-RING on a mesh
  std::uint32_t segments = 0;                // 0: the algorithm's own choice
  std::uint32_t base = 4;                    // bcube: peers of a group
  std::uint32_t root = 0;                    // broadcast, reduce: rank
  CountsConfig counts;                       // of operations with counts
  std::vector<std::uint32_t> ranks;          // the node of each rank of a group; empty: all nodes
  std::vector<GroupConfig> groups;           // several groups at the same time; then no `ranks`
  bool relay = false;                        // nodes outside of the group store and send on
  bool bitwise_identical = false;            // ranks must get the same bits of a sum
  RankOrderConfig rank_order;
  // Chunks is for planners, the next two members only for themis. See PlanRequest.
  std::uint32_t chunks = 64;
  std::uint32_t threshold_divisor = 16;
  bool loads_start_at_fixed_delay = false;
  PartSizes parts = PartSizes::automatic;   // of different NPUs
  std::string choice;                       // what kNcclAlgorithm took, for people; empty: nothing
  std::shared_ptr<const NcclMachine> nccl;  // kNcclAlgorithm in a step, which asks it again
  Cycle launch_cycles = 0;                  // from the hosts' call to the start
  Cycle host_cycles = 0;                    // that hosts need for each call, at least
  ProgramConfig program;                    // collective programs
};

}  // namespace espalier
