#include <catch2/catch.hpp>

#include <algorithm>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "alg/generators/generator.h"
#include "cli_test_support.h"
#include "sims/config/keys.h"
#include "sims/config/presets.h"

using namespace espalier;
using Catch::Matchers::Contains;
using Catch::Matchers::Matches;
using Catch::Matchers::StartsWith;
using test::kSmallConfig;
using test::Outcome;
using test::TemporaryFolder;

namespace {

// Nothing for people who read stdout, everything on stderr.
void check_usage_error(const std::vector<std::string>& arguments, const std::string& message) {
  const Outcome outcome = test::espalier(arguments);
  CAPTURE(arguments, outcome.err);
  CHECK(outcome.exit_code == 2);
  CHECK(outcome.out.empty());
  CHECK_THAT(outcome.err, Contains(message));
}

const std::vector<std::string> kSubcommands{"run", "schedule", "check", "area", "list", "schema"};
const std::vector<std::string> kWithConfig{"run", "schedule", "check"};

}  // namespace

TEST_CASE("A successful command exits with 0 and prints nothing on stderr") {
  const TemporaryFolder folder;
  const std::string config = folder.write("small.yaml", kSmallConfig);
  for (const auto& arguments : std::vector<std::vector<std::string>>{
           {"run", config}, {"schedule", config}, {"check", config}, {"list"}, {"schema"}}) {
    const Outcome outcome = test::espalier(arguments);
    CAPTURE(arguments);
    CHECK(outcome.exit_code == 0);
    CHECK(outcome.err.empty());
    CHECK_FALSE(outcome.out.empty());
  }
}

TEST_CASE("A rejected schedule exits with 1 and the reason names nodes and numbers") {
  const TemporaryFolder folder;
  const std::string config = folder.write("small.yaml", kSmallConfig);
  const std::string reason = "node 3 needs 5 table entries, but its table holds at most 4";
  const Outcome checked = test::espalier({"check", config, "-s", "system.ni.table_entries=4"});
  CHECK(checked.exit_code == 1);
  CHECK_THAT(checked.out, Contains("REJECTED") && Contains(reason));
  const Outcome run = test::espalier({"run", config, "-s", "system.ni.table_entries=4"});
  CHECK(run.exit_code == 1);
  CHECK_THAT(run.err, Contains(reason));
  CHECK_THAT(run.out, Contains("false"));
  // The limit is exact.
  CHECK(test::espalier({"check", config, "-s", "system.ni.table_entries=5"}).exit_code == 0);
  CHECK(test::espalier({"run", config, "-s", "system.ni.table_entries=5"}).exit_code == 0);
}

TEST_CASE("A simulation that stops moving exits with 1 and is not verified") {
  const TemporaryFolder folder;
  // Hardly any flit gets through: the watchdog sees nothing move for longer than a link takes.
  const std::string config = folder.write("small.yaml", kSmallConfig);
  const Outcome outcome =
      test::espalier({"run", config, "-s", "simulation.stall_probability=0.9999", "-s",
                      "simulation.watchdog_cycles=200", "--json", "-"});
  CHECK(outcome.exit_code == 1);
  CHECK_THAT(outcome.err, Contains("error: point 1"));
  const test::Json result = test::Json::parse(outcome.out).at("results").at(0);
  CHECK(result.at("certified") == true);
  CHECK(result.at("verified") == false);
  CHECK_FALSE(result.at("failure").get<std::string>().empty());
}

TEST_CASE("Usage errors exit with 2 and print only to stderr") {
  const TemporaryFolder folder;
  const std::string config = folder.write("small.yaml", kSmallConfig);
  check_usage_error({}, "subcommand is required");
  check_usage_error({"--nonsense"}, "--help");
  for (const std::string& subcommand : kWithConfig) {
    check_usage_error({subcommand}, "config is required");
    check_usage_error({subcommand, config, "--nonsense"}, "--nonsense");
    check_usage_error({subcommand, folder.file("missing.yaml")}, "missing.yaml: error:");
    check_usage_error({subcommand, folder.file("missing.json")}, "missing.json: error:");
    check_usage_error({subcommand, folder.path().string()}, "is a folder");
    check_usage_error({subcommand, config, "-s", "system.link.latency"}, "no value is given");
    check_usage_error({subcommand, config, "-s", "system.link.latency=100"}, "system.link.latency");
    check_usage_error({subcommand, config, "-s", "system.router.vcs=0"}, "system.router.vcs");
  }
  check_usage_error({"run", config, "-j", "-1"}, "--jobs");
  check_usage_error({"run", config, "-j", "many"}, "--jobs");
  check_usage_error({"schedule", config, config}, "not expected");
  check_usage_error({"schedule", config, "-f", "xml"}, "xml");
  check_usage_error({"schedule", config, "-o", folder.file("missing/out.txt")},
                    "cannot be written");
  check_usage_error({"sweep", "run"}, "file");
  check_usage_error({"list", "planets"}, "topologies");
}

