// `espalier run --timeline FILE`: a run as events of a trace.
#include <catch2/catch.hpp>
#include <cmath>
#include <filesystem>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "cli_test_support.h"
#include "tests/support/trace_writer.h"

using namespace espalier;
using Catch::Matchers::Contains;
using test::Json;
using test::Outcome;
using test::TemporaryFolder;

namespace {

constexpr const char* kTimelineTorus =
    "system: {topology: {type: torus, dims: [4, 4]}}\n"
    "collective: {op: all_reduce, algorithm: multitree, size: 32KiB}\n";
constexpr const char* kTrafficPoint =
    "system: {topology: {type: mesh, dims: [4, 3]}}\n"
    "traffic: {pattern: uniform, injection_rate: 0.6, warmup_cycles: 0, measure_cycles: 1500, "
    "drain_cycles: 0}\n";
constexpr const char* kThemisTimeline =
    "system:\n"
    "  topology: {type: dimensions}\n"
    "  dimensions: {shape: [ring, switch], size: [4, 4],\n"
    "    bandwidth: [200Gb/s, 100Gb/s], latency: [500ns, 700ns]}\n"
    "collective: {op: all_reduce, algorithm: themis, size: 256KiB, chunks: 16}\n";
constexpr const char* kTimelineProgram =
    "system:\n"
    "  topology: {type: gpu_cluster, servers: 2, gpus_per_server: 3}\n"
    "  ni: {program: {doorbell_cycles: 500, request: 1KiB}}\n"
    "collective: {op: all_reduce, algorithm: gc3_hierarchical, size: 30KiB}\n";
constexpr const char* kControl =
    "system: {topology: {type: torus, dims: [4, 4]}}\n"
    "collective: {op: all_reduce, algorithm: multitree, size: 32KiB}\n"
    "control: {pattern: uniform, injection_rate: 0.02, message: 16B, vcs: own}\n";

struct TimelineRun {
  std::string config;  // text
  std::vector<std::string> settings;
};

std::string timeline_text(const TemporaryFolder& folder, const TimelineRun& run,
                          const std::vector<std::string>& options = {}) {
  const std::string file = folder.file("timeline.json");
  std::vector<std::string> words{"run", folder.write("run.yaml", run.config), "--timeline", file};
  for (const std::string& setting : run.settings) words.insert(words.end(), {"-s", setting});
  words.insert(words.end(), options.begin(), options.end());
  const Outcome outcome = test::espalier(words);
  INFO(outcome.err);
  REQUIRE(outcome.exit_code == 0);
  return test::read_text(file);
}

using Track = std::pair<std::uint64_t, std::uint64_t>;  // process, thread

struct Slice {
  std::string name;
  std::int64_t begin = 0;  // in picoseconds
  std::int64_t end = 0;
  Json args;
};

std::int64_t picoseconds(const Json& microseconds) {
  return std::llround(microseconds.get<double>() * 1e6);
}

// A trace, with its rules checked event by event.
struct Trace {
  std::map<std::uint64_t, std::string> processes;
  std::map<Track, std::string> tracks;
  std::map<Track, std::vector<Slice>> slices;
  std::map<std::string, std::vector<std::pair<std::int64_t, double>>> counters;
  struct ArrowEnd {
    Track track;
    std::int64_t at = 0;
  };
  std::map<std::uint64_t, ArrowEnd> begins;
  std::map<std::uint64_t, ArrowEnd> ends;

  explicit Trace(const std::string& text) {
    const Json document = Json::parse(text);
    REQUIRE(document.at("displayTimeUnit") == "ns");
    for (const Json& event : document.at("traceEvents")) take(event);
    check_names();
    check_slices();
    check_arrows();
  }

  // Of all tracks with such a name, in all processes.
  [[nodiscard]] std::vector<Slice> slices_named(const std::string& track) const {
    std::vector<Slice> found;
    for (const auto& [place, name] : tracks) {
      const bool is_lane = name.compare(0, track.size() + 1, track + " ") == 0;
      if (name != track && !is_lane) continue;
      const auto at = slices.find(place);
      if (at != slices.end()) found.insert(found.end(), at->second.begin(), at->second.end());
    }
    return found;
  }

