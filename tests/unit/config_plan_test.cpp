// The warning about a plan that predicts more time than the baseline's.
#include <catch2/catch.hpp>

#include "config_test_support.h"

namespace espalier {

using namespace config_test;

namespace {

// Each dimension has half the rate of the one before it, while the data shrink by eight.
std::string unbalanced_plan(const std::string& collective) {
  return "system:\n"
         "  topology: {type: dimensions}\n"
         "  dimensions:\n"
         "    shape: [fully_connected, ring, switch]\n"
         "    size: [8, 8, 8]\n"
         "    bandwidth: [200GB/s, 100GB/s, 50GB/s]\n"
         "    latency: [50ns, 100ns, 500ns]\n"
         "collective: {" +
         collective + "}\n";
}

std::vector<Printed> plan_warnings(const Marked& marked) {
  const ConfigResult result = read_run_config_text("f.yaml", marked.text);
  INFO(result.diagnostics);
  CHECK(result.ok);
  return parse_diagnostics(result.diagnostics);
}

}  // namespace

TEST_CASE(
    "A Themis plan that predicts more than the baseline's is warned of with chunks that help") {
  const Marked marked =
      unmark(unbalanced_plan("algorithm: [baseline, @themis], size: 1GB, op: all_reduce"));
  const auto warnings = plan_warnings(marked);
  REQUIRE(warnings.size() == 1);
  const Printed* warning = find_at(warnings, marked, "the plan of themis with 64 chunks predicts");
  REQUIRE(warning != nullptr);
  CHECK(warning->severity == "warning");
  CHECK(warning->message.find("1683.3 us on dim3, more than the 1250.0 us on dim1") !=
        std::string::npos);
  CHECK(warning->hint.rfind("collective.chunks: 512 is forecast to take 1229.7 us", 0) == 0);
  CHECK(plan_warnings(unmark("@" + unbalanced_plan("algorithm: themis, size: 1GB, chunks: 512")))
            .empty());
}

TEST_CASE("Where more chunks only add latencies, the warning about a plan names the baseline") {
  const Marked marked =
      unmark(unbalanced_plan("algorithm: themis, parts: equal, size: 100MB, chunks: [@64, 2]"));
  const auto warnings = plan_warnings(marked);
  REQUIRE(warnings.size() == 1);
  const Printed* warning = find_at(warnings, marked, "168.3 us on dim3");
  REQUIRE(warning != nullptr);
  CHECK(warning->hint ==
        "write collective.algorithm: baseline; with up to 1024 chunks, themis is forecast to be "
        "slower");
}

TEST_CASE("A plan that is no worse than the baseline's gives no warning") {
  for (const char* collective :
       {"algorithm: baseline, size: 1GB", "algorithm: themis, size: 1GB, chunks: 1"}) {
    CAPTURE(collective);
    CHECK(plan_warnings(unmark("@" + unbalanced_plan(collective))).empty());
  }
  CHECK(plan_warnings(unmark("@system: {preset: themis_2d_sw_sw}\n"
                             "collective: {algorithm: themis, size: 100MB}\n"))
            .empty());
  // Fixed delays are where the loads start, and no load of the plan.
  CHECK(plan_warnings(unmark("@system: {preset: themis_2d_sw_sw}\n"
                             "collective: {algorithm: themis, size: 100MB, "
                             "loads_start_at_fixed_delay: true}\n"))
            .empty());
}

TEST_CASE("A searched plan is no candidate for a warning, and needs its order of starts enforced") {
  CHECK(
      plan_warnings(unmark("@" + unbalanced_plan("algorithm: themis_search, size: 1GB"))).empty());
  for (const char* use : {"", "workload: {name: resnet152}\n"}) {
    CAPTURE(use);
    const Marked marked = unmark(
        std::string("system: {preset: themis_2d_sw_sw, ni: {dimension_queue: {enforce_order: "
                    "@false}}}\n") +
        "collective: {algorithm: themis_search" + (*use == 0 ? ", size: 100MB" : "") + "}\n" + use);
    const ConfigResult result = read_run_config_text("f.yaml", marked.text);
    CHECK_FALSE(result.ok);
    const auto errors = parse_diagnostics(result.diagnostics);
    INFO(result.diagnostics);
    REQUIRE(errors.size() == 1);
    CHECK(find_at(errors, marked,
                  "themis_search plans the order in which each dimension starts its stages") !=
          nullptr);
  }
}

}  // namespace espalier
