// Raises NI tables to the schedule IR according to the hardware's treatment of each entry.
#include <fmt/format.h>

#include <algorithm>

#include "alg/certify/certifier_parts.h"
#include "alg/schedule/arrival_index.h"
#include "alg/schedule/schedule_text.h"

namespace espalier {

namespace certifier {

namespace {

// Entries of a node, sorted by flow. Replaces a map for each node.
struct FlowEntry {
  FlowId flow;
  std::uint32_t entry;
  friend bool operator<(const FlowEntry& a, const FlowEntry& b) {
    return a.flow != b.flow ? a.flow < b.flow : a.entry < b.entry;
  }
};
struct ChunkRange {
  ChunkId first;
  std::uint32_t count = 0;
};
using FlowEntries = std::vector<std::vector<FlowEntry>>;  // by node

bool has(const std::vector<FlowEntry>& list, FlowId flow) {
  const auto found = std::lower_bound(list.begin(), list.end(), FlowEntry{flow, 0});
  return found != list.end() && found->flow == flow;
}

class Raising {
 public:
  Raising(const Topology& topology, const ScheduleTables& tables, Findings& findings)
      : topology_(topology),
        tables_(tables),
        findings_(findings),
        routes_(topology, tables.routes),
        raised_(topology, tables),
        reduces_(tables.nodes.size()),
        roots_(tables.nodes.size()) {}

  RaisedTables run() {
    check_tables();
    if (found_nothing()) check_entries();
    if (found_nothing()) add_transfers();
    if (found_nothing()) check_trees();
    if (found_nothing()) add_dependencies();
    return std::move(raised_);
  }

 private:
  [[nodiscard]] bool found_nothing() const {
    return findings_.count(ViolationKind::malformed) == malformed_before_;
  }
  void malformed(NodeId node, std::size_t entry, const std::string& why) {
    findings_.add_described(ViolationKind::malformed, [&] {
      return fmt::format("{}: {}", describe(tables_, node, entry), why);
    });
  }

  void check_tables() {
    if (tables_.nodes.size() != topology_.num_nodes()) {
      findings_.add(ViolationKind::malformed,
                    "the schedule has tables for {} nodes, but the topology has {} nodes",
                    tables_.nodes.size(), topology_.num_nodes());
    }
    if (tables_.ni_ports == 0) {
      findings_.add(ViolationKind::malformed,
                    "the schedule gives an NI 0 ports; an NI has at least 1 port");
    }
    check_chunks(tables_.chunks, tables_.size, tables_.op, tables_.scope, topology_.num_nodes(),
                 findings_);
  }

  void check_entries() {
    for (std::size_t n = 0; n < tables_.nodes.size(); ++n) {
      const auto& entries = tables_.nodes[n];
      for (std::size_t e = 0; e < entries.size(); ++e) {
        std::string problem = problem_of(NodeId(n), entries[e]);
        if (problem.empty() && e != 0 && entries[e].step < entries[e - 1].step) {
          problem = fmt::format(
              "its step is {}, but the entry before it has step {}; entries must be sorted by step",
              entries[e].step, entries[e - 1].step);
        }
        if (!problem.empty()) malformed(NodeId(n), e, problem);
        note_flow(n, e);
      }
      check_one_reduce_per_flow(n);
      std::sort(roots_[n].begin(), roots_[n].end());
      check_roots_wait_alike(n);
    }
  }

  void note_flow(std::size_t node, std::size_t index) {
    const TableEntry& entry = tables_.nodes[node][index];
    if (entry.op == TableOp::reduce) {
      reduces_[node].push_back({entry.flow, static_cast<std::uint32_t>(index)});
    } else if (entry.op == TableOp::gather && !entry.parent.node.valid()) {
      roots_[node].push_back({entry.flow, static_cast<std::uint32_t>(index)});
    }
  }

