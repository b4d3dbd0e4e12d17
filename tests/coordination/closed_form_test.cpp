#include <catch2/catch.hpp>

#include "job_support.h"

using namespace espalier;

namespace {

void check_equal(const TrainingRecord& events, const TrainingRecord& arithmetic) {
  CHECK(events.failure == arithmetic.failure);
  CHECK(events.end == arithmetic.end);
  CHECK(events.control_messages == arithmetic.control_messages);
  CHECK(events.control_bytes == arithmetic.control_bytes);
  REQUIRE(events.iterations.size() == arithmetic.iterations.size());
  for (std::size_t i = 0; i < events.iterations.size(); ++i) {
    CHECK(events.iterations[i].begin == arithmetic.iterations[i].begin);
    CHECK(events.iterations[i].end == arithmetic.iterations[i].end);
    CHECK(events.iterations[i].control == arithmetic.iterations[i].control);
    CHECK(events.iterations[i].control_cycles == arithmetic.iterations[i].control_cycles);
  }
  REQUIRE(events.collectives.size() == arithmetic.collectives.size());
  for (std::size_t c = 0; c < events.collectives.size(); ++c) {
    const CollectiveRecord& a = events.collectives[c];
    const CollectiveRecord& b = arithmetic.collectives[c];
    CHECK(a.bytes == b.bytes);
    CHECK(a.iteration == b.iteration);
    CHECK(a.first_posted == b.first_posted);
    CHECK(a.last_posted == b.last_posted);
    CHECK(a.first_complete == b.first_complete);
    CHECK(a.end == b.end);
  }
}

}  // namespace

TEST_CASE("rounds of arithmetic give the times of the events if messages do not meet") {
  for (std::uint64_t seed = 1; seed <= 600; ++seed) {
    JobCase c;
    c.seed = seed;
    c.mode = seed % 3 == 0   ? CoordinationMode::coordinator
             : seed % 3 == 1 ? CoordinationMode::hierarchical
                             : CoordinationMode::cached;
    c.ranks = static_cast<std::uint32_t>(1 + mix(seed, 1) % 20);
    c.tensors = static_cast<std::uint32_t>(1 + mix(seed, 2) % 15);
    c.groups = static_cast<std::uint32_t>(mix(seed, 3) % 4);
    c.capacity = mix(seed, 4) % 2 == 0 ? 1024 : static_cast<std::uint32_t>(mix(seed, 5) % 10);
    c.new_shapes_every = static_cast<std::uint32_t>(mix(seed, 6) % 3);
    c.cycle = 1 + mix(seed, 7) % 200;
    c.blocking = mix(seed, 8) % 2 == 0;
    c.latency_spread = mix(seed, 9) % 150;
    c.lost_permille = seed % 2 == 0 ? 0 : static_cast<std::uint32_t>(mix(seed, 10) % 901);
    INFO(c.text());
    const TrainingJob job = make_job(c);
    const PairLatency messages(c.seed, 5, c.latency_spread);
    const AffineReduction reductions{70, 8};
    const auto hosts = make_hosts(job);
    ModelledDataPlane modelled(*hosts, c.ranks, reductions);
    REQUIRE(run_events(modelled, &messages) == "");
    check_equal(hosts->record(), run_in_closed_form(job, messages, reductions, {}));
  }
}
