// One stage of a hierarchical collective: a reduce-scatter or an all-gather of one chunk among the
// NPUs of a group in one dimension (Themis, section 2.2 and Table 1).
#pragma once

#include <cstdint>

#include "alg/schedule/schedule.h"
#include "hw/ids.h"

namespace espalier {

enum class StageKind : std::uint8_t { reduce_scatter, all_gather };

enum class DimensionAlgorithm : std::uint8_t {
  ring,              // both directions at the same time, half of the data each; P - 1 steps
  direct,            // to every peer at the same time; 1 step
  halving_doubling,  // recursive, P a power of two; log2 P steps
  // The switch reduces and multicasts (section 4.5); 1 step. An NPU sends its blocks to the switch
  // in turn, beginning with the block of the next NPU. Since all NPUs do the same, no two NPUs send
  // the same block at the same time.
  in_network
};

[[nodiscard]] const char* to_string(StageKind kind);
[[nodiscard]] const char* to_string(DimensionAlgorithm algorithm);
// Whether `size` NPUs (at least 2) can run the algorithm.
[[nodiscard]] bool suits(DimensionAlgorithm algorithm, std::uint32_t size);

// The data of a stage are P consecutive blocks. Block b belongs to the NPU with coordinate b in the
// dimension: after a reduce-scatter this NPU has the sum of the block, and before an all-gather it
// is the only NPU that has the block.
struct BlockRange {
  std::uint32_t first = 0;
  std::uint32_t count = 0;
};

struct StageMessage {
  // Of a send, the coordinate of the receiver. in_network: the NPU to which the switch passes the
  // blocks on, or the sender itself if these are all other NPUs (all-gather).
  // Of a receive, that of the sender; in_network: of one of the NPUs whose data were added.
  std::uint32_t peer = 0;
  BlockRange blocks;
};
using StageSend = StageMessage;
using StageReceive = StageMessage;

// The steps of a stage for the NPU with coordinate `self`. Lanes do not wait for each other. Lanes
// 0 and 1 of a ring are its two directions (0: to self + 1), each for one half of every block's
// data. All other algorithms have one lane. Within a lane, the sends of a step wait for the
// receives of the previous step.
class StageSteps {
 public:
  // Throws std::invalid_argument if the algorithm does not suit the size.
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
  [[nodiscard]] std::uint32_t messages(bool many_in_network) const;
  // The NPU `n` hops ahead in the direction of the lane, or behind; n <= size.
  [[nodiscard]] std::uint32_t ahead(std::uint32_t self, std::uint32_t lane, std::uint32_t n) const;
  [[nodiscard]] std::uint32_t behind(std::uint32_t self, std::uint32_t lane, std::uint32_t n) const;
  // halving_doubling: distance between partners.
  [[nodiscard]] std::uint32_t exchange_distance(StageKind kind, std::uint32_t step) const;

  DimensionAlgorithm algorithm_;
  std::uint32_t size_;
};

// n_K: bytes that an NPU sends in a stage that begins with `resident` bytes at each NPU (section
// 4.4, footnote 7); fractional if blocks are not whole.
[[nodiscard]] double bytes_sent(StageKind kind, DimensionAlgorithm algorithm, std::uint32_t size,
                                double resident);

}  // namespace espalier
