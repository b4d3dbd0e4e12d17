// Figures as their users make them: what is written, what is kept, what is drawn.
#include <catch2/catch.hpp>

#include <algorithm>
#include <filesystem>
#include <sstream>
#include <string>
#include <vector>

#include "cli_test_support.h"

using namespace espalier;
using Catch::Matchers::Contains;
using test::Json;
using test::Outcome;
using test::TemporaryFolder;

namespace {

namespace fs = std::filesystem;

constexpr const char* kTiny =
    "title: Tiny\n"
    "x: {field: size_bytes, label: size, scale: log2}\n"
    "y: {field: bandwidth_GBps, label: GB/s}\n"
    "config: {collective: {size: [4KiB, 8KiB]}}\n"
    "panels:\n"
    "  - {title: 'mesh, 2x2', config: {system: {topology: {type: mesh, dims: [2, 2]}}}}\n"
    "  - {title: torus 3x3, config: {system: {topology: {type: torus, dims: [3, 3]}}}}\n"
    "series:\n"
    "  - {label: MULTITREE, config: {collective: {algorithm: multitree}}}\n"
    "  - {label: RING, config: {collective: {algorithm: ring}}}\n";

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

std::vector<fs::path> kept_points(const std::string& output) {
  std::vector<fs::path> files;
  for (const auto& entry : fs::directory_iterator(fs::path(output) / "points"))
    files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  return files;
}

struct TinyFigure {
  TemporaryFolder folder;
  std::string file = folder.write("tiny.yaml", kTiny);
  std::string output = folder.file("out");

  [[nodiscard]] Outcome make(std::vector<std::string> more = {}) const {
    std::vector<std::string> arguments{"figure", file, "-o", output};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return test::espalier(arguments);
  }
  [[nodiscard]] std::string text(const std::string& name) const {
    return test::read_text(output + "/" + name);
  }
};

}  // namespace

TEST_CASE("A figure's CSV has a row for every point, with the results that run gives") {
  const TinyFigure tiny;
  const Outcome outcome = tiny.make();
  CAPTURE(outcome.err);
  REQUIRE(outcome.exit_code == 0);
  CHECK(outcome.err.empty());
  CHECK_THAT(outcome.out, Contains("tiny.csv") && Contains("tiny.gp") && Contains("tiny.svg") &&
                              Contains("8 simulations, 0 of them kept"));
  const std::vector<std::string> lines = lines_of(tiny.text("tiny.csv"));
  REQUIRE(lines.size() == 9);
  CHECK(lines[0].rfind("panel,series,x,y,algorithm,op,topology,nodes,size_bytes,", 0) == 0);
  std::size_t row = 1;
  for (const std::string dims : {"mesh, dims: [2, 2]", "torus, dims: [3, 3]"}) {
    const std::string config = tiny.folder.write(
        "check.yaml", "system: {topology: {type: " + dims +
                          "}}\ncollective: {algorithm: [multitree, ring], size: [4KiB, 8KiB]}\n");
    for (const Json& result : test::run_to_json({config}).at("results")) {
      const bool mesh = dims[0] == 'm';
      const std::string series = result.at("algorithm") == "ring" ? "RING" : "MULTITREE";
      const std::string start = (mesh ? "\"mesh, 2x2\"," : "torus 3x3,") + series + "," +
                                result.at("size_bytes").dump() + "," +
                                result.at("bandwidth_GBps").dump() + ",";
      CHECK(lines[row].substr(0, start.size()) == start);
      CHECK_THAT(lines[row], Contains("," + result.at("cycles").dump() + ","));
      ++row;
    }
  }
}

TEST_CASE("A figure is drawn: titles, sizes, a legend, and a line for every series") {
  const TinyFigure tiny;
  REQUIRE(tiny.make().exit_code == 0);
  const std::string svg = tiny.text("tiny.svg");
  CHECK_THAT(svg, Contains("<svg") && Contains("</svg>"));
  for (const char* text :
       {"Tiny", "mesh, 2x2", "torus 3x3", "4 KiB", "8 KiB", "GB/s", "MULTITREE", "RING", "size"}) {
    CAPTURE(text);
    CHECK_THAT(svg, Contains(text));
  }
  // The script stands beside the data and needs nothing else.
  const std::string script = tiny.text("tiny.gp");
  CHECK_THAT(script, !Contains(tiny.folder.path().string()));
  const Outcome again = test::run_program("/bin/sh", {"-c", "exec gnuplot tiny.gp"}, tiny.output);
  CHECK(again.exit_code == 0);
  CHECK(again.err.empty());
  CHECK(tiny.text("tiny.svg") == svg);
}

