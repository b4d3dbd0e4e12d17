#include "sims/system/stream_programs.h"

#include <fmt/format.h>

#include <stdexcept>
#include <utility>
#include <vector>

#include "hw/topology/link_timing.h"
#include "ni/engines/table_program.h"
#include "sims/point/config.h"
#include "sims/system/step_time.h"

namespace espalier {

namespace {
constexpr std::uint64_t kMostOperations = 4'000'000;
}  // namespace

StreamPrograms::StreamPrograms(const Topology& topology, const RunPoint& point,
                               const TablesOfSize& tables_of, SideRoutes& routes)
    : topology_(topology),
      point_(point),
      tables_of_(tables_of),
      routes_(routes),
      cache_(kMostOperations) {}

StreamProgramCache::Program StreamPrograms::of_size(Bytes bytes) {
  return cache_.get(bytes, [this](Bytes size) { return load(size); });
}

StreamProgramCache::Program StreamPrograms::load(Bytes bytes) {
  ScheduleTables tables = tables_of_(bytes);
  const std::size_t nodes = topology_.num_nodes();
  if (tables.op != CollectiveOp::all_reduce || tables.size != bytes ||
      tables.nodes.size() != (tables.symmetry ? 1 : nodes)) {
    throw std::invalid_argument(
        fmt::format("the tables are not an all-reduce of {} bytes over {} nodes", bytes, nodes));
  }
  const std::uint32_t ports =
      point_.system.ni.ports != 0 ? point_.system.ni.ports : tables.ni_ports;
  // Computed for the healthy system, because the tables are filled without knowledge of faults.
  TableEngine::Spec engine =
      table_engine_spec(point_, tables, {}, time_links(topology_, point_.system.clock), ports);
  auto program = std::make_unique<StreamProgram>(load_stream(std::move(tables), nodes));
  program->engine = std::move(engine);
  bind_routes(*program);
  return program;
}

void StreamPrograms::bind_routes(StreamProgram& program) {
  const RouteSet& routes = program.tables.routes;
  program.bound.resize(routes.size());
  std::vector<LinkId> links;
  for (std::size_t n = 0; n < topology_.num_nodes(); ++n) {
    const NodeFrame frame(program.tables, NodeId(n));
    for (const Operation& send : program.program(NodeId(n)).sends) {
      const RouteId route = frame.route_in_network(send.route);
      RouteId& bound = program.bound[route.index()];
      if (bound.valid()) continue;
      links.clear();
      for (std::size_t hop = 0; hop < routes.hops(route); ++hop) {
        links.push_back(routes.link(route, hop));
      }
      bound = routes_.bind(links);
    }
  }
}

}  // namespace espalier
