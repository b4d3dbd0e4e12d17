// Measured times of collectives on real machines, in a table of comma-separated values.
//
//   machine,nodes,gpus_per_node,op,size_bytes,time_us    # columns by name, in any order
//   example-cluster01,1,8,all_gather,33554432,123.4
//
// Required are a machine (column `machine`, `cluster` or `gpu`), `op`, `gpus_per_node`, `nodes` or
// `gpus`, `size_bytes` and `time_us`. Optional are `env` (a setting of the machine's network),
// `nccl_dir` (NCCL's version), `kernel` (of a library other than NCCL) and `kind`. Other columns
// are ignored, so that tables of nccl-tests' logs can be read as they are. Sizes count as in
// nccl-tests, which for an all_gather is the gathered result. A row of size 0, or too small for its
// time, is left out. '#' starts a comment line.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "alg/schedule/schedule.h"
#include "sims/text/diagnostics.h"

namespace espalier {

// What a row measures: a collective, or messages from every rank to the next one.
enum class MeasuredOp : std::uint8_t {
  all_reduce,
  all_gather,
  reduce_scatter,
  all_to_all,
  sendrecv
};

[[nodiscard]] const char* to_string(MeasuredOp op);

// Errors of rows with less data are stated apart.
inline constexpr Bytes kSmallRows = Bytes{1} << 20;

struct MeasuredRow {
  std::string machine;
  std::string setting;  // empty: none
  std::string nccl;     // NCCL's version; empty: not stated
  std::string kernel;   // empty: NCCL
  std::string kind;     // of the measurement, e.g. "pairwise"
  std::uint32_t servers = 1;
  std::uint32_t gpus_per_server = 1;
  MeasuredOp op = MeasuredOp::all_reduce;
  Bytes size = 0;
  double microseconds = 0;
};

// In the order of the lines; nullopt after an error.
[[nodiscard]] std::optional<std::vector<MeasuredRow>> parse_measured_rows(
    const std::string& file_name, const std::string& text, Diagnostics& diagnostics);

}  // namespace espalier
