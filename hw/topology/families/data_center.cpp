// A hierarchical data centre. A job's nodes (virtual machines) are on some of its hosts; the other
// hosts belong to other tenants and have no vertex in the graph.
//
// Host slots are numbered rack by rack. Uplink k of a top-of-rack switch (ToR) leads to aggregation
// switch k mod aggregations_per_pod of its pod. Uplink k of a pod's aggregation switch a leads to
// core (a aggregation_uplinks + k) mod cores. A single pod has no cores.
//
// Switch vertices: ToRs rack by rack, aggregation switches pod by pod, cores. Names: nodes n_<i>,
// tor_<rack>, agg_<pod>_<i>, core_<i>. Order of ports: a ToR's nodes, then its uplinks; an
// aggregation switch's links to racks, then its uplinks; a core's links pod by pod.
#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <unordered_map>

#include "hw/hash.h"
#include "hw/topology/families/parts.h"

namespace espalier {

namespace {

enum class Placement : std::uint64_t { packed, spread, random };

struct Center {
  NetworkSpec spec;
  std::uint64_t nodes = spec.number("nodes");
  std::uint64_t pods = spec.number("pods");
  std::uint64_t racks_per_pod = spec.number("racks_per_pod");
  std::uint64_t hosts_per_rack = spec.number("hosts_per_rack");
  std::uint64_t rack_uplinks = spec.number("rack_uplinks");
  std::uint64_t aggregations_per_pod = spec.number("aggregations_per_pod");
  std::uint64_t aggregation_uplinks = spec.number("aggregation_uplinks");
  std::uint64_t cores = spec.number("cores");
  std::uint64_t ecmp_seed = spec.number("ecmp_seed");  // selects one of several equal paths
  std::uint64_t racks = pods * racks_per_pod;
  std::uint64_t hosts = racks * hosts_per_rack;
  std::uint64_t pod_uplinks = aggregations_per_pod * aggregation_uplinks;

