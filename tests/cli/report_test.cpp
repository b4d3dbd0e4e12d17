// Reports as their users make them, from real small runs.
#include <catch2/catch.hpp>

#include <filesystem>
#include <map>
#include <regex>
#include <string>
#include <vector>

#include "cli_test_support.h"

using namespace espalier;
using Catch::Matchers::Contains;
using Catch::Matchers::StartsWith;
using test::Json;
using test::Outcome;
using test::TemporaryFolder;

namespace {

namespace fs = std::filesystem;

constexpr const char* kCurves =
    "system:\n"
    "  topology: {type: torus, dims: [4, 4]}\n"
    "collective:\n"
    "  algorithm: [ring, multitree]\n"
    "  size: [16KiB, 64KiB, 256KiB]\n"
    "simulation: {link_utilization: true}\n";

constexpr const char* kThemisRuns =
    "system:\n"
    "  topology: {type: dimensions}\n"
    "  dimensions: {shape: [ring, switch], size: [4, 4], links: [2, 1], bandwidth: [100Gb/s, "
    "100Gb/s], latency: [700ns, 1700ns]}\n"
    "collective: {algorithm: [baseline, themis], size: 4MB}\n";

std::size_t occurrences(const std::string& text, const std::string& part) {
  std::size_t count = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1))
    ++count;
  return count;
}

// What the page's script draws.
Json drawn_on(const std::string& page) {
  const std::string begin = "id=\"data\">";
  const std::size_t at = page.find(begin) + begin.size();
  return Json::parse(page.substr(at, page.find("</script>", at) - at));
}

// The page without its script and the script's data, as a reader without JavaScript sees it.
std::string text_of(const std::string& page) { return page.substr(0, page.find("<script")); }

struct Reports {
  TemporaryFolder folder;

  // Of a configuration's results. Returns the file.
  [[nodiscard]] std::string results(const std::string& name, const std::string& config) const {
    const std::string file = folder.file(name + ".json");
    const Outcome outcome =
        test::espalier({"run", folder.write(name + ".yaml", config), "--json", file});
    REQUIRE(outcome.exit_code == 0);
    return file;
  }
  [[nodiscard]] Outcome make(std::vector<std::string> files) const {
    files.insert(files.begin(), "report");
    files.insert(files.end(), {"-o", folder.file("report.html")});
    return test::espalier(files);
  }
  [[nodiscard]] std::string page(const std::vector<std::string>& files) const {
    const Outcome outcome = make(files);
    INFO(outcome.err);
    REQUIRE(outcome.exit_code == 0);
    CHECK(outcome.err.empty());
    return test::read_text(folder.file("report.html"));
  }
  // A changed copy of a document.
  template <class Change>
  std::string changed(const std::string& file, const Change& change) const {
    Json document = Json::parse(test::read_text(file));
    change(document);
    return folder.write("changed.json", document.dump());
  }
};

// A point of a sweep with an area, as its folder holds it.
Json sweep_point(const std::string& id, const Json& document, int depth, double area,
                 double time_ns) {
  Json point;
  point["id"] = id;
  point["set"]["system.router.vc_depth_flits"] = depth;
  point["command"] = {"espalier", "run", "base.yaml", "-s",
                      "system.router.vc_depth_flits=" + std::to_string(depth)};
  point["config"] = document.at("config");
  point["config"]["system"]["router"]["vc_depth_flits"] = depth;
  point["result"] = document.at("results").at(0);
  point["result"]["time_ns"] = time_ns;
  point["config_hash"] = id + id;
  point["result"]["config_hash"] = id + id;
  const auto block = [](const char* name, double um2, double high) {
    return Json{{"block", name},
                {"count", 1},
                {"um2", um2},
                {"um2_high", high},
                {"implementation", "sram"},
                {"origin", "formula"},
                {"fo4", 20},
                {"ps", 300}};
  };
  point["result"]["area"] = {
      {"technology", "nangate45"},
      {"node_nm", 45},
      {"router_um2", area * 1e4},
      {"ni_um2", 500.0},
      {"system_mm2", area},
      {"system_mm2_high", 2 * area},
      {"blocks",
       {block("router.buffers", area * 9e3, area * 2e4),
        block("router.crossbar", area * 1e3, area * 1e3), block("ni.schedule_table", 500, 1250)}}};
  return point;
}

