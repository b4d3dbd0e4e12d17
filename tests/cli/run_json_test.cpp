#include <catch2/catch.hpp>

#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "cli_test_support.h"

using namespace espalier;
using Catch::Matchers::Contains;
using Catch::Matchers::StartsWith;
using test::Json;
using test::kSmallConfig;
using test::Outcome;
using test::TemporaryFolder;

namespace {

// Lists of algorithms, modes and sizes: eight points.
constexpr const char* kManyPoints =
    "system:\n"
    "  topology: {type: torus, dims: [3, 2]}\n"
    "  flow_control: {mode: [message, packet]}\n"
    "collective:\n"
    "  algorithm: [ring, multitree]\n"
    "  size: [2KiB, 6001B]\n"
    "  element: 1B\n";

void check_types(const Json& result) {
  for (const char* name : {"algorithm", "op", "topology", "flow_control", "lockstep", "fidelity",
                           "bound_binding", "config_hash"}) {
    CAPTURE(name);
    CHECK(result.at(name).is_string());
  }
  for (const char* name :
       {"nodes", "size_bytes", "timesteps", "cycles", "flit_hops", "table_entries_max", "ni_ports",
        "messages", "message_latency_max_cycles"}) {
    CAPTURE(name);
    CHECK(result.at(name).is_number_unsigned());
  }
  for (const char* name :
       {"time_ns", "bandwidth_GBps", "bound_ns", "bound_ratio", "link_utilization_mean",
        "head_flit_overhead", "message_latency_mean_cycles"}) {
    CAPTURE(name);
    CHECK(result.at(name).is_number_float());
  }
  for (const char* name : {"verified", "certified", "contention_free"}) {
    CAPTURE(name);
    CHECK(result.at(name).is_boolean());
  }
  CHECK(result.at("host").at("wall_s").is_number());
  CHECK(result.at("host").at("peak_rss_MiB").is_number());
}

void check_numbers_agree(const Json& result) {
  const auto number = [&](const char* name) { return result.at(name).get<double>(); };
  CHECK(number("time_ns") == number("cycles"));  // at 1 GHz
  CHECK(number("bandwidth_GBps") == Approx(number("size_bytes") / number("time_ns")));
  CHECK(number("bound_ratio") == Approx(number("bound_ns") / number("time_ns")));
  CHECK(number("bound_ratio") > 0);
  CHECK(number("bound_ratio") <= 1);
  CHECK(number("link_utilization_mean") > 0);
  CHECK(number("link_utilization_mean") <= 1);
  CHECK(number("head_flit_overhead") > 0);
  CHECK(number("message_latency_mean_cycles") <= number("message_latency_max_cycles"));
  CHECK(number("message_latency_max_cycles") < number("cycles"));
}

}  // namespace

TEST_CASE(
    "Points whose configuration is larger than an argument of a program may be run together") {
  const TemporaryFolder folder;
  std::string links;
  for (int from = 0; from < 64; ++from) {
    for (int to = 0; to < 64; ++to) {
      if (from == to) continue;
      links += "\n  - {from: " + std::to_string(from) + ", to: " + std::to_string(to) +
               ", bandwidth: 8GB/s}";
    }
  }
  REQUIRE(links.size() > (std::size_t{1} << 17));
  const std::string config =
      folder.write("large.yaml",
                   "system: {topology: {type: fully_connected, nodes: 64}}\n"
                   "collective: {algorithm: ring, size: [512B, 1KiB]}\nfaults:\n  slow_links:" +
                       links + "\n");
  const Json results = test::run_to_json({config})["results"];
  REQUIRE(results.size() == 2);
  for (const Json& result : results) CHECK(result["verified"] == true);
}

TEST_CASE("Every result has all fields with their types, and its numbers agree") {
  const TemporaryFolder folder;
  const Json document = test::run_to_json({folder.write("many.yaml", kManyPoints)});
  CHECK(document.at("tool").at("name") == "espalier");
  CHECK(document.at("tool").at("version").is_string());
  CHECK(document.at("config").is_object());
  CHECK(document.at("config_hash").is_string());
  const Json& results = document.at("results");
  REQUIRE(results.size() == 8);
  std::set<std::string> hashes;
  for (const Json& result : results) {
    CAPTURE(result.dump());
    check_types(result);
    check_numbers_agree(result);
    CHECK(result.at("topology") == "torus 3x2");
    CHECK(result.at("nodes") == 6);
    CHECK(result.at("op") == "all_reduce");
    CHECK(result.at("fidelity") == "train");
    CHECK(result.at("verified") == true);
    CHECK(result.at("certified") == true);
    CHECK_FALSE(result.contains("failure"));
    hashes.insert(result.at("config_hash").get<std::string>());
  }
  // A point's hash is its own.
  CHECK(hashes.size() == 8);
}

