#include "sims/formats/networks/drawn_network.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <map>
#include <set>
#include <unordered_map>
#include <unordered_set>

#include "hw/topology/vertex_names.h"
#include "sims/point/limits.h"
#include "sims/text/units.h"

namespace espalier {

namespace {

std::string of_links(std::uint64_t links) {
  return fmt::format("{} link{}", links, links == 1 ? "" : "s");
}

// One word without two underscores in a row, which only names of ports have.
std::string word_of(const std::string& text) {
  std::string word;
  for (const char c : text) {
    const bool fits = std::isalnum(static_cast<unsigned char>(c)) != 0;
    if (fits || (!word.empty() && word.back() != '_')) word += fits ? c : '_';
  }
  while (!word.empty() && word.back() == '_') word.pop_back();
  const bool is_word = !word.empty() && std::isalpha(static_cast<unsigned char>(word[0])) != 0;
  return is_word ? word : "n_" + word;
}

class Drawing {
 public:
  Drawing(DrawnNetwork drawn, const TopologyFileContext& context, Diagnostics& diagnostics)
      : drawn_(std::move(drawn)), context_(context), diagnostics_(diagnostics) {}

  std::optional<Topology> make(const std::string& file_name) {
    const std::size_t errors_before = diagnostics_.num_errors();
    kept_.assign(drawn_.vertices.size(), true);
    for (const DrawnLink& link : drawn_.links) {
      if (link.a != link.b) continue;
      diagnostics_.error(link.place,
                         fmt::format("a link joins '{}' to itself", drawn_.vertices[link.a].name));
    }
    if (diagnostics_.num_errors() != errors_before) return std::nullopt;
    leave_out_host_links();
    join_cables();
    leave_out_dead_ends();
    check();
    if (diagnostics_.num_errors() != errors_before) return std::nullopt;
    Topology topology = built(drawn_.name.empty() ? file_name : drawn_.name);
    if (const NodeId lost = topology.find_disconnected(); lost.valid()) {
      diagnostics_.error(
          {drawn_.source, 1, 1},
          fmt::format("the network is not connected: there is no path from '{}' to '{}' and back",
                      topology.vertex_name(NodeId(0)), topology.vertex_name(lost)));
      return std::nullopt;
    }
    say(topology);
    return topology;
  }

 private:
  // The group of each vertex; links that `counts` refuses join nothing.
  template <class Counts>
  [[nodiscard]] std::vector<std::size_t> groups(const Counts& counts) const {
    std::vector<std::size_t> group(drawn_.vertices.size());
    for (std::size_t v = 0; v < group.size(); ++v) group[v] = v;
    const auto root = [&](std::size_t v) {
      while (group[v] != v) v = group[v] = group[group[v]];
      return v;
    };
    for (const DrawnLink& link : drawn_.links) {
      if (counts(link)) group[root(link.a)] = root(link.b);
    }
    for (std::size_t v = 0; v < group.size(); ++v) group[v] = root(v);
    return group;
  }

  void leave_out_host_links() {
    using Kind = DrawnLink::Kind;
    for (const auto& [least, what] :
         {std::pair{Kind::pcie, "PCIe and links of CPUs"}, std::pair{Kind::cpu, "links of CPUs"}}) {
      const auto is_out = [&least = least](const DrawnLink& link) { return link.kind >= least; };
      const auto first = std::find_if(drawn_.links.begin(), drawn_.links.end(), is_out);
      const auto group = groups([&](const DrawnLink& link) { return !is_out(link); });
      std::set<std::size_t> parts;
      for (std::size_t v = 0; v < group.size(); ++v) {
        if (drawn_.vertices[v].is_node) parts.insert(group[v]);
      }
      if (first == drawn_.links.end() || parts.size() != 1) continue;
      drawn_.links.erase(std::remove_if(first, drawn_.links.end(), is_out), drawn_.links.end());
      drawn_.notes.push_back(
          fmt::format("{} are left out, because the other links join all accelerators", what));
    }
  }

  // A port between two links is no router: the cable goes on.
  void join_cables() {
    std::vector<std::vector<std::size_t>> links(drawn_.vertices.size());
    for (std::size_t l = 0; l < drawn_.links.size(); ++l) {
      links[drawn_.links[l].a].push_back(l);
      links[drawn_.links[l].b].push_back(l);
    }
    std::vector<bool> gone(drawn_.links.size(), false);
    for (std::size_t v = 0; v < drawn_.vertices.size(); ++v) {
      if (!drawn_.vertices[v].is_joint || links[v].size() != 2 || links[v][0] == links[v][1]) {
        continue;
      }
      DrawnLink& first = drawn_.links[links[v][0]];
      const DrawnLink& second = drawn_.links[links[v][1]];
      if (first.count != second.count || first.one_way || second.one_way) continue;
      const std::size_t near = first.a == v ? first.b : first.a;
      const std::size_t far = second.a == v ? second.b : second.a;
      if (near == far) continue;
      if (first.bytes_per_second == 0 ||
          (second.bytes_per_second != 0 && second.bytes_per_second < first.bytes_per_second)) {
        first.bytes_per_second = second.bytes_per_second;
      }
      first.latency_ps += second.latency_ps;
      first.a = near;
      first.b = far;
      gone[links[v][1]] = true;
      std::replace(links[far].begin(), links[far].end(), links[v][1], links[v][0]);
      kept_[v] = false;
    }
    remove_links([&](std::size_t l) { return gone[l]; });
  }

