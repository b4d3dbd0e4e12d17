#include "sims/observe/timeline/ni_tracks.h"

#include <fmt/format.h>

#include <algorithm>

#include "sims/observe/timeline/context_tracks.h"
#include "sims/observe/timeline/message_words.h"
#include "sims/observe/timeline/module_name.h"
#include "sims/observe/timeline/trace_lanes.h"

namespace espalier {

namespace {

TraceArgs args_of(RecordIndex index, const MessageRecord& message) {
  TraceArgs args{{"message", index}};
  if (message.operation.flow.valid()) args["flow"] = message.operation.flow.value();
  args["bytes"] = message.operation.bytes;
  args["flits"] = message.grid.flits;
  return args;
}

}  // namespace

NiTracks::NiTracks(const RunRecord& record, const TraceClock& clock, TraceFile& file)
    : record_(record), clock_(clock), file_(file), nis_(record.nis.size()) {
  sort_messages();
}

void NiTracks::sort_messages() {
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

void NiTracks::write() {
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

// The last one lasts: nothing moves the counter on.
void NiTracks::write_timesteps(const NiRecord& ni, std::uint32_t process) {
  if (ni.moves.empty()) return;
  const TraceTrack track = file_.add_track(process, "timestep");
  for (std::size_t m = 0; m < ni.moves.size();) {
    const NiRecord::Move& first = ni.moves[m];
    while (m < ni.moves.size() && ni.moves[m].timestep == first.timestep) ++m;
    const Cycle end = m < ni.moves.size() ? ni.moves[m].at : record_.end;
    if (first.timestep == 0) continue;
    slice(track, fmt::format("step {}", first.timestep), first.at, end);
  }
}

void NiTracks::write_issues(const std::vector<RecordIndex>& sends, std::uint32_t process) {
  TraceLanes lanes(file_, process, "issue");
  for (const RecordIndex i : sends) {
    const MessageRecord& message = record_.messages[i];
    if (message.whole != i) continue;
    const TraceTrack track = lanes.take(message.issued, message.issued + 1);
    slice(track, words_at_sender(record_, message), message.issued, message.issued + 1);
  }
}

void NiTracks::write_sends(const std::vector<RecordIndex>& sends, std::uint32_t process) {
  TraceLanes lanes(file_, process, "send");
  for (const RecordIndex i : sends) {
    const MessageRecord& message = record_.messages[i];
    const bool is_sent = message.sent != kNever;
    const Cycle end = is_sent ? message.sent + 1 : record_.end;
    const TraceTrack track = lanes.take(message.issued, end);
    TraceArgs args = args_of(i, message);
    args["channel"] = name_below_top(record_.channels[message.channel].name);
    if (!is_sent) args["unfinished"] = true;
    slice(track, words_at_sender(record_, message), message.issued, end, args);
    if (message.visible != kNever) file_.arrow_begins(track, i, clock_.tick(message.sent));
  }
}

void NiTracks::write_receives(const std::vector<RecordIndex>& receives, std::uint32_t process) {
  TraceLanes lanes(file_, process, "receive");
  for (const RecordIndex i : receives) {
    const MessageRecord& message = record_.messages[i];
    const bool is_done = message.done != kNever;
    const Cycle end = is_done ? std::max(message.done, message.visible + 1) : record_.end;
    const TraceTrack track = lanes.take(message.visible, end);
    TraceArgs args = args_of(i, message);
    if (message.adding != kNever && message.adding != message.visible) {
      args["cycles_held"] = message.adding - message.visible;
    }
    if (!is_done) args["unfinished"] = true;
    slice(track, words_at_receiver(record_, message), message.visible, end, args);
    file_.arrow_ends(track, i, clock_.tick(message.visible));
  }
}

}  // namespace espalier
