// Bits that ranks intersect and unite.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

namespace espalier {

class BitVector {
 public:
  explicit BitVector(std::size_t bits = 0, bool value = false)
      : words_((bits + 63) / 64, value ? ~std::uint64_t{0} : 0) {}

  void set(std::size_t bit) { words_[bit / 64] |= std::uint64_t{1} << (bit % 64); }
  void reset(std::size_t bit) { words_[bit / 64] &= ~(std::uint64_t{1} << (bit % 64)); }
  [[nodiscard]] bool test(std::size_t bit) const {
    return (words_[bit / 64] >> (bit % 64) & 1U) != 0;
  }
  [[nodiscard]] bool none() const {
    return std::all_of(words_.begin(), words_.end(), [](std::uint64_t word) { return word == 0; });
  }
  // Calls `use` for every bit that is set in one of them, ascending; both are as long.
  template <class Use>
  static void for_each(const BitVector& a, const BitVector& b, Use&& use) {
    for (std::size_t w = 0; w < a.words_.size(); ++w) {
      std::uint64_t left = a.words_[w] | b.words_[w];
      for (std::size_t bit = 64 * w; left != 0; ++bit, left >>= 1) {
        if ((left & 1U) != 0) use(static_cast<std::uint32_t>(bit));
      }
    }
  }
  // Precondition: as long as `other`.
  void intersect(const BitVector& other) {
    for (std::size_t w = 0; w < words_.size(); ++w) words_[w] &= other.words_[w];
  }

 private:
  std::vector<std::uint64_t> words_;
};

}  // namespace espalier
