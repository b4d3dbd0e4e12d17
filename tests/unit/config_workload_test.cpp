#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "config_test_support.h"
#include "sims/config/resolved.h"
#include "sims/model/build_workload.h"
#include "tests/support/resolved_yaml.h"

namespace espalier {

using namespace config_test;

namespace {

const std::string kSystem = "system: {preset: themis_3d_fc_ring_sw}\n";
const std::string kPlan = "collective: {algorithm: themis}\n";

}  // namespace

TEST_CASE("A workload has Themis' settings unless the file says otherwise") {
  const RunPoint point = only_point(kSystem + kPlan + "workload: {name: transformer_1t}\n");
  REQUIRE(point.workload);
  CHECK(point.workload->iterations == 3);
  CHECK(point.workload->tflops == 312);
  CHECK(point.workload->memory_bytes_per_second == 0);
  CHECK(point.workload->exchange == GradientExchange::bulk);
  CHECK(model_npus_of(*point.workload) == 128);
  CHECK(build_workload(*point.workload).operations().front().bytes == Bytes{16} * 2048 * 25600 * 2);
  const RunPoint dlrm = only_point(kSystem + kPlan + "workload: {name: dlrm, mini_batch: 3}\n");
  CHECK(model_npus_of(*dlrm.workload) == 1);
  CHECK(build_workload(*dlrm.workload).operations().front().bytes == 3 * 64 * 64 * 2);
}

TEST_CASE("Every workload is built by its name, with its published mini-batch") {
  const ConfigResult result =
      read_run_config_text("w.yaml", kSystem +
                                         "collective: {algorithm: [baseline, themis]}\n"
                                         "workload: {name: [resnet152, gnmt, dlrm, "
                                         "transformer_1t]}\n");
  INFO(result.diagnostics);
  REQUIRE(result.points.size() == 8);
  CHECK(result.num_warnings == 0);
  for (std::size_t p = 0; p < 8; p += 2) {
    const Workload workload = build_workload(*result.points[p].workload);
    CHECK(workload.name == resolved_json(result.points[p])["workload"]["name"]);
    CHECK(result.points[p + 1].collective->algorithm == "themis");
  }
}

TEST_CASE("A workload resolves to a configuration that reads back to it") {
  for (const char* settings :
       {"{name: gnmt}",
        "{name: transformer_1t, iterations: 5, mini_batch: 2, exchange: per_layer, model_npus: 8, "
        "compute: {tflops: 234, memory: 1555GB/s}}"}) {
    const RunPoint point = only_point(kSystem + kPlan + "workload: " + settings + "\n");
    const std::string yaml = resolved_yaml(point);
    INFO(yaml);
    CHECK(yaml.find("size: 1") == std::string::npos);
    CHECK(yaml.find("element") == std::string::npos);
    const RunPoint again = only_point(yaml);
    CHECK(resolved_yaml(again) == yaml);
    CHECK(config_hash(again) == config_hash(point));
    CHECK(again.workload->kind == point.workload->kind);
    CHECK(again.workload->model_npus == point.workload->model_npus);
    CHECK(again.workload->memory_bytes_per_second == point.workload->memory_bytes_per_second);
  }
  CHECK_FALSE(resolved_json(only_point(kGoodSystem + kGoodCollective)).contains("workload"));
}

TEST_CASE("Contradictions around workloads are refused at their place") {
  struct BadCase {
    std::string input;
    const char* message;
    const char* hint;
  };
  const std::string dlrm = "workload: {name: dlrm}\n";
  const std::vector<BadCase> cases{
      {kSystem + kPlan + "@workload: {iterations: 2}\n", "missing key 'workload.name'",
       "one of resnet152"},
      {kSystem + kPlan + "workload: {name: @gmnt}\n", "'gmnt' is not a valid name",
       "did you mean 'gnmt'?"},
      {kSystem + kPlan + "workload: {name: dlrm, mini_batch: @0}\n",
       "workload.mini_batch: 0 is out of range", "or auto"},
      {kSystem + dlrm + "collective: {algorithm: themis, size: @1MiB}\n",
       "it is used only where neither training nor workload is given", "remove one of the two"},
      {kSystem + kPlan + dlrm + "@training: {network: ncf}\n",
       "both 'workload' and 'training' are given", "one of the two"},
      {kSystem + kPlan + "@training: {network: ncf}\n",
       "does not run on a multi-dimensional system", "workload: {name"},
      {kSystem + kPlan + "workload: {name: transformer_1t, model_npus: @48}\n",
       "48 is not a divisor of the hidden size, 25600", ""},
      {kSystem + kPlan + "workload: {name: transformer_1t, model_npus: @32}\n",
       "would cut the ring of dimension 2 into parts of 4", ""},
      {kSystem + kPlan +
           "workload: {name: transformer_1t, model_npus: 128, mini_batch: @1000000, compute: "
           "{tflops: 1}}\n",
       "takes more than 104 days an iteration", "fewer samples"},
      {kGoodSystem + "collective: {algorithm: ring}\nworkload: {name: @dlrm}\n",
       "runs only on a multi-dimensional system", "system.topology.type to dimensions"},
      {kSystem + kPlan + "workload: {file: @traces}\n", "passes none between dimensions",
       "system.topology.type: file"},
  };
  for (const BadCase& bad : cases) {
    const Marked marked = unmark(bad.input);
    const ConfigResult result = read_run_config_text("bad.yaml", marked.text);
    INFO(bad.input);
    INFO(result.diagnostics);
    CHECK_FALSE(result.ok);
    const auto all = parse_diagnostics(result.diagnostics);
    const Printed* found = find_at(all, marked, bad.message);
    REQUIRE(found != nullptr);
    CHECK(found->hint.find(bad.hint) != std::string::npos);
    CHECK(all.size() == 1);
  }
}

}  // namespace espalier
