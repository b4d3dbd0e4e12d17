#include "ni/engines/authors_table_engine.h"

#include <catch2/catch.hpp>

#include "table_engine_support.h"

namespace espalier {
namespace {

using namespace table_test;

using AuthorsDriver = EngineDriver<AuthorsTableEngine>;

constexpr AuthorsRules kAnyPort{true, 0};
constexpr AuthorsRules kLinked{false, 0};

// A Reduce of flow 0 from node 1 is in memory (kReduced).
Operation reduce_of_flow_0() {
  Operation operation;
  operation.flow = FlowId(0);
  operation.from = NodeId(1);
  operation.on_arrival = TransferKind::reduce;
  return operation;
}

TEST_CASE("An entry of the authors' NI does not wait for an earlier one of its timestep") {
  const TableProgram program = TableWriter().entry(1, {kReduced}).entry(1).entry(2).entry(2).done();
  AuthorsDriver driver(program, spec(LockstepMode::off, {}, 4), kLinked);
  driver.run(0, 9);
  CHECK(driver.issue_cycle(1) == 0);
  CHECK(driver.engine.decisions() == 1);
  CHECK_FALSE(driver.engine.timer_running(9));
  // The next timestep still waits for all entries of the present one.
  CHECK(driver.issue_cycle(2) == kNever);
  CHECK(driver.engine.completed(reduce_of_flow_0(), 9));
  driver.run(10, 12);
  CHECK(driver.issue_cycle(0) == 10);
  CHECK(driver.issue_cycle(2) == 11);
  CHECK(driver.issue_cycle(3) == 11);
  CHECK(driver.engine.done());
}

TEST_CASE(
    "Entries of the authors' NI that can go issue in ascending flow, as many as it has ports") {
  const TableProgram program = TableWriter().entry(1, {kReduced}).entry(1).entry(1).done();
  AuthorsDriver driver(program, spec(LockstepMode::off), kLinked);
  CHECK(driver.engine.completed(reduce_of_flow_0(), 5));
  driver.run(6, 8);
  for (std::size_t e = 0; e < 3; ++e) CHECK(driver.issue_cycle(e) == 6 + e);
}

TEST_CASE("A step that the authors' hosts post later starts when they have posted it") {
  const TableProgram program = TableWriter().entry(1).entry(2).done();
  AuthorsDriver driver(program, spec(LockstepMode::off), AuthorsRules{true, 2});
  driver.run(0, 9);
  CHECK(driver.issue_cycle(0) == 0);
  CHECK(driver.issue_cycle(1) == kNever);
  CHECK_FALSE(driver.engine.timer_running(9));
  driver.engine.post(12);
  CHECK(driver.engine.timer_running(10));
  driver.run(10, 14);
  CHECK(driver.issue_cycle(1) == 12);
}

TEST_CASE("A collective of the authors' NI waits for its doorbell") {
  const TableProgram program = TableWriter().entry(1).entry(2).done();
  ScheduleTableEngine::Spec two_posts = spec(LockstepMode::off);
  two_posts.releases = {{1, 5}, {2, 100}};
  AuthorsDriver driver(program, two_posts, kAnyPort);
  CHECK(driver.evaluate(0) == 5);
  driver.run(1, 99);
  CHECK(driver.issue_cycle(0) == 5);
  CHECK(driver.issue_cycle(1) == kNever);
  driver.evaluate(100);
  CHECK(driver.issue_cycle(1) == 100);
}

TEST_CASE("An entry that may take any port issues when as many ports are free as it sends") {
  const TableProgram program = TableWriter().entry(1, {}, 2).entry(1).done();
  AuthorsDriver driver(program, spec(LockstepMode::off, {}, 4), kAnyPort);
  driver.back_end.free_ports = 1;
  driver.run(0, 4);
  CHECK(driver.issue_cycle(0) == kNever);
  CHECK(driver.issue_cycle(1) == 0);
  CHECK(driver.engine.waits_for_ports());
  driver.back_end.free_ports = 2;
  driver.evaluate(5);
  CHECK(driver.issue_cycle(0) == 5);
}

TEST_CASE("Lockstep nop counts two estimates from the last send to the end of the NOP behind it") {
  const TableProgram program = TableWriter().entry(1).nop(2).nop(3).entry(4).done();
  AuthorsDriver driver(program, spec(LockstepMode::nop, {100, 100, 100, 100}), kAnyPort);
  driver.run(7, 900);
  REQUIRE(driver.issue_cycle(0) == 7);
  CHECK(driver.issue_cycle(3) == 7 + 2 * 100 + 100);
}

TEST_CASE("Lockstep nop starts a step that sends when all ports are released, and a NOP at once") {
  const TableProgram program = TableWriter().entry(1).nop(2).entry(3).done();
  AuthorsDriver driver(program, spec(LockstepMode::nop, {10, 10, 10}), kAnyPort);
  driver.back_end.is_all_sent = false;
  driver.back_end.is_reduction_idle = false;  // it does not wait for reductions
  driver.run(0, 99);
  CHECK(driver.engine.decisions() == 2);
  driver.back_end.is_all_sent = true;
  driver.run(100, 101);
  CHECK(driver.issue_cycle(2) == 100);
}

TEST_CASE("The authors' NI refuses entries that wait for slots") {
  TableProgram program = TableWriter().entry(1).done();
  program.entries[0].not_before_ps = 1;
  ScheduleTableEngine::Spec with_slots = spec(LockstepMode::off);
  with_slots.slot_clock_hertz = 1'000'000'000;
  CHECK_THROWS_AS(AuthorsTableEngine(program, {}, with_slots, kAnyPort), std::invalid_argument);
}

}  // namespace
}  // namespace espalier