  template <class Gone>
  void remove_links(const Gone& gone) {
    std::size_t kept = 0;
    for (std::size_t l = 0; l < drawn_.links.size(); ++l) {
      if (!gone(l)) drawn_.links[kept++] = drawn_.links[l];
    }
    drawn_.links.resize(kept);
  }

  // Switches with one neighbour, again and again, and parts without accelerators.
  void leave_out_dead_ends() {
    const auto group = groups([](const DrawnLink&) { return true; });
    std::set<std::size_t> with_nodes;
    std::vector<std::multiset<std::size_t>> near(drawn_.vertices.size());
    for (std::size_t v = 0; v < near.size(); ++v) {
      if (drawn_.vertices[v].is_node) with_nodes.insert(group[v]);
    }
    for (const DrawnLink& link : drawn_.links) {
      near[link.a].insert(link.b);
      near[link.b].insert(link.a);
    }
    const auto is_dead = [&](std::size_t v) {
      if (!kept_[v] || drawn_.vertices[v].is_node) return false;
      return with_nodes.count(group[v]) == 0 || near[v].empty() ||
             near[v].count(*near[v].begin()) == near[v].size();
    };
    std::vector<std::size_t> dead;
    for (std::size_t v = 0; v < near.size(); ++v) {
      if (is_dead(v)) dead.push_back(v);
    }
    std::map<std::string, std::size_t> left_out;
    while (!dead.empty()) {
      const std::size_t v = dead.back();
      dead.pop_back();
      if (!is_dead(v)) continue;
      kept_[v] = false;
      if (!drawn_.vertices[v].is_joint) ++left_out[drawn_.vertices[v].kind];
      for (const std::size_t other : near[v]) {
        near[other].erase(v);
        if (is_dead(other)) dead.push_back(other);
      }
      near[v].clear();
    }
    remove_links(
        [&](std::size_t l) { return !kept_[drawn_.links[l].a] || !kept_[drawn_.links[l].b]; });
    if (left_out.empty()) return;
    std::vector<std::string> kinds;
    for (const auto& [kind, count] : left_out) kinds.push_back(fmt::format("{} {}", count, kind));
    drawn_.notes.push_back(
        fmt::format("left out, because no path between accelerators needs them: "
                    "{}",
                    fmt::join(kinds, ", ")));
  }

  void check() {
    const auto nodes = static_cast<std::size_t>(
        std::count_if(drawn_.vertices.begin(), drawn_.vertices.end(),
                      [](const DrawnVertex& vertex) { return vertex.is_node; }));
    const Place file{drawn_.source, 1, 1};
    if (nodes < 2 || nodes > kMostNodes) {
      diagnostics_.error(file, fmt::format("the file has {} accelerator{}; a network has 2 to {}",
                                           nodes, nodes == 1 ? "" : "s", kMostNodes));
    }
    std::uint64_t links = 0;
    std::uint64_t fastest = context_.default_link.bytes_per_second;
    for (DrawnLink& link : drawn_.links) {
      links += std::uint64_t{link.one_way ? 1U : 2U} * link.count;
      if (!link.assumed.empty()) assumed_[link.assumed] += link.count;
      no_rate_ += link.bytes_per_second == 0 ? link.count : 0;
      no_latency_ += link.latency_ps == 0 ? link.count : 0;
      if (link.bytes_per_second == 0)
        link.bytes_per_second = context_.default_link.bytes_per_second;
      if (link.latency_ps == 0) link.latency_ps = context_.default_link.latency_ps;
      fastest = std::max(fastest, link.bytes_per_second);
      if (link.bytes_per_second < kSlowestLink || link.bytes_per_second > kFastestLink) {
        diagnostics_.error(link.place,
                           fmt::format("a link of {} is outside of {} to {}",
                                       format_quantity(Quantity::rate, link.bytes_per_second),
                                       format_quantity(Quantity::rate, kSlowestLink),
                                       format_quantity(Quantity::rate, kFastestLink)));
      }
      if (link.latency_ps > kLongestLinkLatency) {
        diagnostics_.error(link.place,
                           fmt::format("a latency of {} exceeds the longest latency, {}",
                                       format_quantity(Quantity::time, link.latency_ps),
                                       format_quantity(Quantity::time, kLongestLinkLatency)));
      }
    }
    if (links > kMostLinks) {
      diagnostics_.error(file,
                         fmt::format("the file has {} links; the limit is {}", links, kMostLinks));
    }
    if (!context_.clock) return;
    const LinkRateRule rule{*context_.clock, context_.flow_control, fastest};
    for (const DrawnLink& link : drawn_.links) {
      check_link_rate(link.bytes_per_second, rule, link.place, diagnostics_);
      check_whole_cycles("a latency", link.latency_ps, *context_.clock, link.place, diagnostics_);
    }
  }

