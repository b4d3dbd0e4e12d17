// Times that other tools or papers state for a collective, in a table of comma-separated values, to
// stand beside ours.
//
//   network,op,size,tool,time,source    # the required header
//   ndv2_2.yaml,all_gather,64kB,TE-CCL,6.72us,microsoft/TE-CCL@c128bf2
//
// `network` is the name of the topology, as `compare` prints it; lines of other networks are not
// used. `size` and `time` have units. `source` is the rest of the line: a repository with its
// commit, a paper with its figure. '#' starts a comment line. Blank lines and blanks around a value
// are ignored.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "alg/schedule/schedule.h"
#include "sims/text/diagnostics.h"

namespace espalier {

struct PublishedTime {
  std::string network;
  CollectiveOp op = CollectiveOp::all_reduce;
  Bytes size = 0;
  std::string tool;
  std::uint64_t picoseconds = 0;
  std::string source;
};

// In the order of the lines. A tool has one time for a network, operation and size. `file_name` is
// for diagnostics.
[[nodiscard]] std::optional<std::vector<PublishedTime>> parse_published_times(
    const std::string& file_name, const std::string& text, Diagnostics& diagnostics);

}  // namespace espalier
