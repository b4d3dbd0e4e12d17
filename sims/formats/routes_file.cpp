#include "sims/formats/routes_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string_view>
#include <utility>

#include "hw/topology/vertex_names.h"
#include "sims/formats/named_node.h"
#include "sims/text/table_reader.h"
#include "sims/text/values.h"

namespace espalier {

namespace {

constexpr std::uint64_t kMostParallel = 4096;
constexpr std::uint64_t kMostVcClass = 31;

TableCells cells_of_route(std::string_view line, const Place& line_start) {
  return cells_of(line.substr(0, line.find('#')), line_start);
}

constexpr TableSpec kPathTable{"from,to,path", "route", "for example n_0,n_5,sw_0 sw_1 n_5",
                               cells_of_route};
constexpr TableSpec kChoiceTable{"at,to,next", "choice", "for example n_0,n_5,n_1@1 n_4@0!",
                                 cells_of_route};

class RouteReader : public TableReader<RouteRow> {
 public:
  RouteReader(const TableSpec& spec, Diagnostics& diagnostics) : TableReader(spec, diagnostics) {}

 private:
  std::optional<RouteRow> read_row(const TableCells& cells) override {
    if (!check_count(cells) || !check_texts(cells)) return std::nullopt;
    RouteRow row{cells[0], cells[1], {}};
    if (row.from.text == row.to.text) {
      diagnostics_.error(row.to.place, "a route leads to another vertex", spec_.example);
      return std::nullopt;
    }
    for (const ConfigNode& word : words_of(cells[2].text, cells[2].place)) {
      auto hop = read_hop(word);
      if (!hop) return std::nullopt;
      row.hops.push_back(*std::move(hop));
    }
    return row;
  }

  std::optional<RouteHop> read_hop(const ConfigNode& word) {
    RouteHop hop;
    hop.vertex = word;
    std::string& text = hop.vertex.text;
    if (spec_.header == kChoiceTable.header && text.back() == '!') {
      hop.escape = true;
      text.pop_back();
    }
    const auto vc_class = number_behind(hop.vertex, '@', "VC class", kMostVcClass);
    if (!vc_class) return std::nullopt;
    if (*vc_class != kNoNumber) hop.vc_class = static_cast<std::uint32_t>(*vc_class);
    const auto parallel = number_behind(hop.vertex, '/', "parallel link", kMostParallel);
    if (!parallel) return std::nullopt;
    if (*parallel != kNoNumber) hop.parallel = static_cast<std::uint32_t>(*parallel);
    return hop;
  }

  static constexpr std::uint64_t kNoNumber = ~std::uint64_t{0};

