#include "draw_workload.h"

#include <algorithm>
#include <optional>
#include <stdexcept>
#include <tuple>
#include <utility>

#include "alg/generators/generator.h"
#include "alg/generators/rank_shapes.h"
#include "ni/rtl/rtl_dependencies.h"
#include "router/rtl/rtl_output_hold.h"
#include "sims/choose/certify_point.h"
#include "sims/choose/choose.h"
#include "sims/model/build_program.h"

namespace espalier::fuzz {

namespace {

// Enough for contention through several hops, and milliseconds flit by flit.
std::uint64_t draw_flits(Draw& draw) { return draw.pick<std::uint64_t>({500, 2000, 8000}); }

class MessageMaker {
 public:
  MessageMaker(Draw& draw, const FuzzCase& fuzz_case, std::size_t nodes)
      : draw_(draw),
        flit_(fuzz_case.point.system.clock.flit_bytes),
        payload_(fuzz_case.point.system.flow_control.payload_bytes),
        is_long_(fuzz_case.has_long_trains),
        nodes_(nodes),
        hot_(draw.between(0, nodes - 1)),
        spread_(draw.pick<Cycle>({0, 3, 30, 200})) {
    const Cycle last = draw.pick<Cycle>({20, 200, 1000});
    for (std::uint64_t b = draw.between(1, 4); b > 0; --b) bursts_.push_back(draw.between(0, last));
    // Few streams that meet again and again, or everybody with everybody.
    if (draw.percent(40)) {
      for (std::uint64_t p = draw.between(2, 5); p > 0; --p) pairs_.push_back(any_pair());
    }
  }

  TrafficMessage make() {
    TrafficMessage message;
    message.ready = draw_.pick(bursts_) + draw_.between(0, spread_);
    std::tie(message.from, message.to) = pairs_.empty() ? any_pair() : draw_.pick(pairs_);
    message.bytes = size();
    return message;
  }

 private:
  using Pair = std::pair<NodeId, NodeId>;

  Pair any_pair() {
    const std::size_t from = draw_.percent(30) ? hot_ : draw_.between(0, nodes_ - 1);
    const std::size_t to = draw_.percent(is_long_ ? 80 : 50) ? hot_ : draw_.between(0, nodes_ - 1);
    if (to != from) return {NodeId(from), NodeId(to)};
    return {NodeId(from), NodeId((from + draw_.between(1, nodes_ - 1)) % nodes_)};
  }

  Bytes size() {
    if (is_long_) return draw_.between(40, 600) * flit_;
    switch (draw_.between(0, 9)) {
      case 0:
        return draw_.between(1, flit_);
      case 1:
      case 2:
      case 3:  // around the end of a packet
        return draw_.between(1, 5) * payload_ + draw_.between(0, 2) - 1;
      case 4:
        return draw_.between(1, 600) * flit_;
      default:
        return draw_.between(1, 40 * flit_);
    }
  }

