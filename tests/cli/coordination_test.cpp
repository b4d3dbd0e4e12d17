// Coordinated training jobs as users run them.
#include <catch2/catch.hpp>

#include <cmath>
#include <string>
#include <vector>

#include "cli_test_support.h"

using namespace espalier;
using Catch::Matchers::Contains;
using test::Json;
using test::Outcome;

namespace {

// Two servers of three GPUs; every key of `coordination` may follow.
const std::string kJob =
    "system:\n"
    "  topology: {type: gpu_cluster, servers: 2, gpus_per_server: 3, gpus_per_nic_group: 3,\n"
    "             nic_link: {bandwidth: 23GB/s, latency: 200ns}}\n"
    "  link: {bandwidth: 50GB/s, latency: 200ns}\n"
    "  router: {clock: 1GHz, flit_bytes: 50, vc_depth_flits: 1000}\n"
    "  flow_control: {mode: packet, payload_bytes: 4000}\n"
    "training: {network: alexnet, mini_batch: 1, overlap: layerwise}\n"
    "collective: {algorithm: ring}\n"
    "coordination:\n"
    "  compute_time: 12ms\n"
    "  tensors: bias\n"
    "  jitter: 0.1\n"
    "  order_window: 3\n";

// Gradients of 400 kB, where alexnet has 240 MB.
const std::string kSmallNetwork = "file: " ESPALIER_SOURCE_DIR "/configs/training_small.csv";

Json run_job(const std::string& more, std::vector<std::string> overrides = {},
             const std::string& network = "network: alexnet") {
  const test::TemporaryFolder folder;
  std::string job = kJob + more;
  const std::string alexnet = "network: alexnet";
  job.replace(job.find(alexnet), alexnet.size(), network);
  std::vector<std::string> arguments{folder.write("job.yaml", job)};
  for (const std::string& o : overrides) arguments.insert(arguments.end(), {"-s", o});
  return test::run_to_json(arguments).at("results");
}

Outcome run_wrong(const std::string& text) {
  const test::TemporaryFolder folder;
  return test::espalier({"run", folder.write("job.yaml", text)});
}

// Without what names the fidelity.
Json alike(Json result) {
  for (const char* key : {"host", "fidelity", "config_hash"}) result.erase(key);
  return result;
}

double figure(const Json& result, const char* key) {
  return result.at("training").at(key).get<double>();
}

}  // namespace

TEST_CASE("A coordinated job on the network ends alike in both fidelities, in every mode") {
  const std::string modes =
      "  mode: [coordinator, hierarchical, cached, in_ni]\n  compute_contention: 0.4\n  "
      "iterations: 2\n";
  const Json train = run_job(modes, {"simulation.fidelity=train"}, kSmallNetwork);
  const Json cycle = run_job(modes, {"simulation.fidelity=cycle"}, kSmallNetwork);
  REQUIRE(train.size() == 4);
  for (std::size_t i = 0; i < train.size(); ++i) {
    CAPTURE(train.at(i).at("coordination").at("mode"));
    CHECK(train.at(i).at("verified") == true);
    CHECK(train.at(i).at("coordination").at("data_plane") == "network");
    CHECK(alike(train.at(i)) == alike(cycle.at(i)));
  }
}

TEST_CASE("A job without an algorithm chooses for every size that its hosts fuse") {
  const Json result =
      run_job("  data_plane: network\n  control_plane: network\n",
              {"collective.algorithm=auto", "coordination.iterations=1"}, kSmallNetwork)
          .at(0);
  INFO(result.dump(2));
  CHECK(result["verified"] == true);
  CHECK(result["algorithm"] == "auto");
  // Not one of the candidates' simulations failed because the job was being simulated.
  const auto choice = result["choice"].get<std::string>();
  CHECK_THAT(choice, Contains(" for ") && Contains(" B"));
}

TEST_CASE("The closed form is near the simulation on a small network") {
  const std::string modes = "  mode: [coordinator, hierarchical, cached, in_ni]\n";
  const Json network = run_job(modes);
  const Json messages = run_job(modes, {"coordination.data_plane=closed_form"});
  const Json nothing = run_job(
      modes, {"coordination.data_plane=closed_form", "coordination.control_plane=closed_form"});
  for (std::size_t i = 0; i < network.size(); ++i) {
    CAPTURE(network.at(i).at("coordination").at("mode"));
    const double real = figure(network.at(i), "iteration_ns");
    CHECK(std::abs(figure(messages.at(i), "iteration_ns") / real - 1) < 0.05);
    CHECK(std::abs(figure(nothing.at(i), "iteration_ns") / real - 1) < 0.05);
    // The same messages, one by one.
    CHECK(nothing.at(i).at("coordination").at("control_messages") ==
          messages.at(i).at("coordination").at("control_messages"));
    const double waited = figure(messages.at(i), "coordination_ns");
    CHECK(std::abs(figure(nothing.at(i), "coordination_ns") - waited) <= 0.01 * waited);
  }
}

TEST_CASE("The same seed gives the same bytes, another one another job") {
  const auto job = [](const char* seed) { return run_job(seed, {}, kSmallNetwork); };
  const Json first = job("  seed: 5\n");
  CHECK(test::without_host(first) == test::without_host(job("  seed: 5\n")));
  CHECK(first.at(0).at("cycles") != job("  seed: 6\n").at(0).at("cycles"));
}

