// Rules of training, workloads and the coordination of hosts.
#include <fmt/format.h>

#include <stdexcept>

#include "sims/config/keys.h"
#include "sims/config/rules.h"
#include "sims/model/build_program.h"
#include "sims/model/build_workload.h"
#include "sims/text/units.h"
#include "sims/workload/training/parallel_groups.h"

namespace espalier {

namespace {

// Larger systems are refused: a ring among more ranks takes hours.
constexpr std::size_t kMostNetworkRanks = 4096;

void check_training_size(const ExaminedPoint& examined) {
  const TrainingConfig& training = *examined.point.training;
  const Place place = examined.given.place_of_first({"training.file", "training.network"});
  const std::uint64_t parameters = count_parameters(training.layers);
  if (parameters > kLargestCollective / examined.point.collective->element_bytes) {
    examined.diagnostics.error(
        place,
        fmt::format("training: the gradients of {} parameters exceed the largest collective, {}",
                    parameters, format_quantity(Quantity::size, kLargestCollective)));
  }
  const IterationPlan plan = plan_iteration(training.layers, training.mini_batch, training.compute);
  if (plan.compute() > kLongestRunCycles) {
    examined.diagnostics.error(place, fmt::format("training: the computation of an iteration takes "
                                                  "more than {} cycles, which is the limit",
                                                  kLongestRunCycles));
  }
}

void check_training(const ExaminedPoint& examined) {
  const RunPoint& point = examined.point;
  const CollectiveOp op = point.collective->op;
  if (op != CollectiveOp::all_reduce && examined.given.usable({"collective.op"})) {
    examined.diagnostics.error(
        examined.given.place_of_value("collective.op", static_cast<std::uint64_t>(op)),
        "collective.op: training all-reduces its gradients, so the operation must be all_reduce",
        "write all_reduce, which is the default, or remove the key");
  }
  if (point.system.topology.is_dimensional()) {
    examined.diagnostics.error(
        examined.given.place_of_section("training"),
        "training: this section does not run on a multi-dimensional system; section workload does",
        "for example workload: {name: resnet152}");
    return;
  }
  if (has_program(point)) {
    examined.diagnostics.error(examined.place_of_algorithm(),
                               "collective.algorithm: training needs a schedule, but this "
                               "algorithm is a collective program",
                               "use an algorithm such as ring or multitree");
    return;
  }
  if (!point.training->layers.empty() &&
      examined.given.usable({"training.mini_batch", "training.compute.pes", "training.compute.rows",
                             "training.compute.columns", "training.compute.sharing"})) {
    check_training_size(examined);
  }
}

void check_workload(const ExaminedPoint& examined) {
  if (!examined.point.workload->file.empty()) return;
  if (examined.point.workload->tflops == 0) {
    examined.report({"workload.compute.tflops", "workload.name"},
                    "workload.compute.tflops: a named workload has no recorded times",
                    "write a number of TFLOP/s");
  }
  if (!examined.point.system.topology.is_dimensional()) {
    examined.diagnostics.error(examined.given.place_of("workload.name"),
                               "workload: a workload runs only on a multi-dimensional system",
                               "set system.topology.type to dimensions or astra_network");
    return;
  }
  examined.given.rule(
      {"workload.mini_batch", "workload.compute.tflops", "workload.compute.memory", "workload.name",
       "workload.model_npus"},
      [&](const Place& at) {
        const WorkloadConfig& workload = *examined.point.workload;
        if (workload.tflops != 0 && build_workload(workload).computing() > kLongestIteration) {
          examined.diagnostics.error(
              at, "workload: computing takes more than 104 days an iteration, which is the limit",
              "write fewer samples in workload.mini_batch or a faster workload.compute");
        }
      });
  if (examined.topology == nullptr) return;
  examined.given.rule({"workload.model_npus", "workload.name"}, [&](const Place& at) {
    const std::uint64_t npus = model_npus_of(*examined.point.workload);
    if (TransformerShape{}.hidden % npus != 0) {
      examined.diagnostics.error(
          at, fmt::format("workload.model_npus: {} is not a divisor of the hidden size, {}", npus,
                          TransformerShape{}.hidden));
      return;
    }
    try {
      static_cast<void>(split_groups(examined.topology->dimensions()->dimensions, npus));
    } catch (const std::invalid_argument& refused) {
      examined.diagnostics.error(at, fmt::format("workload.model_npus: {}", refused.what()));
    }
  });
}

void check_planes(const ExaminedPoint& examined) {
  const CoordinationConfig& config = *examined.point.coordination;
  const GivenKeys& given = examined.given;
  const std::size_t ranks = examined.topology->num_nodes();
  const bool control = is_on_network(config.control_plane, ranks, kMostControlRanks);
  const bool data = is_on_network(config.data_plane, ranks, kMostDataRanks);
  if (data && !control) {
    examined.diagnostics.error(
        given.place_of_first({"coordination.data_plane", "coordination.mode"}),
        "coordination.data_plane: all-reduces in the simulated network need control messages in "
        "the simulated network",
        "set coordination.control_plane: network");
  }
  if (control && ranks > kMostNetworkRanks) {
    examined.diagnostics.error(
        given.place_of("coordination.control_plane"),
        fmt::format(
            "coordination.control_plane: the network has {} ranks; at most {} ranks are simulated",
            ranks, kMostNetworkRanks),
        "set coordination.control_plane: closed_form");
  }
  // The closed forms hold only for a network without faults.
  if (control && data) return;
  for (const char* fault : {"faults.slow_links", "faults.dma_jitter.max_cycles"}) {
    if (!given.is_given(fault)) continue;
    examined.diagnostics.error(
        given.place_of(fault), fmt::format("{}: a closed form cannot describe faults", fault),
        control ? "set coordination.data_plane: network"
                : "set coordination.control_plane and coordination.data_plane to network");
  }
}

}  // namespace

void check_training_and_workload(const ExaminedPoint& examined) {
  const RunPoint& point = examined.point;
  if (point.workload) check_workload(examined);
  if (point.collective && point.training) check_training(examined);
}

void check_coordination(const ExaminedPoint& examined) {
  if (!examined.point.coordination) return;
  const GivenKeys& given = examined.given;
  const auto refuse_section = [&](const char* section, const char* why) {
    if (!given.has_section(section)) return;
    examined.diagnostics.error(given.place_of_section(section),
                               fmt::format("{}: {}", section, why));
  };
  refuse_section(
      "control",
      "a coordinated job sends its own control messages, so section control must be removed");
  refuse_section("tenants",
                 "a coordinated job does not run with other tenants; remove section tenants");
  for (const char* fault : {"faults.late_nis", "faults.clock_skew"}) {
    if (!given.is_given(fault)) continue;
    examined.diagnostics.error(
        given.place_of(fault),
        fmt::format("{}: this fault does not act on a coordinated job", fault),
        "use coordination.rank_skew and coordination.jitter to delay hosts");
  }
  if (examined.topology != nullptr) check_planes(examined);
}

}  // namespace espalier