// Four designs, one of them dominated; one failed, one missing.
std::string write_sweep(const Reports& reports) {
  const Json document = Json::parse(test::read_text(reports.results("base", test::kSmallConfig)));
  const fs::path folder = reports.folder.file("sweep");
  fs::create_directories(folder / "points");
  Json manifest;
  manifest["sweep"] = "depths";
  manifest["axes"] = {{{"key", "system.router.vc_depth_flits"}, {"values", {64, 128, 256, 318}}}};
  const auto write = [&](const std::string& name, const Json& json) {
    std::ofstream(folder / name) << json.dump(2);
  };
  const std::vector<std::pair<double, double>> designs{{1, 9000}, {2, 9500}, {3, 5000}, {4, 4000}};
  int depth = 64;
  for (std::size_t i = 0; i < 6; ++i, depth += 64) {
    const std::string id = "p" + std::to_string(i);
    manifest["points"].push_back(Json{{"id", id},
                                      {"index", i},
                                      {"set", {{"system.router.vc_depth_flits", depth}}},
                                      {"config_hash", id + id}});
    if (i < designs.size()) {
      write("points/" + id + ".json",
            sweep_point(id, document, depth, designs[i].first, designs[i].second));
    } else if (i == 4) {
      write("points/" + id + ".failed.json",
            Json{{"id", id},
                 {"set", {{"system.router.vc_depth_flits", depth}}},
                 {"failure", "ran out of <time>"},
                 {"kind", "timeout"}});
    }
  }
  write("manifest.json", manifest);
  return folder.string();
}

}  // namespace

TEST_CASE("A report of sizes has curves with the bound, maps of links, and trees") {
  const Reports reports;
  const std::string page = reports.page({reports.results("curves", kCurves)});
  CHECK_THAT(text_of(page), StartsWith("<!DOCTYPE html>") && Contains("<html lang=\"en\">"));
  CHECK_THAT(text_of(page), Contains("6 runs</strong>: 6 verified, 0 failed, 0 missing"));
  CHECK_THAT(text_of(page), Contains("<h3>torus 4x4, all_reduce</h3>") &&
                                Contains("run 3: ring, torus 4x4, 256 KiB</h3>") &&
                                Contains("64 links: mean "));
  CHECK_THAT(text_of(page), Contains("Reduce of flow 0") && Contains("Gather of flow 0") &&
                                Contains("Links in use by timestep"));
  const Json drawn = drawn_on(page);
  std::map<std::string, std::size_t> kinds;
  for (const Json& picture : drawn.at("pictures")) {
    const std::string kind = picture.at("kind");
    ++kinds[kind];
    if (picture.contains("bound")) {
      CHECK(picture.at("bound").at("label") == "proven bound");
      CHECK(picture.at("bound").at("points").size() == 3);
      CHECK(picture.at("series").size() == 2);
    }
    if (kind == "links") CHECK(picture.at("links").size() == 64);
    if (kind == "tree") {
      CHECK(picture.at("edges").size() == 15);
      const Json& edge = picture.at("edges").at(0);
      const Json& names = drawn.at("maps").at(0).at("names");
      CHECK(edge.at(4) == names.at(edge.at(0).get<std::size_t>()).get<std::string>() + " " +
                              names.at(edge.at(1).get<std::size_t>()).get<std::string>());
    }
  }
  CHECK(kinds["links"] == 2);
  CHECK(kinds["tree"] == 4);
  CHECK(kinds["occupancy"] == 2);
  CHECK(drawn.at("maps").size() == 1);
  CHECK_THAT(text_of(page),
             Contains("espalier run ") && Contains("id=\"run-6\"") && Contains("id=\"area\"") &&
                 Contains("Dimensions over time: no run is a collective on a multi-dimensional"));
}

