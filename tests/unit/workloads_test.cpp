// The workloads of Themis' evaluation against their published sizes.
#include "sims/workload/training/workload.h"

#include <algorithm>
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

struct Step {
  std::string layer;
  double nanoseconds;
};
constexpr std::size_t kIterationEnd = ~std::size_t{0};
struct Communication {
  CommunicationOp op;
  TimePart part;
  std::size_t issued_after;                   // number of a step
  std::size_t waited_before = kIterationEnd;  // number of a later step
};
constexpr TimePart kForward = TimePart::forward;
constexpr TimePart kBackward = TimePart::backward;
// The work of a workload as steps, and what is issued and awaited between them.
struct Listed : Workload {
  std::vector<Step> steps;
  std::vector<Communication> communications;
};

Listed list_of(const Workload& workload) {
  Listed listed;
  static_cast<Workload&>(listed) = workload;
  std::vector<std::size_t> number;  // by node, among the steps or the communications
  const RankWork& work = workload.work;
  const std::vector<CommunicationOp> operations = workload.operations();
  for (std::size_t n = 0; n < work.nodes.size(); ++n) {
    const WorkNode& node = work.nodes[n];
    if (node.kind == WorkKind::collective) {
      number.push_back(listed.communications.size());
      listed.communications.push_back(
          {operations[number.back()], workload.parts[n], number[work.waits[work.first_wait[n]]]});
      continue;
    }
    number.push_back(listed.steps.size());
    listed.steps.push_back(
        {workload.names[node.name], static_cast<double>(node.picoseconds) / 1e3});
    for (std::uint32_t w = work.first_wait[n]; w < work.first_wait[n + 1]; ++w) {
      if (work.nodes[work.waits[w]].kind != WorkKind::collective) continue;
      listed.communications[number[work.waits[w]]].waited_before = number.back();
    }
  }
  return listed;
}

double time_of(const Workload& workload, TimePart part) {
  double time = 0;
  for (std::size_t n = 0; n < workload.parts.size(); ++n) {
    if (workload.parts[n] != part) continue;
    time += static_cast<double>(workload.work.nodes[n].picoseconds) / 1e3;
  }
  return time;
}

Bytes bytes_of(const Workload& workload, CollectiveOp op, TimePart part) {
  Bytes bytes = 0;
  const std::vector<CommunicationOp> operations = workload.operations();
  std::size_t next = 0;
  for (std::size_t n = 0; n < workload.parts.size(); ++n) {
    if (workload.work.nodes[n].kind != WorkKind::collective) continue;
    const CommunicationOp& of = operations[next++];
    if (of.op == op && workload.parts[n] == part) bytes += of.bytes;
  }
  return bytes;
}

Approx near_to(double value) { return Approx(value).epsilon(1e-7); }

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
  const Listed bulk = list_of(data_parallel_workload("resnet152", layers, spec));
  REQUIRE(bulk.communications.size() == 1);
  CHECK(bulk.communications[0].op == CommunicationOp{CollectiveOp::all_reduce,
                                                     2 * (60'192'808 - 151'424 - 1'000),
                                                     CommunicationScope::all});
  CHECK(bulk.communications[0].issued_after == bulk.steps.size() - 1);
  CHECK(bulk.communications[0].waited_before == kIterationEnd);
  spec.exchange = GradientExchange::per_layer;
  const Listed layerwise = list_of(data_parallel_workload("resnet152", layers, spec));
  CHECK(layerwise.communications.size() == layers.size());
  CHECK(bytes_of(layerwise, CollectiveOp::all_reduce, TimePart::data) ==
        bulk.communications[0].op.bytes);
  CHECK(layerwise.communications[0].op.bytes == 2 * 2048 * 1000);  // fc comes first
  CHECK(layerwise.steps[layerwise.communications[0].issued_after].layer == "fc");
  CHECK(time_of(bulk, kForward) == time_of(layerwise, kForward));
}

TEST_CASE("Going back takes twice as long as going forward, less the first input gradient") {
  const std::vector<Layer> layers = workload_layers("resnet152");
  const Listed w = list_of(data_parallel_workload("resnet152", layers, with_samples(32)));
  // 11.3 G multiply-accumulates of one sample (He et al., Table 1), at 312 TFLOPS.
  CHECK(time_of(w, kForward) == Approx(11.3e9 * 2 * 32 / 312e3).epsilon(0.02));
  CHECK(time_of(w, kBackward) == near_to(2 * time_of(w, kForward) - w.steps[0].nanoseconds));
}

