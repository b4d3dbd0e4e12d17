#include "sims/choose/choose.h"

#include <algorithm>
#include <vector>

#include "alg/program/program_time.h"
#include "alg/time/schedule_time.h"
#include "ni/engines/context_program.h"
#include "sims/model/build_program.h"
#include "sims/model/plan_forecast.h"
#include "sims/point/config.h"
#include "sims/system/program_simulation.h"

namespace espalier {

namespace {

double ns_of(std::uint64_t picoseconds) { return static_cast<double>(picoseconds) * 1e-3; }

// Of a program of several passes over its data, which overlap: the time of the busiest link.
double busiest_link_ns(const Topology& topology, const RunPoint& point, const Program& program,
                       const Tiling& tiling) {
  const ProgramRoutes routes = program_routes(topology, program);
  const ContextProgram loaded(program, tiling, protocol_of(program, point), context_spec(point),
                              routes.forward);
  std::vector<double> seconds(topology.num_links(), 0);
  for (std::size_t c = 0; c < loaded.num_connections(); ++c) {
    const ProgramRoute& route = loaded.route(ConnectionId(c));
    for (std::size_t hop = 0; hop < routes.routes.hops(route.route); ++hop) {
      const LinkId link = routes.routes.link(route.route, hop);
      seconds[link.index()] += static_cast<double>(route.bytes) /
                               static_cast<double>(topology.link(link).spec.bytes_per_second);
    }
  }
  return *std::max_element(seconds.begin(), seconds.end()) * 1e9;
}

}  // namespace

bool is_proven_slowly(const Program& program) {
  constexpr std::uint64_t kMostComparisons = std::uint64_t{1} << 31;
  std::uint64_t contexts = 0;
  for (const RankProgram& rank : program.ranks) contexts += rank.blocks.size();
  return program.num_steps() * contexts > kMostComparisons;
}

std::optional<PlannedTime> planned_time(const Topology& topology, const RunPoint& point) {
  if (!point.collective || point.collective->algorithm == kAutoAlgorithm || point.training ||
      point.workload || point.coordination) {
    return std::nullopt;
  }
  const CollectiveConfig& collective = *point.collective;
  if (planner_of(point) != nullptr) {
    return PlannedTime{nanoseconds(plan_point(topology, point).forecast, point.system.clock)};
  }
  if (has_program(point)) {
    const Program program = build_program(topology, point);
    const Tiling tiling = tiling_of(program, point);
    const double ns =
        tiling.tiles == 1
            ? ns_of(program_time_ps(topology, program, tiling, context_timing(point.system)))
            : busiest_link_ns(topology, point, program, tiling);
    return PlannedTime{ns, is_proven_slowly(program)};
  }
  const GroupRequest of_group(topology, point.system, collective);
  const Topology& network = of_group.group.network();
  const Schedule schedule = of_group.generate(collective.algorithm);
  return PlannedTime{ns_of(schedule_time_ps(network, schedule, of_group.request.timing))};
}

}  // namespace espalier
