// all_to_all: does the layout of the data leave anybody out? What the chunks say is exchanged must
// be what an all-to-all exchanges, before it means anything that they arrive.
#include <fmt/format.h>

#include <algorithm>

#include "alg/certify/certifier_parts.h"

namespace espalier::certifier {

namespace {

// Cut evenly between elements, shares at most one of them apart: of `element_bytes`, or, where that
// is 0, of any size that fits.
bool is_even_cut(const std::vector<Bytes>& shares, Bytes element_bytes) {
  const auto extremes = std::minmax_element(shares.begin(), shares.end());
  const Bytes smallest = *extremes.first;
  const Bytes largest = *extremes.second;
  if (smallest == largest) return true;
  if (element_bytes != 0 && largest - smallest > element_bytes) return false;
  const bool two_sizes = std::all_of(shares.begin(), shares.end(), [&](Bytes share) {
    return share == smallest || share == largest;
  });
  return two_sizes && smallest % (largest - smallest) == 0;
}

}  // namespace

void check_shares(CollectiveOp op, Bytes element_bytes, const std::vector<Chunk>& chunks,
                  std::size_t num_nodes, Findings& findings) {
  if (op != CollectiveOp::all_to_all) return;
  std::vector<Bytes> shares(num_nodes * num_nodes, 0);  // by owner, then destination
  for (const Chunk& chunk : chunks) {
    if (chunk.owner.index() >= num_nodes || chunk.destination.index() >= num_nodes) return;
    shares[chunk.owner.index() * num_nodes + chunk.destination.index()] += chunk.size;
  }
  const std::vector<Bytes> first(shares.begin(),
                                 shares.begin() + static_cast<std::ptrdiff_t>(num_nodes));
  if (!is_even_cut(first, element_bytes)) {
    findings.add(ViolationKind::postcondition, [&] {
      const auto [least, most] = std::minmax_element(first.begin(), first.end());
      return fmt::format("of rank 0's data {} bytes are for rank {} and {} for rank {}", *least,
                         least - first.begin(), *most, most - first.begin());
    });
  }
  for (std::size_t owner = 1; owner < num_nodes; ++owner) {
    for (std::size_t to = 0; to < num_nodes; ++to) {
      const Bytes share = shares[owner * num_nodes + to];
      if (share == first[to]) continue;
      findings.add(ViolationKind::postcondition, [&] {
        return fmt::format("{} bytes of rank {}'s data are for rank {}, of rank 0's {}", share,
                           owner, to, first[to]);
      });
    }
  }
}

}  // namespace espalier::certifier
