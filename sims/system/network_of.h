// The part that the networks of both fidelities share: one router per vertex, and the links between
// the routers.
#pragma once

#include <memory>
#include <utility>
#include <vector>

#include "sims/system/network.h"

namespace espalier {

// RouterType is FlitRouter or TrainRouter.
template <class RouterType>
class NetworkOf : public Network {
 public:
  void add_ejection(NodeId node, std::uint32_t port, PacketSink& ni, Cycle latency) override {
    routers_[node.index()]->add_ejection(ni, port, latency);
  }
  void connect() override {
    for (const auto& router : routers_) router->connect();
  }
  [[nodiscard]] Counters counters() const override {
    Counters sum;
    for (const auto& router : routers_) sum += router->counters();
    return sum;
  }
  void explain_waits(Cycle now, WaitList& waits) const override {
    for (const auto& router : routers_) router->explain_waits(now, waits);
  }

  [[nodiscard]] std::vector<ChannelPlace> channels() override {
    std::vector<ChannelPlace> places;
    for (const auto& router : routers_) {
      for (std::size_t i = 0; i < router->num_inputs(); ++i) {
        auto& channel = router->input_channel(i);
        places.push_back({channel.link().name(), channel.spec(), channel.link().timing(),
                          [&channel](ChannelObserver& observer) { channel.observe(observer); }});
      }
    }
    return places;
  }

 protected:
  using Routers = std::vector<std::unique_ptr<RouterType>>;

  // Calls `make_router(name, vertex, inputs)` for every vertex in turn.
  template <class MakeRouter>
  NetworkOf(const NetworkPlan& plan, MakeRouter&& make_router) : topology_(plan.topology) {
    std::uint64_t next_number = topology_.num_links();
    for (std::size_t v = 0; v < topology_.num_vertices(); ++v) {
      const NodeId vertex(v);
      routers_.push_back(make_router(topology_.vertex_name(vertex).c_str(), vertex,
                                     input_ports(plan, vertex, next_number)));
    }
    for (std::size_t v = 0; v < topology_.num_vertices(); ++v) {
      for (const LinkId l : topology_.out_links(NodeId(v))) {
        const TopologyLink& link = topology_.link(l);
        routers_[v]->add_output(routers_[link.to.index()]->input_channel(link.in_port));
      }
    }
  }

  [[nodiscard]] const Topology& topology() const { return topology_; }
  [[nodiscard]] const Routers& routers() const { return routers_; }
  [[nodiscard]] auto& injection_channel(NodeId node, std::uint32_t port) {
    return routers_[node.index()]->input_channel(topology_.in_links(node).size() + port);
  }

 private:
  const Topology& topology_;
  Routers routers_;
};

}  // namespace espalier
