// The workloads of Themis' evaluation against their published sizes.
#include "sims/workload/training/workload.h"

#include <catch2/catch.hpp>
#include <numeric>

#include "sims/formats/layers_file.h"

namespace espalier {
namespace {

std::vector<Layer> workload_layers(const std::string& name) {
  TrainingConfig config;
  config.network = name;
  Diagnostics diagnostics;
  return load_layers(config, {}, diagnostics).value();
}

WorkloadSpec with_samples(std::uint32_t mini_batch) {
  WorkloadSpec spec;
  spec.mini_batch = mini_batch;
  return spec;
}

double time_of(const Workload& workload, bool forward) {
  double time = 0;
  for (const ComputeStep& step : workload.steps) {
    if (is_forward(step.phase) == forward) time += step.nanoseconds;
  }
  return time;
}

Bytes bytes_of(const Workload& workload, CollectiveOp op, Parallelism parallelism) {
  Bytes bytes = 0;
  for (const Communication& c : workload.communications) {
    if (c.op.op == op && c.parallelism == parallelism) bytes += c.op.bytes;
  }
  return bytes;
}

Approx near_to(double value) { return Approx(value).epsilon(1e-9); }

}  // namespace

TEST_CASE("The roofline is the longer of multiplying and of moving matrices") {
  RooflineSpec spec;
  spec.flops_per_second = 1e12;
  CHECK(gemm_nanoseconds({10, 20, 30}, 1, spec) == near_to(12));
  CHECK(gemm_nanoseconds({10, 20, 30}, 3, spec) == near_to(36));
  CHECK(memory_nanoseconds(100, spec) == 0);
  spec.bytes_per_second = 1e11;
  CHECK(gemm_nanoseconds({10, 20, 30}, 1, spec) == near_to((300 + 600 + 200) * 2 / 100.0));
  CHECK(memory_nanoseconds(100, spec) == near_to(1));
}

TEST_CASE("A data-parallel network exchanges all its gradients at once, or layer by layer") {
  const std::vector<Layer> layers = workload_layers("resnet152");
  WorkloadSpec spec = with_samples(32);
  const Workload bulk = data_parallel_workload("resnet152", layers, spec);
  REQUIRE(bulk.communications.size() == 1);
  CHECK(bulk.communications[0].op == CommunicationOp{CollectiveOp::all_reduce,
                                                     2 * (60'192'808 - 151'424 - 1'000),
                                                     CommunicationScope::all});
  CHECK(bulk.communications[0].issued_after == bulk.steps.size() - 1);
  CHECK(bulk.communications[0].waited_before == kIterationEnd);
  spec.exchange = GradientExchange::per_layer;
  const Workload layerwise = data_parallel_workload("resnet152", layers, spec);
  CHECK(layerwise.communications.size() == layers.size());
  CHECK(bytes_of(layerwise, CollectiveOp::all_reduce, Parallelism::data) ==
        bulk.communications[0].op.bytes);
  CHECK(layerwise.communications[0].op.bytes == 2 * 2048 * 1000);  // fc comes first
  CHECK(layerwise.steps[layerwise.communications[0].issued_after].layer == "fc");
  CHECK(time_of(bulk, true) == time_of(layerwise, true));
}

TEST_CASE("Going back takes twice as long as going forward, less the first input gradient") {
  const std::vector<Layer> layers = workload_layers("resnet152");
  const Workload w = data_parallel_workload("resnet152", layers, with_samples(32));
  // 11.3 G multiply-accumulates of one sample (He et al., Table 1), at 312 TFLOPS.
  CHECK(time_of(w, true) == Approx(11.3e9 * 2 * 32 / 312e3).epsilon(0.02));
  CHECK(time_of(w, false) == near_to(2 * time_of(w, true) - w.steps[0].nanoseconds));
}

TEST_CASE("DLRM's embeddings travel beside the bottom MLP") {
  const Workload w = dlrm_workload({}, with_samples(512));
  REQUIRE(w.communications.size() == 3);
  const Communication& vectors = w.communications[0];
  const Communication& gradients = w.communications[1];
  const Communication& weights = w.communications[2];
  for (const Communication& c : {vectors, gradients}) {
    CHECK(c.op ==
          CommunicationOp{CollectiveOp::all_to_all, 512 * 64 * 64 * 2, CommunicationScope::all});
    CHECK(c.parallelism == Parallelism::model);
  }
  CHECK(w.steps[vectors.issued_after].layer == "embedding");
  CHECK(w.steps[vectors.issued_after + 1].layer == "bottom1");
  CHECK(w.steps[vectors.waited_before].layer == "top1");
  CHECK(w.steps[gradients.issued_after].layer == "top1");
  CHECK(w.steps[gradients.issued_after].phase == ComputePhase::input_gradient);
  CHECK(w.steps[gradients.waited_before].layer == "embedding");
  CHECK(gradients.waited_before == w.steps.size() - 1);
  constexpr Bytes kBottom = 1600 * 1024 + 5 * 1024 * 1024 + 1024 * 64;
  constexpr Bytes kTop = 65 * 64 * 2048 + 10 * 2048 * 2048 + 2048;
  CHECK(weights.op ==
        CommunicationOp{CollectiveOp::all_reduce, 2 * (kBottom + kTop), CommunicationScope::all});
  CHECK(weights.op.bytes == 114'823'168);
  CHECK(w.steps[weights.issued_after].layer == "bottom1");
  CHECK(weights.waited_before == kIterationEnd);
  CHECK(time_of(w, true) == near_to((kBottom + kTop) * 512 * 2 / 312e3));
}

TEST_CASE("Transformer-1T has a trillion weights, each layer in 128 parts") {
  const Workload w = transformer_workload({}, with_samples(16));
  const Bytes gradients = bytes_of(w, CollectiveOp::reduce_scatter, Parallelism::data);
  CHECK(static_cast<double>(gradients) / 2 * 128 == Approx(1e12).epsilon(0.01));
  CHECK(bytes_of(w, CollectiveOp::all_gather, Parallelism::data) == gradients);
  // ZeRO, section 8: six all-reduces of batch x sequence x hidden per layer; and P_a's all-gather.
  constexpr Bytes kActivations = Bytes{16} * 2048 * 25600 * 2;
  CHECK(bytes_of(w, CollectiveOp::all_reduce, Parallelism::model) == 128 * 6 * kActivations);
  CHECK(bytes_of(w, CollectiveOp::all_gather, Parallelism::model) == 128 * kActivations);
  // 96 B s l h^2 (1 + s / 6h) with recomputation (Narayanan et al., section 5.1), in 128 parts.
  const double flops = 96.0 * 16 * 2048 * 128 * 25600 * 25600 * (1 + 2048 / (6 * 25600.0)) / 128;
  CHECK(time_of(w, true) + time_of(w, false) == near_to(flops / 312e3));
  CHECK(time_of(w, true) == near_to(time_of(w, false)));  // because of recomputation
  for (const Communication& c : w.communications) {
    if (c.parallelism == Parallelism::model) {
      CHECK(c.op.scope == CommunicationScope::model);
      CHECK(c.waited_before == c.issued_after + 1);
    } else {
      CHECK(c.op.scope == CommunicationScope::data);
      CHECK(c.waited_before == kIterationEnd);
    }
  }
}

TEST_CASE("Weight gradients may be computed while input gradients are exchanged") {
  TransformerShape shape;
  shape.layers = 2;
  shape.gather_checkpoints = false;
  shape.overlap_weight_gradient = true;
  const Workload w = transformer_workload(shape, with_samples(1));
  std::size_t overlapped = 0;
  for (const Communication& c : w.communications) {
    CHECK((c.parallelism == Parallelism::data || c.op.op == CollectiveOp::all_reduce));
    if (c.waited_before == c.issued_after + 2) {
      ++overlapped;
      CHECK(w.steps[c.issued_after].phase == ComputePhase::input_gradient);
      CHECK(w.steps[c.issued_after + 1].phase == ComputePhase::weight_gradient);
    }
  }
  CHECK(overlapped == 4);
}

}  // namespace espalier
