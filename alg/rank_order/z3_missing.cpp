#include <stdexcept>

#include "alg/rank_order/z3_order.h"

namespace espalier {

const char* to_string(Z3Verdict) { return ""; }

std::string why_no_z3() {
  return "reorder.z3_rlimit: this espalier was built without Z3; "
         "cmake -DESPALIER_WITH_Z3=ON builds it in where libz3-dev is installed";
}

Z3Answer z3_better_order(const CostModel&, const CostMatrix&, Cost, std::uint64_t) {
  throw std::invalid_argument(why_no_z3());
}

}  // namespace espalier
