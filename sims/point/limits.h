// Limits that configuration keys share with files of links, messages and layers.
#pragma once

#include <cstdint>

namespace espalier {

inline constexpr std::uint64_t kSecond = 1'000'000'000'000;  // picoseconds

inline constexpr std::uint64_t kLongestLatencyCycles = 1'000'000;
inline constexpr std::uint64_t kLongestRunCycles = 1'000'000'000'000'000;
inline constexpr std::uint64_t kWidestFlit = 4096;  // bytes
inline constexpr std::uint64_t kLargestMessage = std::uint64_t{1} << 30;
inline constexpr std::uint64_t kLargestCollective = std::uint64_t{1} << 40;

// Limits of one link in picoseconds and bytes per second.
inline constexpr std::uint64_t kLongestLinkLatency = kSecond;
inline constexpr std::uint64_t kSlowestLink = 1'000;
inline constexpr std::uint64_t kFastestLink = 1'000 * kSecond;

}  // namespace espalier
