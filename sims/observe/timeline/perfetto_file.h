// A file of trace events for Perfetto and chrome://tracing, one event per line.
#pragma once

#include <nlohmann/json.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "hw/topology/link_timing.h"
#include "sims/observe/waves/output_file.h"

namespace espalier {

// Converts ticks to the time axis of the file.
class PerfettoClock {
 public:
  PerfettoClock(std::uint64_t hertz, Tick ticks_per_cycle)
      : hertz_(hertz), ticks_per_cycle_(ticks_per_cycle) {}

  [[nodiscard]] Tick tick(Cycle cycle) const { return cycle * ticks_per_cycle_; }
  // In microseconds, rounded down to a picosecond.
  [[nodiscard]] double at(Tick tick) const { return microseconds(picoseconds(tick)); }
  // The difference of two times that at() returns, so that a slice ends exactly where the next one
  // begins.
  [[nodiscard]] double between(Tick begin, Tick end) const {
    return microseconds(picoseconds(end) - picoseconds(begin));
  }

 private:
  __extension__ using Wide = unsigned __int128;

  [[nodiscard]] std::uint64_t picoseconds(Tick tick) const {
    constexpr std::uint64_t kPerSecond = 1'000'000'000'000;
    return static_cast<std::uint64_t>(Wide{tick} * kPerSecond / (Wide{hertz_} * ticks_per_cycle_));
  }
  [[nodiscard]] static double microseconds(std::uint64_t picoseconds) {
    return static_cast<double>(picoseconds) / 1e6;
  }

  std::uint64_t hertz_;
  Tick ticks_per_cycle_;
};

using PerfettoArgs = nlohmann::ordered_json;

// A row of a process in the viewer.
struct PerfettoTrack {
  std::uint32_t process = 0;
  std::uint32_t thread = 0;
};

class PerfettoFile {
 public:
  // All functions throw std::runtime_error if the file cannot be written.
  explicit PerfettoFile(const std::string& path) : file_(path) {}
  // Must be called once, before all events.
  void begin(const PerfettoClock& clock);
  void close();

  // Processes are shown in the order in which they are added, and so are the tracks of a process.
  std::uint32_t add_process(const std::string& name);
  PerfettoTrack add_track(std::uint32_t process, const std::string& name);

  // Slices of a track do not overlap.
  void slice(PerfettoTrack track, const std::string& name, Tick begin, Tick end,
             const PerfettoArgs& args = {});
  // An end of an arrow from one slice to another. Both ends have the same number, which no other
  // arrow has, and ticks inside their slices.
  enum class ArrowEnd { tail, head };
  void arrow(ArrowEnd end, PerfettoTrack track, std::uint64_t number, Tick at);
  void counter(std::uint32_t process, const std::string& name, Tick at, const char* unit,
               const PerfettoArgs& value);

 private:
  [[nodiscard]] PerfettoArgs event(const char* phase, const std::string& name, PerfettoTrack track,
                                   Tick at) const;
  void write(const PerfettoArgs& event);

  OutputFile file_;
  std::optional<PerfettoClock> clock_;
  std::uint32_t processes_ = 0;
  std::uint32_t threads_ = 0;
  bool has_events_ = false;
};

// Tracks for slices of one kind that may overlap: each slice takes the first free track.
class PerfettoLanes {
 public:
  PerfettoLanes(PerfettoFile& file, std::uint32_t process, std::string name)
      : file_(file), process_(process), name_(std::move(name)) {}

  // The track for a slice from `begin` to `end`. Slices must come in order of `begin`.
  PerfettoTrack take(Cycle begin, Cycle end) {
    for (Lane& lane : lanes_) {
      if (lane.free > begin) continue;
      lane.free = end;
      return lane.track;
    }
    const std::string number = lanes_.empty() ? "" : " " + std::to_string(lanes_.size() + 1);
    lanes_.push_back({file_.add_track(process_, name_ + number), end});
    return lanes_.back().track;
  }

 private:
  struct Lane {
    PerfettoTrack track;
    Cycle free = 0;
  };
  PerfettoFile& file_;
  std::uint32_t process_;
  std::string name_;
  std::vector<Lane> lanes_;
};

}  // namespace espalier
