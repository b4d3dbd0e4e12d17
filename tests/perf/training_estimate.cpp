// training_estimate [TFLOPS [GB/s [per_layer]]]: Themis' Fig. 12 and Fig. 4 by forecast, without
// simulation: times of an iteration of the four workloads on the systems of Table 2.
#include <fmt/format.h>

#include <cstdlib>
#include <string>
#include <vector>

#include "sims/config/reader.h"
#include "sims/formats/layers_file.h"
#include "sims/model/build_topology.h"
#include "sims/workload/training/timeline.h"
#include "sims/workload/training/workload.h"
#include "tests/support/forecast_cost.h"

namespace {

using namespace espalier;

constexpr const char* kSystems[] = {"themis_2d_sw_sw",           "themis_3d_sw_sw_sw_homo",
                                    "themis_3d_sw_sw_sw_hetero", "themis_3d_fc_ring_sw",
                                    "themis_4d_ring_sw_sw_sw",   "themis_4d_ring_fc_ring_sw",
                                    "themis_fig4_current"};  // not one of Table 2: Fig. 4 alone

std::vector<Layer> network(const std::string& name) {
  TrainingConfig config;
  config.network = name;
  Diagnostics diagnostics;
  return *load_layers(config, {}, diagnostics);
}

struct Sum {
  double baseline = 0;
  double ideal = 0;
  double most_baseline = 0;
  double most_ideal = 0;
  double exposed = 0;
  double exposed_ideal = 0;
  double utilization = 0;
  double least = 1;
};

void run(const std::string& name, const WorkloadSpec& spec, Sum& all) {
  const Workload workload = name == "dlrm" ? dlrm_workload({}, spec)
                            : name == "transformer_1t"
                                ? transformer_workload({}, spec)
                                : data_parallel_workload(name, network(name), spec);
  Sum sum;
  for (const char* preset : kSystems) {
    const auto config = read_run_config_text(
        preset,
        fmt::format("system: {{preset: {}}}\ncollective: {{algorithm: themis, size: 1MiB}}\n",
                    preset));
    const RunPoint& point = config.points.at(0);
    const CostSystem system = cost_system(*config.topology, point);
    const ParallelGroups groups =
        split_groups(system.dimensions, name == "transformer_1t" ? 128 : 1);
    PlanRequest request;
    request.element_bytes = spec.element_bytes;
    test::ForecastCost baseline_cost(*config.topology, point, groups, "baseline", request);
    test::ForecastCost themis_cost(*config.topology, point, groups, "themis", request);
    const auto ideal_cost = [&](const CommunicationOp& op) {
      return ideal_ns(op, groups.of(op.scope), system);
    };
    const TrainingTimeline b = run_timeline(workload, groups, baseline_cost, 3);
    const TrainingTimeline t = run_timeline(workload, groups, themis_cost, 3);
    const TrainingTimeline i = run_timeline(workload, groups, ideal_cost, 3);
    double ideal_sum = 0;
    double baseline_sum = 0;
    for (const CommunicationOp& op : workload.operations()) {
      ideal_sum += ideal_cost(op);
      baseline_sum += baseline_cost(op);
    }
    const double utilization = ideal_sum / baseline_sum;
    fmt::print(
        "{:14} {:26} forward {:8.3f} backward {:8.3f} ms | baseline data {:8.3f} model {:8.3f} | "
        "themis {:8.3f} {:8.3f} | ideal {:8.3f} {:8.3f} | speed {:.3f} ideal {:.3f} | exposed "
        "{:.3f} {:.3f} | utilization {:.3f}\n",
        name, preset + 7, b.forward / 3e6, b.backward / 3e6, b.exposed_data / 3e6,
        b.exposed_model / 3e6, t.exposed_data / 3e6, t.exposed_model / 3e6, i.exposed_data / 3e6,
        i.exposed_model / 3e6, b.total() / t.total(), b.total() / i.total(),
        b.exposed() / t.exposed(), b.exposed() / i.exposed(), utilization);
    if (preset == kSystems[6]) break;
    sum.baseline += b.total() / t.total() / 6;
    sum.ideal += b.total() / i.total() / 6;
    sum.most_baseline = std::max(sum.most_baseline, b.total() / t.total());
    sum.most_ideal = std::max(sum.most_ideal, b.total() / i.total());
    sum.exposed += b.exposed() / t.exposed() / 6;
    sum.exposed_ideal += b.exposed() / i.exposed() / 6;
    sum.utilization += utilization / 6;
    sum.least = std::min(sum.least, utilization);
  }
  fmt::print(
      "{:14} mean: themis {:.3f} (max {:.3f}) ideal {:.3f} (max {:.3f}) exposed {:.3f} {:.3f} "
      "utilization {:.3f} (min {:.3f})\n\n",
      name, sum.baseline, sum.most_baseline, sum.ideal, sum.most_ideal, sum.exposed,
      sum.exposed_ideal, sum.utilization, sum.least);
  all.exposed += sum.exposed / 4;
  all.exposed_ideal += sum.exposed_ideal / 4;
}

}  // namespace

// SystemC brings main.
extern "C" int sc_main(int argc, char** argv);

extern "C" int sc_main(int argc, char** argv) {
  WorkloadSpec spec;
  if (argc > 1) spec.roofline.flops_per_second = std::strtod(argv[1], nullptr) * 1e12;
  if (argc > 2) spec.roofline.bytes_per_second = std::strtod(argv[2], nullptr) * 1e9;
  if (argc > 3) spec.exchange = GradientExchange::per_layer;
  Sum all;
  for (const auto& [name, mini_batch] : std::vector<std::pair<std::string, std::uint32_t>>{
           {"resnet152", 32}, {"gnmt", 128}, {"dlrm", 512}, {"transformer_1t", 16}}) {
    spec.mini_batch = mini_batch;
    run(name, spec, all);
  }
  fmt::print("exposed: {:.3f} ideal {:.3f}\n", all.exposed, all.exposed_ideal);
  return 0;
}
