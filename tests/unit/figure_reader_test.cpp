#include "sims/report/figure/figure_reader.h"

#include <catch2/catch.hpp>

#include "config_test_support.h"
#include "sims/config/config_layers.h"

using namespace espalier;
using namespace espalier::config_test;

namespace {

const std::string kAxes = "x: {field: size_bytes}\ny: {field: time_ns}\n";
const std::string kRing = "series:\n  - {label: RING, config: {collective: {algorithm: ring}}}\n";
const std::string kBase =
    "config: {system: {topology: {type: mesh, dims: [2, 2]}}, collective: {size: 4KiB}}\n";

// The figure, with what is printed about it.
struct Read {
  FigureResult result;
  std::vector<Printed> printed;
};

Read read(const std::string& text, const std::vector<std::string>& overrides = {}) {
  const TemporaryFolder folder("figure_reader");
  Read read{read_figure(folder.write("fig.yaml", text), overrides), {}};
  INFO(read.result.diagnostics.text());
  read.printed = parse_diagnostics(read.result.diagnostics.text());
  return read;
}

// `with_mark` has an '@' before the place of the error, which says `message`.
void check_error(const std::string& with_mark, const std::string& message,
                 const std::string& hint = {}) {
  const Marked marked = unmark(with_mark);
  const Read outcome = read(marked.text);
  CAPTURE(with_mark, message, outcome.result.diagnostics.text());
  CHECK_FALSE(outcome.result.ok);
  const Printed* printed = find_at(outcome.printed, marked, message);
  REQUIRE(printed != nullptr);
  CHECK(printed->hint.find(hint) != std::string::npos);
}

}  // namespace

TEST_CASE("Layers join section by section, and the upper one's values win") {
  const Read outcome = read("title: t\n" + kAxes +
                            "config:\n"
                            "  system: {topology: {type: torus, dims: [4, 4]}, router: {vcs: 8}}\n"
                            "  collective: {algorithm: multitree, size: [1KiB, 2KiB]}\n"
                            "panels:\n"
                            "  - {title: a}\n"
                            "  - {title: b, config: {system: {topology: {dims: [8, 8]}}}}\n"
                            "series:\n"
                            "  - {label: M}\n"
                            "  - {label: R, config: {collective: {algorithm: ring}}}\n"
                            "points:\n"
                            "  - {}\n"
                            "  - {system: {link: {latency: 10ns}}}\n");
  INFO(outcome.result.diagnostics.text());
  REQUIRE(outcome.result.ok);
  const Figure& figure = outcome.result.figure;
  REQUIRE(figure.panels.size() == 2);
  for (std::size_t p = 0; p < 2; ++p) {
    const Panel& panel = figure.panels[p];
    CHECK(panel.series == std::vector<std::string>{"M", "R"});
    REQUIRE(panel.points.size() == 8);  // 2 series x 2 points x 2 sizes
    for (std::size_t i = 0; i < 8; ++i) {
      const RunPoint& point = panel.points[i].point;
      CHECK(panel.points[i].series == i / 4);
      CHECK(point.system.router.vcs == 8);
      CHECK(point.system.topology.dims[0] == (p == 0 ? 4 : 8));
      CHECK(point.collective->algorithm == (i < 4 ? "multitree" : "ring"));
      CHECK(point.collective->size == (i % 2 == 0 ? 1024 : 2048));
      CHECK(point.system.link.latency_ps == (i % 4 < 2 ? 150'000 : 10'000));
      CHECK(point.simulation.fidelity == Fidelity::train);
    }
  }
}

TEST_CASE("An override wins over every layer, and is wrong once however many points it reaches") {
  const std::string text = "title: t\n" + kAxes + kBase + kRing +
                           "points:\n  - {collective: {size: 8KiB}}\n  - {collective: {size: "
                           "16KiB}}\n";
  const Read good = read(text, {"collective.size=2KiB"});
  REQUIRE(good.result.ok);
  for (const FigurePoint& point : good.result.figure.panels[0].points)
    CHECK(point.point.collective->size == 2048);
  const Read bad = read(text, {"collective.siz=2KiB"});
  CHECK_FALSE(bad.result.ok);
  CHECK(bad.printed.size() == 1);
}

TEST_CASE("Without panels a figure is one panel without a title") {
  const Read outcome = read("title: t\n" + kAxes + kBase + kRing);
  REQUIRE(outcome.result.ok);
  REQUIRE(outcome.result.figure.panels.size() == 1);
  CHECK(outcome.result.figure.panels[0].title.empty());
  CHECK(outcome.result.figure.title == "t");
  CHECK(outcome.result.figure.name == "fig");
}

