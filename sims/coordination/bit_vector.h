// Bits that ranks intersect and unite.
#pragma once

#include <cstdint>
#include <vector>

namespace espalier {

class BitVector {
 public:
  explicit BitVector(std::size_t bits = 0, bool value = false)
      : words_((bits + 63) / 64, value ? ~std::uint64_t{0} : 0) {}

  void set(std::size_t bit) { words_[bit / 64] |= std::uint64_t{1} << (bit % 64); }
  [[nodiscard]] bool test(std::size_t bit) const {
    return (words_[bit / 64] >> (bit % 64) & 1U) != 0;
  }
  [[nodiscard]] bool none() const {
    for (const std::uint64_t word : words_) {
      if (word != 0) return false;
    }
    return true;
  }
  // Precondition of both: as long as `other`.
  void intersect(const BitVector& other) {
    for (std::size_t w = 0; w < words_.size(); ++w) words_[w] &= other.words_[w];
  }
  void unite(const BitVector& other) {
    for (std::size_t w = 0; w < words_.size(); ++w) words_[w] |= other.words_[w];
  }

 private:
  std::vector<std::uint64_t> words_;
};

}  // namespace espalier
