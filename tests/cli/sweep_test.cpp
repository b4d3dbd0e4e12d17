// Sweeps as their users run them: the plan, the points, the table.
#include <catch2/catch.hpp>

#include "sweep_test_support.h"

using namespace espalier;
using Catch::Matchers::Contains;
using test::Json;
using test::lines_of;
using test::Outcome;
using test::SweepFolder;

TEST_CASE("A plan lists every point once and writes them into a manifest") {
  const SweepFolder sweep;
  const Outcome outcome = sweep.call("plan");
  CAPTURE(outcome.err);
  REQUIRE(outcome.exit_code == 0);
  CHECK(outcome.err.empty());
  const auto lines = lines_of(outcome.out);
  REQUIRE(lines.size() == 13);
  CHECK(lines.back() == "12 points");
  CHECK_THAT(lines[0], Contains("collective.algorithm=ring collective.size=4KiB "
                                "system.link.latency=20ns"));
  CHECK_THAT(lines[1], Contains("collective.size=4KiB system.link.latency=150ns"));
  const Json manifest = sweep.manifest();
  CHECK(manifest.at("sweep") == "sweep");
  CHECK(manifest.at("tool").at("name") == "espalier");
  CHECK(manifest.at("axes").at(1) ==
        Json({{"key", "collective.size"}, {"values", {"4KiB", "8KiB", "16KiB"}}}));
  REQUIRE(manifest.at("points").size() == 12);
  std::set<std::string> ids;
  for (std::size_t i = 0; i < 12; ++i) {
    const Json& point = manifest.at("points").at(i);
    CHECK(point.at("index") == i);
    CHECK_THAT(lines[i], Catch::Matchers::StartsWith(point.at("id").get<std::string>() + " "));
    ids.insert(point.at("id").get<std::string>());
  }
  CHECK(ids.size() == 12);
  CHECK(sweep.point_files().empty());
}

TEST_CASE("A point's file has what run gives for its configuration, host apart") {
  const SweepFolder sweep;
  const Outcome outcome = sweep.call("run", {"-j", "2"});
  CAPTURE(outcome.err);
  REQUIRE(outcome.exit_code == 0);
  CHECK(outcome.err.empty());
  CHECK_THAT(outcome.out, Contains("12 points: 12 finished, 12 of them now; 0 failed"));
  const auto ids = sweep.ids();
  CHECK(sweep.point_files().size() == 12);
  const Json point = Json::parse(sweep.text("out/points/" + ids.back() + ".json"));
  CHECK(point.at("id") == ids.back());
  CHECK(point.at("set") == Json({{"collective.algorithm", "multitree"},
                                 {"collective.size", "16KiB"},
                                 {"system.link.latency", "150ns"}}));
  CHECK_FALSE(point.at("result").contains("host"));
  CHECK(point.at("host").contains("wall_s"));
  CHECK(point.at("config_hash") == sweep.manifest().at("points").back().at("config_hash"));
  const std::string config = sweep.write("point.yaml", point.at("config").dump());
  const Json direct = test::run_to_json({config}).at("results").at(0);
  CHECK(test::without_host(direct) == point.at("result"));
  CHECK(direct.at("config_hash") == point.at("config_hash"));
}

TEST_CASE("A finished point is simulated again only if --point names it") {
  const SweepFolder sweep;
  REQUIRE(sweep.call("run").exit_code == 0);
  CHECK_THAT(sweep.call("run").out, Contains("12 finished, 0 of them now"));
  const auto ids = sweep.ids();
  CHECK_THAT(sweep.call("plan").out,
             Contains(ids[3] + " collective.algorithm=ring") && Contains("(finished)"));
  // A damaged file is no result.
  const std::string name = "out/points/" + ids[3] + ".json";
  const std::string whole = sweep.text(name);
  sweep.write(name, whole.substr(0, whole.size() / 2));
  CHECK_THAT(sweep.call("run").out, Contains("12 finished, 1 of them now"));
  CHECK_THAT(sweep.call("run", {"--point", ids[5]}).out, Contains("1 points: 1 finished, 1 of"));
  CHECK(sweep.call("run", {"--point", "0123456789abcdef"}).exit_code == 2);
}

