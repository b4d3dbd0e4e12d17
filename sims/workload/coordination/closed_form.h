// The machine under the hosts as arithmetic: what a message and a collective take on an idle
// network.
#pragma once

#include <cstdint>

#include "hw/ids.h"

namespace espalier {

class MessageTime {
 public:
  // Paths on which a message takes as long have the same number.
  using Path = std::uint32_t;

  MessageTime() = default;
  virtual ~MessageTime() = default;
  MessageTime(const MessageTime&) = delete;
  MessageTime& operator=(const MessageTime&) = delete;

  // Precondition: from != to.
  [[nodiscard]] virtual Path path(RankId from, RankId to) const = 0;
  // From given to the NI to in the receiver's memory; at least 1.
  [[nodiscard]] virtual Cycle flight(Path path, Bytes bytes) const = 0;
};

class ReductionTime {
 public:
  ReductionTime() = default;
  virtual ~ReductionTime() = default;
  ReductionTime(const ReductionTime&) = delete;
  ReductionTime& operator=(const ReductionTime&) = delete;

  // An all-reduce that all ranks begin together; at least 1.
  [[nodiscard]] virtual Cycle all_reduce(Bytes bytes) const = 0;
};

}  // namespace espalier
