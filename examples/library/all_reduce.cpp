// Builds a mesh, makes and certifies a schedule, simulates it and reads the result.
#include <cstdio>
#include <systemc>

#include "alg/generators/generator.h"
#include "alg/schedule/schedule_table.h"
#include "hw/clock/clock_domain.h"
#include "sims/experiment/point_runner.h"
#include "sims/model/build_topology.h"
#include "sims/model/system_shape.h"
#include "sims/point/config.h"

using namespace espalier;

// SystemC's main() calls sc_main(). A process simulates once.
int sc_main(int, char**) {
  prepare_kernel();
  RunPoint point;  // every key of a configuration, with its default
  point.system.topology.type = "mesh";
  point.system.topology.set("dims", {4, 4});
  point.collective.emplace();
  point.collective->algorithm = "multitree";
  point.collective->size = 1 << 20;
  // The router's cycles and buffers that are "auto" follow the clock.
  resolve_implied(point.system, build_topology(point.system), configured_need(point));
  const Topology topology = build_topology(point.system);

  CollectiveRequest request;
  request.op = CollectiveOp::all_reduce;
  request.size = point.collective->size;
  const Generator* multitree = find_generator("multitree");
  const ScheduleTables tables = lower_to_tables(multitree->generate(topology, request));
  std::printf("%u timesteps on %zu links\n", static_cast<unsigned>(tables.num_steps),
              topology.num_links());

  const PointReport report = run_point(topology, point, tables, {});
  if (!report.failure.empty()) {
    std::fprintf(stderr, "%s\n", report.failure.c_str());
    return 1;
  }
  std::printf("%s cycles, %.2f GB/s\n", report.result.at("cycles").dump().c_str(),
              report.result.at("bandwidth_GBps").get<double>());
  return 0;
}
