// The coordinator's message table: who has asked for what (Romero et al., section 2.2.2). A tree of
// coordinators has one at each of its ranks, for the ranks below it.
#pragma once

#include <vector>

#include "sims/workload/coordination/tensor_set.h"

namespace espalier {

class RequestCounter {
 public:
  // Complete once `sources` have asked: ranks, or a rank and its children in the tree.
  RequestCounter(std::uint32_t sources, std::size_t units) : sources_(sources), asked_(units, 0) {}

  // One source's list. Units that are complete with it are appended to `complete`, in its order.
  void count(const std::vector<UnitId>& list, std::vector<UnitId>& complete) {
    for (const UnitId unit : list) {
      if (++asked_[unit.index()] != sources_) continue;
      asked_[unit.index()] = 0;
      complete.push_back(unit);
    }
  }

 private:
  std::uint32_t sources_;
  std::vector<std::uint32_t> asked_;  // by unit
};

}  // namespace espalier
