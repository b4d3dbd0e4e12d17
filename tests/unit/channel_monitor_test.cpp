#include "flowctl/channel_monitor.h"

#include <catch2/catch.hpp>
#include <random>

namespace espalier {
namespace {

using Catch::Matchers::Contains;

constexpr std::uint32_t kDepth = 8;
constexpr Cycle kCreditLatency = 5;

Flit flit(FlitType type, std::uint16_t left, std::size_t message = 0) {
  return {MessageId(message), left, 0, type};
}

ChannelMonitor monitor(std::uint32_t depth = kDepth) { return {2, depth, kCreditLatency}; }

void send_all(ChannelMonitor& watcher, const std::vector<Flit>& flits, std::uint32_t vc = 0) {
  Cycle now = 0;
  for (const Flit& f : flits) watcher.sent(vc, f, now++);
}

TEST_CASE("The monitor is silent on packets in order") {
  ChannelMonitor watcher = monitor();
  send_all(watcher, {flit(FlitType::head, 3), flit(FlitType::body, 2), flit(FlitType::tail, 1),
                     flit(FlitType::head_tail, 1, 1), flit(FlitType::head, 2, 2),
                     flit(FlitType::tail, 1, 2)});
  CHECK(watcher.violation().empty());
  CHECK(watcher.checks() == 6);
}

TEST_CASE("The monitor is silent on the sub-packets of messages one after the other") {
  ChannelMonitor watcher = monitor();
  send_all(watcher, {flit(FlitType::sub_head, 3, 4), flit(FlitType::sub_body, 2, 4),
                     flit(FlitType::sub_tail, 1, 4), flit(FlitType::sub_body, 2, 4),
                     flit(FlitType::message_tail, 1, 4), flit(FlitType::sub_head, 2, 5),
                     flit(FlitType::message_tail, 1, 5), flit(FlitType::head_tail, 1, 6)});
  CHECK(watcher.violation().empty());
}

TEST_CASE("Messages on different VCs may alternate flit by flit") {
  ChannelMonitor watcher = monitor();
  watcher.sent(0, flit(FlitType::sub_head, 2, 1), 0);
  watcher.sent(1, flit(FlitType::sub_head, 2, 2), 1);
  watcher.sent(0, flit(FlitType::message_tail, 1, 1), 2);
  watcher.sent(1, flit(FlitType::message_tail, 1, 2), 3);
  CHECK(watcher.violation().empty());
}

TEST_CASE("As many flits as credits may be sent and one more is reported") {
  ChannelMonitor watcher = monitor(3);
  for (Cycle t = 0; t < 3; ++t) watcher.sent(1, flit(FlitType::head_tail, 1), t);
  CHECK(watcher.violation().empty());
  watcher.sent(1, flit(FlitType::head_tail, 1), 3);
  CHECK_THAT(watcher.violation(), Contains("without a credit"));
  CHECK_THAT(watcher.violation(), Contains("vc 1"));
  CHECK_THAT(watcher.violation(), Contains("cycle 3"));
}

TEST_CASE("A credit may be used the cycle it is seen and not the cycle before") {
  for (const Cycle sent_at : {Cycle{14}, Cycle{15}}) {
    ChannelMonitor watcher = monitor(1);
    watcher.sent(0, flit(FlitType::head_tail, 1), 0);
    watcher.left(0, flit(FlitType::head_tail, 1), 10);
    watcher.sent(0, flit(FlitType::head_tail, 1), sent_at);
    CAPTURE(sent_at);
    CHECK(watcher.violation().empty() == (sent_at == 10 + kCreditLatency));
  }
}

TEST_CASE("Credits of one VC do not serve another") {
  ChannelMonitor watcher = monitor(1);
  watcher.sent(0, flit(FlitType::head_tail, 1), 0);
  watcher.left(0, flit(FlitType::head_tail, 1), 1);
  watcher.sent(1, flit(FlitType::head_tail, 1), 7);
  CHECK(watcher.violation().empty());
  watcher.sent(1, flit(FlitType::head_tail, 1), 8);
  CHECK_FALSE(watcher.violation().empty());
}

TEST_CASE("A flit that leaves without having entered is reported") {
  ChannelMonitor watcher = monitor();
  watcher.left(0, flit(FlitType::head_tail, 1), 4);
  CHECK_THAT(watcher.violation(), Contains("never entered"));
}

TEST_CASE("Flits that leave in another order are reported whatever field tells them apart") {
  const Flit first = flit(FlitType::head, 2, 3);
  for (const Flit& other :
       {flit(FlitType::head, 2, 4), flit(FlitType::head, 3, 3), flit(FlitType::sub_head, 2, 3)}) {
    ChannelMonitor watcher = monitor();
    watcher.sent(0, first, 0);
    watcher.left(0, other, 3);
    CHECK_THAT(watcher.violation(), Contains("another order"));
  }
}

TEST_CASE("A message that enters a VC before the tail of the one that owns it is reported") {
  ChannelMonitor watcher = monitor();
  send_all(watcher, {flit(FlitType::sub_head, 2, 1), flit(FlitType::sub_tail, 1, 1),
                     flit(FlitType::sub_body, 2, 2)});
  CHECK_THAT(watcher.violation(), Contains("another message owns"));
}

TEST_CASE("A normal packet between the sub-packets of a message is reported") {
  ChannelMonitor watcher = monitor();
  send_all(watcher, {flit(FlitType::sub_head, 2, 1), flit(FlitType::sub_tail, 1, 1),
                     flit(FlitType::head_tail, 1, 1)});
  CHECK_THAT(watcher.violation(), Contains("another message owns"));
}

TEST_CASE("A packet with a missing or a repeated flit is reported") {
  ChannelMonitor missing = monitor();
  send_all(missing, {flit(FlitType::head, 4), flit(FlitType::body, 2)});
  CHECK_THAT(missing.violation(), Contains("are not consecutive"));
  ChannelMonitor repeated = monitor();
  send_all(repeated, {flit(FlitType::head, 4), flit(FlitType::body, 3), flit(FlitType::body, 3)});
  CHECK_THAT(repeated.violation(), Contains("are not consecutive"));
}

TEST_CASE("A packet that starts without a head flit is reported") {
  for (const FlitType type : {FlitType::body, FlitType::sub_body}) {
    ChannelMonitor watcher = monitor();
    send_all(watcher, {flit(type, 3)});
    CHECK_THAT(watcher.violation(), Contains("does not start with a head"));
  }
}

TEST_CASE("A packet whose last flit is not a tail or whose tail is not its last flit is reported") {
  ChannelMonitor no_tail = monitor();
  send_all(no_tail, {flit(FlitType::head, 2), flit(FlitType::body, 1)});
  CHECK_THAT(no_tail.violation(), Contains("its tail are not the same flit"));
  ChannelMonitor early = monitor();
  send_all(early, {flit(FlitType::head, 3), flit(FlitType::tail, 2)});
  CHECK_THAT(early.violation(), Contains("its tail are not the same flit"));
}

TEST_CASE("A flit that never left is reported at the end") {
  ChannelMonitor watcher = monitor();
  watcher.sent(1, flit(FlitType::head_tail, 1), 0);
  watcher.check_drained();
  CHECK_THAT(watcher.violation(), Contains("never left it"));
  ChannelMonitor drained = monitor();
  drained.sent(1, flit(FlitType::head_tail, 1), 0);
  drained.left(1, flit(FlitType::head_tail, 1), 9);
  drained.check_drained();
  CHECK(drained.violation().empty());
}

TEST_CASE("A sender that sees a credit too many or too few is reported") {
  ChannelMonitor watcher = monitor();
  const std::uint32_t depth = kDepth;
  watcher.credits_claimed(0, depth, 0);
  watcher.sent(0, flit(FlitType::head_tail, 1), 0);
  watcher.credits_claimed(0, depth - 1, 1);
  CHECK(watcher.violation().empty());
  watcher.credits_claimed(0, depth, 1);
  CHECK_THAT(watcher.violation(), Contains("credit count differs"));
}

TEST_CASE("The first violation is kept") {
  ChannelMonitor watcher = monitor();
  watcher.left(0, flit(FlitType::head_tail, 1), 4);
  watcher.sent(0, flit(FlitType::body, 2), 5);
  CHECK_THAT(watcher.violation(), Contains("cycle 4"));
}

TEST_CASE("A flit of another message inside a packet is reported") {
  ChannelMonitor watcher = monitor();
  send_all(watcher, {flit(FlitType::head, 3, 1), flit(FlitType::body, 2, 2)});
  CHECK_FALSE(watcher.violation().empty());
}

TEST_CASE("A second head flit inside a packet is reported") {
  ChannelMonitor watcher = monitor();
  send_all(watcher, {flit(FlitType::head, 3), flit(FlitType::head, 2)});
  CHECK_FALSE(watcher.violation().empty());
}

TEST_CASE("A second head flit between the sub-packets of a message is reported") {
  ChannelMonitor watcher = monitor();
  send_all(watcher,
           {flit(FlitType::sub_head, 2), flit(FlitType::sub_tail, 1), flit(FlitType::sub_head, 2)});
  CHECK_FALSE(watcher.violation().empty());
}

TEST_CASE("The monitor is silent on random legal traffic and speaks up when a flit is dropped") {
  for (std::uint32_t seed = 1; seed <= 50; ++seed) {
    CAPTURE(seed);
    std::mt19937 random(seed);
    const auto depth = static_cast<std::uint32_t>(2 + random() % 20);
    const std::size_t dropped = 30 + random() % 30;
    ChannelMonitor legal(1, depth, kCreditLatency);
    ChannelMonitor mutated(1, depth, kCreditLatency);
    std::vector<Flit> inside;
    std::vector<Cycle> credits(depth, 0);  // cycles from which they may be used
    std::size_t left = 0;
    std::size_t message = 0;
    std::uint16_t in_packet = 0;
    std::uint16_t length = 0;
    for (Cycle now = 0; left < 200; ++now) {
      if (!credits.empty() && credits.front() <= now && random() % 2 == 0) {
        credits.erase(credits.begin());
        if (in_packet == 0) {
          length = in_packet = static_cast<std::uint16_t>(1 + random() % 5);
          ++message;
        }
        FlitType type = in_packet == 1 ? FlitType::tail : FlitType::body;
        if (in_packet == length) type = length == 1 ? FlitType::head_tail : FlitType::head;
        const Flit next = flit(type, in_packet--, message);
        legal.sent(0, next, now);
        mutated.sent(0, next, now);
        inside.push_back(next);
      }
      if (!inside.empty() && random() % 2 == 0) {
        legal.left(0, inside.front(), now);
        if (++left != dropped) mutated.left(0, inside.front(), now);
        inside.erase(inside.begin());
        credits.push_back(now + kCreditLatency);
      }
    }
    for (const Flit& rest : inside) {
      legal.left(0, rest, 100'000);
      mutated.left(0, rest, 100'000);
    }
    legal.check_drained();
    mutated.check_drained();
    CHECK(legal.violation().empty());
    CHECK_FALSE(mutated.violation().empty());
  }
}

}  // namespace
}  // namespace espalier
