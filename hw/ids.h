// Strong types for ids and counts, so that the compiler refuses a port where a node is meant.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>

namespace espalier {

template <class Tag>
class Id {
 public:
  using value_type = std::uint32_t;

  constexpr Id() = default;
  constexpr explicit Id(std::size_t value) : value_(static_cast<value_type>(value)) {}

  [[nodiscard]] constexpr std::size_t index() const { return value_; }
  [[nodiscard]] constexpr value_type value() const { return value_; }
  [[nodiscard]] constexpr bool valid() const { return value_ != kNone; }

  friend constexpr bool operator==(Id a, Id b) { return a.value_ == b.value_; }
  friend constexpr bool operator!=(Id a, Id b) { return a.value_ != b.value_; }
  friend constexpr bool operator<(Id a, Id b) { return a.value_ < b.value_; }
  friend constexpr bool operator<=(Id a, Id b) { return a.value_ <= b.value_; }
  friend constexpr bool operator>(Id a, Id b) { return a.value_ > b.value_; }
  friend constexpr bool operator>=(Id a, Id b) { return a.value_ >= b.value_; }

 private:
  static constexpr value_type kNone = 0xffffffffU;
  value_type value_ = kNone;  // a default id is invalid ("nil" in the paper's tables)
};

// A vertex of the topology graph: accelerators first, switches after them.
using NodeId = Id<struct NodeTag>;
// A logical participant of a collective or of a training job. The rank order maps ranks to nodes.
using RankId = Id<struct RankTag>;
// A directed link of the topology graph.
using LinkId = Id<struct LinkTag>;
// A tree of MultiTree, a chain of RING: one chunk on its way (the tree ID of a sub-packet's head
// flit).
using FlowId = Id<struct FlowTag>;
// The finest piece of a collective's data that a schedule tells apart.
using ChunkId = Id<struct ChunkTag>;
// An edge of a schedule: one chunk range from one node to another.
using TransferId = Id<struct TransferTag>;
// A path through the network, see alg/routes/route_set.h.
using RouteId = Id<struct RouteTag>;
// One gradient message or normal message in flight.
using MessageId = Id<struct MessageTag>;

// Router clock cycles since reset. Integer everywhere; sc_time only at the SystemC boundary.
using Cycle = std::uint64_t;
inline constexpr Cycle kNever = ~Cycle{0};

// Timestep of a schedule, counted from 1 as in MultiTree's tables.
using Timestep = std::uint32_t;

// Plain bytes.
using Bytes = std::uint64_t;

}  // namespace espalier

template <class Tag>
struct std::hash<espalier::Id<Tag>> {
  std::size_t operator()(espalier::Id<Tag> id) const noexcept { return id.index(); }
};
