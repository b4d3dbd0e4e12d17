#include <catch2/catch.hpp>

#include "job_support.h"

using namespace espalier;

namespace {

std::uint64_t below(std::uint64_t seed, std::uint64_t what, std::uint64_t bound) {
  return mix(seed, what) % bound;
}

JobCase drawn(std::uint64_t seed) {
  JobCase c;
  c.seed = seed;
  constexpr CoordinationMode kModes[] = {CoordinationMode::coordinator,
                                         CoordinationMode::hierarchical, CoordinationMode::cached,
                                         CoordinationMode::cached, CoordinationMode::in_ni};
  c.mode = kModes[below(seed, 1, 5)];
  c.ranks = static_cast<std::uint32_t>(1 + below(seed, 2, 13));
  c.tensors = static_cast<std::uint32_t>(1 + below(seed, 3, 12));
  c.groups = below(seed, 4, 2) == 0 ? 0 : static_cast<std::uint32_t>(1 + below(seed, 5, 6));
  c.iterations = static_cast<std::uint32_t>(1 + below(seed, 6, 5));
  c.capacity = below(seed, 7, 2) == 0 ? 1024 : static_cast<std::uint32_t>(below(seed, 8, 14));
  c.new_shapes_every = static_cast<std::uint32_t>(below(seed, 9, 4));
  c.cycle = 1 + below(seed, 10, 300);
  c.latency_spread = below(seed, 11, 200);
  c.threshold = below(seed, 12, 3) == 0 ? 0 : below(seed, 13, 12000);
  c.fuse_groups = below(seed, 14, 2) == 0;
  c.blocking = below(seed, 15, 3) == 0;
  c.jitter = unit_interval(mix(seed, 16));
  c.order_window = static_cast<std::uint32_t>(1 + below(seed, 17, 12));
  return c;
}

// Smaller cases, the most drastic first.
std::vector<JobCase> smaller(const JobCase& c) {
  std::vector<JobCase> cases;
  const auto with = [&](auto change) {
    JobCase next = c;
    change(next);
    if (next.text() != c.text()) cases.push_back(next);
  };
  with([](JobCase& n) { n.ranks = std::max(2U, n.ranks / 2); });
  with([](JobCase& n) { n.ranks = std::max(2U, n.ranks - 1); });
  with([](JobCase& n) { n.tensors = std::max(1U, n.tensors / 2); });
  for (std::uint64_t seed = 0; seed < 8; ++seed) {
    with([&](JobCase& n) {
      n.tensors = std::max(1U, n.tensors - 1);
      if (n.tensors < c.tensors) n.seed += seed;
    });
  }
  with([](JobCase& n) { n.iterations = std::max(1U, n.iterations - 1); });
  with([](JobCase& n) { n.groups = 0; });
  with([](JobCase& n) { n.new_shapes_every = 0; });
  with([](JobCase& n) { n.blocking = false; });
  with([](JobCase& n) { n.latency_spread = 0; });
  with([](JobCase& n) { n.order_window = std::max(1U, n.order_window / 2); });
  return cases;
}

template <class Fails>
JobCase shrink(JobCase c, Fails&& fails) {
  for (bool shrunk = true; shrunk;) {
    shrunk = false;
    for (const JobCase& next : smaller(c)) {
      if (!fails(next)) continue;
      c = next;
      shrunk = true;
      break;
    }
  }
  return c;
}

}  // namespace

TEST_CASE("whatever the jitter, all ranks execute the same collectives in the same order") {
  for (std::uint64_t seed = 1; seed <= 3000; ++seed) {
    const JobCase c = drawn(seed);
    if (check_order(c).empty()) continue;
    const JobCase least = shrink(c, [](const JobCase& n) { return !check_order(n).empty(); });
    FAIL(c.text() << "\nshrunk to " << least.text() << "\n" << check_order(least));
  }
}

TEST_CASE(
    "without coordination, ranks that complete tensors in different orders deadlock, and the "
    "smallest such case is two ranks with two tensors") {
  JobCase c;
  c.mode = CoordinationMode::none;
  c.ranks = 9;
  c.tensors = 11;
  c.order_window = 8;
  REQUIRE_FALSE(check_order(c).empty());
  const JobCase least = shrink(c, [](const JobCase& n) { return !check_order(n).empty(); });
  INFO(least.text());
  CHECK(least.ranks == 2);
  CHECK(least.tensors == 2);
  CHECK(least.iterations == 1);
  const std::string text = check_order(least);
  CHECK_THAT(text,
             Catch::Matchers::Contains("host_0 waits for host_1 (t1, while host_1 runs t0)") &&
                 Catch::Matchers::Contains("host_1 waits for host_0 (t0, while host_0"));
}

TEST_CASE("without coordination a job with the same order on all ranks ends") {
  JobCase c;
  c.mode = CoordinationMode::none;
  c.order_window = 1;
  c.jitter = 0.9;
  CHECK(check_order(c) == "");
}
