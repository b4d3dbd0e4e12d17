#include "sims/observe/waves/change_queue.h"

#include <algorithm>

namespace espalier {

namespace {
constexpr unsigned kDigitBits = 11;
constexpr std::uint64_t kRadix = std::uint64_t{1} << kDigitBits;
// Fewer changes than this are sorted by comparison.
constexpr std::size_t kWorthDigits = 256;
}  // namespace

const std::vector<WaveChange>& ChangeQueue::take_before(Cycle until) {
  due_.clear();
  due_.reserve(waiting_.size());
  auto kept = waiting_.begin();
  for (const WaveChange& change : waiting_) {
    if (change.at < until) {
      due_.push_back(change);
    } else {
      *kept++ = change;
    }
  }
  waiting_.erase(kept, waiting_.end());
  sort_due();
  return due_;
}

// Radix sort. Half of an NI's changes are steps of a down-counter. They are known when the counter
// is loaded, so they mix with all changes until it has run out. Sorting by comparison took a
// seventh of the time of waveforms.
void ChangeQueue::sort_due() {
  if (due_.size() < kWorthDigits) {
    std::stable_sort(due_.begin(), due_.end(), [](const WaveChange& a, const WaveChange& b) {
      return a.at != b.at ? a.at < b.at : a.signal < b.signal;
    });
    return;
  }
  Cycle first = kNever;
  Cycle last = 0;
  SignalId::value_type most = 0;
  for (const WaveChange& change : due_) {
    first = std::min(first, change.at);
    last = std::max(last, change.at);
    most = std::max(most, change.signal.value());
  }
  sort_due_by([](const WaveChange& change) { return change.signal.value(); }, most);
  sort_due_by([first](const WaveChange& change) { return change.at - first; }, last - first);
}

// Sorts digit by digit, the lowest digit first. Changes with equal keys keep their order.
template <class Key>
void ChangeQueue::sort_due_by(Key key, std::uint64_t largest) {
  sorted_.resize(due_.size());
  for (unsigned shift = 0; shift < significant_bits(largest); shift += kDigitBits) {
    const auto digit = [&](const WaveChange& change) {
      return static_cast<std::size_t>((std::uint64_t{key(change)} >> shift) % kRadix);
    };
    place_.assign(kRadix + 1, 0);
    for (const WaveChange& change : due_) ++place_[digit(change) + 1];
    for (std::size_t d = 1; d < kRadix; ++d) place_[d] += place_[d - 1];
    for (const WaveChange& change : due_) sorted_[place_[digit(change)]++] = change;
    due_.swap(sorted_);
  }
}

}  // namespace espalier
