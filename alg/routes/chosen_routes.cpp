#include "alg/routes/chosen_routes.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <stdexcept>

#include "alg/routes/links.h"
#include "alg/routes/routing.h"
#include "hw/hash.h"

namespace espalier {

namespace {

using Path = std::vector<LinkId>;

// Shortest paths between nodes, by a table of distances.
class ShortestPaths {
 public:
  explicit ShortestPaths(const Topology& topology) : vertices_(topology.num_vertices()) {
    left_.reserve(topology.num_nodes() * vertices_);
    for (std::size_t to = 0; to < topology.num_nodes(); ++to) {
      for (const std::size_t d : distances_to(topology, NodeId(to))) {
        left_.push_back(static_cast<std::uint32_t>(d));
      }
    }
  }

  // Each vertex on the way takes `turn` modulo the number of its links to choose from, and leaves
  // the quotient to the next one. So consecutive turns differ in the first choice.
  [[nodiscard]] Path path(const Topology& topology, NodeId from, NodeId to,
                          std::uint64_t turn) const {
    const std::uint32_t* const left = &left_[to.index() * vertices_];
    Path links;
    std::vector<LinkId> choice;
    for (NodeId at = from; at != to; at = topology.link(links.back()).to) {
      choice.clear();
      for (const LinkId link : topology.out_links(at)) {
        if (left[topology.link(link).to.index()] + 1 == left[at.index()]) choice.push_back(link);
      }
      links.push_back(choice[turn % choice.size()]);
      turn /= choice.size();
    }
    return links;
  }

 private:
  static std::vector<std::size_t> distances_to(const Topology& topology, NodeId to) {
    std::vector<std::size_t> left(topology.num_vertices(), kUnreached);
    std::vector<NodeId> queue{to};
    left[to.index()] = 0;
    for (std::size_t head = 0; head < queue.size(); ++head) {
      const NodeId at = queue[head];
      for (const LinkId link : topology.in_links(at)) {
        const NodeId before = topology.link(link).from;
        if (left[before.index()] != kUnreached) continue;
        left[before.index()] = left[at.index()] + 1;
        queue.push_back(before);
      }
    }
    return left;
  }

  std::size_t vertices_;
  std::vector<std::uint32_t> left_;  // by to * vertices + vertex
};

// Which channels may wait for which, decided one by one so that no cycle closes.
class Waits {
 public:
  explicit Waits(std::size_t channels) : next_(channels), seen_(channels, 0) {}

  // Whether a packet may hold one channel and want the other. The first question decides, so that
  // the answer never changes.
  bool allow(std::uint32_t holds, std::uint32_t wants) {
    if (const auto known = allowed(holds, wants)) return *known;
    const bool allowed = !reaches(wants, holds);
    next_[holds].push_back({wants, allowed});
    return allowed;
  }
  // Nothing if nobody has asked.
  [[nodiscard]] std::optional<bool> allowed(std::uint32_t holds, std::uint32_t wants) const {
    for (const Wait& wait : next_[holds]) {
      if (wait.wants == wants) return wait.allowed;
    }
    return std::nullopt;
  }

 private:
  struct Wait {
    std::uint32_t wants;
    bool allowed;  // false: it would close a cycle
  };

  [[nodiscard]] bool reaches(std::uint32_t from, std::uint32_t to) {
    ++search_;
    std::vector<std::uint32_t> stack{from};
    while (!stack.empty()) {
      const std::uint32_t at = stack.back();
      stack.pop_back();
      if (at == to) return true;
      for (const Wait& wait : next_[at]) {
        if (!wait.allowed || seen_[wait.wants] == search_) continue;
        seen_[wait.wants] = search_;
        stack.push_back(wait.wants);
      }
    }
    return false;
  }

  std::vector<std::vector<Wait>> next_;  // by the channel that a packet holds
  std::vector<std::uint32_t> seen_;      // the last search that reached the channel
  std::uint32_t search_ = 0;
};

// The routes of all pairs. The shape of a topology shares them with its copies.
class ChosenRoutes {
 public:
  ChosenRoutes(const Topology& topology, Routing routing, std::uint64_t seed, RouteTable table)
      : routing_(routing), seed_(seed), table_(std::move(table)), base_(topology.shape().route) {
    if (routing == Routing::shortest || routing == Routing::ecmp || routing == Routing::split) {
      paths_.emplace(topology);
    }
    if (routing == Routing::split) split_ = kMostSplit;
    for (const auto& [pair, routes] : table_) {
      split_ = std::max(split_, static_cast<std::uint32_t>(routes.size()));
      for (const ListedRoute& route : routes) has_classes_ |= !route.classes.empty();
    }
  }

  [[nodiscard]] std::uint32_t split() const { return split_; }

  [[nodiscard]] Path route(const Topology& topology, NodeId from, NodeId to,
                           std::uint32_t channel) const {
    // Racks' switches, from which tenants send, keep their routes.
    const bool among_nodes = !topology.is_switch(from) && !topology.is_switch(to);
    if (paths_ && among_nodes) {
      const std::uint64_t pair = from.index() * topology.num_nodes() + to.index();
      const std::uint64_t first = routing_ == Routing::shortest ? 0 : mix(seed_, pair);
      return paths_->path(topology, from, to, first + channel % split_);
    }
    if (const auto* listed = find(from, to)) return (*listed)[channel % listed->size()].links;
    if (routing_ == Routing::up_down && among_nodes) return up_down_route(topology, from, to);
    const std::uint32_t own = among_nodes ? 0 : channel;  // of racks: a channel for each flow
    return base_ ? base_(topology, from, to, own) : up_down_route(topology, from, to);
  }

