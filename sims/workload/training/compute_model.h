// How long an accelerator computes: output-stationary systolic arrays that memory keeps busy
// (MultiTree, section V-A and Table III). Plain arithmetic; docs/training.md has the formulas.
#pragma once

#include <cstdint>
#include <vector>

#include "hw/ids.h"
#include "sims/workload/training/layer.h"

namespace espalier {

// What the processing elements of an accelerator share a forward product or an input gradient by.
enum class PeSharing : std::uint8_t {
  samples,  // each computes whole samples: a mini-batch of 16 on 16 (section V-B, footnote 6)
  folds,    // the mini-batch is one product, whose folds are dealt out
};

struct ComputeSpec {
  std::uint32_t pes = 16;  // processing elements, an array each
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

// The three products of a layer for one sample, or for several whose sum is wanted.
[[nodiscard]] Gemm forward_gemm(const Layer& layer);
[[nodiscard]] Gemm input_gradient_gemm(const Layer& layer);
[[nodiscard]] Gemm weight_gradient_gemm(const Layer& layer, std::uint64_t samples);

// Times no longer than this are exact; what is longer is this long, so that sums never overflow.
inline constexpr Cycle kLongestCompute = Cycle{1} << 60;
[[nodiscard]] Cycle add_compute(Cycle a, Cycle b);

// One product on one array: SCALE-Sim's output-stationary runtime, ceil(rows/R) * ceil(columns/C)
// folds of 2R + C + depth - 2 cycles (Samajdar et al., arXiv 1811.02883; ISPASS 2020, section
// III-B).
[[nodiscard]] Cycle gemm_cycles(const Gemm& gemm, const ComputeSpec& spec);
// `count` such products on all arrays, each fold on the array that is free first.
[[nodiscard]] Cycle dealt_cycles(const Gemm& gemm, std::uint64_t count, const ComputeSpec& spec);

struct LayerTime {
  Cycle forward = 0;
  Cycle input_gradient = 0;
  Cycle weight_gradient = 0;
};

// By layer, in forward order. The first layer needs no input gradient.
[[nodiscard]] std::vector<LayerTime> layer_times(const std::vector<Layer>& layers,
                                                 std::uint64_t mini_batch, const ComputeSpec& spec);

}  // namespace espalier
