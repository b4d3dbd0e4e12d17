// HDRM: halving-doubling with rank mapping on a BiGraph (EFLOPS, Dong et al., HPCA 2020; a baseline
// of MultiTree).
//
// Partners differ in one bit of their ranks, so the parity of a rank says on which side it sits: a
// message always crosses from one side to the other, over one link between switches. With s bits
// for a side's switches and p for a switch's nodes, an upper rank sits at the switch of its bits 0
// .. s-1, a lower one at that of its bits s .. s+p-1 and then 0, 1, ... (s bits in all). If p <= s
// the two switches of a message and the step then tell the sender, and no link carries two messages
// of a step.
#include <fmt/format.h>

#include <utility>
#include <vector>

#include "alg/generators/generator.h"
#include "alg/generators/halving_doubling.h"

namespace espalier {
namespace {

bool is_power_of_two(std::size_t n) { return n != 0 && (n & (n - 1)) == 0; }

std::uint32_t log2_of(std::size_t power) {
  std::uint32_t bits = 0;
  while (power >> bits > 1) ++bits;
  return bits;
}

bool is_upper_rank(std::size_t rank) {
  bool even = true;
  for (; rank != 0; rank &= rank - 1) even = !even;
  return even;
}

// The number of the rank's switch within its side.
std::size_t switch_of(std::size_t rank, std::uint32_t switch_bits, std::uint32_t node_bits) {
  const std::size_t sides_switches = std::size_t{1} << switch_bits;
  if (is_upper_rank(rank)) return rank % sides_switches;
  const std::size_t middle = rank >> switch_bits & ((std::size_t{1} << node_bits) - 1);
  return (middle | rank << node_bits) % sides_switches;
}

}  // namespace

std::vector<NodeId> hdrm_ranks(const Topology& topology) {
  const SwitchedShape& shape = *topology.switched();
  const std::uint32_t switch_bits = log2_of(shape.leaves / 2);
  const std::uint32_t node_bits = log2_of(shape.nodes_per_switch);
  std::vector<std::size_t> ranks_at(shape.leaves, 0);
  std::vector<NodeId> nodes;
  for (std::size_t rank = 0; rank < topology.num_nodes(); ++rank) {
    const std::size_t leaf =
        switch_of(rank, switch_bits, node_bits) + (is_upper_rank(rank) ? 0 : shape.leaves / 2);
    nodes.emplace_back(leaf * shape.nodes_per_switch + ranks_at[leaf]++);
  }
  return nodes;
}

std::string unsuited_for_hdrm(const Topology& topology) {
  const auto& shape = topology.switched();
  if (!shape || shape->kind != SwitchedShape::Kind::bigraph) {
    return "HDRM maps ranks onto the two sides of a BiGraph; this network is none.";
  }
  if (is_power_of_two(shape->leaves) && is_power_of_two(shape->nodes_per_switch)) return {};
  return fmt::format("HDRM needs powers of two; this BiGraph has {} switches with {} nodes each.",
                     shape->leaves, shape->nodes_per_switch);
}

Schedule generate_hdrm(const Topology& topology, const CollectiveRequest& request) {
  return halving_doubling("hdrm", topology, request, hdrm_ranks(topology));
}

}  // namespace espalier
