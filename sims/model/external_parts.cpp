#include "sims/model/external_parts.h"

#include <fmt/format.h>

#include <algorithm>

#include "hw/topology/link_timing.h"
#include "hw/topology/vertex_names.h"
#include "sims/model/faults.h"
#include "sims/point/config.h"
#include "sims/text/nearest_name.h"

namespace espalier {

namespace {

constexpr const char* kRouters = "system.topology.external.routers";
constexpr const char* kNis = "system.topology.external.nis";

class ExternalRules {
 public:
  ExternalRules(const RunPoint& point, const Topology& topology)
      : point_(point), topology_(topology), config_(point.system.topology.external) {}

  std::optional<ExternalProblem> find() {
    for (const std::string& name : config_.routers) check_name(kRouters, name, routers_);
    for (const std::string& name : config_.nis) {
      check_name(kNis, name, nis_);
      check_node(name);
    }
    check_system();
    if (!config_.nis.empty()) check_run_of_nis();
    return problem_;
  }

 private:
  void refuse(const char* key, const std::string& what, const std::string& hint) {
    if (!problem_) problem_ = ExternalProblem{key, fmt::format("{}: {}", key, what), hint};
  }
  void refuse(const std::string& what, const std::string& hint) {
    refuse(config_.routers.empty() ? kNis : kRouters, what, hint);
  }

  void check_name(const char* key, const std::string& name, std::vector<NodeId>& found) {
    const NodeId vertex = find_vertex(topology_, name);
    if (!vertex.valid()) {
      return refuse(key, fmt::format("the network has no vertex '{}'", name),
                    name_hint(name, vertex_names(topology_)));
    }
    if (std::find(found.begin(), found.end(), vertex) != found.end()) {
      return refuse(key, fmt::format("'{}' is given twice", name), "give each vertex once");
    }
    found.push_back(vertex);
  }

  void check_node(const std::string& name) {
    if (problem_) return;
    if (topology_.is_switch(nis_.back())) {
      return refuse(kNis, fmt::format("'{}' is a switch, which has no NI", name),
                    "name nodes, or use system.topology.external.routers");
    }
    if (std::find(routers_.begin(), routers_.end(), nis_.back()) == routers_.end()) return;
    refuse(kNis,
           fmt::format("router and NI of '{}' are both external, so no channel between them is "
                       "simulated here",
                       name),
           "name the vertex in one of the two lists; a module that is both can be a node's NI with "
           "a built-in router");
  }

  void check_system() {
    if (topology_.dimensions()) {
      refuse("a multi-dimensional system has no external modules",
             "use a torus, a mesh, a switched network or a graph file");
    }
    if (point_.control) {
      refuse("control messages interrupt packets, which the signals of a port cannot tell",
             "remove section control");
    }
    if (point_.tenants) {
      refuse("other tenants' units at switches are not exact with external modules",
             "remove section tenants");
    }
    if (point_.workload || point_.coordination) {
      refuse(fmt::format("section {} simulates several systems or hosts",
                         point_.workload ? "workload" : "coordination"),
             "run a collective, a program, a training or traffic");
    }
    if (point_.simulation.stall_probability > 0) {
      refuse(
          "simulation.stall_probability refuses flits on links, which an external module cannot "
          "see",
          "write simulation.stall_probability: 0");
    }
    if (!problem_) check_ticks();
  }

  void check_ticks() {
    const SystemTiming timing =
        time_links(faulty_links(topology_, point_.faults), point_.system.clock);
    if (timing.ticks_per_cycle == 1) return;
    refuse(
        "a link carries a flit every so many cycles and a fraction, but a module behind signals "
        "acts once in a cycle",
        "choose system.link.bandwidth so that flit_bytes x clock / bandwidth is a whole number");
  }

  void check_run_of_nis() {
    if (point_.traffic) {
      refuse(kNis, "section traffic posts messages at every NI",
             "run a collective, or name routers only");
    }
    if (point_.training) {
      refuse(kNis, "section training has several collectives, whose hosts post them one by one",
             "run one collective, or name routers only");
    }
    if (point_.faults.dma_jitter || !point_.faults.late_nis.empty() ||
        !point_.faults.clock_skew.empty()) {
      refuse(kNis, "faults of NIs do not reach an external one",
             "remove faults.dma_jitter, late_nis and clock_skew, or name routers only");
    }
  }

  const RunPoint& point_;
  const Topology& topology_;
  const ExternalConfig& config_;
  std::vector<NodeId> routers_;
  std::vector<NodeId> nis_;
  std::optional<ExternalProblem> problem_;
};

}  // namespace

ExternalParts external_parts(const Topology& topology, const ExternalConfig& config) {
  ExternalParts parts;
  for (const std::string& name : config.routers) {
    parts.routers.push_back(find_vertex(topology, name));
  }
  for (const std::string& name : config.nis) parts.nis.push_back(find_vertex(topology, name));
  return parts;
}

std::optional<ExternalProblem> external_problem(const RunPoint& point, const Topology& topology) {
  if (!point.system.topology.external.any()) return std::nullopt;
  return ExternalRules(point, topology).find();
}

}  // namespace espalier