TEST_CASE("Ranks without coordination deadlock, and the watchdog says in which all-reduces") {
  for (const char* planes : {"", "  control_plane: closed_form\n  data_plane: closed_form\n"}) {
    const Outcome outcome = run_wrong(kJob + "  mode: none\n" + planes);
    CAPTURE(planes, outcome.out, outcome.err);
    CHECK(outcome.exit_code == 1);
    const std::string text = outcome.out + outcome.err;
    CHECK_THAT(text, Contains("waits for") && Contains("/weights") &&
                         (Contains("net.ni_n_1") || Contains("host_1")));
  }
  // The same order everywhere is an order.
  const Json same = run_job("  mode: none\n", {"coordination.order_window=1"});
  CHECK(same.at(0).at("verified") == true);
}

TEST_CASE("The response cache ends the coordinator's part with the first iteration") {
  const Json result = run_job("  mode: cached\n  iterations: 4\n  data_plane: closed_form\n").at(0);
  const Json& by_iteration = result.at("coordination").at("by_iteration");
  REQUIRE(by_iteration.size() == 4);
  const auto per_cycle = [&](std::size_t i) {
    return by_iteration.at(i).at("control_ns").get<double>() /
           by_iteration.at(i).at("control_cycles").get<double>();
  };
  CHECK(per_cycle(0) > 1.2 * per_cycle(1));
  CHECK(per_cycle(3) == Approx(per_cycle(1)).epsilon(0.2));
}

TEST_CASE("Groups make fewer and larger all-reduces") {
  const Json results = run_job("  num_groups: [0, 2]\n");
  CHECK(figure(results.at(1), "all_reduces") < figure(results.at(0), "all_reduces"));
}

TEST_CASE("All-reduces that slow computing down make iterations longer and groups more useful") {
  const Json results = run_job(
      "  mode: in_ni\n  num_groups: [0, 1]\n  compute_contention: [0, 0.8]\n"
      "  data_plane: closed_form\n",
      {"coordination.compute_time=30ms", "coordination.jitter=0", "coordination.order_window=1"});
  REQUIRE(results.size() == 4);  // groups outermost
  CHECK(figure(results.at(1), "iteration_ns") > 1.05 * figure(results.at(0), "iteration_ns"));
  // One all-reduce of everything runs when computing is over.
  CHECK(figure(results.at(3), "iteration_ns") == figure(results.at(2), "iteration_ns"));
}

TEST_CASE("Results name the unit that reduces, and warnings name settings without effect") {
  const Json network =
      run_job("  mode: in_ni\n  iterations: 1\n", {"training.network=alphago_zero"}).at(0);
  CHECK(network.at("algorithm") == "ring");
  const Json tree = run_job(
                        "  mode: in_ni\n  iterations: 1\n  data_plane: closed_form\n"
                        "  closed_form: {algorithm: tree}\n")
                        .at(0);
  CHECK(tree.at("algorithm") == "tree, closed form");
  const Outcome silent = run_wrong(kJob + "  mode: in_ni\n  message_overhead: 1us\n");
  CHECK_THAT(silent.err, Contains("message_overhead has no effect"));
}

TEST_CASE("A mistake in the coordination section is refused with its place") {
  const Outcome lonely = run_wrong(
      "system: {topology: {type: mesh, dims: [2, 2]}}\n"
      "collective: {algorithm: ring, size: 1KiB}\ncoordination: {mode: cached}\n");
  CHECK(lonely.exit_code == 2);
  CHECK_THAT(lonely.err,
             Contains("job.yaml:3:1") &&
                 Contains("section 'coordination' needs section 'training', which is missing"));

  const Outcome half = run_wrong(kJob + "  control_plane: closed_form\n  data_plane: network\n");
  CHECK(half.exit_code == 2);
  CHECK_THAT(half.err, Contains("coordination.data_plane") &&
                           Contains("need control messages in the simulated network"));

  const Outcome typing = run_wrong(kJob + "  mode: cachd\n");
  CHECK(typing.exit_code == 2);
  CHECK_THAT(typing.err, Contains("cached"));

  const Outcome faulty = run_wrong(kJob +
                                   "  control_plane: closed_form\n  data_plane: closed_form\n"
                                   "faults: {dma_jitter: {max_cycles: 5}}\n");
  CHECK(faulty.exit_code == 2);
  CHECK_THAT(faulty.err, Contains("a closed form cannot describe faults"));

  const Outcome slow = run_wrong(kJob +
                                 "  data_plane: closed_form\n"
                                 "faults: {dma_jitter: {max_cycles: 5}}\n");
  CHECK(slow.exit_code == 2);
  CHECK_THAT(slow.err, Contains("a closed form cannot describe faults") &&
                           Contains("coordination.data_plane: network"));

  const test::TemporaryFolder folder;
  const Outcome listed = test::espalier(
      {"run",
       folder.write("listed.yaml",
                    kJob + "  control_plane: closed_form\n  data_plane: closed_form\n"),
       "--messages", folder.file("messages.csv")});
  CHECK(listed.exit_code == 2);
  CHECK_THAT(listed.err, Contains("a closed form has no messages to list"));
  const Outcome timeline = test::espalier(
      {"run", folder.write("job.yaml", kJob), "--timeline", folder.file("run.json")});
  CHECK(timeline.exit_code == 2);
  CHECK_THAT(timeline.err, Contains("coordinated job"));

  const Outcome beside = run_wrong(kJob + "control: {injection_rate: 0.01}\n");
  CHECK(beside.exit_code == 2);
  CHECK_THAT(beside.err, Contains("sends its own control messages"));
}
