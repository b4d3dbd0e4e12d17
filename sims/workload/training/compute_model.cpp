#include "sims/workload/training/compute_model.h"

#include <algorithm>

namespace espalier {

namespace {

__extension__ using Wide = unsigned __int128;

std::uint64_t ceil_div(std::uint64_t a, std::uint64_t b) { return a / b + (a % b != 0 ? 1 : 0); }

Cycle capped(Wide cycles) { return static_cast<Cycle>(std::min<Wide>(cycles, kLongestCompute)); }
// Both factors may use all 64 bits.
Cycle capped_product(Wide a, Wide b) {
  const Wide limit = kLongestCompute;
  if (b != 0 && a > limit / b) return kLongestCompute;
  return capped(a * b);
}

Wide folds_of(const Gemm& gemm, const ComputeSpec& spec) {
  return Wide{ceil_div(gemm.rows, spec.rows)} * ceil_div(gemm.columns, spec.columns);
}

// Operands enter skewed and the results leave through the rows: fill, stream, drain.
Wide fold_cycles(const Gemm& gemm, const ComputeSpec& spec) {
  return Wide{gemm.depth} + 2 * Wide{spec.rows} + spec.columns - 2;
}

// The same product for every sample of the mini-batch.
Cycle per_sample(const Gemm& gemm, std::uint64_t mini_batch, const ComputeSpec& spec) {
  if (spec.sharing == PeSharing::samples) {
    return capped_product(ceil_div(mini_batch, spec.pes), gemm_cycles(gemm, spec));
  }
  return dealt_cycles(gemm, mini_batch, spec);
}

// Products of activations with the same weights: in one matrix, the samples stand below each other.
Cycle with_weights(Gemm gemm, std::uint64_t mini_batch, const ComputeSpec& spec) {
  if (spec.sharing == PeSharing::samples) return per_sample(gemm, mini_batch, spec);
  gemm.rows *= mini_batch;
  return dealt_cycles(gemm, 1, spec);
}

LayerTime layer_time(const Layer& layer, bool is_first, std::uint64_t mini_batch,
                     const ComputeSpec& spec) {
  LayerTime time;
  switch (layer.weights) {
    case LayerWeights::lookup:
      break;
    case LayerWeights::none:
      time.forward = per_sample(forward_gemm(layer), mini_batch, spec);
      if (!is_first) {
        time.input_gradient =
            add_compute(per_sample(input_gradient_gemm(layer), mini_batch, spec),
                        per_sample(weight_gradient_gemm(layer, 1), mini_batch, spec));
      }
      break;
    case LayerWeights::own:
    case LayerWeights::shared:
      time.forward = with_weights(forward_gemm(layer), mini_batch, spec);
      if (!is_first) {
        time.input_gradient = with_weights(input_gradient_gemm(layer), mini_batch, spec);
      }
      // A sum over the mini-batch, which stays in its array until it is complete.
      time.weight_gradient = dealt_cycles(weight_gradient_gemm(layer, mini_batch), 1, spec);
      break;
  }
  return time;
}

}  // namespace

Gemm forward_gemm(const Layer& layer) {
  return {layer.output_pixels(), layer.filters, layer.filter_volume()};
}

Gemm input_gradient_gemm(const Layer& layer) {
  return {layer.output_pixels(), layer.filter_volume(), layer.filters};
}

Gemm weight_gradient_gemm(const Layer& layer, std::uint64_t samples) {
  return {layer.filter_volume(), layer.filters, layer.output_pixels() * samples};
}

Cycle add_compute(Cycle a, Cycle b) { return std::min(a + b, kLongestCompute); }

Cycle gemm_cycles(const Gemm& gemm, const ComputeSpec& spec) {
  return capped_product(folds_of(gemm, spec), fold_cycles(gemm, spec));
}

Cycle dealt_cycles(const Gemm& gemm, std::uint64_t count, const ComputeSpec& spec) {
  const Wide folds = folds_of(gemm, spec) * count;
  return capped_product((folds + spec.pes - 1) / spec.pes, fold_cycles(gemm, spec));
}

std::vector<LayerTime> layer_times(const std::vector<Layer>& layers, std::uint64_t mini_batch,
                                   const ComputeSpec& spec) {
  std::vector<LayerTime> times;
  times.reserve(layers.size());
  for (const Layer& layer : layers) {
    times.push_back(layer_time(layer, times.empty(), mini_batch, spec));
  }
  return times;
}

}  // namespace espalier
