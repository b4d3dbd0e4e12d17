// Recognises the period in which a sender starts its packets.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <optional>

#include "flowctl/flit_run.h"

namespace espalier {

// Notes when full packets of one message start on one VC, and finds the period after which their
// distances repeat. Equal distances in a row are one entry, so a burst of any length is short.
class StartPattern {
 public:
  static constexpr std::uint64_t kMostPackets = 256;  // of a period

  void restart() { count_ = misses_ = 0; }
  void note(Tick start) {
    if (mistrust_ != 0) --mistrust_;
    if (count_ != 0) note_distance(start - last_, 1);
    if (count_ == 0) count_ = 1;
    last_ = start;
  }
  // A promise was broken after `packets` packets. If that happens often, no pattern is trusted for
  // some time: a broken promise costs more than it saves.
  void broken(std::uint64_t packets) {
    misses_ = packets > kMistrust ? 0 : misses_ + 1;
    if (misses_ > kMostMisses) mistrust_ = kMistrust;
  }
  // More packets, at equal distances.
  void note_more(Tick distance, std::uint64_t packets) {
    note_distance(distance, packets);
    last_ += distance * packets;
  }
  // The packets from the last one noted on, if their distances repeat; nothing if they do not, or
  // if packets of `packet` flits at `rate` follow without a gap.
  [[nodiscard]] std::optional<Comb> comb(std::uint32_t packet, Tick rate) const;

 private:
  struct Entry {
    std::uint32_t distance = 0;
    std::uint32_t packets = 0;
  };
  static constexpr std::size_t kEntries = 32;     // a power of two
  static constexpr std::uint32_t kMistrust = 64;  // packets
  static constexpr std::uint32_t kMostMisses = 10;

  void note_distance(Tick distance, std::uint64_t packets) {
    constexpr std::uint64_t kMost = std::numeric_limits<std::uint32_t>::max();
    if (distance > kMost) return restart();
    if (count_ > 1 && entry(1).distance == distance) {
      packets += entry(1).packets;
      --next_;
      --count_;
    }
    entries_[next_++ % kEntries] = {static_cast<std::uint32_t>(distance),
                                    static_cast<std::uint32_t>(std::min(packets, kMost))};
    count_ = std::min(count_ + 1, kEntries + 1);
  }
  // The `back`-th last entry, from 1 on.
  [[nodiscard]] const Entry& entry(std::size_t back) const {
    return entries_[(next_ - back) % kEntries];
  }
  [[nodiscard]] bool repeats(std::size_t length) const;
  [[nodiscard]] bool may_repeat(std::size_t length) const;
  // Entries of the period; 0 if there is none.
  [[nodiscard]] std::size_t period() const;

  std::array<Entry, kEntries> entries_;
  std::size_t next_ = 0;
  std::size_t count_ = 0;  // entries + 1; 0: no packet
  Tick last_ = 0;
  std::uint32_t mistrust_ = 0;  // packets until the pattern is trusted again
  std::uint32_t misses_ = 0;
};

}  // namespace espalier
