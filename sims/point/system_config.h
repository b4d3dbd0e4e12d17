// Section system: the hardware.
#pragma once

#include "hw/cost/cost_spec.h"
#include "hw/ids.h"
#include "hw/topology/link_timing.h"
#include "sims/point/ni_config.h"
#include "sims/point/router_config.h"
#include "sims/point/topology_config.h"

namespace espalier {

struct SystemConfig {
  TopologyConfig topology;
  RoutingConfig routing;
  DimensionsConfig dimensions;  // for a multi-dimensional topology; all its links
  // Every link; in file and anynet topologies, the default of a link. Value: Table III.
  LinkSpec link{150'000, 16'000'000'000};
  Cycle credit_latency_cycles = 0;  // 0 ("link"): as long as the link's latency
  ClockSpec clock;
  RouterConfig router;
  FlowControlConfig flow_control;
  NiConfig ni;
  CostSpec cost;
};

}  // namespace espalier
