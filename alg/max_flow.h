// Minimum cuts between two vertices of a network, exact.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace espalier {

// 128 bits: rates in bytes per second, multiplied by the two sides of a ratio, stay exact.
using FlowAmount = __int128;

// Dinic's algorithm. The arcs stay, their capacities may be set anew for every cut.
class FlowNetwork {
 public:
  explicit FlowNetwork(std::size_t vertices) : arcs_of_(vertices) {}

  // Returns the number of the arc, for set_capacity.
  std::size_t add_arc(std::size_t from, std::size_t to);
  void set_capacity(std::size_t arc, FlowAmount capacity) { arcs_[2 * arc].capacity = capacity; }

  // Capacity of the minimum cut that separates sink from source.
  FlowAmount min_cut(std::size_t source, std::size_t sink);
  // Side of the vertex in the cut found last: the smallest minimum cut's source side.
  [[nodiscard]] bool on_source_side(std::size_t vertex) const { return level_[vertex] != kUnseen; }

 private:
  static constexpr std::uint32_t kUnseen = 0xffffffffU;
  struct Arc {
    std::size_t to = 0;
    FlowAmount capacity = 0;
    FlowAmount left = 0;
  };

  bool set_levels(std::size_t source, std::size_t sink);
  FlowAmount augment(std::size_t source, std::size_t sink);

  std::vector<Arc> arcs_;  // arc 2i and its reverse 2i + 1
  std::vector<std::vector<std::size_t>> arcs_of_;
  std::vector<std::uint32_t> level_;
  std::vector<std::size_t> next_arc_;
  std::vector<std::size_t> queue_;
  std::vector<std::size_t> path_;
};

}  // namespace espalier
