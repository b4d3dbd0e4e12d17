// Taking back what was said of flits that have not come.
#pragma once

#include <algorithm>
#include <cstdint>

namespace espalier {

// The last `n` flits of a queue of runs do not come. `flits_of(run)`: the run's FlitRun.
template <class Runs, class FlitsOf>
void cut_runs(Runs& runs, std::uint64_t n, FlitsOf&& flits_of) {
  while (n != 0 && !runs.empty()) {
    auto& last = flits_of(runs.back());
    const std::uint64_t here = std::min(n, last.n);
    last.n -= here;
    n -= here;
    if (last.n == 0) runs.pop_back();
  }
}

}  // namespace espalier
