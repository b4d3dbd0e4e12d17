// Which of several designs nobody would refuse: none is at least as good in both and better in one.
#pragma once

#include <vector>

namespace espalier::report {

struct Design {
  double cost = 0;  // the less the better
  double time = 0;  // likewise
};

// By design: nothing dominates it. Equal designs are all on the front or all off it.
[[nodiscard]] std::vector<bool> pareto_front(const std::vector<Design>& designs);

}  // namespace espalier::report
