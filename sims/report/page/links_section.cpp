#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <optional>

#include "sims/experiment/result_fields.h"
#include "sims/report/page/rebuild.h"
#include "sims/report/page/section.h"
#include "sims/report/page/topology_layout.h"
#include "sims/report/plot/plot.h"
#include "sims/report/plot/text.h"

namespace espalier::report {

namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t kMostMaps = 9;
constexpr std::size_t kMostBars = 24;
constexpr std::size_t kMostTips = 4096;  // above this number of links, a map has no tips

struct LinkUse {
  std::string from;
  std::string to;
  double utilization = 0;
};

// Returns an empty list unless the result's list has the documented form.
std::vector<LinkUse> link_uses(const ReportPoint& point) {
  std::vector<LinkUse> uses;
  for (const Json& link : point.result.at("links")) {
    const bool is_right = link.is_object() && link.contains("from") &&
                          link.at("from").is_string() && link.contains("to") &&
                          link.at("to").is_string() && link.contains("utilization") &&
                          link.at("utilization").is_number();
    if (!is_right) return {};
    uses.push_back({link.at("from").get<std::string>(), link.at("to").get<std::string>(),
                    link.at("utilization").get<double>()});
  }
  return uses;
}

bool are_links_of(const Topology& topology, const std::vector<LinkUse>& uses) {
  if (uses.size() != topology.num_links()) return false;
  for (std::size_t l = 0; l < uses.size(); ++l) {
    const TopologyLink& link = topology.links()[l];
    if (topology.vertex_name(link.from) != uses[l].from ||
        topology.vertex_name(link.to) != uses[l].to)
      return false;
  }
  return true;
}

std::string map_caption(const std::vector<LinkUse>& uses) {
  double sum = 0;
  std::size_t idle = 0;
  const LinkUse* most = &uses.front();
  for (const LinkUse& use : uses) {
    sum += use.utilization;
    if (use.utilization == 0) ++idle;
    if (use.utilization > most->utilization) most = &use;
  }
  return fmt::format("{}: mean {}, most {} ({} to {}){}", count_text(uses.size(), "link"),
                     percent_text(sum / static_cast<double>(uses.size())),
                     percent_text(most->utilization), most->from, most->to,
                     idle == 0 ? std::string() : fmt::format(", {} never used", idle));
}

std::string draw_map(const ReportView& view, std::size_t index, const Topology& topology,
                     const std::vector<LinkUse>& uses) {
  const TopologyLayout layout(topology, kPictureWidth);
  const std::string title = title_of_run(view, index, true);
  Svg svg(kPictureWidth, layout.height() + kHeatKeyHeight, "Link utilization, " + title,
          "each line is one direction of a link, on the right in its direction of travel; darker "
          "lines are busier");
  const double room = layout.room();
  const double aside = std::clamp(room * 0.13, 0.6, 3.5);
  const std::string width = coordinate_text(std::clamp(room * 0.2, 0.8, 5.0));
  // The busiest links are drawn last, so that they stay visible.
  std::vector<std::size_t> order(uses.size());
  for (std::size_t l = 0; l < order.size(); ++l) order[l] = l;
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return uses[a].utilization < uses[b].utilization;
  });
  if (uses.size() <= kMostTips) {
    for (const std::size_t l : order) {
      const LinkUse& use = uses[l];
      svg.shape("path",
                {{"class", "link " + heat_class(use.utilization)},
                 {"stroke-width", width},
                 {"d", layout.link(LinkId(l), aside)}},
                fmt::format("{} to {}: {}", use.from, use.to, percent_text(use.utilization)));
    }
  } else {
    std::array<std::string, kHeatLevels> paths;
    for (std::size_t l = 0; l < uses.size(); ++l)
      paths[heat_level(uses[l].utilization)] += layout.link(LinkId(l), aside);
    for (std::size_t level = 0; level < kHeatLevels; ++level) {
      if (paths[level].empty()) continue;
      svg.shape("path", {{"class", fmt::format("link h{}", level)},
                         {"stroke-width", width},
                         {"d", paths[level]}});
    }
  }
  const double size = std::clamp(room * 0.3, 1.0, 7.0);
  for (std::size_t v = 0; v < topology.num_vertices(); ++v) {
    const Place at = layout.place(NodeId(v));
    if (topology.is_switch(NodeId(v))) {
      svg.rect(at.x - size, at.y - size, 2 * size, 2 * size, "vertex switch",
               topology.vertex_name(NodeId(v)));
    } else {
      svg.circle(at.x, at.y, size, "vertex", topology.vertex_name(NodeId(v)));
    }
  }
  const std::vector<MapLabel> labels = map_labels(topology, layout, size);
  for (const MapLabel& label : labels) svg.text(label.left, label.line, label.words, "note");
  draw_heat_key(svg, 4, layout.height() + 12, "of the time");
  std::string caption = map_caption(uses) + ".";
  if (layout.has_ends())
    caption += " A line that ends between nodes is a wrap-around link of the torus.";
  if (labels.size() < topology.num_vertices()) {
    caption += labels.empty() ? " Point at a node or switch to see its name."
                              : " Point at a vertex without a name to see its name.";
  }
  return figure_html(title, svg, caption);
}

