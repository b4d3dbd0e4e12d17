#include "alg/schedule/schedule_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <numeric>
#include <ostream>
#include <vector>

namespace espalier {

namespace {

constexpr const char* kNil = "nil";
using Row = std::vector<std::string>;

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

// Which columns a table has beside the paper's.
struct Columns {
  bool after = false;
  bool repeat = false;

  [[nodiscard]] Row headings() const {
    Row row{"Op", "FlowID", "Parent", "Children", "Step", "Start Addr", "Size"};
    if (after) row.emplace_back("After");
    if (repeat) {
      for (const char* name : {"First Pass", "Count", "Flow +", "Addr +", "Last Size"}) {
        row.emplace_back(name);
      }
    }
    return row;
  }

  [[nodiscard]] Row row_of(const TableEntry& entry) const {
    const bool nop = entry.op == TableOp::nop;
    Row row{to_string(entry.op),
            id_text(entry.flow),
            id_text(entry.parent.node),
            list_text(entry.children, [](const TablePeer& peer) { return id_text(peer.node); }),
            std::to_string(entry.step),
            nop ? kNil : std::to_string(entry.start_addr),
            nop ? kNil : std::to_string(entry.size)};
    if (after) row.push_back(list_text(entry.after, [](FlowId flow) { return id_text(flow); }));
    return row;
  }

  [[nodiscard]] Row row_of(const RepeatedRow& repeated) const {
    Row row = row_of(repeated.first);
    for (const std::int64_t field :
         {std::int64_t{repeated.first_pass}, std::int64_t{repeated.count}, repeated.flow_stride,
          repeated.address_stride, static_cast<std::int64_t>(repeated.last_size)}) {
      row.push_back(std::to_string(field));
    }
    return row;
  }
};

void append_rows(std::string& text, const std::vector<Row>& rows) {
  std::vector<std::size_t> width(rows.front().size(), 0);
  for (const Row& row : rows) {
    for (std::size_t c = 0; c < row.size(); ++c) width[c] = std::max(width[c], row[c].size());
  }
  for (const Row& row : rows) {
    text += "  ";
    for (std::size_t c = 0; c < row.size(); ++c) {
      const bool last = c + 1 == row.size();
      fmt::format_to(std::back_inserter(text), "{:<{}}{}", row[c], last ? 0 : width[c],
                     last ? "\n" : "  ");
    }
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

std::string route_names(const Topology& topology, const RouteSet& routes, RouteId route) {
  std::string names = topology.vertex_name(topology.link(routes.link(route, 0)).from);
  for (const LinkId link : routes.links(route)) {
    names += " " + topology.vertex_name(topology.link(link).to);
  }
  return names;
}

std::string longest_route(const Topology& topology, const RouteSet& routes) {
  RouteId longest(0);
  for (std::size_t r = 0; r < routes.size(); ++r) {
    if (routes.hops(RouteId(r)) > routes.hops(longest)) longest = RouteId(r);
  }
  if (routes.hops(longest) == 1) return {};
  return fmt::format("longest route: {} links, {}", routes.hops(longest),
                     route_names(topology, routes, longest));
}

void write_table_text(std::ostream& out, const ScheduleTables& tables) {
  Columns columns;
  columns.repeat = !tables.repeated.empty();
  for (const auto& entries : tables.nodes) {
    columns.after =
        columns.after || std::any_of(entries.begin(), entries.end(),
                                     [](const TableEntry& e) { return !e.after.empty(); });
  }
  for (std::size_t n = 0; n < tables.nodes.size(); ++n) {
    std::string text = fmt::format("{}accelerator {}\n", n == 0 ? "" : "\n", n);
    std::vector<Row> rows{columns.headings()};
    if (!columns.repeat) {
      for (const TableEntry& entry : tables.nodes[n]) rows.push_back(columns.row_of(entry));
      append_rows(text, rows);
    }
    for (std::size_t l = 0; columns.repeat && l < tables.repeated[n].loops.size(); ++l) {
      if (tables.repeated[n].loops.size() > 1) text += fmt::format("  loop {}\n", l + 1);
      rows.resize(1);
      for (const RepeatedRow& row : tables.repeated[n].loops[l])
        rows.push_back(columns.row_of(row));
      append_rows(text, rows);
    }
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
