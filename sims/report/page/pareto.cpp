#include "sims/report/page/pareto.h"

#include <algorithm>
#include <limits>
#include <numeric>

namespace espalier::report {

std::vector<bool> pareto_front(const std::vector<Design>& designs) {
  std::vector<std::size_t> order(designs.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    if (designs[a].cost != designs[b].cost) return designs[a].cost < designs[b].cost;
    return designs[a].time < designs[b].time;
  });
  std::vector<bool> front(designs.size(), false);
  double best = std::numeric_limits<double>::infinity();  // time of all that are cheaper
  for (std::size_t i = 0; i < order.size();) {
    const Design& first = designs[order[i]];  // the fastest of its cost
    const bool is_better = first.time < best;
    std::size_t next = i;
    for (; next < order.size() && designs[order[next]].cost == first.cost; ++next)
      front[order[next]] = is_better && designs[order[next]].time == first.time;
    best = std::min(best, first.time);
    i = next;
  }
  return front;
}

}  // namespace espalier::report
