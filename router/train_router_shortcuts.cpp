// Cases in which most of a router need not be looked at, because the outcome is certain.
#include "flowctl/train_flaws.h"
#include "router/train_router.h"

namespace espalier {

bool TrainRouter::only_messages_end(const Now& now) {
  if (waiters_next_ <= now.cycle) return false;
  for (const std::uint32_t o : active_) {
    if (!has(o, kHeld) || check_[o] > now.cycle) continue;
    if (!has(o, kTellCheck) || inputs_[input_of_[o]].channel->has_second(outputs_[o].vc)) {
      return false;
    }
  }
  for (const std::uint32_t o : active_) {
    if (!has(o, kHeld) || check_[o] > now.cycle) continue;
    release(o, outputs_[o].train.gone_before(now.begin));
  }
  return true;
}

// Nothing has changed but that packets have come into empty VCs, and no look at anything was
// planned for this cycle. Whoever waits already has been told why, and waits for something that has
// not happened: newcomers compete with each other and with the trains that run. Where two of them
// want one output, or one meets a train at a boundary, the whole router must decide.
bool TrainRouter::evaluate_newcomers(const Now& now) {
  bool alone = true;
  for (const Newcomer& newcomer : newcomers_) alone = alone && stands_alone(now, newcomer);
  for (const Newcomer& newcomer : newcomers_) {
    const Vc& waiting = input_vc(newcomer.input, newcomer.vc);
    if (waiting.front.known) remove(waiting.state.out, kNewcomer);
  }
  if (!alone) return false;
  for (const Newcomer& newcomer : newcomers_) evaluate_newcomer(now, newcomer);
  return true;
}

bool TrainRouter::stands_alone(const Now& now, const Newcomer& newcomer) {
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
