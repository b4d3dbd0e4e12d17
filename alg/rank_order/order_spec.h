// The settings of a search for a rank order: the cost model and the search.
#pragma once

#include <cstdint>

#include "alg/generators/generator.h"

namespace espalier {

enum class OrderForm : std::uint8_t {
  generated,   // the messages that this tool's generator sends
  corrected,   // the paper's model with corrected indices
  as_printed,  // the paper's formula, letter by letter
};

enum class OrderObjective : std::uint8_t {
  sum,   // the paper's: a ring's hops, the slowest pairs of rounds, a tree's most expensive path
  max,   // the slowest hop of a ring
  load,  // the sum of all messages, for links that many messages share
};
enum class OrderDirection : std::uint8_t { best, worst };
enum class OrderStart : std::uint8_t { clustered, identity, random };

struct OrderSearchSpec {
  OrderObjective objective = OrderObjective::sum;
  OrderDirection direction = OrderDirection::best;
  OrderStart start = OrderStart::clustered;
  std::uint64_t evaluations = 1'000'000;  // budget of priced orders
  std::uint64_t seed = 1;
};

}  // namespace espalier
