// Short messages beside a collective: all of them arrive, in bounded time, and hold nobody up.
#include <catch2/catch.hpp>

#include <numeric>
#include <random>
#include <set>

#include "model_test_support.h"
#include "tests/support/networks.h"
#include "tests/support/share_of_cases.h"

namespace espalier {
namespace {

using Catch::Matchers::Contains;
using test::kDefaultLink;
using test::link_of;
using test::Numbers;
using test::Report;

struct Delivered {
  std::size_t from, to;
  Cycle ready, at;
};

struct Result {
  bool verified = false;
  std::string failure;
  Cycle cycles = 0;
  Cycle last_gradient = 0;
  ControlStatistics control;
  std::vector<Delivered> messages;  // of control

  friend bool operator==(const Result& a, const Result& b) {
    const auto times = [](const Result& r) {
      Numbers numbers{r.cycles, r.control.messages, r.control.max_cycles, r.control.p99_cycles};
      for (const Delivered& d : r.messages) {
        numbers.insert(numbers.end(), {d.from, d.to, d.ready, d.at});
      }
      return numbers;
    };
    return times(a) == times(b);
  }
};

Result run(const Topology& topology, const RunPoint& point, const ScheduleTables* tables) {
  const Report report = test::in_child([&] {
    Numbers messages;
    Cycle last_gradient = 0;
    SimulationHooks hooks;
    hooks.delivered = [&](const Operation& o, Cycle now) {
      if (o.is_background()) {
        messages.insert(messages.end(), {o.from.index(), o.to.index(), o.ready, now});
      } else {
        last_gradient = now;
      }
    };
    const SimulationOutcome o = tables != nullptr
                                    ? simulate_collective(topology, point, *tables, hooks)
                                    : simulate_control(topology, point, hooks);
    Numbers numbers{o.verified ? 1U : 0U,
                    o.cycles,
                    last_gradient,
                    o.control->messages,
                    o.control->p99_cycles,
                    o.control->max_cycles,
                    static_cast<std::uint64_t>(o.control->mean_cycles * 1000)};
    numbers.insert(numbers.end(), messages.begin(), messages.end());
    return Report{numbers, o.failure};
  });
  Result result;
  result.failure = report.text;
  auto next = report.numbers.begin();
  result.verified = *next++ != 0;
  result.cycles = *next++;
  result.last_gradient = *next++;
  result.control.messages = *next++;
  result.control.p99_cycles = *next++;
  result.control.max_cycles = *next++;
  result.control.mean_cycles = static_cast<double>(*next++) / 1000;
  for (; next != report.numbers.end(); next += 4) {
    result.messages.push_back({next[0], next[1], next[2], next[3]});
  }
  return result;
}

RunPoint point_of(FlowControlMode mode) {
  RunPoint point;
  point.system = test::in_mode(mode);
  point.control.emplace();
  point.simulation.monitors = true;
  return point;
}

Result beside(const std::string& algorithm, const Topology& topology, Bytes size, RunPoint point) {
  const ScheduleTables tables = test::tables_for(algorithm, topology, size);
  point.collective.emplace();
  return run(topology, point, &tables);
}

std::uint64_t packet_flits(Bytes bytes) { return (bytes + 15) / 16 + 1; }

// docs/timing.md: the last flit visible, h links away, on an idle network.
Cycle zero_load(const SystemConfig& config, Cycle link, std::uint64_t flits, std::size_t hops) {
  return flits + config.ni.dma_latency_cycles + config.ni.injection_cycles +
         (hops + 1) * config.router.pipeline_cycles + hops * link + config.ni.ejection_cycles +
         config.ni.delivery_cycles - 1;
}

TEST_CASE("Every control message arrives while gradients saturate the network", "[slow]") {
  const Topology torus = make_torus({4, 4}, kDefaultLink);
  for (const char* algorithm : {"ring", "multitree"}) {
    for (const FlowControlMode mode : {FlowControlMode::packet, FlowControlMode::message}) {
      for (const CrossbarInputs inputs : {CrossbarInputs::port, CrossbarInputs::vc}) {
        for (const SwitchHold hold : {SwitchHold::packet, SwitchHold::flit}) {
          RunPoint point = point_of(mode);
          point.control->injection_rate = 0.02;
          point.system.router.crossbar_inputs = inputs;
          point.system.router.hold = hold;
          const Result result = beside(algorithm, torus, 256 << 10, point);
          CAPTURE(algorithm, static_cast<int>(mode), static_cast<int>(inputs),
                  static_cast<int>(hold), result.failure);
          CHECK(result.verified);
          // 16 nodes, messages of two flits.
          const double posted = 16 * 0.01 * static_cast<double>(result.last_gradient + 1);
          CHECK(static_cast<double>(result.control.messages) == Approx(posted).epsilon(0.1));
          CHECK(result.messages.size() == result.control.messages);
          for (const Delivered& m : result.messages) CHECK(m.ready <= result.last_gradient);
          CHECK(result.control.max_cycles < 1500);
        }
      }
    }
  }
}

TEST_CASE(
    "The run goes on until the last control message has arrived, the cycles are the "
    "collective's") {
  RunPoint point = point_of(FlowControlMode::message);
  point.control->injection_rate = 0.05;
  const Result result = beside("multitree", make_torus({4, 4}, kDefaultLink), 64 << 10, point);
  REQUIRE(result.verified);
  CHECK(result.cycles == result.last_gradient);
  CHECK(result.messages.back().at > result.last_gradient);
}

TEST_CASE("A duration ends control messages before the collective does") {
  RunPoint point = point_of(FlowControlMode::message);
  point.control->duration_cycles = 1000;
  point.control->injection_rate = 0.05;
  const Result result = beside("multitree", make_torus({4, 4}, kDefaultLink), 64 << 10, point);
  REQUIRE(result.verified);
  CHECK(result.last_gradient > 2000);
  CHECK(result.control.messages > 300);
  for (const Delivered& m : result.messages) CHECK(m.ready < 1000);
}

TEST_CASE("On an idle network a control message takes its zero-load latency") {
  const Topology torus = make_torus({4, 4}, kDefaultLink);
  for (const Bytes bytes : {Bytes{1}, Bytes{16}, Bytes{17}, Bytes{256}}) {
    RunPoint point = point_of(FlowControlMode::message);
    point.control->message_bytes = bytes;
    point.control->injection_rate = 1e-4;
    point.control->duration_cycles = 60'000;
    const Result result = run(torus, point, nullptr);
    REQUIRE(result.verified);
    REQUIRE(result.messages.size() > 4);
    std::size_t alone = 0;
    for (const Delivered& m : result.messages) {
      const auto overlaps = [&](const Delivered& other) {
        return &other != &m && other.ready <= m.at && m.ready <= other.at;
      };
      if (std::any_of(result.messages.begin(), result.messages.end(), overlaps)) continue;
      const std::size_t hops = route_packet(torus, NodeId(m.from), NodeId(m.to)).size();
      CHECK(m.at - m.ready == zero_load(point.system, 150, packet_flits(bytes), hops));
      ++alone;
    }
    CHECK(alone > 0);
  }
}

TEST_CASE("Control messages go to every other node, or to the next one") {
  const Topology torus = make_torus({4, 4}, link_of(10));
  for (const ControlPattern pattern : {ControlPattern::uniform, ControlPattern::neighbor}) {
    RunPoint point = point_of(FlowControlMode::packet);
    point.control->pattern = pattern;
    point.control->injection_rate = 0.05;
    point.control->duration_cycles = 10'000;
    const Result result = run(torus, point, nullptr);
    REQUIRE(result.verified);
    std::set<std::pair<std::size_t, std::size_t>> pairs;
    for (const Delivered& m : result.messages) pairs.insert({m.from, m.to});
    CHECK(pairs.size() == (pattern == ControlPattern::uniform ? 16 * 15 : 16));
    for (const auto& [from, to] : pairs) {
      CHECK(from != to);
      if (pattern == ControlPattern::neighbor) CHECK(to == (from + 1) % 16);
    }
  }
}

// Control messages posted by hand ----------------------------------------------------------------

struct Script {
  std::size_t from, to;
  Bytes bytes;
  Cycle ready;
};

class ScriptedSource : public MessageSource {
 public:
  void add(const Operation& operation) { posts_.push_back(operation); }
  [[nodiscard]] Cycle next_ready() const override {
    return next_ == posts_.size() ? kNever : posts_[next_].ready;
  }
  [[nodiscard]] const Operation& front() override { return posts_[next_]; }
  void pop() override { ++next_; }

