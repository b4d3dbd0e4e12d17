// Which channel holds up a flit that waits: the one on which, at that time, what it waits for was
// moving, however many full buffers there are between.
#pragma once

#include <cstdint>

#include "sims/observe/explain/credit_history.h"
#include "sims/observe/explain/passages.h"
#include "sims/observe/explain/segment.h"

namespace espalier {

class Bottleneck {
 public:
  // Both must outlive it.
  Bottleneck(const Passages& passages, const CreditHistory& credits)
      : passages_(passages), credits_(credits) {}

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

  const Passages& passages_;
  const CreditHistory& credits_;
};

}  // namespace espalier
