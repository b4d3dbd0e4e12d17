// Data centres and other tenants in configurations.
#include "config_test_support.h"

#include "sims/config/resolved.h"
#include "sims/model/build_topology.h"
#include "sims/point/fidelity.h"
#include "tests/support/networks.h"
#include "tests/support/resolved_yaml.h"

using namespace espalier;
using namespace espalier::config_test;

namespace {

std::string with_center(const std::string& keys, const std::string& more = "") {
  return "system:\n  topology: {type: data_center, nodes: 8, pods: 2, racks_per_pod: 2, "
         "hosts_per_rack: 4, rack_uplinks: 4, aggregations_per_pod: 2" +
         keys + "}\ncollective: {algorithm: ring, size: 1MiB}\n" + more;
}

struct BadDataCenter {
  const char* what;
  std::string input;
  const char* message;
  const char* hint;
};

}  // namespace

TEST_CASE("A data centre has links of its own at each level, and puts nodes on hosts") {
  const RunPoint point = only_point(with_center(
      ", aggregation_uplinks: 2, cores: 4, aggregation_link: {latency: 300ns, bandwidth: 8GB/s}, "
      "core_link: {latency: 2us}, placement: packed, ecmp_seed: 4"));
  const Topology topology = build_topology(point.system);
  CHECK(topology.name() == "data_center 2x2x4");
  CHECK(topology.num_nodes() == 8);
  CHECK(point.system.topology.number("ecmp_seed") == 4);
  CHECK(switch_of(topology, NodeId(7)) == 1);
  const auto spec = [&](const char* from, const char* to) {
    return topology
        .link(topology.link_between(topology.find_vertex(from), topology.find_vertex(to)))
        .spec;
  };
  CHECK(spec("n_0", "tor_0") == LinkSpec{150'000, 16'000'000'000});
  CHECK(spec("tor_0", "agg_0_1") == LinkSpec{300'000, 8'000'000'000});
  CHECK(spec("agg_1_1", "core_3") == LinkSpec{2'000'000, 16'000'000'000});
  CHECK(topology.shape().racks.rack_oversubscription == 2);
  CHECK(topology.shape().racks.aggregation_oversubscription == 2. * 4 * 8 / (2 * 2 * 16));
}

TEST_CASE("Nodes are placed on random hosts by default") {
  const auto racks_of = [](const std::string& keys) {
    const Topology topology = build_topology(only_point(with_center(keys)).system);
    std::vector<std::size_t> racks;
    for (std::size_t n = 0; n < 8; ++n) racks.push_back(switch_of(topology, NodeId(n)));
    return racks;
  };
  CHECK(racks_of("") == racks_of(", placement: random, placement_seed: 1"));
  CHECK(racks_of("") != racks_of(", placement_seed: 2"));
}

TEST_CASE("Other tenants have defaults and every key of theirs is read, and resolved to itself") {
  CHECK_FALSE(only_point(with_center("")).tenants);
  const RunPoint defaults = only_point(with_center("", "tenants: {seed: 1}\n"));
  REQUIRE(defaults.tenants);
  CHECK(defaults.tenants->flows == 16);
  CHECK(defaults.tenants->message_bytes == 65536);
  CHECK(chosen_fidelity(defaults) == Fidelity::train);
  const std::string text =
      with_center("",
                  "tenants: {flows: 5, message: 4KiB, rate: 2GB/s, on_time: 3us, off_time: 0ns, "
                  "seed: 9}\n");
  const RunPoint point = only_point(text);
  CHECK(point.tenants->flows == 5);
  CHECK(point.tenants->message_bytes == 4096);
  CHECK(point.tenants->bytes_per_second == 2'000'000'000);
  CHECK(point.tenants->on_time_ps == 3'000'000);
  CHECK(point.tenants->off_time_ps == 0);
  CHECK(point.tenants->seed == 9);
  const std::string yaml = resolved_yaml(point);
  const ConfigResult again = read_run_config_text("resolved.yaml", yaml);
  INFO(again.diagnostics);
  REQUIRE(again.ok);
  CHECK(resolved_yaml(again.points.front()) == yaml);
}

TEST_CASE("Mistakes about data centres are reported at their place with the allowed values") {
  const std::string control = "control: {seed: 1}\n";
  const std::vector<BadDataCenter> cases{
      {"too many nodes",
       "system: {topology: {type: data_center, nodes: @9, racks_per_pod: 2, hosts_per_rack: 4, "
       "rack_uplinks: 1}}\ntraffic: {}\n",
       "9 nodes do not fit on the 8 hosts of 1 x 2 x 4", "at most 8"},
      {"uplinks that do not divide",
       "system: {topology: {type: data_center, nodes: @4, racks_per_pod: 2, hosts_per_rack: 4, "
       "rack_uplinks: 3, aggregations_per_pod: 2}}\ntraffic: {}\n",
       "rack_uplinks: 3 is not a multiple of the 2 aggregation switches", "for example 4"},
      {"cores without a link",
       "system: {topology: {type: data_center, nodes: @4, pods: 2, racks_per_pod: 2, "
       "hosts_per_rack: 4, rack_uplinks: 2, cores: 2}}\ntraffic: {}\n",
       "2 cores exceed the 1 x 1 uplinks of a pod", "at most 1"},
      {"no racks", "system: {@topology: {type: data_center, nodes: 4}}\ntraffic: {}\n",
       "missing key 'system.topology.racks_per_pod'", "integer, 1 to 65536"},
      {"an uplink faster than the clock", with_center(", aggregation_link: {bandwidth: @4200GB/s}"),
       "a link carries at most one flit per router cycle", "a flit has at most 4096 B"},
      {"pods of a fat-tree",
       "system: {topology: {type: fat_tree, nodes_per_switch: 2, switches: 2, spines: 2, pods: "
       "@2}}\ntraffic: {}\n",
       "system.topology.pods contradicts 'system.topology.type'", "remove one of the two"},
      {"tenants without racks",
       "system: {topology: {type: torus, dims: [4, 4]}}\n"
       "collective: {algorithm: ring, size: 1MiB}\n@tenants: {seed: 1}\n",
       "tenants: flows of other tenants go from rack to rack, so the network must be a data_center "
       "with two racks or more",
       "data_center"},
      {"tenants faster than an uplink", with_center("", "tenants: {rate: @17GB/s}\n"),
       "tenants.rate: a flow uses one uplink of its rack, which carries at most 16GB/s",
       "at most 16GB/s"},
      {"tenants beside control messages", with_center("", control + "@tenants: {seed: 1}\n"),
       "both 'tenants' and 'control' are given", "with a collective or with training"},
  };
  for (const BadDataCenter& bad : cases) {
    const Marked input = unmark(bad.input);
    const ConfigResult result = read_run_config_text("bad.yaml", input.text);
    INFO(bad.what << "\n" << result.diagnostics);
    CHECK_FALSE(result.ok);
    const auto printed = parse_diagnostics(result.diagnostics);
    const Printed* found = find_at(printed, input, bad.message);
    REQUIRE(found != nullptr);
    CHECK(found->excerpt == input.excerpt);
    CHECK(found->hint.find(bad.hint) != std::string::npos);
  }
}