TEST_CASE("Time follows the router clock and cycles do not where links are as fast in cycles") {
  const TemporaryFolder folder;
  const std::string config = folder.write("small.yaml", kSmallConfig);
  const auto with = [&](std::vector<std::string> words) {
    words.insert(words.begin(), config);
    return test::run_to_json(words)["results"].at(0);
  };
  const std::vector<std::string> faster{"-s", "system.router.clock=2GHz",  //
                                        "-s", "system.link.latency=75ns",  //
                                        "-s", "system.link.bandwidth=32GB/s"};
  // A router of the same circuits takes more of the shorter cycles.
  CHECK(with(faster).at("cycles") > with({}).at("cycles"));
  CHECK(with(faster).at("area").at("pipeline_cycles") > with({}).at("area").at("pipeline_cycles"));
  std::vector<std::string> fixed = faster;
  fixed.insert(fixed.end(), {"-s", "system.preset=papers"});
  const Json plain = with({"-s", "system.preset=papers"});
  const Json twice = with(fixed);
  CHECK(twice.at("cycles") == plain.at("cycles"));
  CHECK(twice.at("time_ns").get<double>() * 2 == plain.at("time_ns").get<double>());
  CHECK(twice.at("bound_ratio").get<double>() ==
        Approx(plain.at("bound_ratio").get<double>()).epsilon(1e-12));
}

TEST_CASE("An all-reduce has twice the timesteps of its all-gather") {
  const TemporaryFolder folder;
  const std::string config = folder.write("small.yaml", kSmallConfig);
  const Json results = test::run_to_json({config, "-s", "system.topology.dims=[3, 3]", "-s",
                                          "collective.op=[all_gather, reduce_scatter, all_reduce]"})
                           .at("results");
  REQUIRE(results.size() == 3);
  const auto phase = results[0].at("timesteps").get<int>();
  CHECK(results[0].at("op") == "all_gather");
  CHECK(results[1].at("timesteps") == phase);
  CHECK(results[2].at("timesteps") == 2 * phase);
}

TEST_CASE("With --json - only JSON goes to stdout, and the table to stderr") {
  const TemporaryFolder folder;
  const std::string config = folder.write("small.yaml", kSmallConfig);
  const Outcome outcome = test::espalier({"run", config, "--json", "-"});
  CHECK(outcome.exit_code == 0);
  CHECK_THAT(outcome.out, StartsWith("{"));
  CHECK(Json::accept(outcome.out));
  CHECK_THAT(outcome.err, StartsWith("algorithm ") && Contains("\nmultitree "));
}

TEST_CASE("With --json FILE the file has what --json - prints, and the table goes to stdout") {
  const TemporaryFolder folder;
  const std::string config = folder.write("many.yaml", kManyPoints);
  const std::string target = folder.file("results.json");
  const Outcome outcome = test::espalier({"run", config, "--json", target});
  CHECK(outcome.exit_code == 0);
  CHECK(outcome.err.empty());
  CHECK_THAT(outcome.out, StartsWith("algorithm ") && Contains("\nmultitree "));
  const Json written = Json::parse(test::read_text(target));
  CHECK(test::without_host(written).dump() ==
        test::without_host(test::run_to_json({config})).dump());
}

TEST_CASE("Two runs give the same bytes, except for host") {
  const TemporaryFolder folder;
  const std::string config = folder.write("many.yaml", kManyPoints);
  const std::vector<std::string> stalled{config, "-s", "simulation.stall_probability=0.05"};
  const std::string first = test::without_host(test::run_to_json(stalled)).dump(2);
  CHECK(test::without_host(test::run_to_json(stalled)).dump(2) == first);
  CHECK_THAT(first, !Contains("wall_s"));
  // The seed of the stalls is what makes another run.
  std::vector<std::string> reseeded = stalled;
  reseeded.insert(reseeded.end(), {"-s", "simulation.seed=2"});
  const Json other = test::without_host(test::run_to_json(reseeded));
  CHECK(other.at("results").at(0).at("cycles") !=
        Json::parse(first).at("results").at(0).at("cycles"));
}

