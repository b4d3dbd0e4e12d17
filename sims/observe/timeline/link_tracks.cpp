#include "sims/observe/timeline/link_tracks.h"

#include <algorithm>
#include <string>
#include <vector>

#include "sims/observe/timeline/message_words.h"
#include "sims/observe/timeline/module_name.h"

namespace espalier {

namespace {

// Flits on the wire one after the other, of one VC.
struct WireRun {
  const MessageRecord* message = nullptr;
  RecordIndex index = 0;
  std::size_t vc = 0;
  std::uint64_t flits = 0;
  Tick begin = 0;
  Tick end = 0;
};

// Messages of a flow are one to who looks at a link; what has no flow is by itself.
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

void write_link_tracks(const RunRecord& record, TraceFile& file) {
  const std::uint32_t process = file.add_process("links");
  for (const ChannelRecord& channel : record.channels) {
    const std::vector<WireRun> runs = runs_of(record, channel);
    if (runs.empty()) continue;
    const TraceTrack track = file.add_track(process, name_below_top(channel.name));
    for (const WireRun& run : runs) {
      TraceArgs args;
      if (run.message->operation.flow.valid()) args["flow"] = run.message->operation.flow.value();
      args["flits"] = run.flits;
      args["vc"] = run.vc;
      file.slice(track, words_of(record, *run.message), run.begin, run.end, args);
    }
  }
}

}  // namespace espalier
