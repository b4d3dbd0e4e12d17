// Whatever ends a sweep, or one of its points, the rest goes on and nothing is there twice or in
// part.
#include <catch2/catch.hpp>

#include <csignal>
#include <filesystem>
#include <random>

#include "interruption.h"

using namespace espalier;
using Catch::Matchers::Contains;
using test::in_shell;
using test::interrupt;
using test::Json;
using test::Outcome;
using test::RunningCommand;
using test::SweepFolder;
using test::three_points;

namespace {

// Forty points of some ten milliseconds each.
constexpr const char* kForty =
    "title: Forty\n"
    "config: {system: {topology: {type: torus, dims: [4, 4]}}, collective: {size: 64KiB}}\n"
    "axes:\n"
    "  - {key: collective.algorithm, values: [ring, multitree]}\n"
    "  - {key: system.link.latency, from: 10ns, to: 100ns, step: 10ns}\n"
    "  - {key: system.router.vcs, values: [2, 4]}\n";

// Two points of a minute or more, and one of a few milliseconds.
constexpr const char* kEndless =
    "title: Endless\n"
    "config: {system: {topology: {type: mesh, dims: [2, 2]}}, collective: {algorithm: ring}}\n"
    "axes:\n"
    "  - zip:\n"
    "    - {key: collective.size, values: [4GiB, 8GiB, 4KiB]}\n"
    "    - {key: simulation.fidelity, values: [cycle, cycle, train]}\n";

Json failure_of(const SweepFolder& sweep, const std::string& id) {
  return Json::parse(sweep.text("out/points/" + id + ".failed.json"));
}

}  // namespace

TEST_CASE("A sweep that is killed ten times and resumed gives the same bytes", "[slow]") {
  const SweepFolder sweep(kForty);
  REQUIRE(sweep.call("run", {}, "whole").exit_code == 0);
  REQUIRE(sweep.call("gather", {}, "whole").exit_code == 0);
  std::mt19937 random(2024);
  std::uniform_int_distribution<int> milliseconds(5, 120);
  std::size_t killed = 0;
  for (int i = 0; i < 10; ++i) {
    RunningCommand run(sweep.arguments("run"));
    std::this_thread::sleep_for(std::chrono::milliseconds(milliseconds(random)));
    if (run.running()) ++killed;
    const std::vector<int> workers = test::children_of(run.pid());
    run.send(SIGKILL);
    static_cast<void>(run.wait());
    // Its workers end with it.
    for (const int worker : workers)
      CHECK(test::wait_until([&] { return ::kill(worker, 0) != 0; }));
    // Enough to do for all of them.
    if (sweep.point_files().size() > 30) std::filesystem::remove_all(sweep.path("out/points"));
  }
  CHECK(killed >= 7);
  const Outcome rest = sweep.call("run");
  CAPTURE(rest.err, rest.out);
  REQUIRE(rest.exit_code == 0);
  std::set<std::string> expected;
  for (const std::string& id : sweep.ids()) expected.insert(id + ".json");
  CHECK(expected.size() == 40);
  CHECK(sweep.point_files() == expected);
  REQUIRE(sweep.call("gather").exit_code == 0);
  CHECK(sweep.text("out/results.csv") == sweep.text("whole/results.csv"));
  CHECK(sweep.text("out/results.jsonl") == sweep.text("whole/results.jsonl"));
}

TEST_CASE(
    "SIGINT, SIGTERM and SIGHUP end the workers, leave only complete files, and say how to "
    "continue") {
  for (const auto& [signal, exit_code, name] :
       {std::tuple(SIGINT, 130, "SIGINT"), std::tuple(SIGTERM, 143, "SIGTERM"),
        std::tuple(SIGHUP, 129, "SIGHUP")}) {
    const SweepFolder sweep(kEndless);
    RunningCommand run(sweep.arguments("run", {"-j", "3"}));
    REQUIRE(test::wait_until([&] { return sweep.finished_points() == 1; }));
    const std::vector<int> workers = test::children_of(run.pid());
    CHECK(workers.size() == 2);
    run.send(signal);
    const Outcome outcome = run.wait();
    CHECK(outcome.exit_code == exit_code);
    CHECK_THAT(outcome.err, Contains(std::string("stopped by ") + name) &&
                                Contains("2 points are left, and the same command continues"));
    for (const int worker : workers) CHECK(::kill(worker, 0) != 0);
    CHECK(sweep.point_files() == std::set<std::string>{sweep.ids().back() + ".json"});
  }
}

