// Runs schedule tables without any notion of time: entries issue and messages arrive in a random
// order that the tables allow. Written from the text in alg/schedule/schedule_table.h alone, as a
// judge of the certifier.
#pragma once

#include <algorithm>
#include <cstdint>
#include <random>
#include <set>
#include <tuple>
#include <vector>

#include "alg/schedule/schedule_table.h"

namespace espalier::test {

enum class RunOutcome { right, wrong_data, stuck };

// Only for tables in which the certifier finds nothing malformed.
class TableInterpreter {
 public:
  TableInterpreter(const ScheduleTables& tables, std::uint32_t seed)
      : tables_(tables),
        random_(seed),
        next_entry_(tables.nodes.size(), 0),
        received_(tables.nodes.size()),
        memory_(tables.nodes.size(), Memory(tables.chunks.size(), Counts(tables.nodes.size(), 0))) {
    for (std::size_t n = 0; n < tables.nodes.size(); ++n) {
      for (std::size_t c = 0; c < tables.chunks.size(); ++c) {
        if (!tables.scope.has(NodeId(n), tables.chunks[c].group)) continue;
        if (!starts_scattered(tables.op)) {
          memory_[n][c][n] = 1;
        } else if (tables.chunks[c].owner == NodeId(n)) {
          memory_[n][c][n] = 1;
        }
      }
    }
  }

  RunOutcome run() {
    while (true) {
      std::vector<std::size_t> ready;
      for (std::size_t n = 0; n < tables_.nodes.size(); ++n) {
        if (next_entry_[n] < tables_.nodes[n].size() && is_ready(n)) ready.push_back(n);
      }
      std::vector<std::size_t> arriving;
      for (std::size_t m = 0; m < in_flight_.size(); ++m) {
        if (!is_held(in_flight_[m])) arriving.push_back(m);
      }
      const std::size_t choices = ready.size() + arriving.size();
      if (choices == 0) break;
      const std::size_t choice =
          std::uniform_int_distribution<std::size_t>(0, choices - 1)(random_);
      if (choice < ready.size()) {
        issue(ready[choice]);
      } else {
        deliver(arriving[choice - ready.size()]);
      }
    }
    for (std::size_t n = 0; n < tables_.nodes.size(); ++n) {
      if (next_entry_[n] != tables_.nodes[n].size()) return RunOutcome::stuck;
    }
    return result_is_right() ? RunOutcome::right : RunOutcome::wrong_data;
  }

 private:
  using Counts = std::vector<std::uint32_t>;  // how often each rank's contribution is in a chunk
  using Memory = std::vector<Counts>;         // by chunk
  struct Message {
    const TableEntry* entry;
    std::size_t from;
    std::size_t to;
    bool read_early;  // from the sender's memory at issue, else only at delivery
    Memory data;
  };

  [[nodiscard]] bool has(std::size_t node, TableOp op, FlowId flow, std::size_t from) const {
    return received_[node].count({op, flow.value(), from}) != 0;
  }
  [[nodiscard]] std::size_t count(std::size_t node, TableOp op, FlowId flow) const {
    const auto& all = received_[node];
    return static_cast<std::size_t>(std::count_if(all.begin(), all.end(), [&](const auto& r) {
      return std::get<0>(r) == op && std::get<1>(r) == flow.value();
    }));
  }
  [[nodiscard]] bool is_root(std::size_t node, FlowId flow) const {
    const auto& entries = tables_.nodes[node];
    return std::any_of(entries.begin(), entries.end(), [&](const TableEntry& e) {
      return e.op == TableOp::gather && e.flow == flow && !e.parent.node.valid();
    });
  }
  [[nodiscard]] bool has_final_reduces(std::size_t node, FlowId flow) const {
    std::size_t sent_here = 0;
    for (const auto& entries : tables_.nodes) {
      sent_here += static_cast<std::size_t>(
          std::count_if(entries.begin(), entries.end(), [&](const TableEntry& e) {
            return e.op == TableOp::reduce && e.flow == flow && e.parent.node == NodeId(node);
          }));
    }
    const auto& own = tables_.nodes[node];
    const bool passes_on = std::any_of(own.begin(), own.end(), [&](const TableEntry& e) {
      return e.op == TableOp::reduce && e.flow == flow;
    });
    if (!is_root(node, flow) && (passes_on || sent_here == 0)) return false;
    return count(node, TableOp::reduce, flow) == sent_here;
  }
  [[nodiscard]] bool is_complete(std::size_t node, FlowId flow) const {
    const bool received = count(node, TableOp::gather, flow) != 0 || has_final_reduces(node, flow);
    return received && has_left(node, flow);
  }
  // Whatever the node itself sends of the flow has been read from its memory.
  [[nodiscard]] bool has_left(std::size_t node, FlowId flow) const {
    const auto& entries = tables_.nodes[node];
    const auto sends = [&](const TableEntry& e) { return e.op != TableOp::nop && e.flow == flow; };
    return std::none_of(entries.begin() + static_cast<std::ptrdiff_t>(next_entry_[node]),
                        entries.end(), sends) &&
           std::none_of(in_flight_.begin(), in_flight_.end(), [&](const Message& m) {
             return m.from == node && m.entry->flow == flow && !m.read_early;
           });
  }
  // A Reduce that an entry with After waits for must not be added before its time.
  [[nodiscard]] bool is_held(const Message& message) const {
    if (message.entry->op != TableOp::reduce) return false;
    const auto& entries = tables_.nodes[message.to];
    return std::any_of(entries.begin(), entries.end(), [&](const TableEntry& e) {
      if (e.op == TableOp::nop || e.flow != message.entry->flow) return false;
      const bool is_child =
          std::any_of(e.children.begin(), e.children.end(),
                      [&](const TablePeer& child) { return child.node.index() == message.from; });
      const bool waits_for_it = e.op == TableOp::reduce ? is_child : !e.parent.node.valid();
      return waits_for_it && !std::all_of(e.after.begin(), e.after.end(), [&](FlowId flow) {
               return is_complete(message.to, flow);
             });
    });
  }

