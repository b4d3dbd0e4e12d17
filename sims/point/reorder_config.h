// Section reorder.
#pragma once

#include <cstdint>
#include <optional>

#include "alg/rank_order/order_spec.h"
#include "hw/ids.h"

namespace espalier {

// Settings of `espalier reorder`: how pairs are measured, and the search. A run does not depend on
// them.
struct ReorderConfig {
  // "auto" (nullopt): the model of the collective's algorithm.
  std::optional<OrderModel> model;
  OrderForm form = OrderForm::generated;
  OrderSearchSpec search;
  std::uint32_t random_orders = 500;  // to compare with (Cloud Collectives, section V)
  // Networks of at most this many nodes are searched exhaustively.
  std::uint32_t exact_nodes = 12;
  Bytes window = 64 << 10;        // bytes that a pair moves per round trip
  std::uint32_t probes = 1;       // for each ordered pair
  Bytes payload = 4;              // of a probe
  std::uint32_t percentile = 10;  // of a pair's round trips
};

}  // namespace espalier
