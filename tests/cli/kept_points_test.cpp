// What run, compare and latency keep of finished points, whatever ends them.
#include <sys/stat.h>

#include <catch2/catch.hpp>
#include <chrono>
#include <csignal>
#include <filesystem>

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
namespace fs = std::filesystem;

namespace {

// The command behind "to continue:", run in a shell. `was` in it is replaced by `is`.
Outcome resumed(const std::string& err, const std::string& was, const std::string& is) {
  std::string command = err.substr(err.find("    espalier "));
  for (std::size_t at = 0; (at = command.find(was, at)) != std::string::npos; at += is.size())
    command.replace(at, was.size(), is);
  return in_shell(command);
}

std::size_t files_in(const std::string& folder) {
  const fs::directory_iterator files(folder);
  return static_cast<std::size_t>(std::distance(begin(files), end(files)));
}

}  // namespace

TEST_CASE("A run that was killed while it made the folder of its points begins anew") {
  for (const char* inner : {"", "/points", "/points/a.json.1.host.2.new"}) {
    const SweepFolder folder;
    const std::string config = folder.write("three.yaml", three_points("16KiB"));
    for (const bool resumes : {false, true}) {
      fs::create_directories(folder.path("r.json.partial/points"));
      const std::string last = folder.path("r.json.partial") + inner;
      if (fs::path(last).extension() == ".new") std::ofstream(last) << "{";
      std::vector<std::string> run{"run", config, "--json", folder.path("r.json")};
      if (resumes) run.emplace_back("--resume");
      const Outcome outcome = test::espalier(run);
      CAPTURE(inner, resumes, outcome.err);
      CHECK(outcome.exit_code == 0);
    }
  }
}

TEST_CASE("A pipe in the place of a kept point does not block a run") {
  const SweepFolder folder;
  const std::string config = folder.write("three.yaml", three_points("8GiB"));
  const std::string results = folder.path("r.json");
  const std::vector<std::string> command{"run", config, "-j", "2", "--json", results};
  REQUIRE(interrupt(command).exit_code == 130);
  const fs::path kept = fs::directory_iterator(results + ".partial/points")->path();
  fs::remove(kept);
  REQUIRE(mkfifo(kept.c_str(), 0600) == 0);
  std::vector<std::string> again = command;
  again.emplace_back("--resume");
  const Outcome resumed = interrupt(again);
  CHECK(resumed.exit_code == 130);
  CHECK_THAT(resumed.err, Contains(kept.string() + " is a pipe; simulating the point again"));
}

TEST_CASE("The kept points of two configurations lie beside each other") {
  const SweepFolder folder;
  const std::string results = folder.path("r.json");
  const std::string first = folder.write("first.yaml", three_points("8GiB"));
  const Outcome stopped = interrupt({"run", first, "-j", "2", "--json", results});
  REQUIRE(stopped.exit_code == 130);
  REQUIRE(files_in(results + ".partial/points") == 2);
  const std::string second = folder.write("second.yaml", three_points("16KiB"));
  const Outcome other =
      test::espalier({"run", second, "-s", "system.router.vcs=2", "--json", results});
  CHECK(other.exit_code == 0);
  CHECK(files_in(results + ".partial/points") == 2);
}

TEST_CASE("Kept points with members of another type are reported and simulated again") {
  const SweepFolder folder;
  const std::string results = folder.path("r.json");
  const std::string config = folder.write("three.yaml", three_points("8GiB"));
  REQUIRE(interrupt({"run", config, "-j", "2", "--json", results}).exit_code == 130);
  const std::string file = fs::directory_iterator(results + ".partial/points")->path().string();
  const std::string good = test::read_text(file);
  const std::pair<const char*, Json> changes[] = {
      {"/version", 5},       {"/version", nullptr},
      {"/host", "me"},       {"/result/size_bytes", "many"},
      {"/result/energy", 1}, {"/result/area", Json::array()},
      {"/note", 7},          {"/result_hash", Json::value_t::discarded}};
  for (const auto& [pointer, value] : changes) {
    Json document = Json::parse(good);
    document[Json::json_pointer(pointer)] = value;
    if (value.is_discarded()) document.erase("result_hash");
    std::ofstream(file) << document.dump();
    RunningCommand run({"run", config, "-j", "2", "--json", results, "--resume"});
    REQUIRE(test::wait_until([&] { return !test::children_of(run.pid()).empty(); }));
    run.send(SIGINT);
    const Outcome outcome = run.wait();
    CAPTURE(pointer, outcome.err);
    CHECK(outcome.exit_code == 130);
    CHECK_THAT(outcome.err, Contains("warning: " + file) && Contains("simulating the point again"));
    CHECK_THAT(outcome.err, !Contains("json.exception"));
  }
}

