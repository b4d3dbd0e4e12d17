// Maximum flows and minimum cuts with integer capacities, many on one network. Dinic's algorithm; a
// flow stops at the value that is asked for.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

namespace espalier {

// For exact products of rates in bytes per second and the two sides of a ratio. It cannot overflow
// in alg/bounds, where all capacities together are at most twice the rate of all links times the
// number of nodes: a network has fewer than 2^31 arcs, one for each link and two for each node, so
// links x nodes < 2^59, rates are below 2^64, and the sum is below 2^124.
__extension__ using WideAmount = __int128;

// Preconditions: no capacity is negative, and no capacity or flow exceeds kUnlimited.
template <class Amount>
class MaxFlow {
 public:
  static constexpr Amount kUnlimited = (Amount{1} << (8 * sizeof(Amount) - 3)) - 1;

  explicit MaxFlow(std::size_t vertices) : first_(vertices, kNone) {}

  std::size_t add_vertex() {
    first_.push_back(kNone);
    return first_.size() - 1;
  }
  // Returns the arc's number, for set_capacity.
  std::size_t add_arc(std::size_t from, std::size_t to, Amount capacity = 0);
  void set_capacity(std::size_t arc, Amount capacity) { capacity_[2 * arc] = capacity; }
  [[nodiscard]] Amount capacity(std::size_t arc) const { return capacity_[2 * arc]; }
  // Removes the arcs and vertices that were added last.
  void truncate(std::size_t vertices, std::size_t arcs);
  [[nodiscard]] std::size_t num_arcs() const { return capacity_.size() / 2; }
  [[nodiscard]] std::size_t num_vertices() const { return first_.size(); }

  // The maximum flow from `source` to `sink`, or `enough` if it is at least that much.
  // Precondition: they differ.
  Amount max_flow(std::size_t source, std::size_t sink, Amount enough = kUnlimited);
  // Vertices that searches have visited so far.
  [[nodiscard]] std::uint64_t work() const { return work_; }
  // The last flow on the arc.
  [[nodiscard]] Amount flow(std::size_t arc) const { return capacity_[2 * arc] - left_[2 * arc]; }
  // Whether the last flow, which was below `enough`, leaves a way from its source to the vertex:
  // the vertex is on the source's side of the minimum cut that has the smallest such side.
  [[nodiscard]] bool on_source_side(std::size_t vertex) const { return level_[vertex] != kNone; }

 private:
  static constexpr std::uint32_t kNone = std::numeric_limits<std::uint32_t>::max();

  bool find_levels(std::size_t source, std::size_t sink);
  Amount push(std::size_t vertex, std::size_t sink, Amount amount);

  // Arc a and its reverse a ^ 1 are neighbours; a vertex's arcs are a list.
  std::vector<std::uint32_t> first_;
  std::vector<std::uint32_t> next_;
  std::vector<std::uint32_t> to_;
  std::vector<Amount> capacity_;
  std::vector<Amount> left_;
  std::vector<std::uint32_t> level_;
  std::vector<std::uint32_t> at_;
  std::vector<std::uint32_t> queue_;
  std::uint64_t work_ = 0;
};

using SmallFlow = MaxFlow<std::int64_t>;
using WideFlow = MaxFlow<WideAmount>;

}  // namespace espalier
