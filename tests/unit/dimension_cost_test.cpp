#include "sims/workload/training/dimension_cost.h"

#include <catch2/catch.hpp>

#include "config_test_support.h"
#include "tests/support/forecast_cost.h"

namespace espalier {
namespace {

struct Modelled {
  explicit Modelled(const std::string& preset, std::uint64_t model_npus = 128)
      : config(read_run_config_text("good.yaml", "system: {preset: " + preset +
                                                     "}\ncollective: {algorithm: themis, size: "
                                                     "1MiB}\n")) {
    REQUIRE(config.ok);
    system = cost_system(*config.topology, config.points.at(0));
    groups = split_groups(system.dimensions, model_npus);
  }
  double ideal(const CommunicationOp& op) const {
    return ideal_ns(op, groups.of(op.scope), system);
  }
  double forecast(const char* algorithm, const CommunicationOp& op) const {
    return test::ForecastCost(*config.topology, config.points.at(0), groups, algorithm, {})(op);
  }

  ConfigResult config;
  CostSystem system;
  ParallelGroups groups;
};

constexpr Bytes kSize = 100'000'000;

CommunicationOp all_reduce(CommunicationScope scope) {
  return {CollectiveOp::all_reduce, kSize, scope};
}

}  // namespace

TEST_CASE("Ideal is bytes divided by the bandwidth of the scope's dimensions") {
  const Modelled m("themis_2d_sw_sw");
  CHECK(m.ideal(all_reduce(CommunicationScope::all)) ==
        Approx(2.0 * kSize * 1023 / 1024 / 250));  // 2000 Gb/s
  CHECK(m.ideal(all_reduce(CommunicationScope::model)) == Approx(2.0 * kSize * 127 / 128 / 250));
  CHECK(m.ideal(all_reduce(CommunicationScope::data)) == Approx(2.0 * kSize * 7 / 8 / 100));
  CHECK(m.ideal({CollectiveOp::reduce_scatter, kSize, CommunicationScope::data}) ==
        Approx(kSize * 7.0 / 8 / 100));
  CHECK(m.ideal({CollectiveOp::all_to_all, kSize, CommunicationScope::all}) ==
        Approx(kSize * (15.0 / 16 + 63.0 / 64) / 250));
  CHECK(m.ideal({CollectiveOp::all_reduce, 0, CommunicationScope::all}) == 0);
}

TEST_CASE("A collective among one NPU takes no time") {
  const Modelled m("themis_2d_sw_sw", 1);
  CHECK(m.ideal(all_reduce(CommunicationScope::model)) == 0);
  CHECK(m.forecast("themis", all_reduce(CommunicationScope::model)) == 0);
}

TEST_CASE("Only links within its part of a fully connected dimension count") {
  const Modelled m("themis_3d_fc_ring_sw", 4);
  const auto planned = planned_for(m.groups.model, m.system.dimensions, m.system.planned);
  REQUIRE(planned.size() == 1);
  CHECK(planned[0].size == 4);
  CHECK(planned[0].bytes_per_second == 3 * 25'000'000'000);  // 3 of 7 links of 200 Gb/s
}

TEST_CASE("With one dimension there is nothing to schedule") {
  for (const char* preset : {"themis_2d_sw_sw", "themis_3d_sw_sw_sw_hetero"}) {
    const Modelled m(preset);
    const CommunicationOp op{CollectiveOp::reduce_scatter, kSize, CommunicationScope::data};
    CHECK(m.forecast("baseline", op) == m.forecast("themis", op));
    // Bytes, and a little for steps and head flits.
    CHECK(m.forecast("baseline", op) == Approx(m.ideal(op)).epsilon(0.01));
    CHECK(m.forecast("baseline", op) > m.ideal(op));
  }
}

TEST_CASE("Themis is between baseline and ideal, also on part of a dimension") {
  const Modelled m("themis_2d_sw_sw");
  for (const CommunicationScope scope : {CommunicationScope::all, CommunicationScope::model}) {
    const CommunicationOp op = all_reduce(scope);
    CHECK(m.forecast("baseline", op) > 1.4 * m.forecast("themis", op));
    CHECK(m.forecast("themis", op) > m.ideal(op));
  }
}

TEST_CASE("An all_to_all passes the dimensions in chunks") {
  const Modelled m("themis_2d_sw_sw");
  const CommunicationOp op{CollectiveOp::all_to_all, 16'000'000, CommunicationScope::all};
  const double dim1 = 15e6 / 150;
  const double dim2 = 15.75e6 / 100;
  CHECK(all_to_all_ns(op.bytes, m.groups.all, m.system, 1) == Approx(dim1 + dim2 + 2400));
  CHECK(all_to_all_ns(op.bytes, m.groups.all, m.system, 10) == Approx(dim1 / 10 + dim2 + 2400));
}

}  // namespace espalier
