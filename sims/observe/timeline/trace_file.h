// A file of trace events as Perfetto and chrome://tracing read it, an event a line.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>

#include "sims/observe/timeline/trace_clock.h"
#include "sims/observe/waves/output_file.h"

namespace espalier {

using TraceArgs = nlohmann::ordered_json;

// A row of a process in the viewer.
struct TraceTrack {
  std::uint32_t process = 0;
  std::uint32_t thread = 0;
};

class TraceFile {
 public:
  // All of these throw std::runtime_error as OutputFile does.
  explicit TraceFile(const std::string& path) : file_(path) {}
  // Once, before all events.
  void begin(const TraceClock& clock);
  void close();

  // Processes are shown in the order in which they are added, tracks of a process likewise.
  std::uint32_t add_process(const std::string& name);
  TraceTrack add_track(std::uint32_t process, const std::string& name);

  // Slices of a track do not overlap.
  void slice(TraceTrack track, const std::string& name, Tick begin, Tick end,
             const TraceArgs& args = {});
  // An arrow between two slices; both ticks lie inside theirs. Numbers are different.
  void arrow_begins(TraceTrack track, std::uint64_t number, Tick at);
  void arrow_ends(TraceTrack track, std::uint64_t number, Tick at);
  void counter(std::uint32_t process, const std::string& name, Tick at, const char* unit,
               const TraceArgs& value);

 private:
  [[nodiscard]] TraceArgs event(const char* phase, const std::string& name, TraceTrack track,
                                Tick at) const;
  void arrow(const char* phase, TraceTrack track, std::uint64_t number, Tick at);
  void write(const TraceArgs& event);

  OutputFile file_;
  std::optional<TraceClock> clock_;
  std::uint32_t processes_ = 0;
  std::uint32_t threads_ = 0;
  bool has_events_ = false;
};

}  // namespace espalier
