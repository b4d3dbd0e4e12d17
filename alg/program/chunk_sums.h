// Values of chunks, as sums of input chunks: equal sums are one number. Internal to the certifier.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "alg/program/program.h"

namespace espalier::program_certifier {

class ChunkSums {
 public:
  using Value = std::uint32_t;
  // Never written; and made of such, which was reported where it was read.
  static constexpr Value kNothing = 0;
  static constexpr Value kUnknown = 1;

  struct Term {
    InputChunk chunk;
    std::uint32_t times = 0;
    friend bool operator==(const Term& a, const Term& b) {
      return a.chunk == b.chunk && a.times == b.times;
    }
  };
  struct Terms {
    const Term* first;
    const Term* last;
    [[nodiscard]] const Term* begin() const { return first; }
    [[nodiscard]] const Term* end() const { return last; }
  };

  ChunkSums();
  [[nodiscard]] Value of(InputChunk chunk);
  [[nodiscard]] Value of(std::vector<InputChunk> chunks);
  [[nodiscard]] Value sum(Value a, Value b);
  // Ascending by chunk.
  [[nodiscard]] Terms terms(Value value) const;

 private:
  struct Entry {
    std::size_t begin = 0;  // in terms_
    std::size_t end = 0;
    std::uint64_t hash = 0;       // the sum of its terms', so that it is known before they are
    Value next_alike = kNothing;  // another one of the same hash
  };
  [[nodiscard]] Value intern(const std::vector<Term>& terms, std::uint64_t hash);

  std::vector<Term> terms_;
  std::vector<Entry> entries_;
  std::vector<Term> scratch_;
  std::unordered_map<std::uint64_t, Value> by_hash_;
  std::unordered_map<std::uint64_t, Value> by_pair_;
};

}  // namespace espalier::program_certifier
