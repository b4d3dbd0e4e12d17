// Training iterations on simulated networks: layers' all-reduces one after the other, each held
// back until its gradient is there.
#include <catch2/catch.hpp>

#include "model_test_support.h"
#include "sims/experiment/training_work.h"
#include "tests/support/networks.h"
#include "tests/support/share_of_cases.h"

namespace espalier {
namespace {

using test::in_mode;
using test::link_of;
using test::Numbers;

const char* const kAlgorithms[] = {"ring", "bidirectional_ring", "2d_ring", "multitree"};
constexpr LockstepMode kLocksteps[] = {LockstepMode::off, LockstepMode::estimate,
                                       LockstepMode::drain, LockstepMode::full};

Layer matrix(const char* name, std::uint32_t inputs, std::uint32_t outputs) {
  return {name, 1, 1, 1, 1, inputs, outputs, 1, LayerWeights::own};
}

// A layer without weights and one with fewer of them than there are nodes among three others.
RunPoint training_point(const std::string& algorithm, Overlap overlap = Overlap::layerwise) {
  RunPoint point;
  point.collective.emplace();
  point.collective->algorithm = algorithm;
  point.training.emplace();
  point.training->overlap = overlap;
  point.training->layers = {matrix("first", 64, 40),
                            matrix("second", 40, 96),
                            {"product", 8, 1, 1, 1, 12, 8, 1, LayerWeights::none},
                            matrix("third", 3, 3),
                            matrix("last", 96, 50)};
  point.collective->size = 4 * count_parameters(point.training->layers);
  return point;
}

struct Run {
  Numbers reproducible;
  std::vector<CollectiveSpan> spans;
  std::string failure;
};

Run run_posts(const Topology& topology, const RunPoint& point, const ScheduleTables& tables,
              const std::vector<PostedCollective>& posts) {
  const test::Report report = test::in_child([&] {
    const SimulationOutcome outcome = simulate_collectives(topology, point, tables, posts, {});
    Numbers numbers = test::reproducible(outcome);
    for (const CollectiveSpan& span : outcome.collectives) {
      numbers.push_back(span.first_issue);
      numbers.push_back(span.last_visible);
    }
    return test::Report{numbers, outcome.failure};
  });
  Run run{report.numbers, {}, report.text};
  for (std::size_t p = 0; p < posts.size(); ++p) {
    const std::size_t at = report.numbers.size() - 2 * (posts.size() - p);
    run.spans.push_back({report.numbers[at], report.numbers[at + 1]});
  }
  return run;
}

Run run_training(const Topology& topology, const RunPoint& point) {
  const TrainingTables tables = training_tables(topology, point);
  return run_posts(topology, point, tables.tables, tables.posts);
}

// Cycles of the all-reduce of each post alone.
std::vector<Cycle> cycles_alone(const Topology& topology, const RunPoint& point) {
  std::vector<Cycle> cycles;
  for (const GradientPost& post : plan_iteration(*point.training).posts) {
    const auto outcome = test::run_collective(point.collective->algorithm, topology,
                                              4 * post.parameters, point.system, point.simulation);
    CHECK(outcome.failure == "");
    cycles.push_back(outcome.cycles);
  }
  return cycles;
}

void check_fidelities_agree(LockstepMode lockstep) {
  const Topology torus = make_torus({4, 4}, link_of(20));
  for (const char* algorithm : kAlgorithms) {
    for (const FlowControlMode mode : {FlowControlMode::message, FlowControlMode::packet}) {
      RunPoint point = training_point(algorithm);
      point.system = in_mode(mode);
      point.system.ni.lockstep = lockstep;
      CAPTURE(algorithm, static_cast<int>(mode));
      point.simulation.fidelity = Fidelity::train;
      const Run train = run_training(torus, point);
      point.simulation.fidelity = Fidelity::cycle;
      const Run cycle = run_training(torus, point);
      CHECK(train.failure == "");
      CHECK(cycle.failure == "");
      CHECK(train.reproducible == cycle.reproducible);
      const TrainingTables tables = training_tables(torus, point);
      REQUIRE(cycle.spans.size() == 4);
      for (std::size_t p = 0; p < 4; ++p) {
        CHECK(cycle.spans[p].first_issue >= tables.posts[p].at);
        CHECK(cycle.spans[p].last_visible > cycle.spans[p].first_issue);
      }
    }
  }
}

TEST_CASE("Training iterations end alike in both fidelities without lockstep") {
  check_fidelities_agree(LockstepMode::off);
}
TEST_CASE("Training iterations end alike in both fidelities with estimated lockstep") {
  check_fidelities_agree(LockstepMode::estimate);
}
TEST_CASE("Training iterations end alike in both fidelities with drained steps") {
  check_fidelities_agree(LockstepMode::drain);
}
TEST_CASE("Training iterations end alike in both fidelities with full lockstep") {
  check_fidelities_agree(LockstepMode::full);
}

TEST_CASE("All-reduces that do not meet take as long as each alone, in any lockstep mode") {
  const Topology torus = make_torus({4, 4}, link_of(20));
  test::ShareOfCases share(3);
  for (const char* algorithm : kAlgorithms) {
    for (const LockstepMode lockstep : kLocksteps) {
      for (const Fidelity fidelity : {Fidelity::train, Fidelity::cycle}) {
        if (!share.take()) continue;
        RunPoint point = training_point(algorithm);
        point.system.ni.lockstep = lockstep;
        point.simulation.fidelity = fidelity;
        // Waiting for a post is no deadlock.
        point.simulation.watchdog_cycles = 2'000;
        TrainingTables tables = training_tables(torus, point);
        for (std::size_t p = 0; p < tables.posts.size(); ++p) tables.posts[p].at = 7 + 20'000 * p;
        const Run run = run_posts(torus, point, tables.tables, tables.posts);
        const std::vector<Cycle> alone = cycles_alone(torus, point);
        CAPTURE(algorithm, static_cast<int>(lockstep), static_cast<int>(fidelity));
        CHECK(run.failure == "");
        REQUIRE(run.spans.size() == alone.size());
        for (std::size_t p = 0; p < alone.size(); ++p) {
          CHECK(run.spans[p].first_issue == 7 + 20'000 * p);
          CHECK(run.spans[p].last_visible - run.spans[p].first_issue == alone[p]);
        }
      }
    }
  }
}

TEST_CASE("All-reduces posted together follow each other without a gap, in the order of posting") {
  const Topology torus = make_torus({4, 4}, link_of(20));
  for (const char* algorithm : kAlgorithms) {
    for (const LockstepMode lockstep : kLocksteps) {
      RunPoint point = training_point(algorithm);
      point.system.ni.lockstep = lockstep;
      TrainingTables tables = training_tables(torus, point);
      for (PostedCollective& post : tables.posts) post.at = 0;
      const Run run = run_posts(torus, point, tables.tables, tables.posts);
      const std::vector<Cycle> alone = cycles_alone(torus, point);
      CAPTURE(algorithm, static_cast<int>(lockstep));
      CHECK(run.failure == "");
      Cycle sum = 0;
      for (std::size_t p = 0; p < alone.size(); ++p) {
        sum += alone[p];
        // No barrier: an NI begins the next when it has issued its own part of the one before.
        if (p != 0) {
          CHECK(run.spans[p].first_issue > run.spans[p - 1].first_issue);
          CHECK(run.spans[p].first_issue <= run.spans[p - 1].last_visible + 100);
        }
      }
      const Cycle all = run.spans.back().last_visible;
      CHECK(all >= *std::max_element(alone.begin(), alone.end()));
      CHECK(all <= sum + 400);
    }
  }
}

TEST_CASE("An iteration takes at least its computing and the all-reduce of its first layer") {
  const Topology torus = make_torus({4, 4}, link_of(20));
  for (const char* algorithm : kAlgorithms) {
    RunPoint point = training_point(algorithm);
    const IterationPlan plan = plan_iteration(*point.training);
    const Run run = run_training(torus, point);
    const std::vector<Cycle> alone = cycles_alone(torus, point);
    const IterationTimes times = iteration_times(plan, Overlap::layerwise, run.spans);
    CAPTURE(algorithm);
    CHECK(times.iteration >= plan.compute() + alone.back());
    CHECK(times.exposed() + times.overlapped >= alone.back());
    // Without overlap: one all-reduce of everything, exactly as it runs by itself.
    point.training->overlap = Overlap::none;
    const Run single = run_training(torus, point);
    const auto whole = test::run_collective(algorithm, torus, point.collective->size, point.system,
                                            point.simulation);
    const IterationTimes unhidden = iteration_times(plan, Overlap::none, single.spans);
    CHECK(unhidden.iteration == plan.compute() + whole.cycles);
    CHECK(unhidden.all_reduce == whole.cycles);
  }
}

TEST_CASE("Layers that post sooner never make an iteration of contention-free steps longer") {
  const Topology torus = make_torus({4, 4}, link_of(20));
  RunPoint point = training_point("multitree");
  const TrainingTables tables = training_tables(torus, point);
  std::vector<PostedCollective> sooner = tables.posts;
  for (PostedCollective& post : sooner) post.at /= 2;
  const Run late = run_posts(torus, point, tables.tables, tables.posts);
  const Run early = run_posts(torus, point, tables.tables, sooner);
  CHECK(early.spans.back().last_visible < late.spans.back().last_visible);
  for (std::size_t p = 0; p < sooner.size(); ++p) {
    CHECK(early.spans[p].first_issue >= sooner[p].at);
  }
}

TEST_CASE("A sleeping system and an always clocked one train alike") {
  const Topology mesh = make_mesh({3, 2}, link_of(9));
  RunPoint point = training_point("multitree");
  point.simulation.fidelity = Fidelity::cycle;
  point.simulation.monitors = true;
  const Run sleeping = run_training(mesh, point);
  point.simulation.always_clocked = true;
  const Run clocked = run_training(mesh, point);
  CHECK(sleeping.failure == "");
  CHECK(sleeping.reproducible == clocked.reproducible);
}

TEST_CASE("A program whose largest all-reduce does not fit the NI's table is refused") {
  const Topology torus = make_torus({4, 4}, link_of(20));
  RunPoint point = training_point("multitree");
  const TrainingTables tables = training_tables(torus, point);
  const Certificate roomy = certify_training(torus, point, tables);
  CHECK(roomy.ok());
  // Tables are loaded collective by collective: four of them need no more room than one.
  CHECK(roomy.most_table_entries <= 32);
  point.system.ni.table_entries = static_cast<std::uint32_t>(roomy.most_table_entries);
  CHECK(certify_training(torus, point, tables).ok());
  --point.system.ni.table_entries;
  const Certificate tight = certify_training(torus, point, tables);
  REQUIRE_FALSE(tight.ok());
  CHECK(tight.violations.front().kind == ViolationKind::capacity);
}

}  // namespace
}  // namespace espalier
