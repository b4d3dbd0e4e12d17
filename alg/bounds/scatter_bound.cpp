// The cut that binds an all_gather or a reduce_scatter, by max-flow.
#include <algorithm>
#include <cstddef>
#include <numeric>
#include <utility>
#include <vector>

#include "alg/bounds/cuts.h"

namespace espalier {

namespace {

struct Ratio {
  WideAmount numerator = 0;
  WideAmount denominator = 1;
};

double to_double(const Ratio& r) {
  return static_cast<double>(r.numerator) / static_cast<double>(r.denominator);
}

// Maximises |S| / B(S) over the sets S that lack at least one node, by Dinkelbach's iteration: a
// set with |S| - B(S) * best > 0 is better than the best one, and a minimum cut finds it. |S|
// counts nodes, or the bytes of their parts.
class ScatterBound {
 public:
  ScatterBound(const Topology& topology, Direction direction, std::vector<Bytes> parts)
      : topology_(topology),
        direction_(direction),
        parts_(std::move(parts)),
        all_(std::accumulate(parts_.begin(), parts_.end(), WideAmount{0})),
        source_(topology.num_vertices()),
        network_(topology.num_vertices() + 1) {
    for (const TopologyLink& link : topology.links()) {
      network_.add_arc(tail_of(link, direction).index(), head_of(link, direction).index());
    }
    for (std::size_t n = 0; n < topology.num_nodes(); ++n) network_.add_arc(source_, n);
    start_with_single_nodes();
  }

  void improve_over_all_cuts() {
    set_capacities();
    for (std::size_t left_out = 0; left_out < topology_.num_nodes();) {
      const WideAmount least = network_.max_flow(source_, left_out);
      if (least == all_ * best_.denominator) {
        ++left_out;
        continue;
      }
      for (std::size_t v = 0; v < topology_.num_vertices(); ++v) {
        cut_.inside[v] = network_.on_source_side(v);
      }
      rate_cut();
      set_capacities();
    }
  }

  [[nodiscard]] Ratio best() const { return best_; }
  [[nodiscard]] WideAmount all() const { return all_; }
  [[nodiscard]] const Cut& cut() const { return cut_; }

 private:
  // Starts with all vertices except the node with the lowest rate towards it.
  void start_with_single_nodes() {
    std::vector<WideAmount> rate(topology_.num_vertices(), 0);
    for (const TopologyLink& link : topology_.links()) {
      rate[head_of(link, direction_).index()] += link.spec.bytes_per_second;
    }
    const auto nodes_end = rate.begin() + static_cast<std::ptrdiff_t>(topology_.num_nodes());
    const auto least = std::min_element(rate.begin(), nodes_end);
    cut_ =
        single_node(topology_, NodeId(static_cast<std::size_t>(least - rate.begin())), direction_);
    cut_.inside.flip();
    rate_cut();
  }

  void rate_cut() {
    WideAmount bytes = 0;
    for (std::size_t n = 0; n < parts_.size(); ++n) bytes += cut_.inside[n] ? parts_[n] : 0;
    best_ = {bytes, border_rate(topology_, cut_)};
  }

  // The cut of S has the size denominator * (all - |S|) + numerator * B(S).
  void set_capacities() {
    std::size_t arc = 0;
    for (const TopologyLink& link : topology_.links()) {
      network_.set_capacity(arc++, best_.numerator * link.spec.bytes_per_second);
    }
    for (const Bytes part : parts_) network_.set_capacity(arc++, best_.denominator * part);
  }

  const Topology& topology_;
  Direction direction_;
  std::vector<Bytes> parts_;  // by node
  WideAmount all_;
  std::size_t source_;
  WideFlow network_;
  Ratio best_;
  Cut cut_;
};

}  // namespace

BandwidthBound scatter_bound(const Topology& topology, Direction direction,
                             const std::vector<Bytes>& parts) {
  const bool equal = parts.empty();
  ScatterBound bound(topology, direction,
                     equal ? std::vector<Bytes>(topology.num_nodes(), 1) : parts);
  const bool uniform = equal && single_nodes_bind(topology);
  if (!uniform) bound.improve_over_all_cuts();
  const Cut left_out = other_side(bound.cut());
  return {to_double(bound.best()) / static_cast<double>(bound.all()),
          uniform ? "each node alone: " + border_text(topology, left_out)
                  : cut_text(topology, bound.cut()),
          crossing_of(topology, bound.cut())};
}

}  // namespace espalier
