#include "alg/generators/block_exchange.h"

namespace espalier {

void BlockExchange::send(NodeId from, NodeId to, const std::vector<std::size_t>& chunks,
                         TransferKind kind) {
  for (std::size_t begin = 0; begin < chunks.size();) {
    std::size_t end = begin + 1;
    while (end < chunks.size() && chunks[end] == chunks[end - 1] + 1) ++end;
    send_run(from, to, {chunks[begin], chunks[end - 1] + 1}, kind);
    begin = end;
  }
}

void BlockExchange::end_round() {
  for (const auto& [node, transfer] : arriving_) arrived_[node.index()].push_back(transfer);
  arriving_.clear();
}

void BlockExchange::send_run(NodeId from, NodeId to, const Run& run, TransferKind kind) {
  const Chunk& last = schedule_.chunks[run.end - 1];
  if (last.offset + last.size == schedule_.chunks[run.begin].offset) return;
  const Transfer transfer{from,
                          to,
                          FlowId(next_flow_++),
                          ChunkId(run.begin),
                          static_cast<std::uint32_t>(run.end - run.begin),
                          routes_.between(from, to),
                          schedule_.num_steps,
                          kind};
  arriving_.emplace_back(to, schedule_.add(transfer, waits_for(from, run)));
}

std::vector<TransferId> BlockExchange::waits_for(NodeId node, const Run& run) const {
  std::vector<TransferId> waits;
  for (const TransferId id : arrived_[node.index()]) {
    const Transfer& t = schedule_.transfers[id.index()];
    const std::size_t first = t.first_chunk.index();
    if (first < run.end && run.begin < first + t.num_chunks) waits.push_back(id);
  }
  return waits;
}

}  // namespace espalier
