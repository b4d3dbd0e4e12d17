// Tables whose rows repeat: that the rows issue the tables' entries, and, for a periodic schedule,
// a proof of one round that holds for all of them.
//
// A family is a set of flows f, f + stride, f + 2 stride, ... that every row with first flow f
// passes through, one flow in a pass. Flow f + i * stride is round i. If each flow has one chunk of
// its own, rounds touch different memory, and every round has the same messages. Hence it suffices
// to check the data of one round. Rounds meet only in the order of the tables: row r issues round w
// in pass first_pass(r) + w. A time x(r) for every row, with round w at x(r) + w * T, that grows
// from row to row of a table, from the last row to the first one of the next pass, and from the
// sender of an awaited message to the row that waits, leaves no circle of waits in any round.
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "alg/certify/certifier_parts.h"
#include "alg/routes/links.h"
#include "alg/schedule/schedule_text.h"

namespace espalier::certifier {

namespace {

bool is_same(const TablePeer& a, const TablePeer& b) {
  return a.node == b.node && a.route == b.route;
}

bool is_same(const TableEntry& a, const TableEntry& b) {
  return a.op == b.op && a.flow == b.flow && is_same(a.parent, b.parent) && a.step == b.step &&
         a.start_addr == b.start_addr && a.size == b.size && a.after == b.after &&
         a.not_before_ps == b.not_before_ps &&
         std::equal(a.children.begin(), a.children.end(), b.children.begin(), b.children.end(),
                    [](const TablePeer& x, const TablePeer& y) { return is_same(x, y); });
}

// Flows that the same rows pass through, and what these rows say of their data.
struct Family {
  FlowId first;
  std::uint32_t count = 1;
  std::int64_t flow_stride = 0;
  std::int64_t address_stride = 0;
  Bytes start_addr = 0;
  Bytes size = 0;
  Bytes last_size = 0;

  [[nodiscard]] bool goes_with(const RepeatedRow& row) const {
    return row.first.flow == first && row.count == count && row.first.start_addr == start_addr &&
           row.first.size == size && row.last_size == last_size &&
           (count == 1 || (row.flow_stride == flow_stride && row.address_stride == address_stride));
  }
};

// Finds one round of tables that are periodic in this sense: all entries in one step, one loop per
// node, no waits for other flows, and a chunk for every flow.
class RoundFolding {
 public:
  explicit RoundFolding(const ScheduleTables& tables) : tables_(tables), round_(tables.routes) {}

  // The tables of one round: row r of a node's loop is entry r. Nothing if the tables do not have
  // this form.
  std::optional<ScheduleTables> fold() {
    // Flows of operations with counts have sizes that one byte cannot stand for.
    if (tables_.repeated.empty() || tables_.symmetry || tables_.contention_free ||
        tables_.num_steps != 1 || has_counts(tables_.op)) {
      return std::nullopt;
    }
    for (const RepeatedTable& table : tables_.repeated) {
      if (table.loops.size() > 1) return std::nullopt;
      for (const auto& loop : table.loops) {
        if (!std::all_of(loop.begin(), loop.end(),
                         [&](const RepeatedRow& row) { return has_family(row); })) {
          return std::nullopt;
        }
      }
    }
    if (!owns_all_chunks()) return std::nullopt;
    write_round();
    return std::move(round_);
  }

 private:
  bool has_family(const RepeatedRow& row) {
    if (row.count == 0 || row.first.step != 1 || (row.count > 1 && row.step_stride != 0) ||
        !row.first.after.empty() || !row.first.flow.valid()) {
      return false;
    }
    Family family;
    family.first = row.first.flow;
    family.count = row.count;
    family.start_addr = row.first.start_addr;
    family.size = row.first.size;
    family.last_size = row.last_size;
    if (row.count > 1) {
      family.flow_stride = row.flow_stride;
      family.address_stride = row.address_stride;
    }
    return families_.try_emplace(family.first, family).first->second.goes_with(row);
  }

