#include "sims/workload/training/iteration.h"

namespace espalier {

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

}  // namespace espalier