  // Finds classes for all routes.
  void classify(const Topology& topology) {
    for (std::size_t a = 0; a < topology.num_nodes(); ++a) {
      for (std::size_t b = 0; b < topology.num_nodes(); ++b) {
        Path before;
        for (std::uint32_t channel = 0; a != b && channel < split_; ++channel) {
          Path path = route(topology, NodeId(a), NodeId(b), channel);
          if (paths_ && path == before) break;  // turns differ where the pair has a choice
          std::uint32_t layer = 0;
          for (std::size_t hop = 1; hop < path.size(); ++hop) {
            if (layer == layers_.size()) layers_.emplace_back(topology.num_links());
            if (!layers_[layer].allow(path[hop - 1].value(), path[hop].value())) ++layer;
          }
          most_classes_ = std::max(most_classes_, layer + 1);
          before = std::move(path);
        }
      }
    }
  }

  // Checks the classes that the table gives; other routes are in class 0.
  std::string check(const Topology& topology) {
    for (const auto& [pair, routes] : table_) {
      for (const ListedRoute& route : routes) {
        for (const std::uint32_t c : route.classes) most_classes_ = std::max(most_classes_, c + 1);
      }
    }
    Waits waits(topology.num_links() * most_classes_);
    for (std::size_t a = 0; a < topology.num_nodes(); ++a) {
      for (std::size_t b = 0; b < topology.num_nodes(); ++b) {
        for (std::uint32_t channel = 0; a != b && channel < split_; ++channel) {
          const Path path = route(topology, NodeId(a), NodeId(b), channel);
          const auto classes = *this->classes(topology, path);
          const auto at = [&](std::size_t hop) {
            return path[hop].value() * most_classes_ + classes[hop];
          };
          for (std::size_t hop = 1; hop < path.size(); ++hop) {
            if (waits.allow(at(hop - 1), at(hop))) continue;
            return fmt::format(
                "the route from '{}' to '{}' closes a cycle of packets that wait for each other",
                topology.vertex_name(NodeId(a)), topology.vertex_name(NodeId(b)));
          }
        }
      }
    }
    return {};
  }

  [[nodiscard]] bool has_classes() const { return has_classes_; }
  [[nodiscard]] std::uint32_t most_classes() const { return most_classes_; }

  [[nodiscard]] std::optional<std::vector<std::uint32_t>> classes(const Topology& topology,
                                                                  const Path& path) const {
    const NodeId from = topology.link(path.front()).from;
    const NodeId to = topology.link(path.back()).to;
    if (has_classes_) {
      if (const auto* listed = find(from, to)) {
        for (const ListedRoute& route : *listed) {
          if (route.links == path && !route.classes.empty()) return route.classes;
        }
      }
      return std::vector<std::uint32_t>(path.size(), 0);
    }
    if (routing_ == Routing::up_down) {
      if (route(topology, from, to, 0) != path) return std::nullopt;
      return std::vector<std::uint32_t>(path.size(), 0);
    }
    std::vector<std::uint32_t> classes{0};
    for (std::size_t hop = 1; hop < path.size(); ++hop) {
      std::uint32_t layer = classes.back();
      if (layer == layers_.size()) return std::nullopt;
      const auto allowed = layers_[layer].allowed(path[hop - 1].value(), path[hop].value());
      if (!allowed) return std::nullopt;
      classes.push_back(*allowed ? layer : layer + 1);
    }
    return classes;
  }

 private:
  [[nodiscard]] const std::vector<ListedRoute>* find(NodeId from, NodeId to) const {
    const auto listed = table_.find({from, to});
    return listed == table_.end() ? nullptr : &listed->second;
  }

  Routing routing_;
  std::uint64_t seed_;
  RouteTable table_;
  decltype(NetworkShape::route) base_;
  std::optional<ShortestPaths> paths_;
  std::uint32_t split_ = 1;
  bool has_classes_ = false;
  std::vector<Waits> layers_;  // by VC class, among links
  std::uint32_t most_classes_ = 1;
};

}  // namespace

std::string choose_routes(Topology& topology, Routing routing, std::uint64_t seed,
                          const RouteTable& table) {
  if (routing == Routing::automatic) return {};
  if (routing == Routing::dimension_order) {
    return topology.grid() ? "" : "this network is not a torus or a mesh";
  }
  if (routing == Routing::up_down && may_lack_routes(topology)) return {};  // its own already
  if (routing != Routing::up_down && topology.num_nodes() > kMostRoutedNodes) {
    return fmt::format("the network has {} nodes; routes of all pairs are chosen for at most {}",
                       topology.num_nodes(), kMostRoutedNodes);
  }
  const auto routes = std::make_shared<ChosenRoutes>(topology, routing, seed, table);
  try {
    if (routes->has_classes()) {
      std::string problem = routes->check(topology);
      if (!problem.empty()) return problem;
    } else if (routing != Routing::up_down) {
      routes->classify(topology);
    }
  } catch (const std::invalid_argument& e) {
    return e.what();  // a pair that the table does not list has no route
  }
  NetworkShape shape = topology.shape();
  shape.split = routes->split();
  shape.vc_classes.least = routes->most_classes();
  shape.vc_classes.all = std::max(shape.vc_classes.all, routes->most_classes());
  shape.vc_classes.where = "on the routes of system.routing";
  shape.vc_classes.each = "each set of turns that close no cycle";
  shape.route = [routes](const Topology& network, NodeId from, NodeId to, std::uint32_t channel) {
    return routes->route(network, from, to, channel);
  };
  shape.classes = [routes](const Topology& network, const Path& path) {
    return routes->classes(network, path);
  };
  topology.set_shape(std::move(shape));
  return {};
}

}  // namespace espalier
