// What a sweep file says wrong is said at its place, and what it says right becomes these points.
#include <fmt/format.h>

#include <catch2/catch.hpp>

#include "sweep_test_support.h"

using namespace espalier;
using Catch::Matchers::Contains;
using test::Json;
using test::lines_of;
using test::Outcome;
using test::SweepFolder;

namespace {

constexpr const char* kStart =
    "title: t\n"
    "config: {system: {topology: {type: mesh, dims: [2, 2]}}, "
    "collective: {algorithm: ring, size: 4KiB}}\n";

// The values of one axis.
std::vector<std::string> values_of(const std::string& axes, const std::string& key) {
  const SweepFolder sweep(kStart + axes);
  const Outcome outcome = sweep.call("plan");
  CAPTURE(outcome.err);
  REQUIRE(outcome.exit_code == 0);
  std::vector<std::string> values;
  const Json manifest = sweep.manifest();
  for (const Json& point : manifest.at("points")) {
    const Json& set = point.at("set");
    values.push_back(!set.contains(key)        ? "-"
                     : set.at(key).is_string() ? set.at(key).get<std::string>()
                                               : set.at(key).dump());
  }
  return values;
}

using Values = std::vector<std::string>;

}  // namespace

TEST_CASE("All errors of a sweep file are shown in one call, each at its place") {
  const SweepFolder sweep(
      "title: t\n"
      "confg: x.yaml\n"
      "config: {system: {topology: {type: mesh, dims: [2, 2]}}, collective: {size: [1KiB, 2KiB]}}\n"
      "axes:\n"
      "  - {key: system.router.vsc, values: [1]}\n"
      "  - {key: system.link.latency, from: 250ns, to: 50ns, step: 50ns}\n"
      "  - {key: system.router.vcs, values: [1, 2, 2]}\n"
      "  - zip: [{key: system.ni.ports, values: [1, 2]}, {key: system.ni.send_queue, values: "
      "[4]}]\n"
      "  - {key: collective.chunks, values: [4], when: {collective.algoritm: themis}}\n"
      "seeds: none\n"
      "time_limit: 10\n"
      "memory_limit: 1MiB\n");
  const Outcome outcome = sweep.call("plan");
  CHECK(outcome.exit_code == 2);
  CHECK(outcome.out.empty());
  for (const char* text :
       {":2:1: error: unknown key 'confg'", "did you mean 'config'?",
        ":3:77: error: collective.size: found a list; in a sweep a list of values is an axis",
        ":5:11: error: axis.key: unknown key 'system.router.vsc'",
        "did you mean 'system.router.vcs'?", ":6:49: error: axis: 'to' is less than 'from'",
        ":7:45: error: system.router.vcs: 2 is in the list twice",
        "error: zip: 'system.ni.send_queue' has 1 values, 'system.ni.ports' has 2",
        "error: when: unknown key 'collective.algoritm'",
        ":10:8: error: seeds: 'none' is not an integer",
        ":11:13: error: time_limit: '10' has no unit",
        ":12:15: error: memory_limit: 1MiB is too small"}) {
    CAPTURE(text, outcome.err);
    CHECK_THAT(outcome.err, Contains(text));
  }
  CHECK_FALSE(std::filesystem::exists(sweep.path("out")));
}

TEST_CASE("A sweep file that is not a mapping of keys is refused") {
  for (const char* command : {"plan", "run"}) {
    for (const char* text : {"", "# nothing\n", "null\n", "---\n", "[]\n", "42\n", "text\n"}) {
      const SweepFolder sweep(text);
      const Outcome outcome = sweep.call(command);
      CAPTURE(command, text, outcome.err);
      CHECK(outcome.exit_code == 2);
      const bool is_empty = *text == 0 || *text == '#' || *text == 'n' || *text == '-';
      CHECK_THAT(outcome.err,
                 Contains(sweep.file() + ":1:1: error: " +
                          (is_empty ? "the file is empty" : "expected a mapping of keys")));
    }
  }
}

TEST_CASE("A point that the configuration's reader refuses is named with its values") {
  const SweepFolder sweep(std::string(kStart) +
                          "axes:\n"
                          "  - {key: system.flow_control.mode, values: [packet]}\n"
                          "  - {key: system.router.vc_depth_flits, values: [8, 318]}\n"
                          "  - {key: system.router.vcs, values: [2, 4]}\n");
  const Outcome outcome = sweep.call("run");
  CHECK(outcome.exit_code == 2);
  CHECK_THAT(outcome.err,
             Contains(":5:50: error: system.router.vc_depth_flits") &&
                 Contains("at: system.flow_control.mode=packet system.router.vc_depth_flits=8 "
                          "system.router.vcs=2") &&
                 Contains("2 of 4 points cannot be simulated"));
  CHECK(sweep.point_files().empty());
}

