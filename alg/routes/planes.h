// Parts of a network that each link all nodes and share no link: planes of switches, and parallel
// links.
#pragma once

#include <cstdint>
#include <vector>

#include "hw/topology/topology.h"

namespace espalier {

// A plane is a connected component of switches, nodes taken out, to which every node is linked. The
// links between nodes are a plane as well if they connect all nodes. Where all neighbours of a
// plane have at least k parallel links each way, the i-th links of all neighbours are the i-th of k
// planes; the last one has the rest. Routes that stay in their planes cannot wait for each other.
class Planes {
 public:
  static constexpr std::uint32_t kNone = ~0U;
  static constexpr std::uint64_t kMegabyte = 1'000'000;  // of rates

  // None in a network whose family has routes of its own. Fewer than two planes change nothing.
  explicit Planes(const Topology& topology);

  [[nodiscard]] std::size_t size() const { return rates_.size(); }
  // The fastest plane is the first one; kNone: the link is in no plane.
  [[nodiscard]] std::uint32_t of(LinkId link) const { return of_link_[link.index()]; }
  // Of each plane: the rate of its slowest link, in MB/s, at least 1.
  [[nodiscard]] const std::vector<std::uint64_t>& rates() const { return rates_; }
  // The plane of every message in turn, each as often as its rate demands.
  [[nodiscard]] std::vector<std::uint32_t> turns() const;

 private:
  std::vector<std::uint32_t> of_link_;
  std::vector<std::uint64_t> rates_;
};

// How many units of each plane's data make shares in proportion to `rates`. If that is more than
// `most` in all, nearly in proportion; each has one at least.
[[nodiscard]] std::vector<std::uint32_t> units_of_rates(const std::vector<std::uint64_t>& rates,
                                                        std::size_t most);

// By vertex: the number of the connected component of switches; nodes are in none (Planes::kNone).
[[nodiscard]] std::vector<std::uint32_t> switch_components(const Topology& topology,
                                                           std::uint32_t& components);

}  // namespace espalier