TEST_CASE("The config among the results runs again, as YAML, and gives the same results") {
  const TemporaryFolder folder;
  for (const char* text : {kSmallConfig, kManyPoints}) {
    const Json document = test::run_to_json({folder.write("config.yaml", text)});
    const std::string again = folder.write("again.yaml", document.at("config").dump(2));
    CHECK(test::without_origin(test::run_to_json({again})).dump() ==
          test::without_origin(document).dump());
  }
}

TEST_CASE("The config of results with a preset runs again without it") {
  const TemporaryFolder folder;
  const std::string config = folder.write("small.yaml", kSmallConfig);
  const Json document = test::run_to_json({config, "-s", "system.preset=isca21"});
  CHECK(document.at("config").at("system").at("ni").at("reduction").at("mode") == "after_message");
  const std::string again = folder.write("again.yaml", document.at("config").dump());
  CHECK(test::without_origin(test::run_to_json({again})).dump() ==
        test::without_origin(document).dump());
}

// Where the modes differ, so do the keys that apply.
TEST_CASE("The config of results in both modes keeps the keys that only one of them has") {
  const TemporaryFolder folder;
  const std::string config = folder.write("small.yaml", kSmallConfig);
  const auto [modes, key, value] =
      GENERATE(std::make_tuple("[packet, message]", "sub_message_bytes", "1024"),
               std::make_tuple("[message, packet]", "pad_last_packet", "true"));
  CAPTURE(modes, key);
  const Json document = test::run_to_json(
      {config, "-s", std::string("system.flow_control.mode=") + modes, "-s",
       std::string("system.flow_control.") + key + "=" + value, "-s", "collective.size=17000B"});
  REQUIRE(document.at("config").at("system").at("flow_control").contains(key));
  const std::string again = folder.write("again.yaml", document.at("config").dump());
  CHECK(test::without_origin(test::run_to_json({again})).dump() ==
        test::without_origin(document).dump());
}

TEST_CASE("Overrides show up in the config of the results, the last one wins") {
  const TemporaryFolder folder;
  const std::string config = folder.write("small.yaml", kSmallConfig);
  const Json document = test::run_to_json({config, "-s", "system.link.latency=999ns", "--set",
                                           "system.link.latency=100ns", "-s",
                                           "collective.algorithm=[ring, 2d_ring]"});
  CHECK(document.at("config").at("system").at("link").at("latency") == "100ns");
  CHECK(document.at("config").at("collective").at("algorithm") == Json({"ring", "2d_ring"}));
  CHECK(document.at("results").size() == 2);
  const Json plain = test::run_to_json({config});
  CHECK(plain.at("config").at("system").at("link").at("latency") == "150ns");
  CHECK(plain.at("config_hash") != document.at("config_hash"));
}

TEST_CASE("Several files give one list of results and one config each") {
  const TemporaryFolder folder;
  const std::string small = folder.write("small.yaml", kSmallConfig);
  const std::string many = folder.write("many.yaml", kManyPoints);
  const Json document = test::run_to_json({many, small});
  REQUIRE(document.at("config").is_array());
  CHECK(document.at("config").at(1) == test::run_to_json({small}).at("config"));
  REQUIRE(document.at("results").size() == 9);
  CHECK(document.at("results").at(8).at("topology") == "mesh 2x2");
}

TEST_CASE("Results of synthetic traffic have the offered and the accepted load") {
  const TemporaryFolder folder;
  const std::string config =
      folder.write("traffic.yaml",
                   "system: {topology: {type: torus, dims: [4, 4]}}\n"
                   "traffic: {injection_rate: 0.2, warmup_cycles: 1000, measure_cycles: 3000}\n");
  const Json document = test::run_to_json({config});
  const Json& result = document.at("results").at(0);
  CHECK(result.at("traffic") == "uniform");
  CHECK(result.at("nodes") == 16);
  CHECK(result.at("message_bytes") == 256);
  CHECK(result.at("offered_flits_per_node_cycle") == 0.2);
  CHECK(result.at("generated_flits_per_node_cycle").get<double>() == Approx(0.2).epsilon(0.1));
  CHECK(result.at("accepted_flits_per_node_cycle").get<double>() == Approx(0.2).epsilon(0.1));
  CHECK(result.at("saturated") == false);
  CHECK(result.at("measured_messages").get<int>() < result.at("messages").get<int>());
  CHECK(result.at("messages").get<int>() > 0);
  CHECK(result.at("verified") == true);
  const std::string again = folder.write("again.yaml", document.at("config").dump());
  CHECK(test::without_origin(test::run_to_json({again})).dump() ==
        test::without_origin(document).dump());
}

