// Themis' training results (ISCA 2022, Fig. 4 and 12) by forecast; docs/training.md has the tables
// and what differs.
#include <algorithm>
#include <catch2/catch.hpp>

#include "config_test_support.h"
#include "sims/formats/layers_file.h"
#include "sims/workload/training/timeline.h"
#include "sims/workload/training/workload.h"
#include "tests/support/forecast_cost.h"
#include "tests/support/share_of_cases.h"

namespace espalier {
namespace {

constexpr const char* kSystems[] = {"2d_sw_sw",      "3d_sw_sw_sw_homo", "3d_sw_sw_sw_hetero",
                                    "3d_fc_ring_sw", "4d_ring_sw_sw_sw", "4d_ring_fc_ring_sw"};

Workload workload_of(const std::string& name, std::uint32_t mini_batch) {
  WorkloadSpec spec;
  spec.mini_batch = mini_batch;
  if (name == "dlrm") return dlrm_workload({}, spec);
  if (name == "transformer_1t") return transformer_workload({}, spec);
  TrainingConfig config;
  config.network = name;
  Diagnostics diagnostics;
  return data_parallel_workload(name, load_layers(config, {}, diagnostics).value(), spec);
}

struct Times {
  TrainingTimeline baseline;
  TrainingTimeline themis;
  TrainingTimeline ideal;

  [[nodiscard]] double speedup() const { return baseline.total() / themis.total(); }
  [[nodiscard]] double ideal_speedup() const { return baseline.total() / ideal.total(); }
  [[nodiscard]] double utilization() const { return ideal.communication / baseline.communication; }
};

Times times_of(const Workload& workload, const std::string& system_name) {
  const ConfigResult config =
      read_run_config_text("good.yaml", "system: {preset: themis_" + system_name +
                                            "}\ncollective: {algorithm: themis, size: 1MiB}\n");
  const RunPoint& point = config.points.at(0);
  const CostSystem system = cost_system(*config.topology, point);
  const ParallelGroups groups =
      split_groups(system.dimensions, workload.name == "transformer_1t" ? 128 : 1);
  PlanRequest request;
  request.element_bytes = 2;
  const auto run = [&](const CollectiveCost& cost) {
    return run_timeline(workload, groups, cost, 3);
  };
  const auto ideal = [&](const CommunicationOp& op) {
    return ideal_ns(op, groups.of(op.scope), system);
  };
  return {run(test::ForecastCost(*config.topology, point, groups, "baseline", request)),
          run(test::ForecastCost(*config.topology, point, groups, "themis", request)), run(ideal)};
}

struct Summary {
  double speedup = 0;
  double most = 0;
  double ideal = 0;
  double less_exposed = 0;
  double utilization = 0;
  double least_utilization = 1;
};

Summary summary_of(const Workload& workload) {
  Summary s;
  test::ShareOfCases share(7);
  for (const char* system : kSystems) {
    if (!share.take()) continue;
    const Times t = times_of(workload, system);
    CAPTURE(workload.name, system);
    CHECK(t.themis.total() < t.baseline.total());
    CHECK(t.ideal.total() < t.themis.total());
    CHECK(t.baseline.compute() == t.ideal.compute());
    s.speedup += t.speedup() / 6;
    s.most = std::max(s.most, t.speedup());
    s.ideal += t.ideal_speedup() / 6;
    s.less_exposed += t.baseline.exposed() / t.themis.exposed() / 6;
    s.utilization += t.utilization() / 6;
    s.least_utilization = std::min(s.least_utilization, t.utilization());
  }
  return s;
}

}  // namespace

TEST_CASE("Baseline leaves as much bandwidth unused in training as Themis' Fig. 4 shows") {
  const Workload workloads[] = {workload_of("resnet152", 32), workload_of("gnmt", 128),
                                workload_of("transformer_1t", 16)};
  double mean = 0;
  double least = 1;
  for (const Workload& workload : workloads) {
    const Summary s = summary_of(workload);
    mean += s.utilization / 3;
    least = std::min(least, s.least_utilization);
    CHECK(times_of(workload, "fig4_current").utilization() == Approx(0.977).margin(0.01));
  }
  if (test::kSanitized) return;  // the published means are of all systems
  CHECK(mean == Approx(0.597).margin(0.01));
  CHECK(least == Approx(0.351).margin(0.01));
}

TEST_CASE("Transformer-1T gains what Themis' Fig. 12 shows") {
  const Summary s = summary_of(workload_of("transformer_1t", 16));
  if (test::kSanitized) return;
  CHECK(s.speedup == Approx(1.25).margin(0.05));
  CHECK(s.most == Approx(1.53).margin(0.05));
  CHECK(s.ideal == Approx(1.26).margin(0.06));
}

TEST_CASE("DLRM gains about what Themis' Fig. 12 shows, and waits for gradients most of the time") {
  const Workload workload = workload_of("dlrm", 512);
  const Summary s = summary_of(workload);
  if (test::kSanitized) return;
  CHECK(s.speedup == Approx(1.30).margin(0.07));
  for (const char* system : kSystems) {
    const Times t = times_of(workload, system);
    CHECK(t.baseline.exposed_model < 0.1 * t.baseline.exposed_data);
  }
}

TEST_CASE("Themis takes as much off the exposed communication as published") {
  double mean = 0;
  for (const auto& [name, samples] :
       {std::pair{"resnet152", 32U}, {"gnmt", 128U}, {"dlrm", 512U}, {"transformer_1t", 16U}}) {
    mean += summary_of(workload_of(name, samples)).less_exposed / 4;
  }
  if (test::kSanitized) return;
  CHECK(mean == Approx(1.65).margin(0.05));
}

}  // namespace espalier
