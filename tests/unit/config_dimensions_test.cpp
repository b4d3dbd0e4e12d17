// Multi-dimensional systems as configuration.
#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>
#include <random>

#include "alg/algorithm.h"
#include "config_test_support.h"
#include "sims/config/presets.h"
#include "sims/config/resolved.h"
#include "sims/model/build_dimensions.h"
#include "sims/model/build_topology.h"
#include "sims/model/plan_forecast.h"
#include "sims/point/enum_names.h"
#include "tests/support/resolved_yaml.h"
#include "tests/unit/test_networks.h"

namespace espalier {

using namespace config_test;

namespace {

using Shape = DimensionShape;
using Algorithms = std::vector<DimensionAlgorithm>;

const std::string kThemis = "collective: {algorithm: themis, size: 1MiB}\n";

// A good system with one line changed, or one more.
std::string with(const std::string& line, const std::string& more = kThemis) {
  const std::vector<std::pair<std::string, std::string>> good{
      {"shape", "[switch, ring, fully_connected]"},
      {"size", "[8, 4, 4]"},
      {"links", "[2, 4, 3]"},
      {"bandwidth", "[200Gb/s, 100Gb/s, 50Gb/s]"},
      {"latency", "[700ns, 300ns, 100ns]"}};
  std::string text = "system:\n  topology: {type: dimensions}\n  dimensions:\n";
  bool replaced = line.empty();
  for (const auto& [key, value] : good) {
    const bool this_one = line.rfind(key + ":", 0) == 0;
    replaced = replaced || this_one;
    text += "    " + (this_one ? line : key + ": " + value) + "\n";
  }
  if (!replaced) text += "    " + line + "\n";
  return text + more;
}

RunPoint of_preset(const std::string& name) {
  return only_point("system: {preset: " + name + "}\n" + kThemis);
}

Algorithms algorithms_of(const SystemConfig& system) {
  Algorithms algorithms;
  for (const PlannedDimension& dimension : planned_dimensions(system)) {
    algorithms.push_back(dimension.algorithm);
  }
  return algorithms;
}

// What docs/timing.md adds up, of a message of two flits: less than this is no message.
Cycle time_of_two_flits(const SystemConfig& system, const DimensionSpec& dimension) {
  const bool is_switch = dimension.shape == Shape::switched;
  const Cycle first = cycles_covering(dimension.link.latency_ps, system.clock);
  const Cycle second = dimension.from_switch_latency_ps == 0
                           ? first
                           : cycles_covering(dimension.from_switch_latency_ps, system.clock);
  const Cycle gap =
      dimension.link.flit_bytes * system.clock.hertz / dimension.link.bytes_per_second;
  return system.ni.dma_latency_cycles + system.ni.injection_cycles +
         (is_switch ? 3 : 2) * system.router.pipeline_cycles + first + (is_switch ? second : 0) +
         system.ni.ejection_cycles + system.ni.delivery_cycles + gap;
}

void expect_dimension_error(const std::string& marked_text, const std::string& message,
                            const std::string& hint, const std::string& severity = "error") {
  const Marked marked = unmark(marked_text);
  const ConfigResult result = read_run_config_text("bad.yaml", marked.text);
  CAPTURE(marked.text, result.diagnostics, message);
  CHECK(result.ok == (severity == "warning"));
  const auto all = parse_diagnostics(result.diagnostics);
  CHECK(all.size() == 1);
  const Printed* found = find_at(all, marked, message);
  REQUIRE(found != nullptr);
  CHECK(found->severity == severity);
  CHECK(found->hint.find(hint) != std::string::npos);
}

}  // namespace

TEST_CASE("A multi-dimensional system reads entry by entry") {
  const RunPoint point = only_point(with(""));
  const DimensionsConfig& config = point.system.dimensions;
  CHECK(config.shape == std::vector<Shape>{Shape::switched, Shape::ring, Shape::fully_connected});
  CHECK(config.size == std::vector<std::uint32_t>{8, 4, 4});
  CHECK(config.links == std::vector<std::uint32_t>{2, 4, 3});
  CHECK(config.bytes_per_second ==
        std::vector<std::uint64_t>{25'000'000'000, 12'500'000'000, 6'250'000'000});
  CHECK(config.latency_ps == std::vector<std::uint64_t>{700'000, 300'000, 100'000});
  CHECK(config.flit_bytes.empty());
  CHECK(config.packet_flits == 16);
  CHECK(config.algorithm.empty());
  const Topology topology = build_topology(point.system);
  CHECK(topology.name() == "3D-sw_ring_fc 8x4x4");
  CHECK(topology.num_nodes() == 128);
  CHECK(topology.dimensions()->dimensions.size() == 3);
}

TEST_CASE("Every auto value of a dimension follows from its shape") {
  const SystemConfig system = only_point(with("links: auto")).system;
  const std::vector<DimensionSpec> specs = dimension_specs(system);
  REQUIRE(specs.size() == 3);
  CHECK(specs[0].links == 1);
  CHECK(specs[1].links == 2);
  CHECK(specs[2].links == 3);
  CHECK(specs[0].link.flit_bytes == 25);
  CHECK(specs[1].link.flit_bytes == 13);
  CHECK(specs[2].link.flit_bytes == 7);
  CHECK(algorithms_of(system) == Algorithms{DimensionAlgorithm::halving_doubling,
                                            DimensionAlgorithm::ring, DimensionAlgorithm::direct});
  CHECK(algorithms_of(only_point(with("size: [6, 4, 4]")).system).front() ==
        DimensionAlgorithm::direct);
  CHECK(dimension_specs(only_point(with("links: [auto, 8, auto]")).system)[1].parallel_links() ==
        4);
}

TEST_CASE("A minimal message takes the configured latency, to the cycle") {
  for (const char* latency : {"[700ns, 300ns, 100ns]", "[701ns, 301ns, 101ns]"}) {
    for (const char* flits : {"auto", "[25, 25, 25]", "[40, 100, 64]"}) {
      for (const char* clock : {"1GHz", "2GHz"}) {
        const SystemConfig system =
            only_point(with(std::string("latency: ") + latency),
                       {std::string("system.dimensions.flit_bytes=") + flits,
                        std::string("system.router.clock=") + clock, "system.ni.ejection_cycles=4"})
                .system;
        const std::vector<DimensionSpec> specs = dimension_specs(system);
        for (std::size_t d = 0; d < specs.size(); ++d) {
          CAPTURE(latency, flits, clock, d);
          CHECK(time_of_two_flits(system, specs[d]) ==
                cycles_covering(system.dimensions.latency_ps[d], system.clock));
          CHECK(planned_dimensions(system)[d].step_latency_ps == system.dimensions.latency_ps[d]);
        }
      }
    }
  }
}

TEST_CASE(
    "The two links of a switch share the remaining latency, and an odd cycle goes to the first") {
  const auto links = [](const char* latency) {
    const SystemConfig system =
        only_point(with(fmt::format("latency: [{}, 300ns, 100ns]", latency)),
                   {"system.preset=papers"})
            .system;
    const DimensionSpec spec = dimension_specs(system).front();
    return std::make_pair(spec.link.latency_ps, spec.from_switch_latency_ps);
  };
  // 15 cycles for NIs, routers and the second flit.
  CHECK(links("700ns") == std::make_pair(std::uint64_t{343'000}, std::uint64_t{342'000}));
  CHECK(links("701ns") == std::make_pair(std::uint64_t{343'000}, std::uint64_t{0}));
  CHECK(links("17ns") == std::make_pair(std::uint64_t{1'000}, std::uint64_t{0}));
}

TEST_CASE("The systems of Table 2 have its sizes, bandwidths and latencies") {
  struct System {
    const char* preset;
    const char* name;
    std::vector<std::uint64_t> gigabits;  // of an NPU
    std::vector<std::uint64_t> latency_ns;
    std::vector<std::uint32_t> flit_bytes;
  };
  const std::vector<System> table{
      {"themis_2d_sw_sw", "2D-sw_sw 16x64", {1200, 800}, {700, 1700}, {25, 100}},
      {"themis_3d_sw_sw_sw_homo",
       "3D-sw_sw_sw 16x8x8",
       {800, 800, 800},
       {700, 700, 1700},
       {25, 25, 100}},
      {"themis_3d_sw_sw_sw_hetero",
       "3D-sw_sw_sw 16x8x8",
       {1600, 800, 400},
       {700, 700, 1700},
       {25, 25, 50}},
      {"themis_3d_fc_ring_sw",
       "3D-fc_ring_sw 8x16x8",
       {1400, 800, 400},
       {700, 700, 1700},
       {25, 25, 50}},
      {"themis_4d_ring_sw_sw_sw",
       "4D-ring_sw_sw_sw 4x4x8x8",
       {2000, 1600, 800, 400},
       {20, 700, 700, 1700},
       {125, 25, 25, 50}},
      {"themis_4d_ring_fc_ring_sw",
       "4D-ring_fc_ring_sw 4x8x4x8",
       {3000, 1400, 1200, 800},
       {20, 700, 700, 1700},
       {188, 25, 25, 100}},
      {"themis_fig4_current", "2D-sw_sw 16x64", {1200, 100}, {700, 1700}, {25, 13}}};
  for (const System& row : table) {
    CAPTURE(row.preset);
    const SystemConfig system = of_preset(row.preset).system;
    const Topology topology = build_topology(system);
    CHECK(topology.name() == row.name);
    CHECK(topology.num_nodes() == 1024);
    CHECK_NOTHROW(time_links(topology, system.clock));
    const auto planned = planned_dimensions(system);
    const auto specs = dimension_specs(system);
    REQUIRE(planned.size() == row.gigabits.size());
    for (std::size_t d = 0; d < planned.size(); ++d) {
      CAPTURE(d);
      CHECK(planned[d].bytes_per_second == row.gigabits[d] * 125'000'000);
      CHECK(planned[d].step_latency_ps == row.latency_ns[d] * 1000);
      CHECK(specs[d].link.flit_bytes == row.flit_bytes[d]);
      CHECK(time_of_two_flits(system, specs[d]) == row.latency_ns[d]);
    }
  }
  // 13 cycles of a ring's 20 are not the link's, of a switch's 1700 15.
  const auto specs = dimension_specs(of_preset("themis_4d_ring_fc_ring_sw").system);
  CHECK(specs[0].link.latency_ps == 7'000);
  CHECK(specs[3].link.latency_ps == 843'000);
  CHECK(specs[3].from_switch_latency_ps == 842'000);
}

TEST_CASE("A dimension's VCs cover its credit loop unless the file says otherwise") {
  const SystemConfig system = of_preset("themis_2d_sw_sw").system;
  // Link and credit of 343 cycles, pipeline of 2, packets of 17 flits.
  CHECK(dimension_vc_depths(system) == std::vector<std::uint32_t>{704, 843 + 2 + 843 + 16});
  CHECK(dimension_vc_depths(only_point(with("vc_depth_flits: [900, auto, auto]")).system).front() ==
        900);
  expect_dimension_error(with("vc_depth_flits: [auto, @100, auto]"),
                         "100 flits do not cover the credit loop", "flits or more cover it",
                         "warning");
}

TEST_CASE("A preset of a whole system can be changed key by key") {
  const std::string file = "system: {preset: themis_2d_sw_sw}\n" + kThemis;
  CHECK(only_point(file, {"system.dimensions.size=[4, 4]"}).system.dimensions.size ==
        std::vector<std::uint32_t>{4, 4});
  CHECK(only_point(file, {"system.dimensions.links=auto"}).system.dimensions.links.empty());
  CHECK(only_point("system: {preset: themis_2d_sw_sw, topology: {type: torus, dims: [4, 4]}}\n" +
                   kGoodCollective)
            .system.topology.family()
            .name == "torus");
  // What does not fit the preset is reported where it is written, or where the preset is named.
  const ConfigResult result =
      read_run_config_text("f.yaml", file, "", {"system.dimensions.size=[4, 4, 4]"});
  CHECK_FALSE(result.ok);
  CHECK(result.diagnostics.find(
            "-s system.dimensions.size=[4, 4, 4]: error: system.dimensions.size: has 3 entries, "
            "but system.dimensions.shape has 2") != std::string::npos);
  const ConfigResult slow =
      read_run_config_text("f.yaml", file, "", {"system.ni.dma.latency_cycles=900"});
  CHECK_FALSE(slow.ok);
  CHECK(slow.diagnostics.find("f.yaml:1:18: error: system.dimensions.latency") !=
        std::string::npos);
}

TEST_CASE("Lists of dimensions are all as long as their shapes") {
  for (const std::string key :
       {"size: @[8, 4]", "bandwidth: @[200Gb/s, 100Gb/s]", "latency: @[700ns, 300ns]",
        "links: @[2, 4]", "flit_bytes: @[25, 25]", "vc_depth_flits: @[auto, auto]",
        "algorithm: @[auto, ring]"}) {
    expect_dimension_error(with(key),
                           "system.dimensions." + key.substr(0, key.find(':')) +
                               ": has 2 entries, but system.dimensions.shape has 3",
                           "give one entry for each dimension");
  }
}

TEST_CASE("A value that is not a list of dimensions is refused at its place") {
  expect_dimension_error(
      with("size: @8"), "system.dimensions.size: expected a list with one value for each dimension",
      "write [8]");
  expect_dimension_error(with("size: @[]"), "has 0 entries; a system has 1 to 16 dimensions",
                         "list with one entry for each dimension: integer, 2 to 65536");
  expect_dimension_error(with("size: [8, @1, 4]"), "system.dimensions.size: 1 is out of range",
                         "integer, 2 to");
  expect_dimension_error(with("size: [8, @four, 4]"), "'four' is not an integer", "integer, 2 to");
  expect_dimension_error(with("size: [8, @[4], 4]"), "expected one value, found a list", "integer");
  expect_dimension_error(with("shape: [switch, @rink, fully_connected]"),
                         "'rink' is not a valid name for this key", "did you mean 'ring'?");
  expect_dimension_error(with("bandwidth: [200Gb/s, @100, 50Gb/s]"), "'100' has no unit", "Gb/s");
  expect_dimension_error(with("latency: @auto"), "expected a list", "write [auto]");
  expect_dimension_error(with("links: @automatic"), "expected a list", "write [automatic]");
  expect_dimension_error(with("@sizes: [2]"), "unknown key 'sizes'", "did you mean 'size'?");
}

TEST_CASE("A dimension that hardware cannot have is refused") {
  expect_dimension_error(
      with("links: [2, @3, 3]"),
      "a ring needs an even number of links, half of them to either side; found 3",
      "for example 4");
  expect_dimension_error(
      with("links: [2, 4, @4]"),
      "an NPU needs the same number of links to each peer; found 4 links to 3 peers",
      "for example 6");
  expect_dimension_error(with("size: @[4096, 64, 4]"),
                         "the system has more than 65536 nodes, which is the limit",
                         "4096 x 64 x 4");
  expect_dimension_error(with("links: @[4096, 4, 3]"),
                         "the system has 1049472 links; allowed are at most 1048576", "");
  expect_dimension_error(with("flit_bytes: [@24, 25, 25]"), "25GB/s is more than 24 B x 1GHz",
                         "at least 25");
  expect_dimension_error(with("bandwidth: [@5TB/s, 100Gb/s, 50Gb/s]"),
                         "needs flits of 5000 B; allowed are at most 4096 B",
                         "a faster system.router.clock");
  expect_dimension_error(with("bandwidth: @[24999999999B/s, 100Gb/s, 50Gb/s]"), "ticks per cycle",
                         "flit_bytes");
  expect_dimension_error(
      with("latency: [@16ns, 300ns, 100ns]"),
      "16ns leaves less than a cycle for each link: NIs and routers take 15 cycles at 1GHz",
      "the shortest possible is 17ns, 17 cycles");
  expect_dimension_error(with("latency: [700ns, 300ns, @13ns]"), "NIs and routers take 13 cycles",
                         "the shortest possible is 14ns");
  expect_dimension_error(with("latency: [@700500ps, 300ns, 100ns]"),
                         "is not a whole number of cycles", "", "warning");
  expect_dimension_error(with("vc_depth_flits: [@16, auto, auto]"),
                         "room for a whole packet of 17 flits", "at least 17");
  expect_dimension_error(with("packet_flits: @65535"), "out of range", "1 to 65534");
}

TEST_CASE("An algorithm runs on the shapes that it fits") {
  expect_dimension_error(with("algorithm: [auto, @direct, auto]"),
                         "direct does not run on a dimension that is a ring of 4 NPUs",
                         "allowed: ring");
  expect_dimension_error(
      with("algorithm: [auto, auto, @in_network]"),
      "in_network does not run on a dimension that is a fully connected group of 4 NPUs",
      "allowed: direct");
  expect_dimension_error(with("algorithm: [@ring, auto, auto]"),
                         "ring does not run on a dimension that is a switch of 8 NPUs",
                         "allowed: halving_doubling, direct, in_network");
  expect_dimension_error(
      "system: {topology: {type: dimensions}, dimensions: {shape: [switch], size: [6], "
      "bandwidth: [8GB/s], latency: [100ns], algorithm: [@halving_doubling]}}\n" +
          kThemis,
      "halving_doubling does not run on a dimension that is a switch of 6 NPUs",
      "allowed: direct, in_network");
  CHECK(algorithms_of(only_point(with("algorithm: [in_network, auto, direct]")).system) ==
        Algorithms{DimensionAlgorithm::in_network, DimensionAlgorithm::ring,
                   DimensionAlgorithm::direct});
}

TEST_CASE("A multi-dimensional system needs its shape, sizes, bandwidths and latencies") {
  const ConfigResult nothing =
      read_run_config_text("f.yaml", "system: {topology: {type: dimensions}}\n" + kThemis);
  CHECK_FALSE(nothing.ok);
  CHECK(nothing.diagnostics.find("missing section 'system.dimensions'") != std::string::npos);
  CHECK(nothing.diagnostics.find("hint: dimensions: {shape: [switch, ring]") != std::string::npos);
  const ConfigResult some = read_run_config_text(
      "f.yaml",
      "system: {topology: {type: dimensions}, dimensions: {shape: [ring], size: [4]}}\n" + kThemis);
  CHECK(some.diagnostics.find("missing key 'system.dimensions.bandwidth'") != std::string::npos);
  CHECK(some.diagnostics.find("missing key 'system.dimensions.latency'") != std::string::npos);
  CHECK(some.diagnostics.find("missing key 'system.dimensions.links'") == std::string::npos);
}

TEST_CASE(
    "Keys of other systems have no effect on dimensions, and keys of dimensions none on others") {
  const auto warns = [](const std::string& text, const std::string& setting) {
    const ConfigResult result = read_run_config_text("f.yaml", text, "", {setting});
    CAPTURE(setting, result.diagnostics);
    CHECK(result.ok);
    CHECK(result.num_warnings == 1);
    CHECK(result.points.size() == 1);
    CHECK(result.diagnostics.find(setting.substr(0, setting.find('=')) + " has no effect") !=
          std::string::npos);
  };
  for (const char* setting :
       {"system.link.latency=10ns", "system.link.bandwidth=16GB/s",
        "system.link.credit_latency=9ns", "system.router.flit_bytes=32",
        "system.router.vc_depth_flits=500", "system.flow_control.payload_bytes=512",
        "system.flow_control.sub_message_bytes=8192", "system.ni.lockstep=off",
        "system.ni.lockstep=[off, full]", "system.ni.ports=2", "system.ni.table_entries=100",
        "system.ni.buffer_flits=100"}) {
    warns(with(""), setting);
  }
  for (const char* setting :
       {"system.dimensions.packet_flits=8", "system.dimensions.links=[1]",
        "system.ni.dimension_queue.order=fifo", "system.ni.dimension_queue.order=[fifo, scf]",
        "system.ni.dimension_queue.key=before", "system.ni.dimension_queue.in_flight=2",
        "system.ni.dimension_queue.arbitration_cycles=2",
        "system.ni.dimension_queue.enforce_order=false", "collective.chunks=4",
        "collective.threshold_divisor=8", "collective.loads_start_at_fixed_delay=true"}) {
    warns(kGoodSystem + kGoodCollective, setting);
  }
  warns(with("", "collective: {algorithm: baseline, size: 1MiB}\n"),
        "collective.threshold_divisor=8");
}

TEST_CASE(
    "A queue without an order is FIFO for the baseline, as in the paper, and SCF for Themis") {
  const auto order_of = [](const std::string& algorithm, const std::vector<std::string>& settings) {
    const RunPoint point =
        only_point(with("", "collective: {algorithm: " + algorithm + ", size: 1MiB}\n"), settings);
    return arbiter_spec(point).order;
  };
  CHECK(order_of("baseline", {}) == QueueOrder::fifo);
  CHECK(order_of("themis", {}) == QueueOrder::scf);
  CHECK(order_of("themis_search", {}) == QueueOrder::scf);
  CHECK(order_of("auto", {}) == QueueOrder::scf);
  for (const std::string algorithm : {"baseline", "themis"}) {
    CHECK(order_of(algorithm, {"system.ni.dimension_queue.order=fifo"}) == QueueOrder::fifo);
    CHECK(order_of(algorithm, {"system.ni.dimension_queue.order=scf"}) == QueueOrder::scf);
    CHECK(order_of(algorithm, {"system.ni.dimension_queue.order=auto"}) == order_of(algorithm, {}));
  }
}

TEST_CASE("Queues and plans are configured, and lists of them run one by one") {
  const RunPoint defaults = only_point(with(""));
  const DimensionQueueConfig& queue = defaults.system.ni.dimension_queue;
  CHECK_FALSE(queue.order);
  CHECK(queue.key == ChunkKey::larger);
  CHECK(queue.ties == TieRule::newest);
  CHECK(queue.in_flight == 0);
  CHECK(queue.flight().places == 8);
  CHECK(queue.flight().cover_delay);
  CHECK(queue.arbitration_cycles == 5);  // what 64 chunks take at 1 GHz
  CHECK(queue.enforce_order);
  CHECK(defaults.collective->chunks == 64);
  const RunPoint changed = only_point(
      with(""), {"system.ni.dimension_queue.order=fifo", "system.ni.dimension_queue.key=after",
                 "system.ni.dimension_queue.ties=oldest", "collective.chunks=7",
                 "collective.threshold_divisor=4", "collective.loads_start_at_fixed_delay=true"});
  CHECK(changed.system.ni.dimension_queue.order == QueueOrder::fifo);
  CHECK(changed.system.ni.dimension_queue.key == ChunkKey::after);
  CHECK(changed.system.ni.dimension_queue.ties == TieRule::oldest);
  const PlanRequest request = plan_request(*changed.collective);
  CHECK(request.op == CollectiveOp::all_reduce);
  CHECK(request.size == 1 << 20);
  CHECK(request.chunks == 7);
  CHECK(request.threshold_divisor == 4);
  CHECK(request.loads_start_at_fixed_delay);
  const ConfigResult product = read_run_config_text(
      "f.yaml", with("", "collective: {algorithm: [baseline, themis], size: 1MiB}\n"), "",
      {"system.ni.dimension_queue.order=[fifo, scf]", "system.ni.dimension_queue.in_flight=[1, 8]",
       "collective.chunks=[4, 16, 64]"});
  INFO(product.diagnostics);
  REQUIRE(product.points.size() == 24);
  CHECK(product.points[1].collective->chunks == 16);
  CHECK(product.points[3].system.ni.dimension_queue.in_flight == 8);
  CHECK(product.points[6].system.ni.dimension_queue.order == QueueOrder::scf);
  CHECK(product.points[12].collective->algorithm == "themis");
}

TEST_CASE("Without an algorithm, auto plans on dimensions, with the keys of planners there only") {
  const RunPoint planned = only_point(with("", "collective: {size: 1MiB, chunks: 8}\n"));
  CHECK(planned.collective->algorithm == "auto");
  CHECK(planned.collective->chunks == 8);
  CHECK(planner_of(planned) == find_planner("auto"));
  const ConfigResult torus =
      read_run_config_text("f.yaml", kGoodSystem + "collective: {size: 1MiB, chunks: 8}\n");
  REQUIRE(torus.points.size() == 1);
  CHECK(torus.points[0].collective->algorithm == "auto");
  CHECK(planner_of(torus.points[0]) == nullptr);
  CHECK(torus.diagnostics.find("collective.chunks has no effect") != std::string::npos);
  CHECK_FALSE(resolved_json(torus.points[0]).at("collective").contains("chunks"));
  expect_dimension_error(with("", "collective: {op: @all_to_all, size: 1MiB}\n"),
                         "auto computes all_reduce, reduce_scatter, all_gather, not all_to_all",
                         "");
}

TEST_CASE("Planners run on dimensions only, and generators elsewhere only") {
  const ConfigResult torus = read_run_config_text("f.yaml", kGoodSystem + kThemis);
  CHECK_FALSE(torus.ok);
  CHECK(torus.diagnostics.find("collective.algorithm: themis does not run on this topology: it "
                               "plans the stages of a multi-dimensional system") !=
        std::string::npos);
  CHECK(torus.diagnostics.find("allowed: ring, ") != std::string::npos);
  const Topology topology = build_topology(only_point(with("")).system);
  // A reason is the end of a sentence that goes on.
  std::vector<Topology> networks = test::small_networks();
  networks.push_back(topology);
  for (const Algorithm& algorithm : algorithms()) {
    for (const Topology& network : networks) {
      const std::string reason = algorithm.unsuited(network);
      CHECK((reason.empty() || reason.back() != '.'));
    }
    CAPTURE(algorithm.name);
    CHECK((algorithm.generator != nullptr) + (algorithm.planner != nullptr) +
              algorithm.is_program() + algorithm.is_library ==
          (algorithm.name == kAutoAlgorithm ? 2 : 1));
    CHECK(algorithm.unsuited(topology).empty() == (algorithm.planner != nullptr));
  }
  expect_dimension_error(with("", "collective: {algorithm: @multitree, size: 1MiB}\n"),
                         "messages do not pass between dimensions (system.topology.type: "
                         "dimensions); only baseline, themis, themis_search, auto run there",
                         "allowed: auto, baseline, themis, themis_search");
  // A group of its ranks changes nothing.
  expect_dimension_error(with("", "collective: {algorithm: @ring, size: 1MiB, ranks: [0, 1]}\n"),
                         "messages do not pass between dimensions",
                         "allowed: auto, baseline, themis");
  expect_dimension_error(with("", "collective: {op: @all_to_all, algorithm: themis, size: 1MiB}\n"),
                         "themis computes all_reduce, reduce_scatter, all_gather, not all_to_all",
                         "");
}

TEST_CASE("Messages of traffic and control do not pass from dimension to dimension") {
  expect_dimension_error(with("", "@traffic: {}\n"),
                         "traffic: messages cannot pass from one dimension to another, so a "
                         "multi-dimensional system has no such section",
                         "runs collectives");
  expect_dimension_error(with("", kThemis + "@control: {}\n"),
                         "control: messages cannot pass from one dimension to another, so a "
                         "multi-dimensional system has no such section",
                         "runs collectives");
}

TEST_CASE("One NPU is not asked to stand for all where it does not") {
  const std::string exact = "collective: {algorithm: themis, size: 1000B, parts: exact}\n";
  expect_dimension_error(with("", exact + "simulation: {fold: @on}\n"),
                         "chunks do not divide into equal parts", "fold: off, or auto");
  expect_dimension_error(
      with("", kThemis + "simulation: {fold: @on}\nfaults: {late_nis: [{node: 1, cycles: 1}]}\n"),
      "simulation.fold: one NPU cannot be simulated for all NPUs with faults.late_nis", "auto");
  expect_dimension_error(with("", kThemis + "simulation: {fold: @on, stall_probability: 0.5}\n"),
                         "each link stalls on its own", "auto");
  CHECK(only_point(with("", kThemis + "simulation: {fold: on}\n")).simulation.fold == Folding::on);
}

TEST_CASE("A resolved multi-dimensional system reads back to the identical point") {
  std::vector<RunPoint> points{
      only_point(with("")), only_point(with("links: [auto, 8, 6]"), {"collective.chunks=3"}),
      only_point(with("flit_bytes: [50, auto, 10]"), {"system.flow_control.mode=packet"}),
      only_point(with("algorithm: [in_network, auto, direct]"),
                 {"system.ni.dimension_queue.order=fifo", "system.dimensions.packet_flits=4",
                  "system.dimensions.vc_depth_flits=[900, 800, auto]"})};
  for (const Preset& preset : presets()) {
    if (preset.name.rfind("themis_", 0) == 0) points.push_back(of_preset(preset.name));
  }
  for (const RunPoint& point : points) {
    const std::string yaml = resolved_yaml(point);
    INFO(yaml);
    const ConfigResult result = read_run_config_text("resolved.yaml", yaml);
    INFO(result.diagnostics);
    REQUIRE(result.ok);
    CHECK(result.diagnostics.empty());
    REQUIRE(result.points.size() == 1);
    CHECK(resolved_yaml(result.points.front()) == yaml);
    CHECK(config_hash(result.points.front()) == config_hash(point));
    const DimensionsConfig& a = point.system.dimensions;
    const DimensionsConfig& b = result.points.front().system.dimensions;
    CHECK(a.shape == b.shape);
    CHECK(a.size == b.size);
    CHECK(a.links == b.links);
    CHECK(a.bytes_per_second == b.bytes_per_second);
    CHECK(a.latency_ps == b.latency_ps);
    CHECK(a.flit_bytes == b.flit_bytes);
    CHECK(a.packet_flits == b.packet_flits);
    CHECK(a.vc_depth_flits == b.vc_depth_flits);
    CHECK(a.algorithm == b.algorithm);
  }
  const auto json = resolved_json(points[1]);
  CHECK(json["system"]["dimensions"]["links"] == nlohmann::ordered_json({"auto", 8, 6}));
  CHECK(json["system"]["dimensions"]["shape"] ==
        nlohmann::ordered_json({"switch", "ring", "fully_connected"}));
  CHECK(json["system"]["dimensions"]["bandwidth"][1] == "12500MB/s");
  CHECK(json["system"]["dimensions"]["flit_bytes"] == "auto");
  CHECK(json["collective"]["chunks"] == 3);
  CHECK_FALSE(json["system"].contains("link"));
  CHECK_FALSE(json["system"]["router"].contains("flit_bytes"));
  CHECK_FALSE(
      resolved_json(only_point(kGoodSystem + kGoodCollective))["system"].contains("dimensions"));
}

}  // namespace espalier
