// Which channel holds up a flit that waits: the one on which, at that time, what it waits for was
// moving, however many full buffers there are between.
#pragma once

#include <cstdint>

#include "sims/explain/passages.h"
#include "sims/explain/segment.h"

namespace espalier {

class Bottleneck {
 public:
  // `passages` must outlive it. `whole_packets`: as RouterRules.
  Bottleneck(const Passages& passages, bool whole_packets)
      : passages_(passages), whole_packets_(whole_packets) {}

  // For flit `flit` of `message`, which by the end of cycle `now` has not been sent over its
  // `hop`-th channel; kNowhere where no channel does: memory is read for it.
  [[nodiscard]] std::uint32_t of(RecordIndex message, std::uint16_t hop, std::uint64_t flit,
                                 Cycle now) const;

 private:
  // Who is asked about next.
  struct Waiting {
    RecordIndex message;
    std::uint16_t hop;
    std::uint64_t flit;
    Cycle now;
  };
  // True where `at` has become another one that `at` waits for; false where `channel` is found.
  bool follow(Waiting& at, std::uint32_t& channel) const;
  bool follow_credit(Waiting& at, const Passage& next) const;
  [[nodiscard]] Cycle cycle_of(Tick tick) const {
    return cycle_of_tick(tick, passages_.record().ticks_per_cycle);
  }
  [[nodiscard]] Tick tick_of(Cycle cycle) const {
    return cycle * passages_.record().ticks_per_cycle;
  }

  const Passages& passages_;
  bool whole_packets_;
};

}  // namespace espalier
