// A training iteration of one NPU: its computing steps in order, and its concurrent communication
// (Themis, sections 5.2 and 6.2), as work of a graph; and the workloads of Themis' evaluation. The
// times of communication are computed elsewhere.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "alg/schedule/schedule.h"
#include "hw/ids.h"
#include "sims/workload/graph/work_graph.h"
#include "sims/workload/training/compute_model.h"
#include "sims/workload/training/layer.h"

namespace espalier {

// Which NPUs take part, see parallel_groups.h.
enum class CommunicationScope : std::uint8_t { all, model, data };

// `bytes` is as in CollectiveConfig::size. all_reduce, reduce_scatter: input of each NPU.
// all_gather: the result. all_to_all: what each NPU sends, including its own part.
struct CommunicationOp {
  CollectiveOp op = CollectiveOp::all_reduce;
  Bytes bytes = 0;
  CommunicationScope scope = CommunicationScope::all;
  friend bool operator==(const CommunicationOp& a, const CommunicationOp& b) {
    return a.op == b.op && a.bytes == b.bytes && a.scope == b.scope;
  }
};

// The part of an iteration (Fig. 12) to which a node's time belongs; that of communication, if it
// is exposed. It may differ from the scope: DLRM's embeddings are model-parallel and go to all
// NPUs.
enum class TimePart : std::uint8_t {
  forward,  // computing; also what back-propagation computes again
  backward,
  data,  // communication
  model,
};

// Picoseconds: 104 days. Sums of times that are not longer never overflow.
inline constexpr double kLongestIteration = 9e18;

struct Workload {
  std::string name;
  std::vector<std::string> names;  // as WorkGraph::names: the layers of steps
  // Of every NPU, in the order of issue. A collective's group is its scope. Times are rounded to
  // picoseconds; a step is cut to kLongestIteration.
  RankWork work;
  std::vector<TimePart> parts;  // by node

  // The functions below add to a workload, step by step, and return the number of the node.
  std::uint32_t compute(const std::string& layer, TimePart part, double nanoseconds) {
    WorkNode node;
    node.kind = WorkKind::compute;
    node.picoseconds =
        static_cast<std::uint64_t>(std::llround(std::min(nanoseconds * 1e3, kLongestIteration)));
    node.name = static_cast<std::uint32_t>(names.size());
    names.push_back(layer);
    next_waits_ = {add(node, part, next_waits_)};
    return next_waits_[0];
  }
  // Issues an operation after the last step so far. The end of the iteration waits for the
  // operation.
  std::uint32_t issue(const CommunicationOp& op, TimePart part) {
    WorkNode node;
    node.kind = WorkKind::collective;
    node.op = op.op;
    node.bytes = op.bytes;
    node.group = static_cast<std::uint32_t>(op.scope);
    return add(node, part, {next_waits_[0]});
  }
  // The next step waits for communication `c`.
  void wait(std::uint32_t c) { next_waits_.push_back(c); }
  void issue_blocking(const CommunicationOp& op, TimePart part) { wait(issue(op, part)); }

  // Picoseconds of all steps together.
  [[nodiscard]] double computing() const {
    double sum = 0;
    for (const WorkNode& node : work.nodes) sum += static_cast<double>(node.picoseconds);
    return sum;
  }
  // In the order of issue, each as often as it is issued.
  [[nodiscard]] std::vector<CommunicationOp> operations() const {
    std::vector<CommunicationOp> operations;
    for (const WorkNode& node : work.nodes) {
      if (node.kind != WorkKind::collective) continue;
      operations.push_back({node.op, node.bytes, static_cast<CommunicationScope>(node.group)});
    }
    return operations;
  }

 private:
  std::uint32_t add(WorkNode node, TimePart part, const std::vector<std::uint32_t>& after) {
    node.id = work.nodes.size();
    parts.push_back(part);
    return work.add(node, after);
  }

  std::vector<std::uint32_t> next_waits_;  // of the next step: the last step, and communication
};

// When data-parallel NPUs exchange their weight gradients.
enum class GradientExchange : std::uint8_t {
  bulk,      // all gradients in one operation, after back-propagation
  per_layer  // each layer's gradient when it is complete
};

struct WorkloadSpec {
  // Samples per NPU; a model-parallel group works on the same samples.
  std::uint32_t mini_batch = 1;
  Bytes element_bytes = 2;  // of gradients and activations: FP16 (section 5.2)
  RooflineSpec roofline;
  // "Exposed communication occurs at the end of back-propagation, where NPUs communicate their
  // locally computed weight gradients" (section 6.2).
  GradientExchange exchange = GradientExchange::bulk;
};

// The workloads of Themis' evaluation (section 5.2) follow their published architectures. Weights
// and computing count matrix products alone, without biases and normalization.

// Every NPU has the whole network: ResNet-152, GNMT. Layers are in forward order.
[[nodiscard]] Workload data_parallel_workload(const std::string& name,
                                              const std::vector<Layer>& layers,
                                              const WorkloadSpec& spec);

// Recommendation (Naumov et al., arXiv 1906.00091): dense features go through the bottom MLP,
// sparse ones through embedding tables, and the top MLP gets both. The default is derived from
// message sizes and compute times of the ASTRA-sim authors' public DLRM workload: 57.4 M weights in
// the MLPs, 4 MiB of embeddings per NPU at 512 samples.
struct DlrmShape {
  std::vector<std::uint32_t> bottom{1600, 1024, 1024, 1024, 1024, 1024, 1024, 64};
  std::vector<std::uint32_t> top{2048, 2048, 2048, 2048, 2048, 2048,
                                 2048, 2048, 2048, 2048, 2048, 1};  // outputs of its layers
  std::uint32_t tables = 64;
  std::uint32_t embedding = 64;  // elements of a vector; equals bottom.back()
  std::uint32_t lookups = 1;     // rows of a table that add up to a vector
};

// The MLPs are data-parallel; the tables are spread over all NPUs (section 6.2). One all_to_all
// brings every NPU the vectors of its samples while the bottom MLP runs, before the top MLP.
// Another one returns their gradients during the bottom MLP's back-propagation, before the tables
// are updated.
[[nodiscard]] Workload dlrm_workload(const DlrmShape& shape, const WorkloadSpec& spec);

// A decoder-only Transformer. The default is the configuration of one trillion parameters of
// Narayanan et al. (SC 2021, Table 1), without embedding and logits, 0.13 % of its weights. Heads
// are divided evenly over NPUs, whatever their number.
struct TransformerShape {
  std::uint32_t layers = 128;
  std::uint32_t hidden = 25600;
  std::uint32_t sequence = 2048;
  std::uint32_t model_npus = 128;  // divides hidden
  // Back-propagation waits for the exchange of a layer's input gradient after the layer's weight
  // gradient instead of before it.
  bool overlap_weight_gradient = false;
  // The group divides the activations that it keeps for back-propagation, and gathers them before a
  // layer is recomputed (ZeRO's P_a, Rajbhandari et al., SC 2020, section 6.1): the all-gather of
  // section 6.2.
  bool gather_checkpoints = true;
};

// Megatron's tensor parallelism (Shoeybi et al., arXiv 1909.08053): each pass of a layer, forward
// or back, has two all-reduces of the activations. Back-propagation recomputes the layer, which is
// one more forward pass (ZeRO, section 8). Data-parallel NPUs reduce-scatter their gradients and
// all-gather the parameters that each has updated (ZeRO stage 2).
[[nodiscard]] Workload transformer_workload(const TransformerShape& shape,
                                            const WorkloadSpec& spec);

}  // namespace espalier
