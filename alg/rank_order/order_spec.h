// What can be asked of a search for a rank order: the cost model, and how it is searched.
#pragma once

#include <cstdint>

#include "alg/generators/generator.h"

namespace espalier {

// Which statement of a model.
enum class OrderForm : std::uint8_t {
  generated,   // the messages that this tool's generator sends
  corrected,   // the paper's model with its indices put right
  as_printed,  // the paper's formula, letter by letter
};

enum class OrderObjective : std::uint8_t {
  sum,   // the paper's: of a ring's hops, of rounds that their slowest pair governs, or of a
         // tree's dearest way
  max,   // of a ring's hops: the slowest governs
  load,  // of all messages: what links that many of them share have to carry
};
enum class OrderSearch : std::uint8_t { annealing, tabu };
enum class OrderDirection : std::uint8_t { best, worst };
enum class OrderStart : std::uint8_t { clustered, identity, random };

struct OrderSearchSpec {
  OrderObjective objective = OrderObjective::sum;
  OrderSearch search = OrderSearch::annealing;
  OrderDirection direction = OrderDirection::best;
  OrderStart start = OrderStart::clustered;
  std::uint64_t evaluations = 1'000'000;  // of orders; the search ends with them
  std::uint64_t seed = 1;
};

}  // namespace espalier