 private:
  void take(const Json& event) {
    CAPTURE(event.dump());
    const std::string phase = event.at("ph");
    const std::uint64_t process = event.at("pid");
    REQUIRE(event.at("name").is_string());
    if (phase == "M") {
      const std::string what = event.at("name");
      if (what == "process_name")
        REQUIRE(processes.emplace(process, event.at("args").at("name")).second);
      if (what == "thread_name") {
        REQUIRE(
            tracks.emplace(Track{process, event.at("tid")}, event.at("args").at("name")).second);
      }
      return;
    }
    REQUIRE(event.at("ts").is_number());
    const std::int64_t at = picoseconds(event.at("ts"));
    REQUIRE(at >= 0);
    if (phase == "C") {
      REQUIRE(event.at("args").size() == 1);
      const double value = event.at("args").front();
      REQUIRE(value >= 0);
      counters[event.at("name")].emplace_back(at, value);
      return;
    }
    const Track track{process, event.at("tid")};
    if (phase == "X") {
      const std::int64_t duration = picoseconds(event.at("dur"));
      REQUIRE(duration > 0);
      slices[track].push_back({event.at("name"), at, at + duration, event.value("args", Json())});
      return;
    }
    REQUIRE((phase == "s" || phase == "f"));
    REQUIRE(event.at("cat") == "message");
    if (phase == "f") REQUIRE(event.at("bp") == "e");
    auto& arrows = phase == "s" ? begins : ends;
    REQUIRE(arrows.emplace(event.at("id").get<std::uint64_t>(), ArrowEnd{track, at}).second);
  }

  void check_names() const {
    for (const auto& [track, name] : tracks) CHECK(processes.count(track.first) == 1);
    for (const auto& [track, of_track] : slices) CHECK(tracks.count(track) == 1);
    for (const auto& [name, values] : counters) {
      for (std::size_t i = 1; i < values.size(); ++i) CHECK(values[i - 1].first < values[i].first);
    }
  }

  void check_slices() const {
    for (const auto& [track, of_track] : slices) {
      CAPTURE(tracks.at(track));
      std::size_t overlaps = 0;
      for (std::size_t i = 1; i < of_track.size(); ++i) {
        if (of_track[i].begin < of_track[i - 1].end) ++overlaps;
      }
      CHECK(overlaps == 0);
    }
  }

  [[nodiscard]] bool is_inside(const ArrowEnd& arrow) const {
    for (const Slice& slice : slices.at(arrow.track)) {
      if (slice.begin <= arrow.at && arrow.at < slice.end) return true;
    }
    return false;
  }

  void check_arrows() const {
    CHECK(begins.size() == ends.size());
    for (const auto& [id, begin] : begins) {
      REQUIRE(ends.count(id) == 1);
      CHECK(begin.at < ends.at(id).at);
      CHECK(is_inside(begin));
      CHECK(is_inside(ends.at(id)));
    }
  }
};

}  // namespace

TEST_CASE("A timeline keeps the rules of its format, and has the same bytes in either fidelity") {
  const TemporaryFolder folder;
  const std::vector<TimelineRun> runs{
      {kTimelineTorus, {}},
      {kTimelineTorus, {"system.ni.lockstep=full"}},
      {kTimelineTorus, {"system.ni.dma.bandwidth=15GB/s", "system.router.clock=1.5GHz"}},
      {kTimelineTorus, {"collective.algorithm=dbtree", "system.router.vc_depth_flits=40"}},
      {kTimelineTorus, {"collective.algorithm=dbtree", "system.link.bandwidth=7GB/s"}},
      {kTrafficPoint, {}},
      {kTrafficPoint, {"system.router.vc_depth_flits=36", "system.link.bandwidth=12GB/s"}},
      {kThemisTimeline, {}},
      {kThemisTimeline, {"simulation.fold=off"}},
      {kTimelineProgram, {}},
      {kTimelineProgram,
       {"collective.algorithm=" + std::string(ESPALIER_SOURCE_DIR) +
            "/configs/programs/hierarchical_composed.trace",
        "system.ni.program.slot=1000B"}},
  };
  for (const TimelineRun& run : runs) {
    CAPTURE(run.config, run.settings);
    TimelineRun train = run;
    train.settings.emplace_back("simulation.fidelity=train");
    TimelineRun cycle = run;
    cycle.settings.emplace_back("simulation.fidelity=cycle");
    const std::string text = timeline_text(folder, train);
    CHECK((text == timeline_text(folder, cycle)));
    const Trace trace(text);
    CHECK(trace.begins.size() > 10);
    CHECK(trace.slices_named("send").size() == trace.begins.size());
    CHECK(trace.slices_named("receive").size() == trace.begins.size());
    CHECK(trace.counters.at("messages in flight").back().second == 0);
    std::size_t links = 0;
    for (const auto& [name, points] : trace.counters) {
      if (name.rfind("links busy: ", 0) != 0) continue;
      ++links;
      CHECK(points.back().second == 0);
      for (const auto& [at, percent] : points) CHECK(percent <= 100);
    }
    CHECK(links > 0);
  }
}

