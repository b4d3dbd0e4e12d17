// The tracks of a timeline, written to a Perfetto file.
#pragma once

#include <fmt/format.h>

#include <string>

#include "sims/observe/record/busy_links.h"
#include "sims/observe/record/run_record.h"
#include "sims/observe/timeline/perfetto_file.h"
#include "sims/workload/graph/graph_hosts.h"

namespace espalier {

// The name of a module below the top module: "r_1_2.in_e" of "net.r_1_2.in_e".
[[nodiscard]] inline std::string name_below_top(const std::string& path) {
  return path.substr(path.find('.') + 1);
}

// The name of a message in a timeline: "Reduce of flow 3"; in a program "message of connection 3";
// in traffic "message"; of background messages, whose they are.
[[nodiscard]] inline std::string words_of(const RunRecord& record, const Operation& operation) {
  // By TrafficClass.
  constexpr const char* kBackground[] = {
      nullptr, "control", "hosts' message", "tenant's message", "probe", "socket's message"};
  const char* background = kBackground[static_cast<std::size_t>(operation.traffic)];
  if (background != nullptr) return background;
  if (!operation.flow.valid()) return "message";
  if (!record.nis[operation.from.index()].contexts.empty()) {
    return fmt::format("message of connection {}", operation.flow.value());
  }
  const bool reduces = operation.on_arrival == TransferKind::reduce;
  return fmt::format("{} of flow {}", reduces ? "Reduce" : "Gather", operation.flow.value());
}

[[nodiscard]] inline std::string words_at_sender(const RunRecord& record,
                                                 const MessageRecord& message) {
  return fmt::format("{} to {}", words_of(record, message.operation),
                     name_below_top(record.nis[message.operation.to.index()].name));
}

[[nodiscard]] inline std::string words_at_receiver(const RunRecord& record,
                                                   const MessageRecord& message) {
  return fmt::format("{} from {}", words_of(record, message.operation),
                     name_below_top(record.nis[message.operation.from.index()].name));
}

// Writes a process for each network interface: its timesteps or program steps, and the messages
// that it issues, sends and receives. Arrows lead from a message's sender to its receiver.
void write_ni_tracks(const RunRecord& record, const PerfettoClock& clock, PerfettoFile& file);

// Writes a track for each channel that carries a flit, injection channels included: the flow on the
// wire. A flit occupies the wire for as long as the link takes to send it.
void write_link_tracks(const RunRecord& record, PerfettoFile& file);

// Writes counters: how busy links are, by dimension, and messages in flight.
void write_counters(const RunRecord& record, const BusyLinks& links, const PerfettoClock& clock,
                    PerfettoFile& file);
void write_counters(const BusyLinks& links, const PerfettoClock& clock, std::uint32_t process,
                    PerfettoFile& file);

// Of a step of training: writes counters of the links by dimension, the critical path, and a
// process for each rank with tracks of its accelerator, host, groups, sends and receives. Arrows
// lead from a send to its receive, and from the last rank of a collective to the ranks that waited
// for it. Of a large job only some ranks: those of the critical path, and the first ones.
void write_step(const GraphHosts& hosts, const BusyLinks& links, const PerfettoClock& clock,
                PerfettoFile& file);

}  // namespace espalier
