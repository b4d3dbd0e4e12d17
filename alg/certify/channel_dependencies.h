// Deadlock freedom of oblivious routes by the channel dependency graph (Dally and Seitz, IEEE ToC
// C-36(5), 1987): a packet that stands in one virtual channel may wait for the next one of its
// route; where these waits form no cycle, packets cannot block each other in a circle, by wormhole
// or by cut-through.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "alg/certify/precedence.h"
#include "alg/routes/route_set.h"
#include "hw/topology/topology.h"

namespace espalier {

class ChannelDependencies {
 public:
  // Routes keep to the VC classes of vc_class_after(); `vc_classes` of them are kept apart, those
  // above share the last one. The topology must outlive this object.
  ChannelDependencies(const Topology& topology, std::uint32_t vc_classes);

  void add(const RouteSet& routes, RouteId route);
  // One cycle in words; empty where there is none.
  [[nodiscard]] std::string cycle();

 private:
  void sort_out();

  const Topology& topology_;
  std::uint32_t classes_;
  std::vector<Precedence> waits_;  // a packet holds `after` until it gets `before`
  std::size_t sort_at_;
};

}  // namespace espalier
