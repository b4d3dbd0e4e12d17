// HostServices in closed form, event by event. Messages do not contend with each other.
#pragma once

#include <functional>
#include <queue>
#include <string>
#include <unordered_map>
#include <vector>

#include "sims/workload/coordination/modelled_data_plane.h"

namespace espalier {

class ClosedFormMachine : public HostServices {
 public:
  // `messages` and `reductions` must outlive it.
  ClosedFormMachine(std::size_t ranks, const MessageTime& messages,
                    const ReductionTime& reductions);

  // Runs until the hosts have finished, and returns an empty text. If they cannot finish, returns
  // which host waits for which other host.
  [[nodiscard]] std::string run(HostProgram& hosts);

  void wake(RankId rank, Cycle at) override;
  void send(const HostMessage& message, Cycle at) override;
  void post(RankId rank, CollectiveNumber collective, Bytes bytes, Cycle at) override;

 private:
  enum class Kind : std::uint8_t { woken, received, collective_ended };
  struct Event {
    Cycle at = 0;
    std::uint64_t number = 0;  // orders the events of one cycle: first asked, first handled
    Kind kind = Kind::woken;
    HostMessage message;  // for kind `woken`, only `from` is set: the rank
    CollectiveNumber collective = 0;

    friend bool operator>(const Event& a, const Event& b) {
      return a.at != b.at ? a.at > b.at : a.number > b.number;
    }
  };

  void push(Event event) {
    event.number = next_number_++;
    events_.push(event);
  }
  void handle(const Event& event, HostProgram& hosts);
  void push_end(const ModelledStreams::Running& running);

  [[nodiscard]] MessageTime::Path path(RankId from, RankId to);

  std::size_t ranks_;
  const MessageTime& messages_;
  std::unordered_map<std::uint64_t, MessageTime::Path> paths_;  // by pair of ranks
  ModelledStreams streams_;
  std::priority_queue<Event, std::vector<Event>, std::greater<>> events_;
  std::uint64_t next_number_ = 0;
};

}  // namespace espalier