TEST_CASE("Points of measured quantities are marked, not joined, on an axis of round numbers") {
  const TemporaryFolder folder;
  const std::string file = folder.write("points.yaml", R"(title: t
kind: points
config: {system: {topology: {type: mesh, dims: [2, 2]}}, collective: {size: [4KiB, 8KiB]}}
x: {field: area.ni_extension_um2, label: area}
y: {field: bound_ratio, label: share}
series: [{label: RING, config: {collective: {algorithm: ring}}}]
)");
  const Outcome outcome = test::espalier({"figure", file, "-o", folder.file("out")});
  CAPTURE(outcome.err);
  REQUIRE(outcome.exit_code == 0);
  const std::string script = test::read_text(folder.file("out/points.gp"));
  CHECK_THAT(script, Contains("set xtics autofreq"));
  CHECK_THAT(script, Contains(":(column('y')) with points ls 1"));
}

TEST_CASE("Quotes of every kind in titles and labels are drawn as they are") {
  const TemporaryFolder folder;
  const std::string file = folder.write("quotes.yaml", R"(title: "It''s ```so``` `id` \\n"
config: {system: {topology: {type: mesh, dims: [2, 2]}}, collective: {size: 4KiB}}
x: {field: size_bytes, label: "''size''"}
y: {field: bandwidth_GBps, label: "'"}
series: [{label: "RING''", config: {collective: {algorithm: ring}}}]
)");
  const Outcome outcome = test::espalier({"figure", file, "-o", folder.file("out")});
  CAPTURE(outcome.err);
  REQUIRE(outcome.exit_code == 0);
  const std::string svg = test::read_text(folder.file("out/quotes.svg"));
  CHECK_THAT(svg, Contains("It''s ```so``` `id` \\n"));
  CHECK_THAT(svg, Contains("''size''") && Contains("RING''"));
}

TEST_CASE("Finished points are kept, and damaged ones are simulated again") {
  const TinyFigure tiny;
  REQUIRE(tiny.make().exit_code == 0);
  const std::string csv = tiny.text("tiny.csv");
  CHECK_THAT(tiny.make().out, Contains("8 simulations, 8 of them kept"));
  CHECK(tiny.text("tiny.csv") == csv);

  std::vector<fs::path> points = kept_points(tiny.output);
  REQUIRE(points.size() == 8);
  const std::string whole = test::read_text(points[0].string());
  tiny.folder.write("out/points/" + points[0].filename().string(),
                    whole.substr(0, whole.size() / 2));
  std::string changed = test::read_text(points[1].string());
  const std::size_t cycles = changed.find("\"cycles\": ") + 10;
  changed[cycles] = changed[cycles] == '9' ? '1' : '9';
  tiny.folder.write("out/points/" + points[1].filename().string(), changed);
  fs::remove(points[2]);
  CHECK_THAT(tiny.make({"--plan"}).out, Contains("8 simulations, 5 of them kept"));
  CHECK_THAT(tiny.make().out, Contains("8 simulations, 5 of them kept"));
  CHECK(tiny.text("tiny.csv") == csv);
  CHECK(kept_points(tiny.output) == points);  // and nothing unfinished beside them
}

TEST_CASE("A point is simulated once, however many panels and figures show it") {
  const TinyFigure tiny;
  const std::string copy = tiny.folder.write("copy.yaml", kTiny);
  const Outcome outcome = tiny.make({copy});
  CAPTURE(outcome.err);
  CHECK(outcome.exit_code == 0);
  CHECK_THAT(outcome.out, Contains("8 simulations, 0 of them kept"));
  CHECK(tiny.text("copy.csv") == tiny.text("tiny.csv"));
  // Changed settings are other points.
  CHECK_THAT(tiny.make({"-s", "system.link.latency=20ns"}).out, Contains("8 simulations, 0 of"));
}

TEST_CASE("A point depends on the contents of the files that it names") {
  const TemporaryFolder folder;
  const std::string nodes = "nodes: [a, b]\nlinks:\n";
  const std::string links = "  - {from: a, to: b}\n  - {from: b, to: a}\n";
  folder.write("net.yaml", nodes + links);
  const std::string file = folder.write(
      "fig.yaml",
      "title: t\nx: {field: size_bytes}\ny: {field: time_ns}\n"
      "config: {system: {topology: {type: file, file: net.yaml}}, collective: {size: 4KiB}}\n"
      "series: [{label: R, config: {collective: {algorithm: ring}}}]\n");
  const std::vector<std::string> command{"figure", file, "-o", folder.file("out")};
  CHECK_THAT(test::espalier(command).out, Contains("1 simulations, 0 of them kept"));
  CHECK_THAT(test::espalier(command).out, Contains("1 simulations, 1 of them kept"));
  folder.write("net.yaml",
               nodes + "  - {from: a, to: b, latency: 1us}\n" + "  - {from: b, to: a}\n");
  CHECK_THAT(test::espalier(command).out, Contains("1 simulations, 0 of them kept"));
}

