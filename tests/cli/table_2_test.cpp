// The systems of Themis's Table 2, 1024 NPUs each, as users run them.
#include <catch2/catch.hpp>

#include <string>
#include <vector>

#include "cli_test_support.h"

using namespace espalier;
using test::Json;
using test::TemporaryFolder;

namespace {

std::string config_of(const std::string& preset, const std::string& more_of_system = {}) {
  return "system: {preset: " + preset + more_of_system +
         "}\n"
         "collective: {op: all_reduce, algorithm: [baseline, themis, themis_search], size: "
         "100MB}\n";
}

}  // namespace

TEST_CASE("Themis balances the load of every system of Table 2, and all data are right", "[slow]") {
  const char* preset =
      GENERATE("themis_2d_sw_sw", "themis_3d_sw_sw_sw_homo", "themis_3d_sw_sw_sw_hetero",
               "themis_3d_fc_ring_sw", "themis_4d_ring_sw_sw_sw", "themis_4d_ring_fc_ring_sw");
  CAPTURE(preset);
  const TemporaryFolder folder;
  const Json results =
      test::run_to_json({folder.write("table2.yaml", config_of(preset))}).at("results");
  REQUIRE(results.size() == 3);
  for (const Json& result : results) {
    CHECK(result.at("nodes") == 1024);
    CHECK(result.at("folded") == true);
    CHECK(result.at("verified") == true);
    CHECK(result.at("certified") == true);
    CHECK(result.at("utilization").get<double>() < 1.0);
    CHECK(result.at("bound_ratio").get<double>() < 1.0);
    const auto cycles = result.at("cycles").get<double>();
    CHECK(result.at("forecast_cycles").get<double>() / cycles == Approx(1.0).epsilon(0.01));
    for (const auto& [name, dimension] : result.at("dimensions").items()) {
      CAPTURE(name);
      CHECK(dimension.at("utilization").get<double>() < 1.0);
      // Padding to equal parts adds less than 1 %.
      const auto planned = dimension.at("planned_bytes_per_node").get<double>();
      const auto sent = dimension.at("bytes_per_node").get<double>();
      CHECK(sent >= planned * (1 - 1e-9));
      CHECK(sent <= planned * 1.01);
    }
  }
  // Section 6.1: the fixed order leaves 35 to 65 % of the bandwidth in use, Themis most of it.
  CHECK(results[0].at("utilization").get<double>() < 0.66);
  CHECK(results[1].at("utilization").get<double>() > 0.85);
  // The search knows latencies, too. Two dimensions have two orders only.
  CHECK(results[2].at("utilization").get<double>() > 0.98);
  CHECK(results[2].at("cycles") < results[1].at("cycles"));
}

TEST_CASE("Flits half as wide at twice the clock make no difference that counts") {
  const TemporaryFolder folder;
  const std::string wide = folder.write("wide.yaml", config_of("themis_2d_sw_sw"));
  const std::string narrow = folder.write(
      "narrow.yaml", config_of("themis_2d_sw_sw",
                               ", router: {clock: 2GHz}, dimensions: {flit_bytes: [13, 50], "
                               "packet_flits: 32}"));
  const Json one = test::run_to_json({wide}).at("results");
  const Json other = test::run_to_json({narrow}).at("results");
  for (std::size_t r = 0; r < one.size(); ++r) {
    CAPTURE(r);
    CHECK(other[r].at("dimensions").at("dim2").at("flit_bytes") == 50);
    CHECK(other[r].at("time_ns").get<double>() ==
          Approx(one[r].at("time_ns").get<double>()).epsilon(0.01));
  }
}