TEST_CASE("If one of several files is invalid, it is named and no file is run") {
  const TemporaryFolder folder;
  const std::string good = folder.write("good.yaml", kSmallConfig);
  const std::string bad = folder.write("bad.yaml", "system: {topology: {type: ring}}\n");
  const Outcome outcome = test::espalier({"run", good, bad, folder.file("missing.yaml")});
  CHECK(outcome.exit_code == 2);
  CHECK(outcome.out.empty());
  CHECK_THAT(outcome.err, Contains("bad.yaml:1:") && Contains("missing.yaml: error:"));
  CHECK_THAT(outcome.err, !Contains("good.yaml"));
}

TEST_CASE("Results that cannot be written exit with 2") {
  const TemporaryFolder folder;
  const std::string config = folder.write("small.yaml", kSmallConfig);
  const std::string target = folder.file("missing/results.json");
  const Outcome outcome = test::espalier({"run", config, "--json", target});
  CHECK(outcome.exit_code == 2);
  CHECK_THAT(outcome.err, Contains(target + ": error: cannot be written"));
}

TEST_CASE("A schedule of several points is refused, and one of them can be chosen") {
  const TemporaryFolder folder;
  const std::string config =
      folder.write("two.yaml",
                   "system: {topology: {type: mesh, dims: [2, 2]}}\n"
                   "collective: {algorithm: [ring, multitree], size: 4KiB}\n");
  check_usage_error({"schedule", config}, "2 points");
  check_usage_error({"schedule", config}, "-s collective.algorithm=ring");
  CHECK(test::espalier({"schedule", config, "-s", "collective.algorithm=ring"}).exit_code == 0);
}

TEST_CASE("The advice for a schedule of several points names a key that has several values") {
  const TemporaryFolder folder;
  const std::string config = folder.write("small.yaml", kSmallConfig);
  check_usage_error({"schedule", config, "-s", "collective.size=[4KiB, 8KiB]"},
                    "-s collective.size=");
}

TEST_CASE("An unknown subcommand is named") { check_usage_error({"simulate"}, "simulate"); }

TEST_CASE("An unknown name comes with the nearest one") {
  const TemporaryFolder folder;
  const std::string config = folder.write("small.yaml", kSmallConfig);
  const std::vector<std::pair<std::string, std::string>> typos{
      {"collective.algorithm=multitre", "did you mean 'multitree'?"},
      {"system.topology.type=torrus", "did you mean 'torus'?"},
      {"system.preset=isca12", "did you mean 'isca21'?"},
      {"system.flow_control.mode=mesage", "did you mean 'message'?"},
      {"system.linq.latency=100ns", "did you mean 'system.link.latency'?"}};
  for (const auto& [setting, hint] : typos) check_usage_error({"run", config, "-s", setting}, hint);
}

TEST_CASE("Help goes to stdout and explains every option with its default") {
  const Outcome all = test::espalier({"--help"});
  CHECK(all.exit_code == 0);
  CHECK(all.err.empty());
  CHECK_THAT(all.out, Contains("Exit codes: 0 success, 1") && Contains("2 usage"));
  for (const std::string& subcommand : kSubcommands) {
    CAPTURE(subcommand);
    CHECK_THAT(all.out, Contains("\n  " + subcommand + " "));
    const Outcome help = test::espalier({subcommand, "--help"});
    CHECK(help.exit_code == 0);
    CHECK(help.err.empty());
    CHECK_THAT(help.out, Contains("--help") && Contains(subcommand));
  }
  for (const std::string& subcommand : kWithConfig) {
    // Values carry units: the example of an override shows one.
    CHECK_THAT(test::espalier({subcommand, "--help"}).out,
               Contains("--set KEY=VALUE") && Contains("system.link.latency=100ns"));
  }
  const std::string run = test::espalier({"run", "--help"}).out;
  CHECK_THAT(run, Contains("--json FILE") && Contains("- for stdout"));
  CHECK_THAT(run, Contains("--csv FILE") && Contains("--messages FILE"));
  CHECK_THAT(run, Contains("--jobs") && Contains("default: one per core"));
  const std::string schedule = test::espalier({"schedule", "--help"}).out;
  CHECK_THAT(schedule, Contains("=table") && Contains("default: stdout"));
  for (const char* format : {"table", "json", "msccl-xml", "tree-svg", "slots-svg"}) {
    CHECK_THAT(schedule, Contains(format));
  }
}

