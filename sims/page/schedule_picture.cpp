#include "sims/page/schedule_picture.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "alg/schedule/schedule_text.h"
#include "alg/time/schedule_time.h"
#include "sims/page/page_files.h"
#include "sims/page/rebuild.h"
#include "sims/page/text.h"
#include "sims/page/topology_layout.h"

namespace espalier::report {

namespace {

constexpr std::size_t kMostSlotLinks = 64;
// A picture shows the beginning of schedules with more messages on links.
constexpr std::size_t kMostSlotBars = 1000;
constexpr std::size_t kColours = 9;      // classes c0 to c8 of the style sheet
constexpr std::size_t kHeatLevels = 10;  // h0 to h9

// Wide enough that nodes have room for their numbers.
double tree_width(const Topology& topology) { return topology.num_vertices() > 40 ? 920 : 460; }

std::string svg_file(double width, double height, const std::string& title,
                     const std::string& body) {
  return fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {0} {1:.2f}\" role=\"img\" "
      "aria-label=\"{2}\">\n<style>{3}svg {{ background: var(--page); font-family: sans-serif; }}"
      "</style>\n<title>{2}</title>\n{4}</svg>\n",
      width, height, escape(title), picture_style(), body);
}

std::string path_tag(const std::string& classes, const std::string& data,
                     const std::string& tip = {}) {
  return fmt::format("<path class=\"{}\" d=\"{}\"><title>{}</title></path>\n", classes, data,
                     escape(tip));
}

std::string text_tag(const std::string& classes, double x, double y, const std::string& words) {
  return fmt::format("<text class=\"{}\" x=\"{:.2f}\" y=\"{:.2f}\">{}</text>\n", classes, x, y,
                     escape(words));
}

std::string number_word(const NumberedTree& tree, double number) {
  return tree.planned ? fmt::format("planned, us: {}", number_text(number))
                      : fmt::format("timestep {}", number);
}

std::string node_tag(const Topology& topology, const TopologyLayout& layout, NodeId node,
                     const NumberedTree& tree, const std::vector<double>& numbers, bool is_part,
                     double last) {
  const Place at = layout.place(node);
  const std::string& name = topology.vertex_name(node);
  const auto disc = [&](const std::string& classes, double radius, const std::string& tip) {
    return fmt::format(
        "<circle class=\"{}\" cx=\"{:.2f}\" cy=\"{:.2f}\" "
        "r=\"{:.2f}\"><title>{}</title></circle>\n",
        classes, at.x, at.y, radius, escape(tip));
  };
  if (topology.is_switch(node)) {
    return path_tag("vertex switch", place_text("M", at.x - 6, at.y - 6) + "h12v12h-12z", name);
  }
  const double radius = layout.tree_radius();
  if (numbers.empty()) {
    return is_part ? disc("root", radius, name + ", root") : disc("vertex", radius * 0.6, name);
  }
  const double part = (numbers.front() - (tree.planned ? 0 : 0.5)) / std::max(last, 1e-6);
  const auto level = std::min(static_cast<std::size_t>(part * kHeatLevels), kHeatLevels - 1);
  std::string all;
  for (const double number : numbers) add_word(all, number_word(tree, number));
  std::string tag = disc(fmt::format("step h{}", level), radius, name + ": " + all);
  if (radius < 8) return tag;
  return tag +
         text_tag(
             level >= kHeatLevels / 2 ? "number on-much middle" : "number on-little middle", at.x,
             at.y + 4,
             fmt::format("{:.{}f}{}", numbers.front(), tree.planned && numbers.front() < 10 ? 1 : 0,
                         numbers.size() == 1 ? "" : "\u2026"));
}

// A tree with its title above. Colours say which part of `last`, the time of all trees, is over.
std::string one_tree(const Topology& topology, const Schedule& schedule,
                     const TopologyLayout& layout, const NumberedTree& tree, double last) {
  std::string body = text_tag(
      "label", 8, -6,
      fmt::format("{} of flow {}{}, {} {} to {}", tree.reduces ? "Reduce" : "Gather",
                  tree.flow.value(),
                  tree.flows == 1 ? "" : fmt::format(" and {} more", tree.flows - 1),
                  tree.planned ? "planned, us:" : "timesteps",
                  number_text(tree.edges.front().number), number_text(tree.edges.back().number)));
  body += path_tag("wire", layout.all_links());
  std::map<NodeId, std::vector<double>> numbers;
  std::set<NodeId> part;
  for (const TreeEdge& edge : tree.edges) {
    body += path_tag("edge", layout.route(schedule.routes, edge.route),
                     fmt::format("{}: {}", route_names(topology, schedule.routes, edge.route),
                                 number_word(tree, edge.number)));
    numbers[tree.reduces ? edge.from : edge.to].push_back(edge.number);
    part.insert({edge.from, edge.to});
  }
  for (std::size_t v = 0; v < topology.num_vertices(); ++v) {
    const NodeId vertex(v);
    body +=
        node_tag(topology, layout, vertex, tree, numbers[vertex], part.count(vertex) != 0, last);
  }
  for (const MapLabel& label : map_labels(topology, layout, layout.tree_radius())) {
    body += text_tag("note", label.left, label.line, label.words);
  }
  return body;
}

}  // namespace

