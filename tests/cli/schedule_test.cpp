#include <catch2/catch.hpp>

#include <map>
#include <sstream>
#include <string>
#include <tuple>
#include <vector>

#include "cli_test_support.h"

using namespace espalier;
using Catch::Matchers::Contains;
using Catch::Matchers::EndsWith;
using Catch::Matchers::StartsWith;
using test::Json;
using test::kSmallConfig;
using test::Outcome;
using test::TemporaryFolder;

namespace {

constexpr int kNil = -1;

struct Row {
  std::string op;
  int flow;
  int parent;
  std::vector<int> children;
  int step;
};

bool operator==(const Row& a, const Row& b) {
  return std::tie(a.op, a.flow, a.parent, a.children, a.step) ==
         std::tie(b.op, b.flow, b.parent, b.children, b.step);
}

std::ostream& operator<<(std::ostream& out, const Row& row) {
  out << row.op << " of flow " << row.flow << ", parent " << row.parent << ", children";
  for (const int child : row.children) out << " " << child;
  return out << ", step " << row.step;
}

using Tables = std::vector<std::vector<Row>>;

// The paper's Fig. 5, accelerator by accelerator.
Tables fig_5() {
  return {{{"Reduce", 3, 1, {}, 1},
           {"Reduce", 1, 1, {}, 2},
           {"Reduce", 2, 2, {1}, 2},
           {"Gather", 0, kNil, {1, 2}, 3},
           {"Gather", 2, 2, {1}, 4}},
          {{"Reduce", 2, 0, {}, 1},
           {"Reduce", 0, 0, {}, 2},
           {"Reduce", 3, 3, {0}, 2},
           {"Gather", 1, kNil, {0, 3}, 3},
           {"Gather", 3, 3, {0}, 4}},
          {{"Reduce", 1, 3, {}, 1},
           {"Reduce", 3, 3, {}, 2},
           {"Reduce", 0, 0, {3}, 2},
           // The figure prints flow 1 here. A Gather without a parent is its root's, and flow 1 has
           // its root in accelerator 1, which the figure gives that very entry: a misprint for 2.
           {"Gather", 2, kNil, {0, 3}, 3},
           {"Gather", 0, 0, {3}, 4}},
          {{"Reduce", 0, 2, {}, 1},
           {"Reduce", 2, 2, {}, 2},
           {"Reduce", 1, 1, {2}, 2},
           {"Gather", 3, kNil, {1, 2}, 3},
           {"Gather", 1, 1, {2}, 4}}};
}

// Cells are set apart by two spaces or more; children by one.
std::vector<std::string> cells_of(const std::string& line) {
  std::vector<std::string> cells;
  std::size_t at = line.find_first_not_of(' ');
  while (at != std::string::npos) {
    const std::size_t end = line.find("  ", at);
    cells.push_back(line.substr(at, end - at));
    at = end == std::string::npos ? end : line.find_first_not_of(' ', end);
  }
  return cells;
}

int number_or_nil(const std::string& cell) { return cell == "nil" ? kNil : std::stoi(cell); }

Tables read_tables(const std::string& text) {
  Tables tables;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    const std::vector<std::string> cells = cells_of(line);
    if (cells.empty()) continue;
    if (cells[0] == "accelerator " + std::to_string(tables.size())) {
      tables.emplace_back();
      continue;
    }
    if (cells[0] == "Op") {
      CHECK(cells == std::vector<std::string>{"Op", "FlowID", "Parent", "Children", "Step",
                                              "Start Addr", "Size"});
      continue;
    }
    REQUIRE(cells.size() == 7);
    REQUIRE_FALSE(tables.empty());
    Row row{cells[0], std::stoi(cells[1]), number_or_nil(cells[2]), {}, std::stoi(cells[4])};
    std::istringstream children(cells[3] == "nil" ? "" : cells[3]);
    for (int child = 0; children >> child;) row.children.push_back(child);
    tables.back().push_back(row);
  }
  return tables;
}

// The number before " steps" in what check says.
int steps_checked(const std::vector<std::string>& overrides) {
  const TemporaryFolder folder;
  std::vector<std::string> arguments{"check", folder.write("small.yaml", kSmallConfig)};
  for (const std::string& setting : overrides) arguments.insert(arguments.end(), {"-s", setting});
  const Outcome outcome = test::espalier(arguments);
  CAPTURE(outcome.out, outcome.err);
  REQUIRE(outcome.exit_code == 0);
  CHECK_THAT(outcome.out, Contains("no link used twice in a step"));
  const std::size_t end = outcome.out.find(" steps");
  REQUIRE(end != std::string::npos);
  return std::stoi(outcome.out.substr(outcome.out.rfind(' ', end - 1) + 1));
}

}  // namespace

TEST_CASE("The schedule of the 2x2 mesh is the paper's Fig. 5, entry for entry") {
  const TemporaryFolder folder;
  const Outcome outcome = test::espalier({"schedule", folder.write("small.yaml", kSmallConfig)});
  REQUIRE(outcome.exit_code == 0);
  CHECK(read_tables(outcome.out) == fig_5());
  // And so is every flow's quarter of the data.
  CHECK(outcome.out ==
        test::read_text(std::string(ESPALIER_SOURCE_DIR) + "/tests/golden/mesh_2x2_multitree.txt"));
}

