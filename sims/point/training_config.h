// Sections training and workload: computation between collectives.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

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

// Training iterations on a multi-dimensional system: computing by a roofline model, and several
// collectives, which the collective's algorithm plans.
struct WorkloadConfig {
  WorkloadKind kind = WorkloadKind::resnet152;
  std::uint32_t iterations = 3;  // Themis, Fig. 12
  std::uint32_t mini_batch = 0;  // 0 ("auto"): as published
  GradientExchange exchange = GradientExchange::bulk;
  std::uint32_t model_npus = 128;  // transformer_1t
  std::uint32_t tflops = 312;
  std::uint64_t memory_bytes_per_second = 0;  // 0 ("unlimited")
};

}  // namespace espalier
