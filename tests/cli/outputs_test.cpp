// Where a command's output goes, and what the exit code says if it does not get there.
#include <catch2/catch.hpp>

#include <string>
#include <vector>

#include "cli_test_support.h"

using namespace espalier;
using Catch::Matchers::Contains;
using test::kSmallConfig;
using test::Outcome;
using test::TemporaryFolder;

namespace {

// In a shell, so that stdout can be anything: `redirection` is ">/dev/full" or ">&-".
Outcome espalier_with_stdout(const std::string& arguments, const std::string& redirection) {
  return test::run_program(
      "/bin/sh", {"-c", std::string(ESPALIER_PROGRAM) + " " + arguments + " " + redirection});
}

// Every command that prints results, on a small mesh.
std::vector<std::string> printing_commands(const TemporaryFolder& folder) {
  const std::string config = folder.write("small.yaml", kSmallConfig);
  const std::string results = folder.file("results.json");
  REQUIRE(test::espalier({"run", config, "--json", results}).exit_code == 0);
  return {"--help",
          "--version",
          "run --help",
          "schema",
          "list",
          "run " + config,
          "run " + config + " --json -",
          "run " + config + " --csv -",
          "explain " + config,
          "schedule " + config,
          "schedule " + config + " -f json",
          "check " + config,
          "area " + config,
          "area " + config + " --json -",
          "report " + results + " -o -",
          "reorder " + config + " -s collective.algorithm=ring -o -"};
}

}  // namespace

TEST_CASE("An error that stderr does not take keeps its exit code") {
  const Outcome outcome =
      test::run_program("/bin/sh", {"-c", ESPALIER_PROGRAM " run nothing.yaml 2>/dev/full"});
  CHECK(outcome.exit_code == 2);
}

TEST_CASE("A command fails if a full disk cuts its output to stdout") {
  const TemporaryFolder folder;
  for (const std::string& command : printing_commands(folder)) {
    CAPTURE(command);
    const Outcome outcome = espalier_with_stdout(command, ">/dev/full");
    CHECK(outcome.exit_code == 2);
    CHECK_THAT(outcome.err, Contains("stdout: error: cannot be written"));
  }
}

TEST_CASE("Output to a closed stdout makes the command fail, and goes to no other file") {
  const TemporaryFolder folder;
  for (const std::string& command : printing_commands(folder)) {
    CAPTURE(command);
    const Outcome outcome = espalier_with_stdout(command, ">&-");
    CHECK(outcome.exit_code == 2);
    CHECK_THAT(outcome.err, Contains("cannot be written"));
  }
  const std::string config = folder.file("small.yaml");
  const std::string csv = folder.file("results.csv");
  CHECK(espalier_with_stdout("run " + config + " --csv " + csv, ">&-").exit_code == 2);
  CHECK_THAT(test::read_text(csv), !Contains("speed"));
  CHECK(test::read_text(config) == kSmallConfig);
}

TEST_CASE("An output that cannot be written is refused before the simulation") {
  const TemporaryFolder folder;
  const std::string config = folder.write("small.yaml", kSmallConfig);
  const std::string place = folder.file("missing/out");
  const std::vector<std::vector<std::string>> commands{
      {"run", config, "--json", place},
      {"run", config, "--csv", place},
      {"run", config, "--messages", place},
      {"explain", config, "--json", place},
      {"area", config, "--json", place},
      {"area", config, "--json", place},
      {"schedule", config, "-o", place},
      {"reorder", config, "--json", place},
      {"reorder", config, "-o", place},
      {"reorder", config, "--write-latency", place},
      {"run", config, "--timeline", place},
      {"run", config, "--waves", place + ".vcd"},
      {"run", config, "--json", folder.path().string()}};
  for (const auto& command : commands) {
    CAPTURE(command);
    const Outcome outcome = test::espalier(command);
    CHECK(outcome.exit_code == 2);
    CHECK(outcome.out.empty());
    CHECK_THAT(outcome.err, Contains("error: cannot be written: "));
  }
}

TEST_CASE("An empty name of an output is refused") {
  const TemporaryFolder folder;
  const std::string config = folder.write("small.yaml", kSmallConfig);
  const std::vector<std::vector<std::string>> commands{
      {"run", config, "--json", ""},     {"run", config, "--csv", ""},
      {"run", config, "--messages", ""}, {"run", config, "--waves", ""},
      {"area", config, "--json", ""},    {"schedule", config, "-o", ""},
      {"report", config, "-o", ""},      {"reorder", config, "--write-latency", ""}};
  for (const auto& command : commands) {
    CAPTURE(command);
    const Outcome outcome = test::espalier(command);
    CHECK(outcome.exit_code == 2);
    CHECK(outcome.out.empty());
    CHECK_THAT(outcome.err, Contains(command[2]) && Contains("the name of the file is empty"));
  }
}