TEST_CASE("The first line of the version has three numbers and the commit") {
  const Outcome outcome = test::espalier({"--version"});
  CHECK(outcome.exit_code == 0);
  CHECK(outcome.err.empty());
  CHECK_THAT(outcome.out.substr(0, outcome.out.find('\n')),
             Matches("espalier [0-9]+\\.[0-9]+\\.[0-9]+(\\+g[0-9a-f]+(-dirty)?)?"));
}

TEST_CASE("list names everything that the reader accepts") {
  const std::string all = test::espalier({"list"}).out;
  const std::vector<std::pair<std::string, std::string>> kinds{
      {"topologies", "system.topology.type"},
      {"algorithms", "collective.algorithm"},
      {"operations", "collective.op"},
      {"presets", "system.preset"},
      {"flow-control", "system.flow_control.mode"},
      {"lockstep", "system.ni.lockstep"},
      {"switching", "system.router.switching"},
      {"reduction", "system.ni.reduction.mode"},
      {"traffic", "traffic.pattern"},
      {"overlap", "training.overlap"},
      {"sharing", "training.compute.sharing"},
      {"workloads", "workload.name"},
      {"exchange", "workload.exchange"}};
  for (const auto& [kind, key] : kinds) {
    CAPTURE(kind);
    const Outcome outcome = test::espalier({"list", kind});
    CHECK(outcome.exit_code == 0);
    CHECK_THAT(outcome.out, StartsWith(kind + " (" + key + ")\n"));
    CHECK_THAT(all, Contains(outcome.out));
    const Key* described = find_key(key);
    REQUIRE(described != nullptr);
    CHECK_FALSE(described->shape.names.empty());
    for (const std::string& name : described->shape.names) {
      CHECK_THAT(outcome.out, Contains("\n  " + name + " "));
    }
    const auto lines = std::count(outcome.out.begin(), outcome.out.end(), '\n');
    CHECK(static_cast<std::size_t>(lines) == described->shape.names.size() + 1);
  }
}

TEST_CASE("Every algorithm and preset that is listed runs") {
  const TemporaryFolder folder;
  const std::string config = folder.write("small.yaml", kSmallConfig);
  const std::string bigraph =
      folder.write("bigraph.yaml",
                   "system: {topology: {type: bigraph, nodes_per_switch: 2, switches: 4}}\n"
                   "collective: {algorithm: hdrm, size: 4KiB}\n");
  for (const Generator& generator : generators()) {
    CAPTURE(generator.name);
    const std::string& file = generator.name == "hdrm" ? bigraph : config;
    const bool all_reduces = generator.computes(CollectiveOp::all_reduce);
    const std::string op = all_reduces ? "all_reduce" : to_string(generator.ops.front());
    CHECK(test::espalier({"run", file, "-s", "collective.algorithm=" + generator.name, "-s",
                          "collective.op=" + op})
              .exit_code == 0);
  }
  for (const Preset& preset : presets()) {
    CAPTURE(preset.name);
    // Presets of whole systems leave the file's own network alone.
    CHECK(test::espalier({"run", config, "-s", "system.preset=" + preset.name}).exit_code == 0);
  }
}

