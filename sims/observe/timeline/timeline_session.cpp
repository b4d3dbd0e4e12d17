#include "sims/observe/timeline/timeline_session.h"

#include <set>
#include <stdexcept>

#include "sims/observe/timeline/tracks.h"
#include "sims/system/fabric.h"

namespace espalier {

TimelineSession::TimelineSession(const std::string& path, std::uint64_t clock_hertz)
    : clock_hertz_(clock_hertz), file_(path) {}

void TimelineSession::begin(Fabric& fabric) {
  recorder_.begin(fabric);
  std::set<std::string> of_nis;
  for (std::size_t v = 0; v < fabric.topology().num_vertices(); ++v) {
    const NetworkInterface* ni = fabric.ni_at(NodeId(v));
    if (ni == nullptr) continue;
    for (const auto& port : ni->injection_ports()) of_nis.insert(port->link_name());
  }
  for (const ChannelRecord& channel : recorder_.record().channels) {
    is_link_.push_back(of_nis.count(channel.name) == 0);
  }
}

void TimelineSession::finish(Cycle end) {
  recorder_.finish(end);
  const RunRecord& record = recorder_.record();
  const PerfettoClock clock(clock_hertz_, record.ticks_per_cycle);
  try {
    file_.begin(clock);
    write_counters(record, is_link_, clock, file_);
    write_ni_tracks(record, clock, file_);
    write_link_tracks(record, file_);
    file_.close();
  } catch (const std::runtime_error& error) {
    problem_ = error.what();
  }
}

}  // namespace espalier
