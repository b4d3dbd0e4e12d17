#include "alg/flow/max_flow.h"

#include <algorithm>

namespace espalier {

template <class Amount>
std::size_t MaxFlow<Amount>::add_arc(std::size_t from, std::size_t to, Amount capacity) {
  const auto arc = static_cast<std::uint32_t>(to_.size());
  to_.push_back(static_cast<std::uint32_t>(to));
  to_.push_back(static_cast<std::uint32_t>(from));
  capacity_.push_back(capacity);
  capacity_.push_back(0);
  next_.push_back(first_[from]);
  first_[from] = arc;
  next_.push_back(first_[to]);
  first_[to] = arc + 1;
  return arc / 2;
}

template <class Amount>
void MaxFlow<Amount>::truncate(std::size_t vertices, std::size_t arcs) {
  while (num_arcs() > arcs) {
    const std::uint32_t from = to_.back();
    const std::uint32_t to = to_[to_.size() - 2];
    first_[to] = next_.back();
    next_.pop_back();
    first_[from] = next_.back();
    next_.pop_back();
    to_.resize(to_.size() - 2);
    capacity_.resize(capacity_.size() - 2);
  }
  first_.resize(vertices);
}

template <class Amount>
bool MaxFlow<Amount>::find_levels(std::size_t source, std::size_t sink) {
  level_.assign(first_.size(), kNone);
  queue_.clear();
  queue_.push_back(static_cast<std::uint32_t>(source));
  level_[source] = 0;
  for (std::size_t head = 0; head < queue_.size(); ++head, ++work_) {
    const std::uint32_t v = queue_[head];
    for (std::uint32_t a = first_[v]; a != kNone; a = next_[a]) {
      if (left_[a] == 0 || level_[to_[a]] != kNone) continue;
      level_[to_[a]] = level_[v] + 1;
      if (to_[a] == sink) return true;
      queue_.push_back(to_[a]);
    }
  }
  return false;
}

template <class Amount>
Amount MaxFlow<Amount>::push(std::size_t vertex, std::size_t sink, Amount amount) {
  if (vertex == sink) return amount;
  Amount pushed = 0;
  for (std::uint32_t& a = at_[vertex]; a != kNone; a = next_[a]) {
    if (left_[a] == 0 || level_[to_[a]] != level_[vertex] + 1) continue;
    const Amount step = push(to_[a], sink, std::min(amount - pushed, left_[a]));
    left_[a] -= step;
    left_[a ^ 1U] += step;
    pushed += step;
    if (pushed == amount) return pushed;
  }
  return pushed;
}

template <class Amount>
Amount MaxFlow<Amount>::max_flow(std::size_t source, std::size_t sink, Amount enough) {
  left_ = capacity_;
  Amount flow = 0;
  while (flow < enough && find_levels(source, sink)) {
    at_ = first_;
    flow += push(source, sink, enough - flow);
  }
  return flow;
}

template class MaxFlow<std::int64_t>;
template class MaxFlow<WideAmount>;

}  // namespace espalier
