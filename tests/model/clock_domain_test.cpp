#include "hw/clock/clock_domain.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <memory>

#include "flowctl/channel.h"
#include "flowctl/train/train_channel.h"
#include "flowctl/virtual_channels.h"
#include "model_test_support.h"

namespace espalier {
namespace {

using test::in_child;
using test::Numbers;
using test::Report;

// Notes the cycles in which it is evaluated, and asks for more of them.
class Probe : public Clocked {
 public:
  Probe(ClockDomain& clock, Numbers& log, std::uint64_t name)
      : id(clock.add(*this)), clock_(clock), log_(log), name_(name) {}
  void evaluate(Cycle now) override {
    log_.push_back(now);
    log_.push_back(name_);
    if (stop_at == now) clock_.stop();
    for (const auto& [at, wake_up] : again) {
      if (at == now) clock_.wake(id, wake_up);
    }
  }
  ClockedId id;
  Cycle stop_at = kNever;
  std::vector<std::pair<Cycle, Cycle>> again;

 private:
  ClockDomain& clock_;
  Numbers& log_;
  std::uint64_t name_;
};

sc_core::sc_time period() { return sc_core::sc_time(1, sc_core::SC_NS); }

TEST_CASE("Modules are evaluated in the cycles they asked for in ascending id") {
  const Report report = in_child([] {
    Numbers log;
    ClockDomain clock("clock", period(), false);
    Probe a(clock, log, 100);
    Probe b(clock, log, 200);
    clock.wake(b.id, 5);
    clock.wake(a.id, 5);
    clock.wake(a.id, 5);  // once is enough
    clock.wake(b.id, 0);
    clock.wake(a.id, 9);
    sc_core::sc_start(period() * 100.0);
    return Report{log, clock.idle() ? "idle" : "busy"};
  });
  CHECK(report.numbers == Numbers{0, 200, 5, 100, 5, 200, 9, 100});
  CHECK(report.text == "idle");
}

TEST_CASE("Wake-ups near and far come in the right cycle") {
  const Numbers cycles{1, 1022, 1023, 1024, 1025, 2047, 2048, 2049, 5000, 1'000'000};
  const Report report = in_child([&] {
    Numbers log;
    ClockDomain clock("clock", period(), false);
    Probe a(clock, log, 1);
    for (auto cycle = cycles.rbegin(); cycle != cycles.rend(); ++cycle) clock.wake(a.id, *cycle);
    sc_core::sc_start(period() * 2'000'000.0);
    return Report{log, {}};
  });
  Numbers expected;
  for (const std::uint64_t cycle : cycles) expected.insert(expected.end(), {cycle, 1});
  CHECK(report.numbers == expected);
}

TEST_CASE("A far wake-up that has come near is not overtaken by later near ones") {
  const Report report = in_child([] {
    Numbers log;
    ClockDomain clock("clock", period(), false);
    Probe a(clock, log, 1);
    a.again = {{0, 3000}, {0, 900}, {900, 1800}, {1800, 2500}, {2500, 3400}, {3400, 4424}};
    clock.wake(a.id, 0);
    sc_core::sc_start(period() * 10'000.0);
    return Report{log, {}};
  });
  CHECK(report.numbers == Numbers{0, 1, 900, 1, 1800, 1, 2500, 1, 3000, 1, 3400, 1, 4424, 1});
}

TEST_CASE("A stopped clock stands still after its cycle") {
  const Report report = in_child([] {
    Numbers log;
    ClockDomain clock("clock", period(), false);
    Probe a(clock, log, 1);
    Probe b(clock, log, 2);
    a.stop_at = 7;
    for (const Cycle c : {3U, 7U, 8U}) {
      clock.wake(a.id, c);
      clock.wake(b.id, c);
    }
    sc_core::sc_start(period() * 100.0);
    log.push_back(clock.now());
    return Report{log, clock.stopped() ? "stopped" : "running"};
  });
  CHECK(report.numbers == Numbers{3, 1, 3, 2, 7, 1, 7, 2, 7});
  CHECK(report.text == "stopped");
}

TEST_CASE("More modules than fit a word are evaluated all the same") {
  for (const bool always : {false, true}) {
    const Report report = in_child([always] {
      Numbers log;
      ClockDomain clock("clock", period(), always);
      std::vector<std::unique_ptr<Probe>> probes;
      for (std::size_t p = 0; p < 200; ++p) {
        probes.push_back(std::make_unique<Probe>(clock, log, p));
        if (p % 3 == 0) clock.wake(probes.back()->id, 2);  // before the later ones exist
      }
      probes[199]->stop_at = 2;
      clock.wake(probes[199]->id, 2);
      sc_core::sc_start(period() * 10.0);
      return Report{{clock.evaluations(), log[log.size() - 1], log[log.size() - 3]}, {}};
    });
    CAPTURE(always);
    CHECK(report.numbers == (always ? Numbers{600, 199, 198} : Numbers{68, 199, 198}));
  }
}

TEST_CASE("Stalls come with their probability and depend on seed and link and cycle only") {
  const StallPattern pattern{0.3, 5};
  const StallPattern other_seed{0.3, 6};
  std::size_t refused = 0;
  std::size_t same_on_other_link = 0;
  std::size_t same_with_other_seed = 0;
  for (Cycle c = 0; c < 100'000; ++c) {
    refused += pattern.refuses(1, c) ? 1U : 0U;
    CHECK(pattern.refuses(1, c) == pattern.refuses(1, c));
    same_on_other_link += pattern.refuses(1, c) == pattern.refuses(2, c) ? 1U : 0U;
    same_with_other_seed += pattern.refuses(1, c) == other_seed.refuses(1, c) ? 1U : 0U;
  }
  // Standard deviations of 145 and 156.
  CHECK(std::abs(static_cast<double>(refused) - 30'000) < 900);
  CHECK(std::abs(static_cast<double>(same_on_other_link) - 58'000) < 900);
  CHECK(std::abs(static_cast<double>(same_with_other_seed) - 58'000) < 900);
  CHECK_FALSE((StallPattern{0.0, 5}.refuses(1, 1)));
  CHECK((StallPattern{1.0, 5}.refuses(1, 1)));
}

class NoReceiver : public FlitReceiver {
 public:
  void flit_coming(Cycle cycle) override { coming = cycle; }
  Cycle coming = 0;
};

TEST_CASE("A channel adds latency and pipeline on the way and the credit's latency back") {
  const Report report = in_child([] {
    Link link("link", 0, {10, 3}, {});
    Channel channel(link, {2, 4, 7, 2, 3});  // 3 ticks per cycle
    NoReceiver receiver;
    channel.connect_receiver(receiver);
    const Flit flit{MessageId(0), 1, 0, FlitType::head_tail};
    Numbers log;
    for (int i = 0; i < 4; ++i) channel.send(1, flit, 61);  // in cycle 20, a third of it gone
    log.insert(log.end(), {receiver.coming, channel.occupied(), channel.buffer(1).front_usable()});
    log.insert(log.end(), {channel.has_room(0, 4, 62), channel.has_room(1, 1, 62)});
    channel.pop(1, 50);
    log.insert(log.end(), {channel.has_room(1, 1, 56 * 3 + 2), channel.has_room(1, 1, 57 * 3)});
    log.push_back(channel.flits_carried());
    return Report{log, {}};
  });
  CHECK(report.numbers == Numbers{32, 0b10, 61 + 12 * 3, 1, 0, 0, 1, 4});
}

TEST_CASE("VC choice takes the lowest candidate with the credits and else says when to ask again") {
  const Report report = in_child([] {
    Link link("link", 0, {10, 1}, {});
    Channel channel(link, {3, 2, 7, 0, 1});
    NoReceiver receiver;
    channel.connect_receiver(receiver);
    const Flit flit{MessageId(0), 1, 0, FlitType::head_tail};
    Numbers log;
    log.push_back(choose_vc(channel, 0b111, 2, 0, 0).vc);
    log.push_back(choose_vc(channel, 0b110, 2, 0, 0).vc);
    channel.send(0, flit, 0);
    log.push_back(choose_vc(channel, 0b111, 2, 1, 1).vc);
    log.push_back(choose_vc(channel, 0b111, 1, 1, 1).vc);
    channel.pop(0, 20);  // credit in 27
    const VcChoice known = choose_vc(channel, 0b001, 2, 21, 21);
    log.insert(log.end(), {known.vc, known.ask_again});
    log.push_back(choose_vc(channel, 0b001, 2, 27, 27).vc);
    channel.send(1, flit, 30);
    const VcChoice unknown = choose_vc(channel, 0b010, 2, 31, 31);  // nobody has sent a credit yet
    log.insert(log.end(), {unknown.vc, unknown.ask_again});
    return Report{log, {}};
  });
  CHECK(report.numbers == Numbers{0, 1, 1, 0, kNoVc, 27, 0, kNoVc, 31 + 7});
}

class ArrivalOrder : public TrainListener {
 public:
  void train_came(std::uint32_t, std::uint32_t vc) override { vcs.push_back(vc); }
  void train_followed(std::uint32_t, std::uint32_t) override {}
  void train_changed(std::uint32_t, bool) override {}
  Numbers vcs;
};

TEST_CASE("Trains that arrive in one cycle reach the router in the order in which they left") {
  const Report report = in_child([] {
    constexpr std::uint32_t kVcs = 32;
    Link link("link", 0, {1, 1}, {});
    TrainWheel wheel;
    TrainSegmentPool segments;
    TrainChannel channel(link, {kVcs, 4, 1, 0, 1}, wheel, segments);
    ArrivalOrder order;
    VcMask occupied = 0;
    channel.connect_receiver(order, 0, occupied);
    // Three trains leave when their arrival is too far ahead for the wheel.
    for (const Cycle at : {Cycle{3000}, Cycle{6000}}) {
      for (std::uint32_t vc = kVcs; vc-- != 0;) {
        if (vc + 4 == kVcs) wheel.deliver(at - 10);
        TrainEvent begin;
        begin.vc = static_cast<std::uint8_t>(vc);
        begin.message = MessageId(0);
        begin.channel = &channel;
        begin.flits = {at, 1, 1};
        wheel.post(at, begin);
      }
      if (wheel.next_arrival() == at) wheel.deliver(at);
      for (std::uint32_t vc = 0; vc != kVcs; ++vc) channel.leave(vc, 1);
    }
    order.vcs.push_back(wheel.next_arrival() == kNever ? 1 : 0);
    return Report{order.vcs, {}};
  });
  Numbers expected;
  for (int round = 0; round < 2; ++round) {
    for (std::uint32_t vc = 32; vc-- != 0;) expected.push_back(vc);
  }
  expected.push_back(1);
  CHECK(report.numbers == expected);
}

}  // namespace
}  // namespace espalier
