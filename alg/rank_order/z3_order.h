// Asks an SMT solver for an order that is cheaper than a known one (Cloud Collectives, section
// IV-C), in builds with ESPALIER_WITH_Z3.
#pragma once

#include <cstdint>
#include <string>

#include "alg/rank_order/order_model.h"

namespace espalier {

enum class Z3Verdict : std::uint8_t {
  better,   // the solver found a cheaper order
  optimal,  // the solver proved that no order is cheaper
  unknown,  // the solver reached its resource limit
};
[[nodiscard]] const char* to_string(Z3Verdict verdict);

struct Z3Answer {
  Z3Verdict verdict = Z3Verdict::unknown;
  RankOrder order;  // verdict better: the cheaper order
};

// A sentence for the user if the build has no Z3; otherwise empty.
[[nodiscard]] std::string why_no_z3();

// `rlimit` is in Z3's resource units, which do not depend on the machine's speed. Throws
// std::invalid_argument if the build has no Z3.
[[nodiscard]] Z3Answer z3_better_order(const CostModel& model, const CostMatrix& costs, Cost known,
                                       std::uint64_t rlimit);

}  // namespace espalier
