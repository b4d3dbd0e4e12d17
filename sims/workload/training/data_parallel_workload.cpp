#include "sims/workload/training/gradient_exchange.h"
#include "sims/workload/training/workloads.h"

namespace espalier {

namespace {

// All samples' rows below each other.
Gemm batched(Gemm gemm, std::uint64_t samples) {
  gemm.rows *= samples;
  return gemm;
}

// Rows of a table that the mini-batch reads or adds to, once each.
double lookup_bytes(const Layer& layer, const WorkloadSpec& spec) {
  return static_cast<double>(layer.output_pixels()) * layer.filters * spec.mini_batch *
         spec.roofline.element_bytes;
}

double forward_ns(const Layer& layer, const WorkloadSpec& spec) {
  switch (layer.weights) {
    case LayerWeights::lookup:
      return memory_nanoseconds(2 * lookup_bytes(layer, spec), spec.roofline);
    case LayerWeights::none:
      return gemm_nanoseconds(forward_gemm(layer), spec.mini_batch, spec.roofline);
    case LayerWeights::own:
    case LayerWeights::shared:
      break;
  }
  return gemm_nanoseconds(batched(forward_gemm(layer), spec.mini_batch), 1, spec.roofline);
}

double input_gradient_ns(const Layer& layer, const WorkloadSpec& spec) {
  switch (layer.weights) {
    case LayerWeights::lookup:
      return 0;
    case LayerWeights::none:  // both factors are activations
      return gemm_nanoseconds(input_gradient_gemm(layer), spec.mini_batch, spec.roofline) +
             gemm_nanoseconds(weight_gradient_gemm(layer, 1), spec.mini_batch, spec.roofline);
    case LayerWeights::own:
    case LayerWeights::shared:
      break;
  }
  return gemm_nanoseconds(batched(input_gradient_gemm(layer), spec.mini_batch), 1, spec.roofline);
}

double weight_gradient_ns(const Layer& layer, const WorkloadSpec& spec) {
  switch (layer.weights) {
    case LayerWeights::lookup:
      return memory_nanoseconds(3 * lookup_bytes(layer, spec), spec.roofline);
    case LayerWeights::none:
      return 0;
    case LayerWeights::own:
    case LayerWeights::shared:
      break;
  }
  return gemm_nanoseconds(weight_gradient_gemm(layer, spec.mini_batch), 1, spec.roofline);
}

}  // namespace

Workload data_parallel_workload(const std::string& name, const std::vector<Layer>& layers,
                                const WorkloadSpec& spec) {
  Workload workload;
  workload.name = name;
  GradientCollector gradients(workload, spec, CollectiveOp::all_reduce, CommunicationScope::all);
  for (const Layer& layer : layers) {
    workload.compute(layer.name, ComputePhase::forward, forward_ns(layer, spec));
  }
  for (std::size_t l = layers.size(); l-- > 0;) {
    const Layer& layer = layers[l];
    if (l != 0) {  // nothing waits for the gradient of the network's input
      workload.compute(layer.name, ComputePhase::input_gradient, input_gradient_ns(layer, spec));
    }
    workload.compute(layer.name, ComputePhase::weight_gradient, weight_gradient_ns(layer, spec));
    gradients.complete(layer.parameters());
  }
  gradients.flush();
  return workload;
}

}  // namespace espalier
