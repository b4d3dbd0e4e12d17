#include "sims/observe/timeline/tracks.h"

#include <algorithm>
#include <array>
#include <map>
#include <utility>

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

constexpr std::size_t kMostPoints = 400;  // of a counter

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

void write_counters(const BusyLinks& links, const PerfettoClock& clock, std::uint32_t process,
                    PerfettoFile& file) {
  for (std::uint32_t k = 0; k < links.kinds().names.size(); ++k) {
    const std::vector<double> busy = links.busy(k);
    const std::size_t windows = (busy.size() + kMostPoints - 1) / kMostPoints;
    // A counter keeps its value until the next event.
    std::int64_t shown = -1;
    for (std::size_t w = 0; w < busy.size() + windows; w += windows) {
      double sum = 0;
      for (std::size_t i = w; i < std::min(busy.size(), w + windows); ++i) sum += busy[i];
      const auto thousandths =
          static_cast<std::int64_t>(1000 * sum / static_cast<double>(windows) + 1e-6);
      if (std::exchange(shown, thousandths) == thousandths) continue;
      file.counter(process, "links busy: " + links.kinds().names[k], clock.tick(w * links.window()),
                   "percent", static_cast<double>(thousandths) / 10);
    }
  }
}

void write_counters(const RunRecord& record, const BusyLinks& links, const PerfettoClock& clock,
                    PerfettoFile& file) {
  const std::uint32_t process = file.add_process("network");
  write_counters(links, clock, process, file);
  write_in_flight(record, clock, process, file);
}

namespace {

constexpr std::array<const char*, kNumContextStalls> kStallNames{
    "leaving", "launch", "dependency", "message", "slot", "requests", "port", "busy"};

std::string chunks_text(ProgramBuffer buffer, std::int32_t first, std::uint32_t count) {
  if (count <= 1) return fmt::format("{}[{}]", to_string(buffer), first);
  return fmt::format("{}[{}..{}]", to_string(buffer), first,
                     first + static_cast<std::int32_t>(count) - 1);
}

// E.g. "rrs i[3] tile 0". A step that moves data inside memory shows source and target.
std::string step_name(const ContextRecord::Step& of) {
  const ProgramStep& step = of.step;
  std::string text = to_string(step.op);
  const std::string from = chunks_text(step.src_buffer, step.src_offset, step.count);
  const std::string to = chunks_text(step.dst_buffer, step.dst_offset, step.count);
  const bool is_local = step.op == ProgramOp::copy || step.op == ProgramOp::reduce;
  if (is_local) {
    text += fmt::format(" {} -> {}", from, to);
  } else if (writes_target(step.op)) {
    text += " " + to;
  } else if (reads_source(step.op)) {
    text += " " + from;
  }
  return text + fmt::format(" tile {}", of.place.tile);
}

PerfettoArgs step_args(const ContextRecord::Step& of) {
  PerfettoArgs args{{"block", of.place.block},
                    {"step", of.place.step},
                    {"pass", of.place.tile},
                    {"count", of.step.count}};
  if (of.times.ended == kNever) {
    args["unfinished"] = true;
    return args;
  }
  PerfettoArgs waits = PerfettoArgs::object();
  for (std::size_t s = 0; s < kNumContextStalls; ++s) {
    if (of.times.stalls[s] != 0) waits[kStallNames[s]] = of.times.stalls[s];
  }
  args["cycles"] = waits;
  return args;
}

void write_context_tracks(const NiRecord& ni, Cycle end, std::uint32_t process,
                          const PerfettoClock& clock, PerfettoFile& file) {
  bool costs = false;
  for (const NiRecord::Launch& launch : ni.launches) costs = costs || launch.begins != launch.at;
  if (costs) {
    const PerfettoTrack track = file.add_track(process, "launch");
    for (const NiRecord::Launch& launch : ni.launches) {
      if (launch.begins == launch.at) continue;
      file.slice(track, fmt::format("call {}", launch.call), clock.tick(launch.at),
                 clock.tick(launch.begins < end ? launch.begins : end));
    }
  }
  for (std::size_t c = 0; c < ni.contexts.size(); ++c) {
    if (ni.contexts[c].steps.empty()) continue;
    const PerfettoTrack track = file.add_track(process, fmt::format("ctx{}", c));
    for (const ContextRecord::Step& step : ni.contexts[c].steps) {
      const Cycle until = step.times.ended == kNever ? end : step.times.ended;
      file.slice(track, step_name(step), clock.tick(step.times.turn), clock.tick(until),
                 step_args(step));
    }
  }
}

PerfettoArgs args_of(RecordIndex index, const MessageRecord& message) {
  PerfettoArgs args{{"message", index}};
  if (message.operation.flow.valid()) args["flow"] = message.operation.flow.value();
  args["bytes"] = message.operation.bytes;
  args["flits"] = message.grid.flits;
  return args;
}

// Writes a process for each network interface. An arrow leads from each send to its receive.
class NiTracks {
 public:
  // All arguments must outlive this object.
  NiTracks(const RunRecord& record, const PerfettoClock& clock, PerfettoFile& file)
      : record_(record), clock_(clock), file_(file), nis_(record.nis.size()) {
    for (RecordIndex i = 0; i < record_.messages.size(); ++i) {
      const MessageRecord& message = record_.messages[i];
      nis_[message.operation.from.index()].sends.push_back(i);
      if (message.visible != kNever) nis_[message.operation.to.index()].receives.push_back(i);
    }
    for (Ni& ni : nis_) {
      std::stable_sort(ni.receives.begin(), ni.receives.end(), [&](RecordIndex a, RecordIndex b) {
        return record_.messages[a].visible < record_.messages[b].visible;
      });
    }
  }

