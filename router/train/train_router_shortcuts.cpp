// Cases in which most of a router need not be looked at, because the outcome is certain.
#include "flowctl/train/train_flaws.h"
#include "router/train/train_router.h"

namespace espalier {

// Nothing has changed but that trains have ended for which nobody waits, and that packets have come
// to the front of VCs. Whoever waits has been told why, and waits for something that has not
// happened: such newcomers compete with each other and with the trains that run. Where two of them
// meet, or one meets a train at a boundary, the whole router must decide.
bool TrainRouter::evaluate_simply(const Now& now) {
  const auto is_due = [&](std::uint32_t o) { return has(o, kHeld) && check_[o] <= now.cycle; };
  for (const std::uint32_t o : active_) {
    if (is_due(o) && !ended_alone(now, o)) return false;
  }
  for (const std::uint32_t o : active_) {
    if (is_due(o)) release_ended(now, o);
  }
  for (const Newcomer& follower : followers_) look_at_follower(now, follower);

  bool alone = true;
  for (const Newcomer& newcomer : newcomers_) alone = alone && stands_alone(now, newcomer);
  for (const Newcomer& newcomer : newcomers_) {
    const Vc& waiting = input_vc(newcomer.input, newcomer.vc);
    if (waiting.front.known) remove(waiting.state.out, kNewcomer);
    input_notes_[newcomer.input] &= static_cast<std::uint8_t>(~kInputNewcomer);
  }
  if (!alone) return false;
  for (const Newcomer& newcomer : newcomers_) evaluate_newcomer(now, newcomer);
  return true;
}

bool TrainRouter::ended_alone(const Now& now, std::uint32_t output) const {
  const TrainSender& train = outputs_[output].train;
  return !has(output, kContended | kWanted) &&
         (input_notes_[input_of_[output]] & kInputContended) == 0 &&
         train.offset() + train.gone_before(now.begin) == train.promised();
}

void TrainRouter::release_ended(const Now& now, std::uint32_t output) {
  const std::uint32_t input = input_of_[output];
  const std::uint32_t vc = outputs_[output].vc;
  release(output, outputs_[output].train.gone_before(now.begin));
  if ((occupied_[input] & (VcMask{1} << vc)) != 0) newcomers_.push_back({input, vc});
}

void TrainRouter::look_at_follower(const Now& now, const Newcomer& follower) {
  if ((streaming_[follower.input] & (VcMask{1} << follower.vc)) == 0) return;
  const std::uint32_t output = input_vc(follower.input, follower.vc).state.out;
  if (ended_alone(now, output)) {
    release_ended(now, output);
  } else {
    plan(now, output);
  }
}

bool TrainRouter::stands_alone(const Now& now, const Newcomer& newcomer) {
  std::uint8_t& input_notes = input_notes_[newcomer.input];
  if ((input_notes & kInputNewcomer) != 0) return false;
  input_notes |= kInputNewcomer;
  if (!look_at_front(now, newcomer.input, newcomer.vc)) return true;
  const std::uint32_t output = input_vc(newcomer.input, newcomer.vc).state.out;
  if (has(output, kNewcomer)) return false;
  add(output, kNewcomer);
  const bool shared = spec_.crossbar_inputs == CrossbarInputs::port;
  const bool in_free = !shared || streaming_[newcomer.input] == 0 ||
                       look_at_wire(now, output_of_[newcomer.input]) != Wire::at_boundary;
  return in_free && look_at_wire(now, output) != Wire::at_boundary;
}

void TrainRouter::evaluate_newcomer(const Now& now, const Newcomer& newcomer) {
  const auto [input, vc] = newcomer;
  SwitchAllocator::Request request{};
  const Hope hope = make_request(now, input, vc, request);
  if (hope == Hope::later) return;
  const bool shared = spec_.crossbar_inputs == CrossbarInputs::port;
  std::uint32_t to_plan = input_vc(input, vc).state.out;
  if (hope == Hope::could_go && !(shared && streaming_[input] != 0)) {
    allocator_.front().grant(request);
    grant(now, request);
  } else if (hope == Hope::could_go) {
    add(to_plan, kWanted);
    if (!has_flaw(TrainFlaw::shared_input_waiter_ignored)) input_notes_[input] |= kInputContended;
    to_plan = output_of_[input];  // of the train that has the crossbar input
  } else {
    const bool contends = hope == Hope::could_take && !has_flaw(TrainFlaw::output_waiter_ignored);
    add(to_plan, contends ? kWanted | kContended : kWanted);
  }
  if (has(to_plan, kHeld)) plan(now, to_plan);
}

}  // namespace espalier
