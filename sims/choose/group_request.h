// The request to schedule generators for a configured collective.
#pragma once

#include <utility>
#include <vector>

#include "alg/generators/generator.h"
#include "alg/generators/process_group.h"
#include "alg/schedule/schedule_table.h"
#include "sims/model/build_program.h"
#include "sims/point/collective_config.h"

namespace espalier {

struct SystemConfig;

// The request, and the network of the nodes that take part.
struct GroupRequest {
  GroupRequest(const Topology& topology, const SystemConfig& system,
               const CollectiveConfig& collective)
      : nodes(group_nodes(collective)),
        group(topology, nodes),
        request(collective_request(system, collective)) {
    if (collective.relay) request.relays = group.relays();
  }
  GroupRequest(const GroupRequest&) = delete;  // `group` refers to `nodes`
  GroupRequest& operator=(const GroupRequest&) = delete;

  [[nodiscard]] ScheduleTables tables_of(Schedule schedule) const {
    return lower_to_tables(group.in_whole(std::move(schedule)));
  }

  std::vector<NodeId> nodes;
  ProcessGroup group;
  CollectiveRequest request;
};

}  // namespace espalier
