// Parametric collective programs, selected by name, written in the chunk language and compiled on
// demand.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "alg/program/chunk_language.h"
#include "alg/program/program.h"
#include "alg/schedule/algorithm_row.h"
#include "alg/schedule/message_timing.h"
#include "hw/topology/topology.h"

namespace espalier {

struct BuiltinRequest {
  std::uint32_t ranks = 2;
  // Consecutive ranks of one server, for hierarchical programs.
  std::uint32_t ranks_per_server = 1;
  std::uint32_t channels = 1;   // channels over which a ring is spread
  std::uint32_t instances = 1;  // parallelize() over the whole program
  Protocol protocol = Protocol::simple;
  // The network's shape, if it is a torus or a mesh: rank r is node r.
  std::optional<GridShape> grid = std::nullopt;
  // For programs that choose a number of segments. 0: the program chooses.
  std::uint32_t segments = 0;
  Bytes size = 0;
  Bytes element_bytes = kDefaultElementBytes;
  MessageTiming timing = {};
  LinkSpec link = {};  // of the grid: the lowest rate, the longest latency
  // NICs of a server, each near an equal share of its ranks; 0: one for each rank. NCCL has a ring
  // for each.
  std::uint32_t nics_per_server = 0;
};

// Keys that only some programs read.
inline constexpr const char* kSegmentsKey = "collective.segments";
inline constexpr const char* kInstancesKey = "collective.program.instances";
inline constexpr const char* kChannelsKey = "collective.program.channels";
inline constexpr const char* kServersKey = "collective.program.ranks_per_server";
// AlgorithmRow::fixed_ranks of every program.
inline constexpr const char* kProgramRanks = "rank r of a collective program is node r";

struct BuiltinProgram : AlgorithmRow {
  BuiltinProgram(const char* the_name, const char* the_summary, CollectiveOp op,
                 const std::vector<const char*>& keys,
                 std::string (*is_unsuited)(const BuiltinRequest& request),
                 std::uint32_t (*the_chunks)(const BuiltinRequest& request),
                 void (*writes)(ChunkTracer& tracer, const BuiltinRequest& request));

  // This row with another value of a member.
  template <class Value>
  [[nodiscard]] BuiltinProgram with(Value BuiltinProgram::*member, Value value) const {
    BuiltinProgram row = *this;
    row.*member = value;
    return row;
  }

  // Why the program cannot be built, as a sentence for the user; empty if it can.
  std::string (*unsuited)(const BuiltinRequest& request) = nullptr;
  // Into how many chunks it cuts the data, and what it does with them.
  std::uint32_t (*chunks)(const BuiltinRequest& request) = nullptr;
  void (*write)(ChunkTracer& tracer, const BuiltinRequest& request) = nullptr;
  // What a custom collective promises.
  std::vector<PromisedChunk> (*promises)(const BuiltinRequest& request) = nullptr;
  // Of a program that reads kSegmentsKey: parallelize() into as many as this returns. Others read
  // kInstancesKey, and are built in request.instances.
  std::uint32_t (*segments)(const BuiltinRequest& request) = nullptr;
  // Every rank gets the same bits of a floating-point sum. Not so if ranks add in different orders.
  bool bitwise_identical = true;
  // One of NCCL's programs, whose machine says how many channels there are.
  bool is_nccl = false;
  // The protocol unless the user chooses another one. Of programs over the NIs' own messages,
  // without a GPU's protocol, `message`.
  Protocol protocol = Protocol::simple;

  [[nodiscard]] CollectiveOp op() const { return ops.front(); }
  // Precondition: unsuited(request) is empty.
  [[nodiscard]] Program build(const BuiltinRequest& request) const;
};

// In the order in which users see them.
[[nodiscard]] const std::vector<BuiltinProgram>& builtin_programs();
// Returns nullptr if no program has that name.
[[nodiscard]] const BuiltinProgram* find_builtin_program(const std::string& name);

}  // namespace espalier
