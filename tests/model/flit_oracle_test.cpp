// Random systems in the engine and in the oracle: every message must be issued and delivered in the
// same cycles. ESPALIER_FUZZ_CASES sets the number of cases, ESPALIER_FUZZ_SEED the first one's
// seed.
#include "flit_oracle.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cstdlib>
#include <optional>
#include <random>
#include <stdexcept>
#include <string>
#include <vector>

#include "model_test_support.h"
#include "tests/support/networks.h"

namespace espalier {
namespace {

using test::BenchResult;
using test::OracleMessage;
using test::OracleResult;
using test::Post;

constexpr Cycle kLimit = 1'000'000;

// Of a link: flits per cycle.
struct Rate {
  std::uint64_t flits;
  std::uint64_t cycles;
};

class RandomSystem {
 public:
  explicit RandomSystem(std::uint64_t seed) : random_(seed) {
    config_.clock.flit_bytes = chance(2) ? 16 : 24;  // 24: thirds of the full rate are whole B/s
    choose_flow_control();
    choose_links();
    topology_ = choose_topology();
    choose_router();
    choose_ni();
    post();
    simulation_.always_clocked = chance(4);
  }

  [[nodiscard]] const Topology& topology() const { return *topology_; }
  [[nodiscard]] const SystemConfig& config() const { return config_; }
  [[nodiscard]] const std::vector<Post>& posts() const { return posts_; }
  [[nodiscard]] const SimulationConfig& simulation() const { return simulation_; }
  [[nodiscard]] std::uint32_t ni_ports() const {
    return config_.ni.ports != 0 ? config_.ni.ports : 6;
  }

  [[nodiscard]] std::string description() const {
    const SystemConfig& c = config_;
    std::string text = fmt::format(
        "{}: {} mode, payload {} B, flit {} B{}, {} VCs of {} flits, credit latency {}, pipeline "
        "{}, crossbar inputs per {}, {} NI ports, send queue {}, d {} i {} e {} v {}{}\n",
        topology_->name(), c.flow_control.mode == FlowControlMode::message ? "message" : "packet",
        c.flow_control.payload_bytes, c.clock.flit_bytes,
        c.flow_control.pad_last_packet ? " padded" : "", c.router.vcs, c.router.vc_depth_flits,
        c.credit_latency_cycles, c.router.pipeline_cycles,
        c.router.crossbar_inputs == CrossbarInputs::port ? "port" : "VC", ni_ports(),
        c.ni.send_queue, c.ni.dma_latency_cycles, c.ni.injection_cycles, c.ni.ejection_cycles,
        c.ni.delivery_cycles, simulation_.always_clocked ? ", always clocked" : "");
    for (std::size_t l = 0; l < topology_->num_links(); ++l) {
      const TopologyLink& link = topology_->link(LinkId(l));
      text += fmt::format("link {}: {} -> {} latency {} ps, {} B/s\n", l, link.from.index(),
                          link.to.index(), link.spec.latency_ps, link.spec.bytes_per_second);
    }
    for (std::size_t p = 0; p < posts_.size(); ++p) {
      text += fmt::format("post {}: {} -> {} {} B, ready {}, links {}\n", p, posts_[p].from,
                          posts_[p].to, posts_[p].bytes, posts_[p].ready,
                          fmt::join(posts_[p].links, " "));
    }
    return text;
  }

 private:
  std::uint64_t pick(std::uint64_t count) { return random_() % count; }
  std::uint64_t between(std::uint64_t low, std::uint64_t high) {
    return low + pick(high - low + 1);
  }
  bool chance(std::uint64_t one_in) { return pick(one_in) == 0; }
  template <class T>
  T one_of(const std::vector<T>& values) {
    return values[pick(values.size())];
  }

  void choose_flow_control() {
    FlowControlConfig& flow = config_.flow_control;
    flow.mode = chance(2) ? FlowControlMode::message : FlowControlMode::packet;
    flow.payload_bytes = one_of<Bytes>({1, 2, 3, 4, 8, 16}) * config_.clock.flit_bytes;
    flow.sub_message_bytes = flow.payload_bytes * between(1, 4);
    flow.pad_last_packet = flow.mode == FlowControlMode::packet && chance(3);
    longest_packet_ = static_cast<std::uint32_t>(flow.payload_bytes / config_.clock.flit_bytes) + 1;
  }

