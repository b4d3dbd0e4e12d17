// Random choices that are the same on every machine, as those of the standard library are not.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <vector>

#include "hw/hash.h"

namespace espalier::fuzz {

inline constexpr std::uint64_t kPicosecondsPerCycle = 1000;  // at the default clock of 1 GHz

class Draw {
 public:
  // Every case of a seed has a stream of its own, so that any case can be drawn alone.
  Draw(std::uint64_t seed, std::uint64_t number) : stream_(mix(seed, number)) {}

  std::uint64_t between(std::uint64_t least, std::uint64_t most) {
    return least + mix(stream_, ++drawn_) % (most - least + 1);
  }
  std::uint32_t between32(std::uint32_t least, std::uint32_t most) {
    return static_cast<std::uint32_t>(between(least, most));
  }
  bool percent(std::uint64_t likely) { return between(0, 99) < likely; }

  template <class T>
  T pick(std::initializer_list<T> choices) {
    return *(choices.begin() + between(0, choices.size() - 1));
  }
  template <class T>
  const T& pick(const std::vector<T>& choices) {
    return choices[between(0, choices.size() - 1)];
  }

 private:
  std::uint64_t stream_;
  std::uint64_t drawn_ = 0;
};

}  // namespace espalier::fuzz