TEST_CASE("Ranges add or multiply up to their end, in the key's units") {
  CHECK(values_of("axes: [{key: system.link.latency, from: 50ns, to: 260ns, step: 100ns}]\n",
                  "system.link.latency") == Values{"50ns", "150ns", "250ns"});
  CHECK(values_of("axes: [{key: collective.size, from: 64KiB, to: 16MiB, factor: 4}]\n",
                  "collective.size") == Values{"64KiB", "256KiB", "1MiB", "4MiB", "16MiB"});
  CHECK(values_of("axes: [{key: system.router.vcs, from: 2, to: 6, step: 2}]\n",
                  "system.router.vcs") == Values{"2", "4", "6"});
  CHECK(values_of("axes: [{key: simulation.stall_probability, from: 0.1, to: 0.3, step: 0.1}]\n",
                  "simulation.stall_probability") == Values{"0.1", "0.2", "0.3"});
}

TEST_CASE("Zipped keys vary together") {
  const std::string axes =
      "axes:\n"
      "  - zip:\n"
      "      - {key: system.router.vcs, values: [1, 2, 4]}\n"
      "      - {key: system.router.vc_depth_flits, values: [640, 318, 318]}\n";
  CHECK(values_of(axes, "system.router.vcs") == Values{"1", "2", "4"});
  CHECK(values_of(axes, "system.router.vc_depth_flits") == Values{"640", "318", "318"});
}

TEST_CASE("An axis varies only where its condition holds, and makes no point twice elsewhere") {
  CHECK(values_of("axes:\n"
                  "  - {key: collective.algorithm, values: [ring, multitree]}\n"
                  "  - {key: system.router.vcs, values: [2, 4], when: {collective.algorithm: "
                  "multitree}}\n",
                  "system.router.vcs") == Values{"-", "2", "4"});
  // Values compare by their order.
  CHECK(values_of(
            "axes:\n"
            "  - {key: system.ni.send_queue, values: [4, 8]}\n"
            "  - {key: system.router.vcs, values: [2, 4], when: {system.ni.send_queue: '> 4'}}\n",
            "system.router.vcs") == Values{"-", "2", "4"});
  const SweepFolder later(
      std::string(kStart) +
      "axes:\n"
      "  - {key: system.router.vcs, values: [2], when: {collective.size: '> 1KiB'}}\n"
      "  - {key: collective.size, values: [1KiB]}\n");
  CHECK_THAT(later.call("plan").err,
             Contains("when: 'collective.size' is not an axis that stands before this axis"));
}

TEST_CASE("Cases lie over the configuration, and lists in them make points") {
  const std::string axes =
      "axes:\n"
      "  - name: design\n"
      "    cases:\n"
      "      plain: {collective: {algorithm: ring, size: 8KiB}}\n"
      "      wide: {collective: {algorithm: multitree}, system: {router: {vcs: [2, 4]}}}\n"
      "      as it is:\n"
      "  - {key: system.link.latency, values: [50ns]}\n";
  CHECK(values_of(axes, "design") == Values{"plain", "wide", "wide", "as it is"});
  CHECK(values_of(axes, "system.router.vcs") == Values{"-", "2", "4", "-"});
  const SweepFolder sweep(std::string(kStart) + axes);
  CHECK(sweep.call("run").exit_code == 0);
  CHECK(sweep.call("gather").exit_code == 0);
  const auto lines = test::lines_of(sweep.text("out/results.csv"));
  CHECK_THAT(lines.at(0), Contains("id,design,system.router.vcs,system.link.latency,"));
  CHECK_THAT(lines.at(1), Contains(",plain,,50ns,50,ring,") && Contains(",8192,"));
  CHECK_THAT(lines.at(3), Contains(",wide,4,50ns,50,multitree,"));
  // An override wins over every case.
  const SweepFolder all(std::string(kStart) + axes);
  CHECK_THAT(all.call("plan", {"-s", "collective.size=2KiB", "-s", "system.router.vcs=2"}).out,
             Contains("2 points, 1 equal to other points"));
}