TEST_CASE("A file without the result of its point is named, and run replaces it") {
  const SweepFolder sweep;
  REQUIRE(sweep.call("run").exit_code == 0);
  const auto ids = sweep.ids();
  const auto file = [&](std::size_t i) { return "out/points/" + ids[i] + ".json"; };
  Json other = Json::parse(sweep.text(file(2)));
  other["config_hash"] = "0123456789abcdef";
  const std::vector<std::pair<std::string, std::string>> damages{
      {R"({"id":")" + ids[0] + R"(","result":null})", "has no result"},
      {sweep.text(file(2)), "belongs to another point"},
      {other.dump(), "belongs to another configuration"},
      {"{", "is not complete"}};
  for (std::size_t i = 0; i < damages.size(); ++i) sweep.write(file(i), damages[i].first);
  const Outcome gather = sweep.call("gather", {"--partial"});
  CHECK(gather.exit_code == 1);
  const Outcome report = test::espalier({"report", sweep.path("out"), "-o", "-"});
  CHECK(report.exit_code == 2);
  const Outcome run = sweep.call("run");
  CHECK(run.exit_code == 0);
  CHECK_THAT(run.out, Contains("12 finished, 4 of them now"));
  for (std::size_t i = 0; i < damages.size(); ++i) {
    const std::string problem = sweep.path(file(i)) + " " + damages[i].second;
    CHECK_THAT(gather.err, Contains("missing: " + ids[i]) && Contains(": " + problem));
    CHECK_THAT(run.err, Contains("warning: " + problem + "; simulating the point again"));
  }
  CHECK(sweep.call("gather").exit_code == 0);
}

TEST_CASE("An empty failure and a folder in the place of a file are named") {
  const SweepFolder sweep;
  REQUIRE(sweep.call("plan").exit_code == 0);
  const auto ids = sweep.ids();
  const std::string failed = "out/points/" + ids[0] + ".failed.json";
  sweep.write(failed, R"({"id":")" + ids[0] + R"(","failure":5})");
  const std::string folder = sweep.path("out/points/" + ids[1] + ".json");
  std::filesystem::create_directory(folder);
  const Outcome gather = sweep.call("gather");
  CHECK(gather.exit_code == 1);
  CHECK_THAT(gather.err, Contains(sweep.path(failed) + " does not say what failed") &&
                             Contains(folder + " is a folder"));
  const Outcome run = sweep.call("run", {"--keep-failed"});
  CHECK(run.exit_code == 2);
  CHECK_THAT(run.err, Contains("warning: " + sweep.path(failed)) &&
                          Contains("warning: " + folder) && Contains("cannot be written"));
  CHECK_FALSE(sweep.point_files().count(ids[0] + ".failed.json"));
}

TEST_CASE("Gathered tables have a row for every point, in the order of the manifest") {
  const SweepFolder sweep;
  REQUIRE(sweep.call("run").exit_code == 0);
  const Outcome outcome = sweep.call("gather");
  CAPTURE(outcome.err);
  REQUIRE(outcome.exit_code == 0);
  const auto rows = lines_of(sweep.text("out/results.csv"));
  const auto objects = lines_of(sweep.text("out/results.jsonl"));
  const auto ids = sweep.ids();
  REQUIRE(rows.size() == 13);
  REQUIRE(objects.size() == 12);
  CHECK_THAT(rows[0], Catch::Matchers::StartsWith("id,collective.algorithm,collective.size,"
                                                  "collective.size_bytes,system.link.latency,"
                                                  "system.link.latency_ns,algorithm,op,"));
  CHECK_THAT(rows[0], !Contains("host"));
  for (std::size_t i = 0; i < 12; ++i) {
    CHECK_THAT(rows[i + 1], Catch::Matchers::StartsWith(ids[i] + ","));
    const Json object = Json::parse(objects[i]);
    CHECK(object.at("id") == ids[i]);
    CHECK_THAT(rows[i + 1], Contains("," + object.at("result").at("cycles").dump() + ","));
  }
}

