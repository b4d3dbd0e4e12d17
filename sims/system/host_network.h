// The simulated network under the hosts of a training job.
#pragma once

#include <functional>
#include <memory>
#include <queue>
#include <string>
#include <utility>
#include <vector>

#include "hw/clock/clock_domain.h"
#include "hw/ids.h"
#include "ni/engines/stream_engine.h"
#include "sims/system/host_messages.h"
#include "sims/system/simulated_system.h"
#include "sims/system/stream_programs.h"
#include "sims/workload/coordination/host_services.h"

namespace espalier {

// Wakes hosts at the times they ask for. Hosts with the same time are woken in ascending rank.
class HostTimers : public Clocked {
 public:
  using Wake = std::function<void(RankId, Cycle)>;

  // To be called during elaboration.
  HostTimers(ClockDomain& clock, Wake wake)
      : clock_(clock), id_(clock.add(*this)), wake_(std::move(wake)) {}

  // Wakes `rank` in cycle `at`, which is later than now.
  void add(RankId rank, Cycle at) {
    pending_.emplace(at, rank);
    if (at < armed_) arm(at);
  }
  void evaluate(Cycle now) override {
    if (pending_.empty() || pending_.top().first > now) return;
    armed_ = now;  // add() does not arm while this loop runs
    while (!pending_.empty() && pending_.top().first <= now) {
      const RankId rank = pending_.top().second;
      pending_.pop();
      wake_(rank, now);
    }
    armed_ = kNever;
    if (!pending_.empty()) arm(pending_.top().first);
  }

 private:
  using Timer = std::pair<Cycle, RankId>;

  void arm(Cycle at) {
    armed_ = at;
    clock_.wake(id_, at);
  }

  ClockDomain& clock_;
  ClockedId id_;
  Wake wake_;
  std::priority_queue<Timer, std::vector<Timer>, std::greater<>> pending_;
  Cycle armed_ = kNever;  // the next cycle in which the clock evaluates this module
};

// A collective as its hosts and its network saw it, in cycles.
struct HostedCollective {
  Bytes bytes = 0;
  Cycle first_post = kNever;  // earliest of all ranks
  Cycle last_post = 0;
  Cycle first_issue = kNever;
  Cycle last_visible = 0;  // reduction included; 0: not complete
};

// The simulation ends when the hosts have finished, all their messages are received, and every
// posted collective is complete at all ranks. It also ends with the first failure.
class HostNetwork : public HostServices, public HostSide, private StreamObserver {
 public:
  // `nodes`: node of each rank; every node has a rank. All arguments must outlive this object.
  HostNetwork(const Topology& topology, const RunPoint& point, SimulatedSystem& system,
              const std::vector<NodeId>& nodes, HostProgram& hosts, const TablesOfSize& tables_of);

  // To be called once, before the simulation.
  void start();

  void wake(RankId rank, Cycle at) override;
  void send(const HostMessage& message, Cycle at) override;
  void post(RankId rank, CollectiveNumber collective, Bytes bytes, Cycle at) override;

  [[nodiscard]] bool under_way(Cycle now) const override { return latest_ > now; }
  void explain_waits(WaitList& waits) const override { hosts_.explain(waits); }

  // Why the simulation ended early; empty if it did not.
  [[nodiscard]] const std::string& failure() const { return failure_; }
  [[nodiscard]] const std::vector<HostedCollective>& collectives() const { return collectives_; }
  [[nodiscard]] std::uint64_t num_messages() const { return messages_.count(); }

 private:
  // A collective that is not complete at all nodes.
  struct Running {
    StreamProgramCache::Program program;
    std::unique_ptr<StreamCollective> stream;
    std::vector<bool> posted;  // by rank
    std::size_t ranks_left = 0;
  };

  // Throws what tables_of throws.
  void open(CollectiveNumber collective, Bytes bytes);
  void note_post(RankId rank, CollectiveNumber collective, Bytes bytes, Cycle at);
  void close(CollectiveNumber collective);
  void collective_done(NodeId node, StreamCollective& collective, Cycle now) override;
  void out_of_turn(NodeId node, const Operation& operation) override;
  [[nodiscard]] std::string name_of(const StreamCollective& collective) const override;
  [[nodiscard]] std::string host_of(NodeId node) const override;
  void end_if_finished(Cycle now);
  void fail(const std::string& reason);

  const Topology& topology_;
  SimulatedSystem& system_;
  const std::vector<NodeId>& nodes_;  // by rank
  std::vector<RankId> ranks_;         // by node
  HostProgram& hosts_;
  SideRoutes routes_;
  StreamPrograms programs_;
  HostMessages messages_;
  HostTimers timers_;
  std::vector<StreamEngine*> streams_;         // by node; the NIs own them
  std::vector<HostedCollective> collectives_;  // by number
  std::vector<Running> running_;               // by number; empty if complete or not posted
  std::size_t num_running_ = 0;
  std::uint64_t next_number_ = 0;  // of the next collective's first chunk and flow
  Cycle latest_ = 0;               // the latest cycle for which a host asked for something
  bool has_ended_ = false;
  std::string failure_;
};

}  // namespace espalier
