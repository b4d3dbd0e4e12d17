// Sections training and workload: computation between collectives.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "sims/workload/graph/work_graph.h"
#include "sims/workload/training/compute_model.h"
#include "sims/workload/training/layer.h"
#include "sims/workload/training/workload.h"

namespace espalier {

// One training iteration. The collective all-reduces its gradients.
struct TrainingConfig {
  std::string file;     // layer table: path as written, relative to `folder`; empty: `network`
  std::string folder;   // of the configuration; empty: the current one
  std::string network;  // a built-in one
  std::uint32_t mini_batch = 16;  // samples per accelerator
  Overlap overlap = Overlap::none;
  ComputeSpec compute;
  std::vector<Layer> layers;  // contents of the table, in forward order
};

enum class WorkloadKind : std::uint8_t { resnet152, gnmt, dlrm, transformer_1t };

// A named workload: training iterations on a multi-dimensional system, computing by a roofline
// model, and several collectives, which the collective's algorithm plans. Or, if `file` is given,
// the work in an execution trace of each rank, on any network.
struct WorkloadConfig {
  static constexpr const char* kEqualCounts = "equal";

  std::string file;    // prefix of the traces `file`.RANK.et as written, relative to `folder`
  std::string groups;  // process groups, relative to `folder`; empty: `file`.json if it exists
  std::string folder;  // of the configuration; empty: the current one
  IssueOrder issue = IssueOrder::lowest_id;
  Bytes element_bytes = 1;   // of a unit of the traces' sizes
  std::uint32_t chunks = 1;  // of a collective, one after the other
  // How an all_to_all spreads its bytes: kEqualCounts, or as CountsConfig::source; and by the
  // number of ranks of a group, as CountsConfig::weights, filled in by the reader.
  std::string counts = kEqualCounts;
  std::map<std::size_t, std::vector<std::uint64_t>> weights;
  WorkloadKind kind = WorkloadKind::resnet152;
  std::uint32_t iterations = 3;  // Themis, Fig. 12
  std::uint32_t mini_batch = 0;  // 0 ("auto"): as published
  GradientExchange exchange = GradientExchange::bulk;
  std::uint32_t model_npus = 128;  // transformer_1t
  std::uint32_t tflops = 312;      // 0 ("recorded"): computations last as long as in the trace
  std::uint64_t memory_bytes_per_second = 0;  // 0 ("unlimited")
  std::shared_ptr<const WorkGraph> graph;     // contents of the traces; null for a named workload
};

}  // namespace espalier
