// Keys of sections system.topology and system.dimensions: the network's shape and size.
#include "flowctl/framing.h"
#include "sims/config/key_table.h"

namespace espalier {

namespace {

constexpr std::uint64_t kLargestCount = 65536;

using Topo = TopologyConfig;
using Names = std::vector<std::string>;

// Keys for some types of networks. Giving such a key for another type is an error.
class TopologyKeys {
 public:
  explicit TopologyKeys(KeyTable& table)
      : table_(table),
        group_(table.group("system.topology", &RunPoint::system, &SystemConfig::topology)) {}

  void add() {
    group_.choice("type", &Topo::kind)
        .required()
        .doc("shape of the network (espalier list topologies)");
    only({"torus", "mesh"}, group_.number(ValueType::integer, "dims", &Topo::dims))
        .list(ListOf::grid)
        .range(1, kLargestCount)
        .required()
        .doc("nodes in X, Y and Z");
    count({"fully_connected", "switch", "data_center"}, "nodes", &Topo::nodes)
        .min(2)
        .required()
        .doc("number of accelerators");
    count({"dgx2", "fat_tree", "bigraph", "dragonfly"}, "nodes_per_switch", &Topo::nodes_per_switch)
        .required()
        .doc("number of accelerators at one switch");
    count({"fat_tree", "bigraph"}, "switches", &Topo::switches)
        .min(2)
        .required()
        .doc("number of switches with accelerators; bigraph: of both sides together");
    count({"fat_tree"}, "spines", &Topo::spines)
        .required()
        .doc("number of switches of the upper level; each is linked to every lower switch");
    count({"dragonfly"}, "group_size", &Topo::group_size)
        .required()
        .doc("number of switches in one group");
    count({"dragonfly"}, "groups", &Topo::groups)
        .min(2)
        .required()
        .doc("number of groups of switches; each group is linked to every other group");
    add_cluster_keys();
    add_center_keys();
    only({"file", "anynet", "astra_network"}, group_.path("file", &Topo::file))
        .required()
        .doc(
            "file with the graph of nodes, switches and links (anynet: in BookSim's format; "
            "astra_network: ASTRA-sim's network.yml), relative to this file's folder");
    group_.only(table_.where_not_dimensional())
        .number(ValueType::part, "without", &Topo::without)
        .list(ListOf::any_number)
        .word("none")
        .optional()
        .exclusive()
        .doc(
            "nodes, switches and links that are broken: they are taken out of the network, and "
            "nodes behind a broken one get smaller numbers");
    add_external_keys();
  }

 private:
  KeyDraft only(const Names& types, KeyDraft draft) const {
    return draft.only(table_.where(kTypeKey, types)).exclusive();
  }
  KeyDraft count(const Names& types, const char* name, std::uint32_t Topo::*member) const {
    return only(types, group_.integer(name, member).range(1, kLargestCount));
  }
  // Adds latency and bandwidth of one kind of links.
  void links(const Names& types, const std::string& name, const std::string& where,
             std::uint64_t Topo::*latency, std::uint64_t Topo::*bandwidth) const {
    only(types, group_.time((name + ".latency").c_str(), latency))
        .word("link")
        .doc("latency of one direction, " + where + "; link: system.link.latency");
    only(types, group_.rate((name + ".bandwidth").c_str(), bandwidth))
        .word("link")
        .doc("bandwidth of one direction, " + where + "; link: system.link.bandwidth");
  }

  void add_cluster_keys() const {
    const Names cluster{"gpu_cluster"};
    count(cluster, "servers", &Topo::servers)
        .required()
        .doc("number of servers; each has a switch between its GPUs");
    count(cluster, "gpus_per_server", &Topo::gpus_per_server)
        .required()
        .doc("number of accelerators in a server");
    count(cluster, "gpus_per_nic_group", &Topo::gpus_per_nic_group)
        .doc(
            "number of neighbouring GPUs of a server that share NICs; a divisor of "
            "gpus_per_server");
    count(cluster, "nics_per_group", &Topo::nics_per_group)
        .doc(
            "number of NICs of a group; each NIC is linked to the group's GPUs and to the fabric; "
            "a single server has no NICs");
    links(cluster, "nic_link", "between GPU and NIC and between NIC and fabric",
          &Topo::nic_link_latency_ps, &Topo::nic_link_bytes_per_second);
  }

