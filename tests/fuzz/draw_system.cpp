#include "draw_system.h"

#include <algorithm>

#include "alg/routes/routing.h"
#include "sims/model/idle_times.h"
#include "tests/support/networks.h"

namespace espalier::fuzz {

namespace {

struct Rate {
  std::uint64_t flits;
  std::uint64_t cycles;
};

// Links of one system: alike, or each its own, with latencies up to some limit.
class LinkMaker {
 public:
  LinkMaker(Draw& draw, const ClockSpec& clock, bool unequal)
      : draw_(draw), full_rate_(clock.hertz * clock.flit_bytes), unequal_(unequal) {
    longest_ = draw.pick<std::uint64_t>({1, 4, 12, 12, 40});
    if (unequal && draw.percent(50)) longest_ = 40;
    // In every second system all links have one rate, in half of these the full one.
    const std::uint64_t regime = draw.between(0, 3);
    if (regime == 0 && !unequal) common_rate_ = full_rate_;
    if (regime == 1) common_rate_ = any_rate();
  }

  LinkSpec make() {
    const std::uint64_t cycles = draw_.between(1, longest_);
    return {cycles * kPicosecondsPerCycle, common_rate_ != 0 ? common_rate_ : any_rate()};
  }

 private:
  // Numerators with a small common multiple: it is the number of ticks per cycle.
  std::uint64_t any_rate() {
    // A train that has waited leaves at the fast link's rate, and then at the slow one's.
    if (unequal_ && draw_.percent(40)) {
      return draw_.pick({full_rate_, full_rate_ / 2, full_rate_ / 4});
    }
    std::vector<std::uint64_t> rates;
    for (const Rate& rate :
         {Rate{1, 1}, {2, 3}, {3, 5}, {1, 2}, {1, 3}, {3, 4}, {4, 5}, {5, 6}, {15, 16}, {25, 32}}) {
      // Thirds of a flit are whole bytes for some flit sizes only.
      if (full_rate_ * rate.flits % rate.cycles == 0) {
        rates.push_back(full_rate_ * rate.flits / rate.cycles);
      }
    }
    return draw_.pick(rates);
  }

