#include "router/switch_allocator.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <random>

namespace espalier {
namespace {

SwitchAllocator::Request ask(std::uint32_t crossbar_input, std::uint32_t output) {
  return {crossbar_input, output, crossbar_input, 0, 0, true, 0, 0};
}

TEST_CASE("An arbiter picks the first requester at or after its pointer") {
  RoundRobinArbiter arbiter(4);
  CHECK(arbiter.pointer() == 0);
  CHECK(arbiter.pick(0b1010) == 1);
  arbiter.grant(1);
  CHECK(arbiter.pointer() == 2);
  CHECK(arbiter.pick(0b1010) == 3);
  CHECK(arbiter.pick(0b0011) == 0);
  CHECK(arbiter.pick(0b0100) == 2);
}

TEST_CASE("An arbiter's pointer wraps around after the last requester") {
  RoundRobinArbiter arbiter(3);
  arbiter.grant(2);
  CHECK(arbiter.pointer() == 0);
  RoundRobinArbiter single(1);
  single.grant(0);
  CHECK(single.pointer() == 0);
  CHECK(single.pick(1) == 0);
}

TEST_CASE("Asking an arbiter moves nothing") {
  RoundRobinArbiter arbiter(8);
  arbiter.grant(4);
  for (int i = 0; i < 10; ++i) CHECK(arbiter.pick(0b1111'1111) == 5);
  CHECK(arbiter.pointer() == 5);
}

TEST_CASE("The most favoured requester is at distance zero and picks are least in distance") {
  for (std::uint32_t requesters = 1; requesters <= 32; ++requesters) {
    RoundRobinArbiter arbiter(requesters);
    std::mt19937 random(requesters);
    for (int round = 0; round < 100; ++round) {
      CHECK(arbiter.distance(arbiter.pointer()) == 0);
      const std::uint32_t all =
          requesters == 32 ? 0xffffffffU : (std::uint32_t{1} << requesters) - 1;
      const std::uint32_t requests = static_cast<std::uint32_t>(random()) & all;
      if (requests == 0) continue;
      const std::uint32_t picked = arbiter.pick(requests);
      REQUIRE((requests >> picked & 1U) == 1);
      for (std::uint32_t r = 0; r < requesters; ++r) {
        if ((requests >> r & 1U) != 0) REQUIRE(arbiter.distance(picked) <= arbiter.distance(r));
      }
      arbiter.grant(picked);
    }
  }
}

TEST_CASE("Granting the same requester again while nobody else asks changes nothing") {
  RoundRobinArbiter arbiter(5);
  arbiter.grant(3);
  const std::uint32_t pointer = arbiter.pointer();
  for (int i = 0; i < 7; ++i) {
    CHECK(arbiter.pick(1U << 3) == 3);
    arbiter.grant(3);
    CHECK(arbiter.pointer() == pointer);
  }
}

TEST_CASE("With everybody asking N rounds serve each of N requesters once") {
  RoundRobinArbiter arbiter(7);
  std::vector<int> served(7, 0);
  for (int round = 0; round < 21; ++round) {
    const std::uint32_t winner = arbiter.pick(0b111'1111);
    ++served[winner];
    arbiter.grant(winner);
  }
  CHECK(served == std::vector<int>(7, 3));
}

TEST_CASE("An allocator without requests grants nothing") {
  SwitchAllocator allocator(4, 4);
  CHECK_FALSE(allocator.any());
  CHECK(allocator.allocate().empty());
  allocator.request(ask(0, 0));
  CHECK(allocator.any());
  allocator.clear();
  CHECK_FALSE(allocator.any());
  CHECK(allocator.allocate().empty());
}

TEST_CASE("Requests for different outputs are all granted in ascending output") {
  SwitchAllocator allocator(3, 5);
  allocator.request(ask(0, 4));
  allocator.request(ask(1, 2));
  allocator.request(ask(2, 0));
  const auto& winners = allocator.allocate();
  REQUIRE(winners.size() == 3);
  CHECK(winners[0].output == 0);
  CHECK(winners[1].output == 2);
  CHECK(winners[2].output == 4);
  CHECK(allocator.all_granted());
}

TEST_CASE("Rivals for an output take turns and the loser is reported as not granted") {
  SwitchAllocator allocator(3, 1);
  std::vector<std::uint32_t> winners;
  for (int round = 0; round < 6; ++round) {
    allocator.clear();
    for (const std::uint32_t input : {2U, 0U, 1U}) allocator.request(ask(input, 0));
    const auto& granted = allocator.allocate();
    REQUIRE(granted.size() == 1);
    CHECK_FALSE(allocator.all_granted());
    winners.push_back(granted[0].crossbar_input);
  }
  CHECK(winners == std::vector<std::uint32_t>{0, 1, 2, 0, 1, 2});
}

TEST_CASE("An output's pointer moves only when the output is granted") {
  SwitchAllocator allocator(2, 2);
  for (int round = 0; round < 3; ++round) {  // output 1 only
    allocator.clear();
    allocator.request(ask(0, 1));
    CHECK(allocator.allocate().size() == 1);
  }
  allocator.clear();
  allocator.request(ask(0, 0));
  allocator.request(ask(1, 0));
  CHECK(allocator.allocate().front().crossbar_input == 0);  // output 0's pointer is untouched
  allocator.clear();
  allocator.request(ask(0, 1));
  allocator.request(ask(1, 1));
  CHECK(allocator.allocate().front().crossbar_input == 1);
}

TEST_CASE("Winning again alone is idempotent for an allocator") {
  SwitchAllocator once(4, 2);
  SwitchAllocator often(4, 2);
  once.request(ask(2, 1));
  (void)once.allocate();
  for (int i = 0; i < 5; ++i) {
    often.clear();
    often.request(ask(2, 1));
    CHECK(often.allocate().front().crossbar_input == 2);
  }
  for (SwitchAllocator* allocator : {&once, &often}) {
    allocator->clear();
    for (std::uint32_t input = 0; input < 4; ++input) allocator->request(ask(input, 1));
    CHECK(allocator->allocate().front().crossbar_input == 3);
  }
}

TEST_CASE("A grant keeps the fields of its request") {
  SwitchAllocator allocator(8, 2);
  allocator.request({6, 1, 3, 2, 5, true, 777, 770});
  const auto& winner = allocator.allocate().front();
  CHECK(winner.input == 3);
  CHECK(winner.vc == 2);
  CHECK(winner.out_vc == 5);
  CHECK(winner.start == 777);
}

TEST_CASE("For random requests only requesters win, and each output and crossbar input wins once") {
  for (std::uint32_t seed = 1; seed <= 30; ++seed) {
    CAPTURE(seed);
    std::mt19937 random(seed);
    const auto inputs = static_cast<std::uint32_t>(1 + random() % 40);
    const auto outputs = static_cast<std::uint32_t>(1 + random() % 10);
    SwitchAllocator allocator(inputs, outputs);
    std::vector<std::uint32_t> pointer(outputs, 0);  // of a plain model of each output
    std::size_t wrong = 0;
    for (int round = 0; round < 200; ++round) {
      allocator.clear();
      std::vector<std::vector<std::uint32_t>> asking(outputs);
      std::size_t requests = 0;
      for (std::uint32_t i = 0; i < inputs; ++i) {
        if (random() % 3 != 0) continue;
        const std::uint32_t output = static_cast<std::uint32_t>(random() % outputs);
        asking[output].push_back(i);
        allocator.request(ask(i, output));
        ++requests;
      }
      const auto& winners = allocator.allocate();
      std::size_t served = 0;
      for (std::uint32_t o = 0; o < outputs; ++o) {
        const auto count = std::count_if(winners.begin(), winners.end(),
                                         [&](const auto& w) { return w.output == o; });
        if (count != (asking[o].empty() ? 0 : 1)) ++wrong;
        if (asking[o].empty()) continue;
        ++served;
        const auto winner = std::find_if(winners.begin(), winners.end(),
                                         [&](const auto& w) { return w.output == o; });
        std::uint32_t expected = pointer[o];
        while (std::find(asking[o].begin(), asking[o].end(), expected) == asking[o].end()) {
          expected = (expected + 1) % inputs;
        }
        if (winner == winners.end() || winner->crossbar_input != expected) ++wrong;
        pointer[o] = (expected + 1) % inputs;
      }
      if (allocator.all_granted() != (served == requests)) ++wrong;
    }
    CHECK(wrong == 0);
  }
}

TEST_CASE("With outputs first, an input port that loses one output still uses another") {
  SwitchAllocator allocator(2, 2);
  const RoundRobinArbiter vcs(2);
  // Port 0 has packets for both outputs, port 1 for output 0.
  allocator.request_output({0, 0, 0, 0, 0, true, 0, 0}, vcs);
  allocator.request_output({0, 1, 0, 1, 0, true, 0, 0}, vcs);
  allocator.request_output({1, 0, 1, 0, 0, true, 0, 0}, vcs);
  // Both outputs grant port 0, which accepts output 0.
  const auto first = allocator.allocate_by_output();
  REQUIRE(first.size() == 1);
  CHECK(first[0].crossbar_input == 0);
  CHECK(first[0].output == 0);
  // The pointers have moved, so output 0 grants port 1, and port 0 takes output 1.
  allocator.clear();
  allocator.request_output({0, 0, 0, 0, 0, true, 0, 0}, vcs);
  allocator.request_output({0, 1, 0, 1, 0, true, 0, 0}, vcs);
  allocator.request_output({1, 0, 1, 0, 0, true, 0, 0}, vcs);
  const auto second = allocator.allocate_by_output();
  REQUIRE(second.size() == 2);
  CHECK(second[0].crossbar_input == 1);
  CHECK(second[1].crossbar_input == 0);
}

TEST_CASE("With outputs first, VCs of a port that ask for one output take turns") {
  SwitchAllocator allocator(1, 1);
  RoundRobinArbiter vcs(4);
  vcs.grant(1);
  allocator.request_output({0, 0, 0, 1, 0, true, 0, 0}, vcs);
  allocator.request_output({0, 0, 0, 3, 0, true, 0, 0}, vcs);
  const auto winners = allocator.allocate_by_output();
  REQUIRE(winners.size() == 1);
  CHECK(winners[0].vc == 3);
}

}  // namespace
}  // namespace espalier