TEST_CASE("A report needs nothing but itself, and two of the same results are the same bytes") {
  const Reports reports;
  const std::string file = reports.results("curves", kCurves);
  const std::string page = reports.page({file});
  CHECK(page == reports.page({file}));
  for (const char* outside : {"src=", "<link", "@import", "url("}) {
    CAPTURE(outside);
    CHECK(text_of(page).find(outside) == std::string::npos);
  }
  CHECK_THAT(text_of(page), Contains("default-src 'none'"));
  CHECK(occurrences(page, "<script") == 3);  // the data, Chart.js, the page's own
  const Outcome to_stdout = test::espalier({"report", file, "-o", "-", "--title", "A <title>"});
  CHECK(to_stdout.exit_code == 0);
  CHECK_THAT(to_stdout.out, Contains("<title>A &lt;title&gt;</title>"));
}

TEST_CASE("A report does not call runs failed that compare has stopped") {
  const Reports reports;
  const std::string results = reports.folder.file("compared.json");
  const std::string lab = std::string(ESPALIER_SOURCE_DIR) + "/configs/lab.yaml";
  REQUIRE(test::espalier({"compare", lab, "-s", "collective.size=3MB", "-s",
                          "collective.algorithm=[forest, direct, nccl_tree]", "--json", results})
              .exit_code == 0);
  const std::string text = text_of(reports.page({results}));
  CHECK_THAT(text, Contains("3 runs</strong>: 1 verified, 2 stopped, 0 failed, 0 missing"));
  CHECK_THAT(text,
             Contains("<strong>stopped</strong>") && !Contains("<strong class=\"bad\">failed"));
}

TEST_CASE("A report of a sweep has the Pareto front, blocks, failed and missing points") {
  const Reports reports;
  const std::string page = reports.page({write_sweep(reports)});
  CHECK_THAT(text_of(page), Contains("6 runs</strong>: 4 verified, 1 failed, 1 missing"));
  CHECK_THAT(text_of(page), Contains("3 of 4 designs are on the front") &&
                                Contains("Designs on the front, by area"));
  CHECK_THAT(text_of(page), Contains("One router</h3>") && Contains("One NI</h3>"));
  CHECK_THAT(drawn_on(page).dump(),
             Contains("router.buffers: 9000 \u00b5m\u00b2 to 20000 \u00b5m\u00b2, sram, "
                      "origin: formula"));
  CHECK_THAT(text_of(page),
             Contains("timeout: ran out of &lt;time&gt;") && Contains("p0p0") &&
                 Contains("espalier run base.yaml -s system.router.vc_depth_flits=64"));
}

