// Paths through the network, stored once and named by id.
#pragma once

#include <map>
#include <vector>

#include "hw/topology/topology.h"

namespace espalier {

// Route i < num_links() is the single link i, so a neighbour transfer needs no storage. Longer
// routes are added; equal routes share an id.
class RouteSet {
 public:
  explicit RouteSet(const Topology& topology);

  [[nodiscard]] static RouteId single(LinkId link) { return RouteId(link.index()); }
  // `links` in travel order: each starts where the previous one ends, otherwise throws
  // std::invalid_argument.
  RouteId add(const Topology& topology, const std::vector<LinkId>& links);
  // Several routes, numbered from the returned one on. Equal lists share their ids.
  RouteId add_bundle(const Topology& topology, const std::vector<std::vector<LinkId>>& routes);

  [[nodiscard]] std::size_t size() const { return begin_.size() - 1; }
  [[nodiscard]] std::size_t hops(RouteId r) const {
    return begin_[r.index() + 1] - begin_[r.index()];
  }
  [[nodiscard]] LinkId link(RouteId r, std::size_t hop) const {
    return links_[begin_[r.index()] + hop];
  }
  // All of them, in travel order. Valid until a route is added.
  struct Links {
    const LinkId* first;
    const LinkId* last;
    [[nodiscard]] const LinkId* begin() const { return first; }
    [[nodiscard]] const LinkId* end() const { return last; }
  };
  [[nodiscard]] Links links(RouteId r) const {
    return {links_.data() + begin_[r.index()], links_.data() + begin_[r.index() + 1]};
  }

 private:
  void append(const std::vector<LinkId>& links);

  std::vector<std::size_t> begin_{0};
  std::vector<LinkId> links_;
  std::map<std::vector<LinkId>, RouteId> added_;
  std::map<std::vector<std::vector<LinkId>>, RouteId> bundles_;  // of several routes
};

}  // namespace espalier
