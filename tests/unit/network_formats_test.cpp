// Networks in the formats of other tools. The examples are written for these tests.
#include <catch2/catch.hpp>

#include "config_test_support.h"
#include "sims/formats/networks/network_formats.h"
#include "sims/text/foreign_formats.h"

namespace espalier {

using namespace config_test;

namespace {

struct ReadNetwork {
  std::optional<Topology> topology;
  std::string said;
};

ReadNetwork network_of(const std::string& text) {
  TopologyFileContext context;
  context.default_link = {150'000, 16'000'000'000};
  context.clock = ClockSpec{1'000'000'000, 512};
  Diagnostics diagnostics;
  // Readers go on after mistakes of other files.
  diagnostics.error({diagnostics.add_file("other", ""), 0, 0}, "a mistake of the configuration");
  ReadNetwork network;
  network.topology = read_network("net", text, context, diagnostics);
  network.said = diagnostics.text();
  CHECK(network.topology.has_value() == (diagnostics.num_errors() == 1));
  return network;
}

// "8 nodes, 6 switches, 96 links: " and the rates in GB/s of the links from vertex `from`, with
// the numbers of parallel links.
std::string drawn(const ReadNetwork& network, const std::string& from) {
  INFO(network.said);
  REQUIRE(network.topology);
  const Topology& topology = *network.topology;
  std::string text = fmt::format("{} nodes, {} switches, {} links:", topology.num_nodes(),
                                 topology.num_switches(), topology.num_links());
  const NodeId vertex = topology.find_vertex(from);
  REQUIRE(vertex.valid());
  for (const LinkId id : topology.out_links(vertex)) {
    const TopologyLink& link = topology.link(id);
    text += fmt::format(" {} {:g}", topology.vertex_name(link.to),
                        static_cast<double>(link.spec.bytes_per_second) / 1e9);
  }
  return text;
}

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

void expect_refused(const std::string& text, const std::string& place, const std::string& what) {
  const ReadNetwork network = network_of(text);
  INFO(network.said);
  CHECK_FALSE(network.topology);
  CHECK(contains(network.said, "net:" + place));
  CHECK(contains(network.said, what));
}

std::string gpu(int dev, const std::string& links, const std::string& attributes = "sm=\"90\"") {
  return fmt::format(
      "<pci busid=\"0000:0{0}:00.0\" class=\"0x030200\" link_speed=\"32.0 GT/s PCIe\" "
      "link_width=\"16\">0\n<gpu dev=\"{0}\" {1}>{2}</gpu></pci>\n",
      dev, attributes, links);
}

std::string server(const std::string& devices) {
  return "<!-- made up -->\n<system version=\"1\"><cpu numaid=\"0\" arch=\"x86_64\" "
         "vendor=\"GenuineIntel\" modelid=\"143\">\n" +
         devices +
         "<pci busid=\"0000:0a:00.0\" class=\"0x020700\" link_speed=\"\" link_width=\"0\"><nic>"
         "<net name=\"mlx5_0\" dev=\"0\" speed=\"200000\"/></nic></pci>\n</cpu></system>\n";
}

}  // namespace

TEST_CASE(
    "NVLinks of NCCL's topology are as fast as NCCL assumes, and a server's NICs are left out") {
  const std::string nvlinks =
      "<nvlink target=\"0000:c0:00.0\" count=\"2\" tclass=\"0x068000\"/>"
      "<nvlink target=\"0000:c1:00.0\" count=\"1\" tclass=\"0x068000\"/>";
  const ReadNetwork network = network_of(server(gpu(0, nvlinks) + gpu(1, nvlinks)));
  CHECK(drawn(network, "gpu_1") ==
        "2 nodes, 2 switches, 12 links: nvs_0000_c0_00_0 20.6 nvs_0000_c0_00_0 20.6 "
        "nvs_0000_c1_00_0 20.6");
  CHECK(contains(network.said, "NVLink 20.6 GB/s, from sm 90 for each of 6 links"));
  CHECK(contains(network.said, "system.link.latency, 150ns, for each of 6 links"));
  CHECK(contains(network.said, "PCIe and links of CPUs are left out"));
  CHECK(contains(network.said, "1 CPU, 1 NIC"));
}

TEST_CASE("Both GPUs of an xGMI link list it, and it is one link") {
  const std::string to = "<xgmi target=\"0000:0{}:00.0\" count=\"1\" tclass=\"0x120000\"/>";
  const std::string mi300 = "sm=\"304\" gcn=\"gfx942\"";
  const ReadNetwork network =
      network_of(server(gpu(0, fmt::format(to, 1), mi300) + gpu(1, fmt::format(to, 0), mi300)));
  CHECK(drawn(network, "gpu_0") == "2 nodes, 0 switches, 2 links: gpu_1 48");
  CHECK(contains(network.said, "xGMI 48 GB/s, from gcn gfx942 for each of 1 link;"));
}

TEST_CASE("GPUs without NVLinks in the file have PCIe, and the note says what to add") {
  const ReadNetwork network =
      network_of(server("<pci busid=\"1:0\" class=\"0x030200\" link_speed=\"16 GT/s\" "
                        "link_width=\"16\"/><pci busid=\"2:0\" class=\"0x030200\" "
                        "link_speed=\"8 GT/s\" link_width=\"8\"/>"));
  CHECK(drawn(network, "cpu_0") == "2 nodes, 1 switches, 4 links: gpu_0 24 gpu_1 6");
  CHECK(contains(network.said, "no nvlink or xgmi elements"));
  CHECK(contains(network.said, "NCCL_TOPO_DUMP_FILE"));
  const ReadNetwork own =
      network_of(server(gpu(0, "<nvlink target=\"0000:00:00.0\" count=\"12\"/>") + gpu(1, "")));
  CHECK(drawn(own, "gpu_0") == "2 nodes, 1 switches, 4 links: cpu_0 48");
  CHECK(contains(own.said, "1 nvlink or xgmi elements are left out"));
  expect_refused(server(gpu(0, "<nvlink target=\"x\" count=\"0\"/>") + gpu(1, "")),
                 "4:", "count: 0 is out of range");
  expect_refused(server(gpu(0, "") + gpu(0, "")), "5:", "the busid '0000:00:00.0' is given twice");
  expect_refused(server(gpu(0, "")), "1:1: error", "the file has 1 accelerator; a network has 2");
}

TEST_CASE("InfraGraph's NVLinks share the accelerator's rate, and ports are parts of cables") {
  const std::string host =
      "name: two servers\n"
      "devices:\n"
      "- name: host\n"
      "  components:\n"
      "  - {name: cpu, count: 1, choice: cpu}\n"
      "  - {name: xpu, count: 4, choice: xpu}\n"
      "  - {name: nvsw, count: 2, choice: switch}\n"
      "  - {name: nic, count: 2, choice: device}\n"
      "  links: [{name: nv, description: nvlink_3}, {name: pcie, description: PCI Express Gen 4 "
      "x16}]\n"
      "  edges:\n"
      "  - {ep1: {component: xpu}, ep2: {component: 'nvsw[0:2]'}, scheme: many2many, link: nv}\n"
      "  - {ep1: {component: 'cpu[0]'}, ep2: {component: xpu}, scheme: many2many, link: pcie}\n"
      "  - {ep1: {component: 'xpu[0:4:2]'}, ep2: {component: 'nic.asic[0]'}, scheme: one2one, "
      "link: pcie}\n"
      "- name: nic\n"
      "  components: [{name: asic, count: 1, choice: cpu}, {name: port, count: 2, choice: port}]\n"
      "  links: [{name: wire}]\n"
      "  edges: [{ep1: {component: asic}, ep2: {component: port}, scheme: many2many, link: wire}]\n"
      "links:\n"
      "- name: cable\n"
      "  physical:\n"
      "    bandwidth: {choice: gigabits_per_second, gigabits_per_second: 200}\n"
      "    latency: {choice: ns, ns: 600}\n"
      "instances: [{name: host, device: host, count: 2}]\n"
      "edges:\n"
      "- {ep1: {instance: 'host[0]', component: 'nic[0:2].port[0]'}, ep2: {instance: 'host[1]', "
      "component: 'nic.port[0]'}, scheme: one2one, link: cable}\n";
  const ReadNetwork network = network_of(host);
  // 12 links of 20 GB/s, shared by two edges.
  CHECK(
      drawn(network, "host_0_xpu_0") ==
      "8 nodes, 8 switches, 44 links: host_0_nvsw_0 120 host_0_nvsw_1 120 host_0_nic_0_asic_0 24");
  CHECK(drawn(network, "host_0_nic_1_asic_0") ==
        "8 nodes, 8 switches, 44 links: host_0_xpu_2 24 host_1_nic_1_asic_0 25");
  const Topology& topology = *network.topology;
  CHECK(topology.name() == "two servers");
  CHECK(topology
            .link(topology.link_between(topology.find_vertex("host_0_nic_1_asic_0"),
                                        topology.find_vertex("host_1_nic_1_asic_0")))
            .spec.latency_ps == 600'000);
  CHECK(
      contains(network.said, "NVLink 3: 12 links of 20 GB/s an accelerator for each of 16 links"));
  CHECK(contains(network.said, "links of CPUs are left out"));
  CHECK(contains(network.said, "2 cpu"));
  const auto changed = [&](const std::string& from, const std::string& to) {
    std::string text = host;
    return text.replace(text.find(from), from.size(), to);
  };
  expect_refused(changed("nvsw[0:2]", "nvsw[2]"), "11:", "'nvsw[2]' selects nothing of 2 parts");
  expect_refused(changed("link: nv}", "link: vn}"), "11:", "link 'vn' is not among the links");
  expect_refused(changed("many2many", "many"), "11:", "scheme 'many' is unknown");
  expect_refused(changed("component: 'nic.asic[0]'", "component: 'nic'"),
                 "13:", "an edge ends at one of its components");
  expect_refused(changed("  components: [{name: asic, count: 1, choice: cpu}, ",
                         "  components: [{name: nic, count: 60000, choice: device}, "),
                 "14:", "nested more than 8 deep");
  expect_refused("infrastructure:\n  devices: []\n", "1:1", "an older dialect of InfraGraph");
}

TEST_CASE("ns-3's topologies name their switches, with or without SimAI's header") {
  for (const char* header : {"5 2 4\n", "5 2 1 1 4 H100\n"}) {
    const ReadNetwork network = network_of(header + std::string("3 4\n"
                                                                "0 3 2880Gbps 0.000025ms 0\n"
                                                                "1 3 2880Gbps 0.000025ms 0\n"
                                                                "2 4 12.5Gbps 500ns 0.01\n"
                                                                "3 4 400Gbps 0.0005ms 0\n"));
    CHECK(drawn(network, "sw_3") == "3 nodes, 2 switches, 8 links: n_0 360 n_1 360 sw_4 50");
    CHECK(drawn(network, "n_2") == "3 nodes, 2 switches, 8 links: sw_4 1.5625");
    CHECK(contains(network.said, "error rates of 1 links are ignored"));
  }
  expect_refused("3 1 2\n2\n0 2 1Gbps 1us 0\n", "1:1", "promises 2 links, but 1 follow");
  expect_refused("3 1 1\n2\n0 7 1Gbps 1us 0\n", "3:3", "node: 7 is out of range");
  expect_refused("3 1 1\n2\n0 2 1Gbsp 1us 0\n9bps", "3:5", "1Gbsp");
  expect_refused("2 0 1\n0 1 0Gbps 1us 0\n", "2:5", "a link of 0Gb/s carries nothing");
}

TEST_CASE("htsim's fat trees have the radix of each tier, and each switch delays a packet once") {
  const std::string tree =
      "Nodes 8\nTiers 3\nPodsize 4\nTier 0\nDownlink_speed_Gbps 200\nRadix_Down 2\nRadix_Up 2\n"
      "Downlink_Latency_ns 1000\nSwitch_Latency_ns 300\nTier 1\nDownlink_speed_Gbps 200\n"
      "Radix_Down 2\nRadix_Up 4\nDownlink_Latency_ns 1000\nTier 2\nDownlink_speed_Gbps 100\n"
      "Radix_Down 4\nDownlink_Latency_ns 1000\nBundle 2\n";
  const ReadNetwork network = network_of(tree);
  CHECK(drawn(network, "core_0") ==
        "8 nodes, 12 switches, 64 links: agg_0 12.5 agg_0 12.5 agg_2 12.5 agg_2 12.5");
  CHECK(drawn(network, "n_5") == "8 nodes, 12 switches, 64 links: tor_2 25");
  const Topology& topology = *network.topology;
  const auto latency = [&](const char* from, const char* to) {
    return topology
               .link(topology.link_between(topology.find_vertex(from), topology.find_vertex(to)))
               .spec.latency_ps /
           1000;
  };
  CHECK(latency("n_0", "tor_0") == 1300);
  CHECK(latency("tor_0", "n_0") == 1000);
  CHECK(latency("agg_0", "tor_0") == 1300);
  expect_refused("Nodes 9\nTiers 2\nTier 0\nRadix_Down 2\nRadix_Up 2\nTier 1\n", "1:1",
                 "9 nodes in pods of 9 and racks of 2 leave a rest");
  expect_refused("Nodes 8\nTiers 2\nTier 0\nRadix_Down 2\nTier 1\n", "3:1",
                 "'radix_up' is missing");
}

TEST_CASE("Slurm's switches list hosts in ranges, and a host is an accelerator") {
  const ReadNetwork network = network_of(
      "# made up\nSwitchName=leaf0 Nodes=gpu[00-03],login LinkSpeed=100\n"
      "SwitchName=leaf1 \\\n  Nodes=gpu[04-05,7]\nswitchname=spine Switches=leaf[0-1]\n");
  CHECK(drawn(network, "leaf1") ==
        "8 nodes, 3 switches, 20 links: gpu04 16 gpu05 16 gpu7 16 spine 16");
  CHECK(contains(network.said, "each host is one accelerator; LinkSpeed is ignored"));
  expect_refused("SwitchName=a Nodes=n[3-1]\n", "1:14", "'n[3-1]' is no list of names");
  expect_refused("SwitchName=a Nodes=n[0-99999999]\n", "1:14", "is no list of names");
  expect_refused("SwitchName=a Hosts=n1\n", "1:14", "'Hosts=n1' is unknown");
  expect_refused("SwitchName=a Nodes=n1,n2\nSwitchName=b Nodes=m1,m2\n", "1:1: error",
                 "the network is not connected");
  // A switch that only joins itself is no dead end to leave out.
  expect_refused("SwitchName=a Switches=a\nSwitchName=b Nodes=n[1-2]\n", "1:14",
                 "a link joins 'a' to itself");
  expect_refused("BlockName=b1 Nodes=n[0-3]\n", "1:1", "blocks (BlockName) have no switches");
}

TEST_CASE("Tenstorrent's descriptors are a mesh or torus of chips with channels") {
  const std::string mesh =
      "# made up\nmesh_descriptors {\n  name: \"M0\"\n  arch: BLACKHOLE\n  device_topology { dims: "
      "[ 2, 3 ] dim_types: [ LINE, RING ] }\n  host_topology { dims: [ 1, 1 ] }\n  channels { "
      "count: 2 policy: STRICT }\n}\ntop_level_instance { mesh { mesh_descriptor: \"M0\" mesh_id: "
      "0 } }\n";
  const ReadNetwork network = network_of(mesh);
  CHECK(drawn(network, "n_0") ==
        "6 nodes, 0 switches, 36 links: n_1 50 n_1 50 n_2 50 n_2 50 n_3 50 n_3 50");
  CHECK(contains(network.said, "Ethernet 400 Gb/s, from arch blackhole for each of 18 links"));
  const ReadNetwork old = network_of(
      "ChipSpec: {arch: wormhole_b0, ethernet_ports: {N: 1, E: 1, S: 1, W: 1}}\n"
      "Board: [{name: B, type: Torus, topology: [1, 4]}]\n"
      "Mesh: [{id: 0, board: B, device_topology: [1, 4], host_topology: [1, 1]}]\nGraph: []\n");
  CHECK(drawn(old, "n_3") == "4 nodes, 0 switches, 8 links: n_2 12.5 n_0 12.5");
  std::string several = mesh;
  several.replace(several.find("mesh { mesh_d"), 6, "graph {");
  expect_refused(several, "9:22", "joins several meshes");
  expect_refused("mesh_descriptors {\n  name: \n", "2:7", "field 'name' has no value");
  expect_refused("mesh_descriptors { device_topology { dims: [ 999, 999 ] } }\n", "1:18",
                 "at most 65536 chips");
}

TEST_CASE("NetworkX's graphs give an edge's weight in GB/s in all their formats") {
  const std::string expected = "3 nodes, 0 switches, 4 links: n_0 25 n_2 16";
  CHECK(drawn(network_of("0 1 25\n1 2\n"), "n_1") == expected);
  CHECK(drawn(network_of("0 1 {'weight': 25, 'colour': 'red'}\n1 2 {}\n"), "n_1") == expected);
  CHECK(drawn(network_of("{\"directed\": false, \"multigraph\": false, \"graph\": {}, \"nodes\": "
                         "[{\"id\": 0}, {\"id\": 1}, {\"id\": 2}], \"links\": [{\"capacity\": 25, "
                         "\"source\": 0, \"target\": 1}, {\"source\": 1, \"target\": 2}]}"),
              "n_1") == expected);
  const ReadNetwork network = network_of(
      "<?xml version=\"1.0\"?>\n<graphml><key id=\"d0\" for=\"edge\" attr.name=\"weight\" "
      "attr.type=\"long\"/>\n<graph edgedefault=\"undirected\"><node id=\"0\"/><node id=\"1\"/>"
      "<node id=\"2\"/>\n<edge source=\"0\" target=\"1\"><data key=\"d0\">25</data></edge><edge "
      "source=\"1\" target=\"2\"/></graph></graphml>\n");
  CHECK(drawn(network, "n_1") == expected);
  CHECK(contains(network.said, "weight as GB/s for each of 1 link"));
  CHECK(contains(network.said, "each vertex is an accelerator"));
  expect_refused("0 1 25\n1 1 3\n", "2:1", "a link joins '1' to itself");
  expect_refused("0 1 25\n1 2 x\n", "2:5", "x");
  expect_refused("0 1 25\n2 3 25\n", "1:1: error", "the network is not connected");
  // Names that are one word after they are cleaned stay apart.
  CHECK(drawn(network_of("a.b a-b {}\na-b a_b_1 {}\n"), "a_b") ==
        "3 nodes, 0 switches, 4 links: a_b_1 16");
}

TEST_CASE("Files of other tools that no command reads are refused by name") {
  const std::vector<std::pair<std::string, std::string>> files{
      {"\x1f\x8b\x08", "compressed"},
      {std::string("PK\3\4") + "weights.npy", "NumPy arrays"},
      {"PK\3\4x", "zip archive"},
      {"\x93NUMPY\x01", "NumPy array"},
      {"\x80\x04\x95", "pickle"},
      {"\x07\x0a\x05"
       "0.0.4\x02\x08\x01",
       "Chakra"},
      {"\x08\x12\x06\x0a\x04schema", "Chakra"},
      {"$date today $end", "VCD"},
      {std::string("\0\0\0\0\0\0\0\1\x49", 9), "FST"},
      {"\x08\x07\x12\x04onnx", "ONNX"},
      {"{\"traceEvents\": []}", "Kineto"},
      {"{\"schema\": \"1.0.1\", \"pid\": 3, \"nodes\": []}", "PyTorch"},
      {"{\"all-reduce-implementation\": [\"ring\"]}", "ASTRA-sim's algorithms"},
      {"<graphs version=\"1\"/>", "NCCL's rings"},
      {"[rank0]\ncomm_type,comm_group,comm_group_size\n", "AICB"},
      {"MODEL\t\t\r\n6\r\n", "ASTRA-sim or SimAI"},
      {"HYBRID_TRANSFORMER_FWD_IN_BCKWD model_parallel_NPU_group: 8\n", "SimAI"},
      {"topology = mesh;\nk = 8;\nnum_vcs = 8;\n", "BookSim"},
      {"[root]\ntype=Root\n", "gem5"},
      {"\xff\xfeg", "UTF-16"},
      {"strict digraph {a -> b}\n", "Graphviz"},
      {"graph [\n  node [\n    id 0\n", "GML"},
      {"<topology version=\"2.0\">\n<object type=\"Machine\">\n", "hwloc"},
      {"\x7f"
       "ELF\x02",
       "is a program, an archive"},
      {"\x89PNG\r\n", "or a picture"}};
  for (const auto& [text, name] : files) {
    INFO(name);
    CHECK(contains(foreign_format(text), name));
  }
  for (const char* own :
       {"", "system: {topology: {type: torus, dims: [8, 8]}}\n",
        "{\"format\": \"espalier-schedule\"}", "a,b\n1,2\n", "0 1 25\n",
        "ab,schema\n1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24,25,26,"
        "27,28,29,30,31,32,33,34,35,36,37,38,39,40,41,42,43,44,45,46,47,48,49,50\n"}) {
    INFO(own);
    CHECK(foreign_format(own).empty());
  }
  const TemporaryFolder folder("foreign");
  folder.write("trace.et", files[5].first);
  const std::string config =
      folder.write("config.yaml",
                   "system: {topology: {type: file, file: trace.et}}\ncollective: {size: 1KiB}\n");
  CHECK(contains(read_run_config(config).diagnostics,
                 "'" + folder.path() + "/trace.et' is a Chakra execution trace"));
  CHECK(contains(read_run_config(folder.path() + "/trace.et").diagnostics,
                 "the file is a Chakra execution trace"));
}

TEST_CASE("type: file reads every format, and a network's file stands for a configuration") {
  const TemporaryFolder folder("formats");
  folder.write("network.yml",
               "topology: [ Ring ]\nnpus_count: [ 4 ]\nbandwidth: [ 50 ]\nlatency: [ 500 ]\n");
  folder.write("net.anynet", "router 0 node 0 node 1\n");
  const std::string ns3 =
      folder.write("a.topo", "3 1 2\n2\n0 2 2880Gbps 25ns 0\n1 2 4Gbps 25ns 0\n");
  const auto read = [&](const std::string& file) {
    return read_run_config(folder.write(
        "config.yaml",
        "system: {topology: {type: file, file: " + file + "}}\ncollective: {size: 1KiB}\n"));
  };
  CHECK(read("network.yml").topology->name() == "1D-ring 4");
  CHECK(read("net.anynet").topology->num_switches() == 1);
  // Where a program is expected, a network is named, and the other way round.
  folder.write("net.xml", server(gpu(0, "") + gpu(1, "")));
  folder.write("ring.xml", "<algo name=\"ring\"/>");
  CHECK(contains(read("ring.xml").diagnostics, "ring.xml:1:1: error: this is a program of MSCCL"));
  const std::string program =
      folder.write("program.yaml",
                   "system: {topology: {type: file, file: net.xml}}\n"
                   "collective: {algorithm: program, program: {file: net.xml}, size: 1KiB}\n");
  CHECK(contains(read_run_config(program).diagnostics, "this is a topology of NCCL"));
  // A flit of 512 B needs a payload of at least as many; both follow the fastest link.
  const ConfigResult result = read_comparison(ns3, {"collective.size=1KiB"}, {});
  INFO(result.diagnostics);
  REQUIRE(result.ok);
  CHECK(result.points.front().system.clock.flit_bytes == 512);
  CHECK(result.points.front().system.flow_control.payload_bytes == 512);
}

}  // namespace espalier
