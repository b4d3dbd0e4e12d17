#include "alg/schedule/schedule_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <numeric>
#include <ostream>
#include <vector>

namespace espalier {

namespace {

constexpr const char* kNil = "nil";
constexpr std::size_t kColumns = 8;
constexpr std::array<const char*, kColumns> kHeadings{"Op",   "FlowID",     "Parent", "Children",
                                                      "Step", "Start Addr", "Size",   "After"};
using Row = std::array<std::string, kColumns>;

template <class Tag>
std::string id_text(Id<Tag> id) {
  return id.valid() ? std::to_string(id.value()) : kNil;
}

template <class List, class Text>
std::string list_text(const List& list, Text text) {
  std::string result;
  for (const auto& item : list) {
    if (!result.empty()) result += ' ';
    result += text(item);
  }
  return result.empty() ? kNil : result;
}

Row row_of(const TableEntry& entry) {
  const bool nop = entry.op == TableOp::nop;
  return {to_string(entry.op),
          id_text(entry.flow),
          id_text(entry.parent.node),
          list_text(entry.children, [](const TablePeer& peer) { return id_text(peer.node); }),
          std::to_string(entry.step),
          nop ? kNil : std::to_string(entry.start_addr),
          nop ? kNil : std::to_string(entry.size),
          list_text(entry.after, [](FlowId flow) { return id_text(flow); })};
}

void append_line(std::string& text, const Row& row, const std::array<std::size_t, kColumns>& width,
                 std::size_t columns) {
  text += "  ";
  for (std::size_t c = 0; c < columns; ++c) {
    const bool last = c + 1 == columns;
    fmt::format_to(std::back_inserter(text), "{:<{}}{}", row.at(c), last ? 0 : width.at(c),
                   last ? "\n" : "  ");
  }
}

}  // namespace

std::string describe(const Transfer& t) {
  return fmt::format("{} of flow {} from {} to {} in step {}", to_string(t.kind), id_text(t.flow),
                     id_text(t.from), id_text(t.to), t.step);
}

std::string describe(const ScheduleTables& tables, NodeId node, std::size_t entry) {
  const TableEntry& e = tables.nodes[node.index()][entry];
  if (e.op == TableOp::nop) {
    return fmt::format("entry {} of node {} (NOP in step {})", entry, node.value(), e.step);
  }
  return fmt::format("entry {} of node {} ({} of flow {} in step {})", entry, node.value(),
                     to_string(e.op), id_text(e.flow), e.step);
}

std::string link_name(const Topology& topology, LinkId link) {
  const TopologyLink& l = topology.link(link);
  return topology.vertex_name(l.from) + "." + l.out_name;
}

void write_table_text(std::ostream& out, const ScheduleTables& tables) {
  bool any_after = false;
  for (const auto& entries : tables.nodes) {
    any_after = any_after || std::any_of(entries.begin(), entries.end(),
                                         [](const TableEntry& e) { return !e.after.empty(); });
  }
  const std::size_t columns = any_after ? kColumns : kColumns - 1;
  Row headings;
  for (std::size_t c = 0; c < kColumns; ++c) headings.at(c) = kHeadings.at(c);

  std::string text;
  for (std::size_t n = 0; n < tables.nodes.size(); ++n) {
    std::vector<Row> rows{headings};
    for (const TableEntry& entry : tables.nodes[n]) rows.push_back(row_of(entry));
    std::array<std::size_t, kColumns> width{};
    for (const Row& row : rows) {
      for (std::size_t c = 0; c < columns; ++c)
        width.at(c) = std::max(width.at(c), row.at(c).size());
    }
    text = fmt::format("{}accelerator {}\n", n == 0 ? "" : "\n", n);
    for (const Row& row : rows) append_line(text, row, width, columns);
    out << text;
  }
}

void write_dot(std::ostream& out, const Schedule& schedule) {
  std::vector<std::uint32_t> order(schedule.transfers.size());
  std::iota(order.begin(), order.end(), 0U);
  std::stable_sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
    return schedule.transfers[a].flow < schedule.transfers[b].flow;
  });

  out << "digraph schedule {\n";
  for (std::size_t begin = 0; begin < order.size();) {
    const FlowId flow = schedule.transfers[order[begin]].flow;
    std::size_t end = begin;
    std::vector<NodeId> members;
    while (end < order.size() && schedule.transfers[order[end]].flow == flow) {
      members.push_back(schedule.transfers[order[end]].from);
      members.push_back(schedule.transfers[order[end]].to);
      ++end;
    }
    std::sort(members.begin(), members.end());
    members.erase(std::unique(members.begin(), members.end()), members.end());

    out << fmt::format("  subgraph cluster_{0} {{\n    label=\"flow {0}\";\n", id_text(flow));
    for (const NodeId node : members) {
      out << fmt::format("    f{0}n{1} [label=\"{1}\"];\n", id_text(flow), id_text(node));
    }
    for (; begin < end; ++begin) {
      const Transfer& t = schedule.transfers[order[begin]];
      out << fmt::format("    f{0}n{1} -> f{0}n{2} [label=\"{3}\"{4}];\n", id_text(flow),
                         id_text(t.from), id_text(t.to), t.step,
                         t.kind == TransferKind::reduce ? ", style=dashed" : "");
    }
    out << "  }\n";
  }
  out << "}\n";
}

}  // namespace espalier
