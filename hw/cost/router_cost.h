// The router: buffers at each input port, their control, a crossbar and its allocators, the state
// and credits of its outputs; PHYs of its links, and the adders of a switch that reduces.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "hw/cost/block_cost.h"
#include "hw/cost/technology.h"

namespace espalier {

// The part of a router that serves one network. A router of a multi-dimensional system has one
// slice for each dimension, because flits have a width of their own there and never leave the
// dimension. Any other router is one slice.
struct RouterSlice {
  std::uint32_t dimension = 0;  // counted from 1; 0: the system has no dimensions
  std::uint32_t inputs = 0;     // ports from links and from the NI
  std::uint32_t outputs = 0;
  std::uint32_t vcs = 1;
  std::uint32_t vc_depth_flits = 1;
  std::uint32_t flit_bits = 1;
  bool input_per_vc = false;    // the crossbar has an input for each VC
  std::uint32_t link_ends = 0;  // links, a direction to and one from a neighbour counted as one
  Adders adders;                // of a switch that reduces

  [[nodiscard]] std::uint32_t crossbar_inputs() const { return inputs * (input_per_vc ? vcs : 1); }
  [[nodiscard]] friend bool operator==(const RouterSlice& a, const RouterSlice& b) {
    return a.dimension == b.dimension && a.inputs == b.inputs && a.outputs == b.outputs &&
           a.vcs == b.vcs && a.vc_depth_flits == b.vc_depth_flits && a.flit_bits == b.flit_bits &&
           a.input_per_vc == b.input_per_vc && a.link_ends == b.link_ends && a.adders == b.adders;
  }
};

struct SliceCost {
  RouterSlice slice;
  BlockCost buffers;  // one instance per crossbar input: all VCs of an input port, or one VC
  BlockCost fifo_control;
  BlockCost crossbar;
  BlockCost allocators;
  BlockCost output_state;
  BlockCost credit_counters;        // one instance per link and VC
  std::optional<BlockCost> adders;  // of a switch that reduces
  std::optional<BlockCost> phy;     // empty: the user has not described it
  // Delays in ps of VC allocation, switch allocation, buffer read and crossbar, in this order.
  std::vector<double> stages_ps;

  [[nodiscard]] std::vector<BlockCost> blocks() const;
};

[[nodiscard]] SliceCost price_slice(const RouterSlice& slice, const CostSpec& spec,
                                    const Technology& technology);

}  // namespace espalier
