// Keys of sections `training` and `workload`: computation between the collectives.
#include "sims/config/key_table.h"
#include "sims/workload/training/layer.h"

namespace espalier {

void add_training_keys(KeyTable& table) {
  constexpr std::uint64_t kMostArrays = 1ULL << 16;
  const auto training = table.group("training", &RunPoint::training);
  const auto compute =
      table.group("training.compute", &RunPoint::training, &TrainingConfig::compute);
  std::vector<std::string> networks;
  for (const BuiltInNetwork& network : built_in_networks()) networks.emplace_back(network.name);
  training.path("file", &TrainingConfig::file)
      .doc("file with the layers, a SCALE-Sim topology file, relative to this file's folder");
  training.named("network", &TrainingConfig::network, networks)
      .only(table.without_path("training.file"))
      .or_file("training.file")
      .required()
      .doc("a built-in network (espalier list networks)");
  training.choice("overlap", &TrainingConfig::overlap)
      .doc(
          "none: one all-reduce after back-propagation; layerwise: one all-reduce for each layer, "
          "as soon as its gradient is complete");
  training.integer("mini_batch", &TrainingConfig::mini_batch)
      .range(1, 1ULL << 20)
      .doc("samples per accelerator and iteration");
  compute.integer("pes", &ComputeSpec::pes)
      .range(1, kMostArrays)
      .doc("number of processing elements; each is a systolic array");
  compute.integer("rows", &ComputeSpec::rows).range(1, kMostArrays).doc("rows of a systolic array");
  compute.integer("columns", &ComputeSpec::columns)
      .range(1, kMostArrays)
      .doc("columns of a systolic array");
  compute.choice("sharing", &ComputeSpec::sharing)
      .doc(
          "division of the work: each processing element computes whole samples, or folds of the "
          "mini-batch");
}

void add_workload_keys(KeyTable& table) {
  const auto workload = table.group("workload", &RunPoint::workload);
  workload.choice("name", &WorkloadConfig::kind)
      .required()
      .doc("workload that is trained (Themis, section 5.2)");
  workload.integer("iterations", &WorkloadConfig::iterations)
      .range(1, 1'000'000)
      .doc("number of iterations, one after the other");
  workload.integer("mini_batch", &WorkloadConfig::mini_batch)
      .range(1, 1ULL << 20)
      .word("auto")
      .doc(
          "samples per NPU (transformer_1t: per model-parallel group); auto: 32 for resnet152, 128 "
          "for gnmt, 512 for dlrm, 16 for transformer_1t");
  workload.choice("exchange", &WorkloadConfig::exchange)
      .doc(
          "bulk: all gradients are all-reduced after back-propagation; per_layer: each layer's "
          "gradient is all-reduced when it is complete");
  workload.integer("model_npus", &WorkloadConfig::model_npus)
      .range(2, 1ULL << 20)
      .only(table.where("workload.name", {"transformer_1t"}))
      .doc("number of NPUs in a model-parallel group");
  workload.integer("compute.tflops", &WorkloadConfig::tflops)
      .range(1, 1'000'000)
      .doc("TFLOP/s of an NPU; a multiply-accumulate counts as two FLOP");
  workload.rate("compute.memory", &WorkloadConfig::memory_bytes_per_second)
      .range(1'000'000, 1'000'000'000'000'000)
      .word("unlimited")
      .doc("memory bandwidth of an NPU; unlimited: never the bottleneck");
}

}  // namespace espalier
