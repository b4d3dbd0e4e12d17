#include "flowctl/train/start_pattern.h"

namespace espalier {

// The newest entry, which may be under way, has come once before, and so have the whole entries
// between, except for the oldest one, which may have begun earlier.
bool StartPattern::repeats(std::size_t length) const {
  if (count_ < 2 * length + 2) return false;
  for (std::size_t i = 2; i <= 1 + length; ++i) {
    const Entry& one = entry(i);
    const Entry& before = entry(i + length);
    if (one.distance != before.distance) return false;
    if (one.packets != before.packets && i != 1 + length) return false;
  }
  return may_repeat(length);
}

bool StartPattern::may_repeat(std::size_t length) const {
  if (count_ < length + 2) return false;
  const Entry& newest = entry(1);
  const Entry& then = entry(1 + length);
  return newest.distance == then.distance && newest.packets <= then.packets;
}

std::size_t StartPattern::period() const {
  for (std::size_t length = 2; 2 * length <= kEntries; ++length) {
    if (repeats(length)) return length;
  }
  // The gap after a burst is enough to guess the next one; a wrong guess costs a cut.
  return may_repeat(2) && entry(2).packets > 2 ? 2 : 0;
}

std::optional<Comb> StartPattern::comb(std::uint32_t packet, Tick rate) const {
  if (count_ < 2 || mistrust_ != 0) return std::nullopt;
  Comb comb;
  comb.packet = packet;
  if (const std::size_t length = period(); length != 0) {
    std::uint64_t packets = 0;
    for (std::size_t i = 2; i <= 1 + length; ++i) {
      packets += entry(i).packets;
      comb.stride += Tick{entry(i).packets} * entry(i).distance;
    }
    if (packets > kMostPackets) return std::nullopt;
    Tick offset = 0;
    const auto add = [&](Tick distance, std::uint64_t times) {
      for (; times != 0; --times) comb.others.push_back(offset += distance);
    };
    add(entry(1 + length).distance, entry(1 + length).packets - entry(1).packets);
    for (std::size_t i = length; i >= 2; --i) add(entry(i).distance, entry(i).packets);
    add(entry(1).distance, entry(1).packets);
    comb.others.pop_back();  // the first packet of the next period
    return comb;
  }
  if (entry(1).packets < 3 || entry(1).distance == packet * rate) return std::nullopt;
  comb.stride = entry(1).distance;
  return comb;
}

}  // namespace espalier