TEST_CASE("run stops as cleanly") {
  const SweepFolder folder;
  const std::string config =
      folder.write("long.yaml",
                   "system: {topology: {type: mesh, dims: [2, 2]}}\nsimulation: {fidelity: cycle}\n"
                   "collective: {algorithm: ring, size: [4GiB, 8GiB]}\n");
  RunningCommand run({"run", config, "--json", folder.path("r.json")});
  REQUIRE(test::wait_until([&] { return !test::children_of(run.pid()).empty(); }));
  const std::vector<int> workers = test::children_of(run.pid());
  run.send(SIGINT);
  const Outcome outcome = run.wait();
  CHECK(outcome.exit_code == 130);
  CHECK_THAT(outcome.err, Contains("stopped by SIGINT"));
  for (const int worker : workers) CHECK(::kill(worker, 0) != 0);
  CHECK_FALSE(std::filesystem::exists(folder.path("r.json")));
}

TEST_CASE(
    "An interrupted run keeps its finished points, and the command that it prints completes it") {
  const SweepFolder folder;
  const std::string config = folder.write("three.yaml", three_points("64MiB"));
  const std::string results = folder.path("r.json");
  const Outcome stopped = interrupt({"run", config, "-j", "2", "--json", results}, SIGTERM);
  CAPTURE(stopped.err);
  CHECK(stopped.exit_code == 143);
  CHECK_THAT(stopped.err, Contains("stopped by SIGTERM; 2 of 3 points are finished and kept in " +
                                   results + ".partial; to continue:\n    espalier run "));
  CHECK_FALSE(std::filesystem::exists(results));
  const Outcome resumed = in_shell(stopped.err.substr(stopped.err.find("    espalier run ")));
  CAPTURE(resumed.err);
  CHECK(resumed.exit_code == 0);
  CHECK_THAT(resumed.err, Contains(".partial: 2 of 3 points are finished"));
  CHECK_FALSE(std::filesystem::exists(results + ".partial"));
  REQUIRE(test::espalier({"run", config, "--json", folder.path("whole.json")}).exit_code == 0);
  const auto without_command = [&](const std::string& name) {
    Json document = test::without_host(Json::parse(folder.text(name)));
    document.erase("command");
    return document;
  };
  CHECK(without_command("r.json").dump() == without_command("whole.json").dump());
}

TEST_CASE("run --resume takes no points of another configuration, and tells other versions") {
  const SweepFolder folder;
  const std::string config = folder.write("three.yaml", three_points("8GiB"));
  const std::string results = folder.path("r.json");
  const std::string kept = results + ".partial";
  std::vector<std::string> run{"run", config, "-j", "2", "--json", results};
  REQUIRE(interrupt(run).exit_code == 130);
  std::vector<std::string> other = run;
  other.insert(other.end(), {"-s", "system.link.latency=20ns", "--resume"});
  const Outcome refused = test::espalier(other);
  CHECK(refused.exit_code == 2);
  CHECK_THAT(refused.err,
             Contains(kept + ": error: the finished points belong to another configuration"));
  // The same configuration without --resume leaves the points where they are.
  const Outcome again = interrupt(run);
  CHECK_THAT(again.err, Contains(kept + ": note: 2 of 3 points are finished since an earlier run; "
                                        "--resume uses them"));
  std::size_t points = 0;
  for (const auto& entry : std::filesystem::directory_iterator(kept + "/points")) {
    const std::string name = "r.json.partial/points/" + entry.path().filename().string();
    Json point = Json::parse(folder.text(name));
    point["version"] = "0.0.9";
    folder.write(name, point.dump());
    ++points;
  }
  CHECK(points == 2);
  std::vector<std::string> resume = run;
  resume.emplace_back("--resume");
  const Outcome resumed = interrupt(resume);
  CAPTURE(resumed.err);
  CHECK_THAT(resumed.err, Contains("warning: finished points are results of espalier 0.0.9"));
  CHECK_THAT(resumed.err, Contains("2 of 3 points are finished and kept"));
  // A folder of somebody else is left alone.
  folder.write("s.json", "");
  std::filesystem::create_directories(folder.path("s.json.partial/precious"));
  const Outcome foreign = test::espalier({"run", config, "--json", folder.path("s.json")});
  CHECK(foreign.exit_code == 2);
  CHECK_THAT(foreign.err, Contains("s.json.partial: error: it exists and holds no points"));
  CHECK(std::filesystem::exists(folder.path("s.json.partial/precious")));
}

