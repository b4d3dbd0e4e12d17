// `espalier reorder`, from measured latencies to a run in the order that it found.
#include <catch2/catch.hpp>

#include <string>

#include "cli_test_support.h"

using Catch::Matchers::Contains;
using namespace espalier;
using test::Json;
using test::Outcome;
using test::TemporaryFolder;

namespace {

constexpr const char* kReorderedRing =
    "system: {topology: {type: fat_tree, switches: 2, nodes_per_switch: 3, spines: 3}, "
    "link: {latency: 20ns}}\n"
    "collective: {algorithm: ring, size: 12KiB}\n"
    "reorder: {random_orders: 20}\n";

// Two racks, nodes dealt out in turn: 0, 2, 4 and 1, 3, 5.
constexpr const char* kDealt =
    "0,90,10,90,10,90\n90,0,90,10,90,10\n10,90,0,90,10,90\n"
    "90,10,90,0,90,10\n10,90,10,90,0,90\n90,10,90,10,90,0\n";

Json result_of(const TemporaryFolder& folder, std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), "reorder");
  arguments.insert(arguments.end(), {"--json", folder.file("result.json")});
  const Outcome outcome = test::espalier(arguments);
  INFO(outcome.err);
  REQUIRE(outcome.exit_code == 0);
  return Json::parse(test::read_text(folder.file("result.json")));
}

}  // namespace

TEST_CASE("The order that reorder finds runs, and the result says that it did") {
  const TemporaryFolder folder;
  const std::string config = folder.write("ring.yaml", kReorderedRing);
  const std::string latency = folder.write("latency.csv", kDealt);
  const Json json =
      result_of(folder, {config, "--latency", latency, "--output", folder.file("order.yaml")});
  const Json& result = json.at("result");
  CHECK(result.at("model") == "ring");
  CHECK(result.at("optimal") == "proven");
  // Four hops of 10 within racks, two of 90 between them; 2 KiB of a window of 64 KiB each.
  CHECK(result.at("best").at("cost").get<double>() == Approx(220 * (1 + 2.0 / 64)));
  CHECK(result.at("identity").get<double>() == Approx(540 * (1 + 2.0 / 64)));
  CHECK(result.at("worst").at("cost") == result.at("identity"));
  CHECK(result.at("bound").get<double>() <= result.at("best").at("cost").get<double>());
  const Json run = test::run_to_json({config, "-s", "collective.rank_order=order.yaml"});
  CHECK(run.at("results")[0].at("verified") == true);
  CHECK(run.at("results")[0].at("rank_order") == "order.yaml");
}

TEST_CASE("The worst order is written where it is asked for, and results are reproducible") {
  const TemporaryFolder folder;
  const std::string config = folder.write("ring.yaml", kReorderedRing);
  const std::string latency = folder.write("latency.csv", kDealt);
  const std::vector<std::string> arguments{config,
                                           "--latency",
                                           latency,
                                           "-s",
                                           "reorder.direction=worst",
                                           "-s",
                                           "reorder.exact_nodes=0",
                                           "-s",
                                           "reorder.evaluations=5000",
                                           "--output",
                                           folder.file("worst.yaml")};
  const Json once = result_of(folder, arguments);
  CHECK(once.at("result").at("worst").at("proven") == false);
  CHECK_THAT(test::read_text(folder.file("worst.yaml")), Contains("\"direction\":\"worst\""));
  CHECK(test::without_host(once) == test::without_host(result_of(folder, arguments)));
}

TEST_CASE("Latencies that were probed can be written, read again, and give the same order") {
  const TemporaryFolder folder;
  const std::string config = folder.write("ring.yaml", kReorderedRing);
  const Json probed = result_of(folder, {config, "--write-latency", folder.file("latency.csv")});
  const Json read = result_of(folder, {config, "--latency", folder.file("latency.csv")});
  for (const char* key : {"identity", "best", "worst", "random", "bound"}) {
    CHECK(probed.at("result").at(key) == read.at("result").at(key));
  }
}

TEST_CASE("Random orders of a sweep over seeds name their seeds") {
  const TemporaryFolder folder;
  const std::string config = folder.write("ring.yaml", kReorderedRing);
  const Json run = test::run_to_json(
      {config, "-s", "collective.rank_order=random", "-s", "collective.rank_order_seed=[1, 2]"});
  REQUIRE(run.at("results").size() == 2);
  for (std::size_t p = 0; p < 2; ++p) {
    CHECK(run.at("results")[p].at("rank_order") == "random");
    CHECK(run.at("results")[p].at("rank_order_seed") == p + 1);
    CHECK(run.at("results")[p].at("verified") == true);
  }
}

