// What a router promises of its trains, and when it looks at them again.
#include <algorithm>

#include "flowctl/train/train_flaws.h"
#include "router/train/train_router.h"

namespace espalier {

void TrainRouter::credits_changed(std::uint32_t output, bool look_now) {
  output_flags_[output].credit_news = true;
  if (look_now) {
    if (!has_flaw(TrainFlaw::cut_credits_stay_sure)) outputs_[output].sure_until = 0;
    if (!has_flaw(TrainFlaw::parked_for_good)) unpark(output);
    recheck_now();
  } else if (output_flags_[output].held && output_flags_[output].credit_check &&
             check_[output] > clock_.now() && fast_path_suffices_) {
    // Credits are usually announced before the train needs them. Then the check is postponed.
    // Packets that were sure before stay so. If the whole router decides in this cycle, it plans
    // all checks anew.
    check_[output] = std::max(check_[output], next_check(present(clock_.now()), output));
  }
}

// Announces new trains, ends promises that no grant continued, and plans the next checks.
void TrainRouter::settle(const Now& now) {
  for (std::size_t a = 0; a < active_.size();) {
    const std::uint32_t o = active_[a];
    if (output_flags_[o].held) {
      // The plan remains valid without news and without another packet since it was made.
      const OutputFlags& out = output_flags_[o];
      const InputFlags& in = input_flags_[input_of_[o]];
      const bool as_planned = out.planned_alone && !out.granted && !out.contended && !out.wanted &&
                              !out.credit_news && !in.contended && !in.news && !in.new_head &&
                              check_[o] > now.cycle;
      // No check is earlier than the next boundary, where everything is decided anew.
      const bool is_next = !out.granted && check_[o] == boundary_[o] && check_[o] > now.cycle;
      if (is_next) {
        outputs_[o].contends = out.contended || in.contended;
      } else if (!as_planned) {
        plan(now, o);
      }
    } else if (output_flags_[o].promise_open) {
      const Cycle due = outputs_[o].train.resume_cycle();
      if (due <= now.cycle && !has_flaw(TrainFlaw::lost_start_kept)) {
        cut(now, o);
      } else if (due <= now.cycle || !resume(now, o)) {
        recheck_at(std::min(due, outputs_[o].ready));
      }
    }
    if ((output_flags_[o].held || output_flags_[o].promise_open)) {
      ++a;
    } else {
      output_flags_[o].active = false;
      active_[a] = active_.back();
      active_.pop_back();
    }
  }
  for (const std::uint32_t input : inputs_with_news_) input_flags_[input].news = false;
  inputs_with_news_.clear();
}

void TrainRouter::plan(const Now& now, std::uint32_t output) {
  Output& out = outputs_[output];
  if (output_flags_[output].granted) {
    const TrainSender& train = out.train;
    const std::uint64_t packet_end = train.offset() + train.grid().length_at(train.offset());
    boundary_[output] = train.release_cycle(packet_end);
    if (out.is_new) announce(output, packet_end);
  }
  check_[output] = next_check(now, output);
  out.contends = output_flags_[output].contended || input_flags_[input_of_[output]].contended;
  output_flags_[output].granted = output_flags_[output].credit_news =
      output_flags_[output].planned_alone = false;
  const bool alone = !(output_flags_[output].contended || output_flags_[output].wanted) &&
                     !input_flags_[input_of_[output]].contended;
  if (alone) output_flags_[output].planned_alone = true;
}

bool TrainRouter::resume(const Now& now, std::uint32_t output) {
  Output& out = outputs_[output];
  TrainSender& train = out.train;
  const std::uint32_t input = input_of_[output];
  OutputFlags& flags = output_flags_[output];
  const bool shared = spec_.crossbar_inputs == CrossbarInputs::port;
  if (flags.wanted || flags.contended || input_flags_[input].contended ||
      (shared && streaming_[input] != 0)) {
    return false;
  }
  const std::uint64_t limit = std::min(train.promised(), channels_[input].front(out.vc).end());
  const std::uint64_t offset = train.offset();
  if (first_unsure(output, limit, offset) == offset || !grant_is_idle(output)) return false;
  train.resume();
  flags.held = true;
  flags.resumed = !has_flaw(TrainFlaw::resumed_start_held);
  flags.promise_open = false;
  streaming_[input] |= VcMask{1} << out.vc;
  output_of_[input] = output;
  boundary_[output] = train.release_cycle(train.grid().packet_end(offset));
  plan(now, output);
  return true;
}

std::uint64_t TrainRouter::first_unsure(std::uint32_t output, std::uint64_t limit,
                                        std::uint64_t from) {
  if (is_plain(output)) return outputs_[output].train.first_unsure_of_credits(limit, from);
  std::uint64_t& until = outputs_[output].sure_until;
  const bool news = output_flags_[output].credit_news || input_flags_[input_of_[output]].news;
  if (until <= from || (until < limit && news)) until = compute_first_unsure(output, limit, from);
  return std::min(until, limit);
}

std::uint64_t TrainRouter::compute_first_unsure(std::uint32_t output, std::uint64_t limit,
                                                std::uint64_t from) const {
  const TrainSender& train = outputs_[output].train;
  const TrainSender::Data data = data_from(output, from);
  if (train.has_pattern(data)) return train.first_unsure_of_pattern(limit, from, data);
  const std::uint64_t unsure = train.first_unsure_of_credits(limit, from);
  if (!comes_late(output) || unsure <= from) return unsure;
  return train.first_unsure_of_data(unsure, from, heads_from(output, from));
}

void TrainRouter::announce(std::uint32_t output, std::uint64_t packet_end) {
  Output& out = outputs_[output];
  TrainSender& train = out.train;
  const std::uint32_t input = input_of_[output];
  TrainChannel& channel = channels_[input];
  out.is_new = false;
  const bool one_packet = output_flags_[output].contended || input_flags_[input].contended;
  const std::uint64_t end = one_packet ? packet_end : channel.front(out.vc).end();
  const std::optional<PacketStarts> heads =
      packet_end < end && comes_late(output) ? heads_from(output, packet_end) : std::nullopt;
  const bool in_time = heads.has_value() || !comes_late(output);
  FlitRun flits =
      train.forecast(end, heads ? &*heads : nullptr, in_time, keeps_vc(output), channel.combs());
  if (channel.is_observed() || (!out.ejects() && train.to()->is_observed())) {
    flits.keep_packets(TrainChannel::kObservedPackets);
  }
  out.is_short = train.offset() + flits.n != channel.front(out.vc).end();
  train.promise(flits);
  channel.return_credits(out.vc, flits);
  // A packet that has started cannot be cut.
  const bool is_certain = train.promised() == packet_end;
  out.is_told = out.ejects() && (is_certain || has_flaw(TrainFlaw::deliver_promised_tail));
  if (out.is_told) eject(out, flits.n);
}

Cycle TrainRouter::next_check(const Now& now, std::uint32_t output) {
  const Output& out = outputs_[output];
  const TrainSender& train = out.train;
  const std::uint32_t input = input_of_[output];
  TrainChannel& channel = channels_[input];
  channel.set_ends_lazily(out.vc, false);
  output_flags_[output].credit_check = false;
  if (input_flags_[input].contended) return boundary_[output];
  const std::uint64_t data_end = channel.front(out.vc).end();
  const std::uint64_t limit = std::min(train.promised(), data_end);
  const bool contended = output_flags_[output].contended;
  const bool last_packet = boundary_[output] == train.release_cycle(limit);
  // The end of the data must not be postponed either: the next packet in the VC may leave by
  // another output before the wire of this output is free.
  if (contended && (last_packet || train.full_rate())) return boundary_[output];
  if (!last_packet) {
    if (contended || may_choose_another_vc(output)) {
      return train.decision_cycle(train.next_boundary(now.begin));
    }
    // Without gaps, only the first packet that needs a new credit can be late.
    const std::uint64_t from =
        is_plain(output) ? train.grid().packet_end(train.offset()) : train.next_boundary(now.begin);
    const std::uint64_t unsure = first_unsure(output, limit, from);
    // More credits may make it sure.
    output_flags_[output].credit_check = unsure < limit;
    if (unsure < limit) return train.decision_cycle(unsure);
  }
  if (data_end > train.promised()) return train.decision_cycle(train.promised());
  // A cut has come, or the promise ends with the data.
  const bool wanted = output_flags_[output].wanted && !has_flaw(TrainFlaw::tail_waiter_ignored);
  if (data_end < train.promised() || wanted || channel.has_second(out.vc) ||
      completes_message(out)) {
    return train.release_cycle(data_end);
  }
  channel.set_ends_lazily(out.vc, true);
  return kNever;
}

bool TrainRouter::is_plain(std::uint32_t output) const {
  const TrainSender& train = outputs_[output].train;
  return train.is_plain() && !comes_late(output);
}

bool TrainRouter::comes_late(std::uint32_t output) const {
  const TrainChannel& channel = channels_[input_of_[output]];
  return channel.ticks_per_flit() > outputs_[output].train.rate() ||
         channel.front(outputs_[output].vc).usable.has_gaps();
}

TrainSender::Data TrainRouter::data_from(std::uint32_t output, std::uint64_t boundary) const {
  const Output& out = outputs_[output];
  const TrainChannel& channel = channels_[input_of_[output]];
  const TrainSegment& segment = channel.front(out.vc);
  return {&segment.usable, boundary - segment.first,
          wait_to_stream(out.train.grid().packet, channel.ticks_per_flit(), out.train.rate())};
}

std::optional<PacketStarts> TrainRouter::heads_from(std::uint32_t output,
                                                    std::uint64_t boundary) const {
  const TrainSender::Data data = data_from(output, boundary);
  std::optional<PacketStarts> heads =
      data.usable->packets_from(data.first, outputs_[output].train.grid().packet);
  if (!heads || (heads->clock != 0 && data.wait % heads->clock != 0)) return std::nullopt;
  heads->first += data.wait;
  return heads;
}

// In message mode a message keeps its VC. In packet mode a packet may take another one.
bool TrainRouter::keeps_vc(std::uint32_t output) const {
  const Output& out = outputs_[output];
  const VcMask permitted = input_vc(input_of_[output], out.vc).state.permitted;
  return out.train.grid().message_mode || (permitted & (permitted - 1)) == 0;
}

// In packet mode every packet chooses its VC, and a lower VC may have received credits.
bool TrainRouter::may_choose_another_vc(std::uint32_t output) const {
  const Output& out = outputs_[output];
  const VcMask permitted = input_vc(input_of_[output], out.vc).state.permitted;
  return !out.train.grid().message_mode && !out.ejects() &&
         (permitted & ((VcMask{1} << out.train.vc()) - 1)) != 0 &&
         !has_flaw(TrainFlaw::vc_choice_skipped);
}

// The NI must be told of a message's last flit before the flit arrives.
bool TrainRouter::completes_message(const Output& out) const {
  if (!out.ejects() || out.is_told) return false;
  const TrainSender& train = out.train;
  return messages_[train.message()].flits_left == train.promised() - train.offset();
}

StopReason TrainRouter::reason_of_stop(std::uint32_t output, std::uint64_t flits) const {
  const Output& out = outputs_[output];
  const std::uint32_t input = input_of_[output];
  if (out.contends) {
    // Packets of the same message that wait in another VC of this input chose that VC.
    const VcMask others =
        out.train.grid().message_mode ? 0 : occupied_[input] & ~(VcMask{1} << out.vc);
    for (VcMask left = others; left != 0; left &= left - 1) {
      const auto vc = static_cast<std::uint32_t>(__builtin_ctz(left));
      if (channels_[input].front(vc).message == out.train.message()) return StopReason::vc_choice;
    }
    return StopReason::contention;
  }
  if (out.train.promised() != out.train.offset() + flits) {
    if (may_choose_another_vc(output)) return StopReason::vc_choice;
    if (output_flags_[output].credit_check) return StopReason::credits;
    return comes_late(output) ? StopReason::data : StopReason::elsewhere;
  }
  if (!out.is_short) return StopReason::elsewhere;
  if (comes_late(output)) return StopReason::data;
  return keeps_vc(output) ? StopReason::credits : StopReason::vc_choice;
}

}  // namespace espalier