  [[nodiscard]] NodeId tor(std::size_t rack) const { return NodeId(nodes + rack); }
  [[nodiscard]] NodeId aggregation(std::size_t pod, std::size_t index) const {
    return tor(racks + pod * aggregations_per_pod + index);
  }
  [[nodiscard]] NodeId core(std::size_t index) const { return aggregation(pods, index); }
};

std::optional<NetworkProblem> problem_of_center(const NetworkSpec& spec) {
  const Center c{spec};
  if (c.nodes > c.hosts) {
    return NetworkProblem{
        fmt::format("system.topology.nodes: {} nodes do not fit on the {} hosts of {} x {} x {} "
                    "(pods, racks_per_pod, hosts_per_rack)",
                    c.nodes, c.hosts, c.pods, c.racks_per_pod, c.hosts_per_rack),
        fmt::format("at most {}", c.hosts)};
  }
  if (c.rack_uplinks % c.aggregations_per_pod != 0) {
    return NetworkProblem{
        fmt::format("system.topology.rack_uplinks: {} is not a multiple of the {} aggregation "
                    "switches (system.topology.aggregations_per_pod)",
                    c.rack_uplinks, c.aggregations_per_pod),
        fmt::format("for example {}",
                    (c.rack_uplinks / c.aggregations_per_pod + 1) * c.aggregations_per_pod)};
  }
  if (c.pods > 1 && c.cores > c.pod_uplinks) {
    return NetworkProblem{
        fmt::format("system.topology.cores: {} cores exceed the {} x {} uplinks of a pod "
                    "(aggregations_per_pod, aggregation_uplinks)",
                    c.cores, c.aggregations_per_pod, c.aggregation_uplinks),
        fmt::format("at most {}", c.pod_uplinks)};
  }
  return std::nullopt;
}

NetworkSize size_of_center(const NetworkSpec& spec) {
  const Center c{spec};
  return {
      fmt::format("data_center {}x{}x{}", c.pods, c.racks_per_pod, c.hosts_per_rack), c.nodes,
      2 * (c.nodes + c.racks * c.rack_uplinks + c.pods * c.pod_uplinks),
      std::max({c.hosts_per_rack + c.rack_uplinks,  // of a ToR, an aggregation switch, a core
                c.racks_per_pod * c.rack_uplinks / c.aggregations_per_pod + c.aggregation_uplinks,
                c.pods * c.pod_uplinks / c.cores + c.pods})};
}

RackShape racks_of_center(const NetworkSpec& spec, LinkSpec link) {
  const Center c{spec};
  const auto rate = [](std::uint64_t count, LinkSpec of_link) {
    return static_cast<double>(count) * static_cast<double>(of_link.bytes_per_second);
  };
  RackShape racks{spec.count("pods") * spec.count("racks_per_pod"), spec.count("rack_uplinks"),
                  spec.link("aggregation_link", link)};
  racks.rack_oversubscription = rate(c.hosts_per_rack, link) / rate(c.rack_uplinks, racks.uplink);
  if (c.pods > 1) {
    racks.aggregation_oversubscription = rate(c.racks_per_pod * c.rack_uplinks, racks.uplink) /
                                         rate(c.pod_uplinks, spec.link("core_link", link));
  }
  return racks;
}

// By node.
std::vector<std::uint64_t> slots_of(const Center& c, Placement placement, std::uint64_t seed) {
  std::vector<std::uint64_t> slots(c.nodes);
  std::iota(slots.begin(), slots.end(), 0U);
  if (placement == Placement::spread) {
    for (std::size_t n = 0; n < c.nodes; ++n) {
      slots[n] = n % c.racks * c.hosts_per_rack + n / c.racks;
    }
  } else if (placement == Placement::random) {
    // The first elements of a random permutation (Fisher and Yates) of all hosts; `moved` are those
    // that are not at their own place.
    std::unordered_map<std::uint64_t, std::uint64_t> moved;
    const auto at = [&moved](std::uint64_t place) {
      const auto found = moved.find(place);
      return found == moved.end() ? place : found->second;
    };
    for (std::size_t n = 0; n < c.nodes; ++n) {
      const std::uint64_t other = n + mix(seed, n) % (c.hosts - n);
      slots[n] = at(other);
      moved[other] = at(n);
    }
  }
  return slots;
}

// Up to the lowest level that both ends share, then down. The ends are nodes, or ToRs for other
// tenants' hosts behind them. Equal-cost multi-path (ECMP): each switch chooses among parallel
// uplinks and ways down by a hash of source, destination, channel and the seed, like a hash of a
// connection's addresses and ports, so that a pair of ends keeps its path.
std::vector<LinkId> center_route(const Center& c, const Topology& topology, NodeId from, NodeId to,
                                 std::uint32_t channel) {
  const auto tor_of = [&](NodeId end) {
    return topology.is_switch(end) ? end : topology.link(topology.out_links(end).front()).to;
  };
  const std::uint64_t flow = mix(mix(mix(c.ecmp_seed, channel), from.value()), to.value());
  Walk walk(topology, from);
  // Goes over one of the links to `count` vertices from `first` on.
  const auto go = [&](NodeId first, std::size_t count) {
    std::vector<LinkId> equal;
    for (const LinkId link : topology.out_links(walk.at())) {
      const std::size_t vertex = topology.link(link).to.index();
      if (vertex - first.index() < count) equal.push_back(link);
    }
    walk.take(equal[mix(flow, walk.links().size()) % equal.size()]);
  };
  const NodeId source = tor_of(from);
  const NodeId destination = tor_of(to);
  const std::size_t pod = (source.index() - c.nodes) / c.racks_per_pod;
  const std::size_t other = (destination.index() - c.nodes) / c.racks_per_pod;
  if (from != source) go(source, 1);
  if (source != destination) {
    go(c.aggregation(pod, 0), c.aggregations_per_pod);
    if (pod != other) {
      go(c.core(0), c.cores);
      go(c.aggregation(other, 0), c.aggregations_per_pod);
    }
    go(destination, 1);
  }
  if (to != destination) go(to, 1);
  return walk.links();
}

// The nodes stand by slot; rack, aggregation and core switches stand above them.
std::vector<PictureRow> picture_of_center(const Center& c,
                                          const std::vector<std::uint64_t>& slots) {
  std::vector<NodeId> by_slot = vertices_from(0, c.nodes);
  std::sort(by_slot.begin(), by_slot.end(),
            [&](NodeId a, NodeId b) { return slots[a.index()] < slots[b.index()]; });
  std::vector<PictureRow> rows;
  if (c.pods > 1) rows.push_back({vertices_from(c.core(0).index(), c.cores)});
  rows.push_back({vertices_from(c.aggregation(0, 0).index(), c.pods * c.aggregations_per_pod)});
  rows.push_back({vertices_from(c.tor(0).index(), c.racks)});
  rows.push_back({std::move(by_slot)});
  return rows;
}

void add_vertices(Topology& topology, const Center& c) {
  for (std::size_t n = 0; n < c.nodes; ++n) topology.add_node(fmt::format("n_{}", n));
  for (std::size_t r = 0; r < c.racks; ++r) topology.add_switch(fmt::format("tor_{}", r));
  for (std::size_t a = 0; a < c.pods * c.aggregations_per_pod; ++a) {
    topology.add_switch(
        fmt::format("agg_{}_{}", a / c.aggregations_per_pod, a % c.aggregations_per_pod));
  }
  for (std::size_t i = 0; c.pods > 1 && i < c.cores; ++i) {
    topology.add_switch(fmt::format("core_{}", i));
  }
}

// Link number `number` between two switches that may have `parallel` ones.
void add_uplink(Topology& topology, NodeId low, NodeId high, LinkSpec link, std::size_t number,
                bool parallel) {
  add_cable(topology, low, high, link, parallel ? fmt::format("_{}", number) : "");
}

void add_uplinks(Topology& topology, const Center& c, LinkSpec aggregation, LinkSpec core) {
  const std::size_t switches = c.aggregations_per_pod;
  for (std::size_t rack = 0; rack < c.racks; ++rack) {
    for (std::size_t k = 0; k < c.rack_uplinks; ++k) {
      add_uplink(topology, c.tor(rack), c.aggregation(rack / c.racks_per_pod, k % switches),
                 aggregation, k / switches, c.rack_uplinks > switches);
    }
  }
  for (std::size_t a = 0; c.pods > 1 && a < c.pods * switches; ++a) {
    for (std::size_t k = 0; k < c.aggregation_uplinks; ++k) {
      add_uplink(topology, c.aggregation(0, a),
                 c.core((a % switches * c.aggregation_uplinks + k) % c.cores), core, k / c.cores,
                 c.aggregation_uplinks > c.cores);
    }
  }
}

Topology build_center(const NetworkSpec& spec, LinkSpec link) {
  const Center c{spec};
  const auto slots =
      slots_of(c, static_cast<Placement>(spec.number("placement")), spec.number("placement_seed"));
  Topology topology(size_of_center(spec).name);
  add_vertices(topology, c);
  for (std::size_t n = 0; n < c.nodes; ++n) {
    add_cable(topology, NodeId(n), c.tor(slots[n] / c.hosts_per_rack), link);
  }
  add_uplinks(topology, c, spec.link("aggregation_link", link), spec.link("core_link", link));
  NetworkShape shape;
  shape.racks = racks_of_center(spec, link);
  shape.near_by_number = true;
  shape.route = [c](const Topology& network, NodeId from, NodeId to, std::uint32_t channel) {
    return center_route(c, network, from, to, channel);
  };
  shape.levels.assign(topology.num_vertices(), 0);  // of the cores
  std::fill_n(shape.levels.begin(), c.core(0).index(), 1);
  std::fill_n(shape.levels.begin(), c.aggregation(0, 0).index(), 2);
  std::fill_n(shape.levels.begin(), c.nodes, 3);
  shape.picture = picture_of_center(c, slots);
  topology.set_shape(std::move(shape));
  return topology;
}

std::vector<FamilyKey> keys_of_center() {
  using Kind = FamilyKey::Kind;
  const char* const aggregation = "between ToR and aggregation switch";
  const char* const core = "between aggregation switch and core";
  return {
      nodes_key(),
      {Kind::count, "pods",
       "number of pods, which are groups of racks with core switches between them; a "
       "single pod has no core switch"},
      required_count("racks_per_pod",
                     "number of racks in a pod; each rack has a top-of-rack switch (ToR)"),
      required_count("hosts_per_rack",
                     "number of hosts in a rack; a host has a node or belongs to another tenant"),
      required_count("rack_uplinks",
                     "number of links from a ToR to the aggregation switches of its pod, to each "
                     "switch in turn"),
      {Kind::count, "aggregations_per_pod",
       "number of aggregation switches in a pod; a divisor of rack_uplinks"},
      {Kind::count, "aggregation_uplinks",
       "number of links from an aggregation switch to core switches, to each switch in "
       "turn"},
      {Kind::count, "cores",
       "number of core switches between pods; at most the number of uplinks of a pod"},
      latency_key("aggregation_link", aggregation),
      bandwidth_key("aggregation_link", aggregation),
      latency_key("core_link", core),
      bandwidth_key("core_link", core),
      {Kind::word,
       "placement",
       "placement of nodes on hosts; packed: rack after rack is filled; spread: node i is in rack "
       "i "
       "mod racks; random: nodes are on random hosts, as with a cloud provider",
       false,
       static_cast<std::uint64_t>(Placement::random),
       0,
       {"packed", "spread", "random"}},
      {Kind::number, "placement_seed", "seed of a random placement"},
      {Kind::number, "ecmp_seed", "seed of the hash by which switches choose among equal paths"}};
}

}  // namespace

Family data_center_family() {
  Family row(10, "data_center",
             "nodes, pods, racks_per_pod, hosts_per_rack; each level has its own link rates, other "
             "tenants have the other hosts",
             keys_of_center(), "system.topology.nodes", size_of_center, build_center);
  row.problem = problem_of_center;
  row.racks = racks_of_center;
  row.two_racks = "racks_per_pod: 2";
  row.uplink_key = "system.topology.aggregation_link.bandwidth";
  return row;
}

}  // namespace espalier