  void choose_links() {
    std::vector<Rate> rates{{1, 1}, {1, 2}, {3, 5}, {3, 4}, {4, 5}, {2, 5}};
    if (config_.clock.flit_bytes == 24) {
      for (const Rate rate : {Rate{2, 3}, Rate{5, 6}, Rate{1, 3}}) rates.push_back(rate);
    }
    for (std::uint64_t different = between(1, 3); different > 0; --different) {
      rates_.push_back(one_of(rates));
    }
    if (chance(3)) rates_ = {{1, 1}};
    longest_latency_ = one_of<Cycle>({1, 3, 10, 40});
  }

  LinkSpec random_link() {
    const Rate rate = one_of(rates_);
    const std::uint64_t full = config_.clock.flit_bytes * config_.clock.hertz;
    return test::link_of(between(1, longest_latency_), full * rate.flits / rate.cycles);
  }

  Topology choose_topology() {
    switch (pick(3)) {
      case 0:
        return with_random_links(make_torus(random_dims(), test::kDefaultLink));
      case 1:
        return with_random_links(make_mesh(random_dims(), test::kDefaultLink));
      default:
        return random_graph();
    }
  }

  std::vector<std::uint32_t> random_dims() {
    return one_of<std::vector<std::uint32_t>>(
        {{2}, {3}, {4}, {6}, {2, 2}, {3, 2}, {3, 3}, {4, 3}, {2, 2, 2}});
  }

  Topology with_random_links(const Topology& regular) {
    Topology topology(regular.name());
    for (std::size_t v = 0; v < regular.num_nodes(); ++v) {
      topology.add_node(regular.vertex_name(NodeId(v)));
    }
    const bool all_equal = chance(2);
    const LinkSpec spec = random_link();
    for (const TopologyLink& link : regular.links()) {
      topology.add_link(link.from, link.to, all_equal ? spec : random_link(), link.out_name,
                        link.in_name);
    }
    topology.set_shape(regular.shape());
    return topology;
  }

  // A random tree of cables and some more of them, parallel ones included.
  Topology random_graph() {
    const std::size_t nodes = between(2, 6);
    const std::size_t vertices = nodes + pick(4);
    Topology topology(fmt::format("graph of {} nodes and {} switches", nodes, vertices - nodes));
    for (std::size_t v = 0; v < vertices; ++v) {
      const std::string name = fmt::format("v{}", v);
      if (v < nodes) {
        topology.add_node(name);
      } else {
        topology.add_switch(name);
      }
    }
    const auto add_cable = [&](std::size_t a, std::size_t b) {
      const std::string there = fmt::format("c{}", topology.num_links());
      const std::string back = fmt::format("c{}", topology.num_links() + 1);
      topology.add_link(NodeId(a), NodeId(b), random_link(), there, back);
      topology.add_link(NodeId(b), NodeId(a), random_link(), back, there);
    };
    const bool star = vertices > nodes && chance(3);
    for (std::size_t v = 0; star && v < vertices; ++v) {
      if (v != nodes) add_cable(v, nodes);
    }
    for (std::size_t v = 1; !star && v < vertices; ++v) add_cable(v, pick(v));
    for (std::size_t extra = pick(4); extra > 0; --extra) {
      const std::size_t a = pick(vertices);
      add_cable(a, (a + 1 + pick(vertices - 1)) % vertices);
    }
    return topology;
  }

  void choose_router() {
    RouterConfig& router = config_.router;
    router.vcs = static_cast<std::uint32_t>(between(vc_classes(*topology_), 4));
    router.pipeline_cycles = pick(4);
    router.crossbar_inputs = chance(2) ? CrossbarInputs::port : CrossbarInputs::vc;
    config_.credit_latency_cycles = chance(2) ? 0 : between(1, longest_latency_);
    const std::uint64_t loop = 2 * longest_latency_ + router.pipeline_cycles;
    router.vc_depth_flits =
        longest_packet_ +
        static_cast<std::uint32_t>(one_of<std::uint64_t>(
            {0, 1, pick(longest_packet_), pick(loop + 1), loop - 1, loop + longest_packet_}));
  }

  void choose_ni() {
    NiConfig& ni = config_.ni;
    ni.ports = static_cast<std::uint32_t>(pick(4));
    ni.send_queue = one_of<std::uint32_t>({1, 2, 3, 16});
    ni.dma_latency_cycles = between(1, 5);
    ni.injection_cycles = between(1, 4);
    ni.ejection_cycles = between(1, 5);
    ni.delivery_cycles = between(1, 3);
  }

