// How long an accelerator computes that is described by its peak rates alone (Themis, section 5.1).
#pragma once

#include <cstdint>

#include "sims/workload/training/compute_model.h"

namespace espalier {

// NVIDIA A100, FP16 tensor cores without sparsity (Themis, reference 13).
struct RooflineSpec {
  double flops_per_second = 312e12;  // a multiply-accumulate is two
  // 0: never the bottleneck, as in the paper, which takes "the total FLOPS available"; the A100 has
  // 1555 GB/s.
  double bytes_per_second = 0;
  double element_bytes = 2;
};

// `count` products whose matrices are read or written once each.
[[nodiscard]] double gemm_nanoseconds(const Gemm& gemm, double count, const RooflineSpec& spec);
// Nothing but memory traffic.
[[nodiscard]] double memory_nanoseconds(double bytes, const RooflineSpec& spec);

}  // namespace espalier
