// Values of chunks, as sums of input chunks. Internal to the certifier.
#pragma once

#include <cstdint>
#include <vector>

#include "alg/program/program.h"

namespace espalier::program_certifier {

// A sum is kept as what it was added up from: most are parts of others and never looked at, so
// their terms are listed only when somebody asks.
class ChunkSums {
 public:
  using Value = std::uint32_t;
  // Never written; and made of such, which was reported where it was read.
  static constexpr Value kNothing = 0;
  static constexpr Value kUnknown = 1;

  struct Term {
    InputChunk chunk;
    std::uint32_t times = 0;
  };

  ChunkSums() : nodes_(2) {}
  [[nodiscard]] Value of(InputChunk chunk);
  [[nodiscard]] Value sum(Value a, Value b);
  // Whether it is the sum of `chunks`, each as often as it stands there. `chunks` ascend.
  [[nodiscard]] bool is_sum_of(Value value, const std::vector<InputChunk>& chunks);
  // The input chunk that it is; nullptr where it is none alone.
  [[nodiscard]] const InputChunk* single(Value value) const;
  // Ascending by chunk.
  [[nodiscard]] std::vector<Term> terms(Value value) const;

 private:
  struct Node {
    InputChunk chunk;       // where it has no parts
    Value left = kNothing;  // parts, which are older
    Value right = kNothing;
    std::uint64_t hash = 0;  // the sum of its chunks'
  };
  [[nodiscard]] bool is_single(Value value) const {
    return value > kUnknown && nodes_[value].left == kNothing;
  }

  std::vector<Node> nodes_;
  std::vector<Value> open_;  // while terms are listed
  std::vector<InputChunk> chunks_;
};

}  // namespace espalier::program_certifier