  void add_center_keys() const {
    const Names center{"data_center"};
    count(center, "pods", &Topo::pods)
        .doc(
            "number of pods, which are groups of racks with core switches between them; a single "
            "pod has no core switch");
    count(center, "racks_per_pod", &Topo::racks_per_pod)
        .required()
        .doc("number of racks in a pod; each rack has a top-of-rack switch (ToR)");
    count(center, "hosts_per_rack", &Topo::hosts_per_rack)
        .required()
        .doc("number of hosts in a rack; a host has a node or belongs to another tenant");
    count(center, "rack_uplinks", &Topo::rack_uplinks)
        .required()
        .doc(
            "number of links from a ToR to the aggregation switches of its pod, to each switch in "
            "turn");
    count(center, "aggregations_per_pod", &Topo::aggregations_per_pod)
        .doc("number of aggregation switches in a pod; a divisor of rack_uplinks");
    count(center, "aggregation_uplinks", &Topo::aggregation_uplinks)
        .doc("number of links from an aggregation switch to core switches, to each switch in turn");
    count(center, "cores", &Topo::cores)
        .doc("number of core switches between pods; at most the number of uplinks of a pod");
    links(center, "aggregation_link", "between ToR and aggregation switch",
          &Topo::aggregation_link_latency_ps, &Topo::aggregation_link_bytes_per_second);
    links(center, "core_link", "between aggregation switch and core", &Topo::core_link_latency_ps,
          &Topo::core_link_bytes_per_second);
    only(center, group_.choice("placement", &Topo::placement))
        .doc(
            "placement of nodes on hosts; packed: rack after rack is filled; spread: node i is in "
            "rack i mod racks; random: nodes are on random hosts, as with a cloud provider");
    only(center, group_.integer("placement_seed", &Topo::placement_seed))
        .doc("seed of a random placement");
    only(center, group_.integer("ecmp_seed", &Topo::ecmp_seed))
        .doc("seed of the hash by which switches choose among equal paths");
  }

  void add_external_keys() const {
    using External = ExternalConfig;
    const auto external = table_
                              .group("system.topology.external", &RunPoint::system,
                                     &SystemConfig::topology, &Topo::external)
                              .only(table_.where_not_dimensional());
    const auto add = [&](const char* name, std::vector<std::string> External::*member) {
      return external.number(ValueType::vertex, name, member)
          .list(ListOf::any_number)
          .word("none")
          .optional()
          .exclusive();
    };
    add("routers", &External::routers)
        .doc(
            "vertices whose routers are SystemC modules of a program that links the library, "
            "behind signals for flits and credits");
    add("nis", &External::nis)
        .doc("nodes whose network interfaces are such modules; their routers are built in");
  }

  KeyTable& table_;
  KeyGroup<Topo> group_;
};

void add_dimension_keys(KeyTable& table) {
  using Dims = DimensionsConfig;
  const auto any = table.group("system.dimensions", &RunPoint::system, &SystemConfig::dimensions)
                       .only(table.where_dimensional());
  // Only in our own files; a file of another tool has its own form.
  const auto written =
      table.group("system.dimensions", &RunPoint::system, &SystemConfig::dimensions)
          .only(table.where(kTypeKey, {"dimensions"}));
  written.choice("shape", &Dims::shape)
      .list(ListOf::per_dimension)
      .required()
      .doc("shape of the network among the NPUs that differ only in this dimension");
  written.integer("size", &Dims::size)
      .list(ListOf::per_dimension)
      .range(2, kLargestCount)
      .required()
      .doc("number of NPUs along this dimension");
  written.integer("links", &Dims::links)
      .list(ListOf::per_dimension)
      .range(1, 4096)
      .word("auto")
      .doc(
          "number of links that leave an NPU; auto: 2 on a ring, size - 1 where fully_connected, 1 "
          "on a switch");
  written.rate("bandwidth", &Dims::bytes_per_second)
      .list(ListOf::per_dimension)
      .required()
      .doc("bandwidth of one link in one direction");
  written.time("latency", &Dims::latency_ps)
      .list(ListOf::per_dimension)
      .required()
      .doc("latency of a minimal message from NPU to NPU, NIs and routers included");
  any.integer("flit_bytes", &Dims::flit_bytes)
      .list(ListOf::per_dimension)
      .range(1, kWidestFlit)
      .word("auto")
      .doc(
          "payload of one flit; auto: the narrowest flit with which a link carries at most one "
          "flit per cycle");
  any.integer("packet_flits", &Dims::packet_flits)
      .range(1, kMostPacketFlits - 1)
      .doc("payload of a packet, or of a sub-packet in message mode");
  any.integer("vc_depth_flits", &Dims::vc_depth_flits)
      .list(ListOf::per_dimension)
      .range(1, 1U << 20U)
      .word("auto")
      .doc("buffer of one VC; auto: the depth that covers the credit loop");
  any.choice("algorithm", &Dims::algorithm)
      .list(ListOf::per_dimension)
      .doc(
          "algorithm of a stage; auto: ring on a ring, direct where fully_connected, "
          "halving_doubling on a switch (direct where its size is not a power of two)");
  any.integer("switch_bytes_per_cycle", &Dims::switch_bytes_per_cycle)
      .range(1, 1U << 20U)
      .word("ni")
      .doc(
          "rate at which each port of a switch with in_network adds; ni: as "
          "ni.reduction.bytes_per_cycle says");
}

}  // namespace

void add_topology_keys(KeyTable& table) {
  TopologyKeys(table).add();
  add_dimension_keys(table);
}

}  // namespace espalier
