#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace espalier {

// Which slots of a timing wheel hold something: one bit each, for the cycles from the present one
// to kSlots - 1 ahead. Cycle c has slot c % kSlots.
class SlotRing {
 public:
  static constexpr std::size_t kSlots = 1024;

  void set(std::size_t slot) { words_[slot / 64] |= bit(slot); }
  void clear(std::size_t slot) { words_[slot / 64] &= ~bit(slot); }
  // How far the first occupied slot lies behind slot `base + first`, counted from `base`; kSlots if
  // there is none.
  [[nodiscard]] std::size_t next(std::uint64_t base, std::size_t first) const {
    for (std::size_t distance = first; distance < kSlots;) {
      const std::size_t slot = (base + distance) % kSlots;
      const std::uint64_t word = words_[slot / 64] >> (slot % 64);
      if (word != 0) {
        const auto skip = static_cast<std::size_t>(__builtin_ctzll(word));
        return distance + skip < kSlots ? distance + skip : kSlots;
      }
      distance += 64 - slot % 64;
    }
    return kSlots;
  }

 private:
  static constexpr std::uint64_t bit(std::size_t slot) { return std::uint64_t{1} << (slot % 64); }
  std::array<std::uint64_t, kSlots / 64> words_{};
};

}  // namespace espalier
