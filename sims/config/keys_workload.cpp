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
  training.path("file", &TrainingConfig::file);
  training.named("network", &TrainingConfig::network, networks)
      .only(table.without_path("training.file"))
      .or_file("training.file")
      .required();
  training.choice("overlap", &TrainingConfig::overlap);
  training.integer("mini_batch", &TrainingConfig::mini_batch).range(1, 1ULL << 20);
  compute.integer("pes", &ComputeSpec::pes).range(1, kMostArrays);
  compute.integer("rows", &ComputeSpec::rows).range(1, kMostArrays);
  compute.integer("columns", &ComputeSpec::columns).range(1, kMostArrays);
  compute.choice("sharing", &ComputeSpec::sharing);
}

void add_workload_keys(KeyTable& table) {
  const auto workload = table.group("workload", &RunPoint::workload);
  workload.choice("name", &WorkloadConfig::kind).required();
  workload.integer("iterations", &WorkloadConfig::iterations).range(1, 1'000'000);
  workload.integer("mini_batch", &WorkloadConfig::mini_batch).range(1, 1ULL << 20).word("auto");
  workload.choice("exchange", &WorkloadConfig::exchange);
  workload.integer("model_npus", &WorkloadConfig::model_npus)
      .range(2, 1ULL << 20)
      .only(table.where("workload.name", {"transformer_1t"}));
  workload.integer("compute.tflops", &WorkloadConfig::tflops).range(1, 1'000'000);
  workload.rate("compute.memory", &WorkloadConfig::memory_bytes_per_second)
      .range(1'000'000, 1'000'000'000'000'000)
      .word("unlimited");
}

}  // namespace espalier
