#include "flowctl/train/train_sender.h"

#include <algorithm>
#include <utility>

#include "flowctl/train/train_flaws.h"

namespace espalier {

bool TrainSender::continues(MessageId message, std::uint64_t offset, std::uint32_t vc,
                            Tick start) const {
  return promise_open() && message == message_ && offset == offset_ && vc == vc_ &&
         start == flits_.tick_of(0);
}

void TrainSender::take(MessageId message, const PacketGrid& grid, std::uint16_t hop,
                       std::uint64_t offset, std::uint32_t vc, Tick start) {
  sc_assert(!held_ && flits_.n == 0 && start >= free_);
  if (message != message_ || vc != vc_ || offset != offset_ || offset == 0) {
    is_first_ = true;
    first_start_ = start;
  } else {
    note_start(start);
  }
  is_noted_ = true;
  message_ = message;
  grid_ = grid;
  hop_ = hop;
  offset_ = offset;
  vc_ = vc;
  flits_ = {start, rate_, 0};
  held_ = true;
}

FlitRun TrainSender::forecast(std::uint64_t end, const PacketStarts* heads, bool in_time,
                              bool keeps_vc, CombPool& combs) const {
  const std::uint64_t length = grid_.length_at(offset_);
  const std::uint64_t packet = grid_.packet;
  FlitRun run{flits_.start, rate_, end - offset_};
  if (run.n == length) return run;
  const Tick seamless = run.start + length * rate_;
  const Tick by_data = heads == nullptr ? 0 : heads->first_start();
  const std::optional<PacketStarts> admitted = keeps_vc ? admission(length) : std::nullopt;
  const bool waits_for_credits = admitted && admitted->first_start() > std::max(seamless, by_data);
  const bool is_seamless = in_time && !waits_for_credits && by_data <= seamless;
  if (is_seamless && is_first_ && heads == nullptr) return run;
  const std::uint64_t whole =
      has_flaw(TrainFlaw::short_packet_in_step) ? grid_.flits : grid_.end_of_full_packets();
  const std::uint64_t count =
      std::min(end, whole) <= offset_ ? 0 : (std::min(end, whole) - offset_ + packet - 1) / packet;
  const auto follow = [&](Tick start, Comb&& comb) {
    run.comb = combs.get(std::move(comb));
    run.n = length;
    if (run.comb == nullptr) return run;
    run.start = start;
    run.n = std::min(count * packet, end - offset_);
    return run;
  };
  const bool can_follow = length == packet && count >= 2;
  if (can_follow && keeps_vc && !is_first_) {
    // What repeated will probably go on, whatever it waits for.
    std::optional<Comb> comb = pattern_->comb(grid_.packet, rate_);
    if (comb && (!comb->others.empty() || !waits_for_credits)) {
      return follow(run.start, std::move(*comb));
    }
  }
  if (!in_time || is_seamless) {
    if (!in_time) {
      run.n = length;
    } else if (heads != nullptr && heads->stride > packet * rate_) {
      // Later packets come later and later behind the train.
      const Tick reserve = seamless - by_data;
      run.n = std::min(run.n, length + (reserve / (heads->stride - packet * rate_) + 1) * packet);
    }
    return run;
  }
  const PacketStarts& starts = waits_for_credits ? *admitted : *heads;
  // Rounded to cycles, two starts may be closer than their average distance by less than a cycle,
  // unless packets take whole cycles.
  const Tick closest =
      packet * rate_ + (starts.clock != 0 && packet * rate_ % q_ != 0 ? starts.clock : 0);
  run.n = length;
  if (!can_follow || starts.first < starts.stride || starts.stride < closest ||
      (starts.clock != 0 && !waits_for_credits)) {
    return run;
  }
  const PacketStarts from_here{starts.first - starts.stride, starts.stride, starts.clock};
  if (from_here.first_start() != run.start) return run;
  const Tick clock = has_flaw(TrainFlaw::rounding_forgotten) ? 0 : from_here.clock;
  return follow(from_here.first, {from_here.stride, clock, grid_.packet, {}});
}

void TrainSender::promise(const FlitRun& flits) {
  sc_assert(held_ && flits.n > 0 && grid_.is_boundary(offset_ + flits.n));
  flits_ = flits;
  promised_from_ = offset_;
  if (to_ == nullptr) return;
  to_->send_begin(vc_, {message_, hop_, offset_, flits_});
}

void TrainSender::release(std::uint64_t n) {
  if (to_ != nullptr) to_->spend(vc_, n);
  if (n != 0) {
    note_starts(n);
    free_ = flits_.end_of(n);
  }
  flits_.drop(n);
  offset_ += n;
  held_ = false;
}

void TrainSender::note_start(Tick start) {
  if (is_first_) {
    // Most messages leave as one train, and nobody asks for their pattern.
    is_first_ = false;
    pattern_->restart();
    pattern_->note(first_start_);
  }
  pattern_->note(start);
}

void TrainSender::note_starts(std::uint64_t n) {
  if (offset_ + n == grid_.flits) return;
  if (!std::exchange(is_noted_, false)) note_start(flits_.tick_of(0));
  const std::uint64_t first = grid_.length_at(offset_);
  if (n <= first) return;
  const std::uint64_t packet = grid_.packet;
  const std::uint64_t count = (n - first + packet - 1) / packet;
  note_start(flits_.tick_of(first));
  if (count == 1) return;
  if (flits_.is_even() && (!flits_.has_gaps() || flits_.comb->clock == 0)) {
    return pattern_->note_more(flits_.has_gaps() ? flits_.comb->stride : packet * rate_, count - 1);
  }
  std::uint64_t from = 1;
  if (count > StartPattern::kMostPackets) {
    // The last periods are enough to recognise the comb.
    from = count - StartPattern::kMostPackets;
    pattern_->restart();
  }
  for (; from != count; ++from) pattern_->note(flits_.tick_of(first + from * packet));
}

std::uint64_t TrainSender::cut(Cycle now) {
  const std::uint64_t broken = flits_.n;
  if (flits_.has_gaps() && !is_first_) pattern_->broken((offset_ - promised_from_) / grid_.packet);
  flits_.n = 0;
  if (to_ != nullptr) to_->send_cut(vc_, broken, now);
  return broken;
}

std::optional<PacketStarts> TrainSender::admission(std::uint64_t flits) const {
  if (to_ == nullptr) return std::nullopt;
  const TrainCredits& credits = to_->credits(vc_);
  const FlitRun& coming = credits.coming;
  const std::uint64_t packet = grid_.packet;
  // The packet's last credit is flit `i` of the run, if it is announced and has not been counted.
  if (flits + packet <= credits.counted) return std::nullopt;
  const std::uint64_t i = flits + packet - credits.counted - 1;
  if (i >= coming.n) return std::nullopt;
  if (!coming.has_gaps()) return PacketStarts{coming.tick_of(i), packet * coming.rate, q_};
  const Comb& comb = *coming.comb;
  if (comb.packet != packet || !coming.is_even()) return std::nullopt;
  const std::uint64_t flit = coming.phase + i;
  const Tick in_packet = flit % packet * coming.rate;
  return PacketStarts{coming.start + flit / packet * comb.stride + in_packet -
                          (comb.clock == 0 ? 0 : in_packet % comb.clock),
                      comb.stride, q_};
}

std::uint64_t TrainSender::first_unsure_of_admission(std::uint64_t limit,
                                                     std::uint64_t first) const {
  if (first >= limit) return limit;
  const std::uint64_t flits = first - offset_;
  const std::optional<PacketStarts> promised = flits_.packets_from(flits, grid_.packet);
  const std::optional<PacketStarts> admitted = admission(flits);
  if (!admitted) return first;
  const bool as_promised =
      admitted->first == promised->first && admitted->stride == promised->stride;
  const bool is_early = admitted->first < promised->first;
  const TrainFlaw ignored =
      is_early ? TrainFlaw::early_credits_ignored : TrainFlaw::late_credits_ignored;
  if (!as_promised && !has_flaw(ignored)) return first;
  const TrainCredits& credits = to_->credits(vc_);
  const std::uint64_t announced = credits.counted + credits.coming.n - flits;
  return std::min(limit, first + announced / grid_.packet * grid_.packet);
}

std::uint64_t TrainSender::first_unsure_of_credits(std::uint64_t limit, std::uint64_t first) const {
  if (to_ == nullptr || has_flaw(TrainFlaw::credits_never_short)) return limit;
  if (flits_.has_gaps()) return first_unsure_of_admission(limit, first);
  const TrainCredits& credits = to_->credits(vc_);
  const FlitRun& coming = credits.coming;
  const bool is_plain = !flits_.has_gaps() && !coming.has_gaps();
  if (first >= limit) return limit;
  if (is_plain && credits.counted + coming.n >= limit - offset_ + grid_.packet &&
      coming.rate <= rate_) {
    // Usual: all credits are announced, and come as fast as flits leave, so only the first one can
    // be late.
    const std::uint64_t spare =
        credits.counted < grid_.packet ? 0 : credits.counted - grid_.packet + 1;
    const Tick seen = coming.start + (spare + grid_.packet - credits.counted - 1) * coming.rate;
    if (coming.n == 0 || seen <= flits_.start + spare * rate_) return limit;
  }
  // The packet after boundary first + k * packet needs credit number needed + k * packet. The last
  // packet may be shorter; then the check is too early, which is harmless.
  const std::uint64_t packet = grid_.packet;
  const std::uint64_t needed = first - offset_ + packet;
  const std::uint64_t announced = credits.counted + coming.n;
  if (announced < needed) return first;
  std::uint64_t sure = (announced - needed) / packet + 1;  // packets with announced credits
  // Packets that need no credit of the current run.
  const std::uint64_t in_hand =
      credits.counted < needed ? 0 : (credits.counted - needed) / packet + 1;
  if (in_hand < sure) {
    const std::uint64_t flits = first - offset_ + in_hand * packet;
    if (flits >= limit - offset_) return limit;
    const Tick start = flits_.tick_of(flits);
    const Tick distance = packet * rate_;
    const auto seen = coming.line_of(needed + in_hand * packet - credits.counted - 1, packet);
    if (!seen || seen->first > start) {
      sure = in_hand;
    } else if (seen->step > distance) {
      sure = std::min(sure, in_hand + (start - seen->first) / (seen->step - distance) + 1);
    }
  }
  return std::min(limit, first + sure * packet);
}

std::uint64_t TrainSender::first_unsure_of_data(std::uint64_t limit, std::uint64_t first,
                                                const std::optional<PacketStarts>& heads) const {
  if (first >= limit || has_flaw(TrainFlaw::late_data_ignored)) return limit;
  if (!heads) return first;
  const std::uint64_t flits = first - offset_;
  Tick start = flits_.tick_of(flits);
  Tick distance = grid_.packet * rate_;
  if (flits_.has_gaps()) {
    const std::optional<PacketStarts> promised = flits_.packets_from(flits, grid_.packet);
    // Rounding moves a start by less than a cycle, but both alike if both are rounded.
    const Tick slack = heads->clock == flits_.comb->clock ? 0 : flits_.comb->clock - 1;
    start = promised->first < slack ? 0 : promised->first - slack;
    distance = promised->stride;
  }
  if (heads->first > start) return first;
  if (heads->stride <= distance) return limit;
  const std::uint64_t sure = (start - heads->first) / (heads->stride - distance) + 1;
  return std::min(limit, first + sure * grid_.packet);
}

bool TrainSender::has_pattern(const Data& data) const {
  if (flits_.has_gaps() && flits_.comb->clock != 0) return false;
  return flits_.has_gaps() || (data.usable != nullptr && !data.usable->is_even()) ||
         (to_ != nullptr && !to_->credits(vc_).coming.is_even());
}

// A packet starts when the wire is free, its data can stream, and its last credit is seen (from the
// first tick of the credit's cycle on). The promise holds while the latest of these times equals
// the promised start. It is enough to compare each packet of one period: from period to period,
// each of the three times grows linearly.
std::uint64_t TrainSender::first_unsure_of_pattern(std::uint64_t limit, std::uint64_t first,
                                                   const Data& data) const {
  if (first >= limit) return limit;
  const std::uint64_t packet = grid_.packet;
  const TrainCredits* credits = to_ == nullptr ? nullptr : &to_->credits(vc_);
  std::uint64_t period = packet;
  const auto include = [&](const FlitRun& run) {
    if (run.has_gaps()) period = std::max(period, run.comb->flits());
  };
  include(flits_);
  if (data.usable != nullptr) include(*data.usable);
  if (credits != nullptr) include(credits->coming);
  const Tick stride = (flits_.line_of(0, period).value_or(TickLine{})).step;
  const bool in_step = stride != 0 && period % packet == 0 &&
                       (!flits_.has_gaps() || period % flits_.comb->flits() == 0);
  if (!in_step) return first;
  std::uint64_t unsure = limit;
  for (std::uint64_t at = 0; at != period && first + at < unsure; at += packet) {
    const std::uint64_t flits = first - offset_ + at;
    const Tick start = flits_.tick_of(flits);
    bool is_exact = start == (flits == 0 ? free_ : flits_.end_of(flits));
    std::uint64_t sure = kNever;  // periods
    // `seen` moves along a line from period `from` on.
    const auto bound = [&](const TickLine& seen, std::uint64_t from) {
      const Tick then = start + from * stride;
      if (seen.first > then) {
        sure = std::min(sure, from);
      } else if (seen.step > stride) {
        sure = std::min(sure, from + (then - seen.first) / (seen.step - stride) + 1);
      }
    };
    if (data.usable != nullptr) {
      std::optional<TickLine> head = data.usable->line_of(data.first + at, period);
      if (!head) return std::min(unsure, first + at);
      head->first += data.wait;
      is_exact |= head->exact && head->first == start && head->step == stride;
      if (!has_flaw(TrainFlaw::late_data_ignored)) bound(*head, 0);
    }
    if (credits != nullptr && !has_flaw(TrainFlaw::credits_never_short)) {
      const std::uint64_t needed = flits + packet;
      const FlitRun& coming = credits->coming;
      // From period `from` on, the packet's last credit is one of the current run.
      const std::uint64_t from =
          needed > credits->counted ? 0 : (credits->counted - needed) / period + 1;
      const std::uint64_t i = needed + from * period - credits->counted - 1;
      const auto seen = i < coming.n ? coming.line_of(i, period) : std::optional<TickLine>();
      if (!seen) {
        sure = std::min(sure, from);
      } else {
        sure = std::min(sure, from + (coming.n - 1 - i) / period + 1);
        // Credits of one period only need not keep the distance of the periods.
        const bool keeps_on = coming.n - i <= period || (seen->step == stride && stride % q_ == 0);
        const bool in_cycle = from == 0 && seen->exact && seen->first >= start &&
                              seen->first - seen->first % q_ == start && keeps_on;
        is_exact |= in_cycle;
        if (!in_cycle && !has_flaw(TrainFlaw::late_pattern_credits_ignored)) bound(*seen, from);
      }
    }
    if (!is_exact && !has_flaw(TrainFlaw::pattern_without_reason)) sure = 0;
    if (sure < (unsure - first) / period + 1) unsure = std::min(unsure, first + sure * period + at);
  }
  return unsure;
}

}  // namespace espalier