  void check_one_reduce_per_flow(std::size_t node) {
    auto& reduces = reduces_[node];
    std::sort(reduces.begin(), reduces.end());
    for (std::size_t i = 1; i < reduces.size(); ++i) {
      if (reduces[i].flow != reduces[i - 1].flow) continue;
      malformed(
          NodeId(node), reduces[i].entry,
          fmt::format(
              "entry {} is already a Reduce of this flow; a table has at most one Reduce of a flow",
              reduces[i - 1].entry));
    }
  }

  void check_roots_wait_alike(std::size_t node) {
    const auto sorted_after = [&](const FlowEntry& root) {
      std::vector<FlowId> after = tables_.nodes[node][root.entry].after;
      std::sort(after.begin(), after.end());
      return after;
    };
    const auto& roots = roots_[node];
    for (std::size_t i = 1; i < roots.size(); ++i) {
      if (roots[i].flow != roots[i - 1].flow ||
          sorted_after(roots[i]) == sorted_after(roots[i - 1])) {
        continue;
      }
      malformed(NodeId(node), roots[i].entry,
                fmt::format("entry {} is a Gather of the same root, but names other flows in "
                            "After; all Gathers of a root must name the same flows",
                            roots[i - 1].entry));
    }
  }

  [[nodiscard]] std::string problem_of(NodeId node, const TableEntry& entry) {
    if (entry.step == 0 || entry.step > tables_.num_steps) {
      return fmt::format("its step is {}; steps are 1 to {}", entry.step, tables_.num_steps);
    }
    if (entry.op == TableOp::nop) {
      const bool blank = !entry.flow.valid() && !entry.parent.node.valid() &&
                         entry.children.empty() && entry.start_addr == 0 && entry.size == 0 &&
                         entry.after.empty();
      return blank ? "" : "a NOP has a step and no other field";
    }
    if (entry.op != TableOp::reduce && entry.op != TableOp::gather)
      return "its op is unknown; the ops are Reduce, Gather and NOP";
    if (!entry.flow.valid()) return "it has no flow";
    for (std::size_t i = 0; i < entry.after.size(); ++i) {
      const FlowId flow = entry.after[i];
      const auto first = entry.after.begin();
      if (!flow.valid() || flow == entry.flow ||
          std::find(first, first + static_cast<std::ptrdiff_t>(i), flow) !=
              first + static_cast<std::ptrdiff_t>(i)) {
        return "After names a flow twice, or the flow of the entry itself; it names other flows, "
               "each at most once";
      }
    }
    ranges_.emplace_back();
    std::string problem = peer_problem(node, entry);
    return problem.empty() ? range_problem(entry, ranges_.back()) : problem;
  }

  [[nodiscard]] std::string peer_problem(NodeId node, const TableEntry& entry) {
    const bool reduces = entry.op == TableOp::reduce;
    if (reduces && !entry.parent.node.valid()) return "a Reduce needs a parent";
    if (!reduces && entry.children.empty()) return "a Gather needs a child";
    if (entry.parent.node.valid()) {
      std::string problem = peer_problem(node, entry.parent, reduces);
      if (!problem.empty()) return "parent: " + problem;
    }
    for (std::size_t c = 0; c < entry.children.size(); ++c) {
      const TablePeer& child = entry.children[c];
      std::string problem = peer_problem(node, child, !reduces);
      if (!problem.empty()) return "children: " + problem;
      if (child.node == entry.parent.node) return "its parent is also its child";
      for (std::size_t other = 0; other < c; ++other) {
        if (entry.children[other].node == child.node) {
          return fmt::format("node {} is listed twice among its children", child.node.value());
        }
      }
    }
    return {};
  }

  [[nodiscard]] std::string peer_problem(NodeId node, const TablePeer& peer, bool is_sent_to) {
    if (peer.node.index() >= tables_.nodes.size()) {
      return peer.node.valid() ? fmt::format("{} is not a node of this network; nodes are 0 to {}",
                                             peer.node.value(), tables_.nodes.size() - 1)
                               : "no node is given";
    }
    if (peer.node == node) return "the node of the table itself";
    if (!is_sent_to) return {};
    std::string problem = routes_.problem(peer.route, node, peer.node);
    return problem.empty() ? problem : fmt::format("node {}: {}", peer.node.value(), problem);
  }

