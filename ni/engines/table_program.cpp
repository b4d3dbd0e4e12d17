#include "ni/engines/table_program.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "alg/routes/links.h"

namespace espalier {

namespace {

using Kind = TableEvent::Kind;

class Loader {
 public:
  explicit Loader(const ScheduleTables& tables) : tables_(tables), programs_(tables.nodes.size()) {}

  std::vector<TableProgram> load() {
    find_arrivals();
    for (std::size_t n = 0; n < programs_.size(); ++n) load_node(NodeId(n));
    return std::move(programs_);
  }

 private:
  // Finds what every node will receive, from the tables of the senders.
  void find_arrivals() {
    arrivals_.resize(programs_.size());
    for (std::size_t n = 0; n < tables_.nodes.size(); ++n) {
      for (const TableEntry& entry : tables_.nodes[n]) {
        if (entry.op == TableOp::reduce) {
          note_arrival(entry.parent.node, {entry.flow, Kind::reduced, NodeId(n)});
        } else if (entry.op == TableOp::gather) {
          for (const TablePeer& child : entry.children) {
            note_arrival(child.node, {entry.flow, Kind::gathered, NodeId(n)});
          }
        }
      }
    }
    for (auto& arrivals : arrivals_) std::sort(arrivals.begin(), arrivals.end());
  }

  // With one table for all nodes: node 0 sends to `to`, so node 0 receives the same message from
  // the node at the opposite offset.
  void note_arrival(NodeId to, TableEvent event) {
    if (tables_.symmetry) {
      const NodeId back = tables_.symmetry->negative(to);
      event.flow = tables_.symmetry->translate_root(event.flow, tables_.per_root(), back);
      event.peer = tables_.symmetry->add(event.peer, back);
      to = NodeId(0);
    }
    arrivals_[to.index()].push_back(event);
  }

  void find_sending(NodeId node) {
    sending_.clear();
    const auto& table = tables_.nodes[node.index()];
    for (std::uint32_t e = 0; e < table.size(); ++e) {
      if (table[e].op != TableOp::nop) sending_.emplace_back(table[e].flow, e);
    }
    std::sort(sending_.begin(), sending_.end());
  }

  void load_node(NodeId node) {
    find_sending(node);
    TableProgram& program = programs_[node.index()];
    for (const TableEntry& entry : tables_.nodes[node.index()]) {
      ProgramEntry loaded;
      loaded.op = entry.op;
      loaded.flow = entry.flow;
      loaded.step = entry.step;
      loaded.not_before_ps = entry.not_before_ps;
      loaded.first_send = static_cast<std::uint32_t>(program.sends.size());
      std::vector<TableEvent> events;
      if (entry.op == TableOp::reduce) {
        program.sends.push_back(operation(node, entry, entry.parent, TransferKind::reduce));
        for (const TablePeer& child : entry.children) {
          events.push_back({entry.flow, Kind::reduced, child.node});
        }
      } else if (entry.op == TableOp::gather) {
        for (const TablePeer& child : entry.children) {
          program.sends.push_back(operation(node, entry, child, TransferKind::copy));
        }
        if (entry.parent.node.valid()) {
          events.push_back({entry.flow, Kind::gathered, entry.parent.node});
        } else if (tables_.op == CollectiveOp::all_reduce) {
          loaded.reads_back = add_completion(node, entry.flow, events);
        }
      }
      loaded.num_sends = static_cast<std::uint32_t>(program.sends.size()) - loaded.first_send;
      add_waits(node, entry, events, loaded, program);
      program.entries.push_back(loaded);
    }
    pass_rows(node, program);
    std::sort(program.waiters.begin(), program.waiters.end(), [](const auto& a, const auto& b) {
      return a.event == b.event ? a.entry < b.entry : a.event < b.event;
    });
    std::sort(program.holds.begin(), program.holds.end(), [](const auto& a, const auto& b) {
      return a.flow == b.flow ? a.entry < b.entry : a.flow < b.flow;
    });
    number_places(program);
  }

  void pass_rows(NodeId node, TableProgram& program) const {
    if (tables_.repeated.empty()) return;
    auto entry = program.entries.begin();
    for_each_issued(tables_.repeated[node.index()], [&](const TableEntry&, std::uint32_t passed) {
      while (entry->op == TableOp::nop) ++entry;
      entry->rows_passed = passed;
      ++entry;
    });
  }

