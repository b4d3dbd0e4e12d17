#include "sims/workload/graph/modelled_machine.h"

#include <fmt/format.h>

#include <algorithm>
#include <queue>
#include <unordered_map>

namespace espalier {

namespace {

class EventMachine : public HostServices {
 public:
  explicit EventMachine(const MessageTime* messages) : messages_(messages) {}

  void run(HostProgram& hosts) {
    hosts.start(*this);
    while (!hosts.finished() && !events_.empty()) {
      const Event event = events_.top();
      events_.pop();
      if (event.is_message) {
        hosts.received(event.message, event.at);
      } else {
        hosts.woken(event.message.from, event.at);
      }
    }
  }

  void wake(RankId rank, Cycle at) override { push({at, 0, false, {rank, rank, 0, 0}}); }
  void send(const HostMessage& message, Cycle at) override {
    push({at + messages_->flight(path(message.from, message.to), message.bytes), 0, true, message});
  }
  void post(RankId /*rank*/, CollectiveNumber /*collective*/, const HostCollective& /*what*/,
            Cycle /*at*/) override {}

 private:
  struct Event {
    Cycle at = 0;
    std::uint64_t number = 0;  // orders the events of one cycle: first asked, first handled
    bool is_message = false;   // false: the rank `message.from` wakes
    HostMessage message;

    friend bool operator>(const Event& a, const Event& b) {
      return a.at != b.at ? a.at > b.at : a.number > b.number;
    }
  };

  void push(Event event) {
    event.number = next_number_++;
    events_.push(event);
  }
  [[nodiscard]] MessageTime::Path path(RankId from, RankId to) {
    const std::uint64_t pair = std::uint64_t{from.value()} << 32 | to.value();
    const auto known = paths_.find(pair);
    if (known != paths_.end()) return known->second;
    return paths_[pair] = messages_->path(from, to);
  }

  const MessageTime* messages_;
  std::unordered_map<std::uint64_t, MessageTime::Path> paths_;  // by pair of ranks
  std::priority_queue<Event, std::vector<Event>, std::greater<>> events_;
  std::uint64_t next_number_ = 0;
};

}  // namespace

void ModelledDataPlane::start(HostServices& services) {
  services_ = &services;
  hosts_.start(*this);
}

void ModelledDataPlane::post(RankId rank, CollectiveNumber collective, const HostCollective& what,
                             Cycle at) {
  if (collective >= meetings_.size()) meetings_.resize(collective + 1);
  Meeting& meeting = meetings_[collective];
  if (meeting.streams.empty()) {
    meeting.what = what;
    meeting.streams = occupies_ ? occupies_(what) : std::vector<std::uint32_t>{0};
  }
  for (const std::uint32_t s : meeting.streams) {
    auto& stream = streams_[rank.index() * num_streams_ + s];
    stream.push_back({collective, at});
    if (stream.size() == 1) arrive(stream.front(), at);
  }
}

void ModelledDataPlane::arrive(const Post& post, Cycle at) {
  Meeting& meeting = meetings_[post.collective];
  meeting.latest = std::max(meeting.latest, at);
  if (++meeting.arrived != streams_.size() / num_streams_ * meeting.streams.size()) return;
  running_.push_back({post.collective, meeting.latest + time_(meeting.what)});
  // A collective ends everywhere in the same cycle, so waking rank 0 is enough.
  services_->wake(RankId(0), running_.back().end);
}

void ModelledDataPlane::woken(RankId rank, Cycle now) {
  const auto over = std::find_if(running_.begin(), running_.end(),
                                 [&](const Running& r) { return r.end == now; });
  if (rank == RankId(0) && over != running_.end()) {
    const Running ended = *over;
    running_.erase(over);
    end(ended);
  }
  // A host that did not ask to be woken finds no work.
  hosts_.woken(rank, now);
}

void ModelledDataPlane::end(const Running& running) {
  for (std::size_t first = 0; first < streams_.size(); first += num_streams_) {
    for (const std::uint32_t s : meetings_[running.collective].streams) {
      auto& stream = streams_[first + s];
      stream.pop_front();
      if (!stream.empty()) arrive(stream.front(), std::max(stream.front().at, running.end));
    }
  }
  for (std::size_t r = 0; r < streams_.size() / num_streams_; ++r) {
    hosts_.collective_done(RankId(r), running.collective, running.end);
  }
}

void ModelledDataPlane::explain(WaitList& waits) const {
  for (std::size_t mine = 0; mine < streams_.size(); ++mine) {
    if (streams_[mine].empty()) continue;
    const CollectiveNumber first = streams_[mine].front().collective;
    for (std::size_t other = mine % num_streams_; other < streams_.size(); other += num_streams_) {
      const bool is_empty = streams_[other].empty();
      if (!is_empty && streams_[other].front().collective == first) continue;
      const std::string who = host_name(RankId(other / num_streams_));
      const std::string at = is_empty
                                 ? "has posted nothing"
                                 : "runs " + hosts_.name_of(streams_[other].front().collective);
      waits.push_back({host_name(RankId(mine / num_streams_)), who,
                       fmt::format("{}, while {} {}", hosts_.name_of(first), who, at)});
      break;
    }
  }
  if (waits.empty()) hosts_.explain(waits);
}

std::string run_events(HostProgram& hosts, const MessageTime* messages) {
  EventMachine(messages).run(hosts);
  if (hosts.finished()) return {};
  WaitList waits;
  hosts.explain(waits);
  std::string text = "deadlock: no host can continue";
  for (std::size_t w = 0; w < waits.size() && w < 8; ++w) {
    text += (w == 0 ? ": " : "; ") + waits[w].who + " waits for " + waits[w].whom + " (" +
            waits[w].why + ")";
  }
  return text;
}

}  // namespace espalier
