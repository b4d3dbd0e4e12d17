#include "flowctl/train/train_sender.h"

#include <algorithm>

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
  message_ = message;
  grid_ = grid;
  hop_ = hop;
  offset_ = offset;
  vc_ = vc;
  flits_ = {start, rate_, 0};
  held_ = true;
}

FlitRun TrainSender::forecast(std::uint64_t end, const PacketStarts* heads, bool keeps_vc) const {
  const std::uint64_t length = grid_.length_at(offset_);
  const std::uint64_t packet = grid_.packet;
  FlitRun run{flits_.start, rate_, end - offset_};
  if (run.n == length) return run;
  const Tick seamless = run.start + length * rate_;
  const Tick by_data = heads == nullptr ? 0 : heads->first_start();
  const std::optional<PacketStarts> admitted = keeps_vc ? admission(length) : std::nullopt;
  const bool waits_for_credits = admitted && admitted->first_start() > std::max(seamless, by_data);
  if (!waits_for_credits && by_data <= seamless) {
    if (heads != nullptr && heads->stride > packet * rate_) {
      // Later packets come later and later behind the train.
      const Tick reserve = seamless - by_data;
      run.n = std::min(run.n, length + (reserve / (heads->stride - packet * rate_) + 1) * packet);
    }
    return run;
  }
  const PacketStarts& starts = waits_for_credits ? *admitted : *heads;
  const std::uint64_t whole =
      has_flaw(TrainFlaw::short_packet_in_step) ? grid_.flits : grid_.end_of_full_packets();
  const std::uint64_t count = (std::min(end, whole) - offset_ + packet - 1) / packet;
  // Rounded to cycles, two starts may be closer than their average distance by less than a cycle,
  // unless packets take whole cycles.
  const Tick closest =
      packet * rate_ + (starts.clock != 0 && packet * rate_ % q_ != 0 ? starts.clock : 0);
  run.n = length;
  if (length != packet || count < 2 || starts.first < starts.stride || starts.stride < closest ||
      (starts.clock != 0 && !waits_for_credits)) {
    return run;
  }
  const PacketStarts from_here{starts.first - starts.stride, starts.stride, starts.clock};
  if (from_here.first_start() != run.start) return run;
  run.start = from_here.first;
  run.stride = from_here.stride;
  run.clock = static_cast<std::uint32_t>(from_here.clock);
  if (has_flaw(TrainFlaw::rounding_forgotten)) run.clock = 0;
  run.burst = static_cast<std::uint16_t>(packet);
  run.n = std::min(count * packet, end - offset_);
  return run;
}

void TrainSender::promise(const FlitRun& flits) {
  sc_assert(held_ && flits.n > 0 && grid_.is_boundary(offset_ + flits.n));
  flits_ = flits;
  if (to_ == nullptr) return;
  to_->send_begin(vc_, {message_, hop_, offset_, flits_});
}

void TrainSender::release(std::uint64_t n) {
  if (to_ != nullptr) to_->spend(vc_, n);
  free_ = flits_.end_of(n);
  flits_.drop(n);
  offset_ += n;
  held_ = false;
}

std::uint64_t TrainSender::cut(Cycle now) {
  const std::uint64_t broken = flits_.n;
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
  if (coming.burst != packet) return std::nullopt;
  const std::uint64_t flit = coming.phase + i;
  const Tick in_burst = flit % coming.burst * coming.rate;
  return PacketStarts{coming.start + flit / coming.burst * coming.stride + in_burst -
                          (coming.clock == 0 ? 0 : in_burst % coming.clock),
                      coming.stride, q_};
}

std::uint64_t TrainSender::first_unsure_of_admission(std::uint64_t limit, Tick now) const {
  const std::uint64_t first = next_boundary(now);
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

std::uint64_t TrainSender::first_unsure_of_credits(std::uint64_t limit, Tick now) const {
  if (to_ == nullptr || has_flaw(TrainFlaw::credits_never_short)) return limit;
  if (flits_.clock != 0) return first_unsure_of_admission(limit, now);
  const TrainCredits& credits = to_->credits(vc_);
  const FlitRun& coming = credits.coming;
  const bool is_plain = !flits_.has_gaps() && !coming.has_gaps();
  const std::uint64_t first = is_plain ? grid_.packet_end(offset_) : next_boundary(now);
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
    const Tick distance = flits_.has_gaps() ? flits_.stride : packet * rate_;
    // No credit is later than on a line through the starts of bursts.
    const std::uint64_t i = needed + in_hand * packet - credits.counted - 1;
    Tick seen = 0;
    Tick period = packet * coming.rate;
    if (!coming.has_gaps()) {
      seen = coming.tick_of(i);
    } else {
      const std::uint64_t flit = coming.phase + i;
      const std::uint64_t in_burst = flit % coming.burst;
      const bool alike = coming.burst == packet;
      seen = coming.start + flit / coming.burst * coming.stride +
             (alike ? in_burst * coming.rate
                    : (in_burst * coming.stride + coming.burst - 1) / coming.burst);
      period = alike ? coming.stride : (packet * coming.stride + coming.burst - 1) / coming.burst;
    }
    if (seen > start) {
      sure = in_hand;
    } else if (period > distance) {
      sure = std::min(sure, in_hand + (start - seen) / (period - distance) + 1);
    }
  }
  return std::min(limit, first + sure * packet);
}

std::uint64_t TrainSender::first_unsure_of_data(std::uint64_t limit, Tick now,
                                                const std::optional<PacketStarts>& heads) const {
  const std::uint64_t first = next_boundary(now);
  if (first >= limit || has_flaw(TrainFlaw::late_data_ignored)) return limit;
  if (!heads) return first;
  const std::uint64_t flits = first - offset_;
  Tick start = flits_.tick_of(flits);
  Tick distance = grid_.packet * rate_;
  if (flits_.has_gaps()) {
    const std::optional<PacketStarts> promised = flits_.packets_from(flits, grid_.packet);
    if (flits_.clock == 0) {
      const bool alike =
          heads->first == promised->first && heads->stride == promised->stride && heads->clock == 0;
      return alike ? limit : first;
    }
    // Rounding moves a start by less than a cycle, but both alike if both are rounded.
    const Tick slack = heads->clock == flits_.clock ? 0 : flits_.clock - 1;
    start = promised->first < slack ? 0 : promised->first - slack;
    distance = promised->stride;
  }
  if (heads->first > start) return first;
  if (heads->stride <= distance) return limit;
  const std::uint64_t sure = (start - heads->first) / (heads->stride - distance) + 1;
  return std::min(limit, first + sure * grid_.packet);
}

}  // namespace espalier
