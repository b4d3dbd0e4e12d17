// All-reduces that slow computing down.
#include <catch2/catch.hpp>

#include "job_support.h"
#include "sims/workload/coordination/rank_framework.h"

using namespace espalier;

namespace {

TrainingRecord run(const JobCase& c) {
  const TrainingJob job = make_job(c);
  return run_in_closed_form(job, PairLatency(c.seed, 5, c.latency_spread), AffineReduction{70, 8},
                            {});
}

}  // namespace

TEST_CASE("Computing runs at full speed while nothing is reduced") {
  ComputeClock clock(250);
  clock.begin(100);
  CHECK(clock.computed_by(100) == 0);
  CHECK(clock.computed_by(140) == 40);
  CHECK(clock.when_computed(40) == 140);
}

TEST_CASE("Computing runs at three quarters of its speed while something is reduced") {
  ComputeClock clock(250);
  clock.begin(100);
  clock.posted(120);
  CHECK(clock.computed_by(160) == 20 + 30);
  CHECK(clock.when_computed(50) == 160);
  CHECK(clock.when_computed(51) == 162);  // rounded up
  clock.done(160);
  CHECK(clock.computed_by(170) == 60);
  CHECK(clock.when_computed(60) == 170);
  CHECK(clock.when_computed(35) == 140);  // behind it
}

TEST_CASE("Several posted all-reduces slow computing down once") {
  // Whether an end is known before the next post, or only afterwards, makes no difference.
  ComputeClock ends_first(500);
  ends_first.begin(0);
  ends_first.posted(10);
  ends_first.done(50);
  ends_first.posted(30);
  ends_first.done(70);
  ComputeClock posts_first(500);
  posts_first.begin(0);
  posts_first.posted(10);
  posts_first.posted(30);
  posts_first.done(50);
  posts_first.done(70);
  for (Cycle now = 0; now < 100; ++now) {
    CHECK(ends_first.computed_by(now) == posts_first.computed_by(now));
  }
  CHECK(ends_first.computed_by(70) == 10 + 30);
  CHECK(ends_first.computed_by(80) == 50);
}

TEST_CASE("Between an end and a post that is already known computing is at full speed") {
  ComputeClock clock(500);
  clock.begin(0);
  clock.posted(10);
  clock.posted(40);  // ahead of time
  clock.done(20);
  CHECK(clock.computed_by(40) == 10 + 5 + 20);
  CHECK(clock.computed_by(60) == 35 + 10);
}

TEST_CASE("An all-reduce after all computing does not slow it down") {
  for (std::uint64_t seed = 1; seed <= 100; ++seed) {
    JobCase c;
    c.seed = seed;
    c.mode = static_cast<CoordinationMode>(1 + seed % 4);
    c.ranks = static_cast<std::uint32_t>(2 + mix(seed, 1) % 10);
    c.groups = 1;
    c.threshold = 1 << 20;
    c.jitter = 0;
    INFO(c.text());
    const TrainingRecord free = run(c);
    c.lost_permille = 900;
    const TrainingRecord slowed = run(c);
    REQUIRE(free.failure.empty());
    REQUIRE(slowed.failure.empty());
    CHECK(slowed.end == free.end);
  }
}

TEST_CASE("With bits in the NI a job whose all-reduces take half of the speed ends by arithmetic") {
  // One rank, two tensors: computing of 180 cycles, ready after about 100 and 140.
  JobCase c;
  c.mode = CoordinationMode::in_ni;
  c.ranks = 1;
  c.tensors = 2;
  c.iterations = 1;
  c.jitter = 0;
  c.order_window = 1;
  c.lost_permille = 500;
  const TrainingJob job = make_job(c);
  const AffineReduction reductions{70, 8};
  const auto& tensors = job.set.tensors;
  const TrainingRecord record = run_in_closed_form(job, PairLatency(1, 5, 0), reductions, {});
  REQUIRE(record.failure.empty());
  REQUIRE(record.collectives.size() == 2);
  // A bit shows a cycle after it is set, and the root posts a cycle later.
  const Cycle first_post = tensors[0].ready + 2;
  CHECK(record.collectives[0].first_posted == first_post);
  const Cycle first_end = first_post + reductions({CollectiveOp::all_reduce, tensors[0].bytes});
  CHECK(record.collectives[0].end == first_end);
  const Cycle left = tensors[1].ready - first_post;  // to compute when computing slows down
  const Cycle slow = first_end - first_post;
  const Cycle complete = 2 * left <= slow ? first_post + 2 * left : first_end + left - slow / 2;
  CHECK(record.collectives[1].last_complete == complete);
}
