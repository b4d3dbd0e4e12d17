// Parametric collective programs, selected by name, written in the chunk language and compiled on
// demand.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "alg/program/chunk_language.h"
#include "alg/program/program.h"
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
  LinkSpec link = {};  // of the grid; all its links are equal
  // NICs of a server, each near an equal share of its ranks; 0: one for each rank. NCCL has a ring
  // for each.
  std::uint32_t nics_per_server = 0;
};

struct BuiltinProgram {
  std::string name;     // as in `espalier list algorithms`
  std::string summary;  // one line
  CollectiveOp collective = CollectiveOp::all_reduce;
  bool uses_servers = false;   // reads ranks_per_server
  bool uses_channels = false;  // reads channels
  // Why the program cannot be built, as a sentence for the user; empty if it can.
  std::string (*unsuited)(const BuiltinRequest& request) = nullptr;
  // Into how many chunks it cuts the data, and what it does with them.
  std::uint32_t (*chunks)(const BuiltinRequest& request) = nullptr;
  void (*write)(ChunkTracer& tracer, const BuiltinRequest& request) = nullptr;
  // What a custom collective promises.
  std::vector<PromisedChunk> (*promises)(const BuiltinRequest& request) = nullptr;
  // If set, it reads segments in place of instances, and is built with as many as this returns.
  std::uint32_t (*segments)(const BuiltinRequest& request) = nullptr;
  // Every rank gets the same bits of a floating-point sum. Not so if ranks add in different orders.
  bool bitwise_identical = true;
  // The protocol unless the user chooses another one.
  Protocol protocol = Protocol::simple;

  [[nodiscard]] bool uses_segments() const { return segments != nullptr; }
  // Precondition: unsuited(request) is empty.
  [[nodiscard]] Program build(const BuiltinRequest& request) const;
};

// In the order in which users see them.
[[nodiscard]] const std::vector<BuiltinProgram>& builtin_programs();
// Returns nullptr if no program has that name.
[[nodiscard]] const BuiltinProgram* find_builtin_program(const std::string& name);

}  // namespace espalier
