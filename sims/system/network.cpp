#include "sims/system/network.h"

#include <fmt/format.h>

#include "sims/point/system_config.h"

namespace espalier {

std::vector<InputPortSpec> input_ports(const NetworkPlan& plan, NodeId vertex,
                                       std::uint64_t& next_number) {
  ChannelSpec channel;
  channel.vcs = plan.config.router.vcs;
  channel.vc_depth_flits = plan.config.router.vc_depth_flits;
  channel.receiver_pipeline = plan.config.router.pipeline_cycles;
  channel.ticks_per_cycle = plan.timing.ticks_per_cycle;

  channel.control_vcs = plan.control_vcs;
  channel.control_vc_depth_flits = plan.control != nullptr && plan.control->vc_depth_flits != 0
                                       ? plan.control->vc_depth_flits
                                       : plan.config.router.vc_depth_flits;

  const auto set_depth = [&](std::size_t dimension) {
    channel.vc_depth_flits = plan.vc_depths[dimension];
  };
  std::vector<InputPortSpec> inputs;
  for (const LinkId l : plan.topology.in_links(vertex)) {
    if (!plan.vc_depths.empty()) set_depth(plan.topology.dimension_of(l));
    const LinkTiming& timing = plan.timing.links[l.index()];
    channel.credit_latency =
        plan.config.credit_latency_cycles != 0 ? plan.config.credit_latency_cycles : timing.latency;
    inputs.push_back({"in_" + plan.topology.link(l).in_name, l.index(), timing, channel});
  }
  for (std::uint32_t p = 0; p < plan.ni_ports[vertex.index()]; ++p) {
    // In a multi-dimensional system each injection port belongs to a link.
    if (!plan.vc_depths.empty()) {
      set_depth(plan.topology.dimension_of(plan.topology.out_links(vertex)[p]));
    }
    channel.credit_latency = plan.config.ni.injection_cycles;
    inputs.push_back({fmt::format("in_ni{}", p),
                      next_number++,
                      {plan.config.ni.injection_cycles, plan.timing.ticks_per_cycle},
                      channel});
  }
  return inputs;
}

}  // namespace espalier