TEST_CASE("DLRM's embeddings travel beside the bottom MLP") {
  const Listed w = list_of(dlrm_workload({}, with_samples(512)));
  REQUIRE(w.communications.size() == 3);
  const Communication& vectors = w.communications[0];
  const Communication& gradients = w.communications[1];
  const Communication& weights = w.communications[2];
  for (const Communication& c : {vectors, gradients}) {
    CHECK(c.op ==
          CommunicationOp{CollectiveOp::all_to_all, 512 * 64 * 64 * 2, CommunicationScope::all});
    CHECK(c.part == TimePart::model);
  }
  CHECK(w.steps[vectors.issued_after].layer == "embedding");
  CHECK(w.steps[vectors.issued_after + 1].layer == "bottom1");
  CHECK(w.steps[vectors.waited_before].layer == "top1");
  CHECK(w.steps[gradients.issued_after].layer == "top1");
  CHECK(w.steps[gradients.issued_after + 1].layer == "top1");  // the weight gradient
  CHECK(w.steps[gradients.waited_before].layer == "embedding");
  CHECK(gradients.waited_before == w.steps.size() - 1);
  constexpr Bytes kBottom = 1600 * 1024 + 5 * 1024 * 1024 + 1024 * 64;
  constexpr Bytes kTop = 65 * 64 * 2048 + 10 * 2048 * 2048 + 2048;
  CHECK(weights.op ==
        CommunicationOp{CollectiveOp::all_reduce, 2 * (kBottom + kTop), CommunicationScope::all});
  CHECK(weights.op.bytes == 114'823'168);
  CHECK(w.steps[weights.issued_after].layer == "bottom1");
  CHECK(weights.waited_before == kIterationEnd);
  CHECK(time_of(w, kForward) == near_to((kBottom + kTop) * 512 * 2 / 312e3));
}

TEST_CASE("Transformer-1T has a trillion weights, each layer in 128 parts") {
  const Listed w = list_of(transformer_workload({}, with_samples(16)));
  const Bytes gradients = bytes_of(w, CollectiveOp::reduce_scatter, TimePart::data);
  CHECK(static_cast<double>(gradients) / 2 * 128 == Approx(1e12).epsilon(0.01));
  CHECK(bytes_of(w, CollectiveOp::all_gather, TimePart::data) == gradients);
  // ZeRO, section 8: six all-reduces of batch x sequence x hidden per layer; and P_a's all-gather.
  constexpr Bytes kActivations = Bytes{16} * 2048 * 25600 * 2;
  CHECK(bytes_of(w, CollectiveOp::all_reduce, TimePart::model) == 128 * 6 * kActivations);
  CHECK(bytes_of(w, CollectiveOp::all_gather, TimePart::model) == 128 * kActivations);
  // 96 B s l h^2 (1 + s / 6h) with recomputation (Narayanan et al., section 5.1), in 128 parts.
  const double flops = 96.0 * 16 * 2048 * 128 * 25600 * 25600 * (1 + 2048 / (6 * 25600.0)) / 128;
  CHECK(time_of(w, kForward) + time_of(w, kBackward) == near_to(flops / 312e3));
  CHECK(time_of(w, kForward) == near_to(time_of(w, kBackward)));  // because of recomputation
  for (const Communication& c : w.communications) {
    if (c.part == TimePart::model) {
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
  const Listed w = list_of(transformer_workload(shape, with_samples(1)));
  std::size_t overlapped = 0;
  for (const Communication& c : w.communications) {
    CHECK((c.part == TimePart::data || c.op.op == CollectiveOp::all_reduce));
    // After the last weight gradient comes the end.
    if (std::min(c.waited_before, w.steps.size()) == c.issued_after + 2) {
      ++overlapped;
      CHECK(w.steps[c.issued_after].layer == w.steps[c.issued_after + 1].layer);
    }
  }
  CHECK(overlapped == 4);
}

}  // namespace espalier
