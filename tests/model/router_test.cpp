// One router by hand: senders that put flits on its input channels in given cycles, and receivers
// behind its two outputs that drain them in given cycles.
#include <catch2/catch.hpp>

#include "model_test_support.h"
#include "router/router.h"

namespace espalier {
namespace {

struct Sent {
  std::size_t input;
  std::uint32_t vc;
  Cycle at;  // of its first flit
  std::size_t message;
  std::vector<FlitType> flits;
};

struct Bench {
  RouterSpec router;
  Switching switching = Switching::vct;
  std::uint32_t out_depth = 100;
  Cycle credit_latency = 5;
  VcMask permitted = 1;              // VCs behind the output, for every message but these:
  std::vector<std::size_t> control;  // by wormhole, in VC 1
  std::uint32_t control_depth = 100;
  std::vector<Sent> sent;
  std::function<Cycle(std::size_t)> drain = [](std::size_t) { return Cycle{0}; };  // by flit
};

// Messages from this one on leave by output 1, the others by output 0.
constexpr std::size_t kFirstOfOutput1 = 12;

struct Received {
  Cycle departed;
  std::uint32_t vc;
  std::size_t message;
};

constexpr Cycle kInLatency = 2;
constexpr Cycle kPipeline = 2;
constexpr Cycle kOutLatency = 10;
constexpr Cycle kThrough = kInLatency + kPipeline;  // first flit sent -> may leave the router

class Sender : public Clocked {
 public:
  Sender(ClockDomain& clock, Router& router, const std::vector<Sent>& packets) : router_(router) {
    const ClockedId id = clock.add(*this);
    for (const Sent& packet : packets) {
      for (std::size_t f = 0; f < packet.flits.size(); ++f) {
        const Flit flit{MessageId(packet.message),
                        static_cast<std::uint16_t>(packet.flits.size() - f), 0, packet.flits[f]};
        script_.push_back({packet.at + f, packet.input, packet.vc, flit});
        clock.wake(id, packet.at + f);
      }
    }
  }
  void evaluate(Cycle now) override {
    for (const Step& step : script_) {
      if (step.at == now) router_.input_channel(step.input).send(step.vc, step.flit, now);
    }
  }

 private:
  struct Step {
    Cycle at;
    std::size_t input;
    std::uint32_t vc;
    Flit flit;
  };
  Router& router_;
  std::vector<Step> script_;
};

class Drain : public Clocked, public FlitReceiver {
 public:
  Drain(ClockDomain& clock, Channel& channel, const Bench& bench)
      : clock_(clock), id_(clock.add(*this)), channel_(channel), bench_(bench) {
    channel.connect_receiver(*this);
  }
  void flit_coming(Cycle cycle) override { clock_.wake(id_, cycle); }
  void evaluate(Cycle now) override {
    bool waits = false;
    for (std::uint32_t vc = 0; vc < channel_.spec().vcs; ++vc) {
      const VcBuffer& buffer = channel_.buffer(vc);
      if (buffer.empty()) continue;
      waits = true;
      if (buffer.front_usable() > now || bench_.drain(received_.size() / 3) > now) continue;
      const Cycle departed = buffer.front_usable() - kOutLatency;
      received_.insert(received_.end(), {departed, vc, buffer.front().message.index()});
      channel_.pop(vc, now);
    }
    if (waits) clock_.wake(id_, now + 1);
  }
  [[nodiscard]] const test::Numbers& received() const { return received_; }

