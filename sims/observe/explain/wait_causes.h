// Why a flit that could have gone did not go: who had the output, the crossbar input or the VC it
// needed, or whether credits were missing.
#pragma once

#include <vector>

#include "sims/observe/explain/bottleneck.h"
#include "sims/observe/explain/credit_history.h"
#include "sims/observe/explain/passages.h"
#include "sims/observe/explain/segment.h"

namespace espalier {

struct RouterRules {
  bool shared_input = true;   // the VCs of a port share a crossbar input
  bool whole_packets = true;  // virtual cut-through: credits for a packet, not for a flit
};

class WaitCauses {
 public:
  WaitCauses(const Passages& passages, const RouterRules& rules)
      : passages_(passages),
        rules_(rules),
        credits_(passages, rules.whole_packets),
        bottleneck_(passages, credits_) {}
  WaitCauses(const WaitCauses&) = delete;  // its parts know each other
  WaitCauses& operator=(const WaitCauses&) = delete;

  // Explains [from, trail.at()): flit `flit` of `at`'s message is in the buffer behind `at`, could
  // leave in cycle `from`, and leaves in cycle trail.at().
  void at_router(Trail& trail, Cycle from, const Passage& at, std::uint64_t flit) const;
  // The same of a flit that its NI could send; `at`: where it goes. Reading from memory is what
  // remains.
  void at_ni(Trail& trail, Cycle from, const Passage& at, std::uint64_t flit) const;

 private:
  // Cycles in which somebody else had something.
  struct Busy {
    Cycle from;
    Cycle until;
    RecordIndex message;
  };
  [[nodiscard]] std::vector<Busy> output_busy(const Passage& at, std::uint64_t flit, Cycle from,
                                              Cycle until) const;
  [[nodiscard]] std::vector<Busy> input_busy(const Passage& at, Cycle from, Cycle until) const;
  [[nodiscard]] std::vector<Busy> injection_busy(const Passage& at, std::uint64_t flit, Cycle from,
                                                 Cycle until) const;
  // What it is called to wait for a VC's owner, and to wait with nothing in the way.
  struct WaitNames {
    SegmentKind owner;
    SegmentKind otherwise;
  };
  // Explains what `busy` covers of [from, trail.at()) as `segment`, with who it was, and asks
  // `rest(from)` about the gaps.
  template <class Rest>
  void cover(Trail& trail, Cycle from, std::vector<Busy> busy, Segment segment, Rest&& rest) const;
  // Explains [from, trail.at()), in which nobody had what `flit` needed but its VC: credits, the
  // VC's owner, or neither.
  void vc_wait(Trail& trail, Cycle from, const Passage& next, std::uint64_t flit, Segment segment,
               WaitNames names) const;
  // When the packet of a passage, or its message, had its VC: from its head to its tail.
  [[nodiscard]] Busy ownership(const Passage& passage) const;
  // Explains [from, trail.at()), in which nobody had the VC: credits were missing, or nothing was.
  void credit_wait(Trail& trail, Cycle from, const Passage& next, std::uint64_t flit,
                   Segment segment, SegmentKind otherwise) const;

  const Passages& passages_;
  RouterRules rules_;
  CreditHistory credits_;
  Bottleneck bottleneck_;
};

}  // namespace espalier