TEST_CASE("Only runs of one workload are compared") {
  const Reports reports;
  const std::string mesh = "system: {topology: {type: mesh, dims: [2, 2]}, router: {vcs: 2}}\n";
  const auto sweep = [&](const std::string& name, const std::string& section,
                         const std::string& axis) {
    const std::string file = reports.folder.write(
        name + ".yaml", "title: t\nconfig:\n  " + mesh + "  " + section + "\naxes:\n  - " + axis +
                            "\n  - {key: system.router.vc_depth_flits, "
                            "values: [318, 640]}\n");
    const std::string folder = reports.folder.file(name);
    const Outcome run = test::espalier({"sweep", "run", file, "-o", folder});
    INFO(run.err);
    REQUIRE(run.exit_code == 0);
    return reports.page({folder});
  };
  const std::string traffic =
      "traffic: {injection_rate: 0.1, message: 256B, warmup_cycles: 0, measure_cycles: 500, "
      "drain_cycles: 0, seed: 1}";
  const std::string ring = "collective: {algorithm: ring, size: 4KiB}";
  // Twice two designs, and the fewer buffers are the smaller one in both.
  for (const auto& [name, section, axis, words] :
       {std::tuple("rate", traffic, "{key: traffic.injection_rate, values: [0.1, 0.2]}",
                   "injection_rate 0.2"),
        {"duration", traffic, "{key: traffic.measure_cycles, values: [500, 1000]}",
         "measure_cycles 1000"},
        {"message", traffic, "{key: traffic.message, values: [64B, 256B]}", "message 64 B"},
        {"pattern", traffic, "{key: traffic.pattern, values: [uniform, neighbor]}", "neighbor"},
        {"seed", traffic, "{key: traffic.seed, values: [1, 2]}", "seed 2"},
        {"control", ring + "\n  control: {duration_cycles: 500}",
         "{key: control.injection_rate, values: [0.01, 0.02]}", "injection_rate 0.02"},
        {"batch", "collective: {algorithm: ring}\n  training: {network: ncf}",
         "{key: training.mini_batch, values: [1, 2]}", "mini_batch 2"},
        {"stalls", ring, "{key: simulation.stall_probability, values: [0, 0.1]}",
         "stall_probability 0.1"}}) {
    CAPTURE(name);
    const std::string page = sweep(name, section, axis);
    CHECK(occurrences(page, " of 2 designs are on the front") == 2);
    CHECK(page.find(" of 4 designs are on the front") == std::string::npos);
    CHECK_THAT(text_of(page), Contains(words));
  }
  // What is no workload: one picture of all.
  const std::string page = sweep("vcs", ring, "{key: system.router.vcs, values: [2, 4]}");
  CHECK(occurrences(page, " of 4 designs are on the front") == 1);
}

TEST_CASE("A training's iteration and its all-reduce have a column each, everywhere") {
  const Reports reports;
  const std::string page =
      reports.page({reports.results("training",
                                    "system: {topology: {type: mesh, dims: [2, 2]}}\n"
                                    "collective: {algorithm: [ring, multitree]}\n"
                                    "training: {network: ncf, mini_batch: 1}\n"),
                    reports.results("collective", test::kSmallConfig)});
  // The Pareto front's table stands between them.
  const std::string summary_and_runs =
      page.substr(0, page.find("id=\"pareto\"")) + page.substr(page.find("<section id=\"runs\""));
  for (const char* title : {"time, \u00b5s", "iteration, \u00b5s", "all-reduce, \u00b5s"}) {
    CAPTURE(title);
    CHECK(occurrences(summary_and_runs, ">" + std::string(title) + "</th>") == 1);
  }
  const std::string alone = reports.page({reports.folder.file("training.json")});
  CHECK_THAT(alone.substr(0, alone.find("id=\"pareto\"")),
             Contains(">iteration, \u00b5s</th>") && !Contains(">time, \u00b5s</th>"));
}

TEST_CASE("A sweep over networks in files has its maps and schedules, also after a move") {
  const Reports reports;
  const fs::path root = reports.folder.path().string() + "/checkout";
  fs::create_directories(root / "studies/graphs");
  std::ofstream(root / "studies/graphs/pair.yaml")
      << "nodes: [a, b]\nlinks:\n  - {from: a, to: b}\n  - {from: b, to: a}\n";
  std::ofstream(root / "studies/pair.yaml")
      << "title: t\nconfig: {system: {topology: {type: file, file: graphs/pair.yaml}}, "
         "collective: {algorithm: ring}, simulation: {link_utilization: true}}\n"
         "axes: [{key: collective.size, values: [4KiB, 8KiB]}]\n";
  for (const char* command : {"run", "gather"}) {
    const Outcome outcome = test::espalier({"sweep", command, "studies/pair.yaml"}, root.string());
    INFO(outcome.err);
    REQUIRE(outcome.exit_code == 0);
  }
  fs::rename(root, root.string() + "-moved");
  const std::string sweep = root.string() + "-moved/sweeps/pair";
  const std::string page = reports.page({sweep});
  CHECK_THAT(text_of(page), Contains("pair.yaml, 8 KiB</h3>") && Contains("Gather of flow 0") &&
                                !Contains("No map of"));
  // The hash knows the network by its file's name only, the id by what stands in it.
  CHECK_THAT(text_of(page),
             Contains(", point ") && Contains("also depends on the content of these files"));
}