TEST_CASE("An axis with a unit has a numeric column in base units beside its text") {
  const SweepFolder sweep(
      "title: Units\n"
      "config:\n"
      "  system: {topology: {type: mesh, dims: [2, 2]}, ni: {lockstep: \"off\"}}\n"
      "  collective: {op: all_reduce, algorithm: ring, size: 4KiB}\n"
      "axes:\n"
      "  - zip:\n"
      "    - {key: system.link.latency, values: [50ns, 1us, 0.5ns]}\n"
      "    - {key: system.link.bandwidth, values: [16GB/s, 12.5GB/s, 500MB/s]}\n"
      "    - {key: system.router.clock, values: [1GHz, 1.25GHz, 500MHz]}\n"
      "    - {key: collective.size, values: [4KiB, 1MB, 16KiB]}\n"
      "    - {key: system.router.vcs, values: [2, 4, 8]}\n");
  const Outcome run = sweep.call("run");
  CAPTURE(run.err);
  REQUIRE(run.exit_code == 0);
  REQUIRE(sweep.call("gather").exit_code == 0);
  const auto rows = lines_of(sweep.text("out/results.csv"));
  REQUIRE(rows.size() == 4);
  CHECK_THAT(rows[0],
             Contains(",system.link.latency,system.link.latency_ns,system.link.bandwidth,"
                      "system.link.bandwidth_GBps,system.router.clock,system.router.clock_GHz,"
                      "collective.size,collective.size_bytes,system.router.vcs,"));
  CHECK_THAT(rows[1], Contains(",50ns,50,16GB/s,16,1GHz,1,4KiB,4096,2,"));
  CHECK_THAT(rows[2], Contains(",1us,1000,12.5GB/s,12.5,1.25GHz,1.25,1MB,1000000,4,"));
  CHECK_THAT(rows[3], Contains(",0.5ns,0.5,500MB/s,0.5,500MHz,0.5,16KiB,16384,8,"));
  const Json numbers = Json::parse(lines_of(sweep.text("out/results.jsonl"))[1]).at("set_numbers");
  CHECK(numbers.dump() == R"({"system.link.latency_ns":1000,"system.link.bandwidth_GBps":12.5,)"
                          R"("system.router.clock_GHz":1.25,"collective.size_bytes":1000000})");
}

TEST_CASE("Points of another version of the program are counted in a warning") {
  const SweepFolder sweep;
  REQUIRE(sweep.call("run").exit_code == 0);
  CHECK_THAT(sweep.call("run").err, !Contains("warning"));
  const std::string file = "out/points/" + sweep.ids().front() + ".json";
  Json point = Json::parse(sweep.text(file));
  CHECK_THAT(test::espalier({"--version"}).out, Contains(point.at("version").get<std::string>()));
  point["version"] = "0.0.9";
  sweep.write(file, point.dump());
  const Outcome run = sweep.call("run");
  CHECK(run.exit_code == 0);
  CHECK_THAT(run.out, Contains("12 finished, 0 of them now"));
  CHECK_THAT(run.err, Contains("warning: 1 finished points are results of espalier 0.0.9"));
  const Outcome gather = sweep.call("gather");
  CHECK(gather.exit_code == 0);
  CHECK_THAT(gather.err, Contains("different versions") && Contains("1 points of espalier 0.0.9") &&
                             Contains("11 points of espalier "));
}

TEST_CASE("sweep run --no-warnings leaves out the warnings that plan has printed") {
  const SweepFolder sweep(
      "title: Shallow\n"
      "config: {system: {topology: {type: mesh, dims: [2, 2]}}, collective: {algorithm: ring, "
      "size: 4KiB}}\n"
      "axes: [{key: system.router.vc_depth_flits, values: [80, 100]}]\n");
  const Outcome plan = sweep.call("plan");
  CHECK_THAT(plan.err, Contains("warning"));
  CHECK(sweep.call("run", {"--no-warnings"}).err.empty());
  // Errors are printed nevertheless.
  sweep.write("sweep.yaml", "title: t\n");
  CHECK_THAT(sweep.call("run", {"--no-warnings"}).err, Contains("error"));
}

