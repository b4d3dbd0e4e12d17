// Multi-dimensional systems in ASTRA-sim's format.
#include <catch2/catch.hpp>

#include "config_test_support.h"
#include "sims/config/resolved.h"
#include "sims/formats/astra_network_file.h"
#include "sims/model/build_dimensions.h"
#include "tests/support/resolved_yaml.h"

namespace espalier {

using namespace config_test;

namespace {

const std::string kNetwork =
    "topology: [ Ring, FullyConnected, Switch ]\n"
    "npus_count: [ 4, 8, 8 ]\n"
    "bandwidth: [ 200.0, 350.0, 50 ]  # GB/s\n"
    "latency: [ 50.0, 500.0, 850.5 ]  # ns\n";

void expect_astra_error(const std::string& marked_text, const std::string& message,
                        const std::string& hint) {
  const Marked marked = unmark(marked_text);
  Diagnostics diagnostics;
  CHECK_FALSE(parse_astra_network("network.yml", marked.text, {}, diagnostics));
  const auto all = parse_diagnostics(diagnostics.text());
  INFO(diagnostics.text());
  const Printed* found = find_at(all, marked, message);
  REQUIRE(found != nullptr);
  CHECK(found->hint.find(hint) != std::string::npos);
}

std::string replaced(std::string text, const std::string& what, const std::string& by) {
  return text.replace(text.find(what), what.size(), by);
}

}  // namespace

TEST_CASE("An ASTRA-sim network is a multi-dimensional system") {
  const TemporaryFolder folder("astra");
  folder.write("network.yml", kNetwork);
  const std::string config = folder.write("config.yaml",
                                          "system: {topology: {type: astra_network, file: "
                                          "network.yml}, dimensions: {packet_flits: 8}}\n"
                                          "collective: {algorithm: baseline, size: 1MiB}\n");
  const ConfigResult result = read_run_config(config);
  INFO(result.diagnostics);
  REQUIRE(result.ok);
  CHECK(result.num_warnings == 0);
  CHECK(result.topology->name() == "3D-ring_fc_sw 4x8x8");
  const SystemConfig& system = result.points.front().system;
  const std::vector<DimensionSpec> specs = dimension_specs(system);
  REQUIRE(specs.size() == 3);
  CHECK(specs[0].links == 2);
  CHECK(specs[1].links == 7);
  CHECK(specs[2].links == 1);
  // GB are 2^30 bytes, and the bandwidth is a link's: 214.748, 375.810 and 53.687 B per cycle. A
  // sixteenth of a byte per cycle is fine enough for 50 GB, which divide all three.
  CHECK(specs[0].link.bytes_per_second == 214'750'000'000);
  CHECK(specs[1].link.bytes_per_second == 375'812'500'000);
  CHECK(specs[2].link.bytes_per_second == 53'687'500'000);
  CHECK(specs[2].link.flit_bytes == 54);
  // A switch has two hops.
  CHECK(system.dimensions.latency_ps == std::vector<std::uint64_t>{50'000, 500'000, 1'701'000});
  CHECK(system.dimensions.packet_flits == 8);

  const std::string yaml = resolved_yaml(result.points.front());
  INFO(yaml);
  CHECK(yaml.find("shape:") == std::string::npos);
  const ConfigResult again = read_run_config_text("resolved.yaml", yaml, folder.path());
  INFO(again.diagnostics);
  REQUIRE(again.ok);
  CHECK(resolved_yaml(again.points.front()) == yaml);
  CHECK(again.points.front().system.dimensions.bytes_per_second ==
        system.dimensions.bytes_per_second);
}

TEST_CASE("Errors in an ASTRA-sim network are reported in its file") {
  expect_astra_error(replaced(kNetwork, "Ring", "@Torus"),
                     "'Torus' is not a valid name for this key", "Ring");
  expect_astra_error(replaced(kNetwork, "[ 4, 8, 8 ]", "@[ 4, 8 ]"),
                     "npus_count: has 2 entries, but the lists before it have 3",
                     "give one entry for each dimension");
  expect_astra_error(replaced(kNetwork, "[ 4,", "[ @1,"), "npus_count: 1 is out of range",
                     "integer, 2 to");
  expect_astra_error(replaced(kNetwork, "200.0", "@0.0"), "bandwidth: 0.0 is out of range",
                     "decimal number");
  expect_astra_error(replaced(kNetwork, "200.0", "@2e2"), "'2e2' is not a plain decimal number",
                     "decimal number");
  expect_astra_error(replaced(kNetwork, "latency:", "@latencys:"), "unknown key 'latencys'",
                     "did you mean 'latency'?");
  expect_astra_error("@topology: [Ring]\nnpus_count: [4]\nbandwidth: [50]\n",
                     "missing key 'latency'", "give a list for each");
  expect_astra_error(replaced(kNetwork, "npus_count: [ 4, 8, 8 ]", "@npus_count: 4"),
                     "npus_count: expected a list", "");
  expect_astra_error("@[1]\n", "expected a mapping with the keys", "");
}

TEST_CASE("An ASTRA-sim link has the file's bandwidth whatever its dimension's shape and size") {
  for (const char* shape : {"Ring", "FullyConnected", "Switch"}) {
    for (const char* size : {"2", "8"}) {
      CAPTURE(shape, size);
      Diagnostics diagnostics;
      const auto network =
          parse_astra_network("n.yml",
                              std::string("topology: [") + shape + "]\nnpus_count: [" + size +
                                  "]\nbandwidth: [12.5]\nlatency: [500]\n",
                              {}, diagnostics);
      REQUIRE(network);
      CHECK(diagnostics.num_warnings() == 0);
      // 12.5 x 2^30 B/s = 13.4218 GB/s.
      CHECK(static_cast<double>(network->dimensions.bytes_per_second.front()) ==
            Approx(13.4218e9).epsilon(0.0005));
    }
  }
}

TEST_CASE("Rounding an ASTRA-sim link's rate by more than a hundredth is a warning") {
  Diagnostics diagnostics;
  // No tick suits the three rates.
  const auto network =
      parse_astra_network("n.yml",
                          "topology: [Switch, Ring, Ring]\nnpus_count: [4, 4, 4]\n"
                          "bandwidth: [12.5, 13.37, 17.77]\nlatency: [500, 500, 500]\n",
                          {}, diagnostics);
  REQUIRE(network);
  CHECK(network->dimensions.bytes_per_second ==
        std::vector<std::uint64_t>{13'000'000'000, 14'000'000'000, 19'000'000'000});
  CHECK(diagnostics.num_warnings() == 2);
  CHECK(diagnostics.text().find("n.yml:3:13: warning: bandwidth: a link's 13.42 B per cycle are "
                                "rounded to 13 B, -3.1 %") != std::string::npos);
}

TEST_CASE("An ASTRA-sim entry that the hardware refuses is shown in its file") {
  const TemporaryFolder folder("astra_short");
  folder.write("network.yml", replaced(kNetwork, "50.0, 500.0", "5.0, 500.0"));
  const ConfigResult result =
      read_run_config_text("config.yaml",
                           "system: {topology: {type: astra_network, file: network.yml}}\n"
                           "collective: {algorithm: baseline, size: 1MiB}\n",
                           folder.path());
  CHECK_FALSE(result.ok);
  CHECK(result.diagnostics.find("network.yml:4:12: error: system.dimensions.latency: 5ns leaves "
                                "less than a cycle") != std::string::npos);
  const ConfigResult missing =
      read_run_config_text("config.yaml",
                           "system: {topology: {type: astra_network, file: none.yml}}\n"
                           "collective: {algorithm: baseline, size: 1MiB}\n",
                           folder.path());
  CHECK(missing.diagnostics.find("config.yaml:1:48: error: '") != std::string::npos);
}

}  // namespace espalier