  Draw& draw_;
  std::uint64_t full_rate_;
  bool unequal_;
  std::uint64_t longest_ = 1;
  std::uint64_t common_rate_ = 0;  // 0: every link its own
};

using Dims = std::vector<std::uint64_t>;

Dims draw_dims(Draw& draw) {
  static const std::vector<Dims> shapes{{2},    {3},    {4},    {5},       {7},       {8},
                                        {2, 2}, {3, 2}, {2, 3}, {3, 3},    {4, 2},    {1, 4},
                                        {4, 3}, {2, 5}, {5, 2}, {2, 2, 2}, {3, 2, 2}, {4, 4}};
  return draw.pick(shapes);
}

Graph draw_graph(Draw& draw, LinkMaker& links, bool small) {
  Graph graph;
  const std::size_t vertices = small             ? draw.between(2, 6)
                               : draw.percent(5) ? draw.between(13, 16)
                                                 : draw.between(2, 12);
  // Collectives need networks without switches.
  graph.nodes = draw.percent(50) ? vertices : draw.between(2, vertices);
  graph.switches = vertices - graph.nodes;
  const auto connect = [&](std::size_t a, std::size_t b) {
    graph.edges.push_back({a, b, links.make(), links.make()});
  };
  if (draw.percent(15)) {  // parallel planes: every node is linked to every switch
    graph.nodes = draw.between(2, 5);
    graph.switches = draw.between(2, 3);
    for (std::size_t s = graph.nodes; s < graph.vertices(); ++s) {
      for (std::size_t n = 0; n < graph.nodes; ++n) connect(n, s);
    }
    return graph;
  }
  // A random tree over the vertices in random order, so that a switch may be anywhere in it.
  std::vector<std::size_t> order(vertices);
  for (std::size_t v = 0; v < vertices; ++v) {
    order[v] = v;
    std::swap(order[v], order[draw.between(0, v)]);
  }
  const bool star = draw.percent(20);
  for (std::size_t v = 1; v < vertices; ++v) {
    connect(order[v], order[star ? 0 : draw.between(0, v - 1)]);
  }
  for (std::size_t more = draw.between(0, vertices); more > 0; --more) {
    const std::size_t a = draw.between(0, vertices - 1);
    const std::size_t b = draw.between(0, vertices - 1);
    if (a != b) connect(a, b);
  }
  if (draw.percent(15)) {  // parallel links everywhere
    const std::vector<Edge> edges = graph.edges;
    for (const Edge& edge : edges) connect(edge.a, edge.b);
  }
  return graph;
}

void set_link(TopologyConfig& topology, const std::string& name, const LinkSpec& link) {
  topology.set(name + ".latency", {link.latency_ps});
  topology.set(name + ".bandwidth", {link.bytes_per_second});
}

void draw_cluster(Draw& draw, LinkMaker& links, TopologyConfig& topology) {
  const std::uint64_t servers = draw.between(1, 3);
  const std::uint64_t group = draw.between(1, 2);
  const std::uint64_t groups = draw.between(1, 2);
  topology.set("servers", {servers});
  topology.set("gpus_per_nic_group", {group});
  topology.set("gpus_per_server", {group * groups * (servers == 1 ? 2 : 1)});
  topology.set("nics_per_group", {draw.between(1, 2)});
  set_link(topology, "nic_link", links.make());
}

void draw_center(Draw& draw, LinkMaker& links, TopologyConfig& topology) {
  const std::uint64_t pods = draw.between(1, 2);
  const std::uint64_t racks = draw.between(1, 3);
  const std::uint64_t hosts = draw.between(2, 4);
  topology.set("pods", {pods});
  topology.set("racks_per_pod", {racks});
  topology.set("hosts_per_rack", {hosts});
  topology.set("nodes", {draw.between(2, std::min<std::uint64_t>(pods * racks * hosts, 10))});
  const std::uint64_t aggregations = draw.between(1, 2);
  topology.set("aggregations_per_pod", {aggregations});
  topology.set("rack_uplinks", {aggregations * draw.between(1, 2)});
  const std::uint64_t uplinks = draw.between(1, 2);
  topology.set("aggregation_uplinks", {uplinks});
  topology.set("cores", {draw.between(1, aggregations * uplinks)});
  topology.set("placement_seed", {draw.between(0, 1000)});
  topology.set("ecmp_seed", {draw.between(0, 1000)});
  set_link(topology, "aggregation_link", links.make());
  set_link(topology, "core_link", links.make());
}

void draw_shape(Draw& draw, LinkMaker& links, TopologyConfig& topology) {
  const std::string family = draw.pick({"fully_connected", "switch", "dgx2", "fat_tree", "bigraph",
                                        "dragonfly", "gpu_cluster", "data_center"});
  topology.type = family;
  topology.set("nodes", {draw.between(2, 8)});
  topology.set("nodes_per_switch", {draw.between(1, 3)});
  topology.set("switches", {draw.between(2, 4)});
  topology.set("spines", {draw.between(1, 3)});
  if (family == "bigraph") topology.set("switches", {2 * draw.between(1, 3)});
  topology.set("group_size", {draw.between(1, 3)});
  topology.set("groups", {draw.between(2, 4)});
  if (family == "gpu_cluster") draw_cluster(draw, links, topology);
  if (family == "data_center") draw_center(draw, links, topology);
}

// Every second grid has dimensions of their own: rings or lines, rates, parallel links, twists.
void draw_grid(Draw& draw, LinkMaker& links, TopologyConfig& topology) {
  const Dims dims = draw_dims(draw);
  topology.set("dims", dims);
  if (draw.percent(50)) return;
  const auto each = [&](const auto& value) {
    Dims values;
    for (std::size_t d = 0; d < dims.size(); ++d) values.push_back(value());
    return values;
  };
  topology.type = "grid";
  const bool twisted =
      dims.size() > 1 && *std::min_element(dims.begin(), dims.end()) > 1 && draw.percent(40);
  topology.set("wrap", each([&] { return twisted ? 1 : draw.between(0, 1); }));
  if (twisted) {
    Dims twist;
    for (std::size_t d = 0; d < dims.size(); ++d) {
      for (std::size_t e = d + 1; e < dims.size(); ++e)
        twist.push_back(draw.between(0, dims[e] - 1));
    }
    topology.set("twist", twist);
  } else if (draw.percent(30)) {
    topology.set("links", each([&] { return draw.pick<std::uint64_t>({0, 1, 2}); }));
  }
  if (draw.percent(80)) {
    topology.set("bandwidth", each([&] { return links.make().bytes_per_second; }));
    topology.set("latency", each([&] { return links.make().latency_ps; }));
  }
}

void draw_topology(Draw& draw, FuzzCase& fuzz_case) {
  SystemConfig& system = fuzz_case.point.system;
  LinkMaker links(draw, system.clock, fuzz_case.has_long_trains);
  system.link = links.make();
  if (draw.percent(25)) {
    draw_shape(draw, links, system.topology);
  } else {
    system.topology.type = draw.pick({"file", "file", "torus", "mesh"});
    if (system.topology.family().source == Family::Source::graph_file) {
      fuzz_case.graph = draw_graph(draw, links, fuzz_case.has_long_trains);
    } else {
      draw_grid(draw, links, system.topology);
    }
  }
  if (draw.percent(50)) system.credit_latency_cycles = draw.between(1, draw.pick({2U, 10U, 40U}));
}

void draw_flow_control(Draw& draw, SystemConfig& system, bool long_trains) {
  FlowControlConfig& flow = system.flow_control;
  flow.mode = draw.pick({FlowControlMode::message, FlowControlMode::packet});
  flow.payload_bytes =
      system.clock.flit_bytes *
      draw.pick<std::uint64_t>({1, 2, 3, 4, 7, 8, long_trains ? 2U : 16U, long_trains ? 4U : 16U});
  if (flow.mode == FlowControlMode::message) {
    flow.sub_message_bytes = flow.payload_bytes * draw.between(1, long_trains ? 2 : 6);
  } else {
    flow.pad_last_packet = draw.percent(30);
  }
}

// From room for exactly one packet to more than the credit loop asks for.
std::uint32_t draw_depth(Draw& draw, const SystemConfig& system, Cycle longest_link,
                         bool long_trains) {
  const auto packet = static_cast<std::uint32_t>(longest_packet_flits(system));
  // Bursts of what the buffer takes, with gaps that repeat.
  if (long_trains && draw.percent(60)) return draw.between32(1, 4) * packet + draw.between32(0, 2);
  const Cycle credit =
      system.credit_latency_cycles != 0 ? system.credit_latency_cycles : longest_link;
  const auto loop =
      static_cast<std::uint32_t>(longest_link + system.router.pipeline_cycles + credit);
  switch (draw.between(0, 9)) {
    case 0:
    case 1:
    case 2:
      return packet;
    case 3:
    case 4:
      return packet + draw.between32(1, 4);
    case 5:
    case 6:
      return 2 * packet + draw.between32(0, 2) - 1;
    case 7:
    case 8:
      return packet + draw.between32(0, loop);
    default:
      return packet + loop + draw.between32(0, 40);
  }
}

Cycle longest_link_of(const FuzzCase& fuzz_case) {
  const LinkSpec& link = fuzz_case.point.system.link;
  std::uint64_t longest =
      std::max(link.latency_ps, fuzz_case.point.system.topology.link("nic_link", link).latency_ps);
  if (fuzz_case.graph) {
    for (const Edge& edge : fuzz_case.graph->edges) {
      longest = std::max({longest, edge.there.latency_ps, edge.back.latency_ps});
    }
  }
  return longest / kPicosecondsPerCycle;
}

void draw_router(Draw& draw, FuzzCase& fuzz_case) {
  SystemConfig& system = fuzz_case.point.system;
  RouterConfig& router = system.router;
  if (draw.percent(40)) {
    system.routing.kind =
        draw.pick({Routing::up_down, Routing::shortest, Routing::ecmp, Routing::split});
    system.routing.seed = draw.between(1, 100);
  }
  const std::uint32_t classes = least_vc_classes(topology_of(fuzz_case));
  router.vcs = draw.between32(classes, std::max(classes, 4U));
  router.pipeline_cycles = draw.between(0, 3);
  router.crossbar_inputs =
      draw.pick({CrossbarInputs::port, CrossbarInputs::port, CrossbarInputs::vc});
  router.vc_depth_flits =
      draw_depth(draw, system, longest_link_of(fuzz_case), fuzz_case.has_long_trains);
  router.vc_order = draw.pick({VcOrder::lowest, VcOrder::rotating, VcOrder::destination});
  // In packet mode only `cycle` has this order.
  if (router.vc_order == VcOrder::rotating && system.flow_control.mode == FlowControlMode::packet) {
    router.vc_order = VcOrder::lowest;
  }
}

void draw_reduction(Draw& draw, ReductionConfig& reduction, Bytes flit_bytes, bool long_trains) {
  reduction.mode = draw.pick({ReductionMode::streaming, ReductionMode::after_message});
  reduction.latency_cycles = draw.between(1, 4);
  if (draw.percent(50)) reduction.bytes_per_cycle = draw.pick<std::uint64_t>({3, 8, 16, 50, 128});
  // Slower than a burst, and faster than bursts and gaps.
  if (long_trains && draw.percent(50)) {
    reduction.mode = ReductionMode::streaming;
    reduction.bytes_per_cycle = flit_bytes / draw.between(2, 4);
  }
  if (draw.percent(50)) reduction.block_bytes = draw.pick<Bytes>({4, 64, 100, 512});
}

void draw_ni(Draw& draw, SystemConfig& system, bool long_trains) {
  NiConfig& ni = system.ni;
  ni.lockstep = draw.pick(
      {LockstepMode::off, LockstepMode::estimate, LockstepMode::drain, LockstepMode::full});
  ni.ports = draw.between32(0, 4);  // 0: auto
  ni.buffer_flits = draw.pick({0U, 20U, 318U});
  ni.send_queue = draw.pick({1U, 2U, 3U, 16U});
  ni.injection_vcs = draw.pick({InjectionVcs::automatic, InjectionVcs::one, InjectionVcs::all});
  ni.slot_counter = !draw.percent(25);
  ni.table_repeat = draw.percent(33);
  ni.dma_latency_cycles = draw.between(1, 5);
  if (draw.percent(50)) ni.dma_bytes_per_cycle = draw.pick<std::uint64_t>({5, 8, 16, 24, 40, 100});
  ni.injection_cycles = draw.between(1, 4);
  ni.ejection_cycles = draw.between(1, 4);
  ni.delivery_cycles = draw.between(1, 3);
  ni.turnaround_cycles = draw.between(0, 3);
  draw_reduction(draw, ni.reduction, system.clock.flit_bytes, long_trains);
}

}  // namespace

void draw_system(Draw& draw, FuzzCase& fuzz_case) {
  SystemConfig& system = fuzz_case.point.system;
  system.clock.flit_bytes = draw.pick({16U, 16U, 12U, 24U, 48U});
  draw_topology(draw, fuzz_case);
  draw_flow_control(draw, system, fuzz_case.has_long_trains);
  draw_router(draw, fuzz_case);
  draw_ni(draw, system, fuzz_case.has_long_trains);
}

}  // namespace espalier::fuzz
