#include "alg/routes/route_set.h"

#include <stdexcept>

namespace espalier {

RouteSet::RouteSet(const Topology& topology) {
  for (std::size_t l = 0; l < topology.num_links(); ++l) {
    links_.emplace_back(l);
    begin_.push_back(links_.size());
  }
}

namespace {

void check_route(const Topology& topology, const std::vector<LinkId>& links) {
  if (links.empty()) throw std::invalid_argument("a route has at least one link");
  for (std::size_t hop = 1; hop < links.size(); ++hop) {
    if (topology.link(links[hop]).from != topology.link(links[hop - 1]).to) {
      throw std::invalid_argument("a route's links must follow each other");
    }
  }
}

}  // namespace

void RouteSet::append(const std::vector<LinkId>& links) {
  links_.insert(links_.end(), links.begin(), links.end());
  begin_.push_back(links_.size());
}

RouteId RouteSet::add(const Topology& topology, const std::vector<LinkId>& links) {
  check_route(topology, links);
  if (links.size() == 1) return single(links.front());
  const auto [entry, is_new] = added_.emplace(links, RouteId(size()));
  if (is_new) append(links);
  return entry->second;
}

RouteId RouteSet::add_bundle(const Topology& topology,
                             const std::vector<std::vector<LinkId>>& routes) {
  if (routes.size() == 1) return add(topology, routes.front());
  const auto [entry, is_new] = bundles_.emplace(routes, RouteId(size()));
  for (std::size_t r = 0; is_new && r < routes.size(); ++r) {
    check_route(topology, routes[r]);
    append(routes[r]);
  }
  return entry->second;
}

}  // namespace espalier
