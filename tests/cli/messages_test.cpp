// `espalier run --messages FILE`: a line for each message.
#include <catch2/catch.hpp>

#include <algorithm>
#include <sstream>
#include <string>
#include <vector>

#include "cli_test_support.h"

using namespace espalier;
using Catch::Matchers::Contains;
using test::kSmallConfig;
using test::Outcome;
using test::TemporaryFolder;

namespace {

constexpr const char* kHeader = "point,from,to,flow,op,bytes,ready,delivered\n";

using Cells = std::vector<std::string>;

std::vector<Cells> rows_of(const std::string& text) {
  REQUIRE(text.compare(0, std::string(kHeader).size(), kHeader) == 0);
  std::vector<Cells> rows;
  std::istringstream lines(text.substr(std::string(kHeader).size()));
  for (std::string line; std::getline(lines, line);) {
    Cells cells;
    std::istringstream in(line);
    for (std::string cell; std::getline(in, cell, ',');) cells.push_back(cell);
    REQUIRE(cells.size() == 8);
    rows.push_back(cells);
  }
  return rows;
}

std::uint64_t number(const std::string& cell) { return std::stoull(cell); }

}  // namespace

TEST_CASE("Listed messages come back with the cycle in which each was delivered") {
  const TemporaryFolder folder;
  folder.write("messages.csv", "ready,from,to,bytes\n30,1,0,16\n0,0,1,32\n0,1,0,16\n");
  const std::string config =
      folder.write("listed.yaml",
                   "system: {topology: {type: mesh, dims: [2]}, link: {latency: 10ns}}\n"
                   "traffic: {pattern: file, file: messages.csv}\n");
  const Outcome outcome = test::espalier({"run", config, "--messages", folder.file("log.csv")});
  CHECK(outcome.err.empty());
  REQUIRE(outcome.exit_code == 0);
  // One hop of docs/timing.md: F + 161, with a link of 10 cycles instead of 150; F of a head flit.
  CHECK(test::read_text(folder.file("log.csv")) == std::string(kHeader) +
                                                       "1,r_1,r_0,,,16,0,23\n"
                                                       "1,r_0,r_1,,,32,0,24\n"
                                                       "1,r_1,r_0,,,16,30,53\n");
}

TEST_CASE("Messages that no route can carry are refused at their place") {
  const TemporaryFolder folder;
  folder.write("ring.yaml",
               "nodes: [a, b, c]\nlinks:\n  - {from: a, to: b}\n  - {from: b, to: c}\n"
               "  - {from: c, to: a}\n");
  const auto config = [&](const std::string& traffic) {
    return folder.write("one_way.yaml",
                        "system: {topology: {type: file, file: ring.yaml}}\n" + traffic);
  };
  const std::string uniform = config("traffic: {pattern: uniform}\n");
  for (const char* command : {"run", "latency"}) {
    const Outcome outcome = test::espalier({command, uniform});
    CAPTURE(command);
    CHECK(outcome.exit_code == 2);
    CHECK_THAT(outcome.err, Contains("one_way.yaml:2:1: error: traffic: ") &&
                                Contains("no up*/down* route from 'b' to 'a'"));
  }
  folder.write("messages.csv", "ready,from,to,bytes\n0,a,b,64\n0,b,a,64\n");
  const Outcome listed =
      test::espalier({"run", config("traffic: {pattern: file, file: messages.csv}\n")});
  CHECK(listed.exit_code == 2);
  CHECK_THAT(listed.err, Contains("messages.csv:3:5: error: to: there is no up*/down* route"));
  // Whatever has a route runs.
  folder.write("messages.csv", "ready,from,to,bytes\n0,a,b,64\n0,c,a,64\n");
  CHECK(
      test::espalier({"run", config("traffic: {pattern: file, file: messages.csv}\n")}).exit_code ==
      0);
  CHECK(test::espalier({"run", config("traffic: {pattern: neighbor}\n")}).exit_code == 0);
  // A permutation needs the routes of its own pairs only.
  folder.write("ring.yaml",
               "nodes: [a, b, c, d]\nlinks:\n  - {between: [a, d]}\n  - {between: [b, c]}\n"
               "  - {from: a, to: b}\n  - {from: c, to: d}\n");
  for (const char* pattern : {"bit_complement", "hotspot, hotspots: [1], hotspot_share: 1"}) {
    const std::string drawn =
        config(std::string("traffic: {measure_cycles: 300, pattern: ") + pattern + "}\n");
    CHECK(test::espalier({"run", drawn}).exit_code == 0);
  }
}

