// A machine of formulas under the hosts of a graph, and a builder of graphs.
#pragma once

#include <algorithm>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "sims/workload/graph/graph_hosts.h"

namespace espalier::test {

// A graph of ranks that have no work yet.
struct GraphBuilder {
  using After = std::vector<std::uint32_t>;

  explicit GraphBuilder(std::uint32_t ranks) : works(ranks) {
    WorkGroup all{"0", {{}}};
    for (std::uint32_t r = 0; r < ranks; ++r) all.sets[0].push_back(r);
    graph.groups.push_back(all);
  }
  std::uint32_t group(const std::string& name, std::vector<std::vector<std::uint32_t>> sets) {
    graph.groups.push_back({name, std::move(sets)});
    return static_cast<std::uint32_t>(graph.groups.size() - 1);
  }
  // Ids are 10, 20, ... in the order of the calls, if they are not given.
  std::uint32_t add(std::uint32_t rank, WorkNode node, const After& after = {},
                    std::uint64_t id = 0) {
    node.id = id != 0 ? id : 10 * (works[rank].nodes.size() + 1);
    node.name = static_cast<std::uint32_t>(graph.names.size());
    graph.names.push_back("n" + std::to_string(node.id));
    return works[rank].add(node, after);
  }
  std::uint32_t compute(std::uint32_t rank, std::uint64_t ns, const After& after = {},
                        std::uint64_t id = 0) {
    WorkNode node;
    node.kind = WorkKind::compute;
    node.picoseconds = 1000 * ns;
    return add(rank, node, after, id);
  }
  std::uint32_t host(std::uint32_t rank, std::uint64_t ns, const After& after = {}) {
    WorkNode node;
    node.kind = WorkKind::host;
    node.picoseconds = 1000 * ns;
    return add(rank, node, after);
  }
  std::uint32_t none(std::uint32_t rank, const After& after = {}) {
    return add(rank, WorkNode{}, after);
  }
  std::uint32_t reduce(std::uint32_t rank, std::uint32_t group, Bytes bytes,
                       const After& after = {}, std::uint64_t id = 0) {
    WorkNode node;
    node.kind = WorkKind::collective;
    node.group = group;
    node.bytes = bytes;
    return add(rank, node, after, id);
  }
  std::uint32_t send(std::uint32_t rank, std::uint32_t peer, Bytes bytes, std::uint64_t tag = 0,
                     const After& after = {}) {
    WorkNode node;
    node.kind = WorkKind::send;
    node.peer = peer;
    node.bytes = bytes;
    node.tag = tag;
    return add(rank, node, after);
  }
  std::uint32_t receive(std::uint32_t rank, std::uint32_t peer, Bytes bytes, std::uint64_t tag = 0,
                        const After& after = {}) {
    WorkNode node;
    node.kind = WorkKind::receive;
    node.peer = peer;
    node.bytes = bytes;
    node.tag = tag;
    return add(rank, node, after);
  }
  const WorkGraph& build() {
    graph.ranks.clear();
    for (const RankWork& work : works) {
      graph.ranks.push_back(std::make_shared<const RankWork>(work));
    }
    return graph;
  }

  WorkGraph graph;
  std::vector<RankWork> works;
};

// A message takes 100 cycles and a cycle for each byte. A collective begins with its last rank, and
// takes a cycle for each byte; rank r gets its result r cycles later. The collectives of a set run
// one after the other in each rank's order.
class GraphMachine : public HostServices {
 public:
  // `backwards`: of the events of a cycle, the last one asked for comes first.
  GraphMachine(const WorkGraph& graph, bool backwards = false)
      : graph_(graph), sets_(sets_of(graph)), backwards_(backwards) {}

  // Empty if the hosts finish.
  std::string run(GraphHosts& hosts) {
    hosts.start(*this);
    while (!hosts.finished() && !events_.empty()) {
      const auto first = events_.begin();
      now_ = std::get<0>(first->first);
      const auto event = first->second;
      events_.erase(first);
      event(hosts);
    }
    if (!hosts.failure().empty()) return hosts.failure();
    if (hosts.finished()) return {};
    WaitList waits;
    hosts.explain(waits);
    std::string text;
    for (const Wait& wait : waits) text += wait.who + ">" + wait.whom + ": " + wait.why + "\n";
    return text;
  }

  void wake(RankId rank, Cycle at) override {
    push(at, [=](GraphHosts& hosts) { hosts.woken(rank, at); });
  }
  void send(const HostMessage& message, Cycle at) override {
    sent.push_back({message.from.value(), message.to.value(), at});
    const Cycle arrives = at + 100 + message.bytes;
    Cycle& before = last_arrival_[{message.from.value(), message.to.value()}];
    before = std::max(before + 1, arrives);
    push(before, [=, at2 = before](GraphHosts& hosts) { hosts.received(message, at2); });
  }
  void post(RankId rank, CollectiveNumber number, const HostCollective& what, Cycle at) override {
    posts.push_back({rank.value(), number, at});
    Meeting& meeting = meetings_[number];
    meeting.last = std::max(meeting.last, at);
    const auto& ranks = graph_.groups[sets_[what.group].group].sets[sets_[what.group].set];
    if (++meeting.ranks != ranks.size()) return;
    Cycle& busy = busy_until_[what.group];
    const Cycle end = std::max(meeting.last, busy) + what.bytes;
    busy = end;
    for (const std::uint32_t r : ranks) {
      push(end + r, [=](GraphHosts& hosts) { hosts.collective_done(RankId(r), number, end + r); });
    }
  }

  std::vector<std::tuple<std::uint32_t, std::uint32_t, Cycle>> posts;  // rank, number, cycle
  std::vector<std::tuple<std::uint32_t, std::uint32_t, Cycle>> sent;   // from, to, cycle

 private:
  struct Meeting {
    std::size_t ranks = 0;
    Cycle last = 0;
  };
  void push(Cycle at, std::function<void(GraphHosts&)> event) {
    ++number_;
    events_.emplace(std::pair{std::max(at, now_), backwards_ ? -number_ : number_},
                    std::move(event));
  }

  const WorkGraph& graph_;
  std::vector<WorkSet> sets_;
  bool backwards_;
  std::map<std::pair<Cycle, std::int64_t>, std::function<void(GraphHosts&)>> events_;
  std::int64_t number_ = 0;
  Cycle now_ = 0;
  std::map<std::pair<std::uint32_t, std::uint32_t>, Cycle> last_arrival_;
  std::map<CollectiveNumber, Meeting> meetings_;
  std::map<std::uint32_t, Cycle> busy_until_;
};

}  // namespace espalier::test
