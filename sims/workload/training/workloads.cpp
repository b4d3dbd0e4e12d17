#include "sims/workload/training/workload.h"

#include <fmt/format.h>

namespace espalier {

namespace {

// Collects the gradients of a workload under construction, and issues their exchange.
class GradientCollector {
 public:
  GradientCollector(Workload& workload, const WorkloadSpec& spec, CollectiveOp op,
                    CommunicationScope scope)
      : workload_(workload), spec_(spec), op_(op), scope_(scope) {}

  // The last step has completed the gradients of `weights` weights.
  void complete(Bytes weights) {
    pending_ += weights * spec_.element_bytes;
    if (spec_.exchange == GradientExchange::per_layer) flush();
  }
  // To be called after back-propagation.
  void flush() {
    if (pending_ != 0) workload_.issue({op_, pending_, scope_}, TimePart::data);
    pending_ = 0;
  }

 private:
  Workload& workload_;
  const WorkloadSpec& spec_;
  CollectiveOp op_;
  CommunicationScope scope_;
  Bytes pending_ = 0;
};

// The rows of all samples, stacked.
Gemm batched(Gemm gemm, std::uint64_t samples) {
  gemm.rows *= samples;
  return gemm;
}

// Bytes of the rows that the mini-batch reads or adds to, each once.
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
    workload.compute(layer.name, TimePart::forward, forward_ns(layer, spec));
  }
  for (std::size_t l = layers.size(); l-- > 0;) {
    const Layer& layer = layers[l];
    if (l != 0) {  // the network's input needs no gradient
      workload.compute(layer.name, TimePart::backward, input_gradient_ns(layer, spec));
    }
    workload.compute(layer.name, TimePart::backward, weight_gradient_ns(layer, spec));
    gradients.complete(layer.parameters());
  }
  gradients.flush();
  return workload;
}

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
    // An NPU looks up all NPUs' samples in its own tables: as many rows as its own samples need in
    // all tables.
    workload_.compute("embedding", TimePart::forward, lookup_ns(shape_.lookups + 1.0));
    const std::uint32_t vectors = workload_.issue(embeddings(), TimePart::model);
    for (const MatrixLayer& layer : bottom_) forward(layer);
    workload_.wait(vectors);
    for (const MatrixLayer& layer : top_) forward(layer);
    for (std::size_t l = top_.size(); l-- > 1;) backward(top_[l]);
    workload_.compute(top_[0].name, TimePart::backward, product_ns(top_[0]));
    const std::uint32_t gradients = workload_.issue(embeddings(), TimePart::model);
    weight_gradient(top_[0]);
    for (std::size_t l = bottom_.size(); l-- > 1;) backward(bottom_[l]);
    weight_gradient(bottom_[0]);
    gradients_.flush();
    workload_.wait(gradients);
    workload_.compute("embedding", TimePart::backward, lookup_ns(2.0 * shape_.lookups + 1));
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
  // Memory traffic of `rows` rows per vector.
  [[nodiscard]] double lookup_ns(double rows) const {
    return memory_nanoseconds(rows * vector_bytes(), spec_.roofline);
  }
  // The three products of a layer have the same size.
  [[nodiscard]] double product_ns(const MatrixLayer& layer) const {
    return gemm_nanoseconds({spec_.mini_batch, layer.outputs, layer.inputs}, 1, spec_.roofline);
  }
  void forward(const MatrixLayer& layer) {
    workload_.compute(layer.name, TimePart::forward, product_ns(layer));
  }
  void weight_gradient(const MatrixLayer& layer) {
    workload_.compute(layer.name, TimePart::backward, product_ns(layer));
    gradients_.complete(layer.weights());
  }
  void backward(const MatrixLayer& layer) {
    workload_.compute(layer.name, TimePart::backward, product_ns(layer));
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
    for (std::uint32_t l = 1; l <= shape_.layers; ++l) forward(l);
    for (std::uint32_t l = shape_.layers; l >= 1; --l) {
      gather_checkpoint();
      forward(l);  // again
      backward(l);
    }
    gradients_.flush();
    const Bytes parameters = shape_.layers * (attention_weights() + mlp_weights());
    workload_.issue(
        {CollectiveOp::all_gather, parameters * spec_.element_bytes, CommunicationScope::data},
        TimePart::data);
    return std::move(workload_);
  }

 private:
  // One NPU's part of the query, key, value and output projections, and of both matrices of the
  // MLP.
  [[nodiscard]] Bytes attention_weights() const { return 4 * part() * shape_.hidden; }
  [[nodiscard]] Bytes mlp_weights() const { return 8 * part() * shape_.hidden; }
  [[nodiscard]] std::uint64_t part() const { return shape_.hidden / shape_.model_npus; }

  // A product of the tokens with `columns` columns of this NPU's weights. Its time is the same with
  // columns and depth exchanged.
  [[nodiscard]] double projection_ns(std::uint64_t columns) const {
    return gemm_nanoseconds({tokens_, columns, shape_.hidden}, 1, spec_.roofline);
  }
  [[nodiscard]] double attention_projections_ns() const { return projection_ns(4 * part()); }
  [[nodiscard]] double mlp_ns() const { return projection_ns(8 * part()); }
  // Scores and context: every token with all tokens of its sample, causal or not.
  [[nodiscard]] double attention_ns() const {
    return 2 * gemm_nanoseconds({shape_.sequence, shape_.sequence, part()}, spec_.mini_batch,
                                spec_.roofline);
  }

  void forward(std::uint32_t l) {
    workload_.compute(fmt::format("attention{}", l), TimePart::forward,
                      attention_projections_ns() + attention_ns());
    exchange_activations();
    workload_.compute(fmt::format("mlp{}", l), TimePart::forward, mlp_ns());
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
    workload_.compute(layer, TimePart::backward, input_gradient);
    const std::uint32_t exchange = workload_.issue(activations_, TimePart::model);
    if (!shape_.overlap_weight_gradient) workload_.wait(exchange);
    workload_.compute(layer, TimePart::backward, weight_gradient);
    if (shape_.overlap_weight_gradient) workload_.wait(exchange);
    gradients_.complete(weights);
  }

  void exchange_activations() { workload_.issue_blocking(activations_, TimePart::model); }

  void gather_checkpoint() {
    if (!shape_.gather_checkpoints) return;
    workload_.issue_blocking({CollectiveOp::all_gather, activations_.bytes, activations_.scope},
                             TimePart::model);
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