TEST_CASE("Results of listed messages have no size and no offered rate, and run again anywhere") {
  const TemporaryFolder folder;
  folder.write("messages.csv", "ready,from,to,bytes\n0,0,1,100\n5,3,r_0_0,2000\n");
  const std::string config = folder.write("listed.yaml",
                                          "system: {topology: {type: mesh, dims: [2, 2]}}\n"
                                          "traffic: {pattern: file, file: messages.csv}\n");
  std::filesystem::create_directory(folder.path() / "results");
  const std::string target = folder.file("results/listed.json");
  const Outcome outcome = test::espalier({"run", config, "--json", target});
  CHECK(outcome.err.empty());
  REQUIRE(outcome.exit_code == 0);
  const Json document = Json::parse(test::read_text(target));
  const Json& result = document.at("results").at(0);
  CHECK(result.at("traffic") == "file");
  CHECK(result.at("messages") == 2);
  CHECK(result.at("accepted_flits_per_node_cycle").get<double>() > 0);
  CHECK_FALSE(result.contains("message_bytes"));
  CHECK_FALSE(result.contains("offered_flits_per_node_cycle"));
  CHECK(document.at("config").at("traffic") ==
        Json({{"pattern", "file"}, {"file", "../messages.csv"}}));
  const std::string again = folder.write("results/again.yaml", document.at("config").dump());
  const Json repeated = test::run_to_json({again}).at("results").at(0);
  CHECK(repeated.at("cycles") == result.at("cycles"));
  CHECK(repeated.at("message_latency_mean_cycles") == result.at("message_latency_mean_cycles"));
}

TEST_CASE("Results say which fidelity ran, and auto says why it is not train") {
  const TemporaryFolder folder;
  const std::string config = folder.write("small.yaml", kSmallConfig);
  const auto run = [&](std::vector<std::string> settings) {
    std::vector<std::string> arguments{"run", config, "--json", "-"};
    for (const std::string& setting : settings) arguments.insert(arguments.end(), {"-s", setting});
    return test::espalier(arguments);
  };
  const auto fidelity_of = [](const Outcome& outcome) {
    REQUIRE(outcome.exit_code == 0);
    return Json::parse(outcome.out).at("results").at(0).at("fidelity").get<std::string>();
  };
  for (const std::vector<std::string>& settings :
       {std::vector<std::string>{}, {"simulation.fidelity=auto"}, {"simulation.fidelity=train"}}) {
    const Outcome outcome = run(settings);
    CHECK(fidelity_of(outcome) == "train");
    CHECK_THAT(outcome.err, !Contains("note:"));
  }
  const Outcome asked = run({"simulation.fidelity=cycle"});
  CHECK(fidelity_of(asked) == "cycle");
  CHECK_THAT(asked.err, !Contains("note:"));
  for (const std::string setting :
       {"system.router.hold=flit", "system.router.switching=wormhole", "simulation.monitors=true",
        "simulation.stall_probability=0.01"}) {
    CAPTURE(setting);
    const Outcome fallen_back = run({setting, "collective.size=[1KiB, 2KiB]"});
    CHECK(fidelity_of(fallen_back) == "cycle");
    // Once for the file, not for each of its points and processes.
    const std::string note = config + ": note: simulates flit by flit (fidelity: cycle) because " +
                             "of " + setting.substr(0, setting.find('='));
    CHECK_THAT(fallen_back.err, Contains(note));
    CHECK(fallen_back.err.find("note:") == fallen_back.err.rfind("note:"));
    const Outcome refused = run({setting, "simulation.fidelity=train"});
    CHECK(refused.exit_code == 2);
    CHECK_THAT(refused.err, Contains("-s simulation.fidelity=train: error: simulation.fidelity: "
                                     "train is not exact with " +
                                     setting.substr(0, setting.find('='))));
  }
}

