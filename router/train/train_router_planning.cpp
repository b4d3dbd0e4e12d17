// When a train is looked at again.
#include <algorithm>

#include "flowctl/train/train_flaws.h"
#include "router/train/train_router.h"

namespace espalier {

void TrainRouter::credits_changed(std::uint32_t output, bool look_now) {
  add(output, kCreditNews);
  if (look_now) {
    look_again();
  } else if (has(output, kHeld) && has(output, kCreditCheck) && check_[output] > clock_.now()) {
    // Usually more have been announced before the train needs them: the look at its last sure
    // boundary is put off.
    check_[output] = next_check(present(clock_.now()), output);
  }
}

// Announces new trains, ends promises that were not taken up, and finds the next time to look.
void TrainRouter::settle(const Now& now) {
  for (std::size_t a = 0; a < active_.size();) {
    const std::uint32_t o = active_[a];
    if (has(o, kHeld)) {
      // As planned, where neither news nor anybody else has come since.
      const bool as_planned =
          (notes_[o] & (kGranted | kContended | kWanted | kCreditNews | kPlannedAlone)) ==
              kPlannedAlone &&
          input_notes_[input_of_[o]] == 0 && check_[o] > now.cycle;
      if (!as_planned) plan(now, o);
    } else if (has(o, kPromiseOpen)) {
      const TrainSender& train = outputs_[o].train;
      const Cycle due = train.decision_cycle(train.offset());
      if (due <= now.cycle) {
        cut(now, o);
      } else {
        look_at(due);
      }
    }
    if (has(o, kHeld | kPromiseOpen)) {
      ++a;
    } else {
      remove(o, kActive);
      active_[a] = active_.back();
      active_.pop_back();
    }
  }
  for (std::uint8_t& notes : input_notes_) notes &= static_cast<std::uint8_t>(~kInputNews);
}

void TrainRouter::plan(const Now& now, std::uint32_t output) {
  Output& out = outputs_[output];
  if (has(output, kGranted)) {
    const TrainSender& train = out.train;
    const std::uint64_t packet_end = train.offset() + train.grid().length_at(train.offset());
    boundary_[output] = train.release_cycle(packet_end);
    if (out.is_new) announce(output, packet_end);
  }
  check_[output] = next_check(now, output);
  remove(output, kGranted | kCreditNews | kPlannedAlone);
  const bool alone = !has(output, kContended | kWanted) &&
                     (input_notes_[input_of_[output]] & kInputContended) == 0;
  if (alone) add(output, kPlannedAlone);
}

void TrainRouter::announce(std::uint32_t output, std::uint64_t packet_end) {
  Output& out = outputs_[output];
  TrainSender& train = out.train;
  const std::uint32_t input = input_of_[output];
  TrainChannel& channel = *inputs_[input].channel;
  out.is_new = false;
  const bool one_packet = has(output, kContended) || (input_notes_[input] & kInputContended) != 0 ||
                          channel.ticks_per_flit() > train.rate();
  const std::uint64_t end = one_packet ? packet_end : channel.front(out.vc).end();
  train.promise(end);
  channel.return_credits(out.vc, end - train.offset(), train.free_tick(), train.rate());
  // A packet that has started cannot be cut.
  out.is_told =
      out.sink != nullptr && (end == packet_end || has_flaw(TrainFlaw::deliver_promised_tail));
  if (out.is_told) eject(out, end - train.offset());
}

// The first boundary at which skipping it could be wrong.
Cycle TrainRouter::next_check(const Now& now, std::uint32_t output) {
  const Output& out = outputs_[output];
  const TrainSender& train = out.train;
  const std::uint32_t input = input_of_[output];
  TrainChannel& channel = *inputs_[input].channel;
  channel.set_ends_lazily(out.vc, false);
  remove(output, kCreditCheck);
  if ((input_notes_[input] & kInputContended) != 0) return boundary_[output];
  const std::uint64_t data_end = channel.front(out.vc).end();
  const std::uint64_t limit = std::min(train.promised(), data_end);
  const bool contended = has(output, kContended);
  const bool last_packet = boundary_[output] == train.release_cycle(limit);
  // Where the data ends, too, nothing may be put off: what comes into the VC may leave by another
  // output before the wire of this one is free.
  if (contended && (last_packet || train.full_rate())) return boundary_[output];
  if (!last_packet) {
    const bool every_packet =
        contended || channel.ticks_per_flit() > train.rate() || may_choose_another_vc(output);
    if (every_packet) {
      return train.decision_cycle(
          train.grid().packet_end(train.offset() + train.gone_before(now.begin)));
    }
    const std::uint64_t unsure = train.first_unsure_of_credits(limit);
    if (unsure < limit) {
      add(output, kCreditCheck);
      return train.decision_cycle(unsure);
    }
  }
  if (data_end > train.promised()) return train.decision_cycle(train.promised());
  // A cut has come, or promise and data end together.
  const bool wanted = has(output, kWanted) && !has_flaw(TrainFlaw::tail_waiter_ignored);
  if (data_end < train.promised() || wanted || channel.has_second(out.vc) ||
      completes_message(out)) {
    return train.release_cycle(data_end);
  }
  channel.set_ends_lazily(out.vc, true);
  return kNever;
}

// In packet mode every packet chooses its VC: a lower one may have got credits.
bool TrainRouter::may_choose_another_vc(std::uint32_t output) const {
  const Output& out = outputs_[output];
  const VcMask permitted = input_vc(input_of_[output], out.vc).state.permitted;
  return !out.train.grid().message_mode && out.sink == nullptr &&
         (permitted & ((VcMask{1} << out.train.vc()) - 1)) != 0 &&
         !has_flaw(TrainFlaw::vc_choice_skipped);
}

// The NI must be told in time of a message's last flit.
bool TrainRouter::completes_message(const Output& out) const {
  if (out.sink == nullptr || out.is_told) return false;
  const TrainSender& train = out.train;
  return messages_[train.message()].flits_left == train.promised() - train.offset();
}

}  // namespace espalier