TEST_CASE("A run of one point takes it from the points that are kept, with its note") {
  const SweepFolder folder;
  const std::string results = folder.path("r.json");
  const std::string config = folder.write("three.yaml", three_points("8GiB"));
  REQUIRE(interrupt({"explain", "--all", config, "-j", "2", "--json", results}).exit_code == 130);
  for (const auto& entry : fs::directory_iterator(results + ".partial/points")) {
    Json document = Json::parse(test::read_text(entry.path().string()));
    document["note"] = "it was slow";
    std::ofstream(entry.path()) << document.dump();
  }
  const Outcome one = test::espalier(
      {"explain", config, "-s", "collective.size=4KiB", "--json", results, "--resume"});
  CAPTURE(one.err);
  CHECK(one.exit_code == 0);
  CHECK_THAT(one.err, Contains("1 of 1 points are finished\n") && Contains("note: it was slow"));
  CHECK(files_in(results + ".partial/points") == 1);
  const Outcome none = test::espalier({"run", config, "-s", "collective.size=16KiB", "--json",
                                       folder.path("other.json"), "--resume"});
  CHECK(none.exit_code == 0);
  CHECK_THAT(none.err, Contains("there are no finished points"));
  for (const char* option : {"--waves", "--timeline", "--messages"}) {
    const Outcome observed = test::espalier({"run", config, "-s", "collective.size=4KiB", "--json",
                                             results, "--resume", option, folder.path("w.fst")});
    CHECK(observed.exit_code == 2);
    CHECK_THAT(observed.err, Contains(std::string("which ") + option + " needs"));
  }
}

TEST_CASE("The command that continues a run explains as much as the run did") {
  const SweepFolder folder;
  const std::string config = folder.write("three.yaml", three_points("8GiB"));
  const std::string results = folder.path("r.json");
  const Outcome all = interrupt({"explain", "--all", config, "-j", "2", "--json", results});
  CHECK_THAT(all.err, Contains("    espalier explain " + config) && Contains(" --all --resume"));
  const Outcome brief = interrupt({"run", "--explain", config, "-j", "2", "--json", results});
  CHECK_THAT(brief.err, Contains("    espalier run " + config) && Contains(" --explain --resume"));
}

TEST_CASE("A comparison that is stopped counts given-up algorithms on their own") {
  const SweepFolder folder;
  const std::string config = folder.write("net.yaml",
                                          "system: {topology: {type: torus, dims: [8, 8]}}\n"
                                          "simulation: {fidelity: cycle}\n"
                                          "collective: {size: [4KiB, 8GiB]}\n");
  RunningCommand run({"compare", config, "-s", "collective.algorithm=[direct, ring]", "-j", "1"});
  // Children that plan or simulate 4 KiB end at once.
  std::vector<int> child;
  auto since = std::chrono::steady_clock::now();
  REQUIRE(test::wait_until([&] {
    const auto now = std::chrono::steady_clock::now();
    const auto children = test::children_of(run.pid());
    if (children.empty() || children != child) since = now;
    child = children;
    return now - since > std::chrono::seconds(2);
  }));
  run.send(SIGINT);
  const Outcome stopped = run.wait();
  CHECK(stopped.exit_code == 130);
  CHECK_THAT(stopped.err,
             Contains("stopped by SIGINT; 1 of 4 algorithms are finished, 1 given up"));
}

TEST_CASE("A comparison that is stopped keeps its algorithms, and the same command continues it") {
  const SweepFolder folder;
  const std::string config = folder.write("net.yaml",
                                          "system: {topology: {type: mesh, dims: [2, 2]}}\n"
                                          "simulation: {fidelity: cycle}\n"
                                          "collective: {size: [4KiB, 8GiB]}\n");
  const std::string results = folder.path("r.json");
  const Outcome stopped = interrupt({"compare", config, "-s", "collective.algorithm=ring", "-j",
                                     "2", "--full", "--json", results});
  CAPTURE(stopped.err);
  CHECK(stopped.exit_code == 130);
  CHECK_THAT(stopped.err,
             Contains("stopped by SIGINT; 1 of 2 algorithms are finished and kept in " + results +
                      ".partial; to continue:\n    espalier compare "));
  CHECK_FALSE(fs::exists(results));
  CHECK(files_in(results + ".partial/points") == 1);
  // The points are known by their content, so a smaller comparison takes them, too.
  const Outcome rest = resumed(stopped.err, config, config + " -s collective.size=4KiB");
  CAPTURE(rest.err);
  CHECK(rest.exit_code == 0);
  CHECK_FALSE(fs::exists(results + ".partial"));
  const std::string whole = folder.path("whole.json");
  REQUIRE(test::espalier({"compare", config, "-s", "collective.size=4KiB", "-s",
                          "collective.algorithm=ring", "--json", whole})
              .exit_code == 0);
  CHECK(test::without_origin(Json::parse(test::read_text(results))).dump() ==
        test::without_origin(Json::parse(test::read_text(whole))).dump());
  const Outcome printed =
      interrupt({"compare", config, "-s", "collective.algorithm=ring", "-j", "2", "--full"});
  CHECK(printed.exit_code == 130);
  CHECK_THAT(printed.out, Contains("Best: ring"));
  CHECK_THAT(printed.err, Contains("with --json FILE, compare keeps them"));
}

