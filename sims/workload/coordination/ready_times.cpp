#include "sims/workload/coordination/ready_times.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "hw/hash.h"

namespace espalier {

namespace {

// Streams of random numbers, told apart.
enum class Draw : std::uint64_t { skew = 1, jitter = 2, order = 3 };

double draw(const JitterSpec& spec, Draw what, std::uint64_t a, std::uint64_t b = 0) {
  return unit_interval(mix(mix(mix(spec.seed, static_cast<std::uint64_t>(what)), a), b));
}

Cycle stretched(Cycle time, double by) {
  return static_cast<Cycle>(static_cast<double>(time) * by);
}

}  // namespace

ReadyTimes::ReadyTimes(const TensorSet& set, const std::vector<TensorUnit>& units,
                       const JitterSpec& jitter)
    : set_(set), units_(units), jitter_(jitter), unit_of_(set.tensors.size(), 0) {
  for (std::size_t u = 0; u < units.size(); ++u) {
    for (const TensorId tensor : units[u].tensors) unit_of_[tensor.index()] = u;
  }
}

double ReadyTimes::slowness(RankId rank, std::uint32_t iteration) const {
  return 1 + jitter_.rank_skew * draw(jitter_, Draw::skew, rank.index()) +
         jitter_.jitter * draw(jitter_, Draw::jitter, rank.index(), iteration);
}

Cycle ReadyTimes::compute(RankId rank, std::uint32_t iteration) const {
  return std::max<Cycle>(1, stretched(set_.compute, slowness(rank, iteration)));
}

std::vector<std::size_t> ReadyTimes::order(RankId rank, std::uint32_t iteration) const {
  std::vector<std::size_t> order(set_.tensors.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  if (jitter_.order_window <= 1) return order;
  std::vector<double> place(order.size());
  for (std::size_t t = 0; t < place.size(); ++t) {
    const std::uint64_t of_rank = mix(rank.index(), iteration);
    place[t] =
        static_cast<double>(t) + jitter_.order_window * draw(jitter_, Draw::order, of_rank, t);
  }
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return place[a] < place[b]; });
  return order;
}

std::vector<ReadyUnit> ReadyTimes::of(RankId rank, std::uint32_t iteration) const {
  const double slow = slowness(rank, iteration);
  const std::vector<std::size_t> tensors = order(rank, iteration);
  std::vector<ReadyUnit> ready(units_.size());
  for (std::size_t u = 0; u < units_.size(); ++u) ready[u] = {0, kNever, UnitId(u)};
  for (std::size_t k = 0; k < tensors.size(); ++k) {
    ReadyUnit& unit = ready[unit_of_[tensors[k]]];
    const Cycle complete = std::max<Cycle>(1, stretched(set_.tensors[k].ready, slow));
    unit.at = std::max(unit.at, complete);
    unit.first = std::min(unit.first, complete);
  }
  std::stable_sort(ready.begin(), ready.end(),
                   [](const ReadyUnit& a, const ReadyUnit& b) { return a.at < b.at; });
  return ready;
}

}  // namespace espalier
