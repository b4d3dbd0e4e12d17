// One stage of a hierarchical collective: a reduce-scatter or an all-gather of one chunk
// among the NPUs of a group of one dimension (Themis, section 2.2 and Table 1).
#pragma once

#include <cstdint>
#include <vector>

#include "alg/schedule/schedule.h"
#include "hw/ids.h"

namespace espalier {

enum class StageKind : std::uint8_t { reduce_scatter, all_gather };

enum class DimensionAlgorithm : std::uint8_t {
  ring,              // both directions at once, half of the data each; P - 1 steps
  direct,            // every peer at once; 1 step
  halving_doubling,  // recursive, P a power of two; log2 P steps
  in_network  // the switch adds and copies (section 4.5); 1 step. An NPU's blocks go to it in
              // turn from the next one's on: all NPUs do the same, and at no time do two of
              // them send the same block
};

[[nodiscard]] const char* to_string(StageKind kind);
[[nodiscard]] const char* to_string(DimensionAlgorithm algorithm);
// Whether `size` NPUs, at least 2, can run it.
[[nodiscard]] bool suits(DimensionAlgorithm algorithm, std::uint32_t size);

// The data of a stage are P blocks in a row; block b belongs to the NPU with coordinate b in the
// dimension: it has the sum of it after a reduce-scatter, and is the only one to have it before an
// all-gather.
struct BlockRange {
  std::uint32_t first = 0;
  std::uint32_t count = 0;
};

struct StageSend {
  std::uint32_t peer = 0;  // coordinate. in_network: whom the switch passes it on to, the sender
                           // itself where that is all others (all-gather)
  BlockRange blocks;
};
struct StageReceive {
  std::uint32_t peer = 0;  // coordinate of the sender; in_network: of any of those added
  BlockRange blocks;
};

// The steps of a stage, as the NPU with coordinate `self` takes part in them. Lanes do not wait for
// each other: lane 0 and 1 of a ring are its two directions (0: to self + 1), each for one half of
// every block's data. All other algorithms have one lane. Within a lane a step's sends wait for
// what the step before receives.
class StageSteps {
 public:
  // Throws std::invalid_argument where the algorithm does not suit the size.
  StageSteps(DimensionAlgorithm algorithm, std::uint32_t size);

  [[nodiscard]] std::uint32_t size() const { return size_; }
  [[nodiscard]] DimensionAlgorithm algorithm() const { return algorithm_; }
  [[nodiscard]] std::uint32_t lanes() const {
    return algorithm_ == DimensionAlgorithm::ring ? 2 : 1;
  }
  [[nodiscard]] std::uint32_t steps() const;  // of each lane
  // Number of sends (and of receives) of a step.
  [[nodiscard]] std::uint32_t num_sends(StageKind kind, std::uint32_t step) const;
  [[nodiscard]] std::uint32_t num_receives(StageKind kind, std::uint32_t step) const;
  [[nodiscard]] StageSend send(StageKind kind, std::uint32_t self, std::uint32_t lane,
                               std::uint32_t step, std::uint32_t i) const;
  [[nodiscard]] StageReceive receive(StageKind kind, std::uint32_t self, std::uint32_t lane,
                                     std::uint32_t step, std::uint32_t i) const;

 private:
  // The NPU `n` hops on in the direction of the lane, and back; n <= size.
  [[nodiscard]] std::uint32_t ahead(std::uint32_t self, std::uint32_t lane, std::uint32_t n) const;
  [[nodiscard]] std::uint32_t behind(std::uint32_t self, std::uint32_t lane, std::uint32_t n) const;
  // halving_doubling: between partners.
  [[nodiscard]] std::uint32_t exchange_distance(StageKind kind, std::uint32_t step) const;

  DimensionAlgorithm algorithm_;
  std::uint32_t size_;
};

// n_K: bytes that an NPU sends in a stage that begins with `resident` bytes at each NPU (section
// 4.4, footnote 7); fractional where blocks are not whole.
[[nodiscard]] double bytes_sent(StageKind kind, DimensionAlgorithm algorithm, std::uint32_t size,
                                double resident);
// Bytes that are resident after the stage.
[[nodiscard]] double resident_after(StageKind kind, std::uint32_t size, double resident);

}  // namespace espalier
