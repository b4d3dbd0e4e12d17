#include "sims/report/page/schedule_picture.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "alg/packing/schedule_time.h"
#include "alg/schedule/schedule_text.h"
#include "sims/report/page/section.h"
#include "sims/report/page/topology_layout.h"
#include "sims/report/plot/palette.h"
#include "sims/report/plot/plot.h"
#include "sims/report/plot/style.h"
#include "sims/report/plot/text.h"

namespace espalier::report {

namespace {

constexpr std::size_t kMostSlotLinks = 64;
// A picture shows the beginning of schedules with more messages on links.
constexpr std::size_t kMostSlotBars = 1000;

using Steps = std::map<NodeId, std::vector<Timestep>>;

std::string steps_text(const std::vector<Timestep>& steps) {
  return steps.size() == 1 ? fmt::format("{}", steps.front())
                           : fmt::format("{}\u2026", steps.front());
}

double radius_of(const TopologyLayout& layout) {
  return std::clamp(layout.room() * 0.52, 2.0, 15.0);
}

void draw_node(Svg& svg, const TopologyLayout& layout, NodeId node, const std::string& name,
               const std::vector<Timestep>* steps, Timestep last, bool is_part) {
  const Place at = layout.place(node);
  const double radius = radius_of(layout);
  if (steps == nullptr) {
    return svg.circle(at.x, at.y, is_part ? radius : radius * 0.6, is_part ? "root" : "vertex",
                      name + (is_part ? ", root" : ""));
  }
  const double part = (static_cast<double>(steps->front()) - 0.5) / static_cast<double>(last);
  std::string all;
  for (const Timestep step : *steps) all += fmt::format("{}{}", all.empty() ? "" : ", ", step);
  svg.circle(at.x, at.y, radius, "step " + heat_class(part),
             fmt::format("{}: timestep {}", name, all));
  if (radius >= 8)
    svg.text(
        at.x, at.y + 4, steps_text(*steps),
        heat_level(part) >= kHeatLevels / 2 ? "number on-much middle" : "number on-little middle");
}

}  // namespace

Svg draw_flow(const Topology& topology, const Schedule& schedule,
              const std::vector<TreeEdge>& edges, bool reduces, FlowId flow) {
  const TopologyLayout layout(topology, kPictureWidth);
  const std::string what = reduces ? "Reduce" : "Gather";
  Svg svg(kPictureWidth, layout.height(), fmt::format("{} of flow {}", what, flow.value()),
          reduces ? "a node's number is the timestep in which it sends towards the root"
                  : "a node's number is the timestep in which it receives");
  std::string all_links;
  for (std::size_t l = 0; l < topology.num_links(); ++l) all_links += layout.link(LinkId(l), 0);
  svg.path(all_links, "wire");
  Steps steps;
  std::set<NodeId> part;
  Timestep last = 1;
  for (const TreeEdge& edge : edges) {
    std::string path;
    for (std::size_t hop = 0; hop < schedule.routes.hops(edge.route); ++hop)
      path += layout.link(schedule.routes.link(edge.route, hop), 0);
    svg.path(path, "edge",
             fmt::format("{} to {}: timestep {}", topology.vertex_name(edge.from),
                         topology.vertex_name(edge.to), edge.step));
    steps[reduces ? edge.from : edge.to].push_back(edge.step);
    part.insert({edge.from, edge.to});
    last = std::max(last, edge.step);
  }
  for (std::size_t v = 0; v < topology.num_vertices(); ++v) {
    const NodeId vertex(v);
    const auto found = steps.find(vertex);
    if (topology.is_switch(vertex)) {
      const Place at = layout.place(vertex);
      svg.rect(at.x - 6, at.y - 6, 12, 12, "vertex switch", topology.vertex_name(vertex));
    } else {
      draw_node(svg, layout, vertex, topology.vertex_name(vertex),
                found == steps.end() ? nullptr : &found->second, last, part.count(vertex) != 0);
    }
  }
  for (const MapLabel& label : map_labels(topology, layout, radius_of(layout)))
    svg.text(label.left, label.line, label.words, "note");
  return svg;
}

namespace {

// A picture that needs no page.
std::string file_of(const Svg& svg) {
  const std::string body = svg.str();
  const std::size_t head = body.find('>') + 1;
  return "<svg xmlns=\"http://www.w3.org/2000/svg\"" + body.substr(4, head - 4) + "\n<style>" +
         style_sheet() + "svg { background: var(--page); font-family: sans-serif; }</style>" +
         body.substr(head);
}

// By flow, a number for the links that it takes. Flows of one tree have one number.
std::map<FlowId, std::size_t> trees_of(const Schedule& schedule) {
  std::map<FlowId, std::set<std::pair<TransferKind, LinkId>>> links;
  for (const Transfer& transfer : schedule.transfers) {
    for (std::size_t hop = 0; hop < schedule.routes.hops(transfer.route); ++hop) {
      links[transfer.flow].insert({transfer.kind, schedule.routes.link(transfer.route, hop)});
    }
  }
  std::map<std::set<std::pair<TransferKind, LinkId>>, std::size_t> numbers;
  std::map<FlowId, std::size_t> trees;
  for (const auto& [flow, taken] : links) {
    trees[flow] = numbers.emplace(taken, numbers.size()).first->second;
  }
  return trees;
}

}  // namespace

std::string tree_picture(const Topology& topology, const Schedule& schedule,
                         const MessageTiming& timing) {
  FlowTree tree = first_flow(schedule);
  const bool reduces = tree.copies.empty();
  std::vector<TreeEdge>& edges = reduces ? tree.reduces : tree.copies;
  if (schedule.listed_order) {
    // The order in which the last link of each message is done with it.
    std::map<std::pair<NodeId, NodeId>, std::uint64_t> done;
    for (const LinkUse& use : planned_link_uses(topology, schedule, timing)) {
      const Transfer& transfer = schedule.transfers[use.transfer.index()];
      const bool is_copy = transfer.kind == TransferKind::copy;
      if (transfer.flow != tree.flow || is_copy == reduces) continue;
      done[{transfer.from, transfer.to}] = use.end_ps;
    }
    std::stable_sort(edges.begin(), edges.end(), [&](const TreeEdge& a, const TreeEdge& b) {
      return done[{a.from, a.to}] < done[{b.from, b.to}];
    });
    Timestep place = 0;
    for (TreeEdge& edge : edges) edge.step = ++place;
  }
  return file_of(draw_flow(topology, schedule, edges, reduces, tree.flow));
}

std::string too_much_for_slots(const Topology& topology) {
  if (topology.num_links() <= kMostSlotLinks) return {};
  return fmt::format("the network has {} links, and the picture has room for {}",
                     topology.num_links(), kMostSlotLinks);
}

std::string slots_picture(const Topology& topology, const Schedule& schedule,
                          const MessageTiming& timing) {
  std::vector<LinkUse> uses = planned_link_uses(topology, schedule, timing);
  const std::map<FlowId, std::size_t> trees = trees_of(schedule);
  std::uint64_t last_ps = 1;
  for (const LinkUse& use : uses) last_ps = std::max(last_ps, use.end_ps);
  std::uint64_t end_ps = last_ps;
  if (uses.size() > kMostSlotBars) {
    std::sort(uses.begin(), uses.end(), [](const LinkUse& a, const LinkUse& b) {
      return std::tie(a.start_ps, a.link) < std::tie(b.start_ps, b.link);
    });
    end_ps = uses[kMostSlotBars].start_ps;
    uses.erase(std::remove_if(uses.begin(), uses.end(),
                              [&](const LinkUse& use) { return use.end_ps > end_ps; }),
               uses.end());
  }
  std::size_t longest = 5;
  for (std::size_t l = 0; l < topology.num_links(); ++l) {
    longest = std::max(longest, link_name(topology, LinkId(l)).size());
  }
  constexpr double kRowHeight = 13;
  constexpr double kTop = 8;
  constexpr double kRight = 14;
  constexpr double kWidth = 900;
  const double left = 12 + 7 * static_cast<double>(longest);
  const double bottom = kTop + kRowHeight * static_cast<double>(topology.num_links());
  Svg svg(kWidth, bottom + 44, "Links in use by planned time",
          "one row for each link, one bar for each message, one colour for each tree");
  const double end_us = static_cast<double>(end_ps) * 1e-6;
  const Scale x(ScaleKind::linear, 0, end_us, left, kWidth - kRight);
  for (const double tick : round_range(ScaleKind::linear, 0, end_us, 8).ticks) {
    if (tick > end_us) continue;
    svg.line(x(tick), kTop, x(tick), bottom, "grid");
    svg.text(x(tick), bottom + 16, fmt::format("{:g}", tick), "tick middle");
  }
  svg.text((left + kWidth - kRight) / 2, bottom + 36,
           end_ps == last_ps ? std::string("planned time, us")
                             : fmt::format("planned time, us: the first {:.0f} of {:.0f} us",
                                           static_cast<double>(end_ps) * 1e-6,
                                           static_cast<double>(last_ps) * 1e-6),
           "label middle");
  for (std::size_t l = 0; l < topology.num_links(); ++l) {
    svg.text(left - 5, kTop + kRowHeight * (static_cast<double>(l) + 1) - 3,
             link_name(topology, LinkId(l)), "tick end");
  }
  // Bars of one colour are one path. Messages that reduce are pale.
  std::map<std::pair<std::size_t, TransferKind>, std::string> bars;
  for (const LinkUse& use : uses) {
    const Transfer& transfer = schedule.transfers[use.transfer.index()];
    const double from = x(static_cast<double>(use.start_ps) * 1e-6);
    const std::string width = coordinate_text(x(static_cast<double>(use.end_ps) * 1e-6) - from);
    bars[{trees.at(transfer.flow) % kNumLooks, transfer.kind}] +=
        move_to(from, kTop + kRowHeight * static_cast<double>(use.link.index()) + 1) +
        fmt::format("h{}v{}h-{}z", width, coordinate_text(kRowHeight - 2), width);
  }
  for (const auto& [look, path] : bars) {
    svg.path(path, fmt::format("segment c{}{}", look.first,
                               look.second == TransferKind::reduce ? " pale" : ""));
  }
  return file_of(svg);
}

}  // namespace espalier::report
