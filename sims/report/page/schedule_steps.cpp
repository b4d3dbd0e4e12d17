#include "sims/report/page/schedule_steps.h"

#include <algorithm>

namespace espalier::report {

FlowTree first_flow(const Schedule& schedule) {
  FlowTree tree;
  tree.flow = schedule.transfers.front().flow;
  for (const Transfer& transfer : schedule.transfers)
    tree.flow = std::min(tree.flow, transfer.flow);
  for (const Transfer& transfer : schedule.transfers) {
    if (transfer.flow != tree.flow) continue;
    auto& edges = transfer.kind == TransferKind::reduce ? tree.reduces : tree.copies;
    edges.push_back({transfer.from, transfer.to, transfer.route, transfer.step});
  }
  return tree;
}

Occupancy occupancy(const Topology& topology, const Schedule& schedule) {
  Timestep steps = schedule.num_steps;
  for (const Transfer& transfer : schedule.transfers) steps = std::max(steps, transfer.step);
  std::vector<std::vector<bool>> used(steps, std::vector<bool>(topology.num_links(), false));
  for (const Transfer& transfer : schedule.transfers) {
    for (std::size_t hop = 0; hop < schedule.routes.hops(transfer.route); ++hop)
      used[transfer.step - 1][schedule.routes.link(transfer.route, hop).index()] = true;
  }
  Occupancy result;
  for (Timestep step = 0; step < steps; ++step) {
    std::vector<double> parts;
    std::size_t all = 0;
    for (std::size_t v = 0; v < topology.num_vertices(); ++v) {
      const auto& links = topology.out_links(NodeId(v));
      const auto count = static_cast<std::size_t>(std::count_if(
          links.begin(), links.end(), [&](LinkId link) { return used[step][link.index()]; }));
      all += count;
      parts.push_back(
          links.empty() ? 0.0 : static_cast<double>(count) / static_cast<double>(links.size()));
    }
    result.of_vertex.push_back(std::move(parts));
    result.of_all.push_back(static_cast<double>(all) / static_cast<double>(topology.num_links()));
  }
  return result;
}

}  // namespace espalier::report
