#include "draw_faults.h"

#include <algorithm>
#include <map>
#include <utility>

#include "sims/model/faults.h"

namespace espalier::fuzz {

namespace {

// All links beside `link` and itself: parallel links are slow together.
std::vector<LinkId> parallel_links(const Topology& topology, const TopologyLink& link) {
  return links_of(topology, {topology.vertex_name(link.from), topology.vertex_name(link.to), 0, 0});
}

SlowLink draw_slow_link(Draw& draw, const Topology& topology, const TopologyLink& link) {
  SlowLink fault;
  fault.from = topology.vertex_name(link.from);
  fault.to = topology.vertex_name(link.to);
  std::uint64_t slowest = link.spec.bytes_per_second;
  std::uint64_t longest = link.spec.latency_ps;
  for (const LinkId id : parallel_links(topology, link)) {
    slowest = std::min(slowest, topology.link(id).spec.bytes_per_second);
    longest = std::max(longest, topology.link(id).spec.latency_ps);
  }
  const std::uint64_t divisor = draw.pick<std::uint64_t>({2, 2, 3, 4});
  if (draw.percent(70) && slowest % divisor == 0) fault.bytes_per_second = slowest / divisor;
  if (fault.bytes_per_second == 0 || draw.percent(40)) {
    fault.latency_ps = longest + draw.between(1, draw.pick({2U, 10U, 60U})) * kPicosecondsPerCycle;
  }
  return fault;
}

void draw_slow_links(Draw& draw, const Topology& topology, FaultsConfig& faults) {
  std::map<std::pair<NodeId, NodeId>, SlowLink> slow;
  for (std::uint64_t more = draw.between(1, 3); more > 0; --more) {
    const TopologyLink& link = draw.pick(topology.links());
    slow.emplace(std::pair(link.from, link.to), draw_slow_link(draw, topology, link));
  }
  for (const auto& [ends, fault] : slow) faults.slow_links.push_back(fault);
}

void draw_clocks(Draw& draw, const Topology& topology, const SystemConfig& system,
                 FaultsConfig& faults) {
  const LockstepMode lockstep = system.ni.lockstep;
  const bool counts = lockstep == LockstepMode::estimate || lockstep == LockstepMode::full;
  if (draw.percent(20)) faults.post_spread = {draw.between(1, 40), draw.between(0, 1000)};
  for (std::uint32_t n = 0; n < topology.num_nodes(); ++n) {
    if (draw.percent(15)) faults.late_nis.push_back({n, draw.between(1, 300)});
    if (!draw.percent(15)) continue;
    ClockSkew skew{n, draw.between(0, 40), counts ? draw.between(0, 5) : 0};
    if (skew.cycles == 0 && skew.per_step == 0) skew.cycles = 1;
    faults.clock_skew.push_back(skew);
  }
}

DmaJitterConfig draw_jitter(Draw& draw, const Topology& topology) {
  DmaJitterConfig jitter;
  jitter.max_cycles = draw.pick({1U, 5U, 20U, 100U});
  jitter.seed = draw.between(0, 1000);
  if (draw.percent(50)) return jitter;
  for (std::uint32_t n = 0; n < topology.num_nodes(); ++n) {
    if (draw.percent(40)) jitter.nodes.push_back(n);
  }
  return jitter;
}

}  // namespace

void draw_faults(Draw& draw, FuzzCase& fuzz_case) {
  if (draw.percent(50)) return;
  const Topology topology = topology_of(fuzz_case);
  RunPoint& point = fuzz_case.point;
  if (draw.percent(60)) draw_slow_links(draw, topology, point.faults);
  if (point.collective && draw.percent(60)) {
    draw_clocks(draw, topology, point.system, point.faults);
  }
  if (draw.percent(60)) point.faults.dma_jitter = draw_jitter(draw, topology);
}

}  // namespace espalier::fuzz
