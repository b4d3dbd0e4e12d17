// The parts of a network that are broken: system.topology.without.
#include <fmt/format.h>

#include "hw/topology/vertex_names.h"
#include "sims/model/build_topology.h"
#include "sims/model/faults.h"
#include "sims/text/nearest_name.h"

namespace espalier {

namespace {

class BrokenParts {
 public:
  BrokenParts(const Topology& topology, const Place& place, Diagnostics& diagnostics)
      : topology_(topology),
        place_(place),
        diagnostics_(diagnostics),
        vertices_(topology.num_vertices(), false),
        links_(topology.num_links(), false) {}

  void take(const std::string& part) {
    const std::size_t space = part.find(' ');
    const std::string kind = part.substr(0, space);
    const std::string rest = space == std::string::npos ? "" : part.substr(space + 1);
    if ((kind == "node" || kind == "switch") && !rest.empty()) return take_vertex(part, kind, rest);
    if (kind == "link" && !rest.empty()) return take_link(part, rest);
    fail(fmt::format("'{}' is not a part of a network", part),
         "node N, switch S, link A-B (both ways) or link A->B");
  }

  std::optional<Topology> rest(const std::string& name) const {
    if (failed_) return std::nullopt;
    Topology rest = without_parts(topology_, name, vertices_, links_);
    if (rest.num_nodes() < 2) {
      diagnostics_.error(
          place_, fmt::format("system.topology.without: {} is left, and a collective needs two",
                              rest.num_nodes() == 0 ? "no node" : "one node"));
      return std::nullopt;
    }
    const NodeId lost = rest.find_disconnected();
    if (lost.valid()) {
      diagnostics_.error(
          place_,
          fmt::format("system.topology.without: {} is cut off from {}", rest.vertex_name(lost),
                      rest.vertex_name(NodeId(0))),
          fmt::format("if it may be cut off, take '{} {}' out too",
                      rest.is_switch(lost) ? "switch" : "node", rest.vertex_name(lost)));
      return std::nullopt;
    }
    return rest;
  }

 private:
  void fail(const std::string& message, const std::string& hint = "") {
    failed_ = true;
    diagnostics_.error(place_, "system.topology.without: " + message, hint);
  }

  void take_vertex(const std::string& part, const std::string& kind, const std::string& name) {
    const NodeId vertex = find_vertex(topology_, name);
    if (!vertex.valid()) return fail_unknown(part, name);
    if (topology_.is_switch(vertex) != (kind == "switch")) {
      return fail(fmt::format("'{}': {} is a {}", part, name,
                              topology_.is_switch(vertex) ? "switch" : "node"));
    }
    vertices_[vertex.index()] = true;
  }

  // Names may contain a '-': the first place where both sides are vertices counts.
  void take_link(const std::string& part, const std::string& ends) {
    for (std::size_t at = ends.find('-'); at != std::string::npos; at = ends.find('-', at + 1)) {
      const bool one_way = at + 1 < ends.size() && ends[at + 1] == '>';
      const NodeId a = find_vertex(topology_, ends.substr(0, at));
      const NodeId b = find_vertex(topology_, ends.substr(at + (one_way ? 2 : 1)));
      if (!a.valid() || !b.valid()) continue;
      const bool found = take_links(a, b);
      const bool back = !one_way && take_links(b, a);
      if (!found && !back) {
        fail(fmt::format("'{}': no link leads from {} to {}", part, topology_.vertex_name(a),
                         topology_.vertex_name(b)));
      }
      return;
    }
    const std::size_t dash = ends.find('-');
    if (dash == std::string::npos) {
      return fail(fmt::format("'{}' names no two ends of a link", part), "link A-B or link A->B");
    }
    const std::string first = ends.substr(0, dash);
    const bool first_exists = find_vertex(topology_, first).valid();
    const bool one_way = dash + 1 < ends.size() && ends[dash + 1] == '>';
    fail_unknown(part, first_exists ? ends.substr(dash + (one_way ? 2 : 1)) : first);
  }

  // Returns whether there were any.
  bool take_links(NodeId from, NodeId to) {
    const std::vector<LinkId> taken = links_of(topology_, from, to);
    for (const LinkId link : taken) links_[link.index()] = true;
    return !taken.empty();
  }

  void fail_unknown(const std::string& part, const std::string& name) {
    const std::vector<std::string> names = vertex_names(topology_);
    const std::string nearest = nearest_name(name, names);
    fail(fmt::format("'{}': the network has no {}", part,
                     name.empty() ? "vertex without a name" : name),
         nearest.empty()
             ? fmt::format("nodes are 0 to {}, named {} to {}", topology_.num_nodes() - 1,
                           names.front(), names[topology_.num_nodes() - 1])
             : fmt::format("did you mean {}?", nearest));
  }

  const Topology& topology_;
  const Place& place_;
  Diagnostics& diagnostics_;
  std::vector<bool> vertices_;
  std::vector<bool> links_;
  bool failed_ = false;
};

}  // namespace

std::optional<Topology> without_broken(const Topology& topology,
                                       const std::vector<std::string>& parts, const Place& place,
                                       Diagnostics& diagnostics) {
  BrokenParts broken(topology, place, diagnostics);
  for (const std::string& part : parts) broken.take(part);
  return broken.rest(fmt::format("{} less {}", topology.name(), fmt::join(parts, ", ")));
}

}  // namespace espalier