TEST_CASE("No command writes over a file that it reads") {
  const TemporaryFolder folder;
  const std::string config = folder.write("small.yaml", kSmallConfig);
  const std::string graph = folder.write("ring.graph",
                                         "router 0 node 0 router 1\n"
                                         "router 1 node 1 router 2\n"
                                         "router 2 node 2 router 0\n");
  const std::string named =
      folder.write("named.yaml",
                   "system: {topology: {type: anynet, file: ring.graph}}\n"
                   "collective: {op: all_reduce, algorithm: ring, size: 4KiB}\n");
  const std::string latency = folder.write("latency.csv", "0,1,1,1\n1,0,1,1\n1,1,0,1\n1,1,1,0\n");
  const std::string times = folder.write("times.csv",
                                         "network,op,size,tool,time,source\n"
                                         "mesh 2x2,all_reduce,4KiB,T,1us,here\n");
  const std::string results = folder.file("results.json");
  REQUIRE(test::espalier({"run", named, "--json", results}).exit_code == 0);
  const std::string link = folder.file("link.yaml");
  std::filesystem::create_symlink(config, link);
  const std::vector<std::vector<std::string>> commands{
      {"run", config, "--json", config},
      {"run", config, "--json", link},
      {"run", named, "--json", graph},
      {"run", named, "--csv", graph},
      {"schedule", config, "-o", config},
      {"schedule", named, "-o", graph},
      {"area", config, "--json", config},
      {"area", named, "--json", graph},
      {"report", results, "-o", results},
      {"reorder", config, "-o", config},
      {"compare", config, times, "--json", times},
      {"reorder", config, "--latency", latency, "--write-latency", latency}};
  std::vector<std::string> before;
  for (const auto& file : {config, graph, named, latency, results, times})
    before.push_back(test::read_text(file));
  for (const auto& command : commands) {
    CAPTURE(command);
    const Outcome outcome = test::espalier(command);
    CHECK(outcome.exit_code == 2);
    CHECK(outcome.out.empty());
    CHECK_THAT(outcome.err,
               Contains(command.back() + ": this file is also the ") && Contains(" file"));
  }
  std::size_t i = 0;
  for (const auto& file : {config, graph, named, latency, results, times})
    CHECK(test::read_text(file) == before[i++]);
}

TEST_CASE("An output keeps its old contents if the new ones cannot be written") {
  const TemporaryFolder folder;
  const std::string config = folder.write("small.yaml", kSmallConfig);
  for (const char* option : {"--json", "--csv", "--messages"}) {
    CAPTURE(option);
    const std::string old = folder.write("old", "the results of yesterday\n");
    // No file may grow beyond 0 blocks: writing fails as on a full disk.
    const std::string command =
        std::string(ESPALIER_PROGRAM) + " run " + config + " " + option + " " + old;
    const Outcome outcome =
        test::run_program("/bin/sh", {"-c", "{ (trap '' XFSZ; ulimit -f 0; " + command +
                                                "); echo \"exit code $?\"; } 2>&1 | cat"});
    CHECK_THAT(outcome.out, Contains(old + ": error: cannot be written"));
    CHECK_THAT(outcome.out, Contains("exit code 2"));
    // The table of the simulation is printed all the same.
    CHECK_THAT(outcome.out, Contains("multitree"));
    CHECK(test::read_text(old) == "the results of yesterday\n");
  }
  const std::filesystem::directory_iterator files(folder.path());
  CHECK(std::distance(begin(files), end(files)) == 2);
}

TEST_CASE("A waveform or timeline that a limit cuts off ends with 2, beside the run's results") {
  const TemporaryFolder folder;
  const std::string config =
      folder.write("small.yaml",
                   "system: {topology: {type: mesh, dims: [4, 4]}}\n"
                   "collective: {op: all_reduce, algorithm: multitree, size: 64KiB}\n");
  for (const std::string option : {"--waves w.vcd", "--timeline t.json", "--json r.json"}) {
    CAPTURE(option);
    const Outcome outcome =
        test::run_program("/bin/bash", {"-c", "cd '" + folder.path().string() +
                                                  "'; ulimit -f 8; " ESPALIER_PROGRAM " run '" +
                                                  config + "' " + option});
    CHECK(outcome.exit_code == 2);
    CHECK_THAT(outcome.out, Contains("multitree"));
    CHECK_THAT(outcome.err, Contains("cannot be written"));
  }
}