  Draw& draw_;
  Bytes flit_;
  Bytes payload_;
  bool is_long_;
  std::size_t nodes_;
  std::size_t hot_;  // many send to it, and it sends more than others
  Cycle spread_;
  std::vector<Cycle> bursts_;
  std::vector<Pair> pairs_;  // empty: any two
};

void list_messages(Draw& draw, FuzzCase& fuzz_case, const Topology& topology) {
  TrafficConfig& traffic = fuzz_case.point.traffic.emplace();
  traffic.pattern = TrafficPattern::file;
  MessageMaker maker(draw, fuzz_case, topology.num_nodes());
  const std::uint64_t most_flits = draw_flits(draw);
  std::uint64_t flits = 0;
  const std::uint64_t most =
      fuzz_case.has_long_trains ? draw.pick<std::uint64_t>({4, 8, 100}) : 100;
  for (std::uint64_t m = draw.between(2, most); m > 0 && flits < most_flits; --m) {
    traffic.messages.push_back(maker.make());
    flits += traffic.messages.back().bytes / fuzz_case.point.system.clock.flit_bytes;
  }
}

void draw_pattern(Draw& draw, FuzzCase& fuzz_case, const Topology& topology) {
  TrafficConfig& traffic = fuzz_case.point.traffic.emplace();
  const std::size_t nodes = topology.num_nodes();
  const auto& grid = topology.grid();
  std::vector<TrafficPattern> patterns{TrafficPattern::uniform, TrafficPattern::neighbor,
                                       TrafficPattern::hotspot};
  if ((nodes & (nodes - 1)) == 0) {
    patterns.insert(patterns.end(), {TrafficPattern::bit_complement, TrafficPattern::bit_reverse,
                                     TrafficPattern::shuffle});
  }
  if (grid) patterns.push_back(TrafficPattern::tornado);
  if (grid && grid->dims.size() == 2 && grid->dims[0] == grid->dims[1]) {
    patterns.push_back(TrafficPattern::transpose);
  }
  traffic.pattern = draw.pick(patterns);
  traffic.injection_rate = draw.pick({0.1, 0.3, 0.6, 1.0, 2.0});
  const Bytes flit = fuzz_case.point.system.clock.flit_bytes;
  traffic.message_bytes = draw.between(1, draw.pick<Bytes>({flit, 10 * flit, 40 * flit}));
  const double flits_per_cycle = traffic.injection_rate * static_cast<double>(nodes);
  const auto longest = static_cast<Cycle>(static_cast<double>(draw_flits(draw)) / flits_per_cycle);
  traffic.warmup_cycles = draw.percent(50) ? 0 : draw.between(1, longest / 2 + 1);
  traffic.measure_cycles = draw.between(longest / 8 + 1, longest);
  traffic.drain_cycles = draw.percent(50) ? 0 : draw.between(1, longest);
  if (traffic.pattern == TrafficPattern::hotspot) {
    traffic.hotspots = {static_cast<std::uint32_t>(draw.between(0, nodes - 1))};
    traffic.hotspot_share = draw.pick({0.1, 0.5, 1.0});
  }
  if (traffic.injection_rate < 1 && draw.percent(30)) {
    traffic.burst_messages = static_cast<std::uint32_t>(draw.between(1, 8));
  }
  if (draw.percent(30)) {
    traffic.loop = TrafficLoop::closed;
    traffic.reply_bytes = draw.between(1, draw.pick<Bytes>({flit, 10 * flit}));
    traffic.outstanding = static_cast<std::uint32_t>(draw.between(1, 4));
  }
  traffic.seed = draw.between(0, 1'000'000);
}

std::size_t most_links(const Topology& topology) {
  std::size_t most = 0;
  for (std::size_t n = 0; n < topology.num_nodes(); ++n) {
    most = std::max(most, topology.out_links(NodeId(n)).size());
  }
  return most;
}

// Settings of the ports, and the NI of MultiTree's authors.
void draw_ports(Draw& draw, RunPoint& point) {
  NiConfig& ni = point.system.ni;
  CollectiveConfig& collective = *point.collective;
  if (draw.percent(30)) collective.step_end = StepEnd::authors;
  if (draw.percent(30)) collective.line_order = LineOrder::natural;
  if (collective.algorithm == kAutoAlgorithm || draw.percent(50)) return;
  if (draw.percent(50)) ni.buffer_flits = draw.between32(0, 120);
  if (draw.percent(20)) ni.buffer_packets = draw.between32(0, 4);
  const bool planned = find_generator(collective.algorithm)->plans_times;
  if (planned || ni.table_repeat || draw.percent(60)) return;
  ni.rules = draw.pick({NiRules::authors, NiRules::authors_linked});
  ni.lockstep = draw.pick({LockstepMode::off, LockstepMode::nop});
}

// Nothing where links do not join several groups.
std::optional<ScheduleTables> planned_tables_of(const Topology& topology, const RunPoint& point) {
  if (point.collective->groups.empty()) {
    return generate_tables(topology, point.system, *point.collective);
  }
  try {
    return generate_tables(topology, point.system, *point.collective);
  } catch (const std::invalid_argument&) {
    return std::nullopt;
  }
}

bool draw_collective(Draw& draw, FuzzCase& fuzz_case, const Topology& topology) {
  std::vector<std::string> suited;
  for (const Generator& generator : generators()) {
    if (!generator.unsuited(topology).empty()) continue;
    // Planning takes seconds there, and a case has few.
    constexpr std::size_t kMostPlannedNodes = 16;
    const bool slow = topology.num_switches() != 0 && topology.num_nodes() > kMostPlannedNodes;
    if (generator.plans_times && slow) continue;
    suited.push_back(generator.name);
  }
  if (suited.empty()) return false;
  RunPoint point = fuzz_case.point;
  CollectiveConfig& collective = point.collective.emplace();
  collective.algorithm = draw.pick(suited);
  if (collective.algorithm == "bcube") {
    collective.base = smallest_bcube_base(topology.num_nodes());
  }
  collective.op = draw.pick(find_generator(collective.algorithm)->ops);
  if (!fuzz_case.has_long_trains && draw.percent(50))
    collective.segments = static_cast<std::uint32_t>(draw.between(1, 8));
  collective.element_bytes = draw.pick<Bytes>({1, 4});
  collective.remaining_height_first = draw.percent(30);
  draw_ports(draw, point);
  // Every byte goes to all others, and in an all-reduce there and back.
  const Bytes most = draw_flits(draw) * point.system.clock.flit_bytes / (2 * topology.num_nodes());
  const Bytes elements = most / collective.element_bytes;
  const Bytes least = fuzz_case.has_long_trains ? elements / 2 : 1;
  collective.size = collective.element_bytes * draw.between(least, elements);
  collective.root = static_cast<std::uint32_t>(draw.between(0, topology.num_nodes() - 1));
  if (draw.percent(20)) {
    for (std::uint32_t n = 0; n < topology.num_nodes(); ++n) {
      if (draw.percent(60)) collective.ranks.push_back(n);
    }
  }
  // Several groups at the same time, which may cross.
  const bool has_groups = collective.ranks.empty() && draw.percent(20);
  for (std::uint64_t g = has_groups ? draw.between(2, 4) : 0; g != 0; --g) {
    GroupConfig& group = collective.groups.emplace_back();
    for (std::uint32_t n = 0; n < topology.num_nodes(); ++n) {
      if (draw.percent(50)) group.ranks.push_back(n);
    }
    if (draw.percent(30)) group.size = collective.element_bytes * draw.between(1, elements);
  }
  fit_collective(collective, topology.num_nodes());
  const Topology network = ranks_network(topology, collective);
  const Generator& generator = *find_generator(collective.algorithm);
  if (!collective.groups.empty()) {
    collective.relay = generator.plans_groups;
    if (is_rooted(collective.op) || has_counts(collective.op) ||
        !unsuited_for_groups(topology, point.system, collective, generator).empty()) {
      return false;
    }
  }
  if (!collective.ranks.empty()) {
    if (collective.algorithm == "bcube") collective.base = smallest_bcube_base(network.num_nodes());
    if (!generator.unsuited(network).empty()) return false;
  }
  if (collective.groups.empty() && generator.problem != nullptr &&
      generator.problem(network, collective_request(point.system, collective))) {
    return false;
  }
  const std::optional<ScheduleTables> planned = planned_tables_of(topology, point);
  if (!planned || !certify_point(topology, point, *planned).ok()) return false;
  const ScheduleTables& tables = *planned;
  // In fidelity train, against the model in fidelity cycle.
  const NiConfig& ni = point.system.ni;
  const bool with_rtl = draw.percent(25) && ni.rules == NiRules::linked;
  if (with_rtl && has_rtl() && most_links(topology) <= kRtlIssuePerCycle) {
    const std::uint64_t blocks = draw.between(1, 3);
    if (blocks != 2) point.simulation.rtl.push_back(RtlBlock::ni_control);
    if (blocks != 1 && most_places(tables) <= kRtlPlaces) {
      point.simulation.rtl.push_back(RtlBlock::dependency_state);
    }
  }
  fuzz_case.point = point;
  return true;
}

// Ports of the largest router.
std::size_t most_ports(const Topology& topology, const SystemConfig& system) {
  std::size_t most = 0;
  for (std::size_t v = 0; v < topology.num_vertices(); ++v) {
    const std::size_t links =
        std::max(topology.in_links(NodeId(v)).size(), topology.out_links(NodeId(v)).size());
    most = std::max(most, links + std::max<std::size_t>(links, system.ni.ports));
  }
  return most;
}

// The Verilog of routers against the model, both in fidelity cycle, also with what trains do not
// model.
void draw_output_hold(Draw& draw, RunPoint& point, const Topology& topology) {
  if (!draw.percent(15) || !has_rtl()) return;
  if (most_ports(topology, point.system) > kRtlPorts || point.system.router.vcs > kRtlVcs) return;
  point.simulation.rtl.push_back(RtlBlock::output_hold);
  RouterConfig& router = point.system.router;
  if (draw.percent(40)) router.hold = SwitchHold::flit;
  // A wormhole packet that holds the crossbar could block others for ever.
  if (router.hold == SwitchHold::flit && draw.percent(50)) router.switching = Switching::wormhole;
  if (draw.percent(30)) router.vc_order = draw.pick({VcOrder::rotating, VcOrder::destination});
}

void draw_traffic(Draw& draw, FuzzCase& fuzz_case, const Topology& topology) {
  const std::uint64_t kind = draw.between(0, 99);
  if (kind < 40 && draw_collective(draw, fuzz_case, topology)) return;
  if (kind >= 85) {
    draw_pattern(draw, fuzz_case, topology);
  } else {
    list_messages(draw, fuzz_case, topology);
  }
}

}  // namespace

void draw_workload(Draw& draw, FuzzCase& fuzz_case) {
  const Topology topology = topology_of(fuzz_case);
  draw_traffic(draw, fuzz_case, topology);
  draw_output_hold(draw, fuzz_case.point, topology);
}

}  // namespace espalier::fuzz
