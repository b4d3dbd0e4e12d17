// The work of a training step as text: workloads of ASTRA-sim 1.0, AICB and SimAI, and AICB's
// tables of operations. Every rank does the same work.
//
//   HYBRID_TRANSFORMER_FWD_IN_BCKWD model_parallel_NPU_group: 2 checkpoints: 0 ...
//   1            # the number of lines that follow
//   mlp -1 700 ALLREDUCE 4096 350 ALLREDUCE 4096 350 ALLREDUCE 8192 100
//
// A line has a name, a word without meaning, and for the forward pass, the gradient of the input
// and the gradient of the weights each a computation (ns), a collective and its bytes; then the ns
// of the update after the last collective. A step runs forward along the lines, then back, first
// the gradient of the input. Collectives block, but nothing waits for those of the weights except
// their updates. It repeats the forward pass from a checkpoint before the gradients of a line in
// checkpoint_initiates. MICRO runs the collectives of the weights one after the other.
//
//   [rank0 ~ rank127]
//   comm_type,comm_group,comm_group_size,msg_size,stage,dst,src,...
//   CommType.all_reduce,CommGroup.dp_group,16,8,init.model_setup,None,None,...
//
// Each operation of a table waits for the one before.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "sims/point/training_config.h"
#include "sims/text/diagnostics.h"
#include "sims/workload/graph/work_graph.h"

namespace espalier {

// Whether the text begins like one of the formats.
[[nodiscard]] bool is_llm_workload(std::string_view text);

struct LlmWorkloadText {
  std::string path;
  std::string text;
};

// The configuration's file, if it has one of the formats.
[[nodiscard]] std::optional<LlmWorkloadText> llm_workload_text(const WorkloadConfig& config);

// The work of `ranks` ranks, which a number in the file must agree with. Warns of what SimAI adds
// with a formula: the stages of a pipeline. `file_name` is for diagnostics. Precondition:
// is_llm_workload(text), ranks > 0. Null after an error.
[[nodiscard]] std::shared_ptr<const WorkGraph> parse_llm_workload(const std::string& file_name,
                                                                  const std::string& text,
                                                                  std::size_t ranks,
                                                                  Diagnostics& diagnostics);

}  // namespace espalier