TEST_CASE("A panel's own axes, series and normalisation replace the figure's") {
  const Read outcome = read(
      "title: t\n" + kAxes + kBase + kRing +
      "normalize: {series: RING}\n"
      "panels:\n"
      "  - {title: a}\n"
      "  - {title: b, kind: bars, normalize: none, x: {key: collective.algorithm},\n"
      "     y: {label: time, factor: 0.001, parts: [{field: bound_ns}, {field: time_ns, label: "
      "t}]},\n"
      "     series: [{label: M, config: {collective: {algorithm: multitree}}}]}\n");
  INFO(outcome.result.diagnostics.text());
  REQUIRE(outcome.result.ok);
  const Panel& a = outcome.result.figure.panels[0];
  const Panel& b = outcome.result.figure.panels[1];
  CHECK(a.kind == FigureKind::lines);
  CHECK(a.normalization.has_value());
  CHECK(a.x.quantity == Quantity::size);
  CHECK(b.kind == FigureKind::bars);
  CHECK_FALSE(b.normalization.has_value());
  CHECK(b.x.key == find_key("collective.algorithm"));
  CHECK(b.y.factor == 0.001);
  REQUIRE(b.y.parts.size() == 2);
  CHECK(b.y.parts[0].label == "bound_ns");
  CHECK(b.y.parts[1].label == "t");
  CHECK(b.series == std::vector<std::string>{"M"});
}

TEST_CASE("A configuration file can be the base, and its paths still lead where they led") {
  const TemporaryFolder folder("figure_base");
  std::filesystem::create_directories(folder.path() + "/systems");
  folder.write("systems/net.yaml",
               "nodes: [a, b]\nlinks:\n  - {from: a, to: b}\n  - {from: b, to: a}\n");
  folder.write("systems/base.yaml",
               "system: {topology: {type: file, file: net.yaml}}\n"
               "collective: {algorithm: ring, size: 4KiB}\n");
  std::filesystem::create_directories(folder.path() + "/figures");
  const std::string path =
      folder.write("figures/fig.yaml",
                   "title: t\n" + kAxes + "config: ../systems/base.yaml\nseries: [{label: R}]\n");
  const FigureResult result = read_figure(path);
  INFO(result.diagnostics.text());
  REQUIRE(result.ok);
  CHECK(result.figure.panels[0].points[0].point.system.topology.file == "../systems/net.yaml");
}

TEST_CASE("An error in a configuration is shown in the layer that contains it") {
  check_error("title: t\n" + kAxes + kBase +
                  "series:\n  - {label: RING, config: {collective: {algorithm: @rong}}}\n",
              "'rong' is not a valid name for this key", "did you mean 'ring'?");
  check_error("title: t\n" + kAxes + kBase + kRing + "points:\n  - {system: {@ruter: {vcs: 4}}}\n",
              "unknown key 'ruter' in 'system'", "did you mean 'router'?");
}

TEST_CASE("Mistakes in a figure file have their place and a hint") {
  const std::string good = "title: t\n" + kAxes + kBase + kRing;
  check_error("@tittle: t\n" + kAxes + kBase + kRing, "unknown key 'tittle'",
              "did you mean 'title'?");
  check_error("@title:\n" + kAxes + kBase + kRing, "title: expected a line of text");
  check_error("title: @\"a \\\"b\\\"\"\n" + kAxes + kBase + kRing, "contains a double quote");
  check_error("@" + kAxes + kBase + kRing, "missing key 'title'");
  check_error("@title: t\n" + kAxes + kBase, "missing key 'series'", "series: [{label");
  check_error("@title: t\ny: {field: time_ns}\n" + kBase + kRing, "missing key 'x'", "x: {field");
  check_error(good + "kind: @pie\n", "kind: 'pie' is not a valid name", "lines, bars");
  check_error(good + "panels: @3\n", "panels: expected a list");
  check_error(good + "panels:\n  - {title: a}\n  - {title: @a}\n", "two panels are called 'a'");
  check_error(good + "panels:\n  - @{kind: lines}\n", "missing key 'panel.title'");
  check_error(good + "normalize: {series: @RNG}\n", "there is no series 'RNG'",
              "did you mean 'RING'?");
  check_error(good + "points: [@12]\n", "config: the file", "");
  check_error(good + "panels:\n  - {title: a, config: @missing.yaml}\n", "missing.yaml cannot be");
  check_error(good + "panels:\n  - {title: a, x: {key: @system.link.latenzy}}\n",
              "unknown key 'system.link.latenzy'", "did you mean 'system.link.latency'?");
  check_error(good + "panels:\n  - {title: a, x: {key: @traffic.seed}}\n",
              "has no effect in panel");
  check_error(good + "panels:\n  - {title: a, x: {key: @collective.algorithm}}\n",
              "are not numbers", "kind: bars");
  check_error("title: t\nx: {field: nodes}\ny: {label: t, parts: [{field: a}, {field: @b}]}\n" +
                  kBase + kRing,
              "only bars can be stacked", "kind: bars");
  check_error("title: t\nx: {field: nodes}\ny: {field: time_ns, factor: @0}\n" + kBase + kRing,
              "y.factor");
  check_error(kAxes + "title: t\n" + kBase +
                  "series:\n  - {label: R, config: {collective: {algorithm: ring}}}\n"
                  "  - {label: @R, config: {collective: {algorithm: multitree}}}\n",
              "two series are called 'R'");
}

TEST_CASE("All mistakes of a figure are found in one reading") {
  const Read outcome =
      read("title: t\nkind: pie\nx: {fild: size_bytes}\ny: {field: time_ns}\n" + kBase +
           "series:\n  - {label: RING, config: {collective: {algorithm: rong}}}\n");
  CHECK(outcome.printed.size() == 4);  // kind, fild, x.field missing, rong
}
