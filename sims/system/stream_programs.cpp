#include "sims/system/stream_programs.h"

#include <fmt/format.h>

#include <stdexcept>
#include <utility>
#include <vector>

#include "ni/engines/table_program.h"
#include "sims/point/config.h"
#include "sims/system/step_time.h"

namespace espalier {

namespace {
constexpr std::uint64_t kMostOperations = 4'000'000;
}  // namespace

StreamPrograms::StreamPrograms(const Topology& topology, const RunPoint& point,
                               const TablesOf& tables_of, SideRoutes& routes,
                               ChannelDependencies& waits)
    : point_(point),
      tables_of_(tables_of),
      routes_(routes),
      waits_(waits),
      timing_(time_links(topology, point.system.clock)),
      cache_(kMostOperations) {}

StreamProgramCache::Program StreamPrograms::of(const HostCollective& what, std::size_t members) {
  return cache_.get(what, [&](const HostCollective& new_one) { return load(new_one, members); });
}

StreamProgramCache::Program StreamPrograms::load(const HostCollective& what, std::size_t members) {
  ScheduleTables tables = tables_of_(what);
  if (tables.op != what.op || tables.size != what.bytes ||
      tables.nodes.size() != (tables.symmetry ? 1 : members)) {
    throw std::invalid_argument(fmt::format("the tables are not of an {} of {} bytes over {} ranks",
                                            to_string(what.op), what.bytes, members));
  }
  const std::uint32_t ports =
      point_.system.ni.ports != 0 ? point_.system.ni.ports : tables.ni_ports;
  TableEngine::Spec engine = table_engine_spec(point_, tables, {}, timing_, ports);
  auto program = std::make_unique<StreamProgram>(load_stream(std::move(tables), members));
  program->engine = std::move(engine);
  const std::size_t routes_before = routes_.size();
  bind_routes(*program, members);
  if (point_.simulation.check && routes_.size() != routes_before) {
    const std::string circle = waits_.cycle(kLongestPrintedCycle);
    if (!circle.empty()) {
      throw std::invalid_argument(
          "beside other messages of the job (algorithms on the routes of packets, for example ring "
          "and direct, close no circle): " +
          circle);
    }
  }
  // It is as large as the network, and all routes are bound.
  program->tables.routes = RouteSet(Topology(""));
  return program;
}

void StreamPrograms::bind_routes(StreamProgram& program, std::size_t members) {
  const RouteSet& routes = program.tables.routes;
  std::map<RouteId, RouteId> bound;
  for (std::size_t m = 0; m < members; ++m) {
    const NodeFrame frame(program.tables, NodeId(m));
    for (const Operation& send : program.program(NodeId(m)).sends) {
      const RouteId route = frame.route_in_network(send.route);
      const auto [place, is_new] = bound.try_emplace(route);
      if (!is_new) continue;
      const RouteSet::Links links = routes.links(route);
      place->second = routes_.bind({links.begin(), links.end()});
    }
  }
  program.bound.assign(bound.begin(), bound.end());
}

}  // namespace espalier
