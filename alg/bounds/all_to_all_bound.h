// The bandwidth bound of an all-to-all.
#pragma once

#include "alg/bounds/bounds.h"

namespace espalier {

// With size/N bytes for every ordered pair of N nodes, the largest of
//   size/N * |S| (N - |S|) / B+(S)   over sets S: what is inside is for all who are outside. The
//                                    best S is hard to find; tried are single nodes, balls around
//                                    every node, and the slices of a grid.
//   size/N * sum of distances / rate of all links: every byte takes up as many links as its
//                                    destination is away.
// Preconditions as for bandwidth_bound.
[[nodiscard]] BandwidthBound all_to_all_bound(const Topology& topology);

}  // namespace espalier
