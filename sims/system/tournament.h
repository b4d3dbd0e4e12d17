// Rounds in which everybody meets everybody else once (circle method).
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

namespace espalier {

[[nodiscard]] constexpr std::uint32_t tournament_rounds(std::uint32_t players) {
  return players % 2 == 0 ? players - 1 : players;
}

// The pairs of a round, each player in one at most: of an odd number one has a rest. The last one
// keeps its place while the others move around.
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
