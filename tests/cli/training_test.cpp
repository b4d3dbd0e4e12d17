// Training iterations from the command line.
#include <catch2/catch.hpp>

#include "cli_test_support.h"

using namespace espalier;
using Catch::Matchers::Contains;
using test::Json;
using test::Outcome;
using test::TemporaryFolder;

namespace {

constexpr const char* kLayers =
    "Layer name, IFMAP Height, IFMAP Width, Filter Height, Filter Width, Channels, Num Filter, "
    "Strides,\n"
    "conv, 10, 10, 3, 3, 4, 16, 1,\n"
    "fc1, 1, 1, 1, 1, 1024, 30, 1,\n"
    "fc2, 1, 1, 1, 1, 30, 10, 1,\n";
constexpr std::uint64_t kParameters = 3 * 3 * 4 * 16 + 1024 * 30 + 30 * 10;

constexpr const char* kTraining =
    "system: {topology: {type: torus, dims: [3, 2]}}\n"
    "training: {file: layers.csv, overlap: [none, layerwise]}\n"
    "collective: {algorithm: [ring, multitree]}\n";

std::string write_training(const TemporaryFolder& folder) {
  folder.write("layers.csv", kLayers);
  return folder.write("training.yaml", kTraining);
}

}  // namespace

TEST_CASE("A training result says where the time of an iteration goes, and its numbers add up") {
  const TemporaryFolder folder;
  const Json results = test::run_to_json({write_training(folder)}).at("results");
  REQUIRE(results.size() == 4);
  for (const Json& result : results) {
    INFO(result.dump(1));
    CHECK(result.at("network") == "layers.csv");
    CHECK(result.at("layers") == 3);
    CHECK(result.at("parameters") == kParameters);
    CHECK(result.at("mini_batch") == 16);
    CHECK(result.at("size_bytes") == 4 * kParameters);
    CHECK(result.at("verified") == true);
    const Json& training = result.at("training");
    const auto cycles = [&](const char* name) {
      return training.at(std::string(name) + "_cycles").get<std::uint64_t>();
    };
    // conv: 2 x 1 folds of 36 + 94; fc1: 1 of 1024 + 94; fc2: 1 of 30 + 94.
    CHECK(cycles("forward") == 2 * 130 + 1118 + 124);
    CHECK(cycles("compute") == cycles("forward") + cycles("backward"));
    CHECK(cycles("iteration") == cycles("compute") + cycles("exposed"));
    CHECK(cycles("all_reduce") >= cycles("overlapped"));
    CHECK(training.at("iteration_ns") == static_cast<double>(cycles("iteration")));  // at 1 GHz
    CHECK(
        training.at("exposed_share").get<double>() ==
        Approx(static_cast<double>(cycles("exposed")) / static_cast<double>(cycles("iteration"))));
    const Json& collectives = result.at("collectives");
    std::uint64_t bytes = 0;
    for (const Json& collective : collectives) {
      bytes += collective.at("size_bytes").get<std::uint64_t>();
      CHECK(collective.at("first_issue_cycle") >= collective.at("posted_cycle"));
      CHECK(collective.at("last_visible_cycle") > collective.at("first_issue_cycle"));
    }
    CHECK(bytes == 4 * kParameters);
    if (result.at("overlap") == "none") {
      CHECK(collectives.size() == 1);
      CHECK(cycles("exposed") == result.at("cycles"));
      CHECK(cycles("overlapped") == 0);
    } else {
      REQUIRE(collectives.size() == 3);
      CHECK(collectives[0].at("layer") == "fc2");
      CHECK(collectives[2].at("layer") == "conv");
      CHECK(collectives[2].at("posted_cycle") == cycles("backward"));
    }
  }
}

TEST_CASE("Without overlap the all-reduce is the one that a collective of that size is") {
  const TemporaryFolder folder;
  const Json training =
      test::run_to_json({write_training(folder), "-s", "training.overlap=none"}).at("results");
  const std::string collective = folder.write("collective.yaml",
                                              "system: {topology: {type: torus, dims: [3, 2]}}\n"
                                              "collective: {algorithm: [ring, multitree], size: " +
                                                  std::to_string(4 * kParameters) + "B}\n");
  const Json alone = test::run_to_json({collective}).at("results");
  REQUIRE(training.size() == 2);
  for (std::size_t i = 0; i < 2; ++i) {
    for (const char* field : {"cycles", "time_ns", "flit_hops", "bandwidth_GBps", "bound_ns",
                              "timesteps", "messages", "table_entries_max"}) {
      CAPTURE(field);
      CHECK(training[i].at(field) == alone[i].at(field));
    }
  }
}

TEST_CASE("Both fidelities give the same training results from the command line") {
  const TemporaryFolder folder;
  const std::string config = write_training(folder);
  Json results[2];
  for (const int f : {0, 1}) {
    results[f] = test::without_host(
        test::run_to_json(
            {config, "-s", f == 0 ? "simulation.fidelity=train" : "simulation.fidelity=cycle"})
            .at("results"));
    for (Json& result : results[f]) {
      result.erase("fidelity");
      result.erase("config_hash");
    }
  }
  CHECK(results[0] == results[1]);
}

