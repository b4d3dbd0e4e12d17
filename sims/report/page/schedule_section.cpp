#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>

#include "sims/report/page/rebuild.h"
#include "sims/report/page/schedule_picture.h"
#include "sims/report/page/section.h"
#include "sims/report/plot/plot.h"
#include "sims/report/plot/text.h"

namespace espalier::report {

namespace {

constexpr std::size_t kMostSchedules = 6;
constexpr std::size_t kMostNodes = 64;
constexpr std::size_t kMostSteps = 512;

bool is_collective(const ReportPoint& point) {
  const bool is_other = point.result.contains("network") || point.result.contains("workload") ||
                        point.result.contains("traffic") || point.result.contains("chunks");
  return !is_other && point.state != ReportPoint::State::missing &&
         !text_of(point, "algorithm").empty() && number_of(point, "timesteps").value_or(0) > 0;
}

std::string draw_tree(const Topology& topology, const Schedule& schedule,
                      const std::vector<TreeEdge>& edges, bool reduces, FlowId flow) {
  return figure_html(
      fmt::format("{} of flow {}", reduces ? "Reduce" : "Gather", flow.value()),
      draw_flow(topology, schedule, edges, reduces, flow),
      reduces ? "Numbers are timesteps in which a node sends to its parent; the full disc is the "
                "root."
              : "Numbers are timesteps in which the flow reaches a node; the full disc is the "
                "root.");
}

// All cells of a level are one path, because most rows are long runs of equal cells.
void draw_cells(Svg& svg, const Occupancy& occupied, double left, double top, double cell_width,
                double cell_height) {
  const std::size_t steps = occupied.of_vertex.size();
  const std::size_t rows = occupied.of_vertex.front().size();
  std::array<std::string, kHeatLevels> paths;
  for (std::size_t v = 0; v < rows; ++v) {
    for (std::size_t begin = 0; begin < steps;) {
      const double part = occupied.of_vertex[begin][v];
      std::size_t end = begin + 1;
      while (end < steps && occupied.of_vertex[end][v] == part) ++end;
      if (part > 0) {
        const double width = cell_width * static_cast<double>(end - begin);
        paths[heat_level(part)] +=
            move_to(left + cell_width * static_cast<double>(begin),
                    top + cell_height * static_cast<double>(v)) +
            fmt::format("h{}v{}h-{}z", coordinate_text(width), coordinate_text(cell_height),
                        coordinate_text(width));
      }
      begin = end;
    }
  }
  for (std::size_t level = 0; level < kHeatLevels; ++level) {
    if (!paths[level].empty()) svg.path(paths[level], fmt::format("cell h{}", level));
  }
}

void draw_row_names(Svg& svg, const Topology& topology, double right, double top,
                    double cell_height) {
  const auto every = static_cast<std::size_t>(std::max(1.0, std::ceil(14 / cell_height)));
  for (std::size_t v = 0; v < topology.num_vertices(); v += every) {
    svg.text(right - 5, top + cell_height * (static_cast<double>(v) + 0.5) + 4,
             topology.vertex_name(NodeId(v)), "tick end");
  }
}

std::string draw_occupancy(const Topology& topology, const Schedule& schedule) {
  const Occupancy occupied = occupancy(topology, schedule);
  const auto steps = static_cast<double>(occupied.of_all.size());
  const auto rows = static_cast<double>(topology.num_vertices());
  const double cell_height = std::clamp(260 / rows, 3.0, 18.0);
  std::size_t longest = 3;
  for (std::size_t v = 0; v < topology.num_vertices(); ++v)
    longest = std::max(longest, topology.vertex_name(NodeId(v)).size());
  const double left = 34 + 7.4 * static_cast<double>(std::max<std::size_t>(longest, 5));
  constexpr double kRight = 14;
  constexpr double kBars = 70;
  const double top = 14 + kBars + 12;
  const double bottom = top + rows * cell_height;
  Svg svg(kPictureWidth, bottom + 46 + kHeatKeyHeight, "Links in use by timestep",
          "bars: share of all links that carry data in a timestep; cells: share of the links that "
          "leave a node or switch");
  const Scale x(ScaleKind::linear, 0, steps, left, kPictureWidth - kRight);
  const Scale share(ScaleKind::linear, 0, 1, 14 + kBars, 14);
  for (const double part : {0.0, 0.5, 1.0}) {
    svg.line(left, share(part), kPictureWidth - kRight, share(part), "grid");
    svg.text(left - 5, share(part) + 4, fmt::format("{:.0f} %", 100 * part), "tick end");
  }
  const double gap = x(1) - x(0) < 5 ? 0.0 : 1.0;
  for (std::size_t s = 0; s < occupied.of_all.size(); ++s) {
    const double part = occupied.of_all[s];
    const auto step = static_cast<double>(s);
    svg.rect(x(step) + gap / 2, share(part), x(step + 1) - x(step) - gap, share(0) - share(part),
             "bar", fmt::format("timestep {}: {} of all links", s + 1, percent_text(part)));
  }
  svg.rect(left, top, kPictureWidth - kRight - left, bottom - top, "strip");
  draw_cells(svg, occupied, left, top, x(1) - x(0), cell_height);
  draw_row_names(svg, topology, left, top, cell_height);
  for (const double step : round_range(ScaleKind::linear, 1, std::max(2.0, steps), 6).ticks) {
    if (step < 1 || step > steps || step != std::floor(step)) continue;
    svg.text(x(step - 0.5), bottom + 16, fmt::format("{:.0f}", step), "tick middle");
  }
  svg.text((left + kPictureWidth - kRight) / 2, bottom + 36, "timestep", "label middle");
  svg.vertical_text(15, (top + bottom) / 2, "sender", "label");
  svg.vertical_text(15, 14 + kBars / 2, "all links", "label");
  draw_heat_key(svg, left - 30, bottom + 52, "of a sender\u2019s links");
  return figure_html("Links in use by timestep", svg);
}

std::string draw_schedule(const ReportView& view, std::size_t index, const RebuiltSystem& system,
                          const Schedule& schedule) {
  const Topology& topology = *system.topology;
  const FlowTree tree = first_flow(schedule);
  std::vector<std::string> figures;
  if (!tree.reduces.empty())
    figures.push_back(draw_tree(topology, schedule, tree.reduces, true, tree.flow));
  if (!tree.copies.empty())
    figures.push_back(draw_tree(topology, schedule, tree.copies, false, tree.flow));
  std::string html = fmt::format("<h3 class=\"run\">{} {}: {}, {}</h3>\n", "Run",
                                 link_to_run(index), escape(title_of_run(view, index, false)),
                                 escape(text_of(view.point(index), "op")));
  if (schedule.num_steps <= kMostSteps) {
    figures.push_back(draw_occupancy(topology, schedule));
  } else {
    html += paragraph_html(fmt::format("The schedule has {} timesteps, which are too many to draw.",
                                       schedule.num_steps));
  }
  return html + figures_html(figures);
}

std::optional<std::string> show_schedule(const ReportView& view, std::size_t index,
                                         std::string& why) {
  const ReportPoint& point = view.point(index);
  if (!point.schedule_file.empty()) {
    why = "its schedule came from " + point.schedule_file;
    return std::nullopt;
  }
  const auto system = rebuild_system(view.data(), point, why);
  if (!system) return std::nullopt;
  if (!system->point.collective || system->topology->dimensions()) {
    why = "its configuration has no schedule of timesteps";
    return std::nullopt;
  }
  if (system->topology->num_nodes() > kMostNodes) {
    why = fmt::format("it has more than {} nodes", kMostNodes);
    return std::nullopt;
  }
  const auto schedule = rebuild_schedule(*system, why);
  if (!schedule || schedule->transfers.empty()) return std::nullopt;
  return draw_schedule(view, index, *system, *schedule);
}

}  // namespace

Section schedule_section(const ReportView& view) {
  Section section{"schedule", "Trees and timesteps", {}, {}};
  const std::vector<std::size_t> runs = view.points_where([](const ReportPoint& point) {
    return is_collective(point) &&
           number_of(point, "nodes").value_or(0) <= static_cast<double>(kMostNodes);
  });
  if (runs.empty()) {
    section.why_not =
        fmt::format("no run is a collective with timesteps on {} nodes or fewer", kMostNodes);
    return section;
  }
  const Shown shown = chosen_by(view, runs, kMostSchedules, [&](std::size_t i) {
    const ReportPoint& point = view.point(i);
    return text_of(point, "topology") + "\n" + text_of(point, "algorithm") + "\n" +
           text_of(point, "op");
  });
  section.html = paragraph_html(
      "Schedules that the run\u2019s configuration generates. Each picture shows the first flow; "
      "every tree or chain is a flow." +
      what_is_left_out(shown, runs.size()));
  for (const std::size_t i : shown.runs) {
    std::string why;
    if (auto html = show_schedule(view, i, why)) {
      section.html += *html;
    } else {
      section.html += paragraph_html(fmt::format("No picture of {}: {}.", name_of_run(i), why));
    }
  }
  return section;
}

}  // namespace espalier::report
