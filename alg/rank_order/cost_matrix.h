// What it costs two nodes to move bytes from one to the other: c_ij(S) = latency + S * per_byte.
#pragma once

#include <cstdint>
#include <vector>

#include "hw/ids.h"

namespace espalier {

// In 1/scale of the unit of latencies: integers throughout, so that nothing is rounded and results
// are the same everywhere.
using Cost = std::uint64_t;

class CostMatrix {
 public:
  // Both by from * nodes + to; of the two directions of a pair the larger counts, the diagonal does
  // not. `latency` in cycles or any unit, `per_byte` in 1/scale of it. Throws std::invalid_argument
  // where the sizes do not fit, or a sum of `messages` of `largest` bytes could exceed 64 bits; two
  // for each node can always be added.
  CostMatrix(std::size_t nodes, const std::vector<std::uint64_t>& latency,
             const std::vector<std::uint64_t>& per_byte, std::uint64_t scale, Bytes largest,
             std::size_t messages = 0);
  // Bandwidth goes with 1/RTT (Cloud Collectives, section IV-B: TCP moves a window per round trip):
  // per_byte = latency / window.
  [[nodiscard]] static CostMatrix from_latency(std::size_t nodes,
                                               const std::vector<std::uint64_t>& latency,
                                               Bytes window, Bytes largest,
                                               std::size_t messages = 0);

  [[nodiscard]] std::size_t nodes() const { return nodes_; }
  [[nodiscard]] Cost cost(std::size_t from, std::size_t to, Bytes bytes) const {
    const std::size_t at = from * nodes_ + to;
    if (is_proportional()) return latency_[at] * (scale_ + bytes);
    return latency_[at] * scale_ + bytes * per_byte_[at];
  }
  // per_byte is latency / scale: costs of all sizes order the pairs alike.
  [[nodiscard]] bool is_proportional() const { return per_byte_.empty(); }
  // In the unit of latencies.
  [[nodiscard]] double in_units(Cost cost) const {
    return static_cast<double>(cost) / static_cast<double>(scale_);
  }
  // Where costs are proportional: cost(i, j, S) is latencies()[i * nodes + j] * weight_of(S).
  [[nodiscard]] const std::vector<std::uint64_t>& latencies() const { return latency_; }
  [[nodiscard]] std::uint64_t weight_of(Bytes bytes) const { return scale_ + bytes; }
  // Of all pairs, in rows.
  [[nodiscard]] std::vector<Cost> costs(Bytes bytes) const;

 private:
  std::size_t nodes_;
  std::vector<std::uint64_t> latency_;
  std::vector<std::uint64_t> per_byte_;
  std::uint64_t scale_;
};

}  // namespace espalier