TEST_CASE("Gather names missing points and writes no files unless --partial is given") {
  const SweepFolder sweep;
  REQUIRE(sweep.call("run").exit_code == 0);
  const auto ids = sweep.ids();
  std::filesystem::remove(sweep.path("out/points/" + ids[7] + ".json"));
  const Outcome outcome = sweep.call("gather");
  CHECK(outcome.exit_code == 1);
  CHECK_THAT(outcome.err, Contains("missing: " + ids[7] + " collective.algorithm=multitree"));
  CHECK_FALSE(std::filesystem::exists(sweep.path("out/results.csv")));
  CHECK(sweep.call("gather", {"--partial"}).exit_code == 1);
  CHECK(lines_of(sweep.text("out/results.csv")).size() == 12);
  CHECK(lines_of(sweep.text("out/results.jsonl")).size() == 11);
  // Nothing was planned there.
  const Outcome nothing = sweep.call("gather", {}, "elsewhere");
  CHECK(nothing.exit_code == 2);
  CHECK_THAT(nothing.err, Contains("sweep plan"));
}

TEST_CASE("Shards contain every point once, and their results equal those of one run") {
  const SweepFolder sweep;
  std::size_t points = 0;
  for (const std::string shard : {"1/5", "2/5", "3/5", "4/5", "5/5"}) {
    const std::size_t before = sweep.point_files().size();
    const Outcome outcome = sweep.call("run", {"--shard", shard});
    CAPTURE(shard, outcome.err, outcome.out);
    REQUIRE(outcome.exit_code == 0);
    const std::size_t now = sweep.point_files().size() - before;
    CHECK((now == 2 || now == 3));
    points += now;
  }
  CHECK(points == 12);
  REQUIRE(sweep.call("gather").exit_code == 0);
  REQUIRE(sweep.call("run", {"-j", "1"}, "whole").exit_code == 0);
  REQUIRE(sweep.call("gather", {}, "whole").exit_code == 0);
  CHECK(sweep.text("out/results.csv") == sweep.text("whole/results.csv"));
  CHECK(sweep.text("out/results.jsonl") == sweep.text("whole/results.jsonl"));
  for (const char* shard : {"0/5", "6/5", "1", "a/b", "1/0", ""}) {
    CAPTURE(shard);
    CHECK(sweep.call("run", {"--shard", shard}).exit_code == 2);
  }
}

TEST_CASE("Gather keeps earlier tables if points are missing, and says so") {
  const SweepFolder sweep;
  REQUIRE(sweep.call("run").exit_code == 0);
  REQUIRE(sweep.call("gather").exit_code == 0);
  const std::string before = sweep.text("out/results.csv");
  std::filesystem::remove(sweep.path("out/points/" + sweep.ids()[3] + ".json"));
  const Outcome outcome = sweep.call("gather");
  CHECK(outcome.exit_code == 1);
  CHECK_THAT(outcome.err, Contains("out/results.csv from an earlier gather is not changed") &&
                              Contains("out/results.jsonl from an earlier gather is not changed"));
  CHECK(sweep.text("out/results.csv") == before);
}

TEST_CASE("Two sweep files of the same name do not share a folder unless -o says so") {
  const SweepFolder folder;
  for (const char* name : {"a", "b"}) {
    std::filesystem::create_directory(folder.path(name));
    folder.write(std::string(name) + "/study.yaml", test::kSmallSweep);
  }
  const std::string here = folder.path("");
  REQUIRE(test::espalier({"sweep", "run", "a/study.yaml"}, here).exit_code == 0);
  for (const char* command : {"plan", "run", "gather"}) {
    const Outcome outcome = test::espalier({"sweep", command, "b/study.yaml"}, here);
    CHECK(outcome.exit_code == 2);
    CHECK_THAT(outcome.err,
               Contains("the folder of another sweep, a/study.yaml; choose another folder for"));
  }
  CHECK(test::espalier({"sweep", "gather", "a/study.yaml"}, here).exit_code == 0);
  CHECK(test::espalier({"sweep", "plan", "b/study.yaml", "-o", "sweeps/study"}, here).exit_code ==
        0);
  CHECK(test::espalier({"sweep", "plan", "a/study.yaml"}, here).exit_code == 2);
  // What is gone was moved.
  std::filesystem::remove(folder.path("b/study.yaml"));
  CHECK(test::espalier({"sweep", "plan", "./a/study.yaml"}, here).exit_code == 0);
}

