#include <fmt/format.h>

#include "sims/workload/training/gradient_exchange.h"
#include "sims/workload/training/workloads.h"

namespace espalier {

namespace {

class TransformerWriter {
 public:
  TransformerWriter(const TransformerShape& shape, const WorkloadSpec& spec)
      : shape_(shape),
        spec_(spec),
        tokens_(std::uint64_t{spec.mini_batch} * shape.sequence),
        activations_{CollectiveOp::all_reduce, tokens_ * shape.hidden * spec.element_bytes,
                     CommunicationScope::model},
        gradients_(workload_, spec, CollectiveOp::reduce_scatter, CommunicationScope::data) {
    workload_.name = "transformer_1t";
  }

  Workload write() {
    for (std::uint32_t l = 1; l <= shape_.layers; ++l) forward(l, ComputePhase::forward);
    for (std::uint32_t l = shape_.layers; l >= 1; --l) {
      gather_checkpoint();
      forward(l, ComputePhase::forward_again);
      backward(l);
    }
    gradients_.flush();
    const Bytes parameters = shape_.layers * (attention_weights() + mlp_weights());
    workload_.issue(
        {CollectiveOp::all_gather, parameters * spec_.element_bytes, CommunicationScope::data},
        Parallelism::data);
    return std::move(workload_);
  }

 private:
  // Of an NPU: query, key, value and output projections; both matrices of the MLP.
  [[nodiscard]] Bytes attention_weights() const { return 4 * part() * shape_.hidden; }
  [[nodiscard]] Bytes mlp_weights() const { return 8 * part() * shape_.hidden; }
  [[nodiscard]] std::uint64_t part() const { return shape_.hidden / shape_.model_npus; }

  // A product of the tokens with `columns` columns of this NPU's weights, hidden or 1 / model_npus
  // of it deep: which of both is which makes no difference.
  [[nodiscard]] double projection_ns(std::uint64_t columns) const {
    return gemm_nanoseconds({tokens_, columns, shape_.hidden}, 1, spec_.roofline);
  }
  [[nodiscard]] double attention_projections_ns() const { return projection_ns(4 * part()); }
  [[nodiscard]] double mlp_ns() const { return projection_ns(8 * part()); }
  // Scores and context: every token with all of its sample, causal or not.
  [[nodiscard]] double attention_ns() const {
    return 2 * gemm_nanoseconds({shape_.sequence, shape_.sequence, part()}, spec_.mini_batch,
                                spec_.roofline);
  }

  void forward(std::uint32_t l, ComputePhase phase) {
    workload_.compute(fmt::format("attention{}", l), phase,
                      attention_projections_ns() + attention_ns());
    exchange_activations();
    workload_.compute(fmt::format("mlp{}", l), phase, mlp_ns());
    exchange_activations();
  }

  void backward(std::uint32_t l) {
    backward(fmt::format("mlp{}", l), mlp_ns(), mlp_ns(), mlp_weights());
    // Both factors of scores and context are activations.
    backward(fmt::format("attention{}", l), attention_projections_ns() + 2 * attention_ns(),
             attention_projections_ns(), attention_weights());
  }

  void backward(const std::string& layer, double input_gradient, double weight_gradient,
                Bytes weights) {
    workload_.compute(layer, ComputePhase::input_gradient, input_gradient);
    const std::size_t exchange = workload_.issue(activations_, Parallelism::model);
    if (!shape_.overlap_weight_gradient) workload_.wait(exchange);
    workload_.compute(layer, ComputePhase::weight_gradient, weight_gradient);
    if (shape_.overlap_weight_gradient) workload_.wait(exchange);
    gradients_.complete(weights);
  }

  void exchange_activations() { workload_.issue_blocking(activations_, Parallelism::model); }

  void gather_checkpoint() {
    if (!shape_.gather_checkpoints) return;
    workload_.issue_blocking({CollectiveOp::all_gather, activations_.bytes, activations_.scope},
                             Parallelism::model);
  }

  const TransformerShape& shape_;
  const WorkloadSpec& spec_;
  std::uint64_t tokens_;
  CommunicationOp activations_;
  Workload workload_;
  GradientCollector gradients_;
};

}  // namespace

Workload transformer_workload(const TransformerShape& shape, const WorkloadSpec& spec) {
  return TransformerWriter(shape, spec).write();
}

}  // namespace espalier
