// Configurations that are right: what they become.
#include <algorithm>
#include <catch2/catch.hpp>
#include <set>

#include "config_test_support.h"
#include "sims/config/keys.h"
#include "sims/config/presets.h"
#include "sims/point/enum_names.h"
#include "sims/point/fidelity.h"

namespace espalier {

using namespace config_test;
using Catch::Matchers::Contains;

TEST_CASE("The shortest configuration gets Table III's defaults") {
  const RunPoint point = only_point(kGoodSystem + kGoodCollective);
  CHECK(point.system.topology.family().name == "torus");
  CHECK(point.system.topology.numbers("dims") == std::vector<std::uint64_t>{4, 4});
  CHECK(point.system.link.latency_ps == 150'000);
  CHECK(point.system.link.bytes_per_second == 16'000'000'000);
  CHECK(point.system.clock.hertz == 1'000'000'000);
  CHECK(point.system.clock.flit_bytes == 16);
  CHECK(point.system.router.vcs == 4);
  // Table III's 318 flits are for a pipeline of 2 cycles.
  CHECK(point.system.router.pipeline_cycles == 3);
  CHECK(point.system.router.vc_depth_flits == 319);
  CHECK(point.system.ni.reduction.latency_cycles == 4);
  const RunPoint papers = only_point(kGoodSystem + kGoodCollective, {"system.preset=papers"});
  CHECK(papers.system.router.pipeline_cycles == 2);
  CHECK(papers.system.router.vc_depth_flits == 318);
  CHECK(papers.system.ni.reduction.latency_cycles == 1);
  REQUIRE(point.collective);
  CHECK_FALSE(point.traffic);
  CHECK(point.collective->op == CollectiveOp::all_reduce);
  CHECK(point.collective->algorithm == "multitree");
  CHECK(point.collective->size == 16 * 1024 * 1024);
  CHECK(point.collective->element_bytes == 4);
}

TEST_CASE("Settings of algorithms that do not run have no effect, and a warning says so") {
  const auto warnings = [](const std::string& collective) {
    const ConfigResult result = read_run_config_text(
        "c.yaml", kGoodSystem + "collective: {size: 1MiB, " + collective + "}\n");
    CHECK(result.ok);
    return result.diagnostics;
  };
  CHECK(warnings("algorithm: dbtree, segments: 7") == "");
  CHECK(warnings("algorithm: [ring, multitree_translated], segments: 7") == "");
  CHECK(warnings("algorithm: [ring, multitree], tree_order: remaining_height") == "");
  CHECK_THAT(
      warnings("algorithm: multitree, segments: 7"),
      Contains("collective.segments has no effect: it is used only where "
               "collective.algorithm is a2a_paths or bidirectional_ring or chain or dbtree or "
               "forest or line or multitree_translated or rs_window_ag or window"));
  CHECK_THAT(warnings("op: all_to_all, algorithm: multitree_translated, segments: 7"),
             Contains("collective.segments has no effect"));
  CHECK_THAT(warnings("algorithm: ring, tree_order: remaining_height"),
             Contains("collective.tree_order has no effect"));
}

TEST_CASE("Every key of a file reaches its struct") {
  const RunPoint point = only_point(R"(
system:
  topology: {type: mesh, dims: [3, 4, 2]}
  link: {latency: 0.1us, bandwidth: 64Gb/s, credit_latency: 50ns}
  router:
    clock: 2GHz
    vcs: 3
    vc_depth_flits: 999
    flit_bytes: 32
    pipeline_cycles: 5
    switching: wormhole
    hold: flit
    crossbar_inputs: vc
  flow_control: {mode: message, payload_bytes: 512, sub_message_bytes: 8192}
  ni:
    lockstep: drain
    ports: 6
    buffer_flits: 77
    table_entries: 300
    send_queue: 9
    dma: {latency_cycles: 11, bandwidth: 64GB/s}
    injection_cycles: 12
    ejection_cycles: 13
    delivery_cycles: 14
    turnaround_cycles: 0
    reduction: {mode: after_message, latency_cycles: 15, bytes_per_cycle: 128, block_bytes: 2048}
collective: {op: all_gather, algorithm: multitree, size: 3MB, element: 8B, tree_order: remaining_height}
simulation:
  fidelity: cycle
  check: false
  always_clocked: true
  monitors: true
  stall_probability: 0.125
  seed: 18446744073709551615
  watchdog_cycles: 5000
)");
  const SystemConfig& system = point.system;
  CHECK(system.topology.family().name == "mesh");
  CHECK(system.topology.numbers("dims") == std::vector<std::uint64_t>{3, 4, 2});
  CHECK(system.link.latency_ps == 100'000);
  CHECK(system.link.bytes_per_second == 8'000'000'000);
  CHECK(system.credit_latency_cycles == 100);
  CHECK(system.clock.hertz == 2'000'000'000);
  CHECK(system.clock.flit_bytes == 32);
  CHECK(system.router.vcs == 3);
  CHECK(system.router.vc_depth_flits == 999);
  CHECK(system.router.pipeline_cycles == 5);
  CHECK(system.router.switching == Switching::wormhole);
  CHECK(system.router.hold == SwitchHold::flit);
  CHECK(system.router.crossbar_inputs == CrossbarInputs::vc);
  CHECK(system.flow_control.mode == FlowControlMode::message);
  CHECK(system.flow_control.payload_bytes == 512);
  CHECK(system.flow_control.sub_message_bytes == 8192);
  CHECK(system.ni.lockstep == LockstepMode::drain);
  CHECK(system.ni.ports == 6);
  CHECK(system.ni.buffer_flits == 77);
  CHECK(system.ni.table_entries == 300);
  CHECK(system.ni.send_queue == 9);
  CHECK(system.ni.dma_latency_cycles == 11);
  CHECK(system.ni.dma_bytes_per_cycle == 32);
  CHECK(system.ni.injection_cycles == 12);
  CHECK(system.ni.ejection_cycles == 13);
  CHECK(system.ni.delivery_cycles == 14);
  CHECK(system.ni.turnaround_cycles == 0);
  CHECK(system.ni.reduction.mode == ReductionMode::after_message);
  CHECK(system.ni.reduction.latency_cycles == 15);
  CHECK(system.ni.reduction.bytes_per_cycle == 128);
  CHECK(system.ni.reduction.block_bytes == 2048);
  REQUIRE(point.collective);
  CHECK(point.collective->op == CollectiveOp::all_gather);
  CHECK(point.collective->size == 3'000'000);
  CHECK(point.collective->element_bytes == 8);
  CHECK(point.collective->remaining_height_first);
  CHECK_FALSE(point.simulation.check);
  CHECK(point.simulation.always_clocked);
  CHECK(point.simulation.monitors);
  CHECK(point.simulation.stall_probability == 0.125);
  CHECK(point.simulation.seed == 18446744073709551615ULL);
  CHECK(point.simulation.watchdog_cycles == 5000);
}

TEST_CASE("Every type of network is built as its keys say") {
  const auto build = [](const std::string& topology) {
    const std::string text = "system: {topology: {" + topology + "}}\ntraffic: {}\n";
    const ConfigResult result = read_run_config_text("net.yaml", text);
    INFO(text);
    INFO(result.diagnostics);
    REQUIRE(result.ok);
    CHECK(result.diagnostics.empty());
    return result.topology;
  };
  CHECK(build("type: fully_connected, nodes: 5")->name() == "fully_connected 5");
  CHECK(build("type: switch, nodes: 6")->name() == "switch 6");
  CHECK(build("type: dgx2, nodes_per_switch: 8")->name() == "dgx2 8x2");
  const auto fat_tree = build("type: fat_tree, nodes_per_switch: 4, switches: 3, spines: 2");
  CHECK(fat_tree->name() == "fat_tree 4x3x2");
  CHECK(fat_tree->num_nodes() == 12);
  CHECK(fat_tree->num_switches() == 5);
  CHECK(build("type: bigraph, nodes_per_switch: 4, switches: 8")->name() == "bigraph 4x8");
  const auto dragonfly = build("type: dragonfly, nodes_per_switch: 2, group_size: 4, groups: 9");
  CHECK(dragonfly->name() == "dragonfly 2x4x9");
  CHECK(dragonfly->num_nodes() == 72);
  CHECK(dragonfly->link(LinkId(0)).spec.latency_ps == 150'000);
  CHECK(build("type: gpu_cluster, servers: 1, gpus_per_server: 8")->name() == "gpu_cluster 1x8");
  CHECK(build("type: gpu_cluster, servers: 2, gpus_per_server: 8, gpus_per_nic_group: 2")->name() ==
        "gpu_cluster 2x8x4");
}

TEST_CASE("A GPU cluster's NIC links are as system.link unless they have numbers of their own") {
  const auto links_of = [](const std::string& nic) {
    const std::string text =
        "system:\n  topology: {type: gpu_cluster, servers: 2, gpus_per_server: 4" + nic +
        "}\n  link: {latency: 20ns, bandwidth: 8GB/s}\ntraffic: {}\n";
    const ConfigResult result = read_run_config_text("net.yaml", text);
    INFO(result.diagnostics);
    REQUIRE(result.ok);
    CHECK(result.diagnostics.empty());
    const Topology& topology = *result.topology;
    return std::pair(
        topology.link(topology.link_between(NodeId(0), topology.find_vertex("nvs_0"))).spec,
        topology
            .link(topology.link_between(topology.find_vertex("nic_0"), topology.find_vertex("ib")))
            .spec);
  };
  const LinkSpec link{20'000, 8'000'000'000};
  CHECK(links_of("") == std::pair(link, link));
  CHECK(links_of(", nic_link: {bandwidth: 2GB/s}") ==
        std::pair(link, LinkSpec{20'000, 2'000'000'000}));
  CHECK(links_of(", gpus_per_nic_group: 2, nics_per_group: 3, nic_link: {latency: 40ns}") ==
        std::pair(link, LinkSpec{40'000, 8'000'000'000}));
}

TEST_CASE("Traffic asks a dragonfly of several switches per group for two VCs, a BiGraph for one") {
  const auto ok = [](const std::string& topology, const char* more) {
    const std::string text =
        "system: {topology: {" + topology + "}, router: {" + more + "}}\ntraffic: {}\n";
    return read_run_config_text("net.yaml", text).ok;
  };
  CHECK(ok("type: bigraph, nodes_per_switch: 2, switches: 4", "vcs: 1"));
  CHECK(ok("type: bigraph, nodes_per_switch: 2, switches: 4", "switching: wormhole"));
  CHECK(ok("type: dragonfly, nodes_per_switch: 2, group_size: 2, groups: 3", "vcs: 2"));
  CHECK_FALSE(ok("type: dragonfly, nodes_per_switch: 2, group_size: 2, groups: 3", "vcs: 1"));
  CHECK(ok("type: dragonfly, nodes_per_switch: 2, group_size: 1, groups: 3", "vcs: 1"));
}

TEST_CASE("Every traffic key reaches its struct, and an empty section is a workload too") {
  const RunPoint point =
      only_point(kGoodSystem +
                 "traffic: {pattern: bit_complement, injection_rate: 0.35, message: 1KiB,\n"
                 "          measure_cycles: 777, seed: 0}\n");
  CHECK_FALSE(point.collective);
  REQUIRE(point.traffic);
  CHECK(point.traffic->pattern == TrafficPattern::bit_complement);
  CHECK(point.traffic->injection_rate == 0.35);
  CHECK(point.traffic->message_bytes == 1024);
  CHECK(point.traffic->measure_cycles == 777);
  CHECK(point.traffic->seed == 0);
  CHECK(only_point(kGoodSystem + "traffic: {}\n").traffic.has_value());
}

TEST_CASE("A file's messages reach the structs, relative to the configuration's folder") {
  const TemporaryFolder folder("messages");
  folder.write("messages.csv", "ready,from,to,bytes\n7,0,3,100\n");
  const std::string config =
      folder.write("run.yaml", kGoodSystem + "traffic: {pattern: file, file: messages.csv}\n");
  const ConfigResult result =
      read_run_config(config, {"system.flow_control.mode=[packet, message]"});
  INFO(result.diagnostics);
  REQUIRE(result.ok);
  CHECK(result.num_warnings == 0);
  REQUIRE(result.points.size() == 2);
  for (const RunPoint& point : result.points) {
    REQUIRE(point.traffic->messages.size() == 1);
    CHECK(point.traffic->messages[0].ready == 7);
    CHECK(point.traffic->file == "messages.csv");
    CHECK(point.traffic->folder == folder.path());
  }
}

TEST_CASE("Keys of drawn traffic have no effect on listed messages") {
  const TemporaryFolder folder("messages_and_seed");
  folder.write("messages.csv", "ready,from,to,bytes\n7,0,3,100\n");
  const std::string config = folder.write(
      "run.yaml", kGoodSystem + "traffic: {pattern: file, file: messages.csv, seed: 3}\n");
  const ConfigResult result = read_run_config(config);
  CHECK(result.ok);
  const auto all = parse_diagnostics(result.diagnostics);
  REQUIRE(all.size() == 1);
  CHECK(all[0].message ==
        "traffic.seed has no effect: it is used only where traffic.pattern is not file or "
        "sockets");
}

TEST_CASE("The fidelity is train where that is exact, unless cycle is asked for") {
  const auto with = [](const std::string& simulation, const std::string& router) {
    return only_point(kGoodSystem + kGoodCollective,
                      {"simulation.fidelity=" + simulation, "system.router.hold=" + router});
  };
  CHECK(only_point(kGoodSystem + kGoodCollective).simulation.fidelity == Fidelity::automatic);
  CHECK(chosen_fidelity(with("auto", "packet")) == Fidelity::train);
  CHECK(chosen_fidelity(with("train", "packet")) == Fidelity::train);
  CHECK(chosen_fidelity(with("cycle", "packet")) == Fidelity::cycle);
  CHECK(chosen_fidelity(with("auto", "flit")) == Fidelity::cycle);
  CHECK(train_obstacle(with("auto", "packet")).empty());
  CHECK(train_obstacle(with("auto", "flit")).find("system.router.hold: flit") == 0);
}

TEST_CASE("Words such as auto are stored as zero in the structs") {
  const RunPoint point = only_point(R"(
system:
  topology: {type: torus, dims: [4, 4]}
  link: {credit_latency: link}
  ni: {ports: auto, table_entries: auto, dma: {bandwidth: ports}, reduction: {bytes_per_cycle: port}}
collective: {algorithm: ring, size: 1MiB}
)");
  CHECK(point.system.credit_latency_cycles == 0);
  CHECK(point.system.ni.ports == 0);
  CHECK(point.system.ni.table_entries == 0);
  CHECK(point.system.ni.dma_bytes_per_cycle == 0);
  CHECK(point.system.ni.reduction.bytes_per_cycle == 0);
}

TEST_CASE("A lockstep mode called off is a name, not a boolean") {
  const RunPoint point = only_point(
      "system: {topology: {type: torus, dims: [4, 4]}, ni: {lockstep: off}}\n" + kGoodCollective);
  CHECK(point.system.ni.lockstep == LockstepMode::off);
}

TEST_CASE(
    "A byte order mark, Windows line ends, quotes, comments and tabs between words are harmless") {
  const RunPoint point = only_point(
      "\xef\xbb\xbfsystem: {topology: {type: 'torus',\tdims: [4,\t4]}}\t# tab\r\n"
      "\t\r\n"
      "collective: {algorithm: \"ring\", \"size\": \"1MiB\"}\r\n");
  CHECK(point.collective->algorithm == "ring");
  CHECK(point.collective->size == 1024 * 1024);
}

TEST_CASE("Lists run the cross product, algorithms outermost and sizes innermost, in file order") {
  const ConfigResult result = read_run_config_text("lists.yaml", R"(
system:
  topology: {type: torus, dims: [4, 4]}
  flow_control: {mode: [packet, message]}
  ni: {lockstep: [full, off]}
collective: {op: [all_gather, all_reduce], algorithm: [ring, multitree], size: [2MiB, 1MiB]}
)");
  INFO(result.diagnostics);
  REQUIRE(result.ok);
  REQUIRE(result.points.size() == 32);
  std::vector<std::string> order;
  for (const RunPoint& point : result.points) {
    order.push_back(point.collective->algorithm + " " + name_of(point.system.flow_control.mode) +
                    " " + name_of(point.system.ni.lockstep) + " " + name_of(point.collective->op) +
                    " " + std::to_string(point.collective->size));
  }
  std::vector<std::string> expected;
  for (const char* algorithm : {"ring", "multitree"}) {
    for (const char* mode : {"packet", "message"}) {
      for (const char* lockstep : {"full", "off"}) {
        for (const char* op : {"all_gather", "all_reduce"}) {
          for (const char* size : {"2097152", "1048576"}) {
            expected.push_back(std::string(algorithm) + " " + mode + " " + lockstep + " " + op +
                               " " + size);
          }
        }
      }
    }
  }
  CHECK(order == expected);
  REQUIRE(result.topology != nullptr);
  CHECK(result.topology->num_nodes() == 16);
}

TEST_CASE("A key that means nothing in a mode keeps its default in that mode's points") {
  const ConfigResult result = read_run_config_text("modes.yaml", R"(
system:
  topology: {type: torus, dims: [4, 4]}
  flow_control: {mode: [message, packet], sub_message_bytes: 8192, pad_last_packet: true}
collective: {algorithm: ring, size: 1MiB}
)");
  INFO(result.diagnostics);
  REQUIRE(result.ok);
  CHECK(result.num_warnings == 0);
  REQUIRE(result.points.size() == 2);
  const FlowControlConfig& message = result.points[0].system.flow_control;
  const FlowControlConfig& packet = result.points[1].system.flow_control;
  CHECK(message.sub_message_bytes == 8192);
  CHECK_FALSE(message.pad_last_packet);
  CHECK(packet.sub_message_bytes == FlowControlConfig{}.sub_message_bytes);
  CHECK(packet.pad_last_packet);
}

TEST_CASE("A preset fills what the file leaves out and explicit keys win") {
  const auto with_preset = [](const std::string& more) {
    return only_point("system:\n  preset: isca21\n  topology: {type: torus, dims: [4, 4]}\n" +
                      more + "  flow_control: {mode: packet}\n" + kGoodCollective);
  };
  const RunPoint point = with_preset("");
  CHECK(point.system.flow_control.pad_last_packet);
  CHECK(point.system.flow_control.payload_bytes == 256);
  CHECK(point.system.ni.reduction.mode == ReductionMode::after_message);
  CHECK(point.system.ni.reduction.bytes_per_cycle == 128);
  CHECK(point.system.ni.reduction.block_bytes == 2048);
  CHECK(point.system.ni.reduction.latency_cycles == 1);
  CHECK(point.system.router.vc_depth_flits == 318);
  const RunPoint changed = with_preset("  ni: {reduction: {bytes_per_cycle: port}}\n");
  CHECK(changed.system.ni.reduction.bytes_per_cycle == 0);
  CHECK(changed.system.ni.reduction.block_bytes == 2048);
}

TEST_CASE("Every preset gives a system without a warning") {
  std::set<std::string> names;
  for (const Preset& preset : presets()) {
    INFO(preset.name);
    CHECK(names.insert(preset.name).second);
    CHECK_FALSE(preset.description.empty());
    const auto& settings = preset.settings;
    const auto type = settings.find("system.topology.type");
    std::string file = kGoodSystem + kGoodCollective;
    if (type != settings.end()) {
      file = type->second.text == "dimensions" ? "collective: {algorithm: themis, size: 1MiB}\n"
             : preset.nccl                     ? "collective: {algorithm: nccl, size: 1MiB}\n"
                                               : "collective: {algorithm: nccl_ring, size: 1MiB}\n";
    }
    const ConfigResult result =
        read_run_config_text("preset.yaml", file, "", {"system.preset=" + preset.name});
    INFO(result.diagnostics);
    CHECK(result.ok);
    CHECK(result.num_warnings == 0);
    for (const auto& [name, value] : preset.settings) {
      INFO(name);
      CHECK(find_key(name) != nullptr);
    }
  }
}

TEST_CASE("The registry of keys is well formed") {
  std::set<std::string> seen;
  for (const Key& key : keys()) {
    INFO(key.name);
    CHECK(seen.insert(key.name).second);
    CHECK_FALSE(key.description.empty());
    CHECK(find_key(key.name) == &key);
    // A condition may only look at keys that have been set before, and at what sections there are.
    for (const KeyCondition& condition : key.conditions) {
      CHECK((is_section(condition.on) || seen.count(condition.on) == 1));
    }
    // Names are what the reader takes apart at the dots.
    CHECK_FALSE(is_section(key.name));
  }
  CHECK(names_in_section("system.link") ==
        std::vector<std::string>{"latency", "bandwidth", "credit_latency"});
}

TEST_CASE("Defaults lie within their own ranges") {
  RunPoint defaults;
  for (const Section& section : optional_sections()) section.add_to(defaults);
  for (const Key& key : keys()) {
    // A file that is not named, and a label that is not written, are empty.
    const bool may_be_empty =
        key.shape.type == ValueType::text || key.shape.type == ValueType::label;
    if (key.required || may_be_empty) continue;
    INFO(key.name);
    Diagnostics diagnostics;
    const std::string text = format_value(key.get(defaults), key.shape);
    ConfigNode node;
    node.kind = ConfigNode::Kind::scalar;
    node.place = {diagnostics.add_file("defaults", text), 1, 1};
    node.text = text;
    const auto value = parse_value(node, key.name, key.shape, diagnostics);
    INFO(diagnostics.text());
    REQUIRE(value);
    CHECK(*value == key.get(defaults));
  }
}

TEST_CASE("A word of the configuration is its enumerator's name, or stands in enum_names.h") {
  using Words = std::vector<std::string>;
  CHECK(all_names<LockstepMode>() == Words{"off", "estimate", "drain", "full", "nop"});
  CHECK(all_names<InjectionVcs>() == Words{"auto", "one", "all"});
  CHECK(all_names<Routing>() ==
        Words{"auto", "dimension_order", "up_down", "shortest", "ecmp", "split", "file"});
  CHECK(all_names<DimensionShape>() == Words{"ring", "fully_connected", "switch"});
  CHECK(all_names<ProtocolChoice>() == Words{"auto", "Simple", "LL", "LL128", "Message"});
}

TEST_CASE("Names of choices follow their enumerators") {
  CHECK(std::string(name_of(FlowControlMode::packet)) == "packet");
  CHECK(std::string(name_of(Switching::wormhole)) == "wormhole");
  CHECK(std::string(name_of(SwitchHold::flit)) == "flit");
  CHECK(std::string(name_of(CrossbarInputs::vc)) == "vc");
  CHECK(std::string(name_of(LockstepMode::estimate)) == "estimate");
  CHECK(std::string(name_of(LockstepMode::drain)) == "drain");
  CHECK(std::string(name_of(LockstepMode::full)) == "full");
  CHECK(std::string(name_of(ReductionMode::after_message)) == "after_message");
  CHECK(std::string(name_of(TrafficPattern::neighbor)) == "neighbor");
  CHECK(std::string(name_of(TrafficPattern::transpose)) == "transpose");
  CHECK(std::string(name_of(TrafficPattern::bit_complement)) == "bit_complement");
  CHECK(std::string(name_of(TrafficPattern::file)) == "file");
  CHECK(std::string(name_of(Fidelity::automatic)) == "auto");
  CHECK(std::string(name_of(Fidelity::train)) == "train");
  CHECK(std::string(name_of(Fidelity::cycle)) == "cycle");
  for (const auto op :
       {CollectiveOp::all_reduce, CollectiveOp::reduce_scatter, CollectiveOp::all_gather}) {
    CHECK(std::string(name_of(op)) == to_string(op));
  }
}

TEST_CASE("The schema names every key with its range and default") {
  const std::string schema = schema_text();
  CHECK(schema.find("    vcs: integer, 1 to 32; default 4\n") != std::string::npos);
  CHECK(schema.find("    latency: time, 1ps to 1s; default 150ns\n") != std::string::npos);
  CHECK(schema.find(
            "  lockstep: one of off, estimate, drain, full, nop; default estimate; or a list\n") !=
        std::string::npos);
  CHECK(
      schema.find("only where system.flow_control.mode is message, and system.topology.type is not "
                  "dimensions or astra_network\n") != std::string::npos);
  for (const Key& key : keys()) {
    INFO(key.name);
    CHECK(schema.find(key.name.substr(key.name.rfind('.') + 1) + ": " + describe(key.shape)) !=
          std::string::npos);
    CHECK(schema.find(key.description + "\n") != std::string::npos);
  }
}

TEST_CASE("Reading the same text twice gives the same result") {
  const std::string text = kGoodSystem + "collective: {algorithm: nope, size: 1}\n";
  CHECK(read_run_config_text("a", text).diagnostics == read_run_config_text("a", text).diagnostics);
}

TEST_CASE("Words of other simulators lead to the keys that stand for them") {
  struct Row {
    const char* word;
    const char* key;
  };
  for (const Row& row :
       {Row{"system.flow_control.sub_packet_bytes", "system.flow_control.payload_bytes"},
        Row{"system.router.num_vcs", "system.router.vcs"},
        Row{"system.router.vc_buf_size", "system.router.vc_depth_flits"},
        Row{"system.link_latency", "system.link.latency"},
        Row{"traffic.packet_size", "traffic.message"},
        Row{"traffic.duration_cycles", "traffic.measure_cycles"},
        Row{"collective.preferred_dataset_splits", "collective.chunks"},
        Row{"workload.preferred-dataset-splits", "workload.chunks"},
        Row{"preferred-dataset-splits", "workload.chunks"}, Row{"data_size", "collective.size"}}) {
    CAPTURE(row.word);
    REQUIRE(find_key(row.key) != nullptr);
    const std::string hint = std::string("did you mean '") + row.key + "'?";
    const ConfigResult set = read_run_config_text("f.yaml", kGoodSystem + "traffic: {}\n", "",
                                                  {std::string(row.word) + "=1"});
    CHECK(set.diagnostics.find(hint) != std::string::npos);
  }
  const ConfigResult file =
      read_run_config_text("f.yaml", kGoodSystem + "traffic: {sample_period: 100}\n");
  CHECK(file.diagnostics.find("did you mean 'traffic.measure_cycles'?") != std::string::npos);
}

}  // namespace espalier