TEST_CASE("The fastest runs stand in the order of sizes, and bars of areas say what differs") {
  const Reports reports;
  const std::string page = reports.page({reports.results(
      "sizes",
      "system: {topology: {type: mesh, dims: [2, 2]}}\n"
      "collective: {algorithm: [ring, multitree, dbtree], size: [64KiB, 1KiB, 4KiB]}\n")});
  const std::string text = text_of(page);
  const std::size_t list = text.find("Fastest, where");
  REQUIRE(list != std::string::npos);
  const std::size_t first = text.find("all_reduce, 1 KiB", list);
  CHECK(first < text.find("all_reduce, 4 KiB", list));
  CHECK(text.find("all_reduce, 4 KiB", list) < text.find("all_reduce, 64 KiB", list));
  CHECK_THAT(text, !Contains("1KiB") && !Contains("150ns"));
  std::size_t bars = 0;
  std::size_t legends = 0;
  const Json drawn = drawn_on(page);
  for (const Json& picture : drawn.at("pictures")) {
    legends += picture.contains("legend") ? 1U : 0U;
    if (picture.value("unit", "").find("area of one") == std::string::npos) continue;
    for (const Json& bar : picture.at("bars")) {
      if (bar.at("runs").size() != 1) continue;
      CHECK_THAT(bar.at("label").get<std::string>(), Contains(": dbtree, size 64 KiB"));
      ++bars;
    }
  }
  CHECK(bars == 2);
  CHECK(legends > 3);
}

TEST_CASE("A report of a multi-dimensional system has its dimensions over time and their use") {
  const Reports reports;
  const std::string page = reports.page({reports.results("themis", kThemisRuns)});
  CHECK_THAT(text_of(page), Contains("run 1: baseline") && Contains("run 2: themis") &&
                                Contains("Utilization of the dimensions"));
  const Json drawn = drawn_on(page);
  for (const Json& picture : drawn.at("pictures")) {
    if (picture.at("kind") == "activity") CHECK(picture.at("dimensions").size() == 2);
  }
  CHECK_THAT(text_of(page), Contains("Trees and timesteps: no run is a collective with timesteps"));
}

TEST_CASE("Results of several files stand side by side, with what differs as columns") {
  const Reports reports;
  const std::string page = reports.page(
      {reports.results("one", test::kSmallConfig), reports.results("curves", kCurves)});
  CHECK_THAT(text_of(page), Contains("7 runs</strong>") && Contains(">type</th>") &&
                                Contains(">dims</th>") && Contains(">algorithm</th>") &&
                                Contains("Settings of all runs: "));
}

TEST_CASE("Each result's configuration is its own, whatever differs") {
  const Reports reports;
  const std::string file = reports.results("training",
                                           "system: {topology: {type: mesh, dims: [2, 2]}}\n"
                                           "collective: {algorithm: [ring, multitree]}\n"
                                           "training: {network: [alexnet, ncf], mini_batch: 1}\n");
  const Json document = Json::parse(test::read_text(file));
  REQUIRE(document.at("points").size() == document.at("results").size());
  for (std::size_t i = 0; i < document.at("points").size(); ++i) {
    const Json& set = document.at("points").at(i).at("set");
    CHECK(set.at("collective.algorithm") == document.at("results").at(i).at("algorithm"));
    CHECK(set.at("training.network") == document.at("results").at(i).at("network"));
  }
  CHECK(document.at("command").at(1) == "run");
}

