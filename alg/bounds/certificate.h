// Certificates of lower bounds: facts about a network from which anyone can work out a time that no
// schedule of a class passes. A search finds them (bounds.h), plain arithmetic proves them
// (prove).
#pragma once

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "alg/schedule/schedule.h"
#include "hw/topology/dimensions.h"
#include "hw/topology/topology.h"

namespace espalier {

// The schedules for which a bound is proven. In every class data are moved, added and copied, but
// never encoded.
enum class ScheduleClass : std::uint8_t {
  // Only nodes add and copy; switches pass messages on.
  any,
  // The switches of the dimensions with `in_network` add and copy too.
  in_network_switches
};
[[nodiscard]] const char* to_string(ScheduleClass schedules);

// What a collective has to move.
struct Demand {
  CollectiveOp op = CollectiveOp::all_reduce;
  Bytes size = 0;
  // Bytes of each node's part, by node; all_to_all: of the part that every node sends to it.
  // Empty: size / N each. Of several groups: bytes that every member has at least, by group.
  std::vector<Bytes> parts;
  // The root of a broadcast or reduce, the counts of an all_to_allv, and the nodes that take part.
  // The others may pass data on, copy and add.
  Scope scope;
  // By LinkId: the least seconds for which a byte that leaves a switch by the link holds the
  // crossbar input of the link by which it came. A crossbar input passes one packet at a time.
  // Empty: slow outputs do not hold crossbar inputs.
  std::vector<double> held = {};
};

// Every node of `from` has data that every node of `to` waits for, and these data enter `into`,
// which holds `to` and none of `from`:
//   all_gather:     the parts of all nodes of `from`
//   reduce_scatter: what any one of `from` adds to the parts of all nodes of `to`
//   all_to_all:     a part for every pair
//   all_to_allv:    the bytes of every pair
//   broadcast:      `size` bytes of the root, which is alone in `from`
//   reduce:         what any one of `from` adds to `size` bytes of the root, which is alone in `to`
//   all_reduce:     what any one of `from` adds to `size` bytes
// A link into the set carries none of them before the nearest of `from` has reached its head, and
// none after the nearest of `to` can no longer be reached from there in time.
struct CrossingCertificate {
  std::vector<bool> into;  // by vertex
  std::vector<NodeId> from;
  std::vector<NodeId> to;
};

// all_reduce: each element crosses between p parts at least 2 (p-1) times: p-1 times until one part
// has the sum, and once into each of the others. Counted are the links out of (or into) each part.
// A link carries nothing useful while it could not reach (be reached from) a node any more.
// Several groups: p is the number of parts with members of the element's group, and their crossings
// add up. An all_gather's element enters p-1 parts, a reduce_scatter's sums leave p-1 parts.
struct PartitionCertificate {
  // Vertices of each part. Every node is in one part. Of one group, each part has a member.
  // Switches pass messages on, so a switch may stand on the inner side of several parts, or of
  // none.
  std::vector<std::vector<NodeId>> parts;
  bool outwards = true;
};

// all_to_all, all_to_allv: whatever each link asks per byte, every pair pays at least its cheapest
// path, and a link takes in no more than price x rate in a second. all_gather or reduce_scatter of
// several groups: every part pays at least the cheapest tree that joins its group, in which only
// nodes copy or add. The crossbar inputs of switches may have prices, too: an exchange pays for the
// time for which it holds them (Demand::held).
struct PriceCertificate {
  std::vector<double> price;       // per byte, by LinkId
  std::vector<double> input = {};  // per second, by the link that ends there; empty: 0
};

// A partition of a multi-dimensional system: every link of the named dimensions joins two parts.
struct DimensionCertificate {
  std::vector<std::uint32_t> dimensions;  // counted from 0, ascending
  bool switches_add = false;              // the class is in_network_switches
};

using BoundCertificate =
    std::variant<CrossingCertificate, PartitionCertificate, PriceCertificate, DimensionCertificate>;

// Works out what a certificate proves. Shares no code with the searches that find certificates: it
// reads the topology and the certificate, and nothing else.
struct ProvenBound {
  double seconds = 0;   // no schedule of the certificate's class takes less
  std::string problem;  // why the certificate proves nothing; empty if it is sound
};

// The certificate may be any. Preconditions: every vertex reaches every other one, and every link
// has a bandwidth.
[[nodiscard]] ProvenBound prove(const Topology& topology, const Demand& demand,
                                const BoundCertificate& certificate);

// Every NPU sends `demand.size` / N to each other one, or less where data are added on the way. An
// all_gather, a reduce_scatter or an all_reduce.
[[nodiscard]] ProvenBound prove(const DimensionedShape& shape, const Demand& demand,
                                const DimensionCertificate& certificate);

}  // namespace espalier
