// Tracks for things of one kind that go on at the same time: each in the first one that is free.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "sims/observe/timeline/trace_file.h"

namespace espalier {

class TraceLanes {
 public:
  TraceLanes(TraceFile& file, std::uint32_t process, std::string name)
      : file_(file), process_(process), name_(std::move(name)) {}

  // The track for something from `begin` to `end`, asked for in the order of beginnings.
  TraceTrack take(Cycle begin, Cycle end) {
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
    TraceTrack track;
    Cycle free = 0;
  };
  TraceFile& file_;
  std::uint32_t process_;
  std::string name_;
  std::vector<Lane> lanes_;
};

}  // namespace espalier
