// A step of training from execution traces, from the command line.
#include <algorithm>
#include <catch2/catch.hpp>

#include "cli_test_support.h"
#include "sims/experiment/result_register.h"
#include "tests/support/trace_writer.h"

using namespace espalier;
using Catch::Matchers::Contains;
using test::Json;
using test::Outcome;
using test::TemporaryFolder;

namespace {

constexpr unsigned kChakraAllReduce = 0;

// Four ranks compute, reduce among all and in pairs, and pass a message on. Rank 3 is late.
std::string write_step(const TemporaryFolder& folder, bool receives = true) {
  for (std::uint32_t r = 0; r < 4; ++r) {
    std::vector<test::TraceNodeText> nodes{
        test::comp(1, r == 3 ? 25 : 5), test::coll(2, kChakraAllReduce, 40'000).after({1}),
        test::comp(3, 8).after({1}), test::coll(4, kChakraAllReduce, 8'000).after({2})};
    nodes.back().has("pg_name", r % 2 == 0 ? "1" : "2");
    if (r < 3) nodes.push_back(test::send(5, r + 1, 2'000).after({4}));
    if (r > 0 && receives) nodes.push_back(test::receive(6, r - 1, 2'000));
    folder.write("step." + std::to_string(r) + ".et", test::trace_text(nodes));
  }
  folder.write("step.json", "{\"1\": [0, 2], \"2\": [1, 3]}");
  return folder.write("step.yaml",
                      "system: {topology: {type: torus, dims: [4]}}\n"
                      "collective: {algorithm: ring}\n"
                      "workload: {file: step, compute: {tflops: recorded}}\n");
}

}  // namespace

TEST_CASE("A result of a step says where the time of its ranks goes, and its numbers add up") {
  if (test::skips_traces()) return;
  const TemporaryFolder folder;
  const std::string config = write_step(folder);
  for (const char* issue : {"lowest_id", "streams"}) {
    const Json result = test::run_to_json({config, "-s", std::string("workload.issue=") + issue})
                            .at("results")
                            .at(0);
    INFO(result.dump(1));
    CHECK(result.at("verified") == true);
    const Json& step = result.at("step");
    const auto ns = [&](const char* name) { return step.at(name).get<double>(); };
    CHECK(ns("compute_ns") == Approx((3 * 5'000 + 25'000 + 4 * 8'000) / 4.0));
    CHECK(ns("compute_ns") + ns("exposed_ns") + ns("idle_ns") ==
          Approx(result.at("time_ns").get<double>()));
    CHECK(ns("idle_min_ns") <= ns("idle_ns"));
    CHECK(ns("idle_ns") <= ns("idle_max_ns"));
    CHECK(step.at("sends") == 3);
    CHECK(step.at("send_bytes") == 6'000);
    const auto ends = step.at("rank_end_ns").get<std::vector<double>>();
    CHECK(*std::max_element(ends.begin(), ends.end()) == result.at("time_ns"));
    double exposed = ns("exposed_sends_ns");
    const Json& collectives = step.at("collectives");
    for (const Json& kind : collectives) exposed += kind.at("exposed_ns").get<double>();
    CHECK(exposed == Approx(ns("exposed_ns")));
    REQUIRE(collectives.size() == 2);
    CHECK(collectives[0].at("ranks") == 2);
    CHECK(collectives[0].at("stride") == 2);
    CHECK(collectives[0].at("count") == 2);
    CHECK(collectives[0].at("bytes") == 16'000);
    CHECK(collectives[1].at("ranks") == 4);
    CHECK_FALSE(step.contains("path"));
  }
}

TEST_CASE("An explained step has a critical path from its begin to its end") {
  if (test::skips_traces()) return;
  const TemporaryFolder folder;
  const Outcome outcome = test::espalier({"run", write_step(folder), "--explain", "--json", "-"});
  INFO(outcome.err);
  const Json result = Json::parse(outcome.out).at("results").at(0);
  double reached = 0;
  for (const Json& part : result.at("step").at("path")) {
    CHECK(part.at("from_ns").get<double>() == reached);
    reached = part.at("to_ns").get<double>();
  }
  CHECK(reached == result.at("time_ns"));
  const Json& first = result.at("step").at("path").at(0);
  CHECK(first.at("rank") == 3);
  CHECK(first.at("name") == "comp1");
  CHECK(first.at("to_ns") == 25'000);
}

TEST_CASE("The register names every field of a step") {
  if (test::skips_traces()) return;
  const TemporaryFolder folder;
  const Outcome outcome = test::espalier({"run", write_step(folder), "--explain", "--json", "-"});
  const Json step = Json::parse(outcome.out).at("results").at(0).at("step");
  const auto check = [](const Json& object, const std::string& prefix) {
    for (const auto& [name, value] : object.items()) {
      INFO(prefix + name);
      CHECK(find_result_field(prefix + name) != nullptr);
    }
  };
  check(step, "step.");
  for (const Json& kind : step.at("collectives")) check(kind, "step.collectives[].");
  for (const Json& part : step.at("path")) check(part, "step.path[].");
}

TEST_CASE("The table of a step is followed by its collectives") {
  if (test::skips_traces()) return;
  const TemporaryFolder folder;
  const Outcome outcome = test::espalier({"run", write_step(folder), "--explain"});
  CHECK(outcome.exit_code == 0);
  CHECK_THAT(outcome.out, Contains("step ms") && Contains("exposed ms") &&
                              Contains("on critical path ms") && Contains("critical path: "));
}

TEST_CASE("The check of a step says what only a run can show, and a trace is no program") {
  if (test::skips_traces()) return;
  const TemporaryFolder folder;
  const std::string config = write_step(folder);
  CHECK_THAT(test::espalier({"check", config}).out, Contains("run shows whether ranks wait"));
  CHECK_THAT(test::espalier({"check", config, "-s", "workload.issue=streams"}).out,
             !Contains("run shows") && Contains("collective fits\n"));
  // Messages of a trace do not say which data they carry, so it is no program.
  const std::string program =
      folder.write("program.yaml",
                   "system: {topology: {type: torus, dims: [4]}}\n"
                   "collective: {size: 4KiB, algorithm: program, program: {file: step.0.et}}\n");
  CHECK_THAT(test::espalier({"check", program}).err, Contains("run the trace with workload.file"));
}
