#include "alg/generators/ring_line.h"

#include <algorithm>

namespace espalier {
namespace {

Transfer hop_of(const RingLine& line, const RingFlow& flow, std::size_t place, TransferKind kind,
                Timestep step) {
  Transfer transfer;
  transfer.from = line.nodes[place];
  transfer.to = line.nodes[(place + 1) % line.size()];
  transfer.flow = flow.flow;
  transfer.first_chunk = flow.first_chunk;
  transfer.num_chunks = flow.num_chunks;
  transfer.route = line.hops[place];
  transfer.step = step;
  transfer.kind = kind;
  return transfer;
}

}  // namespace

RingLine reversed(const RingLine& line, const std::vector<RouteId>& hops_back) {
  RingLine result;
  // The last hop back starts at nodes[0], so both lines start at the same node.
  result.nodes.push_back(line.nodes.front());
  result.nodes.insert(result.nodes.end(), line.nodes.rbegin(), line.nodes.rend() - 1);
  result.hops.assign(hops_back.rbegin(), hops_back.rend());
  return result;
}

TransferId add_reduce_chain(Schedule& schedule, const RingLine& line, const RingFlow& flow,
                            Timestep first_step, const RingWaits& waits) {
  TransferId arrived;
  for (std::size_t hop = 1; hop < line.size(); ++hop) {
    const std::size_t place = (flow.root + hop) % line.size();
    // Every place adds data of its own, so each of them waits for it and not only the first.
    auto after = waits[place];
    if (arrived.valid()) after.push_back(arrived);
    const auto step = static_cast<Timestep>(first_step + hop - 1);
    arrived = schedule.add(hop_of(line, flow, place, TransferKind::reduce, step), after);
  }
  return arrived;
}

std::vector<TransferId> add_gather_chain(Schedule& schedule, const RingLine& line,
                                         const RingFlow& flow, Timestep first_step,
                                         const std::vector<TransferId>& root_waits) {
  std::vector<TransferId> arrived(line.size());
  auto after = root_waits;
  for (std::size_t hop = 0; hop + 1 < line.size(); ++hop) {
    const std::size_t place = (flow.root + hop) % line.size();
    const auto step = static_cast<Timestep>(first_step + hop);
    const TransferId sent =
        schedule.add(hop_of(line, flow, place, TransferKind::copy, step), after);
    arrived[(place + 1) % line.size()] = sent;
    after = {sent};
  }
  return arrived;
}

bool is_contention_free(const Schedule& schedule) {
  if (schedule.transfers.empty()) return true;
  std::size_t num_links = 0;
  for (const Transfer& t : schedule.transfers) {
    for (std::size_t hop = 0; hop < schedule.routes.hops(t.route); ++hop) {
      num_links = std::max(num_links, schedule.routes.link(t.route, hop).index() + 1);
    }
  }
  std::vector<Timestep> last_use(num_links, 0);
  for (const Transfer& t : schedule.transfers) {
    for (std::size_t hop = 0; hop < schedule.routes.hops(t.route); ++hop) {
      Timestep& last = last_use[schedule.routes.link(t.route, hop).index()];
      if (last == t.step) return false;
      last = t.step;
    }
  }
  return true;
}

}  // namespace espalier
