// Flaws that earlier versions of trains had. The fuzzer must find each of them when it is put back:
// tests/fuzz builds the train engine once more with ESPALIER_TRAIN_FLAWS and switches them on one
// by one. In the product every question is answered `false` at compile time.
#pragma once

#include <cstdint>

namespace espalier {

enum class TrainFlaw : std::uint8_t {
  none,
  deliver_promised_tail,  // delivery at the promised tail, even if a cut comes
  no_retry_of_unmatched,  // a free input and a free output stay unmatched until something happens
  release_planned_only,   // only boundaries with a planned check are released
  output_waiter_ignored,  // who waits for a busy output does not make it contended
  shared_input_waiter_ignored,  // who waits for a busy crossbar input does not make it contended
  keep_exhausted_segment,       // a cut leaves an empty segment at the head of its VC
  credit_cut_unnoticed,         // cut credits do not make their sender look again
  lazy_end_unnoticed,           // a begin for a VC whose train ends lazily causes no evaluation
  phase_ignored,                // a run that goes on a fraction of a cycle late counts as seamless
  credits_never_short,          // a train never plans to look at its credits
  tail_waiter_ignored,          // a train ends lazily although someone waits for its VC
  vc_choice_skipped,            // a packet's choice among VCs is not made again at boundaries
};

#ifdef ESPALIER_TRAIN_FLAWS
[[nodiscard]] bool has_flaw(TrainFlaw flaw);
#else
[[nodiscard]] constexpr bool has_flaw(TrainFlaw) { return false; }
#endif

}  // namespace espalier
