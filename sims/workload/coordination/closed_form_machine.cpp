#include "sims/workload/coordination/closed_form_machine.h"

namespace espalier {

ClosedFormMachine::ClosedFormMachine(std::size_t ranks, const MessageTime& messages,
                                     const ReductionTime& reductions)
    : ranks_(ranks), messages_(messages), streams_(ranks, reductions) {}

std::string ClosedFormMachine::run(HostProgram& hosts) {
  hosts.start(*this);
  while (!hosts.finished() && !events_.empty()) {
    const Event event = events_.top();
    events_.pop();
    handle(event, hosts);
  }
  if (hosts.finished()) return {};
  WaitList waits;
  streams_.explain(hosts, waits);
  if (waits.empty()) hosts.explain(waits);
  std::string text = "deadlock: no host can continue";
  for (std::size_t w = 0; w < waits.size() && w < 8; ++w) {
    text += (w == 0 ? ": " : "; ") + waits[w].who + " waits for " + waits[w].whom + " (" +
            waits[w].why + ")";
  }
  return text;
}

void ClosedFormMachine::handle(const Event& event, HostProgram& hosts) {
  switch (event.kind) {
    case Kind::woken:
      hosts.woken(event.message.from, event.at);
      return;
    case Kind::received:
      hosts.received(event.message, event.at);
      return;
    case Kind::collective_ended:
      break;
  }
  std::vector<ModelledStreams::Running> begun;
  streams_.ended({event.collective, event.at}, begun);
  for (const auto& running : begun) push_end(running);
  for (std::size_t r = 0; r < ranks_; ++r) {
    hosts.collective_done(RankId(r), event.collective, event.at);
  }
}

void ClosedFormMachine::push_end(const ModelledStreams::Running& running) {
  Event event;
  event.at = running.end;
  event.kind = Kind::collective_ended;
  event.collective = running.collective;
  push(event);
}

void ClosedFormMachine::wake(RankId rank, Cycle at) {
  Event event;
  event.at = at;
  event.message.from = rank;
  push(event);
}

MessageTime::Path ClosedFormMachine::path(RankId from, RankId to) {
  const std::uint64_t pair = std::uint64_t{from.value()} << 32 | to.value();
  const auto known = paths_.find(pair);
  if (known != paths_.end()) return known->second;
  return paths_[pair] = messages_.path(from, to);
}

void ClosedFormMachine::send(const HostMessage& message, Cycle at) {
  Event event;
  event.at = at + messages_.flight(path(message.from, message.to), message.bytes);
  event.kind = Kind::received;
  event.message = message;
  push(event);
}

void ClosedFormMachine::post(RankId rank, CollectiveNumber collective, Bytes bytes, Cycle at) {
  const auto running = streams_.post(rank, collective, bytes, at);
  if (running) push_end(*running);
}

}  // namespace espalier
