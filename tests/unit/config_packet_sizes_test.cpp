// Sizes of flits, payloads and sub-messages that fit a network's links together.
#include <catch2/catch.hpp>
#include <random>
#include <string>

#include "config_test_support.h"
#include "sims/config/reader.h"
#include "sims/formats/link_rules.h"

using namespace espalier;
using Catch::Matchers::Contains;

namespace {

std::string fast_ring(const std::string& router, const std::string& more = "") {
  return "system:\n  topology: {type: torus, dims: [4]}\n  router: {" + router + "}\n" + more +
         "collective: {algorithm: ring, size: 64KiB}\n";
}

}  // namespace

TEST_CASE("Flits that are not given are as wide as the fastest link needs, and a warning says so") {
  const auto plain = read_run_config_text("a.yaml", fast_ring("vcs: 4"));
  REQUIRE(plain.ok);
  CHECK(plain.points.front().system.clock.flit_bytes == 16);
  CHECK(plain.num_warnings == 0);
  const auto fast =
      read_run_config_text("a.yaml", fast_ring("vcs: 4"), "", {"system.link.bandwidth=50GB/s"});
  REQUIRE(fast.ok);
  CHECK(fast.points.front().system.clock.flit_bytes == 64);
  CHECK_THAT(fast.diagnostics, Contains("system.router.flit_bytes is not given: 64 B are used"));
}

TEST_CASE("The sizes that an error proposes make the configuration valid") {
  const std::uint32_t seed = 20261123;
  INFO("seed " << seed);
  std::mt19937 random(seed);
  const auto draw = [&](std::uint64_t least, std::uint64_t most) {
    return least + random() % (most - least + 1);
  };
  int refused = 0;
  for (int i = 0; i < 200; ++i) {
    const std::string clock = std::to_string(draw(5, 30) * 100) + "MHz";
    const std::uint64_t flit = std::uint64_t{1} << draw(0, 5);
    const std::uint64_t payload = flit * draw(1, 40);
    const std::uint64_t sub = payload * draw(1, 20);
    const std::string rate = std::to_string(draw(1, 300)) + "GB/s";
    const std::string flow = "  flow_control: {payload_bytes: " + std::to_string(payload) +
                             ", sub_message_bytes: " + std::to_string(sub) + "}\n";
    const std::string text = fast_ring(
        "clock: " + clock + ", flit_bytes: " + std::to_string(flit) + ", vc_depth_flits: 20000",
        flow + "  link: {bandwidth: " + rate + "}\n");
    INFO(text);
    const auto first = read_run_config_text("a.yaml", text);
    const std::string marker = "hint: set ";
    const std::size_t hint = first.diagnostics.find(marker);
    if (hint == std::string::npos) continue;
    ++refused;
    const std::size_t begin = hint + marker.size();
    std::string list = first.diagnostics.substr(begin, first.diagnostics.find('\n', begin) - begin);
    std::vector<std::string> overrides;
    for (std::size_t at = 0; at < list.size();) {
      const std::size_t end = std::min(list.find(", ", at), list.size());
      std::string each = list.substr(at, end - at);
      each.replace(each.find(": "), 2, "=");
      overrides.push_back(each);
      at = end + 2;
    }
    const auto second = read_run_config_text("a.yaml", text, "", overrides);
    INFO(list);
    INFO(second.diagnostics);
    CHECK(second.diagnostics.find("at most one flit per router cycle") == std::string::npos);
    CHECK(second.diagnostics.find("is not a multiple of") == std::string::npos);
  }
  CHECK(refused > 50);
}

TEST_CASE("One mistake that every link of a graph repeats is one error with a count") {
  const config_test::TemporaryFolder folder("packet_sizes");
  const std::string graph = folder.write(
      "graph.yaml",
      "nodes: [a, b, c]\nlinks:\n  - {between: [a, b], bandwidth: 50GB/s}\n  - {between: [b, c], "
      "bandwidth: 50GB/s}\n  - {between: [c, a], bandwidth: 100GB/s}\n");
  const auto result = read_run_config_text(
      "a.yaml", "system: {topology: {type: file, file: " + graph +
                    "}, router: {flit_bytes: 16}}\ncollective: {algorithm: ring, size: 48KiB}\n");
  REQUIRE_FALSE(result.ok);
  CHECK_THAT(result.diagnostics, Contains("50GB/s is more than 16 B"));
  CHECK_THAT(result.diagnostics, Contains("and at 1 more place, line 4"));
  // The proposal covers the fastest link, at slower links too.
  CHECK_THAT(result.diagnostics, Contains("set system.router.flit_bytes: 128"));
  CHECK_THAT(result.diagnostics, !Contains("flit_bytes: 64"));
}