  // Every chunk with data is a flow of exactly one family, at the place that its rows say.
  bool owns_all_chunks() {
    std::vector<bool> owned(tables_.chunks.size(), false);
    for (const auto& [first, family] : families_) {
      for (std::uint32_t i = 0; i < family.count; ++i) {
        const auto flow = static_cast<std::size_t>(static_cast<std::int64_t>(first.index()) +
                                                   family.flow_stride * i);
        if (flow >= owned.size() || owned[flow]) return false;
        owned[flow] = true;
        const Chunk& chunk = tables_.chunks[flow];
        const Chunk& base = tables_.chunks[first.index()];
        const auto offset = static_cast<Bytes>(static_cast<std::int64_t>(family.start_addr) +
                                               family.address_stride * i);
        if (chunk.offset != offset || chunk.owner != base.owner ||
            chunk.destination != base.destination || chunk.group != base.group ||
            chunk.size != (i + 1 == family.count ? family.last_size : family.size)) {
          return false;
        }
      }
    }
    for (std::size_t c = 0; c < owned.size(); ++c) {
      if (!owned[c] && tables_.chunks[c].size != 0) return false;
    }
    return true;
  }

  // One byte stands for the data of a flow: sizes and addresses were compared with the chunks.
  void write_round() {
    round_.algorithm = tables_.algorithm;
    round_.op = tables_.op;
    round_.scope = tables_.scope;
    round_.num_steps = 1;
    round_.contention_free = false;
    round_.listed_order = tables_.listed_order;
    round_.ni_ports = tables_.ni_ports;
    std::map<FlowId, std::size_t> place;
    for (const auto& [first, family] : families_) {
      const Chunk& chunk = tables_.chunks[first.index()];
      const std::size_t number = round_.chunks.size();
      place[first] = number;
      round_.chunks.push_back({number, 1, chunk.owner, chunk.destination, chunk.group});
    }
    const auto members = tables_.scope.members(tables_.nodes.size());
    for (std::size_t g = 0; g < members.size(); ++g) {
      auto size =
          static_cast<Bytes>(std::count_if(round_.chunks.begin(), round_.chunks.end(),
                                           [&](const Chunk& chunk) { return chunk.group == g; }));
      if (tables_.op == CollectiveOp::all_to_all) size /= members[g].size();
      round_.size += size;
      if (members.size() > 1) round_.scope.groups[g].size = size;
    }
    for (const RepeatedTable& table : tables_.repeated) {
      std::vector<TableEntry>& entries = round_.nodes.emplace_back();
      for (const auto& loop : table.loops) {
        for (const RepeatedRow& row : loop) {
          TableEntry& entry = entries.emplace_back(row.first);
          entry.flow = FlowId(place[row.first.flow]);
          entry.start_addr = place[row.first.flow];
          entry.size = 1;
        }
      }
    }
  }

  const ScheduleTables& tables_;
  ScheduleTables round_;
  std::map<FlowId, Family> families_;
};

// Finds the times x of the file's head, by longest paths.
class PeriodicOrder {
 public:
  PeriodicOrder(const ScheduleTables& tables, const RaisedTables& round)
      : tables_(tables), round_(round) {
    for (const RepeatedTable& table : tables.repeated) {
      begin_.push_back(begin_.back() + static_cast<std::int64_t>(table.rows()));
    }
    // A path that passes every row once is shorter.
    period_ = begin_.back() + 1;
  }

  // False if there are none, or if they were not found within a number of sweeps.
  [[nodiscard]] bool exists() {
    constexpr int kMostSweeps = 4096;
    place_.assign(static_cast<std::size_t>(begin_.back()), 0);  // x(r) - T * first_pass(r)
    for (int sweep = 0; sweep < kMostSweeps; ++sweep) {
      changed_ = false;
      for (std::size_t n = 0; n < tables_.nodes.size(); ++n) order_table(n);
      order_messages();
      if (!changed_) return true;
    }
    return false;
  }

 private:
  void order_table(std::size_t node) {
    for (std::int64_t r = begin_[node]; r + 1 < begin_[node + 1]; ++r) {
      raise(r + 1, place_[static_cast<std::size_t>(r)] + 1);
    }
    if (begin_[node] == begin_[node + 1]) return;
    raise(begin_[node], place_[static_cast<std::size_t>(begin_[node + 1] - 1)] + 1 - period_);
  }