std::string tree_picture(const Topology& topology, const Schedule& schedule,
                         const MessageTiming& timing) {
  constexpr std::size_t kMostTrees = 12;
  constexpr std::size_t kMostColumns = 3;
  constexpr double kTitle = 22;
  std::vector<NumberedTree> trees = numbered_trees(topology, schedule, timing);
  const std::size_t all = trees.size();
  trees.resize(std::min(all, kMostTrees));
  double last = 0;
  for (const NumberedTree& tree : trees) last = std::max(last, tree.edges.back().number);
  const TopologyLayout layout(topology, tree_width(topology));
  const double height = layout.height() + kTitle;
  const std::size_t columns = std::min(trees.size(), kMostColumns);
  std::string body;
  for (std::size_t t = 0; t < trees.size(); ++t) {
    body += fmt::format("<g transform=\"translate({:.2f} {:.2f})\">\n",
                        static_cast<double>(t % columns) * layout.width(),
                        static_cast<double>(t / columns) * height + kTitle);
    body += one_tree(topology, schedule, layout, trees[t], last) + "</g>\n";
  }
  const auto rows = static_cast<double>((trees.size() + columns - 1) / columns);
  return svg_file(static_cast<double>(columns) * layout.width(), rows * height,
                  trees.size() == all
                      ? fmt::format("The {} trees in the order of their beginnings", all)
                      : fmt::format("The first {} of {} trees to begin", trees.size(), all),
                  body);
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
  const double end_us = static_cast<double>(end_ps) * 1e-6;
  const auto x = [&](double us) { return left + us / end_us * (kWidth - kRight - left); };
  // A round step between ticks, five to ten of them.
  const double decade = std::pow(10.0, std::floor(std::log10(end_us / 5)));
  const double times = end_us / 5 / decade;
  const double tick = decade * (times < 2 ? 1 : times < 5 ? 2 : 5);
  std::string body;
  for (int t = 0; t * tick <= end_us; ++t) {
    body +=
        path_tag("grid", place_text("M", x(t * tick), kTop) + place_text("L", x(t * tick), bottom));
    body += text_tag("tick middle", x(t * tick), bottom + 16, fmt::format("{:g}", t * tick));
  }
  body +=
      text_tag("label middle", (left + kWidth - kRight) / 2, bottom + 36,
               end_ps == last_ps ? std::string("planned time, us")
                                 : fmt::format("planned time, us: the first {:.0f} of {:.0f} us",
                                               end_us, static_cast<double>(last_ps) * 1e-6));
  for (std::size_t l = 0; l < topology.num_links(); ++l) {
    body += text_tag("tick end", left - 5, kTop + kRowHeight * (static_cast<double>(l) + 1) - 3,
                     link_name(topology, LinkId(l)));
  }
  // Bars of one colour are one path. Messages that reduce are pale.
  std::map<std::pair<std::size_t, TransferKind>, std::string> bars;
  for (const LinkUse& use : uses) {
    const Transfer& transfer = schedule.transfers[use.transfer.index()];
    const double from = x(static_cast<double>(use.start_ps) * 1e-6);
    const double width = x(static_cast<double>(use.end_ps) * 1e-6) - from;
    bars[{trees.at(transfer.flow) % kColours, transfer.kind}] +=
        place_text("M", from, kTop + kRowHeight * static_cast<double>(use.link.index()) + 1) +
        fmt::format("h{0:.2f}v{1}h-{0:.2f}z", width, kRowHeight - 2);
  }
  for (const auto& [look, path] : bars) {
    body += path_tag(fmt::format("segment c{}{}", look.first,
                                 look.second == TransferKind::reduce ? " pale" : ""),
                     path);
  }
  return svg_file(kWidth, bottom + 44, "Links in use by planned time", body);
}

}  // namespace espalier::report
