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

// No machine is faster than the link with the most bytes. `messages` calls its argument with the
// route and the bytes of each message.
template <class Messages>
double busiest_link_ns(const Topology& topology, const RouteSet& routes, const Messages& messages) {
  std::vector<double> seconds(topology.num_links(), 0);
  messages([&](RouteId route, Bytes bytes) {
    for (const LinkId l : routes.links(route)) {
      seconds[l.index()] +=
          static_cast<double>(bytes) / static_cast<double>(topology.link(l).spec.bytes_per_second);
    }
  });
  return seconds.empty() ? 0 : *std::max_element(seconds.begin(), seconds.end()) * 1e9;
}

// By which factor a machine may be faster than planned, at most; tests/cli/compare_test.cpp checks
// it. The most that was seen is 1.09 where each message passes one link and a flit takes a cycle,
// and 2.8 where flits take many cycles: the plan waits for the whole last flit of a message on each
// link, and a machine does not.
double most_faster(const Topology& topology, const RunPoint& point, bool passes_one_link) {
  const ClockSpec& clock = point.system.clock;
  const bool takes_a_cycle =
      std::all_of(topology.links().begin(), topology.links().end(), [&](const TopologyLink& link) {
        return link.spec.bytes_per_second >= clock.hertz * clock.flit_bytes;
      });
  if (!takes_a_cycle) return 3;
  return passes_one_link ? 1.15 : 2;
}

PlannedWork planned(CollectiveWork work, double ns, double faster, double busiest_ns) {
  return {std::move(work), ns, std::max(ns / faster, busiest_ns)};
}

PlannedWork planned_program(const Topology& topology, const RunPoint& point) {
  CollectiveWork work = generate_collective(topology, point);
  const Program& program = *work.program;
  const Tiling tiling = tiling_of(program, point);
  const ProgramRoutes routes = program_routes(topology, program);
  const ContextProgram loaded(program, tiling, protocol_of(program, point), context_spec(point),
                              routes.forward);
  const double busiest_ns = busiest_link_ns(topology, routes.routes, [&](const auto& add) {
    for (std::size_t c = 0; c < loaded.num_connections(); ++c) {
      const ProgramRoute& route = loaded.route(ConnectionId(c));
      for (std::size_t r = 0; r < route.routes.size(); ++r) {
        add(route.routes.route(r), route.bytes[r]);
      }
    }
  });
  // Several passes over the data overlap: no plan, but a bound.
  if (tiling.tiles != 1) return planned(std::move(work), busiest_ns, 1, busiest_ns);
  const auto picoseconds = program_time_ps(topology, program, tiling, context_timing(point.system));
  const bool passes_one_link =
      std::all_of(routes.forward.begin(), routes.forward.end(),
                  [&](const ConnectionRoutes& of) { return routes.routes.hops(of.first) == 1; });
  return planned(std::move(work), ns_of(picoseconds), most_faster(topology, point, passes_one_link),
                 busiest_ns);
}

}  // namespace

bool is_proven_slowly(const Program& program) {
  constexpr std::uint64_t kMostComparisons = std::uint64_t{1} << 31;
  std::uint64_t contexts = 0;
  for (const RankProgram& rank : program.ranks) contexts += rank.blocks.size();
  return program.num_steps() * contexts > kMostComparisons;
}

std::optional<PlannedWork> planned_work(const Topology& topology, const RunPoint& point) {
  if (!point.collective || point.collective->algorithm == kAutoAlgorithm || point.training ||
      point.workload || point.coordination) {
    return std::nullopt;
  }
  CollectiveWork work;
  if (planner_of(point) != nullptr) {
    work.plan = plan_point(topology, point);
    const double ns = nanoseconds(work.plan->forecast, point.system.clock);
    return planned(std::move(work), ns, 2, 0);
  }
  if (has_program(point)) return planned_program(topology, point);
  const GroupRequest of_group(topology, point.system, *point.collective);
  const Topology& network = of_group.group.network();
  Schedule schedule = of_group.generate(point.collective->algorithm);
  const auto picoseconds = schedule_time_ps(network, schedule, of_group.request.timing);
  const double faster = most_faster(network, point, passes_one_link(schedule));
  // Transfers of one root may stand for those of all.
  const double busiest_ns = busiest_link_ns(network, schedule.routes, [&](const auto& add) {
    for (const Transfer& t : schedule.transfers) add(t.route, schedule.bytes_of(t));
  });
  work.tables = of_group.tables_of(std::move(schedule));
  return planned(std::move(work), ns_of(picoseconds), faster, busiest_ns);
}

}  // namespace espalier
