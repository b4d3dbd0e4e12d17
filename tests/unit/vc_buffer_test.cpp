#include "flowctl/vc_buffer.h"

#include <catch2/catch.hpp>
#include <deque>
#include <random>

namespace espalier {
namespace {

Flit flit(std::size_t message, std::uint16_t left = 1, FlitType type = FlitType::head_tail) {
  return {MessageId(message), left, 0, type};
}

TEST_CASE("A fresh buffer has a credit for each slot and none more") {
  const VcBuffer buffer(5);
  CHECK(buffer.depth() == 5);
  CHECK(buffer.empty());
  for (std::uint32_t n = 1; n <= 5; ++n) CHECK(buffer.has_room(n, 0));
  CHECK_FALSE(buffer.has_room(6, 1'000));
}

TEST_CASE("A flit takes a credit when it is sent and not only when it arrives") {
  VcBuffer buffer(3);
  CHECK(buffer.push(flit(0), 150));
  CHECK(buffer.has_room(2, 0));
  CHECK_FALSE(buffer.has_room(3, 0));
  CHECK_FALSE(buffer.empty());
  CHECK(buffer.front_usable() == 150);
  CHECK_FALSE(buffer.push(flit(1), 151));
  CHECK_FALSE(buffer.push(flit(2), 152));
  CHECK_FALSE(buffer.has_room(1, 1'000));
  CHECK(buffer.room_at(1) == kNever);
  CHECK(buffer.flits_sent() == 3);
}

TEST_CASE("A credit is not there a tick before it is seen and is there from that tick on") {
  VcBuffer buffer(2);
  buffer.push(flit(0), 1);
  buffer.push(flit(1), 2);
  buffer.pop(40);
  CHECK(buffer.room_at(1) == 40);
  CHECK_FALSE(buffer.has_room(1, 39));
  CHECK(buffer.has_room(1, 40));
  CHECK_FALSE(buffer.has_room(2, 40));
  buffer.pop(45);
  CHECK(buffer.empty());
  CHECK(buffer.room_at(2) == 45);
  CHECK_FALSE(buffer.has_room(2, 44));
  CHECK(buffer.has_room(2, 45));
}

TEST_CASE("Flits keep their contents and their order around the ring") {
  VcBuffer buffer(3);
  for (std::size_t i = 0; i < 20; ++i) {
    const Flit sent{MessageId(i), static_cast<std::uint16_t>(1000 + i),
                    static_cast<std::uint16_t>(kMostHops - i), static_cast<FlitType>(i % 8)};
    REQUIRE(buffer.has_room(1, i));
    buffer.push(sent, i);
    REQUIRE(buffer.front_usable() == i);
    const Flit seen = buffer.front();
    CHECK(seen.message == sent.message);
    CHECK(seen.left_in_packet == sent.left_in_packet);
    CHECK(seen.hop == sent.hop);
    CHECK(seen.type == sent.type);
    buffer.pop(i + 1);
  }
  CHECK(buffer.flits_sent() == 20);
  CHECK(buffer.empty());
}

TEST_CASE("A buffer of one flit works") {
  VcBuffer buffer(1);
  for (Tick t = 0; t < 50; t += 10) {
    REQUIRE(buffer.has_room(1, t));
    CHECK_FALSE(buffer.has_room(2, t));
    CHECK(buffer.push(flit(0), t + 2));
    CHECK_FALSE(buffer.has_room(1, t + 9));
    buffer.pop(t + 10);
    CHECK_FALSE(buffer.has_room(1, t + 9));
  }
}

std::uint32_t below(std::mt19937& random, std::uint32_t bound) {
  return static_cast<std::uint32_t>(random() % bound);
}

// A credit counter and two queues: what the ring replaces.
class CounterModel {
 public:
  explicit CounterModel(std::uint32_t depth) : credits_(depth) {}
  void see_credits(Tick now_end) {
    while (!coming_.empty() && coming_.front() <= now_end) {
      coming_.pop_front();
      ++credits_;
    }
  }
  [[nodiscard]] std::uint32_t credits() const { return credits_; }
  // When the n-th credit from now will be counted; kNever where its flit has not left.
  [[nodiscard]] Tick room_at(std::uint32_t n) const {
    return n - credits_ <= coming_.size() ? coming_[n - credits_ - 1] : kNever;
  }
  void push(const Flit& sent, Tick usable) {
    --credits_;
    inside_.push_back({sent, usable});
  }
  struct Inside {
    Flit flit;
    Tick usable;
  };
  [[nodiscard]] const std::deque<Inside>& inside() const { return inside_; }
  void pop(Tick credit_seen) {
    inside_.pop_front();
    coming_.push_back(credit_seen);
  }

 private:
  std::uint32_t credits_;
  std::deque<Tick> coming_;
  std::deque<Inside> inside_;
};

TEST_CASE("The ring agrees with a credit counter under random traffic and latencies") {
  for (std::uint32_t seed = 1; seed <= 200; ++seed) {
    CAPTURE(seed);
    std::mt19937 random(seed);
    const std::uint32_t depth = 1 + below(random, 24);
    const Tick latency = 1 + below(random, 40);
    const Tick credit_latency = 1 + below(random, 40);
    const std::uint32_t send_odds = 1 + below(random, 4);
    const std::uint32_t drain_odds = 1 + below(random, 4);
    VcBuffer ring(depth);
    CounterModel model(depth);
    std::size_t wrong = 0;
    std::size_t sent = 0;
    const auto expect = [&](bool holds) { wrong += holds ? 0U : 1U; };
    for (Tick now = 0; now < 600; ++now) {
      model.see_credits(now);
      for (std::uint32_t n = 1; n <= depth + 1; ++n) {
        expect(ring.has_room(n, now) == (n <= model.credits()));
        if (n > model.credits() && n <= depth) expect(ring.room_at(n) == model.room_at(n));
      }
      const bool send = model.credits() != 0 && below(random, send_odds) == 0;
      if (send) {
        const bool was_empty = model.inside().empty();
        const Flit next = flit(sent, static_cast<std::uint16_t>(1 + sent % 17), FlitType::body);
        expect(ring.push(next, now + latency) == was_empty);
        model.push(next, now + latency);
        ++sent;
      }
      expect(ring.empty() == model.inside().empty());
      if (!model.inside().empty()) {
        expect(ring.front_usable() == model.inside().front().usable);
        expect(ring.front().message == model.inside().front().flit.message);
        expect(ring.front().left_in_packet == model.inside().front().flit.left_in_packet);
        if (model.inside().front().usable <= now && below(random, drain_odds) == 0) {
          ring.pop(now + credit_latency);
          model.pop(now + credit_latency);
        }
      }
    }
    CHECK(wrong == 0);
    CHECK(ring.flits_sent() == sent);
    CHECK(sent > 5);
  }
}

}  // namespace
}  // namespace espalier
