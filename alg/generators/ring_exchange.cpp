#include <algorithm>

#include "alg/generators/rings.h"

namespace espalier {

RingExchange::RingExchange(Schedule& schedule, const CollectiveRequest& request,
                           const std::vector<std::size_t>& order)
    : schedule_(schedule),
      held_(order.size()),
      brought_(order.size() * order.size()),
      came_(order.size()) {
  const std::vector<Bytes> offsets = request.part_offsets(order.size());
  schedule.chunks.clear();
  schedule.num_steps = 0;
  schedule.ni_ports = 1;
  schedule.listed_order = true;
  Bytes offset = 0;
  for (std::size_t root = 0; root < order.size(); ++root) {
    for (const std::size_t to : order) {
      const Bytes bytes = offsets[to + 1] - offsets[to];
      if (bytes != 0) held_[request.node_of(root).index()].push_back(schedule.chunks.size());
      schedule.chunks.push_back({offset, bytes, request.node_of(root), request.node_of(to)});
      offset += bytes;
    }
  }
}

void RingExchange::pass_round(const RingLine& line, Timestep first_step,
                              const std::vector<std::size_t>& place_of) {
  const std::size_t places = line.size();
  // By place, and by how many places on they go.
  std::vector<std::vector<std::vector<RingFlow>>> flows(places,
                                                        std::vector<std::vector<RingFlow>>(places));
  std::vector<std::vector<std::size_t>> held(places);
  for (std::size_t place = 0; place < places; ++place) {
    for (const std::size_t chunk : held_[line.nodes[place].index()]) {
      const std::size_t goal = place_of[schedule_.chunks[chunk].destination.index()];
      held[goal].push_back(chunk);
      auto& part = flows[place][(goal + places - place) % places];
      if (!part.empty() && part.back().first_chunk.index() + part.back().num_chunks == chunk) {
        ++part.back().num_chunks;
      } else {
        part.push_back({FlowId(next_flow_++), place, ChunkId(chunk), 1});
      }
    }
  }
  std::vector<std::vector<TransferId>> came;  // by place, in the step before
  for (const NodeId node : line.nodes) came.push_back(came_[node.index()]);
  Timestep step = first_step;
  for (std::size_t shift = 1; shift < places; ++shift) {
    for (std::size_t hop = 0; hop < shift; ++hop, ++step) {
      std::vector<std::vector<TransferId>> comes(places);
      for (std::size_t place = 0; place < places; ++place) {
        auto parts = flows[(place + places - hop) % places][shift];
        // The part that comes last leaves first, so that none leaves before all have come.
        if (hop % 2 == 1) std::reverse(parts.begin(), parts.end());
        for (std::size_t p = 0; p < parts.size(); ++p) {
          const RingFlow& flow = parts[p];
          const auto brought =
              brought_.begin() + static_cast<std::ptrdiff_t>(flow.first_chunk.index());
          std::vector<TransferId> after;
          if (hop == 0) {
            after = came[place];
            std::copy_if(brought, brought + flow.num_chunks, std::back_inserter(after),
                         [](TransferId t) { return t.valid(); });
          } else {
            after = {came[place][parts.size() - 1 - p]};
          }
          std::sort(after.begin(), after.end());
          after.erase(std::unique(after.begin(), after.end()), after.end());
          const TransferId sent =
              schedule_.add(hop_of(line, flow, place, TransferKind::copy, step), after);
          comes[(place + 1) % places].push_back(sent);
          if (hop + 1 == shift) std::fill(brought, brought + flow.num_chunks, sent);
        }
      }
      came = std::move(comes);
    }
  }
  for (std::size_t place = 0; place < places; ++place) {
    came_[line.nodes[place].index()] = std::move(came[place]);
  }
  for (std::size_t place = 0; place < places; ++place) {
    std::sort(held[place].begin(), held[place].end());
    held_[line.nodes[place].index()] = std::move(held[place]);
  }
}

void RingExchange::add(const std::vector<RingLine>& lines,
                       const std::vector<std::size_t>& place_of) {
  const std::size_t places = lines.front().size();
  for (const RingLine& line : lines) pass_round(line, schedule_.num_steps + 1, place_of);
  schedule_.num_steps += static_cast<Timestep>(places * (places - 1) / 2);
}

std::string exchange_too_large(const Topology& topology, CollectiveOp op) {
  constexpr std::size_t kMostExchanging = 128;
  if (!is_exchange(op) || topology.num_nodes() <= kMostExchanging) return {};
  return "An all_to_all in rings takes as many messages as there are triples of nodes; it runs on "
         "at most 128 nodes";
}

}  // namespace espalier
