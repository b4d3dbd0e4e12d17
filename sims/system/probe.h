// Round trips between all pairs of nodes, measured with packets on the simulated network.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "hw/topology/topology.h"
#include "sims/system/simulation.h"

namespace espalier {

struct RunPoint;

struct ProbeSpec {
  std::uint32_t probes = 1;       // for each pair and direction; at least 1
  Bytes payload = 4;              // of a probe and of its echo; at least 1
  std::uint32_t percentile = 10;  // of a pair's round trips, nearest rank; 1 to 100
};

struct ProbeResult {
  std::size_t nodes = 0;
  // In cycles, by from * nodes + to; 0 on the diagonal.
  std::vector<Cycle> round_trip;
};

// A node sends a probe, and its peer sends it back in the cycle after it has become visible. The
// round trip is the time from posting the probe to the cycle in which the echo is visible. The
// probes of a pair follow each other, first in one direction and then in the other (Cloud
// Collectives: a low percentile filters interference). Pairs are formed as in the rounds of a
// tournament, so a node probes one peer at a time; a round begins when all pairs of the previous
// round are done. Messages take the routes of packets and share VCs with other tenants' traffic,
// which runs at the same time. Collectives, traffic and control messages of the point are not
// simulated. This is one simulation in the point's fidelity. Throws std::invalid_argument if the
// system cannot be built or two nodes have no route, and std::runtime_error if the network comes to
// a standstill.
[[nodiscard]] ProbeResult probe_latency(const Topology& topology, const RunPoint& point,
                                        const ProbeSpec& spec, const ProgressCallback& progress);

// Rounds in which each player meets each other player once (circle method).
[[nodiscard]] constexpr std::uint32_t tournament_rounds(std::uint32_t players) {
  return players % 2 == 0 ? players - 1 : players;
}

// The pairs of a round. With an odd number of players one player rests; with an even number the
// last player keeps its place and the others move around.
[[nodiscard]] inline std::vector<std::pair<std::uint32_t, std::uint32_t>> tournament_pairs(
    std::uint32_t players, std::uint32_t round) {
  const std::uint32_t circle = tournament_rounds(players);
  std::vector<std::pair<std::uint32_t, std::uint32_t>> pairs;
  if (players == circle + 1) pairs.emplace_back(round, circle);
  for (std::uint32_t k = 1; k <= (circle - 1) / 2; ++k) {
    pairs.emplace_back((round + k) % circle, (round + circle - k) % circle);
  }
  return pairs;
}

}  // namespace espalier
