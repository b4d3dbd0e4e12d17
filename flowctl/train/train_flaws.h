// Flaws that earlier versions of trains had. The fuzzer must find each of them: tests/fuzz builds
// the train engine once more with ESPALIER_TRAIN_FLAWS and switches the flaws on one by one. In the
// product, has_flaw() is always `false` at compile time.
#pragma once

#include <cstdint>

namespace espalier {

enum class TrainFlaw : std::uint8_t {
  none,
  deliver_promised_tail,  // delivers up to the promised tail, even if a cut comes
  no_retry_of_unmatched,  // a free input and a free output stay unmatched until the next event
  release_planned_only,   // releases only boundaries with a planned check
  // A packet that waits for a busy output does not make the output contended.
  output_waiter_ignored,
  // A packet that waits for a busy crossbar input does not make the input contended.
  shared_input_waiter_ignored,
  keep_exhausted_segment,  // a cut leaves an empty segment at the front of its VC
  credit_cut_unnoticed,    // cut credits do not cause an evaluation of their sender
  lazy_end_unnoticed,      // a begin for a VC whose train ends lazily causes no evaluation
  // A run that continues a fraction of a cycle late counts as seamless.
  phase_ignored,
  credits_never_short,  // a train never plans a check of its credits
  tail_waiter_ignored,  // a train ends lazily although a packet waits for its VC
  vc_choice_skipped,    // a packet's choice among VCs is not repeated at boundaries
  // Trains with gaps between their packets:
  rounding_forgotten,     // a train that waits for credits starts at the credit's tick, not in its
                          // cycle
  early_credits_ignored,  // credits that come earlier than the promise says do not start a packet
  late_data_ignored,      // a train never plans a check of its data
  late_credits_ignored,   // credits that come later than the promise says keep no packet back
  gap_hidden,       // a packet that comes in a gap finds the output and the crossbar input busy
  lost_start_kept,  // a packet that does not start when its gap ends stays promised
  short_packet_in_step,  // the last, shorter packet of a message keeps the distance of the others
  gaps_not_told,         // the NI takes packets with gaps for packets without
  // Trains that go on by a pattern, and boundaries that are not decided anew:
  late_pattern_credits_ignored,  // credits later than the pattern keep no packet back
  pattern_without_reason,        // a packet that nothing keeps back until its promised tick stays
                                 // promised
  resumed_start_held,     // an output that is held for a packet after a gap is busy in the gap
  idle_grant_assumed,     // every grant leaves the arbiters and the VC as they are
  seekers_unseen,         // a packet that can be granted at a sure boundary finds the output busy
  sought_too_early,       // packets that come to the front as another one leaves are not seen
  cut_data_stay_sure,     // a boundary stays sure after its data have been cut
  cut_credits_stay_sure,  // a boundary stays sure after its credits have been cut
  cut_forgets_ready,      // a packet whose promise is cut is not looked at when it is ready
  parked_for_good,        // news of credits do not reach a packet that waits for them
  uneven_told_as_even,    // the NI takes packets at uneven distances for packets at even ones
};

#ifdef ESPALIER_TRAIN_FLAWS
[[nodiscard]] bool has_flaw(TrainFlaw flaw);
#else
[[nodiscard]] constexpr bool has_flaw(TrainFlaw) { return false; }
#endif

}  // namespace espalier
