// Maximum flows with small integer capacities, many on one network. Dinic's algorithm; a flow stops
// at the value that is asked for.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

namespace espalier {

class ResidualFlow {
 public:
  using Amount = std::int64_t;
  static constexpr Amount kUnlimited = std::numeric_limits<Amount>::max() / 4;

  explicit ResidualFlow(std::size_t vertices) : first_(vertices, kNone) {}

  std::size_t add_vertex() {
    first_.push_back(kNone);
    return first_.size() - 1;
  }
  // Returns the arc's number, for set_capacity.
  std::size_t add_arc(std::size_t from, std::size_t to, Amount capacity);
  void set_capacity(std::size_t arc, Amount capacity) { capacity_[2 * arc] = capacity; }
  [[nodiscard]] Amount capacity(std::size_t arc) const { return capacity_[2 * arc]; }
  // Removes the arcs and vertices that were added last.
  void truncate(std::size_t vertices, std::size_t arcs);
  [[nodiscard]] std::size_t num_arcs() const { return capacity_.size() / 2; }
  [[nodiscard]] std::size_t num_vertices() const { return first_.size(); }

  // The maximum flow from `source` to `sink`, or `enough` if it is at least that much.
  // Precondition: they differ.
  Amount max_flow(std::size_t source, std::size_t sink, Amount enough = kUnlimited);
  // The last flow on the arc.
  [[nodiscard]] Amount flow(std::size_t arc) const { return capacity_[2 * arc] - left_[2 * arc]; }
  // Whether the last flow, which was below `enough`, leaves a way from its source to the vertex:
  // the vertex is on the source's side of a minimum cut.
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
};

}  // namespace espalier
