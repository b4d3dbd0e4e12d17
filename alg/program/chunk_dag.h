// The chunk DAG of a program (GC3, section 4.1): its operations, and what each depends on.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "alg/program/chunk_language.h"
#include "alg/program/place_history.h"

namespace espalier {

// One instance of an operation.
struct ChunkNode {
  TransferKind kind = TransferKind::copy;
  ChunkSpan source;
  ChunkSpan target;
  std::optional<std::uint32_t> channel;  // as directed
  std::uint32_t instance = 0;            // of its fragment
  std::uint32_t call = 0;
  std::uint32_t line = 0;
  std::vector<DagEdge> after;  // ascending; input chunks are nobody's

  [[nodiscard]] bool is_remote() const { return source.rank != target.rank; }
};

struct ChunkDag {
  // Every chunk is cut into that many: the least common multiple of what the fragments need. An
  // operation of several chunks hands whole chunks to its instances where they divide.
  std::uint32_t split = 1;
  Program signature;  // in chunks after the cut
  // As they were traced, instances in a row: every edge leads forward.
  std::vector<ChunkNode> nodes;
};

// Throws ChunkError where the cut makes too many chunks.
[[nodiscard]] ChunkDag make_chunk_dag(const ChunkTrace& trace);

// One node per line: "3: reduce rank 0 in[1] into rank 1 in[1] after 0, (2)"; false dependencies
// in parentheses.
[[nodiscard]] std::string to_text(const ChunkDag& dag);
// For Graphviz; false dependencies dashed.
[[nodiscard]] std::string to_dot(const ChunkDag& dag);

}  // namespace espalier
