#include "sims/choose/certify_point.h"

#include <fmt/format.h>

#include "alg/certify/channel_dependencies.h"
#include "alg/generators/process_group.h"
#include "alg/program/connection_routes.h"
#include "alg/routes/routing.h"
#include "sims/model/build_program.h"
#include "sims/point/config.h"
#include "sims/system/control_traffic.h"
#include "sims/system/program_simulation.h"
#include "sims/system/tenant_traffic.h"
#include "sims/system/vc_partition.h"

namespace espalier {

namespace {

// Finds a deadlock between tenants' messages and the messages of `tables`, which share VCs.
std::string tenant_deadlock(const Topology& topology, const RunPoint& point,
                            const ScheduleTables& tables, std::uint32_t classes) {
  ChannelDependencies dependencies(topology, classes);
  add_tenants(dependencies, topology, point);
  for (std::size_t r = 0; r < tables.routes.size(); ++r) {
    dependencies.add(tables.routes, RouteId(r));
  }
  const std::string cycle = dependencies.cycle();
  return cycle.empty() ? cycle : "beside other tenants: " + cycle;
}

// Precondition: the scopes differ.
std::string scope_difference(const Scope& wanted, const Scope& found) {
  if (wanted.root != found.root) {
    return fmt::format("the root of the schedule is {}, but collective.root is {}",
                       found.root.valid() ? fmt::format("node {}", found.root.value()) : "missing",
                       wanted.root.valid() ? fmt::format("node {}", wanted.root.value()) : "none");
  }
  if (!(wanted.groups == found.groups)) {
    return "the schedule is for other nodes than collective.ranks or groups names, or other sizes";
  }
  return "the bytes that ranks send or own in the schedule are not those of collective.counts";
}

// A cycle of waiting among the packets of the messages, in words; an empty text if there is none.
std::string network_deadlock(const Topology& topology, const RunPoint& point,
                             const Program& program) {
  ChannelDependencies dependencies(topology, certified_vc_classes(topology, point));
  RouteSet routes(topology);
  for (const Connection& connection : connections_of(program)) {
    const ConnectionRoutes of = connection_routes(topology, routes, NodeId(connection.from),
                                                  NodeId(connection.to), connection.channel);
    for (std::size_t r = 0; r < of.size(); ++r) dependencies.add(routes, of.route(r));
  }
  add_tenants(dependencies, topology, point);
  return dependencies.cycle();
}

}  // namespace

std::string control_deadlock(const Topology& topology, const RunPoint& point,
                             const ScheduleTables* tables) {
  const ControlConfig& control = *point.control;
  ChannelDependencies dependencies(
      topology, partition_vcs(topology, point.system.router.vcs, &control).classes);
  for (std::size_t n = 0; n < topology.num_nodes(); ++n) {
    const NodeId from(n);
    RouteSet routes(topology);
    for (const NodeId to : control_destinations(topology, control.pattern, from)) {
      const RouteId route = routes.add(topology, route_packet(topology, from, to));
      dependencies.add(routes, route);
    }
  }
  const bool shared = control.vcs == ControlVcs::shared && tables != nullptr;
  for (std::size_t r = 0; shared && r < tables->routes.size(); ++r) {
    dependencies.add(tables->routes, RouteId(r));
  }
  const std::string cycle = dependencies.cycle();
  return cycle.empty() ? cycle : "control messages: " + cycle;
}

Certificate certify_point(const Topology& topology, const RunPoint& point,
                          const ScheduleTables& tables) {
  CertifierLimits limits;
  limits.table_entries = point.system.ni.table_entries;
  limits.element_bytes = point.collective ? point.collective->element_bytes : 0;
  limits.vc_classes = certified_vc_classes(topology, point);
  Certificate certificate = certify(topology, tables, limits);
  const std::uint32_t needed = topology.shape().vc_classes.least;
  for (Violation& violation : certificate.violations) {
    if (violation.kind != ViolationKind::deadlock || !topology.shape().classes ||
        needed <= limits.vc_classes) {
      continue;
    }
    violation.what += fmt::format(
        "\n  the routes of system.routing need {} VC classes, and {} {} "
        "kept apart",
        needed, limits.vc_classes, limits.vc_classes == 1 ? "is" : "are");
  }
  if (point.collective && point.collective->op == tables.op) {
    const std::vector<NodeId> nodes = group_nodes(*point.collective);
    const std::size_t ranks = nodes.empty() ? topology.num_nodes() : nodes.size();
    const Scope wanted =
        ProcessGroup(topology, nodes)
            .in_whole(collective_request(point.system, *point.collective).scope(ranks));
    if (!(wanted == tables.scope)) {
      certificate.violations.push_back(
          {ViolationKind::postcondition, scope_difference(wanted, tables.scope)});
    }
  }
  const auto refuse = [&](const std::string& cycle) {
    if (!cycle.empty()) certificate.violations.push_back({ViolationKind::deadlock, cycle});
  };
  if (point.control) refuse(control_deadlock(topology, point, &tables));
  if (point.tenants) refuse(tenant_deadlock(topology, point, tables, limits.vc_classes));
  return certificate;
}

ProgramCertificate certify_program_point(const Topology& topology, const RunPoint& point,
                                         const Program& program, bool form_only) {
  const ProgramNiConfig& config = point.system.ni.program;
  ProgramLimits limits;
  limits.slots = protocol_of(program, point).slots;
  limits.chunks_per_slot = tiling_of(program, point).chunks_per_slot;
  limits.contexts = config.contexts;
  limits.context_steps = config.context_steps;
  limits.form_only = form_only;
  ProgramCertificate certificate = certify_program(program, limits);
  if (!certificate.ok() || form_only) return certificate;
  const std::string cycle = network_deadlock(topology, point, program);
  if (!cycle.empty()) {
    ProgramViolation violation;
    violation.kind = ProgramViolationKind::deadlock;
    violation.what = cycle;
    certificate.violations.push_back(violation);
  }
  return certificate;
}

std::vector<Violation> certify_plan(const RunPoint& point, const DimensionPlan& plan) {
  return certify_dimension_plan(plan, point.system.ni.dimension_queue.flight().places);
}

std::string refusal(const std::vector<Violation>& violations) {
  if (violations.empty()) return {};
  std::string text = "the schedule does not pass the certifier:\n";
  for (const Violation& violation : violations) {
    text += fmt::format("  {}: {}\n", to_string(violation.kind), violation.what);
  }
  return text;
}

}  // namespace espalier