TEST_CASE("A timeline has every message, and every flit on every link") {
  const TemporaryFolder folder;
  for (const std::string bandwidth : {"16GB/s", "8GB/s", "7GB/s"}) {
    CAPTURE(bandwidth);
    const std::string link = "system.link.bandwidth=" + bandwidth;
    const Trace trace(
        timeline_text(folder, {kTimelineTorus, {link}}, {"--json", folder.file("r.json")}));
    const Json result = Json::parse(test::read_text(folder.file("r.json"))).at("results").at(0);
    CHECK(trace.slices_named("send").size() == result.at("messages").get<std::size_t>());
    // A cycle of 1 ns for each flit of 16 bytes, at full rate; each end is rounded to a picosecond.
    const double rate = 16e3 / std::stod(bandwidth);
    for (const auto& [track, slices] : trace.slices) {
      if (trace.processes.at(track.first) != "links") continue;
      const std::string name = trace.tracks.at(track);
      CAPTURE(name);
      double wire = 0;
      double flits = 0;
      for (const Slice& slice : slices) {
        wire += static_cast<double>(slice.end - slice.begin);
        flits += slice.args.at("flits").get<double>();
      }
      const bool is_injection = name.find(".in_ni") != std::string::npos;
      CHECK(std::abs(wire - flits * (is_injection ? 1000 : rate)) <=
            static_cast<double>(slices.size()));
    }
  }
}

TEST_CASE("Steps of a timeline follow each other without a gap, as the table has them") {
  const TemporaryFolder folder;
  const Trace trace(timeline_text(folder, {kTimelineTorus, {"system.ni.lockstep=full"}}));
  std::size_t nis = 0;
  for (const auto& [track, name] : trace.tracks) {
    if (name != "timestep") continue;
    ++nis;
    const std::vector<Slice>& steps = trace.slices.at(track);
    REQUIRE(steps.size() == 10);  // of 4x4, five in each phase
    for (std::size_t i = 0; i < steps.size(); ++i) {
      CHECK(steps[i].name == "step " + std::to_string(i + 1));
      if (i != 0) CHECK(steps[i].begin == steps[i - 1].end);
    }
  }
  CHECK(nis == 16);
}

TEST_CASE("A program's contexts have a slice for each step, and say what it waited for") {
  const TemporaryFolder folder;
  const Trace trace(
      timeline_text(folder, {kTimelineProgram, {}}, {"--json", folder.file("r.json")}));
  const Json result = Json::parse(test::read_text(folder.file("r.json"))).at("results").at(0);
  std::size_t steps = 0;
  std::size_t contexts = 0;
  std::set<std::string> waits;
  for (const auto& [track, name] : trace.tracks) {
    if (name.compare(0, 3, "ctx") != 0) continue;
    CAPTURE(name);
    ++contexts;
    const std::vector<Slice>& slices = trace.slices.at(track);
    steps += slices.size();
    for (std::size_t i = 0; i < slices.size(); ++i) {
      if (i != 0) CHECK(slices[i].begin == slices[i - 1].end);
      std::int64_t cycles = 0;
      for (const auto& [what, count] : slices[i].args.at("cycles").items()) {
        cycles += count.get<std::int64_t>();
        waits.insert(what);
      }
      CHECK(cycles * 1000 == slices[i].end - slices[i].begin);
      CHECK(slices[i].args.contains("pass"));
    }
  }
  CHECK(contexts > 6);
  CHECK(steps ==
        result.at("instructions").get<std::size_t>() * result.at("tiles").get<std::size_t>());
  CHECK(waits.count("message") == 1);
  CHECK(waits.count("dependency") == 1);
  CHECK(trace.slices_named("launch").size() == 6);
  CHECK(trace.slices_named("ctx0").front().name.find(" tile 0") != std::string::npos);
}

TEST_CASE("A timeline shows control messages and gradients") {
  const TemporaryFolder folder;
  const Trace trace(timeline_text(folder, {kControl, {}}));
  std::size_t control = 0;
  for (const Slice& slice : trace.slices_named("send")) {
    if (slice.name.compare(0, 11, "control to ") == 0) ++control;
  }
  CHECK(control > 10);
}

TEST_CASE("The timeline of a small run, to be read") {
  const TemporaryFolder folder;
  const std::string text =
      timeline_text(folder, {"system: {topology: {type: mesh, dims: [2, 2]}}\n"
                             "collective: {op: all_reduce, algorithm: multitree, size: 256B}\n",
                             {}});
  const std::string golden =
      std::string(ESPALIER_SOURCE_DIR) + "/tests/golden/timeline_mesh_2x2.json";
  CAPTURE(text);
  CHECK((text == test::read_text(golden)));
}