  void add_waits(NodeId node, const TableEntry& entry, const std::vector<TableEvent>& tree_events,
                 ProgramEntry& loaded, TableProgram& program) const {
    std::vector<TableEvent> flow_events;
    for (const FlowId flow : entry.after) {
      loaded.reads_back |= add_completion(node, flow, flow_events);
      add_own_sends(node, flow, flow_events);
    }
    const auto index = static_cast<std::uint32_t>(program.entries.size());
    for (const TableEvent& event : tree_events) program.waiters.push_back({event, index, false});
    for (const TableEvent& event : flow_events) program.waiters.push_back({event, index, true});
    loaded.waits_for = static_cast<std::uint32_t>(tree_events.size() + flow_events.size());
    loaded.waits_for_flows = static_cast<std::uint32_t>(flow_events.size());
    // A Gather that has a parent adds nothing; the Reduces of its flow belong to an earlier entry.
    const bool adds = entry.op == TableOp::reduce || !entry.parent.node.valid();
    if (adds && !entry.after.empty()) program.holds.push_back({entry.flow, index});
  }

  void add_own_sends(NodeId node, FlowId flow, std::vector<TableEvent>& events) const {
    const auto first = std::lower_bound(sending_.begin(), sending_.end(), std::pair{flow, 0U});
    for (auto s = first; s != sending_.end() && s->first == flow; ++s) {
      const TableEntry& entry = tables_.nodes[node.index()][s->second];
      if (entry.op == TableOp::reduce)
        events.push_back({flow, Kind::reduce_sent, entry.parent.node});
      if (entry.op != TableOp::gather) continue;
      for (const TablePeer& child : entry.children)
        events.push_back({flow, Kind::gather_sent, child.node});
    }
  }

  // Flow `flow` is complete at `node` when its Gather has arrived. At its root, which receives no
  // Gather, it is complete when all its Reduces have arrived. Returns true if `node` is the root.
  bool add_completion(NodeId node, FlowId flow, std::vector<TableEvent>& events) const {
    const auto& arrivals = arrivals_[node.index()];
    const auto first = std::lower_bound(arrivals.begin(), arrivals.end(),
                                        TableEvent{flow, Kind::reduced, NodeId(0)});
    std::vector<TableEvent> reduces;
    bool gathered = false;
    for (auto a = first; a != arrivals.end() && a->flow == flow; ++a) {
      if (a->kind == Kind::gathered) {
        events.push_back(*a);
        gathered = true;
      } else {
        reduces.push_back(*a);
      }
    }
    if (!gathered) events.insert(events.end(), reduces.begin(), reduces.end());
    return !gathered;
  }

  [[nodiscard]] Operation operation(NodeId node, const TableEntry& entry, const TablePeer& peer,
                                    TransferKind kind) const {
    Operation op;
    op.flow = entry.flow;
    op.from = node;
    op.to = peer.node;
    op.route = peer.route;
    op.on_arrival = kind;
    op.bytes = entry.size;
    const auto& chunks = tables_.chunks;
    auto chunk = std::lower_bound(chunks.begin(), chunks.end(), entry.start_addr,
                                  [](const Chunk& c, Bytes address) { return c.offset < address; });
    while (chunk->size == 0) ++chunk;
    op.first_chunk = ChunkId(static_cast<std::size_t>(chunk - chunks.begin()));
    const Bytes end = entry.start_addr + entry.size;
    for (; chunk != chunks.end() && chunk->offset < end; ++chunk) ++op.num_chunks;
    return op;
  }