TEST_CASE("The table of iterations compares each row with the network's first row") {
  const TemporaryFolder folder;
  const Outcome outcome = test::espalier({"run", write_training(folder)});
  INFO(outcome.out);
  REQUIRE(outcome.exit_code == 0);
  for (const char* title : {"network", "overlap", "algorithm", "compute us", "all-reduce us",
                            "exposed us", "iteration us", "speed", "verified"}) {
    CHECK_THAT(outcome.out, Contains(title));
  }
  CHECK_THAT(outcome.out, Contains("1.00x"));
}

TEST_CASE("Workloads train on a multi-dimensional system, every collective simulated") {
  const Outcome outcome =
      test::espalier({"run", ESPALIER_SOURCE_DIR "/configs/workloads/themis.yaml", "-s",
                      "workload.name=[dlrm, transformer_1t]", "--json", "-"});
  REQUIRE(outcome.exit_code == 0);
  CHECK_THAT(outcome.out, Contains("\"verified\": true"));
  CHECK_THAT(outcome.out, Contains("\"workload\": \"transformer_1t\""));
  CHECK_THAT(outcome.out, Contains("\"exposed_model_ns\""));
  CHECK_THAT(test::espalier({"list", "workloads"}).out, Contains("dlrm"));
}

TEST_CASE("The networks and ways to train are listed") {
  const Outcome networks = test::espalier({"list", "networks"});
  CHECK(networks.exit_code == 0);
  for (const char* name : {"alexnet", "alphago_zero", "faster_rcnn", "gnmt", "googlenet", "ncf",
                           "resnet152", "resnet50", "transformer"}) {
    CHECK_THAT(networks.out, Contains(name));
  }
  CHECK_THAT(test::espalier({"list", "overlap"}).out, Contains("layerwise"));
  CHECK_THAT(test::espalier({"schema"}).out, Contains("mini_batch"));
}

TEST_CASE("A built-in network trains from any folder") {
  const TemporaryFolder folder;
  const std::string config = folder.write(
      "ncf.yaml",
      "system: {topology: {type: torus, dims: [2, 2]}}\n"
      "training: {network: ncf, overlap: layerwise}\ncollective: {algorithm: multitree}\n");
  const Outcome outcome = test::run_program(ESPALIER_PROGRAM, {"run", config, "--json", "-"}, "/");
  INFO(outcome.err);
  REQUIRE(outcome.exit_code == 0);
  const Json result = Json::parse(outcome.out).at("results").at(0);
  CHECK(result.at("verified") == true);
  CHECK(result.at("collectives").size() == 8);
}

TEST_CASE("The all-reduces of an iteration are checked together") {
  const TemporaryFolder folder;
  const Outcome outcome = test::espalier({"check", write_training(folder)});
  INFO(outcome.err);
  CHECK(outcome.exit_code == 0);
  // Ring: 6 nodes send in each of 10 steps, for each of 3 layers.
  CHECK_THAT(outcome.out, Contains("180 transfers in 30 steps"));
}

TEST_CASE("A schedule file keeps the one all-reduce of an iteration without overlap") {
  const TemporaryFolder folder;
  const std::string config = write_training(folder);
  const std::vector<std::string> one{"-s", "training.overlap=none", "-s",
                                     "collective.algorithm=multitree"};
  std::vector<std::string> write{"schedule", config, "--format",
                                 "json",     "-o",   folder.file("schedule.json")};
  write.insert(write.end(), one.begin(), one.end());
  const Outcome written = test::espalier(write);
  INFO(written.err);
  REQUIRE(written.exit_code == 0);
  std::vector<std::string> run{config};
  run.insert(run.end(), one.begin(), one.end());
  const Json direct = test::run_to_json(run).at("results").at(0);
  const Json again = test::run_to_json({folder.file("schedule.json")}).at("results").at(0);
  CHECK(again.at("training") == direct.at("training"));

  const Outcome layerwise =
      test::espalier({"run", folder.file("schedule.json"), "-s", "training.overlap=layerwise"});
  CHECK(layerwise.exit_code == 2);
  CHECK_THAT(layerwise.err, Contains("holds one all-reduce"));
  folder.write("layers.csv", std::string(kLayers) + "fc3, 1, 1, 1, 1, 10, 10, 1,\n");
  const Outcome other = test::espalier({"run", folder.file("schedule.json")});
  CHECK(other.exit_code == 2);
  CHECK_THAT(other.err, Contains("the schedule's all-reduce has"));
  const Outcome refused =
      test::espalier({"schedule", config, "--format", "json", "-s", "training.overlap=layerwise",
                      "-s", "collective.algorithm=ring"});
  CHECK(refused.exit_code == 2);
  CHECK_THAT(refused.err, Contains("one for each layer"));
}

TEST_CASE("check and schedule show the plan of every collective that a workload needs") {
  const std::string file = ESPALIER_SOURCE_DIR "/configs/workloads/themis.yaml";
  const std::vector<std::string> one{"-s", "workload.name=dlrm", "-s",
                                     "collective.algorithm=themis"};
  const auto with = [&](std::vector<std::string> words) {
    words.insert(words.end(), one.begin(), one.end());
    return test::espalier(words);
  };
  const Outcome checked = with({"check", file});
  INFO(checked.out);
  CHECK(checked.exit_code == 0);
  CHECK_THAT(checked.out, Contains("themis dlrm, all_reduce of ") &&
                              Contains(" B over all NPUs on 3D-sw_sw_sw 16x8x8: certified"));
  CHECK_THAT(checked.out, Contains("all_to_all of ") && Contains("has no plan"));
  CHECK_THAT(with({"schedule", file}).out, Contains("themis all_reduce of 114823168 B on "));
}