TEST_CASE("Every point has its messages, in the order of points and of deliveries") {
  const TemporaryFolder folder;
  const std::string config = folder.write("small.yaml", kSmallConfig);
  const std::vector<std::string> arguments{"run",        config,
                                           "-s",         "collective.algorithm=[ring, multitree]",
                                           "-s",         "collective.size=[1KiB, 2KiB]",
                                           "--json",     folder.file("results.json"),
                                           "--messages", folder.file("log.csv")};
  REQUIRE(test::espalier(arguments).exit_code == 0);
  const std::string log = test::read_text(folder.file("log.csv"));
  const auto results = test::Json::parse(test::read_text(folder.file("results.json")))["results"];
  const std::vector<Cells> rows = rows_of(log);
  REQUIRE(results.size() == 4);
  for (std::size_t p = 0; p < results.size(); ++p) {
    CAPTURE(p);
    std::vector<Cells> mine;
    std::copy_if(rows.begin(), rows.end(), std::back_inserter(mine),
                 [p](const Cells& row) { return number(row[0]) == p + 1; });
    CHECK(mine.size() == results[p].at("messages").get<std::size_t>());
    std::uint64_t first = ~std::uint64_t{0};
    std::uint64_t last = 0;
    for (const Cells& row : mine) {
      CHECK((row[4] == "reduce" || row[4] == "copy"));
      CHECK_FALSE(row[3].empty());
      CHECK(number(row[7]) >= last);
      first = std::min(first, number(row[6]));
      last = number(row[7]);
    }
    CHECK(last - first == results[p].at("cycles").get<std::uint64_t>());
  }
  CHECK(std::is_sorted(rows.begin(), rows.end(),
                       [](const Cells& a, const Cells& b) { return number(a[0]) < number(b[0]); }));
  // The parts are gone, and nothing depends on how many run at once.
  const std::filesystem::directory_iterator files(folder.path());
  CHECK(std::distance(begin(files), end(files)) == 3);
  std::vector<std::string> one_by_one = arguments;
  one_by_one.insert(one_by_one.end(), {"-j", "1"});
  REQUIRE(test::espalier(one_by_one).exit_code == 0);
  CHECK(test::read_text(folder.file("log.csv")) == log);
}

TEST_CASE("Messages are the same in both fidelities") {
  const TemporaryFolder folder;
  const std::string config = folder.write("small.yaml", kSmallConfig);
  std::vector<std::string> logs;
  for (const char* fidelity : {"train", "cycle"}) {
    REQUIRE(test::espalier({"run", config, "-s", std::string("simulation.fidelity=") + fidelity,
                            "--messages", folder.file("log.csv")})
                .exit_code == 0);
    logs.push_back(test::read_text(folder.file("log.csv")));
  }
  CHECK(logs[0] == logs[1]);
}

TEST_CASE("A file of messages that cannot be written is a usage error before anything runs") {
  const TemporaryFolder folder;
  const std::string config = folder.write("small.yaml", kSmallConfig);
  const std::string target = folder.file("no/such/log.csv");
  const Outcome outcome = test::espalier({"run", config, "--messages", target});
  CHECK(outcome.exit_code == 2);
  CHECK(outcome.out.empty());
  CHECK_THAT(outcome.err, Contains(target + ": error: cannot be written"));
}
