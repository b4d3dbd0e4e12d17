#include "alg/program/compiler_passes.h"

#include <algorithm>
#include <deque>
#include <functional>
#include <map>
#include <queue>
#include <tuple>

namespace espalier {

namespace {

class Ordering {
 public:
  Ordering(const InstructionDag& dag, OrderBy priority, std::uint32_t slots)
      : dag_(dag),
        sends_late_(priority == OrderBy::readiness),
        slots_(slots),
        pending_(dag.nodes.size(), 0),
        followers_(dag.nodes.size()),
        connection_(dag.nodes.size(), Instruction::kNone),
        priority_(dag.nodes.size()),
        is_placed_(dag.nodes.size(), false),
        waits_for_ready_(dag.nodes.size()) {
    set_priorities(priority);
    find_connections();
    for (std::uint32_t n = 0; n < dag.nodes.size(); ++n) {
      const Instruction& node = dag.nodes[n];
      if (node.message_from != Instruction::kNone) ++pending_[n];
      for (const DagEdge& edge : node.after) {
        // An earlier call has ended before this call begins, so the edge needs no wait.
        if (dag.nodes[edge.from].call != node.call) continue;
        followers_[edge.from].push_back(n);
        ++pending_[n];
      }
    }
  }

  InstructionOrder run() {
    std::uint32_t calls = 0;
    for (const Instruction& node : dag_.nodes) calls = std::max(calls, node.call + 1);
    std::vector<std::vector<std::uint32_t>> of_call(calls);
    for (std::uint32_t n = 0; n < dag_.nodes.size(); ++n) of_call[dag_.nodes[n].call].push_back(n);
    for (const auto& nodes : of_call) {
      for (const std::uint32_t n : nodes) {
        if (pending_[n] == 0) make_ready(n);
      }
      while (!ready_.empty()) {
        const std::uint32_t next = std::get<2>(ready_.top());
        ready_.pop();
        if (!is_placed_[next]) try_to_place(next);
      }
      std::vector<std::uint32_t> stuck;
      bool is_complete = true;
      for (const std::uint32_t n : nodes) {
        if (is_placed_[n]) continue;
        is_complete = false;
        const Instruction& node = dag_.nodes[n];
        const bool is_fused =
            node.message_from != Instruction::kNone && node.message_to != Instruction::kNone;
        if (is_fused && pending_[n] == 0) stuck.push_back(n);
      }
      if (!is_complete) return {std::move(order_), std::move(stuck)};
    }
    return {std::move(order_), {}};
  }

 private:
  struct Queue {
    std::deque<std::uint32_t> receives;  // of the messages in the queue
    std::uint32_t chunks = 0;
    std::vector<std::uint32_t> waiting;  // instructions that wait for a change of the queue
  };
  using Priority = std::tuple<std::uint32_t, std::uint32_t, std::uint32_t>;  // smallest first

  void set_priorities(OrderBy priority) {
    std::vector<std::uint32_t> depth(dag_.nodes.size(), 0);
    std::vector<std::uint32_t> reverse(dag_.nodes.size(), 0);
    if (priority != OrderBy::trace) {
      depth = depths(dag_);
      reverse = reverse_depths(dag_);
    }
    for (std::uint32_t n = 0; n < dag_.nodes.size(); ++n) {
      priority_[n] = {depth[n], ~reverse[n], n};
    }
  }

  void find_connections() {
    using Name = std::tuple<std::uint32_t, std::uint32_t, std::uint32_t, std::uint32_t>;
    std::map<Name, std::uint32_t> numbers;
    for (std::uint32_t n = 0; n < dag_.nodes.size(); ++n) {
      const Instruction& node = dag_.nodes[n];
      if (node.message_to == Instruction::kNone) continue;
      const Name name{node.rank, dag_.peer_of(node.message_to), *node.channel, node.call};
      connection_[n] =
          numbers.emplace(name, static_cast<std::uint32_t>(numbers.size())).first->second;
    }
    queues_.resize(numbers.size());
  }

  void make_ready(std::uint32_t n) { ready_.push(priority_[n]); }
  void make_ready(std::vector<std::uint32_t>& waiting) {
    for (const std::uint32_t n : waiting) make_ready(n);
    waiting.clear();
  }

  void try_to_place(std::uint32_t first) {
    // A message with more chunks than slots runs at the same time as its receive, which may itself
    // pass the message on.
    std::vector<std::uint32_t> together;
    for (std::uint32_t n = first; n != Instruction::kNone;) {
      const Instruction& node = dag_.nodes[n];
      if (node.message_from != Instruction::kNone && n == first) {
        Queue& from = queues_[connection_[node.message_from]];
        if (from.receives.front() != n) {
          from.waiting.push_back(first);
          return;
        }
      }
      if (n != first && pending_[n] > 1) {
        waits_for_ready_[n].push_back(first);
        return;
      }
      together.push_back(n);
      if (node.message_to == Instruction::kNone) break;
      Queue& to = queues_[connection_[n]];
      const bool streams = node.count() > slots_;
      if (streams ? !to.receives.empty() : to.chunks + node.count() > slots_) {
        to.waiting.push_back(first);
        return;
      }
      if (sends_late_ && pending_[node.message_to] > 1) {
        waits_for_ready_[node.message_to].push_back(first);
        return;
      }
      n = streams ? node.message_to : Instruction::kNone;
    }
    for (const std::uint32_t n : together) place(n);
  }

  void place(std::uint32_t n) {
    const Instruction& node = dag_.nodes[n];
    is_placed_[n] = true;
    order_.push_back(n);
    if (node.message_from != Instruction::kNone) {
      Queue& from = queues_[connection_[node.message_from]];
      from.receives.pop_front();
      from.chunks -= node.count();
      make_ready(from.waiting);
    }
    if (node.message_to != Instruction::kNone) {
      Queue& to = queues_[connection_[n]];
      to.receives.push_back(node.message_to);
      to.chunks += node.count();
      release(node.message_to);
    }
    for (const std::uint32_t follower : followers_[n]) release(follower);
  }

  void release(std::uint32_t n) {
    if (--pending_[n] == 0) {
      make_ready(n);
    } else if (pending_[n] == 1) {
      make_ready(waits_for_ready_[n]);
    }
  }

  const InstructionDag& dag_;
  bool sends_late_;  // OrderBy::readiness
  std::uint32_t slots_;
  std::vector<std::uint32_t> pending_;                 // edges from instructions not yet placed
  std::vector<std::vector<std::uint32_t>> followers_;  // by processing edges
  std::vector<std::uint32_t> connection_;              // by the instruction that sends on it
  std::vector<Priority> priority_;
  std::vector<bool> is_placed_;
  std::vector<std::vector<std::uint32_t>> waits_for_ready_;  // by the receive to which they stream
  std::vector<Queue> queues_;
  std::priority_queue<Priority, std::vector<Priority>, std::greater<>> ready_;
  std::vector<std::uint32_t> order_;
};

}  // namespace

InstructionOrder order_instructions(const InstructionDag& dag, OrderBy priority,
                                    std::uint32_t slots) {
  return Ordering(dag, priority, slots).run();
}

}  // namespace espalier