TEST_CASE("schema describes every key once, nested as in a file") {
  const Outcome outcome = test::espalier({"schema"});
  CHECK(outcome.exit_code == 0);
  // Dotted names, from what stands indented under what.
  std::vector<std::string> described;
  std::vector<std::string> sections;
  std::istringstream lines(outcome.out.substr(outcome.out.find("\nsystem:\n") + 1));
  for (std::string line; std::getline(lines, line);) {
    const std::size_t indent = line.find_first_not_of(' ');
    const std::size_t colon = line.find(':');
    const std::string name = colon == std::string::npos ? "" : line.substr(indent, colon - indent);
    // Descriptions are indented by four more than the key above, sections and keys by two.
    if (name.empty() || indent / 2 > sections.size() || name.find(' ') != std::string::npos) {
      continue;
    }
    sections.resize(indent / 2);
    std::string dotted;
    for (const std::string& section : sections) dotted = join_key(dotted, section);
    dotted = join_key(dotted, name);
    if (colon + 1 == line.size()) {
      sections.push_back(name);
    } else {
      described.push_back(dotted);
    }
  }
  std::vector<std::string> expected;
  for (const Key& key : keys()) {
    expected.push_back(key.name);
    CHECK_THAT(outcome.out, Contains("    " + key.description + "\n"));
  }
  std::sort(described.begin(), described.end());
  std::sort(expected.begin(), expected.end());
  CHECK(described == expected);
}

TEST_CASE("schema --json lists every key, and list --json every name") {
  const Outcome schema = test::espalier({"schema", "--json"});
  CHECK(schema.exit_code == 0);
  const test::Json described = test::Json::parse(schema.out);
  REQUIRE(described.size() == keys().size());
  for (std::size_t k = 0; k < keys().size(); ++k) {
    CHECK(described[k].at("name") == keys()[k].name);
    CHECK(described[k].at("meaning") == keys()[k].description);
  }
  const Outcome list = test::espalier({"list", "--json"});
  CHECK(list.exit_code == 0);
  std::vector<std::string> lines;
  for (const test::Json& kind : test::Json::parse(list.out)) {
    const std::string shown = test::espalier({"list", kind.at("kind")}).out;
    CHECK_THAT(shown, Catch::Matchers::StartsWith(kind.at("kind").get<std::string>() + " (" +
                                                  kind.at("key").get<std::string>() + ")\n"));
    const auto names = static_cast<std::ptrdiff_t>(kind.at("names").size());
    CHECK(std::count(shown.begin(), shown.end(), '\n') == names + 1);
    for (const test::Json& name : kind.at("names")) {
      CHECK_THAT(shown, Contains("  " + name.at("name").get<std::string>() + " "));
    }
  }
}

TEST_CASE("schema --json-schema describes every key at its place") {
  const Outcome outcome = test::espalier({"schema", "--json-schema", "config"});
  CHECK(outcome.exit_code == 0);
  const test::Json schema = test::Json::parse(outcome.out);
  CHECK(schema.at("$schema") == "http://json-schema.org/draft-07/schema#");
  for (const Key& key : keys()) {
    CAPTURE(key.name);
    const test::Json* at = &schema;
    std::istringstream words(key.name);
    for (std::string word; std::getline(words, word, '.');) {
      CHECK(at->at("additionalProperties") == false);
      at = &at->at("properties").at(word);
    }
    CHECK_THAT(at->at("description").get<std::string>(),
               Catch::Matchers::StartsWith(key.description));
  }
  const test::Json& latency = schema.at("properties")
                                  .at("system")
                                  .at("properties")
                                  .at("link")
                                  .at("properties")
                                  .at("latency");
  CHECK(latency.at("pattern") == R"(^(0|[1-9][0-9]*)(\.[0-9]+)? *(ps|ns|us|ms|s)$)");
  const test::Json& algorithm =
      schema.at("properties").at("collective").at("properties").at("algorithm");
  CHECK_THAT(algorithm.dump(), Contains("\"multitree\"") && Contains("enumDescriptions"));
  CHECK(test::espalier({"schema", "--json-schema", "config", "--results"}).exit_code == 2);
  CHECK(test::espalier({"schema", "--json-schema", "graph"}).exit_code == 2);
}

TEST_CASE("help is --help, and an unknown command gets the nearest name") {
  const Outcome help = test::espalier({"help", "run"});
  CHECK(help.exit_code == 0);
  CHECK(help.out == test::espalier({"run", "--help"}).out);
  CHECK(test::espalier({"help"}).out == test::espalier({"--help"}).out);
  const Outcome unknown = test::espalier({"runn", "file.yaml"});
  CHECK(unknown.exit_code == 2);
  CHECK(unknown.err == "error: 'runn' is not a command\nhint: did you mean 'run'?\n");
}

TEST_CASE("The version comes with the build type and the optional parts") {
  const Outcome outcome = test::espalier({"--version"});
  CHECK_THAT(outcome.out, Catch::Matchers::StartsWith("espalier ") && Contains("build type: ") &&
                              Contains("waveforms in FST: "));
}
