#include "sims/model/build_workload.h"

#include "sims/formats/layers_file.h"
#include "sims/point/enum_names.h"

namespace espalier {

namespace {

// Mini-batch of each NPU (Themis, section 5.2).
std::uint32_t published_mini_batch(WorkloadKind kind) {
  switch (kind) {
    case WorkloadKind::resnet152:
      return 32;
    case WorkloadKind::gnmt:
      return 128;
    case WorkloadKind::dlrm:
      return 512;
    case WorkloadKind::transformer_1t:
      break;
  }
  return 16;
}

std::vector<Layer> layers_of(const std::string& network) {
  TrainingConfig config;
  config.network = network;
  Diagnostics nothing_wrong;
  return load_layers(config, {}, nothing_wrong).value();
}

}  // namespace

Workload build_workload(const WorkloadConfig& config) {
  WorkloadSpec spec;
  spec.mini_batch = config.mini_batch == 0 ? published_mini_batch(config.kind) : config.mini_batch;
  spec.exchange = config.exchange;
  spec.roofline.flops_per_second = static_cast<double>(config.tflops) * 1e12;
  spec.roofline.bytes_per_second = static_cast<double>(config.memory_bytes_per_second);
  switch (config.kind) {
    case WorkloadKind::resnet152:
    case WorkloadKind::gnmt:
      break;
    case WorkloadKind::dlrm:
      return dlrm_workload({}, spec);
    case WorkloadKind::transformer_1t: {
      TransformerShape shape;
      shape.model_npus = config.model_npus;
      return transformer_workload(shape, spec);
    }
  }
  const std::string name = name_of(config.kind);
  return data_parallel_workload(name, layers_of(name), spec);
}

std::uint64_t model_npus_of(const WorkloadConfig& config) {
  return config.kind == WorkloadKind::transformer_1t ? config.model_npus : 1;
}

}  // namespace espalier
