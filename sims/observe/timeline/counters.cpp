#include "sims/observe/timeline/counters.h"

#include <algorithm>
#include <map>

namespace espalier {

namespace {

constexpr Cycle kWindows = 200;

// Windows of equal length, but for the last one.
class BusyWindows {
 public:
  BusyWindows(Tick end, Tick ticks_per_cycle)
      : end_(end),
        length_(std::max<Tick>(1, (end / ticks_per_cycle + kWindows - 1) / kWindows) *
                ticks_per_cycle),
        busy_((end + length_ - 1) / length_) {}

  void add(Tick begin, Tick end) {
    end = std::min(end, end_);
    while (begin < end) {
      const std::size_t window = begin / length_;
      const Tick until = std::min(end, end_of(window));
      busy_[window] += until - begin;
      begin = until;
    }
  }
  [[nodiscard]] std::size_t size() const { return busy_.size(); }
  [[nodiscard]] Tick begin_of(std::size_t window) const { return window * length_; }
  [[nodiscard]] Tick end_of(std::size_t window) const {
    return std::min(end_, begin_of(window) + length_);
  }
  // Of `wires` together, in thousandths, rounded down.
  [[nodiscard]] std::uint64_t thousandths(std::size_t window, std::uint64_t wires) const {
    return busy_[window] * 1000 / (wires * (end_of(window) - begin_of(window)));
  }

 private:
  Tick end_;
  Tick length_;
  std::vector<Tick> busy_;
};

void write_utilization(const RunRecord& record, const std::vector<bool>& is_link,
                       std::uint32_t process, TraceFile& file) {
  const auto links = static_cast<std::uint64_t>(std::count(is_link.begin(), is_link.end(), true));
  if (links == 0) return;
  const Tick end = record.end * record.ticks_per_cycle;
  BusyWindows windows(end, record.ticks_per_cycle);
  for (std::size_t c = 0; c < record.channels.size(); ++c) {
    if (!is_link[c]) continue;
    for (const VcRecord& vc : record.channels[c].vcs) {
      for (const CarriedRun& run : vc.carried) {
        windows.add(run.flits.start, run.flits.tick_of(run.flits.n));
      }
    }
  }
  // A counter keeps its value until the next one.
  std::uint64_t shown = 0;
  const auto show = [&](Tick at, std::uint64_t thousandths) {
    if (at != 0 && thousandths == shown) return;
    shown = thousandths;
    file.counter(process, "link utilization", at, "percent", static_cast<double>(thousandths) / 10);
  };
  for (std::size_t w = 0; w < windows.size(); ++w) {
    show(windows.begin_of(w), windows.thousandths(w, links));
  }
  show(end, 0);
}

void write_in_flight(const RunRecord& record, const TraceClock& clock, std::uint32_t process,
                     TraceFile& file) {
  std::map<Cycle, std::int64_t> changes;
  for (const MessageRecord& message : record.messages) {
    ++changes[message.issued];
    if (message.done != kNever) --changes[message.done];
  }
  std::int64_t in_flight = 0;
  for (const auto& [at, change] : changes) {
    if (change == 0) continue;
    in_flight += change;
    file.counter(process, "messages in flight", clock.tick(at), "messages", in_flight);
  }
}

}  // namespace

void write_counters(const RunRecord& record, const std::vector<bool>& is_link,
                    const TraceClock& clock, TraceFile& file) {
  const std::uint32_t process = file.add_process("network");
  write_utilization(record, is_link, process, file);
  write_in_flight(record, clock, process, file);
}

}  // namespace espalier
