// The latency of a short message in a network without other traffic: the zero-load closed form of
// docs/timing.md for any route.
#pragma once

#include <map>
#include <utility>
#include <vector>

#include "flowctl/framing.h"
#include "hw/topology/link_timing.h"
#include "hw/topology/topology.h"
#include "sims/workload/coordination/closed_form.h"

namespace espalier {

struct SystemConfig;

class IdleNetwork : public MessageTime {
 public:
  // `nodes` is indexed by rank. `topology` and `nodes` must outlive this object. Throws
  // std::invalid_argument if link rates have no common tick.
  IdleNetwork(const Topology& topology, const SystemConfig& config,
              const std::vector<NodeId>& nodes);

  [[nodiscard]] Path path(RankId from, RankId to) const override;
  [[nodiscard]] Cycle flight(Path path, Bytes bytes) const override;

 private:
  struct Shape {
    Cycle head = 0;                    // latency of a message of one flit
    std::uint64_t ticks_per_flit = 0;  // of the slowest link
    friend bool operator<(const Shape& a, const Shape& b) {
      return a.head != b.head ? a.head < b.head : a.ticks_per_flit < b.ticks_per_flit;
    }
  };

  const Topology& topology_;
  const std::vector<NodeId>& nodes_;
  SystemTiming timing_;
  FramingSpec framing_;
  Cycle ends_;                         // from NI to first router, and from last router to memory
  Cycle router_;                       // the router pipeline
  mutable std::vector<Shape> shapes_;  // by path number
  mutable std::map<Shape, Path> numbers_;
};

}  // namespace espalier