TEST_CASE("A point that two cases give is listed once, with the values of both") {
  const SweepFolder sweep(std::string(kStart) +
                          "axes: [{name: design, cases: {one: {}, two: {}}}]\n");
  CHECK_THAT(sweep.call("plan").out, Contains("1 points, 1 equal to other points"));
  const Json manifest = sweep.manifest();
  CHECK(manifest["points"][0]["set"]["design"] == "one");
  CHECK(manifest["points"][0]["alike"][0]["design"] == "two");
}

TEST_CASE("An axis of an unknown key names the key that is meant, also without its section") {
  for (const auto& [name, key] :
       {std::pair{"sub_packet_bytes", "system.flow_control.payload_bytes"},
        {"vcz", "system.router.vcs"},
        {"packet_size", "traffic.message"}}) {
    const std::string axis = fmt::format("axes: [{{key: {}, values: [1, 2]}}]\n", name);
    CAPTURE(axis);
    const std::string errors = SweepFolder(std::string(kStart) + axis).call("plan").err;
    CHECK_THAT(errors, Contains(fmt::format("did you mean '{}'?", key)));
  }
}

TEST_CASE("The values of an axis may name nodes") {
  const std::string axis =
      "axes: [{key: faults.late_nis, values: [[{node: r_0_1, cycles: 5}], [{node: r_1_0, "
      "cycles: 5}]]}]\n";
  const Outcome outcome = SweepFolder(std::string(kStart) + axis).call("plan");
  CHECK(outcome.err.find("in the list twice") == std::string::npos);
}

TEST_CASE("Mistakes in cases and drawings have their place") {
  const auto error_of = [](const std::string& axis) {
    return SweepFolder(std::string(kStart) + axis).call("plan").err;
  };
  CHECK_THAT(error_of("axes: [{name: design}]\n"), Contains("missing key 'axis.cases'"));
  CHECK_THAT(error_of("axes: [{name: design, cases: [ring]}]\n"),
             Contains("cases: expected a mapping of names to configurations"));
  CHECK_THAT(error_of("axes: [{name: system, cases: {a: {}}}]\n"), Contains("found 'system'"));
  CHECK_THAT(error_of("axes: [{name: a, cases: {a: {}}, key: system.router.vcs}]\n"),
             Contains("both 'cases' and 'key' are given"));
  CHECK_THAT(error_of("axes: [{name: a, cases: {a: {system: {router: {vcss: 2}}}}}]\n"),
             Contains("unknown key 'vcss'"));
  CHECK_THAT(error_of("seeds: 2\ndraw: lines\n"), Contains("draw: expected a mapping"));
}

TEST_CASE("Two equal configurations of a sweep become one point") {
  const SweepFolder sweep(std::string(kStart) +
                          "axes:\n"
                          "  - zip:\n"
                          "      - {key: system.router.vcs, values: [2, 4, 2]}\n"
                          "      - {key: collective.size, values: [4KiB, 4KiB, 4096B]}\n");
  CHECK_THAT(sweep.call("plan").out, Contains("2 points, 1 equal to other points"));
}

TEST_CASE("only and except leave points out by their keys") {
  const std::string axes =
      "axes:\n"
      "  - {key: system.flow_control.mode, values: [packet]}\n"
      "  - {key: system.flow_control.payload_bytes, values: [64, 256]}\n"
      "  - {key: system.router.vc_depth_flits, values: [64, 256, 318]}\n";
  const std::string key = "system.router.vc_depth_flits";
  CHECK(values_of(axes + "only: {system.router.vc_depth_flits: '>= 256'}\n", key) ==
        Values{"256", "318", "256", "318"});
  CHECK(values_of(axes + "except: {system.router.vc_depth_flits: '<= "
                         "system.flow_control.payload_bytes'}\n",
                  key) == Values{"256", "318", "318"});
  CHECK(values_of(axes + "except: [{system.router.vc_depth_flits: [64, 318]}, "
                         "{system.flow_control.payload_bytes: '!= 64'}]\n",
                  key) == Values{"256"});
}

TEST_CASE("Seeds repeat every point") {
  const std::string traffic =
      "title: t\n"
      "config: {system: {topology: {type: mesh, dims: [2, 2]}}, traffic: {warmup_cycles: 0, "
      "measure_cycles: 100, drain_cycles: 0}}\n"
      "axes: [{key: traffic.injection_rate, values: [0.1, 0.2]}]\n";
  const SweepFolder five(traffic + "seeds: 5\n");
  CHECK_THAT(five.call("plan").out, Contains("traffic.seed=5") && Contains("10 points"));
  const SweepFolder given(traffic + "seeds: {key: traffic.seed, first: 7, count: 2}\n");
  CHECK_THAT(given.call("plan").out,
             Contains("traffic.seed=7") && Contains("traffic.seed=8") && Contains("4 points"));
}

