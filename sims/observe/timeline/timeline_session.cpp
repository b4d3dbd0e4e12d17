#include "sims/observe/timeline/timeline_session.h"

#include <stdexcept>

#include "sims/observe/timeline/tracks.h"
#include "sims/system/fabric.h"

namespace espalier {

TimelineSession::TimelineSession(const std::string& path, std::uint64_t clock_hertz)
    : clock_hertz_(clock_hertz), file_(path) {}

void TimelineSession::begin(Fabric& fabric) {
  recorder_.begin(fabric);
  links_.emplace(link_kinds(fabric.topology()), [](const Operation&) { return 0U; });
  links_->begin(fabric);
}

template <class Write>
void TimelineSession::write_file(Tick ticks_per_cycle, const Write& write) {
  const PerfettoClock clock(clock_hertz_, ticks_per_cycle);
  try {
    file_.begin(clock);
    write(clock);
    file_.close();
  } catch (const std::runtime_error& error) {
    problem_ = error.what();
  }
}

void TimelineSession::finish(Cycle end) {
  recorder_.finish(end);
  links_->finish(end);
  const RunRecord& record = recorder_.record();
  write_file(record.ticks_per_cycle, [&](const PerfettoClock& clock) {
    write_counters(record, *links_, clock, file_);
    write_ni_tracks(record, clock, file_);
    write_link_tracks(record, file_);
  });
}

void TimelineSession::write(const GraphHosts& hosts, const BusyLinks& links) {
  write_file(1, [&](const PerfettoClock& clock) { write_step(hosts, links, clock, file_); });
}

}  // namespace espalier