TEST_CASE("An interrupted run without a file of results prints the finished rows") {
  const SweepFolder folder;
  const std::string config = folder.write("three.yaml", three_points("8GiB"));
  const Outcome stopped = interrupt({"run", config, "-j", "2"});
  CHECK(stopped.exit_code == 130);
  CHECK_THAT(stopped.err, Contains("2 of 3 points are finished, and their rows are printed; with "
                                   "--json FILE, run keeps them and --resume continues"));
  // Title, two rows, and what the energy leaves out.
  CHECK(test::lines_of(stopped.out).size() == 4);
}

TEST_CASE("run --resume needs a file of results, and a run without finished points begins anew") {
  const SweepFolder folder;
  const std::string config = folder.write("three.yaml", three_points("16KiB"));
  for (const std::vector<std::string>& output :
       {std::vector<std::string>{},
        {"--json", "-"},
        {"--json", folder.path("a"), "--messages", folder.path("b")}}) {
    std::vector<std::string> command{"run", config, "--resume"};
    command.insert(command.end(), output.begin(), output.end());
    const Outcome outcome = test::espalier(command);
    CHECK(outcome.exit_code == 2);
    CHECK(outcome.out.empty());
    CHECK_THAT(outcome.err, Contains("--resume: "));
  }
  const Outcome fresh = test::espalier({"run", config, "--csv", folder.path("r.csv"), "--resume"});
  CHECK(fresh.exit_code == 0);
  CHECK_THAT(fresh.err, Contains("there are no finished points; all points are simulated"));
  CHECK_FALSE(std::filesystem::exists(folder.path("r.csv.partial")));
}

TEST_CASE("A point that exceeds its time limit fails, and the other points have results") {
  const SweepFolder sweep(kEndless);
  const Outcome outcome = sweep.call("run", {"--time-limit", "500ms"});
  CHECK(outcome.exit_code == 1);
  CHECK_THAT(outcome.out, Contains("3 points: 1 finished, 1 of them now; 2 failed"));
  const auto ids = sweep.ids();
  CHECK(failure_of(sweep, ids[0]).at("kind") == "time_limit");
  CHECK_THAT(outcome.err, Contains(ids[0]) && Contains("time limit of 500ms"));
  // Kept where that is wanted, tried again otherwise.
  const Outcome kept = sweep.call("run", {"--keep-failed"});
  CHECK(kept.exit_code == 1);
  CHECK_THAT(kept.out, Contains("1 finished, 0 of them now; 2 failed"));
  const Outcome gather = sweep.call("gather", {"--partial"});
  CHECK(gather.exit_code == 1);
  CHECK_THAT(gather.err, Contains("failed: " + ids[1]) && Contains("time limit"));
}

TEST_CASE("A point that takes too much memory fails alone", "[slow]") {
  const SweepFolder sweep(
      "title: t\n"
      "config: {system: {topology: {type: torus}}, collective: {algorithm: multitree, size: "
      "1MiB}}\n"
      "axes: [{key: system.topology.dims, values: [[2, 2], [20, 20]]}]\n"
      "memory_limit: 40MiB\n");
  const Outcome outcome = sweep.call("run");
  CAPTURE(outcome.err);
  CHECK(outcome.exit_code == 1);
  CHECK_THAT(outcome.out, Contains("1 finished") && Contains("1 failed"));
  CHECK(failure_of(sweep, sweep.ids()[1]).at("kind") == "memory_limit");
  CHECK_THAT(outcome.err, Contains("memory limit of 40MiB"));
  CHECK_THAT(sweep.call("run", {"--memory-limit", "4GiB"}).out, Contains("2 finished, 1 of"));
  CHECK(sweep.point_files().size() == 2);  // the failure is gone
}

TEST_CASE("A point whose process is killed fails alone") {
  const SweepFolder sweep(kEndless);
  RunningCommand run(sweep.arguments("run", {"-j", "3"}));
  REQUIRE(test::wait_until([&] { return sweep.finished_points() == 1; }));
  for (const int worker : test::children_of(run.pid())) ::kill(worker, SIGKILL);
  const Outcome outcome = run.wait();
  CHECK(outcome.exit_code == 1);
  CHECK_THAT(outcome.out, Contains("1 finished, 1 of them now; 2 failed"));
  const Json failure = failure_of(sweep, sweep.ids()[0]);
  CHECK(failure.at("kind") == "crash");
  CHECK_THAT(failure.at("failure").get<std::string>(),
             Contains("SIGKILL; the machine was probably out of memory"));
}

