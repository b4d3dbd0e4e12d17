// HostServices in closed form, event by event: no message waits for another.
#pragma once

#include <functional>
#include <queue>
#include <string>
#include <unordered_map>
#include <vector>

#include "sims/workload/coordination/modelled_streams.h"

namespace espalier {

class ClosedFormMachine : public HostServices {
 public:
  // Both must outlive it.
  ClosedFormMachine(std::size_t ranks, const MessageTime& messages,
                    const ReductionTime& reductions);

  // Until the hosts have finished. Returns what is stuck where they do not; else nothing.
  [[nodiscard]] std::string run(HostProgram& hosts);

  void wake(RankId rank, Cycle at) override;
  void send(const HostMessage& message, Cycle at) override;
  void post(RankId rank, CollectiveNumber collective, Bytes bytes, Cycle at) override;

 private:
  enum class Kind : std::uint8_t { woken, received, collective_ended };
  struct Event {
    Cycle at = 0;
    std::uint64_t number = 0;  // events of one cycle in the order in which they were asked for
    Kind kind = Kind::woken;
    HostMessage message;  // woken: `from` is the rank
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

  std::size_t ranks_;
  [[nodiscard]] MessageTime::Path path(RankId from, RankId to);

  const MessageTime& messages_;
  std::unordered_map<std::uint64_t, MessageTime::Path> paths_;  // looked up, never iterated
  ModelledStreams streams_;
  std::priority_queue<Event, std::vector<Event>, std::greater<>> events_;
  std::uint64_t next_number_ = 0;
};

}  // namespace espalier
