#include "sims/observe/timeline/tracks.h"

#include <algorithm>
#include <map>
#include <string>
#include <vector>

namespace espalier {

namespace {

// Consecutive flits of one VC on the wire.
struct WireRun {
  const MessageRecord* message = nullptr;
  RecordIndex index = 0;
  std::size_t vc = 0;
  std::uint64_t flits = 0;
  Tick begin = 0;
  Tick end = 0;
};

// Messages of one flow are joined to one slice on a link. A message without a flow is a slice of
// its own.
bool goes_on(const WireRun& run, const WireRun& next) {
  if (run.vc != next.vc || run.end != next.begin) return false;
  if (run.index == next.index) return true;
  const Operation& one = run.message->operation;
  const Operation& other = next.message->operation;
  return one.flow.valid() && one.flow == other.flow && one.on_arrival == other.on_arrival &&
         !one.is_background() && !other.is_background();
}

std::vector<WireRun> runs_of(const RunRecord& record, const ChannelRecord& channel) {
  std::vector<WireRun> runs;
  for (std::size_t vc = 0; vc < channel.vcs.size(); ++vc) {
    for (const CarriedRun& run : channel.vcs[vc].carried) {
      runs.push_back({&record.messages[run.message], run.message, vc, run.flits.n, run.flits.start,
                      run.flits.tick_of(run.flits.n)});
    }
  }
  std::sort(runs.begin(), runs.end(),
            [](const WireRun& a, const WireRun& b) { return a.begin < b.begin; });
  std::vector<WireRun> merged;
  for (const WireRun& run : runs) {
    if (!merged.empty() && goes_on(merged.back(), run)) {
      merged.back().flits += run.flits;
      merged.back().end = run.end;
    } else {
      merged.push_back(run);
    }
  }
  return merged;
}

std::string words_of(const RunRecord& record, const MessageRecord& message) {
  const Operation& operation = message.operation;
  if (operation.flow.valid() && !operation.is_background()) return words_of(record, operation);
  return name_below_top(record.nis[operation.from.index()].name) + " " +
         words_at_sender(record, message);
}

}  // namespace

void write_link_tracks(const RunRecord& record, PerfettoFile& file) {
  const std::uint32_t process = file.add_process("links");
  for (const ChannelRecord& channel : record.channels) {
    const std::vector<WireRun> runs = runs_of(record, channel);
    if (runs.empty()) continue;
    const PerfettoTrack track = file.add_track(process, name_below_top(channel.name));
    for (const WireRun& run : runs) {
      PerfettoArgs args;
      if (run.message->operation.flow.valid()) args["flow"] = run.message->operation.flow.value();
      args["flits"] = run.flits;
      args["vc"] = run.vc;
      file.slice(track, words_of(record, *run.message), run.begin, run.end, args);
    }
  }
}

namespace {

constexpr Cycle kWindows = 200;

// Windows of equal length, except the last one.
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
  // Utilization of `wires` together, in thousandths, rounded down.
  [[nodiscard]] std::uint64_t thousandths(std::size_t window, std::uint64_t wires) const {
    return busy_[window] * 1000 / (wires * (end_of(window) - begin_of(window)));
  }

 private:
  Tick end_;
  Tick length_;
  std::vector<Tick> busy_;
};

void write_utilization(const RunRecord& record, const std::vector<bool>& is_link,
                       std::uint32_t process, PerfettoFile& file) {
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
  // A counter keeps its value until the next event.
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

void write_in_flight(const RunRecord& record, const PerfettoClock& clock, std::uint32_t process,
                     PerfettoFile& file) {
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
                    const PerfettoClock& clock, PerfettoFile& file) {
  const std::uint32_t process = file.add_process("network");
  write_utilization(record, is_link, process, file);
  write_in_flight(record, clock, process, file);
}

}  // namespace espalier