std::optional<std::string> map_of(const ReportView& view, std::size_t index, std::string& why) {
  const std::vector<LinkUse> uses = link_uses(view.point(index));
  if (uses.empty()) {
    why = "an entry in its list of links does not have from, to and utilization";
    return std::nullopt;
  }
  const auto system = rebuild_system(view.data(), view.point(index), why);
  if (!system) return std::nullopt;
  if (system->topology->dimensions() || !are_links_of(*system->topology, uses)) {
    why = "its links do not match its topology";
    return std::nullopt;
  }
  return draw_map(view, index, *system->topology, uses);
}

// Bars for the dimensions of multi-dimensional systems.
std::string draw_dimensions(const ReportView& view, const std::vector<std::size_t>& runs) {
  constexpr double kLinkBar = 15;
  constexpr double kHead = 20;
  std::size_t bars = 0;
  double names = 0;
  for (const std::size_t i : runs) {
    for (const auto& item : view.point(i).result.at("dimensions").items()) {
      ++bars;
      names = std::max(names, label_width(item.key()));
    }
  }
  const double height = 12 + static_cast<double>(bars) * (kLinkBar + 3) +
                        static_cast<double>(runs.size()) * (kHead + 6) + 44;
  Svg svg(kPictureWidth, height, "Utilization of the dimensions",
          "one bar for each dimension of each run: bytes sent / bytes that its links could send");
  const Axis x{"bytes sent / bytes that the links could send", ScaleKind::linear,
               round_range(ScaleKind::linear, 0, 1, 5),
               [](double v) { return fmt::format("{:.0f} %", 100 * v); }};
  const Axis y{"", ScaleKind::linear, {0, 1, {}}, number_text, names};
  const Plot plot(svg, x, y);
  double top = plot.top();
  for (const std::size_t i : runs) {
    svg.text(plot.left() + 4, top + kHead - 6, title_of_run(view, i, true), "note");
    top += kHead;
    std::size_t look = 0;
    for (const auto& [name, dimension] : view.point(i).result.at("dimensions").items()) {
      const Json none(0.0);
      const Json& value = dimension.is_object() && dimension.contains("utilization")
                              ? dimension.at("utilization")
                              : none;
      const double part = value.is_number() ? std::clamp(value.get<double>(), 0.0, 1.0) : 0;
      svg.text(plot.left() - 6, top + kLinkBar - 3, name, "tick end");
      svg.rect(plot.left(), top, plot.x(part) - plot.left(), kLinkBar,
               fmt::format("segment c{}", look % kNumLooks),
               fmt::format("{}, {}: {}", name_of_run(i), name, percent_text(part)));
      ++look;
      top += kLinkBar + 3;
    }
    top += 6;
  }
  return figure_html("Dimensions", svg);
}

}  // namespace

Section links_section(const ReportView& view) {
  Section section{"links", "Link utilization", {}, {}};
  const std::vector<std::size_t> with_links = view.points_where([](const ReportPoint& point) {
    return point.result.contains("links") && !point.result.at("links").empty();
  });
  const std::vector<std::size_t> with_dimensions = view.points_where([](const ReportPoint& point) {
    return point.result.contains("dimensions") && point.result.at("dimensions").is_object();
  });
  if (with_links.empty() && with_dimensions.empty()) {
    section.why_not =
        "no result has the utilization of links; run with -s simulation.link_utilization=true";
    return section;
  }
  std::vector<std::string> figures;
  std::string why;
  const Shown maps = chosen_by(view, with_links, kMostMaps, [&](std::size_t i) {
    return text_of(view.point(i), "topology") + text_of(view.point(i), "algorithm");
  });
  for (const std::size_t i : maps.runs) {
    if (auto figure = map_of(view, i, why)) {
      figures.push_back(std::move(*figure));
    } else {
      section.html += paragraph_html(fmt::format("No map of {}: {}.", name_of_run(i), why));
    }
  }
  const Shown bars = chosen_by(view, with_dimensions, kMostBars,
                               [&](std::size_t i) { return fmt::format("{}", i); });
  if (!bars.runs.empty()) figures.push_back(draw_dimensions(view, bars.runs));
  if (!maps.runs.empty()) {
    section.html += paragraph_html(
        "Each line is one direction of a link, on the right in its direction of travel. Circles "
        "are nodes, squares are switches." +
        what_is_left_out(maps, with_links.size()));
  }
  if (!bars.runs.empty() && bars.runs.size() < with_dimensions.size())
    section.html += paragraph_html(what_is_left_out(bars, with_dimensions.size()));
  section.html += figures_html(figures);
  return section;
}

}  // namespace espalier::report
