// Network interfaces in a timeline: timesteps, and messages issued, sent and received.
#pragma once

#include <vector>

#include "sims/observe/record/run_record.h"
#include "sims/observe/timeline/trace_file.h"

namespace espalier {

// A process for each; arrows lead from what one sends to what another receives.
class NiTracks {
 public:
  // Both must outlive it.
  NiTracks(const RunRecord& record, const TraceClock& clock, TraceFile& file);

  void write();

 private:
  // Of an NI: the messages it sends in the order of issue, those it receives in that of arrival.
  struct Ni {
    std::vector<RecordIndex> sends;
    std::vector<RecordIndex> receives;
  };
  void sort_messages();
  void write_timesteps(const NiRecord& ni, std::uint32_t process);
  void write_issues(const std::vector<RecordIndex>& sends, std::uint32_t process);
  void write_sends(const std::vector<RecordIndex>& sends, std::uint32_t process);
  void write_receives(const std::vector<RecordIndex>& receives, std::uint32_t process);
  void slice(TraceTrack track, const std::string& name, Cycle begin, Cycle end,
             const TraceArgs& args = {}) {
    file_.slice(track, name, clock_.tick(begin), clock_.tick(end), args);
  }

  const RunRecord& record_;
  const TraceClock& clock_;
  TraceFile& file_;
  std::vector<Ni> nis_;  // by vertex
};

}  // namespace espalier