  void order_messages() {
    const Schedule& s = round_.schedule;
    for (std::size_t t = 0; t < s.transfers.size(); ++t) {
      const std::int64_t row = row_of(TransferId(t));
      for (const TransferId d : s.dependencies_of(TransferId(t))) {
        const std::int64_t sender = row_of(d);
        raise(row, place_[static_cast<std::size_t>(sender)] +
                       (first_pass(d) - first_pass(TransferId(t))) * period_ + 1);
      }
    }
  }

  [[nodiscard]] std::int64_t row_of(TransferId t) const {
    const EntryPlace& place = round_.places[t.index()];
    return begin_[place.node.index()] + place.entry;
  }
  [[nodiscard]] std::int64_t first_pass(TransferId t) const {
    const EntryPlace& place = round_.places[t.index()];
    return tables_.repeated[place.node.index()].loops.front()[place.entry].first_pass;
  }

  void raise(std::int64_t row, std::int64_t least) {
    std::int64_t& place = place_[static_cast<std::size_t>(row)];
    if (place >= least) return;
    place = least;
    changed_ = true;
  }

  const ScheduleTables& tables_;
  const RaisedTables& round_;
  std::vector<std::int64_t> begin_{0};  // by node: its first row
  std::int64_t period_ = 0;
  std::vector<std::int64_t> place_;
  bool changed_ = false;
};

// By transfer of the round: how many rounds it has.
std::uint32_t rounds_of(const ScheduleTables& tables, const EntryPlace& place) {
  return tables.repeated[place.node.index()].loops.front()[place.entry].count;
}

bool shares_no_link(const Topology& topology, const ScheduleTables& tables,
                    const RaisedTables& round) {
  const std::vector<std::uint32_t> units = link_units(topology);
  std::vector<std::uint64_t> transfers(topology.num_links(), 0);
  const Schedule& s = round.schedule;
  for (std::size_t t = 0; t < s.transfers.size(); ++t) {
    for (const LinkId link : s.routes.links(s.transfers[t].route)) {
      transfers[link.index()] += rounds_of(tables, round.places[t]);
      if (transfers[link.index()] > units[link.index()]) return false;
    }
  }
  return true;
}

}  // namespace

void check_rows(const ScheduleTables& tables, Findings& findings) {
  if (tables.repeated.empty()) return;
  if (tables.repeated.size() != tables.nodes.size()) {
    findings.add(ViolationKind::malformed, "there are rows for {} nodes, but tables for {} nodes",
                 tables.repeated.size(), tables.nodes.size());
    return;
  }
  for (std::size_t n = 0; n < tables.nodes.size(); ++n) {
    const std::vector<TableEntry>& table = tables.nodes[n];
    std::size_t next = 0;
    bool differs = false;
    for_each_issued(tables.repeated[n], [&](const TableEntry& entry, std::uint32_t) {
      while (next < table.size() && table[next].op == TableOp::nop) ++next;
      if (differs) return;
      differs = next == table.size() || !is_same(entry, table[next]);
      if (!differs) ++next;
    });
    while (next < table.size() && table[next].op == TableOp::nop) ++next;
    if (!differs && next == table.size()) continue;
    findings.add_described(ViolationKind::malformed, [&] {
      if (next == table.size()) {
        return fmt::format("the rows of node {} issue more entries than its schedule has", n);
      }
      return fmt::format("the rows of node {} do not issue {}", n,
                         describe(tables, NodeId(n), next));
    });
  }
}

std::optional<RoundProof> fold_rounds(const Topology& topology, const ScheduleTables& tables) {
  std::optional<ScheduleTables> round = RoundFolding(tables).fold();
  if (!round) return std::nullopt;
  Findings findings;
  RoundProof proof{raise_tables(topology, *round, findings), 0, false};
  if (!findings.list().empty() || !check_dependencies(proof.round.schedule, findings) ||
      !PeriodicOrder(tables, proof.round).exists()) {
    return std::nullopt;
  }
  for (const EntryPlace& place : proof.round.places) proof.transfers += rounds_of(tables, place);
  proof.contention_free = shares_no_link(topology, tables, proof.round);
  return proof;
}

}  // namespace espalier::certifier