  const ScheduleTables& tables_;
  std::vector<TableProgram> programs_;
  std::vector<std::vector<TableEvent>> arrivals_;          // by node, sorted
  std::vector<std::pair<FlowId, std::uint32_t>> sending_;  // entries of one node, by flow
};

}  // namespace

std::vector<TableProgram> load_tables(const ScheduleTables& tables) {
  return Loader(tables).load();
}

namespace {

// By flow: the node at which its Gathers start, or its Reduces end. With one table for all nodes
// flows are numbered by root, so roots need not be known.
std::vector<NodeId> roots_of(const ScheduleTables& tables) {
  std::vector<NodeId> roots;
  std::vector<Timestep> last;  // step of the last Reduce
  for (std::size_t n = 0; n < tables.nodes.size() && !tables.symmetry; ++n) {
    for (const TableEntry& entry : tables.nodes[n]) {
      if (entry.op == TableOp::nop) continue;
      const std::size_t flow = entry.flow.index();
      if (flow >= roots.size()) {
        roots.resize(flow + 1);
        last.resize(flow + 1, 0);
      }
      if (entry.op == TableOp::gather && !entry.parent.node.valid()) {
        roots[flow] = NodeId(n);
        last[flow] = tables.num_steps + 1;
      } else if (entry.op == TableOp::reduce && entry.step > last[flow]) {
        roots[flow] = entry.parent.node;
        last[flow] = entry.step;
      }
    }
  }
  return roots;
}

}  // namespace

void number_arrivals(const Topology& topology, const ScheduleTables& tables,
                     std::vector<TableProgram>& programs) {
  struct Arrival {
    NodeId to;
    Timestep step = 0;
    NodeId root;
    FlowId flow;
    std::uint32_t port = 0;  // of the receiver's router, towards the sender
    NodeId from;
    Operation* message = nullptr;

    [[nodiscard]] bool operator<(const Arrival& other) const {
      return std::tie(to, step, root, flow, port, from) <
             std::tie(other.to, other.step, other.root, other.flow, other.port, other.from);
    }
  };
  const std::vector<NodeId> roots = roots_of(tables);
  std::vector<Arrival> arrivals;
  for (TableProgram& program : programs) {
    for (const ProgramEntry& entry : program.entries) {
      for (std::uint32_t s = 0; s < entry.num_sends; ++s) {
        Operation& send = program.sends[entry.first_send + s];
        Arrival arrival{send.to, entry.step, NodeId(), send.flow, 0, send.from, &send};
        if (tables.symmetry) {
          // As node 0 sees the message of the sender at the opposite offset.
          const NodeId back = tables.symmetry->negative(send.to);
          arrival.flow = tables.symmetry->translate_root(send.flow, tables.per_root(), back);
          arrival.from = tables.symmetry->add(send.from, back);
          arrival.to = NodeId(0);
        } else {
          arrival.root = roots[send.flow.index()];
          const std::size_t last = tables.routes.hops(send.route) - 1;
          const LinkId back = link_back(topology, tables.routes.link(send.route, last));
          if (back.valid()) arrival.port = topology.link(back).out_port;
        }
        arrivals.push_back(arrival);
      }
    }
  }
  std::sort(arrivals.begin(), arrivals.end());
  for (std::size_t a = 1; a < arrivals.size(); ++a) {
    const Arrival& before = arrivals[a - 1];
    if (arrivals[a].to == before.to && arrivals[a].step == before.step) {
      arrivals[a].message->arrival = before.message->arrival + 1;
    }
  }
}

void number_places(TableProgram& program) {
  constexpr std::uint32_t kHasPlace = 0;
  // Two entries that wait for an event have a place: the first entry, and the first entry that
  // reads back.
  bool is_read_back = false;
  const TableProgram::Waiter* last = nullptr;
  for (TableProgram::Waiter& waiter : program.waiters) {
    const bool is_first = last == nullptr || !(waiter.event == last->event);
    if (is_first) is_read_back = false;
    ProgramEntry& entry = program.entries[waiter.entry];
    const bool has_place = is_first || (entry.reads_back && !is_read_back);
    waiter.place = has_place ? kHasPlace : TableProgram::kNoPlace;
    if (has_place) ++entry.through;
    is_read_back |= entry.reads_back;
    last = &waiter;
  }
  std::uint32_t places = 0;
  std::vector<std::uint32_t> next;  // by entry
  for (ProgramEntry& entry : program.entries) {
    next.push_back(places);
    places += entry.through;
    entry.through = places;
  }
  for (TableProgram::Waiter& waiter : program.waiters) {
    if (waiter.place == kHasPlace) waiter.place = next[waiter.entry]++;
  }
}

std::uint32_t most_places(const ScheduleTables& tables) {
  std::uint32_t most = 0;
  for (const TableProgram& program : load_tables(tables)) {
    most = std::max(most, program.num_places());
  }
  return most;
}

}  // namespace espalier