TEST_CASE("Curves that are stopped keep their loads, and an older file of results stays") {
  const SweepFolder folder;
  const std::string config =
      folder.write("traffic.yaml",
                   "system: {topology: {type: mesh, dims: [2, 2]}}\n"
                   "traffic: {pattern: uniform, injection_rate: 0.1, message: 64B,\n"
                   "          measure_cycles: 2000}\n");
  const std::string results = folder.write("r.json", "older\n");
  // The second design takes a minute.
  const Outcome stopped =
      interrupt({"latency", config, "--loads", "0.1", "-s",
                 "traffic.measure_cycles=[2000,100000000]", "-j", "2", "--json", results});
  CAPTURE(stopped.err);
  CHECK(stopped.exit_code == 130);
  CHECK(test::read_text(results) == "older\n");
  CHECK_THAT(stopped.err, Contains("kept in " + results + ".partial; to continue:\n"));
  const Outcome rest = resumed(stopped.err, "2000,100000000", "2000,2100");
  CAPTURE(rest.err);
  CHECK(rest.exit_code == 0);
  CHECK(Json::parse(test::read_text(results)).at("results").size() == 2);
  CHECK_FALSE(fs::exists(results + ".partial"));
}

TEST_CASE(
    "A run of one point and a search for an order stop with a word, the search with its best") {
  const SweepFolder folder;
  const std::string config =
      folder.write("one.yaml",
                   "system: {topology: {type: mesh, dims: [4, 4]}}\nsimulation: {fidelity: cycle}\n"
                   "collective: {algorithm: ring, size: 8GiB}\n");
  for (const auto& [signal, code, text] : {std::tuple(SIGINT, 130, "stopped by SIGINT"),
                                           {SIGTERM, 143, "stopped by SIGTERM"},
                                           {SIGHUP, 129, "stopped by SIGHUP"}}) {
    RunningCommand run({"run", config});
    REQUIRE(
        test::wait_until([&run, s = signal] { return test::has_signal(run.pid(), "SigCgt", s); }));
    run.send(signal);
    const Outcome outcome = run.wait();
    CHECK(outcome.exit_code == code);
    CHECK_THAT(outcome.err, Contains(text));
  }
  const std::string order = folder.path("order.yaml");
  RunningCommand search({"reorder", config, "-s", "reorder.evaluations=1000000000", "-s",
                         "reorder.exact_nodes=2", "-o", order, "--no-simulate"});
  REQUIRE(test::wait_until([&] { return test::has_signal(search.pid(), "SigBlk", SIGINT); }));
  search.send(SIGINT);
  const Outcome outcome = search.wait();
  CAPTURE(outcome.err);
  CHECK(outcome.exit_code == 130);
  CHECK_THAT(outcome.err, Contains("stopped by SIGINT; the orders are the best"));
  CHECK_THAT(test::read_text(order), Contains("rank_order: ["));
}

TEST_CASE("A point that fails leaves the kept points of the others", "[slow]") {
  const SweepFolder folder;
  const std::string config = folder.write("three.yaml", three_points("64MiB"));
  const std::string stalls = folder.write(
      "stalls.yaml",
      "system: {topology: {type: mesh, dims: [2, 2]}}\n"
      "collective: {algorithm: ring, size: 4KiB}\nsimulation: {stall_probability: 0.999999}\n");
  const std::string results = folder.path("r.json");
  const Outcome outcome = test::espalier({"run", config, stalls, "-j", "1", "--json", results});
  CHECK(outcome.exit_code == 1);
  CHECK_THAT(outcome.err, Contains("the finished points are kept in " + results + ".partial"));
  CHECK(files_in(results + ".partial/points") == 3);
}