TEST_CASE("Rows keep the order of the configuration, however many run at once") {
  const TemporaryFolder folder;
  const std::string config = folder.write("many.yaml", kManyPoints);
  const Json results = test::run_to_json({config, "-j", "1"}).at("results");
  REQUIRE(results.size() == 8);
  std::size_t row = 0;
  for (const char* algorithm : {"ring", "multitree"}) {
    for (const char* mode : {"message", "packet"}) {
      for (const int size : {2048, 6001}) {
        CAPTURE(row);
        CHECK(results[row].at("algorithm") == algorithm);
        CHECK(results[row].at("flow_control") == mode);
        CHECK(results[row].at("size_bytes") == size);
        ++row;
      }
    }
  }
  const std::string table = test::espalier({"run", config, "-j", "1"}).out;
  for (const char* jobs : {"2", "3", "20"}) {
    CAPTURE(jobs);
    CHECK(test::without_host(test::run_to_json({config, "-j", jobs}).at("results")) ==
          test::without_host(results));
    CHECK(test::espalier({"run", config, "--jobs", jobs}).out == table);
  }
}

TEST_CASE("A point that fails does not lose the others") {
  const TemporaryFolder folder;
  // RING needs six entries here, MULTITREE five.
  const std::string trees = folder.write("trees.yaml", kSmallConfig);
  const std::string ring = folder.write("ring.yaml",
                                        "system: {topology: {type: mesh, dims: [2, 2]}}\n"
                                        "collective: {algorithm: ring, size: 4KiB}\n");
  const Outcome outcome =
      test::espalier({"run", trees, ring, trees, "-s", "system.ni.table_entries=5", "--json", "-"});
  CHECK(outcome.exit_code == 1);
  CHECK_THAT(outcome.err,
             Contains("error: point 2:") && !Contains("point 1") && !Contains("point 3"));
  const Json results = Json::parse(outcome.out).at("results");
  REQUIRE(results.size() == 3);
  CHECK(results[1].at("verified") == false);
  CHECK(results[1].at("certified") == false);
  CHECK_THAT(results[1].at("failure").get<std::string>(), Contains("table entries"));
  for (const std::size_t good : {0U, 2U}) {
    CHECK(results[good].at("verified") == true);
    check_numbers_agree(results[good]);
  }
}

TEST_CASE("A run that cannot begin prints why, and no table of dashes") {
  const TemporaryFolder folder;
  const std::string config =
      folder.write("external.yaml",
                   "system: {topology: {type: torus, dims: [4, 4], external: {nis: [0]}}}\n"
                   "collective: {op: all_reduce, algorithm: ring, size: 64KiB}\n");
  const Outcome outcome = test::espalier({"run", config});
  CHECK(outcome.exit_code == 2);
  CHECK(outcome.out.empty());
  CHECK_THAT(outcome.err,
             Contains("external.yaml:1:64: error: ") && Contains("this command attaches none"));
}

TEST_CASE("A result names what proves its bound, and for which schedules") {
  const TemporaryFolder folder;
  const std::string file = folder.write(
      "mesh.yaml",
      "system: {topology: {type: mesh, dims: [4, 4]}}\n"
      "collective: {op: [all_reduce, all_gather, all_to_all], algorithm: multitree, size: 1MiB}\n");
  const Outcome outcome = test::espalier({"run", file, "--json", "-"});
  REQUIRE(outcome.exit_code == 0);
  const Json results = Json::parse(outcome.out)["results"];
  REQUIRE(results.size() == 3);
  for (const Json& result : results) CHECK(result.at("bound_proof").at("schedules") == "any");
  const Json& reduce = results[0];
  CHECK(reduce.at("bound_proof") ==
        Json{{"schedules", "any"}, {"kind", "partition"}, {"counted", "out"}});
  // A corner's two links carry the data of 15 nodes twice, and the latency of a link twice.
  CHECK(reduce.at("two_phase_bound_ns").get<double>() ==
        Approx(2 * (15.0 / 16 * 1048576 / 32 + 150)).epsilon(1e-12));
  const Json& gather = results[1];
  CHECK(gather.at("bound_proof") ==
        Json{{"schedules", "any"}, {"kind", "crossing"}, {"into", {"r_0_0"}}});
  CHECK_FALSE(gather.contains("two_phase_bound_ns"));
  const Json& exchange = results[2].at("bound_proof");
  CHECK(exchange.at("kind") == "crossing");
  CHECK(exchange.at("into").size() == 8);
  CHECK(test::espalier({"compare", file, "-s", "collective.op=all_reduce", "-s",
                        "collective.algorithm=multitree"})
            .out.find("A reduce_scatter that ends before its all_gather begins needs 61.7 us") !=
        std::string::npos);
}
