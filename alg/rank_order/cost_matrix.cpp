#include "alg/rank_order/cost_matrix.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <stdexcept>

namespace espalier {

namespace {

std::vector<std::uint64_t> symmetric(const std::vector<std::uint64_t>& directed,
                                     std::size_t nodes) {
  if (directed.size() != nodes * nodes) {
    throw std::invalid_argument(fmt::format("a matrix of {} nodes has {} entries, not {}", nodes,
                                            nodes * nodes, directed.size()));
  }
  std::vector<std::uint64_t> both(directed.size(), 0);
  for (std::size_t i = 0; i < nodes; ++i) {
    for (std::size_t j = 0; j < nodes; ++j) {
      if (i != j) both[i * nodes + j] = std::max(directed[i * nodes + j], directed[j * nodes + i]);
    }
  }
  return both;
}

std::uint64_t largest_of(const std::vector<std::uint64_t>& values) {
  return values.empty() ? 0 : *std::max_element(values.begin(), values.end());
}

}  // namespace

CostMatrix::CostMatrix(std::size_t nodes, const std::vector<std::uint64_t>& latency,
                       const std::vector<std::uint64_t>& per_byte, std::uint64_t scale,
                       Bytes largest, std::size_t messages)
    : nodes_(nodes),
      latency_(symmetric(latency, nodes)),
      per_byte_(symmetric(per_byte, nodes)),
      scale_(scale) {
  // A bit each for signs and penalties.
  const long double most =
      4.0L * static_cast<long double>(std::max(nodes + 64, messages)) *
      (static_cast<long double>(largest_of(latency_)) * static_cast<long double>(scale) +
       static_cast<long double>(largest) * static_cast<long double>(largest_of(per_byte_)));
  if (scale == 0 || most > static_cast<long double>(std::numeric_limits<std::int64_t>::max())) {
    throw std::invalid_argument(fmt::format(
        "costs of {} nodes with messages of {} bytes exceed 64 bits: smaller units would do", nodes,
        largest));
  }
}

CostMatrix CostMatrix::from_latency(std::size_t nodes, const std::vector<std::uint64_t>& latency,
                                    Bytes window, Bytes largest, std::size_t messages) {
  CostMatrix matrix(nodes, latency, latency, window, largest, messages);
  matrix.per_byte_.clear();
  return matrix;
}

std::vector<Cost> CostMatrix::costs(Bytes bytes) const {
  std::vector<Cost> all(nodes_ * nodes_, 0);
  for (std::size_t i = 0; i < nodes_; ++i) {
    for (std::size_t j = 0; j < nodes_; ++j) {
      if (i != j) all[i * nodes_ + j] = cost(i, j, bytes);
    }
  }
  return all;
}

}  // namespace espalier
