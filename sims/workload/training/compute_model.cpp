#include "sims/workload/training/compute_model.h"

#include <algorithm>

namespace espalier {

namespace {

__extension__ using Wide = unsigned __int128;

std::uint64_t ceil_div(std::uint64_t a, std::uint64_t b) { return a / b + (a % b != 0 ? 1 : 0); }

Cycle capped(Wide cycles) { return static_cast<Cycle>(std::min<Wide>(cycles, kLongestCompute)); }
// The factors may use all 64 bits.
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

// A separate product for every sample of the mini-batch.
Cycle per_sample(const Gemm& gemm, std::uint64_t mini_batch, const ComputeSpec& spec) {
  if (spec.sharing == PeSharing::samples) {
    return capped_product(ceil_div(mini_batch, spec.pes), gemm_cycles(gemm, spec));
  }
  return dealt_cycles(gemm, mini_batch, spec);
}

// Products of activations with the same weights. The samples are stacked in one matrix.
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
      // The sum over the mini-batch stays in one array until it is complete.
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

IterationPlan plan_iteration(const std::vector<Layer>& layers, std::uint64_t mini_batch,
                             const ComputeSpec& spec) {
  const std::vector<LayerTime> times = layer_times(layers, mini_batch, spec);
  IterationPlan plan;
  for (const LayerTime& time : times) plan.forward = add_compute(plan.forward, time.forward);
  for (std::size_t l = layers.size(); l-- > 0;) {
    plan.backward = add_compute(plan.backward, times[l].input_gradient);
    plan.backward = add_compute(plan.backward, times[l].weight_gradient);
    const std::uint64_t parameters = layers[l].parameters();
    if (parameters != 0) plan.posts.push_back({l, plan.backward, parameters});
  }
  return plan;
}

std::uint64_t count_parameters(const std::vector<Layer>& layers) {
  std::uint64_t parameters = 0;
  for (const Layer& layer : layers) parameters += layer.parameters();
  return parameters;
}

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