TEST_CASE("A file that cannot be read is refused with its name and place") {
  const Reports reports;
  const std::string good = reports.results("good", test::kSmallConfig);
  const auto refused = [&](const std::string& file, const std::string& what) {
    const Outcome outcome = reports.make({file});
    CAPTURE(file, outcome.err);
    CHECK(outcome.exit_code == 2);
    CHECK_THAT(outcome.err, Contains(file) && Contains("error") && Contains(what));
    CHECK_FALSE(fs::exists(reports.folder.file("report.html")));
  };
  refused(reports.folder.file("nothing.json"), "cannot be read");
  refused(reports.folder.write("empty.json", " \n"), "is empty");
  refused(reports.folder.write("half.json", test::read_text(good).substr(0, 300)), "not JSON");
  refused(reports.folder.write("list.json", "[1, 2]"), "expected an object");
  refused(reports.folder.write("other.json", "{\"a\": 1}"), "key \"tool\" is missing");
  refused(reports.folder.path().string(), "manifest.json");
  refused(reports.changed(good, [](Json& d) { d["tool"]["version"] = "99.0.0"; }),
          "/tool/version: was written by espalier 99.0.0");
  refused(reports.changed(good, [](Json& d) { d["tool"]["version"] = "new"; }), "is not a version");
  refused(reports.changed(good, [](Json& d) { d["tool"]["name"] = "other"; }), "not espalier");
  refused(reports.changed(good, [](Json& d) { d["results"] = Json::array(); }),
          "/results: is empty");
  refused(reports.changed(good, [](Json& d) { d["results"][0]["time_ns"] = "fast"; }),
          "/results/0/time_ns: expected a number, not string");
  refused(reports.changed(good, [](Json& d) { d["points"].push_back(d["points"][0]); }),
          "has 2 points but 1 results; the two numbers must be equal");
  refused(reports.changed(good, [](Json& d) { d["config"] = 3; }), "/config: expected an object");
}

TEST_CASE("A sweep's file that is not the point it is named after is refused") {
  const Reports reports;
  const fs::path sweep = write_sweep(reports);
  fs::copy_file(sweep / "points" / "p0.json", sweep / "points" / "p5.json");
  const Outcome outcome = reports.make({sweep.string()});
  CHECK(outcome.exit_code == 2);
  CHECK_THAT(outcome.err, Contains("p5.json") && Contains("is the id in the file of point p5"));
}

TEST_CASE("Every text of the results is shown as text, not as HTML") {
  const Reports reports;
  const std::string evil = "</title><script>alert(1)</script>";
  const std::string page =
      reports.page({reports.changed(reports.results("curves", kCurves), [&](Json& document) {
        document["command"] = {evil, "it's"};
        for (Json& result : document["results"]) {
          result["topology"] = evil;
          result["algorithm"] = evil;
          result["links"][0]["from"] = evil;
        }
        document["results"][0]["verified"] = false;
        document["results"][0]["failure"] = evil;
      })});
  CHECK(text_of(page).find(evil) == std::string::npos);
  CHECK(occurrences(page, "<script") == 3);  // the data, Chart.js, the page's own
  CHECK(occurrences(page, "&lt;script&gt;") == 10);
  CHECK_THAT(drawn_on(page).at("points").at(0).at("title").get<std::string>(), Contains(evil));
}

TEST_CASE("Link utilization is the same in both fidelities, and its mean is unchanged") {
  const Reports reports;
  const std::string config = reports.folder.write("curves.yaml", kCurves);
  const auto results = [&](const char* fidelity) {
    return test::run_to_json({config, "-s", "collective.size=16KiB", "-s",
                              std::string("simulation.fidelity=") + fidelity})
        .at("results");
  };
  const Json train = results("train");
  const Json cycle = results("cycle");
  REQUIRE(train.size() == 2);
  for (std::size_t i = 0; i < train.size(); ++i) {
    CHECK(train[i].at("links") == cycle[i].at("links"));
    REQUIRE(train[i].at("links").size() == 64);
    double sum = 0;
    for (const Json& link : train[i].at("links")) sum += link.at("utilization").get<double>();
    CHECK(sum / 64 == Approx(train[i].at("link_utilization_mean").get<double>()));
  }
  CHECK_FALSE(test::run_to_json({config, "-s", "simulation.link_utilization=false", "-s",
                                 "collective.size=16KiB"})
                  .at("results")
                  .at(0)
                  .contains("links"));
}