 private:
  std::vector<Operation> posts_;
  std::size_t next_ = 0;
};

class Log : public DeliveryObserver {
 public:
  Log(ClockDomain& clock, std::size_t gradients, std::size_t controls)
      : clock_(clock), left_(gradients + controls), control_(controls, kNever) {}
  void issued(const Operation&, Cycle) override {}
  void delivered(const Operation& operation, Cycle now) override {
    if (operation.is_background()) {
      control_[operation.flow.index()] = now;
    } else {
      last_gradient_ = now;
    }
    if (--left_ == 0) clock_.stop();
  }
  [[nodiscard]] const Numbers& control() const { return control_; }
  [[nodiscard]] Cycle last_gradient() const { return last_gradient_; }

 private:
  ClockDomain& clock_;
  std::size_t left_;
  Numbers control_;
  Cycle last_gradient_ = 0;
};

struct Scripted {
  Numbers latency;  // of control messages, in the order of the script; kNever - ready: lost
  Cycle last_gradient = 0;
  Numbers link_flits;
  std::string violation;
};

Scripted run_script(const Topology& topology, const SystemConfig& config,
                    const ControlConfig& control, const std::vector<test::Post>& gradients,
                    const std::vector<Script>& script, Cycle limit = 400'000) {
  const Report report = test::in_child([&] {
    SimulationConfig simulation;
    simulation.monitors = true;
    const SystemTiming timing = time_links(topology, config.clock);
    RouteSet routes(topology);
    std::vector<Operation> operations;
    std::vector<RouteId> used;
    for (const test::Post& post : gradients) {
      Operation operation;
      operation.flow = FlowId(operations.size());
      operation.from = NodeId(post.from);
      operation.to = NodeId(post.to);
      operation.route = routes.add(topology, route_packet(topology, operation.from, operation.to));
      operation.bytes = post.bytes;
      operation.ready = post.ready;
      operations.push_back(operation);
      used.push_back(operation.route);
    }
    std::sort(used.begin(), used.end());
    used.erase(std::unique(used.begin(), used.end()), used.end());
    const sc_core::sc_time period(1, sc_core::SC_NS);
    ClockDomain clock("clock", period, false);
    Log log(clock, gradients.size(), script.size());
    Fabric fabric("net", clock, config, simulation, topology, timing, routes, used, 4, log,
                  &control);
    for (const Operation& operation : operations) fabric.ni(operation.from).post(operation);
    std::vector<ScriptedSource> sources(topology.num_nodes());
    RouteSet control_routes(topology);
    for (std::size_t m = 0; m < script.size(); ++m) {
      const NodeId from(script[m].from);
      const NodeId to(script[m].to);
      const RouteId route = control_routes.add(topology, route_packet(topology, from, to));
      Operation post;
      post.traffic = TrafficClass::control;
      post.flow = FlowId(m);
      post.from = from;
      post.to = to;
      post.bytes = script[m].bytes;
      post.ready = script[m].ready;
      post.route = fabric.bind_control(control_routes, route);
      sources[from.index()].add(post);
    }
    for (std::size_t n = 0; n < sources.size(); ++n) {
      fabric.ni(NodeId(n)).connect_control(sources[n]);
    }
    sc_core::sc_start(period * static_cast<double>(limit));
    Numbers numbers{log.last_gradient()};
    for (std::size_t m = 0; m < script.size(); ++m) {
      numbers.push_back(log.control()[m] - script[m].ready);
    }
    for (const std::uint64_t flits : fabric.link_flits()) numbers.push_back(flits);
    return Report{numbers, fabric.monitor_violation(clock.stopped())};
  });
  const auto begin = report.numbers.begin() + 1;
  const auto end = begin + static_cast<std::ptrdiff_t>(script.size());
  return {{begin, end}, report.numbers.front(), {end, report.numbers.end()}, report.text};
}

TEST_CASE("A control message passes the links of its route and no others") {
  const Topology torus = make_torus({4, 4}, link_of(10));
  const SystemConfig config;
  for (const auto& [from, to] : {std::pair{0, 15}, {5, 2}, {3, 0}, {9, 10}}) {
    const Scripted result =
        run_script(torus, config, {}, {},
                   {{static_cast<std::size_t>(from), static_cast<std::size_t>(to), 100, 7}});
    CHECK(result.violation == "");
    const auto route = route_packet(torus, NodeId(static_cast<std::size_t>(from)),
                                    NodeId(static_cast<std::size_t>(to)));
    for (std::size_t l = 0; l < torus.num_links(); ++l) {
      const bool on_route = std::find(route.begin(), route.end(), LinkId(l)) != route.end();
      CHECK(result.link_flits[l] == (on_route ? packet_flits(100) : 0));
    }
  }
}

// 0 -> 4 along a line. Gradients from all nodes to the last, so that every output on the way has
// two inputs that stream to it and the injection ports are busy.
std::vector<test::Post> all_to_the_end(std::size_t nodes, Bytes bytes) {
  std::vector<test::Post> gradients;
  for (std::size_t n = 0; n + 1 < nodes; ++n) gradients.push_back({n, nodes - 1, bytes});
  return gradients;
}

// docs/latency.md, without other control messages: the gradient lane of each input port
// goes once, and each of its packets is at most S flits and has been held up at most once, by C
// flits, by each router on its way and before it started here.
Cycle wait_bound(std::uint64_t inputs, std::uint64_t sub_packet, std::uint64_t control,
                 std::uint64_t routers) {
  return inputs * (sub_packet + (routers + 1) * control);
}

TEST_CASE(
    "A control packet among saturating gradients waits no longer than the bound, hop by hop") {
  constexpr std::size_t kNodes = 5;
  const Topology line = make_mesh({kNodes}, link_of(20));
  test::ShareOfCases share(3);
  for (const FlowControlMode mode : {FlowControlMode::packet, FlowControlMode::message}) {
    for (const Bytes bytes : {Bytes{16}, Bytes{128}}) {
      if (!share.take()) continue;
      SystemConfig config = test::in_mode(mode);
      config.router.vcs = 4;
      std::vector<Script> script;
      // Never two of them under way.
      for (Cycle ready = 500; ready < 40'000; ready += 1009) script.push_back({0, 4, bytes, ready});
      const Scripted result =
          run_script(line, config, {}, all_to_the_end(kNodes, 256 << 10), script);
      REQUIRE(result.violation == "");
      REQUIRE(result.last_gradient > 40'000);
      const std::uint64_t flits = packet_flits(bytes);
      const Cycle idle = zero_load(config, 20, flits, 4);
      // Inner routers: two links and an injection port for each.
      const Cycle bound = idle + 17 + kNodes * wait_bound(4, 17, flits, kNodes);
      const Cycle worst = *std::max_element(result.latency.begin(), result.latency.end());
      CAPTURE(static_cast<int>(mode), bytes, idle, worst, bound);
      CHECK(worst <= bound);
      // There was something to wait for.
      CHECK(worst > idle + 17);
      CHECK(*std::min_element(result.latency.begin(), result.latency.end()) >= idle);
    }
  }
}

TEST_CASE(
    "In a VC of gradients a control message waits for the tail of the message before it, in "
    "a VC of its own it does not") {
  const Topology line = make_mesh({2}, link_of(20));
  constexpr Bytes kGradient = 1 << 20;
  constexpr Cycle kGradientFlits = kGradient / 16;
  SystemConfig config = test::in_mode(FlowControlMode::message);
  const std::vector<test::Post> gradients{{0, 1, kGradient}};
  const std::vector<Script> script{{0, 1, 16, 100}};
  ControlConfig control;
  control.vcs = ControlVcs::shared;
  config.router.vcs = 1;
  const Scripted shared = run_script(line, config, control, gradients, script);
  CHECK(shared.violation == "");
  CHECK(shared.latency[0] > kGradientFlits - 100);
  control.vcs = ControlVcs::own;
  config.router.vcs = 2;
  const Scripted own = run_script(line, config, control, gradients, script);
  CHECK(own.violation == "");
  CHECK(own.latency[0] <= zero_load(config, 20, 2, 1) + 17 + 2 * wait_bound(2, 17, 2, 2));
  CHECK(own.last_gradient <= shared.last_gradient + 4);
}

TEST_CASE("A control packet longer than a VC spans routers, by wormhole, and arrives") {
  const Topology line = make_mesh({4}, link_of(5));
  const SystemConfig config = test::in_mode(FlowControlMode::message);
  const std::uint64_t flits = packet_flits(256);
  for (const std::uint32_t depth : {1U, 2U, 4U, 16U, 17U, 40U}) {
    ControlConfig control;
    control.vc_depth_flits = depth;
    const Scripted result = run_script(line, config, control, {}, {{0, 3, 256, 10}});
    CAPTURE(depth);
    CHECK(result.violation == "");
    // Each flit's slot is free again after link, pipeline and credit.
    const Cycle loop = 5 + 2 + 5;
    const Cycle idle = zero_load(config, 5, flits, 3);
    if (depth >= loop) {
      CHECK(result.latency[0] == idle);
    } else {
      // `depth` flits per loop; a packet that needed a whole packet's credits would never start.
      CHECK(result.latency[0] == idle + (flits - 1) / depth * (loop - depth));
    }
  }
}

TEST_CASE("Control packets that stall hold up no gradient: it loses the cycles of their flits") {
  const Topology line = make_mesh({4}, link_of(20));
  const SystemConfig config = test::in_mode(FlowControlMode::message);
  const std::vector<test::Post> gradients{{0, 3, 256 << 10}};
  ControlConfig control;
  control.vc_depth_flits = 2;
  std::vector<Script> script;
  for (Cycle ready = 100; ready < 10'000; ready += 500) script.push_back({0, 3, 256, ready});
  const Scripted alone = run_script(line, config, control, gradients, {});
  const Scripted with = run_script(line, config, control, gradients, script);
  CHECK(with.violation == "");
  for (const Cycle latency : with.latency) CHECK(latency < 20'000);
  const Cycle stolen = script.size() * packet_flits(256);
  CHECK(with.last_gradient > alone.last_gradient);
  CHECK(with.last_gradient <= alone.last_gradient + 2 * stolen);
}

TEST_CASE("Slow links, refusing links and limited DMA engines deliver control messages too") {
  Topology torus = make_torus({4, 4}, link_of(20, 5'000'000'000));
  RunPoint point = point_of(FlowControlMode::message);
  point.simulation.stall_probability = 0.2;
  point.system.ni.dma_bytes_per_cycle = 24;
  point.control->vc_depth_flits = 3;
  point.control->message_bytes = 64;
  const Result result = beside("multitree", torus, 64 << 10, point);
  CHECK(result.failure == "");
  CHECK(result.verified);
  CHECK(result.control.messages > 50);
}

TEST_CASE("Control messages change neither with the gradients nor with the run") {
  const Topology torus = make_torus({4, 4}, kDefaultLink);
  const RunPoint point = point_of(FlowControlMode::message);
  const Result one = beside("multitree", torus, 64 << 10, point);
  CHECK(one == beside("multitree", torus, 64 << 10, point));
  RunPoint other_seed = point;
  other_seed.control->seed = 2;
  CHECK_FALSE(one == beside("multitree", torus, 64 << 10, other_seed));
  // The same messages are posted, whatever they meet.
  const auto posted = [](const Result& result, Cycle until) {
    std::set<std::tuple<Cycle, std::size_t, std::size_t>> messages;
    for (const Delivered& m : result.messages) {
      if (m.ready <= until) messages.insert({m.ready, m.from, m.to});
    }
    return messages;
  };
  const Result ring = beside("ring", torus, 64 << 10, point);
  const Cycle both = std::min(one.last_gradient, ring.last_gradient);
  CHECK(posted(one, both).size() > 50);
  CHECK(posted(one, both) == posted(ring, both));
}

TEST_CASE(
    "Modules that sleep deliver control messages as modules that never do, in random "
    "systems") {
  const unsigned seed = 20'240'817;
  std::mt19937 random(seed);
  const auto draw = [&](std::initializer_list<std::uint64_t> choices) {
    return *(choices.begin() + random() % choices.size());
  };
  for (int i = 0; i < (test::kSanitized ? 3 : 24); ++i) {
    CAPTURE(seed, i);
    const LinkSpec link = link_of(draw({1, 7, 60}), draw({16, 16, 8, 5}) * 1'000'000'000);
    const Topology topology =
        random() % 3 == 0 ? make_mesh({3, 2}, link)
                          : make_torus({static_cast<std::uint32_t>(draw({2, 3, 4})), 4}, link);
    RunPoint point =
        point_of(random() % 2 == 0 ? FlowControlMode::packet : FlowControlMode::message);
    point.system.router.vcs = static_cast<std::uint32_t>(draw({4, 5, 8}));
    point.system.router.vc_depth_flits = static_cast<std::uint32_t>(draw({17, 40, 318}));
    point.system.router.crossbar_inputs =
        random() % 3 == 0 ? CrossbarInputs::vc : CrossbarInputs::port;
    point.system.router.hold = random() % 4 == 0 ? SwitchHold::flit : SwitchHold::packet;
    point.system.router.pipeline_cycles = draw({0, 2});
    point.system.ni.dma_bytes_per_cycle = draw({0, 0, 20});
    point.system.ni.send_queue = static_cast<std::uint32_t>(draw({1, 16}));
    point.control->injection_rate = 0.01 * static_cast<double>(draw({1, 5, 20}));
    point.control->message_bytes = draw({1, 16, 100, 600});
    point.control->vcs = random() % 3 == 0 ? ControlVcs::shared : ControlVcs::own;
    point.control->vc_depth_flits = static_cast<std::uint32_t>(draw({0, 1, 5}));
    point.simulation.stall_probability = random() % 4 == 0 ? 0.1 : 0;
    const std::string algorithm =
        find_generator("multitree")->unsuited(topology).empty() && random() % 2 == 0 ? "multitree"
                                                                                     : "ring";
    const Result sleeping = beside(algorithm, topology, 24 << 10, point);
    CHECK(sleeping.failure == "");
    CHECK(sleeping.verified);
    point.simulation.always_clocked = true;
    CHECK(sleeping == beside(algorithm, topology, 24 << 10, point));
  }
}

TEST_CASE("Control messages do not hide that a collective is stuck") {
  const Topology line = make_mesh({2}, link_of(50));
  const TablePeer to_1{NodeId(1), RouteSet::single(line.link_between(NodeId(0), NodeId(1)))};
  ScheduleTables tables(line);
  tables.op = CollectiveOp::all_gather;
  tables.size = 128;
  tables.num_steps = 1;
  tables.chunks = {{0, 64, NodeId(0)}, {64, 64, NodeId(1)}};
  TableEntry entry;  // waits for what node 1 never sends
  entry.op = TableOp::gather;
  entry.flow = FlowId(1);
  entry.parent.node = NodeId(1);
  entry.children = {to_1};
  entry.step = 1;
  entry.start_addr = 64;
  entry.size = 64;
  tables.nodes = {{entry}, {}};
  RunPoint point = point_of(FlowControlMode::message);
  point.control->injection_rate = 0.1;
  point.collective.emplace();
  point.simulation.watchdog_cycles = 3000;
  const Result result = run(line, point, &tables);
  CHECK_FALSE(result.verified);
  CHECK_THAT(result.failure, Contains("no progress at cycle"));
}

TEST_CASE("A network that cannot keep control messages apart is refused") {
  RunPoint point = point_of(FlowControlMode::message);
  point.system.router.vcs = 1;
  CHECK_THROWS_WITH(beside("ring", make_torus({4}, kDefaultLink), 4096, point),
                    Contains("the routers have too few VCs for control messages"));
  point.system.router.vcs = 4;
  point.simulation.fidelity = Fidelity::train;
  CHECK_THROWS_WITH(beside("ring", make_torus({4}, kDefaultLink), 4096, point),
                    Contains("control"));
  point.simulation.fidelity = Fidelity::cycle;
  CHECK_THROWS_WITH(run(make_torus({4}, kDefaultLink), point, nullptr), Contains("duration"));
}

}  // namespace
}  // namespace espalier
