// Maps of networks: busy links, trees of schedules, links in use over time, dimensions.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "alg/schedule/schedule_text.h"
#include "sims/model/build_program.h"
#include "sims/page/rebuild.h"
#include "sims/page/section.h"
#include "sims/page/text.h"
#include "sims/page/topology_layout.h"

namespace espalier::report {

namespace {

using Json = nlohmann::ordered_json;

constexpr double kMapWidth = 460;

double rounded(double value, double digits) { return std::round(value * digits) / digits; }

Json map_of(const Topology& topology, const TopologyLayout& layout) {
  Json map{{"width", kMapWidth}, {"height", layout.height()}, {"room", layout.room()}};
  for (std::size_t v = 0; v < topology.num_vertices(); ++v) {
    const Place at = layout.place(NodeId(v));
    map["places"].push_back({rounded(at.x, 100), rounded(at.y, 100)});
    map["names"].push_back(topology.vertex_name(NodeId(v)));
    map["switches"].push_back(topology.is_switch(NodeId(v)) ? 1 : 0);
  }
  return map;
}

Json labels_of(const Topology& topology, const TopologyLayout& layout, double vertex_size) {
  Json labels = Json::array();
  for (const MapLabel& label : map_labels(topology, layout, vertex_size))
    labels.push_back({label.words, rounded(label.left, 100), rounded(label.line, 100)});
  return labels;
}

struct LinkLoad {
  std::string from;
  std::string to;
  double utilization = 0;
};

// Returns an empty list unless the result's list has the documented form.
std::vector<LinkLoad> link_loads(const ReportPoint& point) {
  std::vector<LinkLoad> loads;
  for (const Json& link : *find_field(point.result, field::links)) {
    const auto from = text_in(link, field::links_from);
    const auto to = text_in(link, field::links_to);
    const auto utilization = number_in(link, field::links_utilization);
    if (!from || !to || !utilization) return {};
    loads.push_back({*from, *to, *utilization});
  }
  return loads;
}

bool are_links_of(const Topology& topology, const std::vector<LinkLoad>& loads) {
  if (loads.size() != topology.num_links()) return false;
  for (std::size_t l = 0; l < loads.size(); ++l) {
    const TopologyLink& link = topology.links()[l];
    if (topology.vertex_name(link.from) != loads[l].from ||
        topology.vertex_name(link.to) != loads[l].to)
      return false;
  }
  return true;
}

std::string loads_caption(const std::vector<LinkLoad>& loads) {
  double sum = 0;
  std::size_t idle = 0;
  const LinkLoad* most = &loads.front();
  for (const LinkLoad& load : loads) {
    sum += load.utilization;
    if (load.utilization == 0) ++idle;
    if (load.utilization > most->utilization) most = &load;
  }
  return fmt::format("{}: mean {}, most {} ({} to {}){}.", count_text(loads.size(), "link"),
                     percent_text(sum / static_cast<double>(loads.size())),
                     percent_text(most->utilization), most->from, most->to,
                     idle == 0 ? std::string() : fmt::format(", {} never used", idle));
}

std::optional<std::string> draw_links(const ReportView& view, Pictures& pictures, std::size_t run,
                                      std::string& why) {
  const std::vector<LinkLoad> loads = link_loads(view.point(run));
  if (loads.empty()) {
    why = "an entry in its list of links does not have from, to and utilization";
    return std::nullopt;
  }
  const auto system = rebuild_system(view.data(), view.point(run), why);
  if (!system) return std::nullopt;
  const Topology& topology = *system->topology;
  if (topology.dimensions() || !are_links_of(topology, loads)) {
    why = "its links do not match its topology";
    return std::nullopt;
  }
  const TopologyLayout layout(topology, kMapWidth);
  const double aside = std::clamp(layout.room() * 0.13, 0.6, 3.5);
  const double vertex_size = std::clamp(layout.room() * 0.3, 1.0, 7.0);
  Json links = Json::array();  // from, to, utilization, path
  for (std::size_t l = 0; l < loads.size(); ++l) {
    const TopologyLink& link = topology.links()[l];
    links.push_back({link.from.index(), link.to.index(), rounded(loads[l].utilization, 1e6),
                     layout.link(LinkId(l), aside)});
  }
  const Json labels = labels_of(topology, layout, vertex_size);
  std::string caption = loads_caption(loads);
  if (layout.has_ends())
    caption += " A line that ends between nodes leads around the torus or to another layer.";
  if (labels.size() < topology.num_vertices()) {
    caption += labels.empty() ? " Point at a node or switch to see its name."
                              : " Point at a vertex without a name to see its name.";
  }
  return pictures.add(title_of_run(view, run, true),
                      {{"kind", "links"},
                       {"runs", Json::array({run})},
                       {"map", pictures.add_map(map_of(topology, layout))},
                       {"size", vertex_size},
                       {"links", links},
                       {"labels", labels}},
                      caption);
}

std::string draw_dimensions(const ReportView& view, Pictures& pictures,
                            const std::vector<std::size_t>& runs) {
  std::vector<std::string> parts;
  Json bars = Json::array();
  const auto label = labels_of(view, runs);
  for (const std::size_t i : runs) {
    Json values = Json::object();
    for (const auto& [name, dimension] :
         find_field(view.point(i).result, field::dimensions)->items()) {
      const auto used = number_in(dimension, field::dimensions_dim_utilization);
      values[name] = std::clamp(used.value_or(0), 0.0, 1.0);
      if (std::find(parts.begin(), parts.end(), name) == parts.end()) parts.push_back(name);
    }
    bars.push_back({{"runs", Json::array({i})}, {"label", label(i)}, {"values", values}});
  }
  return pictures.add("Utilization of the dimensions",
                      {{"kind", "bars"},
                       {"unit", "bytes sent / bytes that the links could send"},
                       {"side_by_side", true},
                       {"percent", true},
                       {"most", 24},
                       {"parts", parts},
                       {"bars", bars}});
}

constexpr std::size_t kMostNodes = 64;
constexpr std::size_t kMostSteps = 512;

bool is_collective(const ReportPoint& point) {
  const bool is_other = has(point, field::network) || has(point, field::workload) ||
                        has(point, field::traffic) || has(point, field::chunks);
  return !is_other && point.state != ReportPoint::State::missing &&
         !text_of(point, field::algorithm).empty() &&
         number_of(point, field::timesteps).value_or(0) > 0 &&
         number_of(point, field::nodes).value_or(0) <= static_cast<double>(kMostNodes);
}

std::string draw_tree(Pictures& pictures, std::size_t run, const Topology& topology,
                      const Schedule& schedule, const NumberedTree& tree) {
  const TopologyLayout layout(topology, kMapWidth);
  Json edges = Json::array();  // from, to, number, path, names along the route
  for (const TreeEdge& edge : tree.edges) {
    edges.push_back({edge.from.index(), edge.to.index(), rounded(edge.number, 1e4),
                     layout.route(schedule.routes, edge.route),
                     route_names(topology, schedule.routes, edge.route)});
  }
  const char* number = tree.planned   ? "planned times in \u00b5s at which a message is over"
                       : tree.reduces ? "timesteps in which a node sends to its parent"
                                      : "timesteps in which the flow reaches a node";
  const double first = tree.edges.front().number;
  const std::string caption =
      !tree.planned && first == tree.edges.back().number
          ? fmt::format("All messages are in timestep {}", first)
          : fmt::format(layout.tree_radius() < 8 ? "Point at a node to see {}" : "Numbers are {}",
                        number);
  return pictures.add(
      fmt::format("{} of flow {}", tree.reduces ? "Reduce" : "Gather", tree.flow.value()),
      {{"kind", "tree"},
       {"runs", Json::array({run})},
       {"map", pictures.add_map(map_of(topology, layout))},
       {"size", layout.tree_radius()},
       {"wires", layout.all_links()},
       {"edges", edges},
       {"reduces", tree.reduces},
       {"planned", tree.planned},
       {"number", tree.planned ? "planned, \u00b5s:" : "timestep"},
       {"labels", labels_of(topology, layout, layout.tree_radius())}},
      caption + "; the full disc is the root. Point at a line to see its message's route.");
}

std::string draw_occupancy(Pictures& pictures, std::size_t run, const Topology& topology,
                           const Occupancy& occupied) {
  Json rows = Json::array();  // of a vertex: percent by column
  for (std::size_t v = 0; v < topology.num_vertices(); ++v) {
    Json& row = rows.emplace_back(Json::array());
    for (const auto& parts : occupied.of_vertex) row.push_back(std::lround(100 * parts[v]));
  }
  Json names = Json::array();
  for (std::size_t v = 0; v < topology.num_vertices(); ++v)
    names.push_back(topology.vertex_name(NodeId(v)));
  Json all = Json::array();
  for (const double part : occupied.of_all) all.push_back(rounded(part, 1e4));
  return pictures.add(
      occupied.planned ? "Links in use by planned time" : "Links in use by timestep",
      {{"kind", "occupancy"},
       {"runs", Json::array({run})},
       {"unit", occupied.planned ? "planned time, \u00b5s" : "timestep"},
       {"end_us", occupied.planned ? Json(occupied.end_us) : Json()},
       {"names", names},
       {"rows", rows},
       {"all", all}},
      "Bars: share of all links that carry data; cells: share of the links that leave a node or "
      "switch.");
}

std::optional<std::string> draw_schedule(const ReportView& view, Pictures& pictures,
                                         std::size_t run, std::string& why) {
  const ReportPoint& point = view.point(run);
  if (!point.schedule_file.empty()) {
    why = "its schedule came from " + point.schedule_file;
    return std::nullopt;
  }
  const auto system = rebuild_system(view.data(), point, why);
  if (!system) return std::nullopt;
  const Topology& topology = *system->topology;
  if (!system->point.collective || topology.dimensions()) {
    why = "its configuration has no schedule of timesteps";
    return std::nullopt;
  }
  if (topology.num_nodes() > kMostNodes) {
    why = fmt::format("it has more than {} nodes", kMostNodes);
    return std::nullopt;
  }
  const auto schedule = rebuild_schedule(*system, why);
  if (!schedule) return std::nullopt;
  if (schedule->transfers.empty()) {
    why = "its schedule has no messages";
    return std::nullopt;
  }
  const MessageTiming timing = message_timing(system->point.system);
  std::string figures;
  const std::vector<NumberedTree> trees = numbered_trees(topology, *schedule, timing);
  for (const bool reduces : {true, false}) {
    const auto first = std::find_if(trees.begin(), trees.end(), [&](const NumberedTree& tree) {
      return tree.reduces == reduces;
    });
    if (first != trees.end()) figures += draw_tree(pictures, run, topology, *schedule, *first);
  }
  std::string html =
      fmt::format("<h3 class=\"run\">Run {}: {}, {}</h3>\n", link_to_run(run),
                  escape(title_of_run(view, run, false)), escape(text_of(point, field::op)));
  if (schedule->num_steps <= kMostSteps) {
    figures += draw_occupancy(pictures, run, topology, occupancy(topology, *schedule, timing));
  } else {
    html += paragraph_html(fmt::format("The schedule has {} timesteps, which are too many to draw.",
                                       schedule->num_steps));
  }
  return html + figures_html(figures);
}

// The activity of each dimension by periods; null unless it has the documented form.
Json activity_of(const ReportPoint& point) {
  const auto period_ns = number_of(point, field::activity_period_ns);
  if (!period_ns) return nullptr;
  const double period_us = *period_ns * 1e-3;
  Json dimensions = Json::array();
  for (const auto& [name, list] : find_field(point.result, field::activity)->items()) {
    if (!list.is_array() || list.empty()) continue;
    Json parts = Json::array();
    for (const Json& part : list)
      parts.push_back(part.is_number() ? std::clamp(part.get<double>(), 0.0, 1.0) : 0.0);
    dimensions.push_back({{"name", name}, {"parts", parts}});
  }
  if (period_us <= 0 || dimensions.empty()) return nullptr;
  return {{"kind", "activity"}, {"period_us", period_us}, {"dimensions", dimensions}};
}

}  // namespace

Section links_section(const ReportView& view, Pictures& pictures) {
  constexpr std::size_t kMostMaps = 9;
  Section section{"links", "Link utilization"};
  const auto with_links = view.points_where([](const ReportPoint& point) {
    return has(point, field::links) && !find_field(point.result, field::links)->empty();
  });
  const auto with_dimensions = view.points_where([](const ReportPoint& point) {
    return has(point, field::dimensions) &&
           find_field(point.result, field::dimensions)->is_object();
  });
  if (with_links.empty() && with_dimensions.empty()) {
    section.why_not =
        "no result has the utilization of links; run with -s simulation.link_utilization=true";
    return section;
  }
  const auto maps = chosen_by(view, with_links, kMostMaps, [&](std::size_t i) {
    return text_of(view.point(i), field::topology) + text_of(view.point(i), field::algorithm);
  });
  std::string figures;
  for (const std::size_t i : maps.runs) {
    std::string why;
    if (const auto figure = draw_links(view, pictures, i, why)) {
      figures += *figure;
    } else {
      section.html += paragraph_html(fmt::format("No map of {}: {}.", name_of_run(i), why));
    }
  }
  if (!maps.runs.empty()) {
    section.html += paragraph_html(
        "Each line is one direction of a link, on the right in its direction of travel. Circles "
        "are nodes, squares are switches." +
        maps.what_is_left_out);
  }
  if (!with_dimensions.empty()) figures += draw_dimensions(view, pictures, with_dimensions);
  section.html += figures_html(figures);
  return section;
}

Section schedule_section(const ReportView& view, Pictures& pictures) {
  constexpr std::size_t kMostSchedules = 6;
  Section section{"schedule", "Trees and timesteps"};
  const auto runs = view.points_where(is_collective);
  if (runs.empty()) {
    section.why_not =
        fmt::format("no run is a collective with timesteps on {} nodes or fewer", kMostNodes);
    return section;
  }
  const auto shown = chosen_by(view, runs, kMostSchedules, [&](std::size_t i) {
    const ReportPoint& point = view.point(i);
    return text_of(point, field::topology) + "\n" + text_of(point, field::algorithm) + "\n" +
           text_of(point, field::op);
  });
  section.html = paragraph_html(
      "Schedules that the run\u2019s configuration generates. Each picture shows the flow that "
      "begins first; "
      "every tree or chain is a flow." +
      shown.what_is_left_out);
  for (const std::size_t i : shown.runs) {
    std::string why;
    const auto html = draw_schedule(view, pictures, i, why);
    section.html +=
        html ? *html : paragraph_html(fmt::format("No picture of {}: {}.", name_of_run(i), why));
  }
  return section;
}

Section activity_section(const ReportView& view, Pictures& pictures) {
  constexpr std::size_t kMostRuns = 12;
  Section section{"activity", "Dimensions over time"};
  const auto runs =
      view.points_where([](const ReportPoint& point) { return has(point, field::activity); });
  if (runs.empty()) {
    section.why_not = "no run is a collective on a multi-dimensional system";
    return section;
  }
  const Shown shown =
      chosen_by(view, runs, kMostRuns, [](std::size_t i) { return fmt::format("{}", i); });
  section.html = paragraph_html(
      "Share of the time in which each dimension of the first NPU had a chunk, waiting or in "
      "flight. All pictures of one collective size have the same time axis." +
      shown.what_is_left_out);
  std::string figures;
  for (const std::size_t i : shown.runs) {
    Json picture = activity_of(view.point(i));
    if (picture.is_null()) {
      section.html += paragraph_html(fmt::format(
          "No picture of {}: its activity does not have the expected form.", name_of_run(i)));
      continue;
    }
    double longest = 0;
    for (const std::size_t other : shown.runs) {
      if (view.workload(other) == view.workload(i))
        longest =
            std::max(longest, number_of(view.point(other), field::time_ns).value_or(0) * 1e-3);
    }
    picture["runs"] = Json::array({i});
    picture["end_us"] = number_of(view.point(i), field::time_ns).value_or(longest * 1e3) * 1e-3;
    picture["longest_us"] = longest;  // 0: not known
    figures += pictures.add(title_of_run(view, i, true), picture);
  }
  section.html += figures_html(figures);
  return section;
}

}  // namespace espalier::report
