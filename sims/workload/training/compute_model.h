// Compute time of an accelerator by two models: output-stationary systolic arrays that never wait
// for memory (MultiTree, section V-A and Table III), and peak rates only (Themis, section 5.1).
// docs/training.md has the formulas.
#pragma once

#include <cstdint>
#include <vector>

#include "hw/ids.h"
#include "sims/workload/training/layer.h"

namespace espalier {

// How the processing elements of an accelerator divide a forward product or an input gradient.
enum class PeSharing : std::uint8_t {
  samples,  // each computes whole samples (section V-B, footnote 6)
  folds,    // the mini-batch is one product whose folds are dealt out
};

struct ComputeSpec {
  std::uint32_t pes = 16;  // processing elements, each with one array
  std::uint32_t rows = 32;
  std::uint32_t columns = 32;
  PeSharing sharing = PeSharing::samples;
};

// A matrix product: rows x depth times depth x columns.
struct Gemm {
  std::uint64_t rows = 0;
  std::uint64_t columns = 0;
  std::uint64_t depth = 0;
};

// The three products of a layer for one sample. The weight gradient is the sum over several
// samples.
[[nodiscard]] Gemm forward_gemm(const Layer& layer);
[[nodiscard]] Gemm input_gradient_gemm(const Layer& layer);
[[nodiscard]] Gemm weight_gradient_gemm(const Layer& layer, std::uint64_t samples);

// Longer times are cut to this value, so that sums never overflow.
inline constexpr Cycle kLongestCompute = Cycle{1} << 60;
[[nodiscard]] Cycle add_compute(Cycle a, Cycle b);

// One product on one array: SCALE-Sim's output-stationary runtime, ceil(rows/R) * ceil(columns/C)
// folds of 2R + C + depth - 2 cycles (Samajdar et al., arXiv 1811.02883; ISPASS 2020, section
// III-B).
[[nodiscard]] Cycle gemm_cycles(const Gemm& gemm, const ComputeSpec& spec);
// `count` products on all arrays. The array that is free first takes the next fold.
[[nodiscard]] Cycle dealt_cycles(const Gemm& gemm, std::uint64_t count, const ComputeSpec& spec);

struct LayerTime {
  Cycle forward = 0;
  Cycle input_gradient = 0;
  Cycle weight_gradient = 0;
};

// By layer, in forward order. The first layer needs no input gradient.
[[nodiscard]] std::vector<LayerTime> layer_times(const std::vector<Layer>& layers,
                                                 std::uint64_t mini_batch, const ComputeSpec& spec);

// When gradients are all-reduced (MultiTree, section V-B).
enum class Overlap : std::uint8_t {
  none,       // all gradients together, after back-propagation
  layerwise,  // each layer's gradient when the layer has finished back-propagation
};

struct GradientPost {
  std::size_t layer = 0;
  Cycle at = 0;  // from the start of back-propagation
  std::uint64_t parameters = 0;
};

// One training iteration of one accelerator: forward, then back-propagation from the last layer to
// the first. A layer computes its input gradient, which the layer before it needs, then its weight
// gradient.
struct IterationPlan {
  Cycle forward = 0;
  Cycle backward = 0;
  // Layers with parameters, in the order of back-propagation.
  std::vector<GradientPost> posts;

  [[nodiscard]] Cycle compute() const { return add_compute(forward, backward); }
};

[[nodiscard]] IterationPlan plan_iteration(const std::vector<Layer>& layers,
                                           std::uint64_t mini_batch, const ComputeSpec& spec);

[[nodiscard]] std::uint64_t count_parameters(const std::vector<Layer>& layers);

// NVIDIA A100, FP16 tensor cores without sparsity (Themis, reference 13).
struct RooflineSpec {
  double flops_per_second = 312e12;  // a multiply-accumulate counts as two
  // 0: memory is never the bottleneck, as in the paper, which takes "the total FLOPS available".
  // The A100 has 1555 GB/s.
  double bytes_per_second = 0;
  double element_bytes = 2;
};

// `count` products. Each matrix is read or written once.
[[nodiscard]] double gemm_nanoseconds(const Gemm& gemm, double count, const RooflineSpec& spec);
// Memory traffic alone.
[[nodiscard]] double memory_nanoseconds(double bytes, const RooflineSpec& spec);

}  // namespace espalier
