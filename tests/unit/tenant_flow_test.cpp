// Other tenants' flows: when they post, and between which racks.
#include <catch2/catch.hpp>

#include <set>
#include <vector>

#include "sims/system/probe.h"
#include "sims/system/tenant_traffic.h"

using namespace espalier;

namespace {

// Sends half of the time: 4 KiB each 4096 cycles while it sends.
TenantsConfig half_time() {
  TenantsConfig config;
  config.message_bytes = 4096;
  config.bytes_per_second = 1'000'000'000;
  config.on_time_ps = 50'000'000;
  config.off_time_ps = 50'000'000;
  return config;
}

constexpr ClockSpec kClock{};  // 1 GHz

std::vector<Cycle> first_posts(const TenantsConfig& config, std::uint32_t number,
                               std::size_t count) {
  TenantFlow flow(config, kClock, number);
  std::vector<Cycle> posts;
  for (; posts.size() < count; flow.advance()) posts.push_back(flow.next());
  return posts;
}

}  // namespace

TEST_CASE("A flow posts at its rate for the share of time in which it sends") {
  for (std::uint32_t number = 0; number < 4; ++number) {
    const auto posts = first_posts(half_time(), number, 20'000);
    const double bytes_per_cycle = 20'000. * 4096 / static_cast<double>(posts.back());
    CAPTURE(number, bytes_per_cycle);
    CHECK(bytes_per_cycle == Approx(0.5).epsilon(0.05));
  }
}

TEST_CASE("A flow's messages are its rate's interval apart, or a pause comes between them") {
  const auto posts = first_posts(half_time(), 3, 5000);
  std::size_t regular = 0;
  for (std::size_t i = 1; i < posts.size(); ++i) {
    const Cycle gap = posts[i] - posts[i - 1];
    CHECK(gap >= 4096);
    if (gap == 4096) ++regular;
  }
  // 12 messages in a mean time of sending, so most have no pause before them.
  CHECK(regular > posts.size() * 8 / 10);
  CHECK(regular < posts.size());
}

TEST_CASE("A flow without pauses posts at its rate exactly, whatever the cycles of a message") {
  TenantsConfig config = half_time();
  config.off_time_ps = 0;
  config.message_bytes = 1000;
  config.bytes_per_second = 3'000'000'000;
  const auto posts = first_posts(config, 1, 3001);
  for (std::size_t i = 1; i < posts.size(); ++i) {
    CHECK(posts[i] - posts[0] == i * 1000 / 3);
  }
}

TEST_CASE("Flows post by seed and number alone, and each in its own way") {
  const TenantsConfig config = half_time();
  TenantsConfig reseeded = config;
  reseeded.seed = 2;
  CHECK(first_posts(config, 5, 100) == first_posts(config, 5, 100));
  CHECK(first_posts(config, 5, 100) != first_posts(config, 6, 100));
  CHECK(first_posts(config, 5, 100) != first_posts(reseeded, 5, 100));
}

TEST_CASE("A flow joins two different racks, and many flows all pairs of them") {
  std::set<std::pair<std::uint32_t, std::uint32_t>> pairs;
  for (std::uint32_t number = 0; number < 500; ++number) {
    const RackPair racks = racks_of_flow(half_time(), 4, number);
    CHECK(racks.from < 4);
    CHECK(racks.to < 4);
    CHECK(racks.from != racks.to);
    pairs.emplace(racks.from, racks.to);
  }
  CHECK(pairs.size() == 12);
}

TEST_CASE("In a tournament every pair meets once, and nobody meets two at a time") {
  for (const std::uint32_t players : {2U, 3U, 4U, 7U, 8U, 64U}) {
    CAPTURE(players);
    std::set<std::set<std::uint32_t>> met;
    for (std::uint32_t round = 0; round < tournament_rounds(players); ++round) {
      std::set<std::uint32_t> busy;
      for (const auto& [a, b] : tournament_pairs(players, round)) {
        CHECK(a < players);
        CHECK(b < players);
        CHECK(busy.insert(a).second);
        CHECK(busy.insert(b).second);
        CHECK(met.insert({a, b}).second);
      }
      CHECK(busy.size() == players / 2 * 2);
    }
    CHECK(met.size() == std::size_t{players} * (players - 1) / 2);
  }
}
