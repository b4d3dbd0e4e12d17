#include "alg/routes/stored_hops.h"

#include <algorithm>

#include "alg/routes/links.h"

namespace espalier {

namespace {

constexpr std::size_t kMostPaths = 8;  // of a pair

class HopSearch {
 public:
  HopSearch(const Topology& topology, const std::vector<bool>& stores)
      : topology_(topology), stores_(stores) {}

  // The paths from one vertex to all others that store, by target.
  std::vector<StoredHop> from(NodeId source) {
    source_ = source;
    distance_.assign(topology_.num_vertices(), kUnreached);
    distance_[source.index()] = 0;
    std::vector<NodeId> reached{source};
    for (std::size_t head = 0; head < reached.size(); ++head) {
      const NodeId v = reached[head];
      if (v != source && stores_[v.index()]) continue;
      for (const LinkId l : topology_.out_links(v)) {
        const NodeId to = topology_.link(l).to;
        if (distance_[to.index()] != kUnreached) continue;
        distance_[to.index()] = distance_[v.index()] + 1;
        reached.push_back(to);
      }
    }
    std::sort(reached.begin(), reached.end());
    std::vector<StoredHop> hops;
    for (const NodeId to : reached) {
      if (to == source || !stores_[to.index()]) continue;
      paths_.clear();
      path_.clear();
      walk_back(to);
      for (std::vector<LinkId>& path : paths_) {
        hops.push_back({source, to, std::move(path), {}});
      }
    }
    return hops;
  }

 private:
  void walk_back(NodeId v) {
    if (v == source_) paths_.emplace_back(path_.rbegin(), path_.rend());
    if (v == source_ || paths_.size() == kMostPaths) return;
    for (const LinkId l : topology_.in_links(v)) {
      const NodeId before = topology_.link(l).from;
      const bool passes = before == source_ || !stores_[before.index()];
      if (!passes || distance_[before.index()] + 1 != distance_[v.index()]) continue;
      path_.push_back(l);
      walk_back(before);
      path_.pop_back();
      if (paths_.size() == kMostPaths) return;
    }
  }

  const Topology& topology_;
  const std::vector<bool>& stores_;
  NodeId source_;
  std::vector<std::size_t> distance_;
  std::vector<LinkId> path_;  // from the target back
  std::vector<std::vector<LinkId>> paths_;
};

}  // namespace

std::vector<StoredHop> stored_hops(const Topology& topology, const std::vector<bool>& stores,
                                   bool two_way) {
  std::vector<StoredHop> hops;
  HopSearch search(topology, stores);
  for (std::size_t v = 0; v < topology.num_vertices(); ++v) {
    if (!stores[v]) continue;
    for (StoredHop& hop : search.from(NodeId(v))) {
      if (two_way && hop.to < hop.from) continue;
      for (auto l = hop.there.rbegin(); two_way && l != hop.there.rend(); ++l) {
        hop.back.push_back(link_back(topology, *l));
      }
      const bool returns =
          std::all_of(hop.back.begin(), hop.back.end(), [](LinkId l) { return l.valid(); });
      if (returns) hops.push_back(std::move(hop));
    }
  }
  return hops;
}

}  // namespace espalier
