// Whatever bytes a configuration consists of, the reader answers with messages.
#include <catch2/catch.hpp>
#include <random>

#include "config_test_support.h"
#include "sims/formats/astra_network_file.h"
#include "sims/formats/messages_file.h"
#include "sims/formats/topology_file.h"
#include "tests/support/networks.h"
#include "tests/support/share_of_cases.h"

namespace espalier {

using namespace config_test;

namespace {

const std::string kLongConfig = R"(# everything once
system:
  preset: isca21
  topology: {type: torus, dims: [4, 4]}
  link: {latency: 150ns, bandwidth: 16GB/s, credit_latency: link}
  router:
    clock: 1GHz
    vcs: 4
    vc_depth_flits: 318
  flow_control: {mode: [message, packet], payload_bytes: 256}
  ni:
    lockstep: "estimate"
    dma: {bandwidth: 64GB/s}
    reduction: {mode: 'streaming'}
collective:
  op:
    - all_reduce
    - all_gather
  algorithm: multitree
  size: [1MiB, 2MiB]
simulation: {check: true, stall_probability: 0.125, seed: 7}
)";

const std::string kDimensions = R"(system:
  topology: {type: dimensions}
  dimensions:
    shape: [switch, ring, fully_connected]
    size: [4, 2, 3]
    links: [auto, 4, 2]
    bandwidth: [200Gb/s, 100Gb/s, 50Gb/s]
    latency: [700ns, 300ns, 100ns]
    flit_bytes: auto
    vc_depth_flits: [900, auto, auto]
    algorithm: [in_network, auto, direct]
  ni: {dimension_queue: {order: [fifo, scf], in_flight: 4}}
collective: {algorithm: [baseline, themis], size: 1MB, chunks: [4, 64]}
)";

const std::string kAstraNetwork = R"(topology: [ Ring, FullyConnected, Switch ]
npus_count: [ 4, 8, 8 ]
bandwidth: [ 200.0, 350.0, 50 ]  # GB/s
latency: [ 50.0, 500.0, 850.5 ]
)";

const std::string kGraph = R"(name: g
nodes: [a, b, c]
switches: [s0]
links:
  - {between: [a, s0], latency: 150ns, count: 2}
  - {between: [b, s0], bandwidth: 8GB/s}
  - {from: c, to: s0}
  - {from: s0, to: c}
)";

const std::string kAnynet = R"(router 0 node 0 node 1 5 router 1 15 router 2
router 1 node 2   # one
node 3 router 2 7

router 2 router 1 3
)";

const std::string kMessages = R"(ready,from,to,bytes  # header
0, r_0_0, r_2_1, 4096
17,0,5,1

100 ,3, r_1_1 ,77  # late
)";

class Mutator {
 public:
  explicit Mutator(std::uint64_t seed) : random_(seed) {}

  std::string mutate(std::string text) {
    const std::size_t changes = 1 + random_() % 4;
    for (std::size_t i = 0; i < changes; ++i) change_once(text);
    return text;
  }

 private:
  std::size_t position(const std::string& text) {
    return text.empty() ? 0 : random_() % text.size();
  }

  void change_once(std::string& text) {
    static const std::vector<std::string> pieces{"[",
                                                 "]",
                                                 "{",
                                                 "}",
                                                 ":",
                                                 ": ",
                                                 ",",
                                                 "-",
                                                 "- ",
                                                 "? ",
                                                 "&a ",
                                                 "*a",
                                                 "!",
                                                 "!!x",
                                                 "|",
                                                 "|\n",
                                                 ">",
                                                 "%",
                                                 "@",
                                                 "`",
                                                 "\"",
                                                 "'",
                                                 "#",
                                                 "\t",
                                                 "\n",
                                                 "\r",
                                                 "---",
                                                 "...\n",
                                                 "\n---\n",
                                                 "<<: ",
                                                 "~",
                                                 "null",
                                                 ".nan",
                                                 "1e9",
                                                 "010",
                                                 "\\x",
                                                 "\"\\u0000\"",
                                                 "\xef\xbb\xbf",
                                                 "\xff",
                                                 "\xc3",
                                                 "\xe2\x80\xa8",
                                                 std::string(1, '\0'),
                                                 "\x04",
                                                 "  ",
                                                 "%YAML 1.9\n",
                                                 "%TAG ! x\n",
                                                 "{}",
                                                 "[]",
                                                 "{? a",
                                                 "[[[[[[",
                                                 "{{{{{{",
                                                 "a: {b: [c",
                                                 "99999999999999999999"};
    switch (random_() % 6) {
      case 0:
        text.insert(position(text), pieces[random_() % pieces.size()]);
        break;
      case 1:
        text.erase(position(text), 1 + random_() % 8);
        break;
      case 2:
        text.resize(position(text));
        break;
      case 3:
        if (!text.empty()) text[position(text)] = static_cast<char>(random_() % 256);
        break;
      case 4:
        text.insert(position(text), text.substr(position(text), random_() % 40));
        break;
      default: {
        const std::string piece = pieces[random_() % pieces.size()];
        text.replace(position(text), piece.size(), piece);
        break;
      }
    }
  }

  std::mt19937_64 random_;
};

// Printed messages stay printable, and an unusable result says why.
void check_sane(const std::string& diagnostics, bool ok) {
  if (!ok) CHECK(diagnostics.find("error: ") != std::string::npos);
  const auto unprintable = std::find_if(diagnostics.begin(), diagnostics.end(), [](char c) {
    return static_cast<unsigned char>(c) < 0x20 && c != '\n' && c != '\t';
  });
  CHECK(unprintable == diagnostics.end());
}

}  // namespace

