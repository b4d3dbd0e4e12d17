// Deadlock freedom of any relation from the channel that a packet holds to the channels that it may
// take next: tables of routes, random pairings, adaptive routing with escape channels.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "hw/topology/topology.h"

namespace espalier {

// A channel is a link in a VC class: link * classes + class.
using ChannelNumber = std::uint32_t;

struct RouteVerdict {
  bool cut_through = false;  // no deadlock where a packet fits into the buffer of a channel
  bool wormhole = false;     // nor where a packet may hold several channels
  // If free: all channels; each packet may go on to a channel before its own. Otherwise: each
  // channel holds a packet that may go on only to channels in this list, in a cycle if routes leave
  // no choice.
  std::vector<ChannelNumber> proof;
  std::vector<ChannelNumber> wormhole_cycle;  // of escape channels, if only cut-through is free
};

class RouteRelation {
 public:
  struct Choice {
    ChannelNumber channel = 0;
    bool escape = false;
  };

  // The topology must outlive this object.
  RouteRelation(const Topology& topology, std::uint32_t classes)
      : topology_(topology), classes_(classes), used_(topology.num_links() * classes, false) {}

  // A packet that passes these channels one after the other.
  void add_route(const std::vector<ChannelNumber>& channels);
  // What packets for `to` may take, by vertex. From every vertex with choices, packets may start.
  // Returns an empty text, or why packets do not arrive: a vertex without a choice, or choices of
  // which some but not all vertices mark escapes.
  [[nodiscard]] std::string add_choices(NodeId to, const std::vector<std::vector<Choice>>& choices);

  // For cut-through, exact: the largest set of channels that can block each other (Verbeek and
  // Schmaltz, ACM TODAES 16(1), 2010). For wormhole: exact without choices. With choices,
  // sufficient (Duato, IEEE TPDS 6(10), 1995): waits for escape channels, direct or behind other
  // channels, form no cycle. Without marks, escapes are the choices that come first in the order of
  // the proof.
  [[nodiscard]] RouteVerdict decide() const;

  [[nodiscard]] std::string channel_name(ChannelNumber channel) const;
  [[nodiscard]] std::size_t num_channels() const;  // that packets use

 private:
  struct Wait {
    ChannelNumber holds;
    std::vector<ChannelNumber> wants;
  };
  struct Destination {
    NodeId to;
    std::vector<std::vector<Choice>> choices;
  };

  void add_wait(ChannelNumber holds, std::vector<ChannelNumber> wants);
  void decide_cut_through(RouteVerdict& verdict) const;
  void decide_wormhole(RouteVerdict& verdict) const;

  const Topology& topology_;
  std::uint32_t classes_;
  std::vector<bool> used_;
  std::vector<Wait> waits_;
  std::vector<Destination> destinations_;
};

}  // namespace espalier