  // Empty chunks have no addresses of their own, so a range starts and ends with chunks that have
  // bytes.
  [[nodiscard]] std::string range_problem(const TableEntry& entry, ChunkRange& range) const {
    if (entry.size == 0) return "it sends no bytes";
    const Bytes all = data_bytes(tables_.op, tables_.size, tables_.scope, topology_.num_nodes());
    if (entry.start_addr >= all || entry.size > all - entry.start_addr) {
      return fmt::format("Start Addr {} with Size {} is not within the {} bytes of the collective",
                         entry.start_addr, entry.size, all);
    }
    const auto& chunks = tables_.chunks;
    const auto first = std::upper_bound(chunks.begin(), chunks.end(), entry.start_addr,
                                        [](Bytes at, const Chunk& c) { return at < c.offset; }) -
                       1;
    auto last = first;
    const Bytes end = entry.start_addr + entry.size;
    if (first->offset + first->size != end) {
      last = std::lower_bound(first, chunks.end(), end,
                              [](const Chunk& c, Bytes at) { return c.offset < at; }) -
             1;
    }
    if (first->offset != entry.start_addr || last->offset + last->size != end) {
      return fmt::format("Start Addr {} with Size {} does not begin and end at borders of chunks",
                         entry.start_addr, entry.size);
    }
    range.first = ChunkId(static_cast<std::size_t>(first - chunks.begin()));
    range.count = static_cast<std::uint32_t>(last - first) + 1;
    return {};
  }

  template <class Visit>  // visit(place, entry, ordinal)
  void for_each_sending_entry(Visit visit) const {
    std::uint32_t ordinal = 0;
    for (std::size_t n = 0; n < tables_.nodes.size(); ++n) {
      for (std::size_t e = 0; e < tables_.nodes[n].size(); ++e) {
        const TableEntry& entry = tables_.nodes[n][e];
        if (entry.op == TableOp::nop) continue;
        visit(EntryPlace{NodeId(n), static_cast<std::uint32_t>(e)}, entry, ordinal++);
      }
    }
  }
  [[nodiscard]] static std::uint32_t sends_of(const TableEntry& entry) {
    return entry.op == TableOp::reduce ? 1 : static_cast<std::uint32_t>(entry.children.size());
  }

  // Transfers are sorted by step, then node, then entry. The work is done node by node, so that
  // tables of millions of entries are read in the order of memory.
  void place_transfers() {
    std::vector<std::uint64_t> order;  // step, ordinal
    std::vector<std::uint32_t> sends;
    for_each_sending_entry([&](EntryPlace, const TableEntry& entry, std::uint32_t ordinal) {
      order.push_back(std::uint64_t{entry.step} << 32U | ordinal);
      sends.push_back(sends_of(entry));
    });
    std::sort(order.begin(), order.end());
    first_transfer_.resize(order.size());
    std::uint32_t transfers = 0;
    for (const std::uint64_t key : order) {
      const auto ordinal = static_cast<std::uint32_t>(key);
      first_transfer_[ordinal] = transfers;
      transfers += sends[ordinal];
    }
    raised_.schedule.transfers.resize(transfers);
    raised_.places.resize(transfers);
    // add_dependencies() adds the dependencies later.
    raised_.schedule.dependency_begin.assign(transfers + 1U, 0);
  }

  void add_transfers() {
    place_transfers();
    for_each_sending_entry([&](EntryPlace place, const TableEntry& entry, std::uint32_t ordinal) {
      Transfer t;
      t.from = place.node;
      t.flow = entry.flow;
      t.first_chunk = ranges_[ordinal].first;
      t.num_chunks = ranges_[ordinal].count;
      t.step = entry.step;
      t.kind = entry.op == TableOp::reduce ? TransferKind::reduce : TransferKind::copy;
      std::uint32_t id = first_transfer_[ordinal];
      const auto send_to = [&](const TablePeer& peer) {
        t.to = peer.node;
        t.route = peer.route;
        raised_.schedule.transfers[id] = t;
        raised_.places[id] = place;
        ++id;
      };
      if (entry.op == TableOp::reduce) {
        send_to(entry.parent);
      } else {
        for (const TablePeer& child : entry.children) send_to(child);
      }
    });
  }