TEST_CASE("Waves and a timeline of one run are what each would be alone") {
  const TemporaryFolder folder;
  const std::string alone = timeline_text(folder, {kTimelineTorus, {}});
  const std::string waves = folder.file("w.vcd");
  const std::vector<std::string> words{"run", folder.write("run.yaml", kTimelineTorus), "--waves",
                                       waves};
  REQUIRE(test::espalier(words).exit_code == 0);
  const std::string waves_alone = test::read_text(waves);
  CHECK((timeline_text(folder, {kTimelineTorus, {}}, {"--waves", waves}) == alone));
  const auto values = [](const std::string& vcd) {
    return vcd.substr(vcd.find("$enddefinitions"));
  };
  CHECK((values(test::read_text(waves)) == values(waves_alone)));
}

TEST_CASE("A run that a timeline cannot show is refused with the reason") {
  const TemporaryFolder folder;
  const std::string config = folder.write("torus.yaml", kTimelineTorus);
  const auto error = [&](const std::vector<std::string>& more) {
    std::vector<std::string> words{"run", config};
    words.insert(words.end(), more.begin(), more.end());
    const Outcome outcome = test::espalier(words);
    CHECK(outcome.exit_code == 2);
    return outcome.err;
  };
  CHECK_THAT(error({"--timeline", folder.file("missing/t.json")}),
             Contains("missing/t.json") && Contains("No such file"));
  CHECK_THAT(
      error({"--timeline", folder.file("t.json"), "-s", "collective.algorithm=[ring, multitree]"}),
      Contains("--timeline") && Contains("one run, but there are 2"));
  const std::string both = folder.file("t.vcd");
  CHECK_THAT(error({"--timeline", both, "--waves", both}),
             Contains("this file is also the --waves file"));
  if (std::filesystem::exists("/dev/full")) {
    CHECK_THAT(error({"--timeline", "/dev/full"}),
               Contains("/dev/full") && Contains("No space left on device"));
  }
  const std::string workload = folder.write("workload.yaml",
                                            "system: {preset: themis_3d_sw_sw_sw_homo}\n"
                                            "collective: {algorithm: baseline}\n"
                                            "workload: {name: resnet152}\n");
  const Outcome outcome = test::espalier({"run", workload, "--timeline", folder.file("t.json")});
  CHECK(outcome.exit_code == 2);
  CHECK_THAT(outcome.err, Contains("--timeline shows one collective"));
}

TEST_CASE(
    "The timeline of a step has what ranks compute, send and reduce, and who waits for whom") {
  if (test::skips_traces()) return;
  const TemporaryFolder folder;
  for (std::uint32_t r = 0; r < 4; ++r) {
    std::vector<test::TraceNodeText> nodes{test::comp(1, r == 3 ? 25 : 5),
                                           test::coll(2, 0, 40'000).after({1}),
                                           test::coll(4, 0, 8'000).after({2})};
    nodes.back().has("pg_name", r % 2 == 0 ? "1" : "2");
    if (r < 3) nodes.push_back(test::send(5, r + 1, 2'000).after({4}));
    if (r > 0) nodes.push_back(test::receive(6, r - 1, 2'000));
    folder.write("step." + std::to_string(r) + ".et", test::trace_text(nodes));
  }
  folder.write("step.json", "{\"1\": [0, 2], \"2\": [1, 3]}");
  const std::string config =
      "system: {topology: {type: torus, dims: [2, 2]}, link: {bandwidth: 7GB/s}}\n"
      "collective: {algorithm: ring}\n"
      "workload: {file: step, issue: streams, compute: {tflops: recorded}}\n";
  const std::string train = timeline_text(folder, {config, {"simulation.fidelity=train"}});
  const std::string cycle = timeline_text(folder, {config, {"simulation.fidelity=cycle"}});
  CHECK((train == cycle));
  const Trace trace(train);
  CHECK(trace.slices_named("compute").size() == 4);
  CHECK(trace.slices_named("group 0").size() == 4);
  CHECK(trace.slices_named("group 1").size() == 2);
  CHECK(trace.slices_named("send").size() == 3);
  CHECK(trace.slices_named("receive").size() == 3);
  // Three messages, and three ranks that wait for rank 3.
  CHECK(trace.begins.size() >= 6);
  std::set<std::string> processes;
  for (const auto& [number, name] : trace.processes) processes.insert(name);
  CHECK(processes ==
        std::set<std::string>{"critical path", "links", "rank 0", "rank 1", "rank 2", "rank 3"});
  for (const char* dimension : {"links busy: X", "links busy: Y"}) {
    for (const auto& [at, percent] : trace.counters.at(dimension)) CHECK(percent <= 100);
  }
}
