#include "sims/workload/training/roofline.h"

#include <algorithm>

namespace espalier {

double gemm_nanoseconds(const Gemm& gemm, double count, const RooflineSpec& spec) {
  const auto rows = static_cast<double>(gemm.rows);
  const auto columns = static_cast<double>(gemm.columns);
  const auto depth = static_cast<double>(gemm.depth);
  const double flops = 2 * rows * columns * depth * count;
  const double elements = (rows * depth + depth * columns + rows * columns) * count;
  return std::max(flops / spec.flops_per_second * 1e9,
                  memory_nanoseconds(elements * spec.element_bytes, spec));
}

double memory_nanoseconds(double bytes, const RooflineSpec& spec) {
  return spec.bytes_per_second == 0 ? 0 : bytes / spec.bytes_per_second * 1e9;
}

}  // namespace espalier
