#include "alg/bounds/all_to_all_bound.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "alg/routes/distances.h"

namespace espalier {

namespace {

class Search {
 public:
  explicit Search(const Topology& topology) : topology_(topology) {}

  BandwidthBound run() {
    try_balls();
    if (topology_.grid()) try_slices();
    try_volume();
    return best_;
  }

 private:
  [[nodiscard]] double nodes() const { return static_cast<double>(topology_.num_nodes()); }

  template <class Describe>
  void offer(double seconds_per_byte, Describe describe) {
    // Equal bounds are told as the first of them, whatever the rounding.
    if (seconds_per_byte <= best_.seconds_per_byte * (1 + 1e-12)) return;
    best_ = {seconds_per_byte, describe()};
  }

  template <class Describe>
  void try_cut(const std::vector<bool>& inside, Describe describe) {
    std::size_t count = 0;
    for (std::size_t n = 0; n < topology_.num_nodes(); ++n) count += inside[n] ? 1U : 0U;
    if (count == 0 || count == topology_.num_nodes()) return;
    double out = 0;
    double in = 0;
    for (const TopologyLink& link : topology_.links()) {
      const bool from = inside[link.from.index()];
      const bool to = inside[link.to.index()];
      if (from && !to) out += static_cast<double>(link.spec.bytes_per_second);
      if (to && !from) in += static_cast<double>(link.spec.bytes_per_second);
    }
    const auto held = static_cast<double>(count);
    const double rate = std::min(out, in);
    offer(held * (nodes() - held) / nodes() / rate,
          [&] { return fmt::format("{}: {:g} GB/s", describe(count), rate / 1e9); });
  }

  void try_balls() {
    for (std::size_t n = 0; n < topology_.num_nodes(); ++n) {
      const auto distance = distances_from(topology_, NodeId(n));
      std::size_t farthest = 0;
      for (const std::size_t d : distance) farthest = std::max(farthest, d);
      for (std::size_t radius = 0; radius < farthest; ++radius) {
        std::vector<bool> inside;
        inside.reserve(distance.size());
        for (const std::size_t d : distance) inside.push_back(d <= radius);
        try_cut(inside, [&](std::size_t count) {
          return count == 1 ? fmt::format("node {} alone", topology_.vertex_name(NodeId(n)))
                            : fmt::format("the {} nodes within {} links of {}", count, radius,
                                          topology_.vertex_name(NodeId(n)));
        });
      }
    }
  }

  void try_slices() {
    const GridShape& grid = *topology_.grid();
    for (std::size_t dim = 0; dim < grid.dims.size(); ++dim) {
      for (std::uint32_t border = 1; border < grid.dims[dim]; ++border) {
        std::vector<bool> inside;
        for (std::size_t n = 0; n < topology_.num_nodes(); ++n) {
          inside.push_back(grid.coordinates(NodeId(n))[dim] < border);
        }
        try_cut(inside, [&](std::size_t count) {
          return fmt::format("cut {} | rest across dimension {}", count, dim);
        });
      }
    }
  }

  void try_volume() {
    double links_taken = 0;
    for (std::size_t n = 0; n < topology_.num_nodes(); ++n) {
      const auto distance = distances_from(topology_, NodeId(n));
      for (std::size_t m = 0; m < topology_.num_nodes(); ++m) {
        links_taken += static_cast<double>(distance[m]);
      }
    }
    double rate = 0;
    for (const TopologyLink& link : topology_.links()) {
      rate += static_cast<double>(link.spec.bytes_per_second);
    }
    offer(links_taken / nodes() / rate, [&] {
      return fmt::format("mean distance {:.4g} links over all links together: {:g} GB/s",
                         links_taken / nodes() / (nodes() - 1), rate / 1e9);
    });
  }

  const Topology& topology_;
  BandwidthBound best_;
};

}  // namespace

BandwidthBound all_to_all_bound(const Topology& topology) { return Search(topology).run(); }

}  // namespace espalier
