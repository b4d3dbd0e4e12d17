#include <fmt/format.h>

#include "sims/workload/training/gradient_exchange.h"
#include "sims/workload/training/workloads.h"

namespace espalier {

namespace {

struct MatrixLayer {
  std::string name;
  std::uint64_t inputs = 0;
  std::uint64_t outputs = 0;

  [[nodiscard]] std::uint64_t weights() const { return inputs * outputs; }
};

std::vector<MatrixLayer> mlp(const char* name, std::uint64_t inputs,
                             const std::vector<std::uint32_t>& outputs, std::size_t first) {
  std::vector<MatrixLayer> layers;
  for (std::size_t l = first; l < outputs.size(); ++l) {
    layers.push_back({fmt::format("{}{}", name, layers.size() + 1), inputs, outputs[l]});
    inputs = outputs[l];
  }
  return layers;
}

class DlrmWriter {
 public:
  DlrmWriter(const DlrmShape& shape, const WorkloadSpec& spec)
      : shape_(shape),
        spec_(spec),
        bottom_(mlp("bottom", shape.bottom.front(), shape.bottom, 1)),
        top_(mlp("top", std::uint64_t{shape.tables + 1} * shape.embedding, shape.top, 0)),
        gradients_(workload_, spec, CollectiveOp::all_reduce, CommunicationScope::all) {
    workload_.name = "dlrm";
  }

  Workload write() {
    // Every NPU looks up for all NPUs' samples in the tables that it has: as many as its own
    // samples need in all tables.
    workload_.compute("embedding", ComputePhase::forward, lookup_ns(shape_.lookups + 1.0));
    const std::size_t vectors = workload_.issue(embeddings(), Parallelism::model);
    for (const MatrixLayer& layer : bottom_) forward(layer);
    workload_.wait(vectors);
    for (const MatrixLayer& layer : top_) forward(layer);
    for (std::size_t l = top_.size(); l-- > 1;) backward(top_[l]);
    workload_.compute(top_[0].name, ComputePhase::input_gradient, product_ns(top_[0]));
    const std::size_t gradients = workload_.issue(embeddings(), Parallelism::model);
    weight_gradient(top_[0]);
    for (std::size_t l = bottom_.size(); l-- > 1;) backward(bottom_[l]);
    weight_gradient(bottom_[0]);
    gradients_.flush();
    workload_.wait(gradients);
    workload_.compute("embedding", ComputePhase::weight_gradient,
                      lookup_ns(2.0 * shape_.lookups + 1));
    return std::move(workload_);
  }

 private:
  [[nodiscard]] double vector_bytes() const {
    return static_cast<double>(shape_.tables) * shape_.embedding * spec_.mini_batch *
           static_cast<double>(spec_.element_bytes);
  }
  [[nodiscard]] CommunicationOp embeddings() const {
    return {CollectiveOp::all_to_all,
            Bytes{shape_.tables} * shape_.embedding * spec_.mini_batch * spec_.element_bytes,
            CommunicationScope::all};
  }
  // Memory traffic of so many rows per vector.
  [[nodiscard]] double lookup_ns(double rows) const {
    return memory_nanoseconds(rows * vector_bytes(), spec_.roofline);
  }
  // The three products of a layer are of the same size, whichever way round they are.
  [[nodiscard]] double product_ns(const MatrixLayer& layer) const {
    return gemm_nanoseconds({spec_.mini_batch, layer.outputs, layer.inputs}, 1, spec_.roofline);
  }
  void forward(const MatrixLayer& layer) {
    workload_.compute(layer.name, ComputePhase::forward, product_ns(layer));
  }
  void weight_gradient(const MatrixLayer& layer) {
    workload_.compute(layer.name, ComputePhase::weight_gradient, product_ns(layer));
    gradients_.complete(layer.weights());
  }
  void backward(const MatrixLayer& layer) {
    workload_.compute(layer.name, ComputePhase::input_gradient, product_ns(layer));
    weight_gradient(layer);
  }

  const DlrmShape& shape_;
  const WorkloadSpec& spec_;
  std::vector<MatrixLayer> bottom_;
  std::vector<MatrixLayer> top_;
  Workload workload_;
  GradientCollector gradients_;
};

}  // namespace

Workload dlrm_workload(const DlrmShape& shape, const WorkloadSpec& spec) {
  return DlrmWriter(shape, spec).write();
}

}  // namespace espalier
