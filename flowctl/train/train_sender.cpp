#include "flowctl/train/train_sender.h"

#include "flowctl/train/train_flaws.h"

namespace espalier {

bool TrainSender::continues(MessageId message, std::uint64_t offset, std::uint32_t vc,
                            Tick start) const {
  return promise_open() && message == message_ && offset == offset_ && vc == vc_ && start == start_;
}

void TrainSender::take(MessageId message, const PacketGrid& grid, std::uint16_t hop,
                       std::uint64_t offset, std::uint32_t vc, Tick start) {
  sc_assert(!held_ && promised_ == offset_ && start >= start_);
  message_ = message;
  grid_ = grid;
  hop_ = hop;
  offset_ = offset;
  promised_ = offset;
  vc_ = vc;
  start_ = start;
  held_ = true;
}

void TrainSender::promise(std::uint64_t end) {
  sc_assert(held_ && end > offset_ && grid_.is_boundary(end));
  promised_ = end;
  if (to_ == nullptr) return;
  to_->send_begin(vc_, {message_, hop_, offset_, end - offset_, start_});
}

void TrainSender::release(std::uint64_t n) {
  if (to_ != nullptr) to_->spend(vc_, n);
  start_ += n * rate_;
  offset_ += n;
  held_ = false;
}

std::uint64_t TrainSender::cut(Cycle now) {
  const std::uint64_t broken = promised_ - offset_;
  promised_ = offset_;
  if (to_ != nullptr) to_->send_cut(vc_, broken, now);
  return broken;
}

std::uint64_t TrainSender::first_unsure_of_credits(std::uint64_t limit) const {
  const std::uint64_t first = grid_.packet_end(offset_);
  if (to_ == nullptr || first >= limit || has_flaw(TrainFlaw::credits_never_short)) return limit;
  // The packet after a boundary that is u flits away needs credits up to credit number u + packet.
  // If the current run brings this credit, it comes at tick coming.start + (u + packet - counted -
  // 1) * coming.rate, and is needed at tick start + u * rate. The last packet may be shorter; then
  // the check is too early, which is harmless.
  const TrainCredits& credits = to_->credits(vc_);
  const std::uint64_t packet = grid_.packet;
  const std::uint64_t announced = credits.counted + credits.coming.n;
  if (announced < packet) return first;
  std::uint64_t sure = announced - packet;  // largest u with credits announced
  const std::uint64_t in_hand = credits.counted < packet ? 0 : credits.counted - packet + 1;
  // Boundaries with u < in_hand need no credit of the current run.
  if (sure >= in_hand) {
    const auto lateness = [&](std::uint64_t u) {
      const auto seen = static_cast<std::int64_t>(
          credits.coming.start + (u + packet - credits.counted - 1) * credits.coming.rate);
      return seen - static_cast<std::int64_t>(start_ + u * rate_);
    };
    // The earliest boundary that needs a credit of the run is at least `in_hand` flits away.
    const std::uint64_t from = in_hand;
    if (credits.coming.rate <= rate_) {
      if (lateness(from) > 0) {
        if (from == 0) return first;
        sure = from - 1;
      }
    } else {
      const std::int64_t late = lateness(from);
      if (late > 0) {
        if (from == 0) return first;
        sure = from - 1;
      } else {
        const Tick gain = credits.coming.rate - rate_;
        sure = std::min(sure, from + static_cast<std::uint64_t>(-late) / gain);
      }
    }
  }
  // Returns the first boundary more than `sure` flits away.
  const std::uint64_t u = first - offset_;
  if (u > sure) return first;
  const std::uint64_t boundary = first + ((sure - u) / packet + 1) * packet;
  return std::min(boundary, limit);
}

}  // namespace espalier