  void write() {
    for (std::size_t v = 0; v < nis_.size(); ++v) {
      const NiRecord& ni = record_.nis[v];
      if (ni.name.empty()) continue;
      const std::uint32_t process = file_.add_process(name_below_top(ni.name));
      write_timesteps(ni, process);
      write_context_tracks(ni, record_.end, process, clock_, file_);
      write_issues(nis_[v].sends, process);
      write_sends(nis_[v].sends, process);
      write_receives(nis_[v].receives, process);
    }
  }

 private:
  // The messages that an NI sends, in order of issue, and the messages that it receives, in order
  // of arrival.
  struct Ni {
    std::vector<RecordIndex> sends;
    std::vector<RecordIndex> receives;
  };
  // The last timestep extends to the end of the run, because nothing advances the counter.
  void write_timesteps(const NiRecord& ni, std::uint32_t process) {
    if (ni.steps.empty()) return;
    const PerfettoTrack track = file_.add_track(process, "timestep");
    for (std::size_t s = 1; s < ni.steps.size(); ++s) {
      const Cycle end = s + 1 < ni.steps.size() ? ni.steps[s + 1].at : record_.end;
      slice(track, fmt::format("step {}", s), ni.steps[s].at, end);
    }
  }
  void write_issues(const std::vector<RecordIndex>& sends, std::uint32_t process) {
    PerfettoLanes lanes(file_, process, "issue");
    for (const RecordIndex i : sends) {
      const MessageRecord& message = record_.messages[i];
      if (message.whole != i) continue;
      const PerfettoTrack track = lanes.take(message.issued, message.issued + 1);
      slice(track, words_at_sender(record_, message), message.issued, message.issued + 1);
    }
  }
  void write_sends(const std::vector<RecordIndex>& sends, std::uint32_t process) {
    PerfettoLanes lanes(file_, process, "send");
    for (const RecordIndex i : sends) {
      const MessageRecord& message = record_.messages[i];
      const bool is_sent = message.sent != kNever;
      const Cycle end = is_sent ? message.sent + 1 : record_.end;
      const PerfettoTrack track = lanes.take(message.issued, end);
      PerfettoArgs args = args_of(i, message);
      args["channel"] = name_below_top(record_.channels[message.channel].name);
      if (!is_sent) args["unfinished"] = true;
      slice(track, words_at_sender(record_, message), message.issued, end, args);
      if (message.visible != kNever)
        file_.arrow(PerfettoFile::ArrowEnd::tail, track, i, clock_.tick(message.sent));
    }
  }
  void write_receives(const std::vector<RecordIndex>& receives, std::uint32_t process) {
    PerfettoLanes lanes(file_, process, "receive");
    for (const RecordIndex i : receives) {
      const MessageRecord& message = record_.messages[i];
      const bool is_done = message.done != kNever;
      const Cycle end = is_done ? std::max(message.done, message.visible + 1) : record_.end;
      const PerfettoTrack track = lanes.take(message.visible, end);
      PerfettoArgs args = args_of(i, message);
      if (message.adding != kNever && message.adding != message.visible) {
        args["cycles_held"] = message.adding - message.visible;
      }
      if (!is_done) args["unfinished"] = true;
      slice(track, words_at_receiver(record_, message), message.visible, end, args);
      file_.arrow(PerfettoFile::ArrowEnd::head, track, i, clock_.tick(message.visible));
    }
  }
  void slice(PerfettoTrack track, const std::string& name, Cycle begin, Cycle end,
             const PerfettoArgs& args = {}) {
    file_.slice(track, name, clock_.tick(begin), clock_.tick(end), args);
  }

  const RunRecord& record_;
  const PerfettoClock& clock_;
  PerfettoFile& file_;
  std::vector<Ni> nis_;  // by vertex
};

}  // namespace

void write_ni_tracks(const RunRecord& record, const PerfettoClock& clock, PerfettoFile& file) {
  NiTracks(record, clock, file).write();
}

}  // namespace espalier
