// An SMT solver asked for an order that is cheaper than a known one (Cloud Collectives, section
// IV-C), where the build has one (ESPALIER_WITH_Z3).
#pragma once

#include <cstdint>
#include <string>

#include "alg/rank_order/order_model.h"

namespace espalier {

enum class Z3Verdict : std::uint8_t {
  better,   // it found one
  optimal,  // it proved that there is none
  unknown,  // its resources did not last
};
[[nodiscard]] const char* to_string(Z3Verdict verdict);

struct Z3Answer {
  Z3Verdict verdict = Z3Verdict::unknown;
  RankOrder order;  // that is better
};

// Why the build has none, as a sentence for the user; empty where it has.
[[nodiscard]] std::string why_no_z3();

// `rlimit`: in Z3's resource units, which do not depend on the machine's speed. Throws
// std::invalid_argument where the build has no Z3.
[[nodiscard]] Z3Answer z3_better_order(const CostModel& model, const CostMatrix& costs, Cost known,
                                       std::uint64_t rlimit);

}  // namespace espalier