  [[nodiscard]] bool is_ready(std::size_t node) const {
    const TableEntry& e = tables_.nodes[node][next_entry_[node]];
    if (e.op == TableOp::nop) return true;
    for (const FlowId flow : e.after) {
      if (!is_complete(node, flow)) return false;
    }
    if (e.op == TableOp::reduce) {
      return std::all_of(e.children.begin(), e.children.end(), [&](const TablePeer& child) {
        return has(node, TableOp::reduce, e.flow, child.node.index());
      });
    }
    if (e.parent.node.valid()) return has(node, TableOp::gather, e.flow, e.parent.node.index());
    return has_final_reduces(node, e.flow);
  }

  void issue(std::size_t node) {
    const TableEntry& e = tables_.nodes[node][next_entry_[node]++];
    const auto send = [&](const TablePeer& peer) {
      in_flight_.push_back({&e, node, peer.node.index(), (random_() & 1U) != 0, memory_[node]});
    };
    if (e.op == TableOp::reduce) send(e.parent);
    if (e.op == TableOp::gather) {
      for (const TablePeer& child : e.children) send(child);
    }
  }

  void deliver(std::size_t index) {
    const Message message = std::move(in_flight_[index]);
    in_flight_.erase(in_flight_.begin() + static_cast<std::ptrdiff_t>(index));
    const TableEntry& e = *message.entry;
    const Memory data = message.read_early ? message.data : memory_[message.from];
    for (std::size_t c = 0; c < tables_.chunks.size(); ++c) {
      const Chunk& chunk = tables_.chunks[c];
      if (chunk.offset < e.start_addr || chunk.offset + chunk.size > e.start_addr + e.size)
        continue;
      for (std::size_t rank = 0; rank < tables_.nodes.size(); ++rank) {
        std::uint32_t& target = memory_[message.to][c][rank];
        target = data[c][rank] + (e.op == TableOp::reduce ? target : 0);
      }
    }
    received_[message.to].insert({e.op, e.flow.value(), message.from});
  }

  [[nodiscard]] bool result_is_right() const {
    for (std::size_t n = 0; n < tables_.nodes.size(); ++n) {
      for (std::size_t c = 0; c < tables_.chunks.size(); ++c) {
        const std::uint32_t group = tables_.chunks[c].group;
        if (!tables_.scope.has(NodeId(n), group)) continue;
        const NodeId owner = tables_.chunks[c].owner;
        if (tables_.chunks[c].size == 0) continue;
        if (ends_at_owner(tables_.op) && owner != NodeId(n)) continue;
        const NodeId destination = tables_.chunks[c].destination;
        if (is_exchange(tables_.op) && destination != NodeId(n)) continue;
        for (std::size_t rank = 0; rank < tables_.nodes.size(); ++rank) {
          const bool wanted = tables_.scope.has(NodeId(rank), group) &&
                              (!starts_scattered(tables_.op) || owner == NodeId(rank));
          if (memory_[n][c][rank] != (wanted ? 1U : 0U)) return false;
        }
      }
    }
    return true;
  }

  const ScheduleTables& tables_;
  std::mt19937 random_;
  std::vector<std::size_t> next_entry_;
  std::vector<std::set<std::tuple<TableOp, std::uint32_t, std::size_t>>> received_;
  std::vector<Memory> memory_;
  std::vector<Message> in_flight_;
};

}  // namespace espalier::test
