// The workloads of Themis' evaluation (section 5.2), from their published architectures. Weights
// are matrices only: no biases, no normalization. Computing is matrix products only.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sims/workload/training/layer.h"
#include "sims/workload/training/roofline.h"
#include "sims/workload/training/workload.h"

namespace espalier {

// When data-parallel NPUs exchange the gradients of their weights.
enum class GradientExchange : std::uint8_t {
  bulk,      // one operation with all of them after back-propagation
  per_layer  // each layer's when it is complete; waited for after back-propagation
};

struct WorkloadSpec {
  std::uint32_t mini_batch = 1;  // samples per NPU; of a model-parallel group: all work on the same
  Bytes element_bytes = 2;       // of gradients and activations: FP16 (section 5.2)
  RooflineSpec roofline;
  // "Exposed communication occurs at the end of back-propagation, where NPUs communicate their
  // locally computed weight gradients" (section 6.2).
  GradientExchange exchange = GradientExchange::bulk;
};

// Every NPU has the whole network: ResNet-152, GNMT. Layers in forward order, as those of
// sims/workload/training/iteration.h.
[[nodiscard]] Workload data_parallel_workload(const std::string& name,
                                              const std::vector<Layer>& layers,
                                              const WorkloadSpec& spec);

// Recommendation: dense features go through the bottom MLP, sparse ones through embedding tables;
// the top MLP gets both side by side (Naumov et al., arXiv 1906.00091). The default is what the
// message sizes and compute times of the ASTRA-sim authors' public DLRM workload amount to: 57.4 M
// weights in the MLPs, 4 MiB of embeddings per NPU at 512 samples.
struct DlrmShape {
  std::vector<std::uint32_t> bottom{1600, 1024, 1024, 1024, 1024, 1024, 1024, 64};
  std::vector<std::uint32_t> top{2048, 2048, 2048, 2048, 2048, 2048,
                                 2048, 2048, 2048, 2048, 2048, 1};  // outputs of its layers
  std::uint32_t tables = 64;
  std::uint32_t embedding = 64;  // elements of a vector; bottom.back() as well
  std::uint32_t lookups = 1;     // rows of a table that are added up for a vector
};

// MLPs data-parallel, tables spread over all NPUs. An all_to_all brings every NPU the vectors of
// its samples beside the bottom MLP, before the top MLP; another one takes their gradients back
// beside the bottom MLP's back-propagation and is waited for before the tables are updated (section
// 6.2).
[[nodiscard]] Workload dlrm_workload(const DlrmShape& shape, const WorkloadSpec& spec);

// A decoder-only Transformer; the default is the one-trillion-parameter configuration of Narayanan
// et al. (SC 2021, Table 1). Embedding and logits are left out: 0.13 % of its weights. Heads are
// shared out evenly whatever their number.
struct TransformerShape {
  std::uint32_t layers = 128;
  std::uint32_t hidden = 25600;
  std::uint32_t sequence = 2048;
  std::uint32_t model_npus = 128;  // divides hidden
  // Back-propagation does not wait for a layer's input gradient before it computes the weight
  // gradient of that layer, but before the next one.
  bool overlap_weight_gradient = false;
  // Activations kept for back-propagation are shared out over the group and collected again before
  // a layer is recomputed (ZeRO's P_a, Rajbhandari et al., SC 2020, section 6.1): the all-gather of
  // section 6.2.
  bool gather_checkpoints = true;
};

// Megatron's tensor parallelism (Shoeybi et al., arXiv 1909.08053): two all-reduces of the
// activations of a layer's samples each time that it goes forward, two when it goes back, and it
// goes forward once more for back-propagation (ZeRO, section 8). Data-parallel NPUs reduce-scatter
// their gradients and all-gather the parameters that each has updated (ZeRO stage 2).
[[nodiscard]] Workload transformer_workload(const TransformerShape& shape,
                                            const WorkloadSpec& spec);

}  // namespace espalier
