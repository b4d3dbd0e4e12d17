#include "sims/observe/timeline/context_tracks.h"

#include <fmt/format.h>

#include <array>
#include <string>

namespace espalier {

namespace {

constexpr std::array<const char*, kNumContextStalls> kStallNames{
    "leaving", "launch", "dependency", "message", "slot", "requests", "port", "busy"};

std::string chunks_text(ProgramBuffer buffer, std::int32_t first, std::uint32_t count) {
  if (count <= 1) return fmt::format("{}[{}]", to_string(buffer), first);
  return fmt::format("{}[{}..{}]", to_string(buffer), first,
                     first + static_cast<std::int32_t>(count) - 1);
}

// "rrs i[3] tile 0"; a step that moves data inside memory has both ends.
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

TraceArgs step_args(const ContextRecord::Step& of) {
  TraceArgs args{{"block", of.place.block},
                 {"step", of.place.step},
                 {"pass", of.place.tile},
                 {"count", of.step.count}};
  if (of.times.ended == kNever) {
    args["unfinished"] = true;
    return args;
  }
  TraceArgs waits = TraceArgs::object();
  for (std::size_t s = 0; s < kNumContextStalls; ++s) {
    if (of.times.stalls[s] != 0) waits[kStallNames[s]] = of.times.stalls[s];
  }
  args["cycles"] = waits;
  return args;
}

}  // namespace

void write_context_tracks(const NiRecord& ni, Cycle end, std::uint32_t process,
                          const TraceClock& clock, TraceFile& file) {
  bool costs = false;
  for (const NiRecord::Launch& launch : ni.launches) costs = costs || launch.begins != launch.at;
  if (costs) {
    const TraceTrack track = file.add_track(process, "launch");
    for (const NiRecord::Launch& launch : ni.launches) {
      if (launch.begins == launch.at) continue;
      file.slice(track, fmt::format("call {}", launch.call), clock.tick(launch.at),
                 clock.tick(launch.begins < end ? launch.begins : end));
    }
  }
  for (std::size_t c = 0; c < ni.contexts.size(); ++c) {
    if (ni.contexts[c].steps.empty()) continue;
    const TraceTrack track = file.add_track(process, fmt::format("ctx{}", c));
    for (const ContextRecord::Step& step : ni.contexts[c].steps) {
      const Cycle until = step.times.ended == kNever ? end : step.times.ended;
      file.slice(track, step_name(step), clock.tick(step.times.turn), clock.tick(until),
                 step_args(step));
    }
  }
}

}  // namespace espalier
