// A machine of formulas under hosts: the time of a message on an idle network, and of a collective
// whose ranks all have reached it.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "flowctl/wait_list.h"
#include "hw/ids.h"
#include "sims/workload/graph/host_services.h"

namespace espalier {

class MessageTime {
 public:
  // The number of a path. Two paths on which every message takes the same time have the same
  // number.
  using Path = std::uint32_t;

  MessageTime() = default;
  virtual ~MessageTime() = default;
  MessageTime(const MessageTime&) = delete;
  MessageTime& operator=(const MessageTime&) = delete;

  // Precondition: from != to.
  [[nodiscard]] virtual Path path(RankId from, RankId to) const = 0;
  // From the sender's NI to the receiver's memory; at least 1.
  [[nodiscard]] virtual Cycle flight(Path path, Bytes bytes) const = 0;
};

// Time of a collective that all its ranks begin at the same time; at least 1.
using CollectiveTime = std::function<Cycle(const HostCollective&)>;

// The resources that a collective occupies on each of its ranks, by number from 0; at least one.
using CollectiveStreams = std::function<std::vector<std::uint32_t>(const HostCollective&)>;

// Collectives without a network, for hosts above and a machine below that moves their messages. All
// ranks post all collectives. A collective begins when it is the first one in all its streams, and
// takes the time of a formula.
class ModelledDataPlane : public HostProgram, public HostServices {
 public:
  // `hosts` must outlive it. Without `occupies` all collectives share one stream.
  ModelledDataPlane(HostProgram& hosts, std::size_t ranks, CollectiveTime time,
                    std::uint32_t streams = 1, CollectiveStreams occupies = {})
      : hosts_(hosts),
        time_(std::move(time)),
        num_streams_(streams),
        occupies_(std::move(occupies)),
        streams_(ranks * streams) {}

  void start(HostServices& services) override;
  void woken(RankId rank, Cycle now) override;
  void received(const HostMessage& message, Cycle now) override { hosts_.received(message, now); }
  // The machine below runs no collectives, so this is never called.
  void collective_done(RankId /*rank*/, CollectiveNumber /*collective*/, Cycle /*now*/) override {}
  [[nodiscard]] bool finished() const override { return hosts_.finished(); }
  [[nodiscard]] std::string name_of(CollectiveNumber collective) const override {
    return hosts_.name_of(collective);
  }
  // Lists ranks whose next collectives differ.
  void explain(WaitList& waits) const override;

  void wake(RankId rank, Cycle at) override { services_->wake(rank, at); }
  void send(const HostMessage& message, Cycle at) override { services_->send(message, at); }
  void post(RankId rank, CollectiveNumber collective, const HostCollective& what,
            Cycle at) override;

 private:
  struct Post {
    CollectiveNumber collective = 0;
    Cycle at = 0;
  };
  struct Meeting {
    HostCollective what;
    std::vector<std::uint32_t> streams;
    std::size_t arrived = 0;  // streams of all ranks in which it is the first one
    Cycle latest = 0;
  };
  struct Running {
    CollectiveNumber collective = 0;
    Cycle end = 0;  // the same on all ranks
  };

  // A rank has reached the first collective of a stream.
  void arrive(const Post& post, Cycle at);
  void end(const Running& running);

  HostProgram& hosts_;
  CollectiveTime time_;
  std::uint32_t num_streams_;
  CollectiveStreams occupies_;
  std::vector<std::deque<Post>> streams_;  // by rank and stream
  std::vector<Meeting> meetings_;          // by collective
  HostServices* services_ = nullptr;
  std::vector<Running> running_;
};

// Runs hosts event by event. Messages do not contend with each other. `messages` is null if the
// hosts send none. The hosts post no collectives: a ModelledDataPlane above the machine keeps them.
// Returns an empty text when the hosts have finished. If they cannot finish, returns which host
// waits for which other host.
[[nodiscard]] std::string run_events(HostProgram& hosts, const MessageTime* messages);

}  // namespace espalier