TEST_CASE("Limits out of range are refused, both in the file and on the command line") {
  const std::string axes = "axes: [{key: system.router.vcs, values: [2]}]\n";
  const SweepFolder file(kStart + axes + "time_limit: 2600000h\n");
  const Outcome plan = file.call("plan");
  CHECK(plan.exit_code == 2);
  CHECK_THAT(plan.err, Contains("time_limit: 2600000h is too large") && Contains("to 36500d"));
  const SweepFolder sweep(kStart + axes);
  const Outcome run = sweep.call("run", {"--time-limit", "2600000h"});
  CHECK(run.exit_code == 2);
  CHECK_THAT(run.err, Contains("--time-limit 2600000h: error: 2600000h is too large"));
  CHECK(sweep.call("run", {"--time-limit", "0s"}).exit_code == 2);
  CHECK(sweep.call("run", {"--memory-limit", "1MiB"}).exit_code == 2);
  CHECK(sweep.call("run", {"--time-limit", "876000h"}).exit_code == 0);
}

TEST_CASE("A value in the place of a section is an error, not replaced by an axis") {
  for (const char* config : {"{system: 3}", "{system: {router: [2]}}"}) {
    const SweepFolder sweep(std::string("title: t\nconfig: ") + config +
                            "\naxes: [{key: system.router.vcs, values: [2]}]\n");
    const Outcome outcome = sweep.call("plan");
    CAPTURE(config, outcome.err);
    CHECK(outcome.exit_code == 2);
    CHECK_THAT(outcome.err, Contains("' is a section; expected its keys") && Contains(":2:"));
  }
  const SweepFolder overridden("title: t\nconfig: {system: 3}\nseeds: 2\n");
  CHECK_THAT(overridden.call("plan", {"-s", "system.router.vcs=2"}).err,
             Contains("'system' is a section; expected its keys"));
}

TEST_CASE("A sweep that is its own configuration gets one error") {
  const SweepFolder sweep("title: t\nconfig: sweep.yaml\nseeds: 2\n");
  const Outcome outcome = sweep.call("plan");
  CHECK(outcome.exit_code == 2);
  CHECK_THAT(outcome.err, Contains(":2:9: error: config: names the sweep's own file"));
  CHECK(outcome.err.find("error", outcome.err.find("error") + 1) == std::string::npos);
}

TEST_CASE("A value in the place of a list is refused with an example") {
  const SweepFolder axes(kStart + std::string("axes: {key: system.router.vcs, values: [2]}\n"));
  CHECK_THAT(axes.call("plan").err,
             Contains("axes: expected a list") && Contains("hint: axes: [{"));
  const SweepFolder values(kStart + std::string("axes: [{key: system.router.vcs, values: 2}]\n"));
  CHECK_THAT(values.call("plan").err, Contains("axis.values: expected a list") &&
                                          Contains("hint: write one value as a list"));
  const SweepFolder title("title: 'a \"b\"'\nconfig: {}\nseeds: 2\n");
  CHECK_THAT(title.call("plan").err, Contains("double quote"));
}

TEST_CASE("A warning about one of several points names it") {
  const SweepFolder sweep(kStart +
                          std::string("axes: [{key: system.router.vc_depth_flits, values: [40, "
                                      "318]}]\n"));
  const Outcome outcome = sweep.call("plan");
  CAPTURE(outcome.err);
  CHECK(outcome.exit_code == 0);
  CHECK_THAT(outcome.err, Contains("warning") && Contains("at: system.router.vc_depth_flits=40"));
}

TEST_CASE("Axes that make too many points are refused with their number") {
  const std::string thousand =
      ", from: 1KiB, to: 1000KiB, step: 1KiB}\n  - {key: system.link.latency, from: 1ns, to: "
      "2000ns, step: 1ns}\n";
  const SweepFolder all(std::string(kStart) + "axes:\n  - {key: collective.size" + thousand);
  const Outcome outcome = all.call("plan");
  CHECK(outcome.exit_code == 2);
  CHECK_THAT(outcome.err,
             Contains("error: the axes make 2000000 points; at most 1000000 are allowed"));
}