  // Checks that a node receives each flow's Gather at most once, and never as the flow's root.
  void check_trees() {
    arrivals_ = ArrivalIndex(raised_.schedule.transfers, tables_.nodes.size());
    for (std::size_t n = 0; n < tables_.nodes.size(); ++n) {
      const ArrivalIndex::Range all = arrivals_.at(NodeId(n));
      for (const auto* a = all.begin(); a != all.end(); ++a) {
        if (a->kind != TransferKind::copy) continue;
        const EntryPlace& place = raised_.places[a->transfer.index()];
        if (has(roots_[n], a->flow)) {
          malformed(place.node, place.entry,
                    fmt::format(
                        "its child {} is the root of this flow, and a root receives no Gather", n));
        } else if (a != all.begin() && a[-1].flow == a->flow && a[-1].kind == a->kind) {
          const EntryPlace& other = raised_.places[a[-1].transfer.index()];
          malformed(place.node, place.entry,
                    fmt::format("its child {} also receives this flow from {}", n,
                                describe(tables_, other.node, other.entry)));
        }
      }
    }
  }

  void add_dependencies() {
    Schedule& s = raised_.schedule;
    // Waits are collected by entry first, and then put into the order of the transfers.
    std::vector<std::size_t> begin{0};
    std::vector<TransferId> waits;
    for_each_sending_entry([&](EntryPlace place, const TableEntry& entry, std::uint32_t ordinal) {
      add_tree_waits(place, entry, waits);
      add_flow_waits(place, entry, waits);
      begin.push_back(waits.size());
      const std::uint32_t first = first_transfer_[ordinal];
      for (std::uint32_t t = first; t < first + sends_of(entry); ++t) {
        s.dependency_begin[t + 1] = static_cast<std::uint32_t>(waits.size() - begin[ordinal]);
      }
    });
    for (std::size_t t = 0; t < s.transfers.size(); ++t) {
      s.dependency_begin[t + 1] += s.dependency_begin[t];
    }
    s.dependencies.resize(s.dependency_begin.back());
    for_each_sending_entry([&](EntryPlace, const TableEntry& entry, std::uint32_t ordinal) {
      const std::uint32_t first = first_transfer_[ordinal];
      for (std::uint32_t t = first; t < first + sends_of(entry); ++t) {
        std::copy(waits.begin() + static_cast<std::ptrdiff_t>(begin[ordinal]),
                  waits.begin() + static_cast<std::ptrdiff_t>(begin[ordinal + 1]),
                  s.dependencies.begin() + s.dependency_begin[t]);
      }
    });
  }

  void wait_for(const EntryPlace& place, const TableEntry& entry, TransferKind kind, NodeId sender,
                std::vector<TransferId>& waits) {
    const TransferId arrival = arrivals_.find(place.node, entry.flow, kind, sender);
    if (arrival.valid()) {
      waits.push_back(arrival);
      return;
    }
    findings_.add_described(ViolationKind::deadlock, [&] {
      return fmt::format(
          "{} waits for a {} of flow {} that node {} never sends to it",
          describe(tables_, place.node, place.entry),
          to_string(kind == TransferKind::reduce ? TableOp::reduce : TableOp::gather),
          entry.flow.value(), sender.value());
    });
  }

  void add_tree_waits(const EntryPlace& place, const TableEntry& entry,
                      std::vector<TransferId>& waits) {
    if (entry.op == TableOp::reduce) {
      for (const TablePeer& child : entry.children) {
        wait_for(place, entry, TransferKind::reduce, child.node, waits);
      }
    } else if (entry.parent.node.valid()) {
      wait_for(place, entry, TransferKind::copy, entry.parent.node, waits);
    } else {
      for (const ArrivalIndex::Arrival& reduce :
           arrivals_.at(place.node, entry.flow, TransferKind::reduce)) {
        waits.push_back(reduce.transfer);
      }
    }
  }