TEST_CASE("Unfinished outputs follow no link that somebody has put beside them") {
  const TemporaryFolder folder;
  const std::string config = folder.write("small.yaml", kSmallConfig);
  const std::string victim = folder.write("victim", "mine\n");
  for (const std::string name : {"m.csv.point1", "w.unfinished.vcd", "t.unfinished.json"})
    std::filesystem::create_symlink(victim, folder.file(name));
  const Outcome outcome =
      test::espalier({"run", config, "--messages", folder.file("m.csv"), "--waves",
                      folder.file("w.vcd"), "--timeline", folder.file("t.json")});
  CHECK(outcome.exit_code == 0);
  CHECK(test::read_text(victim) == "mine\n");
}

TEST_CASE("A run that fails later leaves older waveforms and timelines as they were") {
  const TemporaryFolder folder;
  const std::string config =
      folder.write("long.yaml",
                   "system: {topology: {type: mesh, dims: [2, 2]}}\nsimulation: {fidelity: cycle}\n"
                   "collective: {op: all_reduce, algorithm: ring, size: 8GiB}\n");
  for (const std::string name : {"old.vcd", "old.json"}) {
    CAPTURE(name);
    const std::string old = folder.write(name, "yesterday\n");
    const std::string option = name == "old.vcd" ? "--waves" : "--timeline";
    const Outcome outcome =
        test::run_program("/bin/sh", {"-c", "timeout -s KILL 0.5 " ESPALIER_PROGRAM " run " +
                                                config + " " + option + " " + old + "; echo $?"});
    CHECK(outcome.out == "137\n");
    CHECK(test::read_text(old) == "yesterday\n");
    CHECK(std::filesystem::exists(folder.file("old.unfinished" + name.substr(3))));
  }
  const std::string small = folder.write("small.yaml", kSmallConfig);
  const std::string vcd = folder.file("old.vcd");
  CHECK(test::espalier({"run", small, "--waves", vcd}).exit_code == 0);
  CHECK_THAT(test::read_text(vcd), Contains("$enddefinitions"));
  CHECK_FALSE(std::filesystem::exists(folder.file("old.unfinished.vcd")));
}

TEST_CASE("A configuration from stdin gives the results of the file") {
  const TemporaryFolder folder;
  const std::string config = folder.write("small.yaml", std::string(kSmallConfig));
  const std::string sizes = " -s 'collective.size=[4KiB, 8KiB]'";
  const auto results = [&](const std::string& command) {
    const Outcome outcome = test::run_program("/bin/sh", {"-c", command});
    CAPTURE(outcome.err);
    REQUIRE(outcome.exit_code == 0);
    return test::without_host(test::Json::parse(outcome.out).at("results")).dump();
  };
  const std::string program = ESPALIER_PROGRAM;
  CHECK(results(program + " run - --json - < " + config) ==
        results(program + " run " + config + " --json -"));
  CHECK(results("cat " + config + " | " + program + " run - --json -" + sizes) ==
        results(program + " run " + config + " --json -" + sizes));
  const Outcome wrong =
      test::run_program("/bin/sh", {"-c", "echo 'colective: 1' | " + program + " run -"});
  CHECK(wrong.exit_code == 2);
  CHECK_THAT(wrong.err, Contains("stdin:1:1: error: unknown key 'colective'"));
  CHECK(test::run_program("/bin/sh", {"-c", program + " check - < " + config}).exit_code == 0);
}

TEST_CASE("run --quiet prints errors and no warnings") {
  const TemporaryFolder folder;
  const std::string config =
      folder.write("shallow.yaml", std::string(kSmallConfig) + "simulation: {fidelity: cycle}\n");
  const std::vector<std::string> run{"run", config, "-s", "system.router.vc_depth_flits=80"};
  CHECK_THAT(test::espalier(run).err, Contains("warning"));
  std::vector<std::string> quiet = run;
  quiet.emplace_back("-q");
  CHECK(test::espalier(quiet).err.empty());
  quiet.insert(quiet.end(), {"-s", "system.router.vcs=0"});
  CHECK_THAT(test::espalier(quiet).err, Contains("error"));
}

TEST_CASE("An output to a device is written directly") {
  const TemporaryFolder folder;
  const std::string config = folder.write("small.yaml", kSmallConfig);
  CHECK(test::espalier({"run", config, "--json", "/dev/null"}).exit_code == 0);
  const Outcome full = test::espalier({"run", config, "--json", "/dev/full"});
  CHECK(full.exit_code == 2);
  CHECK_THAT(full.err, Contains("/dev/full: error: cannot be written"));
  const Outcome csv = test::espalier({"schedule", config, "-o", "/dev/stdout"});
  CHECK(csv.exit_code == 0);
  CHECK(csv.out == test::espalier({"schedule", config}).out);
}