TEST_CASE("A changed plan says what changed, and keeps the points it still has") {
  const SweepFolder sweep;
  REQUIRE(sweep.call("run").exit_code == 0);
  std::string text = test::kSmallSweep;
  text.replace(text.find("[20ns, 150ns]"), 13, "[150ns, 100ns]");
  sweep.write("sweep.yaml", text);
  const Outcome plan = sweep.call("plan");
  CHECK(plan.exit_code == 0);
  CHECK_THAT(plan.err,
             Contains("the plan has changed") &&
                 Contains("axis system.link.latency: now [150ns, 100ns], before [20ns, 150ns]") &&
                 Contains("6 points are added, 6 are removed, 6 stay"));
  CHECK(sweep.call("plan").err.empty());
  CHECK_THAT(sweep.call("run").out, Contains("12 finished, 6 of them now"));
  CHECK(sweep.call("gather").exit_code == 0);
  CHECK(lines_of(sweep.text("out/results.csv")).size() == 13);
}

TEST_CASE("An override of an axis takes the axis' place, any other holds everywhere") {
  const SweepFolder sweep;
  REQUIRE(sweep.call("run").exit_code == 0);
  const Outcome pinned = sweep.call("plan", {"-s", "collective.algorithm=multitree"});
  CHECK_THAT(pinned.out, Contains("6 points") && Contains("(finished)"));
  CHECK(sweep.manifest().at("overrides") == Json({"collective.algorithm=multitree"}));
  CHECK_THAT(sweep.call("plan", {"-s", "collective.size=[4KiB, 64KiB]"}).out, Contains("8 points"));
  const Outcome other = sweep.call("plan", {"-s", "system.router.vcs=2"});
  CHECK_THAT(other.out, Contains("12 points") && !Contains("finished"));
}

TEST_CASE("A sweep's point depends on what stands in the files that it names") {
  const std::string links = "links:\n  - {from: a, to: b}\n  - {from: b, to: a}\n";
  const SweepFolder sweep(
      "title: t\nconfig: {system: {topology: {type: file, file: net.yaml}}, "
      "collective: {algorithm: ring, size: 4KiB}}\naxes: [{key: system.router.vcs, values: "
      "[2]}]\n");
  sweep.write("net.yaml", "nodes: [a, b]\n" + links);
  REQUIRE(sweep.call("run").exit_code == 0);
  sweep.write("net.yaml", "nodes: [b, a]\n" + links);
  CHECK_THAT(sweep.call("run").out, Contains("1 finished, 1 of them now"));
}

TEST_CASE("Every sweep in configs plans, and a small version of it runs", "[slow]") {
  const std::filesystem::path configs = std::filesystem::path(ESPALIER_SOURCE_DIR) / "configs";
  const std::vector<std::pair<std::string, std::vector<std::string>>> sweeps{
      {"subpacket_vc_latency",
       {"-s", "system.topology.dims=[4, 4]", "-s", "collective.size=64KiB", "-s",
        "system.link.latency=50ns"}},
      {"table_cost",
       {"-s", "system.topology.dims=[[4, 4], [8, 4]]", "-s", "collective.size=64KiB"}},
      {"themis_queue",
       {"-s", "collective.size=1MB", "-s", "collective.chunks=8", "-s",
        "system.ni.dimension_queue.in_flight=4"}},
      {"radix", {"-s", "collective.size=64KiB", "-s", "system.topology.dims=[4, 4]"}},
      {"bandwidth", {"-s", "collective.size=64KiB"}},
      {"lab", {"-s", "collective.size=60kB"}}};
  std::size_t files = 0;
  for (const auto& entry : std::filesystem::directory_iterator(configs / "sweeps"))
    if (entry.path().extension() == ".yaml") ++files;
  CHECK(files == sweeps.size());
  for (const auto& [name, small] : sweeps) {
    CAPTURE(name);
    const std::string file = (configs / "sweeps" / (name + ".yaml")).string();
    const test::TemporaryFolder folder;
    const Outcome plan = test::espalier({"sweep", "plan", file, "-o", folder.file("all")});
    CAPTURE(plan.err);
    CHECK(plan.exit_code == 0);
    std::vector<std::string> words{"sweep", "run", file, "-o", folder.file("small")};
    words.insert(words.end(), small.begin(), small.end());
    const Outcome run = test::espalier(words);
    CAPTURE(run.err, run.out);
    CHECK(run.exit_code == 0);
    CHECK(test::espalier({"sweep", "gather", file, "-o", folder.file("small")}).exit_code == 0);
  }
}
