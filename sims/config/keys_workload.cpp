// Keys of the section `workload`.
#include "sims/config/key_builders.h"

namespace espalier {

using namespace key_builders;

void add_workload_keys(std::vector<Key>& table) {
  table.push_back(required(listable(choice_key<WorkloadKind>(
      "workload.name", "what is trained (Themis, section 5.2)",
      [](auto& p) -> auto& { return p.workload->kind; }))));
  table.push_back(integer_key(
      "workload.iterations", 1, 1'000'000, "one after the other",
      [](auto& p) -> auto& { return p.workload->iterations; }));
  table.push_back(or_word(
      integer_key(
          "workload.mini_batch", 1, 1ULL << 20,
          "samples per NPU, transformer_1t: per model-parallel group; auto: 32 for resnet152, 128 "
          "for gnmt, 512 for dlrm, 16 for transformer_1t",
          [](auto& p) -> auto& { return p.workload->mini_batch; }),
      "auto"));
  table.push_back(choice_key<GradientExchange>(
      "workload.exchange",
      "bulk: all gradients after back-propagation; per_layer: each layer's when it is complete",
      [](auto& p) -> auto& { return p.workload->exchange; }));
  table.push_back(only_when(
      integer_key(
          "workload.model_npus", 2, 1ULL << 20, "NPUs of a model-parallel group",
          [](auto& p) -> auto& { return p.workload->model_npus; }),
      "workload.name", "transformer_1t",
      [](const RunPoint& p) { return p.workload->kind == WorkloadKind::transformer_1t; }));
  table.push_back(integer_key(
      "workload.compute.tflops", 1, 1'000'000, "of an NPU; a multiply-accumulate is two FLOP",
      [](auto& p) -> auto& { return p.workload->tflops; }));
  table.push_back(or_word(number_key(
                              ValueType::rate, "workload.compute.memory", 1'000'000,
                              1'000'000'000'000'000, "of an NPU; unlimited: never the bottleneck",
                              [](auto& p) -> auto& { return p.workload->memory_bytes_per_second; }),
                          "unlimited"));
}

}  // namespace espalier
