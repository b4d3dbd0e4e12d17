// Between the hosts of a training job and the machine that they run on: the network with its NIs,
// or a closed form of it. Hosts act on events and know no SystemC.
#pragma once

#include <cstdint>
#include <string>

#include "flowctl/wait_list.h"
#include "hw/ids.h"

namespace espalier {

// The rank at the root of every tree of coordination; the coordinator, where one rank is.
inline constexpr RankId kRoot{0};

// What ranks are called among those who wait ("host_3").
[[nodiscard]] inline std::string host_name(RankId rank) {
  return "host_" + std::to_string(rank.value());
}

// Of the control plane. The machine carries its size; what it says the hosts know by `tag`.
struct HostMessage {
  RankId from;
  RankId to;
  Bytes bytes = 0;  // at least 1
  std::uint64_t tag = 0;
};

// Collectives of a job are numbered by the hosts, in any order, without gaps. All ranks that post
// the same number mean the same collective, of the same size.
using CollectiveNumber = std::uint32_t;

// What hosts ask of the machine. All times are later than that of the event being handled; those of
// one rank's sends, and of one rank's posts, never go back.
class HostServices {
 public:
  HostServices() = default;
  virtual ~HostServices() = default;
  HostServices(const HostServices&) = delete;
  HostServices& operator=(const HostServices&) = delete;

  // HostProgram::woken in cycle `at`. Several may be pending.
  virtual void wake(RankId rank, Cycle at) = 0;
  // Given to the NI of `message.from` in cycle `at`; HostProgram::received once it is in the
  // receiver's memory. Messages between two ranks stay in order.
  virtual void send(const HostMessage& message, Cycle at) = 0;
  // The all-reduce of `bytes`, put at the end of the rank's stream in cycle `at`. A stream runs one
  // collective after the other; HostProgram::collective_done once the rank has its result.
  virtual void post(RankId rank, CollectiveNumber collective, Bytes bytes, Cycle at) = 0;
};

// The hosts of a job. The order of events of one cycle must not matter.
class HostProgram {
 public:
  HostProgram() = default;
  virtual ~HostProgram() = default;
  HostProgram(const HostProgram&) = delete;
  HostProgram& operator=(const HostProgram&) = delete;

  // Before cycle 1. `services` outlive the job.
  virtual void start(HostServices& services) = 0;
  virtual void woken(RankId rank, Cycle now) = 0;
  virtual void received(const HostMessage& message, Cycle now) = 0;
  virtual void collective_done(RankId rank, CollectiveNumber collective, Cycle now) = 0;
  // After any event: nothing is left to do.
  [[nodiscard]] virtual bool finished() const = 0;

  // For the watchdog: what a collective is called, and which hosts wait for whom.
  [[nodiscard]] virtual std::string name_of(CollectiveNumber collective) const = 0;
  virtual void explain(WaitList& waits) const = 0;
};

}  // namespace espalier