  // Checks that the node's own messages of a flow in `after` are sent by earlier entries.
  void check_own_sends(const EntryPlace& place, FlowId flow) {
    if (last_entries_of_ != place.node) {
      last_entries_of_ = place.node;
      last_entries_.clear();
      const auto& entries = tables_.nodes[place.node.index()];
      for (std::uint32_t e = 0; e < entries.size(); ++e) {
        if (entries[e].op != TableOp::nop) last_entries_.push_back({entries[e].flow, e});
      }
      std::sort(last_entries_.begin(), last_entries_.end());
    }
    // The flow's last entry precedes the first entry of the next flow.
    const auto next = std::lower_bound(last_entries_.begin(), last_entries_.end(),
                                       FlowEntry{FlowId(flow.index() + 1), 0});
    if (next == last_entries_.begin() || (next - 1)->flow != flow) return;
    const std::uint32_t last = (next - 1)->entry;
    if (last < place.entry) return;
    findings_.add_described(ViolationKind::deadlock, [&] {
      return fmt::format(
          "{} waits until {} has been sent, but that entry comes later in the same table",
          describe(tables_, place.node, place.entry), describe(tables_, place.node, last));
    });
  }

  void add_flow_waits(const EntryPlace& place, const TableEntry& entry,
                      std::vector<TransferId>& waits) {
    for (const FlowId flow : entry.after) {
      const FlowRole role{has(roots_[place.node.index()], flow),
                          has(reduces_[place.node.index()], flow)};
      check_own_sends(place, flow);
      if (collect_completion(arrivals_, place.node, flow, role, waits)) continue;
      findings_.add_described(ViolationKind::deadlock, [&] {
        return fmt::format("{} waits for flow {}, which is never complete at that node",
                           describe(tables_, place.node, place.entry), flow.value());
      });
    }
  }

  const Topology& topology_;
  const ScheduleTables& tables_;
  Findings& findings_;
  const std::size_t malformed_before_ = findings_.count(ViolationKind::malformed);
  RouteCheck routes_;
  RaisedTables raised_;
  FlowEntries reduces_;
  NodeId last_entries_of_;
  std::vector<FlowEntry> last_entries_;        // entries of one node that send
  FlowEntries roots_;                          // Gather entries without a parent
  std::vector<ChunkRange> ranges_;             // by ordinal among the entries that send
  std::vector<std::uint32_t> first_transfer_;  // by ordinal among the entries that send
  ArrivalIndex arrivals_{{}, 0};
};

}  // namespace

RaisedTables::RaisedTables(const Topology& topology, const ScheduleTables& tables)
    : schedule(topology) {
  schedule.routes = tables.routes;
  schedule.algorithm = tables.algorithm;
  schedule.op = tables.op;
  schedule.scope = tables.scope;
  schedule.num_nodes = topology.num_nodes();
  schedule.size = tables.size;
  schedule.num_steps = tables.num_steps;
  schedule.contention_free = tables.contention_free;
  schedule.listed_order = tables.listed_order;
  schedule.ni_ports = tables.ni_ports;
  schedule.chunks = tables.chunks;
}

RaisedTables raise_tables(const Topology& topology, const ScheduleTables& tables,
                          Findings& findings) {
  return Raising(topology, tables, findings).run();
}

}  // namespace certifier

Schedule raise_from_tables(const Topology& topology, const ScheduleTables& tables) {
  certifier::Findings findings;
  if (tables.symmetry) {
    if (certifier::check_symmetry(topology, tables, findings)) {
      return raise_from_tables(topology, expand_symmetry(topology, tables));
    }
    throw TableError(findings.list().front().what);
  }
  certifier::RaisedTables raised = certifier::raise_tables(topology, tables, findings);
  const std::vector<Violation> violations = findings.list();
  if (!violations.empty()) throw TableError(violations.front().what);
  return std::move(raised.schedule);
}

}  // namespace espalier