  void post() {
    const std::uint64_t messages = one_of<std::uint64_t>({1, 5, 20, 40, 60});
    const std::uint64_t most_packets = one_of<std::uint64_t>({1, 3, messages > 20 ? 8U : 20U});
    const Cycle span = one_of<Cycle>({0, 10, 100, 1000});
    const std::uint64_t instants = between(1, 6);
    const bool one_target = chance(4);
    const std::size_t nodes = topology_->num_nodes();
    for (std::uint64_t m = 0; m < messages; ++m) {
      Post post;
      post.to = one_target ? 0 : pick(nodes);
      post.from = (post.to + 1 + pick(nodes - 1)) % nodes;
      post.bytes = between(1, most_packets * config_.flow_control.payload_bytes);
      post.ready = chance(3) ? pick(span + 1) : span * pick(instants) / instants;
      choose_route(post);
      posts_.push_back(post);
    }
    std::stable_sort(posts_.begin(), posts_.end(),
                     [](const Post& a, const Post& b) { return a.ready < b.ready; });
  }

  // A normal packet's, or one of the links out of the sender.
  void choose_route(Post& post) {
    const LinkId link = one_of(topology_->out_links(NodeId(post.from)));
    if (chance(4) && !topology_->is_switch(topology_->link(link).to)) {
      post.to = topology_->link(link).to.index();
      post.links = {link.index()};
      return;
    }
    for (const LinkId hop : route_packet(*topology_, NodeId(post.from), NodeId(post.to))) {
      post.links.push_back(hop.index());
    }
  }

  std::mt19937_64 random_;
  SystemConfig config_;
  SimulationConfig simulation_;
  std::uint32_t longest_packet_ = 0;
  std::vector<Rate> rates_;
  Cycle longest_latency_ = 0;
  std::optional<Topology> topology_;
  std::vector<Post> posts_;
};

OracleResult ask_oracle(const RandomSystem& system) {
  std::vector<OracleMessage> messages;
  for (const Post& post : system.posts()) {
    OracleMessage message{post.from, post.to, post.bytes, post.ready, {}};
    for (const std::size_t link : post.links) message.links.emplace_back(link);
    messages.push_back(message);
  }
  return test::run_oracle(system.topology(), system.config(), messages, system.ni_ports(), kLimit);
}

std::uint64_t number_from(const char* variable, std::uint64_t otherwise) {
  const char* text = std::getenv(variable);
  return text == nullptr ? otherwise : std::strtoull(text, nullptr, 10);
}

TEST_CASE("Both fidelities agree with a flit-by-flit oracle on random systems") {
  const std::uint64_t first = number_from("ESPALIER_FUZZ_SEED", 1);
  const std::uint64_t cases = number_from("ESPALIER_FUZZ_CASES", 60);
  for (std::uint64_t seed = first; seed < first + cases; ++seed) {
    const RandomSystem system(seed);
    INFO("seed " << seed << ", " << system.description());
    const OracleResult oracle = ask_oracle(system);
    // All of them arrive: the routes are free of deadlock.
    CHECK(std::count(oracle.delivered.begin(), oracle.delivered.end(), kNever) == 0);
    for (const Fidelity fidelity : {Fidelity::cycle, Fidelity::train}) {
      SimulationConfig simulation = system.simulation();
      simulation.fidelity = fidelity;
      const BenchResult engine = test::post_messages(system.topology(), system.config(),
                                                     system.posts(), simulation, kLimit);
      INFO((fidelity == Fidelity::train ? "train" : "cycle"));
      CHECK(engine.violation == "");
      CHECK(engine.issued == oracle.issued);
      CHECK(engine.delivered == oracle.delivered);
      CHECK(engine.flit_hops == oracle.flit_hops);
      CHECK(engine.link_flits == oracle.link_flits);
    }
  }
}

TEST_CASE("The oracle refuses settings that it does not model") {
  const Topology topology = make_mesh({2}, test::kDefaultLink);
  const auto run = [&](const SystemConfig& config) {
    return test::run_oracle(topology, config, {{0, 1, 256, 0, {LinkId(0)}}}, 1, kLimit);
  };
  CHECK(run({}).delivered.front() == 17 + 161);  // docs/timing.md: F + 161 with the defaults
  SystemConfig config;
  config.ni.dma_bytes_per_cycle = 16;
  CHECK_THROWS_AS(run(config), std::invalid_argument);
  config = {};
  config.router.switching = Switching::wormhole;
  CHECK_THROWS_AS(run(config), std::invalid_argument);
  config = {};
  config.router.hold = SwitchHold::flit;
  CHECK_THROWS_AS(run(config), std::invalid_argument);
}

}  // namespace
}  // namespace espalier
