#include "alg/schedule/arrival_index.h"

#include <algorithm>
#include <tuple>

namespace espalier {

ArrivalIndex::ArrivalIndex(const std::vector<Transfer>& transfers, std::size_t num_nodes)
    : begin_(num_nodes + 1, 0), arrivals_(transfers.size()) {
  for (const Transfer& t : transfers) ++begin_[t.to.index() + 1];
  for (std::size_t n = 0; n < num_nodes; ++n) begin_[n + 1] += begin_[n];
  std::vector<std::size_t> next(begin_.begin(), begin_.end() - 1);
  for (std::size_t i = 0; i < transfers.size(); ++i) {
    const Transfer& t = transfers[i];
    arrivals_[next[t.to.index()]++] = {t.flow, t.kind, t.from, TransferId(i)};
  }
  for (std::size_t n = 0; n < num_nodes; ++n) {
    std::sort(arrivals_.begin() + static_cast<std::ptrdiff_t>(begin_[n]),
              arrivals_.begin() + static_cast<std::ptrdiff_t>(begin_[n + 1]),
              [](const Arrival& a, const Arrival& b) {
                // Duplicates keep the order of the schedule, in which they are reported.
                return std::tie(a.flow, a.kind, a.from, a.transfer) <
                       std::tie(b.flow, b.kind, b.from, b.transfer);
              });
  }
}

ArrivalIndex::Range ArrivalIndex::at(NodeId to) const {
  return {arrivals_.data() + begin_[to.index()], arrivals_.data() + begin_[to.index() + 1]};
}

ArrivalIndex::Range ArrivalIndex::at(NodeId to, FlowId flow, TransferKind kind) const {
  const Range all = at(to);
  const auto before = [](const Arrival& a, const std::pair<FlowId, TransferKind>& key) {
    return std::tie(a.flow, a.kind) < std::tie(key.first, key.second);
  };
  const auto after = [](const std::pair<FlowId, TransferKind>& key, const Arrival& a) {
    return std::tie(key.first, key.second) < std::tie(a.flow, a.kind);
  };
  const std::pair<FlowId, TransferKind> key{flow, kind};
  const Arrival* first = std::lower_bound(all.first, all.last, key, before);
  return {first, std::upper_bound(first, all.last, key, after)};
}

TransferId ArrivalIndex::find(NodeId to, FlowId flow, TransferKind kind, NodeId from) const {
  const Range all = at(to);
  const Arrival* found =
      std::lower_bound(all.first, all.last, std::make_tuple(flow, kind, from),
                       [](const Arrival& a, const std::tuple<FlowId, TransferKind, NodeId>& key) {
                         return std::tie(a.flow, a.kind, a.from) < key;
                       });
  const bool matches =
      found != all.last && found->flow == flow && found->kind == kind && found->from == from;
  return matches ? found->transfer : TransferId();
}

bool collect_completion(const ArrivalIndex& arrivals, NodeId node, FlowId flow, FlowRole role,
                        std::vector<TransferId>& completing) {
  ArrivalIndex::Range range = arrivals.at(node, flow, TransferKind::copy);
  if (role.is_root || range.empty()) {
    // Before the Gather arrives, a node that passes its sum on has only a partial sum.
    if (!role.is_root && role.sends_reduce) return false;
    range = arrivals.at(node, flow, TransferKind::reduce);
  }
  for (const ArrivalIndex::Arrival& arrival : range) completing.push_back(arrival.transfer);
  return role.is_root || !range.empty();
}

}  // namespace espalier