 private:
  ClockDomain& clock_;
  ClockedId id_;
  Channel& channel_;
  const Bench& bench_;
  test::Numbers received_;
};

std::vector<Received> run(const Bench& bench) {
  const test::Report report = test::in_child([&] {
    const sc_core::sc_time period(1, sc_core::SC_NS);
    ClockDomain clock("clock", period, false);
    MessageTable messages;
    PathTable paths;
    const std::uint32_t path = paths.add({{0, bench.permitted}});
    const std::uint32_t path_1 = paths.add({{1, bench.permitted}});
    const std::uint32_t control_path = paths.add({{0, VcMask{2}}});
    for (std::size_t m = 0; m < 16; ++m) {
      const auto& control = bench.control;
      if (std::find(control.begin(), control.end(), m) != control.end()) {
        (void)messages.add({{}, 0, control_path, Switching::wormhole, Lane::control});
      } else {
        (void)messages.add({{}, 0, m < kFirstOfOutput1 ? path : path_1, bench.switching});
      }
    }
    ChannelSpec in;
    in.vcs = bench.router.vcs;
    in.vc_depth_flits = 200;
    in.receiver_pipeline = kPipeline;
    const std::vector<InputPortSpec> inputs{{"in_0", 0, {kInLatency, 1}, in},
                                            {"in_1", 1, {kInLatency, 1}, in}};
    Router router("r", clock, bench.router, messages, paths, inputs, {});
    ChannelSpec out{bench.router.vcs, bench.out_depth, bench.credit_latency, 0, 1};
    if (!bench.control.empty()) out.control_vcs = 2;
    out.control_vc_depth_flits = bench.control_depth;
    Link link("out", 2, {kOutLatency, 1}, {});
    Link link_1("out_1", 3, {kOutLatency, 1}, {});
    Channel channel(link, out);
    Channel channel_1(link_1, out);
    channel.attach_monitor();
    channel_1.attach_monitor();
    router.add_output(channel);
    router.add_output(channel_1);
    const Drain drain(clock, channel, bench);
    const Drain drain_1(clock, channel_1, bench);
    router.connect();
    const Sender sender(clock, router, bench.sent);
    sc_core::sc_start(period * 1000.0);
    test::Numbers received = drain.received();
    received.insert(received.end(), drain_1.received().begin(), drain_1.received().end());
    return test::Report{received,
                        channel.monitor()->violation() + channel_1.monitor()->violation()};
  });
  REQUIRE(report.text == "");
  std::vector<Received> received;
  for (std::size_t i = 0; i < report.numbers.size(); i += 3) {
    received.push_back({report.numbers[i], static_cast<std::uint32_t>(report.numbers[i + 1]),
                        static_cast<std::size_t>(report.numbers[i + 2])});
  }
  return received;
}

std::vector<FlitType> packet(std::size_t flits) {
  if (flits == 1) return {FlitType::head_tail};
  std::vector<FlitType> types(flits, FlitType::body);
  types.front() = FlitType::head;
  types.back() = FlitType::tail;
  return types;
}

// Sub-packets of a message: the first, one between, the last.
std::vector<FlitType> first_part(std::size_t flits) {
  std::vector<FlitType> types(flits, FlitType::sub_body);
  types.front() = FlitType::sub_head;
  types.back() = FlitType::sub_tail;
  return types;
}
std::vector<FlitType> last_part(std::size_t flits) {
  std::vector<FlitType> types(flits, FlitType::sub_body);
  types.back() = FlitType::message_tail;
  return types;
}

RouterSpec router_spec(std::uint32_t vcs) {
  RouterSpec spec;
  spec.vcs = vcs;
  return spec;
}

std::vector<std::size_t> order(const std::vector<Received>& received) {
  std::vector<std::size_t> messages;
  for (const Received& r : received) messages.push_back(r.message);
  return messages;
}

TEST_CASE("A packet leaves a router from the cycle its head is usable without gaps") {
  Bench bench;
  bench.router = router_spec(1);
  bench.sent = {{0, 0, 50, 0, packet(5)}};
  const auto received = run(bench);
  REQUIRE(received.size() == 5);
  for (std::size_t f = 0; f < 5; ++f) CHECK(received[f].departed == 50 + kThrough + f);
}

TEST_CASE("The next packet of a VC follows the tail in the next cycle") {
  Bench bench;
  bench.router = router_spec(1);
  bench.sent = {{0, 0, 50, 0, packet(3)}, {0, 0, 53, 1, packet(1)}, {0, 0, 54, 2, packet(2)}};
  const auto received = run(bench);
  REQUIRE(received.size() == 6);
  for (std::size_t f = 0; f < 6; ++f) CHECK(received[f].departed == 50 + kThrough + f);
}

TEST_CASE("Cut-through waits for the last credit it needs and starts in the cycle it is seen") {
  // Depth 4: the first packet leaves one credit, the second needs two more. They leave the receiver
  // in cycles 100 and 100 + gap.
  for (const Cycle gap : {Cycle{1}, Cycle{2}, Cycle{30}}) {
    Bench bench;
    bench.router = router_spec(1);
    bench.out_depth = 4;
    bench.drain = [gap](std::size_t flit) {
      return flit == 0 ? Cycle{100} : flit == 1 ? 100 + gap : 100 + gap + 50;
    };
    bench.sent = {{0, 0, 10, 0, packet(3)}, {0, 0, 13, 1, packet(3)}};
    const auto received = run(bench);
    REQUIRE(received.size() == 6);
    CAPTURE(gap);
    CHECK(received[3].departed == 100 + gap + bench.credit_latency);
    CHECK(received[4].departed == received[3].departed + 1);
    CHECK(received[5].departed == received[3].departed + 2);
  }
}

TEST_CASE("With exactly a packet of room cut-through does not wait") {
  for (const std::uint32_t depth : {5U, 6U}) {
    Bench bench;
    bench.router = router_spec(1);
    bench.out_depth = depth;
    bench.drain = [](std::size_t) { return Cycle{200}; };
    bench.sent = {{0, 0, 10, 0, packet(3)}, {0, 0, 13, 1, packet(3)}};
    const auto received = run(bench);
    REQUIRE(received.size() == 6);
    CAPTURE(depth);
    CHECK((received[3].departed == 13 + kThrough) == (depth == 6));
    if (depth == 5) CHECK(received[3].departed == 200 + bench.credit_latency);
  }
}

TEST_CASE("Wormhole starts with one credit and goes on credit by credit") {
  Bench bench;
  bench.router = router_spec(1);
  bench.switching = Switching::wormhole;
  bench.out_depth = 4;
  bench.drain = [](std::size_t flit) { return 100 + 10 * flit; };
  bench.sent = {{0, 0, 10, 0, packet(3)}, {0, 0, 13, 1, packet(3)}};
  const auto received = run(bench);
  REQUIRE(received.size() == 6);
  CHECK(received[3].departed == 13 + kThrough);
  CHECK(received[4].departed == 100 + bench.credit_latency);
  CHECK(received[5].departed == 110 + bench.credit_latency);
}

TEST_CASE("Inputs take turns at a contended output packet by packet") {
  Bench bench;
  bench.router = router_spec(4);
  bench.permitted = 0b1111;
  for (std::size_t m = 0; m < 3; ++m) {
    bench.sent.push_back({0, 0, 10 + 2 * m, m, packet(2)});
    bench.sent.push_back({1, 0, 10 + 2 * m, 8 + m, packet(2)});
  }
  const auto received = run(bench);
  CHECK(order(received) == std::vector<std::size_t>{0, 0, 8, 8, 1, 1, 9, 9, 2, 2, 10, 10});
  for (std::size_t f = 0; f < received.size(); ++f) {
    CHECK(received[f].departed == 10 + kThrough + f);
  }
}

TEST_CASE("VCs of an input take turns and the input's pointer moves only on a grant") {
  Bench bench;
  bench.router = router_spec(2);
  bench.permitted = 0b11;
  bench.sent = {{0, 0, 10, 0, packet(1)},
                {0, 0, 11, 1, packet(1)},
                {0, 1, 10, 8, packet(1)},
                {0, 1, 11, 9, packet(1)}};
  CHECK(order(run(bench)) == std::vector<std::size_t>{0, 8, 1, 9});
}

TEST_CASE("An input that lost one output tries another VC for a free output in the next cycle") {
  // Input 0 wins output 0 for eight cycles. Input 1 asked for it too, for its VC 0; its VC 1 wants
  // output 1, which has been free all along.
  Bench bench;
  bench.router = router_spec(2);
  bench.permitted = 0b11;
  bench.sent = {
      {0, 0, 10, 0, packet(8)}, {1, 0, 10, 1, packet(2)}, {1, 1, 10, kFirstOfOutput1, packet(2)}};
  const auto received = run(bench);
  CHECK(order(received) ==
        std::vector<std::size_t>{0, 0, 0, 0, 0, 0, 0, 0, 1, 1, kFirstOfOutput1, kFirstOfOutput1});
  CHECK(received[0].departed == 10 + kThrough);
  CHECK(received[8].departed == 10 + kThrough + 8);
  CHECK(received[10].departed == 10 + kThrough + 1);
}

TEST_CASE("VCs that share a crossbar input leave one after the other and else side by side") {
  for (const CrossbarInputs inputs : {CrossbarInputs::port, CrossbarInputs::vc}) {
    Bench bench;
    bench.router = router_spec(2);
    bench.router.crossbar_inputs = inputs;
    bench.permitted = 0b11;
    bench.sent = {{0, 0, 10, 0, packet(4)}, {0, 1, 10, kFirstOfOutput1, packet(4)}};
    const auto received = run(bench);
    REQUIRE(received.size() == 8);
    CHECK(received[0].departed == 10 + kThrough);
    CHECK(received[4].departed == 10 + kThrough + (inputs == CrossbarInputs::port ? 4 : 0));
  }
}

TEST_CASE("Sub-packets of two messages alternate on VCs of their own") {
  Bench bench;
  bench.router = router_spec(2);
  bench.permitted = 0b11;
  bench.sent = {{0, 0, 10, 0, first_part(3)},
                {0, 0, 13, 0, last_part(3)},
                {1, 0, 10, 1, first_part(3)},
                {1, 0, 13, 1, last_part(3)}};
  const auto received = run(bench);
  CHECK(order(received) == std::vector<std::size_t>{0, 0, 0, 1, 1, 1, 0, 0, 0, 1, 1, 1});
  for (const Received& r : received) CHECK(r.vc == r.message);
}

TEST_CASE("With a single VC the second message waits for the first one's tail") {
  Bench bench;
  bench.router = router_spec(1);
  bench.sent = {{0, 0, 10, 0, first_part(3)},
                {0, 0, 40, 0, last_part(3)},
                {1, 0, 10, 1, first_part(3)},
                {1, 0, 13, 1, last_part(3)}};
  const auto received = run(bench);
  CHECK(order(received) == std::vector<std::size_t>{0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1});
  CHECK(received[5].departed == 42 + kThrough);
  CHECK(received[6].departed == 43 + kThrough);  // not in the tail's cycle, but in the next
}

TEST_CASE("A packet takes the lowest permitted VC that is free and has the credits") {
  Bench bench;
  bench.router = router_spec(4);
  bench.permitted = 0b1110;
  bench.out_depth = 3;
  bench.drain = [](std::size_t) { return Cycle{200}; };
  bench.sent = {{0, 0, 10, 0, packet(2)},
                {0, 0, 12, 1, packet(1)},
                {0, 0, 13, 2, packet(2)},
                {0, 0, 15, 3, packet(3)}};
  std::vector<std::uint32_t> vcs(4, 0);
  for (const Received& r : run(bench)) vcs[r.message] = r.vc;
  // 2 + 1 flits fill VC 1.
  CHECK(vcs == std::vector<std::uint32_t>{1, 1, 2, 3});
}

TEST_CASE("A switch allocated per flit interleaves packets on different VCs flit by flit") {
  Bench bench;
  bench.router = router_spec(2);
  bench.router.hold = SwitchHold::flit;
  bench.permitted = 0b11;
  bench.sent = {{0, 0, 10, 0, packet(3)}, {1, 0, 10, 1, packet(3)}};
  const auto received = run(bench);
  CHECK(order(received) == std::vector<std::size_t>{0, 1, 0, 1, 0, 1});
  for (std::size_t f = 0; f < 6; ++f) CHECK(received[f].departed == 10 + kThrough + f);
}

std::vector<Cycle> departures(const std::vector<Received>& received, std::size_t message) {
  std::vector<Cycle> cycles;
  for (const Received& r : received) {
    if (r.message == message) cycles.push_back(r.departed);
  }
  return cycles;
}

std::vector<Cycle> from_to(Cycle first, Cycle last) {
  std::vector<Cycle> cycles;
  for (Cycle c = first; c <= last; ++c) cycles.push_back(c);
  return cycles;
}

// A gradient streams from input 0 to output 1, and others from input 1 to output 0. The control
// messages come by input 0 and want output 0: whenever that is free, their crossbar input is not.
Bench out_of_step() {
  Bench bench;
  bench.router = router_spec(2);
  bench.router.has_control = true;
  bench.sent = {{0, 0, 50, 12, packet(40)},
                {1, 0, 55, 0, packet(10)},
                {1, 0, 65, 1, packet(10)},
                {1, 0, 75, 2, packet(10)}};
  return bench;
}

TEST_CASE(
    "A control packet is granted its output at the next boundary and breaks into the stream "
    "of its input port") {
  Bench bench = out_of_step();
  bench.control = {4};
  bench.sent.push_back({0, 1, 58, 4, packet(2)});
  const auto received = run(bench);
  CHECK(departures(received, 0) == from_to(59, 68));
  CHECK(departures(received, 4) == from_to(69, 70));
  CHECK(departures(received, 1) == from_to(71, 80));
  CHECK(departures(received, 2) == from_to(81, 90));
  // The gradient behind it pauses for these two cycles, and for no more.
  std::vector<Cycle> paused = from_to(54, 68);
  for (const Cycle c : from_to(71, 95)) paused.push_back(c);
  CHECK(departures(received, 12) == paused);
}

TEST_CASE("A second control packet waits for the tail of the packet that was broken into") {
  Bench bench = out_of_step();
  bench.control = {4, 5};
  bench.sent.push_back({0, 1, 58, 4, packet(2)});
  bench.sent.push_back({0, 1, 60, 5, packet(2)});
  const auto received = run(bench);
  CHECK(departures(received, 4) == from_to(69, 70));
  CHECK(departures(received, 1) == from_to(71, 80));
  CHECK(departures(received, 12).back() == 95);
  // It has the output from 81 on, and its crossbar input when that is free.
  CHECK(departures(received, 5) == from_to(96, 97));
  CHECK(departures(received, 2) == from_to(98, 107));
}

TEST_CASE("Without a control packet the two requests of an input port change nothing") {
  Bench bench = out_of_step();
  const auto with = run(bench);
  bench.router.has_control = false;
  const auto without = run(bench);
  REQUIRE(with.size() == without.size());
  for (std::size_t f = 0; f < with.size(); ++f) CHECK(with[f].departed == without[f].departed);
}

TEST_CASE(
    "A control packet without credits lets gradients pass in the same cycle and goes on when "
    "one is back") {
  for (const CrossbarInputs inputs : {CrossbarInputs::port, CrossbarInputs::vc}) {
    Bench bench;
    bench.router = router_spec(2);
    bench.router.has_control = true;
    bench.router.crossbar_inputs = inputs;
    bench.control = {4};
    bench.control_depth = 1;
    bench.sent = {{0, 1, 50, 4, packet(3)}, {0, 0, 51, 0, packet(4)}, {1, 0, 52, 1, packet(4)}};
    const auto received = run(bench);
    // One slot: a flit per link latency and credit latency.
    const Cycle loop = kOutLatency + bench.credit_latency;
    CHECK(departures(received, 4) == std::vector<Cycle>{54, 54 + loop, 54 + 2 * loop});
    CHECK(departures(received, 0) == from_to(55, 58));
    CHECK(departures(received, 1) == from_to(59, 62));
  }
}

}  // namespace
}  // namespace espalier