TEST_CASE("A configuration cut off anywhere is read or refused") {
  for (std::size_t length = 0; length <= kLongConfig.size(); ++length) {
    const std::string text = kLongConfig.substr(0, length);
    INFO(length << " bytes");
    const ConfigResult result = read_run_config_text("cut.yaml", text);
    check_sane(result.diagnostics, result.ok);
    CHECK(result.ok == !result.points.empty());
  }
  CHECK(read_run_config_text("whole.yaml", kLongConfig).points.size() == 8);
}

TEST_CASE("Mutated configurations are read or refused") {
  constexpr std::uint64_t kSeed = 1;
  Mutator mutator(kSeed);
  for (int i = 0; i < (test::kSanitized ? 300 : 3'000); ++i) {
    const std::string text = mutator.mutate(kLongConfig);
    INFO("seed " << kSeed << ", case " << i << ":\n" << text);
    ConfigResult result;
    REQUIRE_NOTHROW(result = read_run_config_text("mutated.yaml", text));
    check_sane(result.diagnostics, result.ok);
    CHECK(result.ok == !result.points.empty());
  }
}

TEST_CASE("Mutated configurations of multi-dimensional systems are read or refused") {
  CHECK(read_run_config_text("whole.yaml", kDimensions).points.size() == 8);
  constexpr std::uint64_t kSeed = 6;
  Mutator mutator(kSeed);
  for (int i = 0; i < (test::kSanitized ? 300 : 3'000); ++i) {
    const std::string text = mutator.mutate(kDimensions);
    INFO("seed " << kSeed << ", case " << i << ":\n" << text);
    ConfigResult result;
    REQUIRE_NOTHROW(result = read_run_config_text("mutated.yaml", text));
    check_sane(result.diagnostics, result.ok);
    CHECK(result.ok == !result.points.empty());
  }
}

TEST_CASE("Mutated networks of ASTRA-sim's are read or refused") {
  constexpr std::uint64_t kSeed = 7;
  Mutator mutator(kSeed);
  for (int i = 0; i < 3'000; ++i) {
    const std::string text = mutator.mutate(kAstraNetwork);
    INFO("seed " << kSeed << ", case " << i << ":\n" << text);
    Diagnostics diagnostics;
    std::optional<AstraNetwork> network;
    REQUIRE_NOTHROW(network = parse_astra_network("mutated.yml", text, {}, diagnostics));
    check_sane(diagnostics.text(), network.has_value());
    CHECK(network.has_value() == (diagnostics.num_errors() == 0));
  }
}

TEST_CASE("Mutated graph files are read or refused") {
  constexpr std::uint64_t kSeed = 2;
  Mutator mutator(kSeed);
  TopologyFileContext context;
  context.default_link = {150'000, 16'000'000'000};
  context.clock = ClockSpec{};
  for (int i = 0; i < 3'000; ++i) {
    const std::string text = mutator.mutate(kGraph);
    INFO("seed " << kSeed << ", case " << i << ":\n" << text);
    Diagnostics diagnostics;
    std::optional<Topology> topology;
    REQUIRE_NOTHROW(topology = parse_topology("mutated.yaml", text, context, diagnostics));
    check_sane(diagnostics.text(), topology.has_value());
    CHECK(topology.has_value() == (diagnostics.num_errors() == 0));
  }
}

TEST_CASE("Mutated anynet files are read or refused") {
  constexpr std::uint64_t kSeed = 5;
  Mutator mutator(kSeed);
  TopologyFileContext context;
  context.default_link = {150'000, 16'000'000'000};
  context.clock = ClockSpec{};
  for (int i = 0; i < 3'000; ++i) {
    const std::string text = mutator.mutate(kAnynet);
    INFO("seed " << kSeed << ", case " << i << ":\n" << text);
    Diagnostics diagnostics;
    std::optional<Topology> topology;
    REQUIRE_NOTHROW(topology = parse_anynet("mutated.anynet", text, context, diagnostics));
    check_sane(diagnostics.text(), topology.has_value());
    CHECK(topology.has_value() == (diagnostics.num_errors() == 0));
  }
}

TEST_CASE("Mutated files of messages are read or refused") {
  constexpr std::uint64_t kSeed = 4;
  Mutator mutator(kSeed);
  const Topology topology = make_mesh({3, 2}, {1000, 16'000'000'000});
  for (int i = 0; i < 3'000; ++i) {
    const std::string text = mutator.mutate(kMessages);
    INFO("seed " << kSeed << ", case " << i << ":\n" << text);
    Diagnostics diagnostics;
    std::optional<std::vector<TrafficMessage>> messages;
    REQUIRE_NOTHROW(messages = parse_messages("mutated.csv", text, topology, diagnostics));
    check_sane(diagnostics.text(), messages.has_value());
    CHECK(messages.has_value() == (diagnostics.num_errors() == 0));
  }
}

TEST_CASE("Mutated overrides are read or refused") {
  constexpr std::uint64_t kSeed = 3;
  Mutator mutator(kSeed);
  test::ShareOfCases share(23);
  for (int i = 0; i < 2'000; ++i) {
    if (!share.take()) continue;
    const std::string assignment = mutator.mutate("collective.size=[1MiB, 2MiB]");
    INFO("seed " << kSeed << ", case " << i << ":\n" << assignment);
    ConfigResult result;
    REQUIRE_NOTHROW(
        result = read_run_config_text("o.yaml", kGoodSystem + kGoodCollective, "", {assignment}));
    check_sane(result.diagnostics, result.ok);
  }
}

}  // namespace espalier