TEST_CASE("A plan names every point and simulates none") {
  const TinyFigure tiny;
  const Outcome outcome = tiny.make({"--plan"});
  CHECK(outcome.exit_code == 0);
  CHECK_THAT(outcome.out, Contains("tiny: Tiny\n") &&
                              Contains("  torus 3x3, RING: system.topology.type=torus "
                                       "system.topology.dims=[3,3] collective.algorithm=ring "
                                       "collective.size=8KiB\n") &&
                              Contains("8 simulations, 0 of them kept"));
  CHECK_FALSE(fs::exists(tiny.output));
}

TEST_CASE("Stacked bars are drawn relative to the reference bar") {
  const TemporaryFolder folder;
  const std::string file =
      folder.write("bars.yaml",
                   "title: Bars\nkind: bars\nx: {field: op}\n"
                   "y: {label: part of RING, parts: [{field: bound_ns, label: bound}, {field: "
                   "time_ns, label: time}]}\n"
                   "normalize: {series: RING}\n"
                   "config:\n"
                   "  system: {topology: {type: mesh, dims: [2, 2]}}\n"
                   "  collective: {size: 4KiB, op: [all_reduce, all_gather]}\n"
                   "series:\n"
                   "  - {label: RING, config: {collective: {algorithm: ring}}}\n"
                   "  - {label: MULTITREE, config: {collective: {algorithm: multitree}}}\n");
  const Outcome outcome = test::espalier({"figure", file, "-o", folder.file("out")});
  CAPTURE(outcome.err);
  REQUIRE(outcome.exit_code == 0);
  const std::vector<std::string> lines = lines_of(test::read_text(folder.file("out/bars.csv")));
  REQUIRE(lines.size() == 9);
  CHECK(lines[0].rfind("panel,series,part,x,y,y_from,", 0) == 0);
  CHECK(lines[1].rfind(",RING,bound,all_reduce,", 0) == 0);
  // The upper part of the reference ends at 1.
  std::istringstream upper(lines[2].substr(std::string(",RING,time,all_reduce,").size()));
  double height = 0;
  double from = 0;
  char comma = 0;
  upper >> height >> comma >> from;
  CHECK(height + from == Approx(1.0));
  const std::string svg = test::read_text(folder.file("out/bars.svg"));
  for (const char* text : {"bound", "time", "all_gather", "MULTITREE"})
    CHECK_THAT(svg, Contains(text));
}

TEST_CASE("Every figure of the repository can be planned") {
  const fs::path folder = fs::path(ESPALIER_SOURCE_DIR) / "configs" / "figures";
  std::size_t figures = 0;
  for (const auto& entry : fs::recursive_directory_iterator(folder)) {
    if (entry.path().extension() != ".yaml") continue;
    CAPTURE(entry.path().string());
    const Outcome outcome = test::espalier({"figure", "--plan", entry.path().string()});
    CAPTURE(outcome.err);
    CHECK(outcome.exit_code == 0);
    // The papers' figures include plans that lose to the baseline, and no other cause of warnings.
    std::istringstream lines(outcome.err);
    for (std::string line; std::getline(lines, line);) {
      if (line.find("warning: ") != std::string::npos)
        CHECK_THAT(line, Contains("collective.algorithm: the plan of themis with "));
    }
    CHECK_THAT(outcome.out, Contains(entry.path().stem().string() + ": "));
    ++figures;
  }
  CHECK(figures >= 9);
}

TEST_CASE("The page on figures shows its example as it is") {
  const std::string root = ESPALIER_SOURCE_DIR;
  const std::string file = test::read_text(root + "/configs/figures/link_latency.yaml");
  const std::string without_comments = file.substr(file.find("title:"));
  CHECK_THAT(test::read_text(root + "/docs/figures.md"),
             Contains("```yaml\n" + without_comments + "```\n"));
}

TEST_CASE("Figures over sizes of all-reduces run at their smallest size") {
  const fs::path folder = fs::path(ESPALIER_SOURCE_DIR) / "configs" / "figures";
  const TemporaryFolder output;
  std::vector<std::string> command{"figure", "-o", output.file("out"), "-s",
                                   "collective.size=32KiB"};
  for (const auto& entry : fs::directory_iterator(folder)) {
    if (entry.path().stem().string().rfind("fig9", 0) == 0)
      command.push_back(entry.path().string());
  }
  REQUIRE(command.size() > 5);
  const Outcome outcome = test::espalier(command);
  CAPTURE(outcome.err);
  CHECK(outcome.exit_code == 0);
}