  // SystemC has one name for each module.
  [[nodiscard]] std::string unique_name(const DrawnVertex& vertex) {
    const std::string word = word_of(vertex.name);
    const auto is_free = [&](const std::string& name) {
      return taken_.count(name) == 0 && (!vertex.is_node || taken_.count(ni_name(name)) == 0);
    };
    std::string name = word;
    while (!is_free(name)) name = fmt::format("{}_{}", word, ++again_[word]);
    taken_.insert(name);
    if (vertex.is_node) taken_.insert(ni_name(name));
    return name;
  }

  [[nodiscard]] Topology built(const std::string& name) {
    Topology topology(name);
    std::vector<NodeId> ids(drawn_.vertices.size());
    for (const bool nodes : {true, false}) {
      for (std::size_t v = 0; v < ids.size(); ++v) {
        const DrawnVertex& vertex = drawn_.vertices[v];
        if (!kept_[v] || vertex.is_node != nodes) continue;
        const std::string own = unique_name(vertex);
        ids[v] = nodes ? topology.add_node(own) : topology.add_switch(own);
      }
    }
    std::map<std::pair<NodeId, NodeId>, std::size_t> parallel;
    const auto add = [&](NodeId from, NodeId to, const LinkSpec& spec) {
      const std::size_t index = parallel[{from, to}]++;
      const std::string suffix = index == 0 ? "" : fmt::format("__{}", index);
      topology.add_link(from, to, spec, "to_" + topology.vertex_name(to) + suffix,
                        "from_" + topology.vertex_name(from) + suffix);
    };
    for (const DrawnLink& link : drawn_.links) {
      const LinkSpec spec{link.latency_ps, link.bytes_per_second, 0};
      for (std::uint32_t i = 0; i < link.count; ++i) {
        add(ids[link.a], ids[link.b], spec);
        if (!link.one_way) add(ids[link.b], ids[link.a], spec);
      }
    }
    return topology;
  }

  void say(const Topology& topology) {
    std::vector<std::string> said;
    for (const auto& [what, links] : assumed_) {
      said.push_back(fmt::format("{} for each of {}", what, of_links(links)));
    }
    const LinkSpec& link = context_.default_link;
    if (no_rate_ != 0) {
      said.push_back(fmt::format("system.link.bandwidth, {}, for each of {}",
                                 format_quantity(Quantity::rate, link.bytes_per_second),
                                 of_links(no_rate_)));
    }
    if (no_latency_ != 0) {
      said.push_back(fmt::format("system.link.latency, {}, for each of {}",
                                 format_quantity(Quantity::time, link.latency_ps),
                                 of_links(no_latency_)));
    }
    const std::string sizes =
        fmt::format("{} accelerators, {} switches, {} (one way each)", topology.num_nodes(),
                    topology.num_switches(), of_links(topology.num_links()));
    if (said.empty() && drawn_.notes.empty()) return;
    std::string text = "the network has " + sizes;
    if (!said.empty()) {
      text += fmt::format("; not in the file, so assumed: {}", fmt::join(said, "; "));
    }
    for (const std::string& note : drawn_.notes) text += "; " + note;
    diagnostics_.warning({drawn_.source, 0, 0}, text);
  }

  DrawnNetwork drawn_;
  const TopologyFileContext& context_;
  Diagnostics& diagnostics_;
  std::vector<bool> kept_;                        // by vertex
  std::map<std::string, std::uint64_t> assumed_;  // links
  std::uint64_t no_rate_ = 0;
  std::uint64_t no_latency_ = 0;
  std::unordered_set<std::string> taken_;
  std::unordered_map<std::string, std::uint64_t> again_;  // by word: the last number behind it
};

}  // namespace

std::optional<Topology> make_drawn(DrawnNetwork drawn, const std::string& file_name,
                                   const TopologyFileContext& context, Diagnostics& diagnostics) {
  return Drawing(std::move(drawn), context, diagnostics).make(file_name);
}

}  // namespace espalier