TEST_CASE("MULTITREE takes the timesteps that Algorithm 1 takes, and twice for an all-reduce") {
  const auto [type, dims, steps] = GENERATE(table<std::string, std::string, int>({
      {"mesh", "[2, 2]", 2},
      {"torus", "[4, 4]", 5},
      {"torus", "[8, 8]", 17},
      {"torus", "[16, 16]", 64},
      {"mesh", "[4, 4]", 8},
      {"mesh", "[8, 8]", 32},
  }));
  CAPTURE(type, dims);
  const std::vector<std::string> system{"system.topology.type=" + type,
                                        "system.topology.dims=" + dims, "collective.size=64KiB"};
  const auto with_op = [&](const char* op) {
    std::vector<std::string> overrides = system;
    overrides.push_back(std::string("collective.op=") + op);
    return overrides;
  };
  CHECK(steps_checked(with_op("all_gather")) == steps);
  CHECK(steps_checked(with_op("reduce_scatter")) == steps);
  CHECK(steps_checked(with_op("all_reduce")) == 2 * steps);
}

TEST_CASE("A simulated 4x4 torus has the timesteps of its schedule") {
  const TemporaryFolder folder;
  const Json results =
      test::run_to_json({folder.write("small.yaml", kSmallConfig), "-s",
                         "system.topology.type=torus", "-s", "system.topology.dims=[4, 4]", "-s",
                         "collective.op=[all_gather, all_reduce]"})
          .at("results");
  CHECK(results.at(0).at("timesteps") == 5);
  CHECK(results.at(1).at("timesteps") == 10);
}

TEST_CASE("A schedule goes to a file as it goes to stdout, in every format") {
  const TemporaryFolder folder;
  const std::string config = folder.write("small.yaml", kSmallConfig);
  const std::map<std::string, std::string> beginnings{{"table", "accelerator 0\n"},
                                                      {"json", "{\n  \"format\": "},
                                                      {"dot", "digraph"},
                                                      {"flits", "head flit"}};
  for (const auto& [format, beginning] : beginnings) {
    CAPTURE(format);
    const Outcome printed = test::espalier({"schedule", config, "--format", format});
    CHECK(printed.exit_code == 0);
    CHECK_THAT(printed.out, StartsWith(beginning) && EndsWith("\n"));
    const std::string target = folder.file("out." + format);
    const Outcome written = test::espalier({"schedule", config, "-f", format, "-o", target});
    CHECK(written.exit_code == 0);
    CHECK(written.out.empty());
    CHECK(test::read_text(target) == printed.out);
  }
}

TEST_CASE("The dot graph has one edge per transfer") {
  const TemporaryFolder folder;
  const std::string dot =
      test::espalier({"schedule", folder.write("small.yaml", kSmallConfig), "-f", "dot"}).out;
  std::size_t edges = 0;
  for (std::size_t at = dot.find("->"); at != std::string::npos; at = dot.find("->", at + 2)) {
    ++edges;
  }
  CHECK(edges == 24);  // 4 trees of 3 links, there and back
}

TEST_CASE("The flit formats of 16 nodes are the paper's") {
  const TemporaryFolder folder;
  const Outcome outcome =
      test::espalier({"schedule", folder.write("small.yaml", kSmallConfig), "-f", "flits", "-s",
                      "system.topology.type=torus", "-s", "system.topology.dims=[4, 4]"});
  CAPTURE(outcome.err);
  CHECK(outcome.exit_code == 0);
  CHECK_THAT(outcome.out, Contains("VC 2 | Type 3 | Packet Info 10") &&
                              Contains("unused 2 | Dest 4 | Src 4") &&
                              Contains("Next 3 | Eject 3 | Tree ID 4"));
}

TEST_CASE("schedule draws trees and links in use as pictures of their own") {
  const TemporaryFolder folder;
  const std::string small = folder.write("small.yaml", kSmallConfig);
  const Outcome tree = test::espalier({"schedule", small, "--format", "tree-svg"});
  CHECK(tree.exit_code == 0);
  CHECK_THAT(tree.out, StartsWith("<svg xmlns=\"http://www.w3.org/2000/svg\"") &&
                           Contains("class=\"edge\"") && EndsWith("</svg>\n"));
  // All trees of the 8 reductions and gathers are beside each other, the first to begin first.
  CHECK_THAT(tree.out, Contains("trees in the order of their beginnings</title>") &&
                           Contains(">Reduce of flow 0, timesteps 1 to "));
  CHECK(tree.out.find(">Reduce of flow 3") < tree.out.find(">Gather of flow 0"));
  const Outcome slots = test::espalier({"schedule", small, "--format", "slots-svg"});
  CHECK(slots.exit_code == 0);
  CHECK_THAT(slots.out, Contains("planned time, us<") && Contains("class=\"segment c0 pale\"") &&
                            EndsWith("</svg>\n"));
  const std::string large = std::string(ESPALIER_SOURCE_DIR) + "/configs/torus_8x8.yaml";
  const Outcome refused =
      test::espalier({"schedule", large, "-s", "collective.algorithm=ring", "-s",
                      "system.flow_control.mode=packet", "--format", "slots-svg"});
  CHECK(refused.exit_code == 1);
  CHECK_THAT(refused.err, Contains("the network has 256 links, and the picture has room for 64"));
}

TEST_CASE("Tables that are no schedule are refused in every format with the file's name") {
  const TemporaryFolder folder;
  const Outcome exported =
      test::espalier({"schedule", folder.write("small.yaml", kSmallConfig), "--format", "json"});
  Json schedule = Json::parse(exported.out);
  schedule["chunks"][2][0] = 3;
  const std::string file = folder.write("odd.json", schedule.dump());
  for (const std::string format : {"tree-svg", "slots-svg", "dot", "msccl-xml"}) {
    const Outcome outcome = test::espalier({"schedule", file, "--format", format});
    CHECK(outcome.exit_code == 1);
    CHECK_THAT(outcome.err,
               StartsWith(file + ": error: cannot be written as " + format + ": chunk 2 "));
  }
}
