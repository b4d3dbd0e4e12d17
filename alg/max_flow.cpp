#include "alg/max_flow.h"

#include <algorithm>

namespace espalier {

std::size_t FlowNetwork::add_arc(std::size_t from, std::size_t to) {
  arcs_of_[from].push_back(arcs_.size());
  arcs_.push_back({to, 0, 0});
  arcs_of_[to].push_back(arcs_.size());
  arcs_.push_back({from, 0, 0});
  return arcs_.size() / 2 - 1;
}

FlowAmount FlowNetwork::min_cut(std::size_t source, std::size_t sink) {
  for (Arc& arc : arcs_) arc.left = arc.capacity;
  FlowAmount flow = 0;
  while (set_levels(source, sink)) {
    next_arc_.assign(arcs_of_.size(), 0);
    flow += augment(source, sink);
  }
  return flow;
}

bool FlowNetwork::set_levels(std::size_t source, std::size_t sink) {
  level_.assign(arcs_of_.size(), kUnseen);
  level_[source] = 0;
  queue_.assign(1, source);
  for (std::size_t head = 0; head < queue_.size(); ++head) {
    const std::size_t v = queue_[head];
    // Nothing behind the sink is on a shortest path.
    if (level_[sink] != kUnseen && level_[v] + 1 > level_[sink]) break;
    for (const std::size_t a : arcs_of_[v]) {
      const Arc& arc = arcs_[a];
      if (arc.left == 0 || level_[arc.to] != kUnseen) continue;
      level_[arc.to] = level_[v] + 1;
      queue_.push_back(arc.to);
    }
  }
  return level_[sink] != kUnseen;
}

// Saturates all shortest paths: goes forward along the levels, and back where there is no way on.
FlowAmount FlowNetwork::augment(std::size_t source, std::size_t sink) {
  FlowAmount total = 0;
  path_.clear();
  std::size_t at = source;
  while (true) {
    if (at == sink) {
      FlowAmount amount = arcs_[path_.front()].left;
      for (const std::size_t a : path_) amount = std::min(amount, arcs_[a].left);
      total += amount;
      std::size_t first_full = path_.size();
      for (std::size_t i = path_.size(); i-- > 0;) {
        arcs_[path_[i]].left -= amount;
        arcs_[path_[i] ^ 1U].left += amount;
        if (arcs_[path_[i]].left == 0) first_full = i;
      }
      at = arcs_[path_[first_full] ^ 1U].to;
      path_.resize(first_full);
      continue;
    }
    std::size_t& next = next_arc_[at];
    while (next < arcs_of_[at].size()) {
      const Arc& arc = arcs_[arcs_of_[at][next]];
      if (arc.left != 0 && level_[arc.to] == level_[at] + 1) break;
      ++next;
    }
    if (next < arcs_of_[at].size()) {
      path_.push_back(arcs_of_[at][next]);
      at = arcs_[path_.back()].to;
    } else if (at == source) {
      return total;
    } else {
      at = arcs_[path_.back() ^ 1U].to;
      path_.pop_back();
      ++next_arc_[at];
    }
  }
}

}  // namespace espalier