TEST_CASE("A damaged manifest is reported with its place") {
  const SweepFolder sweep;
  REQUIRE(sweep.call("plan").exit_code == 0);
  const std::string good = sweep.text("out/manifest.json");
  sweep.write("out/manifest.json", "{\n  \"axes\": [,]\n}\n");
  Outcome outcome = sweep.call("gather");
  CHECK(outcome.exit_code == 2);
  CHECK_THAT(outcome.err, Contains("out/manifest.json:2:12: error: not JSON: unexpected ','"));
  Json manifest = Json::parse(good);
  manifest["points"][3].erase("id");
  sweep.write("out/manifest.json", manifest.dump());
  outcome = sweep.call("gather");
  CHECK(outcome.exit_code == 2);
  CHECK_THAT(outcome.err,
             Contains("manifest.json:1:") && Contains("error: /points/3: key \"id\" is missing"));
  for (const char* id : {"../../secret", "/etc/secret", ".hidden", "", "a\x1b"}) {
    manifest["points"][3]["id"] = id;
    sweep.write("out/manifest.json", manifest.dump());
    outcome = sweep.call("gather");
    CAPTURE(id, outcome.err);
    CHECK(outcome.exit_code == 2);
    CHECK_THAT(outcome.err, Contains("is not the id of a point"));
  }
  manifest = Json::parse(good);
  manifest["file"] = 5;
  sweep.write("out/manifest.json", manifest.dump());
  outcome = sweep.call("gather");
  CHECK_THAT(outcome.err,
             Contains("error: /file: expected a string") && !Contains("json.exception"));
}

TEST_CASE("A mapping and a part of it are not both axes") {
  for (const char* second :
       {"system.cost.macros.link.area_um2, values: [1]", "system.cost.macros, values: [formula]"}) {
    CAPTURE(second);
    const SweepFolder sweep(std::string(kStart) +
                            "axes:\n  - {key: system.cost.macros.link.area_um2, values: [5]}\n" +
                            "  - {key: " + second + "}\n");
    const Outcome outcome = sweep.call("plan");
    CHECK(outcome.exit_code == 2);
    CHECK_THAT(outcome.err, Contains("'system.cost.macros.link.area_um2' already is an axis"));
  }
}

TEST_CASE("The hidden worker command without a point is a usage error") {
  for (const char* input : {"", "null", "{}", "{\"config\": 5}", "{\"config\": \"\"}"}) {
    const Outcome outcome = test::run_program(
        "/bin/sh",
        {"-c", std::string("printf '%s' '") + input + "' | " ESPALIER_PROGRAM " worker"});
    CAPTURE(input);
    CHECK(outcome.exit_code == 2);
    CHECK_THAT(outcome.err, Contains("expected a point on stdin"));
  }
}

TEST_CASE("A command that runs out of memory reports the command and its memory", "[slow]") {
  const SweepFolder folder;
  const std::string config = folder.write("large.yaml",
                                          "system: {topology: {type: torus, dims: [32, "
                                          "32]}}\ncollective: {algorithm: ring, size: 1MiB}\n");
  for (const std::string command : {"run", "check", "schedule"}) {
    const Outcome outcome = test::run_program(
        "/bin/sh", {"-c", "ulimit -v 90000; exec \"$0\" \"$1\" \"$2\" 2>&1 >/dev/null",
                    ESPALIER_PROGRAM, command, config});
    CAPTURE(command, outcome.out);
    CHECK(outcome.exit_code == 1);
    CHECK_THAT(outcome.out, Contains(command + ": out of memory: it needs more than 0."));
  }
}

TEST_CASE("A configuration whose lists make too many points is refused with their number") {
  const SweepFolder folder;
  std::string sizes = "1KiB";
  for (int i = 2; i <= 400; ++i) sizes += ", " + std::to_string(i) + "KiB";
  std::string seeds = "1";
  for (int i = 2; i <= 400; ++i) seeds += ", " + std::to_string(i);
  const std::string config =
      folder.write("many.yaml",
                   "system: {topology: {type: mesh, dims: [2, 2]}}\ncollective: {algorithm: ring, "
                   "rank_order: random,\n"
                   "  size: [" +
                       sizes + "],\n  rank_order_seed: [" + seeds + "]}\n");
  const Outcome outcome = test::espalier({"run", config});
  CHECK(outcome.exit_code == 2);
  CHECK_THAT(outcome.err, Contains("up to 160000 points; at most 100000 are allowed"));
}