  // Takes the number behind `mark` off the word; nothing after an error.
  std::optional<std::uint64_t> number_behind(ConfigNode& word, char mark, const char* what,
                                             std::uint64_t most) {
    const std::size_t at = word.text.find(mark);
    if (at == std::string::npos) return kNoNumber;
    ConfigNode number = word;
    number.text = word.text.substr(at + 1);
    number.place.column += static_cast<std::uint32_t>(at + 1);
    word.text.resize(at);
    const auto value = parse_value(number, what, range_shape(0, most), diagnostics_);
    if (!value) return std::nullopt;
    return value->number;
  }
};

}  // namespace

std::optional<RouteRows> parse_route_rows(const std::string& file_name, const std::string& text,
                                          Diagnostics& diagnostics) {
  RouteRows result;
  // The first line that is no comment is the header.
  std::size_t begin = 0;
  while (begin < text.size() && (text[begin] == '#' || text[begin] == '\n')) {
    begin = std::min(text.find('\n', begin), text.size() - 1) + 1;
  }
  result.adaptive = text.compare(begin, 3, "at,") == 0;
  auto rows =
      RouteReader(result.adaptive ? kChoiceTable : kPathTable, diagnostics).read(file_name, text);
  if (!rows) return std::nullopt;
  result.rows = *std::move(rows);
  return result;
}

Topology network_of(const RouteRows& rows, const std::string& name) {
  Topology topology(name);
  const auto add = [&](const std::string& vertex, bool is_node) {
    if (topology.find_vertex(vertex).valid()) return;
    static_cast<void>(is_node ? topology.add_node(vertex) : topology.add_switch(vertex));
  };
  for (const RouteRow& row : rows.rows) {
    if (!rows.adaptive) add(row.from.text, true);
    add(row.to.text, true);
  }
  for (const RouteRow& row : rows.rows) {
    add(row.from.text, false);
    for (const RouteHop& hop : row.hops) add(hop.vertex.text, false);
  }
  std::map<std::pair<NodeId, NodeId>, std::uint32_t> parallel;
  for (const RouteRow& row : rows.rows) {
    NodeId at = topology.find_vertex(row.from.text);
    for (const RouteHop& hop : row.hops) {
      const NodeId to = topology.find_vertex(hop.vertex.text);
      std::uint32_t& links = parallel[{at, to}];
      for (; at != to && links <= hop.parallel; ++links) {
        const std::string port = fmt::format("{}/{}", hop.vertex.text, links);
        topology.add_link(at, to, LinkSpec{}, port,
                          fmt::format("{}/{}", topology.vertex_name(at), links));
      }
      if (!rows.adaptive) at = to;
    }
  }
  return topology;
}

LinkId hop_link(const Topology& topology, NodeId at, const RouteHop& hop,
                Diagnostics& diagnostics) {
  const NodeId to = find_vertex(topology, hop.vertex.text);
  if (!to.valid()) {
    diagnostics.error(hop.vertex.place,
                      fmt::format("path: '{}' is no vertex of the network", hop.vertex.text),
                      vertex_hint(topology, hop.vertex.text));
    return {};
  }
  std::uint32_t links = 0;
  for (const LinkId link : topology.out_links(at)) {
    if (topology.link(link).to != to) continue;
    if (links++ == hop.parallel) return link;
  }
  diagnostics.error(hop.vertex.place,
                    fmt::format("path: {} links lead from '{}' to '{}'; this is link {}, counted "
                                "from 0",
                                links, topology.vertex_name(at), hop.vertex.text, hop.parallel),
                    "name every vertex behind `from` in the order of travel");
  return {};
}

std::optional<RouteTable> route_table(const RouteRows& rows, const Topology& topology,
                                      Diagnostics& diagnostics) {
  const std::size_t errors_before = diagnostics.num_errors();
  RouteTable table;
  for (const RouteRow& row : rows.rows) {
    const auto from = named_node(topology, "from", row.from.text, row.from.place, diagnostics);
    const auto to = named_node(topology, "to", row.to.text, row.to.place, diagnostics);
    if (!from || !to) continue;
    ListedRoute route;
    bool has_classes = false;
    NodeId at = *from;
    for (const RouteHop& hop : row.hops) {
      const LinkId link = hop_link(topology, at, hop, diagnostics);
      if (!link.valid()) break;
      if (std::find(route.links.begin(), route.links.end(), link) != route.links.end()) {
        diagnostics.error(hop.vertex.place, "path: the route takes this link twice",
                          "leave the detour out");
        break;
      }
      has_classes |= hop.vc_class.has_value();
      route.links.push_back(link);
      route.classes.push_back(hop.vc_class.value_or(0));
      at = topology.link(link).to;
    }
    if (!has_classes) route.classes.clear();
    if (route.links.size() != row.hops.size()) continue;
    if (at != *to) {
      diagnostics.error(row.hops.back().vertex.place,
                        fmt::format("path: ends at '{}', not at '{}'", topology.vertex_name(at),
                                    topology.vertex_name(*to)),
                        "name every vertex behind `from`, the last one is `to`");
      continue;
    }
    table[{*from, *to}].push_back(std::move(route));
  }
  if (diagnostics.num_errors() != errors_before) return std::nullopt;
  return table;
}

}  // namespace espalier