TEST_CASE("A result that cannot be written stops the sweep") {
  const SweepFolder sweep(kForty);
  REQUIRE(sweep.call("plan").exit_code == 0);
  // No file can take its place, whoever tries.
  const std::string first = sweep.path("out/points/" + sweep.ids().front() + ".json");
  std::filesystem::create_directories(first + "/full");
  for (const char* jobs : {"1", "2", "4"}) {
    const Outcome outcome = sweep.call("run", {"-j", jobs});
    CAPTURE(jobs, outcome.err, outcome.out);
    CHECK(outcome.exit_code == 2);
    const std::size_t written = sweep.point_files().size() - 1;
    CHECK(written < 39);
    CHECK_THAT(outcome.out, Contains("40 points: " + std::to_string(written) + " finished"));
    CHECK_THAT(outcome.err, Contains("results cannot be written; " + std::to_string(40 - written) +
                                     " points are left"));
  }
}

namespace {

// The first point takes a second, so that a file can be changed before the second one begins.
constexpr const char* kTwoPoints =
    "system: {topology: {type: mesh, dims: [2, 2]}}\nsimulation: {fidelity: cycle}\n"
    "collective: {algorithm: ring, size: [64MiB, 8KiB], rank_order: order.yaml}\n";
constexpr const char* kOrder = "rank_order: [0, 1, 3, 2]\n";

// Runs the command, and writes `text` to `path` when its first worker is there.
Outcome run_while_changing(const std::vector<std::string>& command, const std::string& path,
                           const std::string& text) {
  RunningCommand run(command);
  REQUIRE(test::wait_until([&] { return !test::children_of(run.pid()).empty(); }));
  std::ofstream(path + ".new") << text;
  std::filesystem::rename(path + ".new", path);
  return run.wait();
}

}  // namespace

TEST_CASE("A configuration that changes while run works changes no point that was read") {
  const SweepFolder folder;
  folder.write("order.yaml", kOrder);
  const std::string config = folder.write("two.yaml", kTwoPoints);
  const std::string before = test::espalier({"run", "-j", "1", config}).out;
  const Outcome outcome = run_while_changing({"run", "-j", "1", config}, config,
                                             std::string(kTwoPoints) + "seed_of_nothing: 1\n");
  CAPTURE(outcome.err);
  CHECK(outcome.exit_code == 0);
  CHECK(outcome.out == before);
}

TEST_CASE("A file that a configuration names and that changes makes the later points fail") {
  const SweepFolder folder;
  const std::string order = folder.write("order.yaml", kOrder);
  const std::string config = folder.write("two.yaml", kTwoPoints);
  const std::string sweep = folder.write(
      "changing.yaml",
      "title: t\nconfig: {system: {topology: {type: mesh, dims: [2, 2]}}, simulation: {fidelity: "
      "cycle}, collective: {algorithm: ring, rank_order: order.yaml}}\n"
      "axes: [{key: collective.size, values: [64MiB, 8KiB]}]\n");
  for (const std::vector<std::string>& command :
       {std::vector<std::string>{"run", "-j", "1", config},
        {"sweep", "run", "-j", "1", sweep, "-o", folder.path("sweep")}}) {
    folder.write("order.yaml", kOrder);
    const Outcome outcome = run_while_changing(command, order, "rank_order: [0, 3, 1, 2]\n");
    CAPTURE(command, outcome.err, outcome.out);
    CHECK(outcome.exit_code == 1);
    CHECK_THAT(outcome.err, Contains("order.yaml: changed after the points were read"));
  }
}

TEST_CASE("A sweep needs few file descriptors") {
  const SweepFolder sweep;
  const Outcome outcome = test::run_program(
      "/bin/sh", {"-c", "ulimit -n 20; exec \"$0\" sweep run -j 16 \"$1\" -o \"$2\"",
                  ESPALIER_PROGRAM, sweep.file(), sweep.path("out")});
  CAPTURE(outcome.err, outcome.out);
  CHECK(outcome.exit_code == 0);
  CHECK(sweep.point_files().size() == 12);
}