TEST_CASE("reorder names the input that it cannot use") {
  const TemporaryFolder folder;
  const std::string config = folder.write("ring.yaml", kReorderedRing);
  const std::string latency = folder.write("latency.csv", kDealt);
  const auto refused = [&](std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), {"reorder", config});
    const Outcome outcome = test::espalier(arguments);
    CHECK(outcome.exit_code == 2);
    return outcome.err;
  };
  CHECK_THAT(refused({"--latency", latency, "-s", "collective.algorithm=multitree"}),
             Contains("multitree has no cost model") && Contains("reorder.model"));
  CHECK_THAT(refused({"--latency", latency, "-s", "reorder.model=bcube"}),
             Contains("6 nodes are not a power of 4"));
  const std::string small = folder.write("small.csv", "0,1\n1,0\n");
  CHECK_THAT(refused({"--latency", small}),
             Contains("small.csv:1:3: error: found 2 values, but the network has 6 nodes"));
  CHECK_THAT(refused({"--latency", folder.file("nowhere.csv")}), Contains("nowhere.csv: error:"));
  CHECK_THAT(refused({"--latency", latency, "-s", "collective.algorithm=[ring, dbtree]"}),
             Contains("needs one point, but the configuration has 2"));
  CHECK_THAT(refused({"--latency", latency, "--json", "-", "--output", "-"}),
             Contains("only one of the two outputs can go to stdout"));
  CHECK_THAT(refused({"--latency", latency, "-s", "collective.algorithm=dbtree", "-s",
                      "reorder.objective=max"}),
             Contains("objective max works only with the model ring"));
}

TEST_CASE("reorder simulates the order of the run and the best order, as a run would") {
  const TemporaryFolder folder;
  const std::string config = folder.write("ring.yaml", kReorderedRing);
  const std::string latency = folder.write("latency.csv", kDealt);
  const Json result =
      result_of(folder, {config, "--latency", latency, "-s", "collective.size=12MiB", "--output",
                         folder.file("order.yaml")})
          .at("result");
  const Json runs = test::run_to_json({config, "-s", "collective.size=12MiB", "-s",
                                       "collective.rank_order=[identity, order.yaml]"})
                        .at("results");
  const Json& simulated = result.at("simulated");
  CHECK(result.at("run_order").at("name") == "nodes in number order");
  CHECK(simulated.at("run_order").at("cycles") == runs[0].at("cycles"));
  CHECK(simulated.at("best").at("cycles") == runs[1].at("cycles"));
  // The latencies are not those of this network, and bandwidth decides.
  CHECK(simulated.at("predicted_gain").get<double>() == Approx(540.0 / 220));
  CHECK(simulated.at("gain").get<double>() <= 1);
  CHECK_THAT(simulated.at("verdict").get<std::string>(), Contains("The model predicts 2.45 x") &&
                                                             Contains("so bandwidth decides") &&
                                                             Contains("Keep the order of the run"));
}

TEST_CASE(
    "reorder names the ring that a run follows without an order, and keeps it if it is best") {
  const TemporaryFolder folder;
  const std::string config = folder.write("torus.yaml",
                                          "system: {topology: {type: torus, dims: [4, 4]}}\n"
                                          "collective: {algorithm: ring, size: 1KiB}\n"
                                          "reorder: {random_orders: 20, evaluations: 20000}\n");
  const Outcome outcome = test::espalier({"reorder", config});
  CHECK(outcome.exit_code == 0);
  CHECK_THAT(outcome.out, Contains("the run uses     Hamiltonian ring of the network's links") &&
                              Contains("The run already uses the best order of the model"));
  const Json result = result_of(folder, {config}).at("result");
  CHECK(result.at("best").at("rank_order") == result.at("run_order").at("rank_order"));
  CHECK(result.at("run_order").at("cost").get<double>() < result.at("identity").get<double>());
  CHECK(result.at("simulated").at("gain") == 1.0);
}

TEST_CASE("reorder says when the model is not that of the run, and when it does not simulate") {
  const TemporaryFolder folder;
  const std::string config = folder.write("ring.yaml", kReorderedRing);
  const std::string latency = folder.write("latency.csv", kDealt);
  const std::vector<std::string> of_ring{config, "--latency", latency, "-s", "reorder.model=ring"};
  const auto with = [&](std::initializer_list<std::string> more) {
    std::vector<std::string> arguments = of_ring;
    arguments.insert(arguments.end(), more);
    return result_of(folder, arguments).at("result").at("simulated");
  };
  CHECK_THAT(with({"-s", "collective.algorithm=direct"}).at("verdict").get<std::string>(),
             Contains("which is not the algorithm of the run"));
  CHECK(with({"--no-simulate"}).is_null());
  std::vector<std::string> arguments{"reorder"};
  arguments.insert(arguments.end(), of_ring.begin(), of_ring.end());
  arguments.insert(arguments.end(), {"-s", "collective.algorithm=gc3_allpairs"});
  CHECK_THAT(test::espalier(arguments).out, Contains("not simulated: gc3_allpairs cannot use"));
}
