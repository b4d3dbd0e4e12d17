#include "ni/engines/schedule_table_engine.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <map>
#include <random>

#include "ni/reduction_unit.h"
#include "table_engine_support.h"

namespace espalier {
namespace {

using namespace table_test;

using TableDriver = EngineDriver<ScheduleTableEngine>;

TEST_CASE("A Gather issues in the cycle after its parent's Gather became visible") {
  const TableProgram program = TableWriter().entry(1, {kGathered}, 1, TableOp::gather).done();
  TableDriver driver(program, spec(LockstepMode::off));
  driver.run(0, 99);
  driver.evaluate(100);
  driver.engine.clear(kGathered, 100);  // visible in cycle 100
  driver.evaluate(100);
  CHECK(driver.back_end.issued.empty());  // not in the same cycle
  driver.evaluate(101);
  CHECK(driver.issue_cycle(0) == 101);
  CHECK(driver.engine.done());
}

TEST_CASE("A dependent Reduce issues in the cycle after its child's message was reduced") {
  const TableProgram program = TableWriter().entry(1, {kReduced}).done();
  ReductionUnit unit({ReductionMode::after_message, 1, 128, 2048}, 1);
  TableDriver driver(program, spec(LockstepMode::off));
  const Cycle visible = 1000;
  const Cycle reduced = unit.message_visible(4096, visible, visible);
  const Cycle occupancy = 32;
  CHECK(reduced == visible + 1 + occupancy);
  driver.run(0, reduced);
  driver.engine.clear(kReduced, reduced);
  driver.evaluate(reduced);
  CHECK(driver.back_end.issued.empty());
  driver.evaluate(reduced + 1);
  CHECK(driver.issue_cycle(0) == visible + 1 + occupancy + 1);
}

TEST_CASE("A collective's first step does not start before its host has posted it") {
  const TableProgram program = TableWriter().entry(1).entry(2).entry(3).done();
  for (const LockstepMode mode :
       {LockstepMode::off, LockstepMode::estimate, LockstepMode::drain, LockstepMode::full}) {
    ScheduleTableEngine::Spec engine_spec = spec(mode, {10, 10, 10});
    engine_spec.releases = {{1, 5}, {3, 100}};
    TableDriver driver(program, engine_spec);
    CAPTURE(static_cast<int>(mode));
    CHECK(driver.evaluate(0) == 5);  // it says when to ask again
    CHECK(driver.engine.timer_running(0));
    driver.run(1, 99);
    CHECK(driver.issue_cycle(0) == 5);
    const bool counts = mode == LockstepMode::estimate || mode == LockstepMode::full;
    CHECK(driver.issue_cycle(1) == (counts ? 15 : 6));
    CHECK(driver.issue_cycle(2) == kNever);
    CHECK(driver.engine.timestep() == 2);
    CHECK(driver.evaluate(99) == 100);
    CHECK(driver.engine.timer_running(99));  // no watchdog takes this for a standstill
    driver.run(100, 100);
    CHECK(driver.issue_cycle(2) == 100);
    CHECK(driver.engine.done());
  }
}

TEST_CASE("A collective that was posted early waits for the one before, as any step does") {
  const TableProgram program = TableWriter().entry(1).entry(2).done();
  ScheduleTableEngine::Spec engine_spec = spec(LockstepMode::estimate, {40, 40});
  engine_spec.releases = {{1, 0}, {2, 1}};
  TableDriver driver(program, engine_spec);
  driver.run(0, 50);
  CHECK(driver.issue_cycle(0) == 0);
  CHECK(driver.issue_cycle(1) == 40);
}

TEST_CASE("A root's Gather issues the turnaround later than a Reduce would") {
  for (const Cycle turnaround : {Cycle{0}, Cycle{1}, Cycle{2}, Cycle{7}}) {
    const TableProgram program =
        TableWriter().entry(1, {kReduced}, 1, TableOp::gather).reads_back().done();
    ScheduleTableEngine::Spec engine_spec = spec(LockstepMode::off);
    engine_spec.turnaround = turnaround;
    TableDriver driver(program, engine_spec);
    driver.evaluate(0);
    driver.engine.clear(kReduced, 50);
    CAPTURE(turnaround);
    CHECK(
        (turnaround == 0 || driver.evaluate(51) == 51 + turnaround));  // it says when to ask again
    driver.evaluate(50 + turnaround);
    CHECK(driver.back_end.issued.empty());
    driver.evaluate(51 + turnaround);
    CHECK(driver.issue_cycle(0) == 51 + turnaround);
  }
}

TEST_CASE("An entry waits for the last of its events") {
  const TableEvent other{FlowId(0), Kind::reduced, NodeId(5)};
  const TableProgram program = TableWriter().entry(1, {kReduced, other}).done();
  TableDriver driver(program, spec(LockstepMode::off));
  driver.evaluate(0);
  driver.engine.clear(other, 10);
  driver.run(10, 30);
  CHECK(driver.back_end.issued.empty());
  driver.engine.clear(kReduced, 30);
  driver.run(31, 40);
  CHECK(driver.issue_cycle(0) == 31);
}

TEST_CASE("A repeated event does not replace a missing event") {
  const TableEvent other{FlowId(0), Kind::reduced, NodeId(5)};
  const TableProgram program = TableWriter().entry(1, {kReduced, other}).done();
  TableDriver driver(program, spec(LockstepMode::off));
  driver.evaluate(0);
  driver.engine.clear(kReduced, 10);
  driver.engine.clear(kReduced, 11);
  driver.run(11, 50);
  CHECK(driver.back_end.issued.empty());
}

TEST_CASE("An event that no entry waits for clears no wait") {
  const TableProgram program = TableWriter().entry(1, {kReduced}).done();
  TableDriver driver(program, spec(LockstepMode::off));
  driver.evaluate(0);
  driver.engine.clear({FlowId(1), Kind::reduced, NodeId(1)}, 5);
  driver.engine.clear({FlowId(0), Kind::gathered, NodeId(1)}, 5);
  driver.engine.clear({FlowId(0), Kind::reduced, NodeId(2)}, 5);
  driver.run(5, 20);
  CHECK(driver.back_end.issued.empty());
  const auto missing = driver.engine.head_waits_for();
  REQUIRE(missing.size() == 1);
  CHECK(missing[0] == kReduced);
}

TEST_CASE("One event clears every entry that waits for it") {
  const TableProgram program = TableWriter().entry(1, {kReduced}).entry(1, {kReduced}).done();
  TableDriver driver(program, spec(LockstepMode::off, {}, 2));
  driver.evaluate(0);
  driver.engine.clear(kReduced, 9);
  driver.run(9, 20);
  CHECK(driver.issue_cycle(0) == 10);
  CHECK(driver.issue_cycle(1) == 10);
}

TEST_CASE("The table issues in order: an entry that is ready waits for the head") {
  const TableProgram program = TableWriter().entry(1, {kReduced}).entry(1).done();
  TableDriver driver(program, spec(LockstepMode::off, {}, 4));
  driver.run(0, 9);
  CHECK(driver.back_end.issued.empty());
  CHECK(driver.engine.head() == 0);
  driver.engine.clear(kReduced, 9);
  driver.evaluate(10);
  CHECK(driver.back_end.issued.size() == 2);
}

TEST_CASE("No more entries issue per cycle than the NI has ports") {
  for (std::uint32_t per_cycle = 1; per_cycle <= 5; ++per_cycle) {
    TableWriter entries;
    for (int e = 0; e < 7; ++e) entries.entry(1);
    const TableProgram program = entries.done();
    TableDriver driver(program, spec(LockstepMode::off, {}, per_cycle));
    driver.run(0, 10);
    for (std::size_t e = 0; e < 7; ++e) CHECK(driver.issue_cycle(e) == e / per_cycle);
  }
}

TEST_CASE("Either all sends of an entry start in one cycle, or none starts") {
  const TableProgram program = TableWriter().entry(1, {}, 3, TableOp::gather).done();
  TableDriver driver(program, spec(LockstepMode::off));
  driver.back_end.full_queue = NodeId(2);  // of the entry's last send
  driver.run(0, 20);
  CHECK(driver.back_end.issued.empty());
  driver.back_end.full_queue = NodeId();
  driver.evaluate(21);
  REQUIRE(driver.back_end.issued.size() == 3);
  for (const auto& send : driver.back_end.issued) CHECK(send.second == 21);
}

TEST_CASE("Without lockstep a step follows the one before in the next cycle") {
  const TableProgram program = TableWriter().entry(1).entry(2).nop(3).entry(4).done();
  TableDriver driver(program, spec(LockstepMode::off, {100, 100, 100, 100}));
  driver.back_end.is_reduction_idle = false;
  driver.back_end.idle_at = 500;
  driver.back_end.is_all_sent = false;  // nobody asks
  driver.run(0, 10);
  CHECK(driver.issue_cycle(0) == 0);
  CHECK(driver.issue_cycle(1) == 1);
  CHECK(driver.issue_cycle(3) == 3);  // the NOP took cycle 2
  CHECK(driver.engine.done());
}

TEST_CASE("A step lasts as long as the down-counter and not a cycle less or more") {
  for (const LockstepMode mode : {LockstepMode::estimate, LockstepMode::full}) {
    const TableProgram program = TableWriter().entry(1).entry(2).entry(3).done();
    TableDriver driver(program, spec(mode, {10, 25, 5}));
    driver.evaluate(0);
    CHECK(driver.issue_cycle(0) == 0);
    CHECK(driver.engine.lockstep_counter(0) == 10);
    CHECK(driver.engine.lockstep_counter(4) == 6);
    CHECK(driver.evaluate(1) == 10);
    driver.run(1, 9);
    CHECK(driver.engine.timestep() == 1);
    CHECK(driver.issue_cycle(1) == kNever);
    driver.evaluate(10);
    CHECK(driver.engine.timestep() == 2);
    CHECK(driver.issue_cycle(1) == 10);
    driver.run(11, 34);
    CHECK(driver.issue_cycle(2) == kNever);
    driver.evaluate(35);
    CHECK(driver.issue_cycle(2) == 35);
    CHECK(driver.engine.done());
    CHECK_FALSE(driver.engine.timer_running(35));
  }
}

TEST_CASE("A NOP arms the down-counter and sends nothing") {
  const TableProgram program = TableWriter().nop(1).nop(2).entry(3).done();
  TableDriver driver(program, spec(LockstepMode::estimate, {10, 25, 5}));
  driver.run(0, 34);
  CHECK(driver.back_end.issued.empty());
  CHECK(driver.engine.timestep() == 2);
  CHECK(driver.engine.timer_running(34));
  driver.evaluate(35);
  CHECK(driver.issue_cycle(2) == 35);
}

TEST_CASE(
    "The counter starts when the step's first entry issues and not when the step is entered") {
  const TableProgram program = TableWriter().entry(1).entry(2, {kReduced}).entry(3).done();
  TableDriver driver(program, spec(LockstepMode::estimate, {10, 25, 5}));
  driver.run(0, 40);
  CHECK(driver.engine.timestep() == 2);
  CHECK(driver.engine.lockstep_counter(40) == 0);
  driver.engine.clear(kReduced, 40);
  driver.run(41, 65);
  CHECK(driver.issue_cycle(1) == 41);
  CHECK(driver.issue_cycle(2) == kNever);
  driver.evaluate(66);
  CHECK(driver.issue_cycle(2) == 66);
}

TEST_CASE("Later entries of a step do not restart the counter") {
  const TableProgram program = TableWriter().entry(1).entry(1).entry(1, {kReduced}).entry(2).done();
  TableDriver driver(program, spec(LockstepMode::estimate, {10, 10}));
  driver.run(0, 4);
  CHECK(driver.issue_cycle(1) == 1);
  driver.engine.clear(kReduced, 4);
  driver.run(5, 9);
  CHECK(driver.issue_cycle(2) == 5);
  CHECK(driver.issue_cycle(3) == kNever);
  driver.evaluate(10);
  CHECK(driver.issue_cycle(3) == 10);
}

TEST_CASE("A step that outlasts its counter ends with its last entry") {
  const TableProgram program = TableWriter().entry(1).entry(1, {kReduced}).entry(2).done();
  TableDriver driver(program, spec(LockstepMode::estimate, {10, 10}));
  driver.run(0, 50);
  driver.engine.clear(kReduced, 50);
  driver.run(51, 60);
  CHECK(driver.issue_cycle(1) == 51);
  CHECK(driver.issue_cycle(2) == 52);
}

TEST_CASE("Busy reduction units hold the step until the cycle in which they are idle") {
  for (const LockstepMode mode :
       {LockstepMode::estimate, LockstepMode::drain, LockstepMode::full}) {
    const TableProgram program = TableWriter().entry(1).entry(2).done();
    TableDriver driver(program, spec(mode, {10, 10}));
    driver.evaluate(0);
    driver.back_end.is_reduction_idle = false;
    driver.back_end.idle_at = 37;
    driver.run(1, 36);
    CHECK(driver.engine.timestep() == 1);
    CHECK(driver.evaluate(36) == 37);  // it says when to ask again
    driver.back_end.is_reduction_idle = true;
    driver.evaluate(37);
    CHECK(driver.issue_cycle(1) == 37);
  }
}

TEST_CASE("Drain starts a step only when all sends of the one before have left") {
  const TableProgram program = TableWriter().entry(1).entry(2).done();
  TableDriver driver(program, spec(LockstepMode::drain, {10, 10}));
  driver.evaluate(0);
  driver.back_end.is_all_sent = false;
  driver.run(1, 80);
  CHECK(driver.issue_cycle(1) == kNever);
  CHECK(driver.evaluate(80) == kNever);  // only an event helps
  driver.back_end.is_all_sent = true;
  driver.evaluate(81);
  CHECK(driver.issue_cycle(1) == 81);
}

TEST_CASE("Drain does not wait for the estimate and estimate does not wait for the sends") {
  const TableProgram program = TableWriter().entry(1).entry(2).done();
  TableDriver drain(program, spec(LockstepMode::drain, {10, 10}));
  drain.run(0, 20);
  CHECK(drain.issue_cycle(1) == 1);
  TableDriver estimate(program, spec(LockstepMode::estimate, {10, 10}));
  estimate.back_end.is_all_sent = false;
  estimate.run(0, 20);
  CHECK(estimate.issue_cycle(1) == 10);
}

TEST_CASE("The first step waits for nothing") {
  const TableProgram program = TableWriter().entry(1).done();
  for (const LockstepMode mode :
       {LockstepMode::off, LockstepMode::estimate, LockstepMode::drain, LockstepMode::full}) {
    TableDriver driver(program, spec(mode, {10}));
    driver.back_end.is_reduction_idle = false;
    driver.back_end.idle_at = 100;
    driver.back_end.is_all_sent = false;
    driver.evaluate(0);
    CHECK(driver.issue_cycle(0) == 0);
  }
}

TEST_CASE("A Reduce is held until the flows that its entry comes after are complete") {
  const TableEvent left{FlowId(7), Kind::gather_sent, NodeId(3)};
  const TableEvent arrived{FlowId(7), Kind::gathered, NodeId(2)};
  const TableProgram program =
      TableWriter().entry(1, {kReduced}).after({left, arrived}).entry(2).done();
  TableDriver driver(program, spec(LockstepMode::off));
  driver.evaluate(0);
  CHECK_FALSE(driver.may_add(FlowId(0)));
  CHECK(driver.may_add(FlowId(1)));  // another flow is not concerned
  driver.engine.clear(left, 10);
  CHECK_FALSE(driver.may_add(FlowId(0)));
  driver.engine.clear(arrived, 20);
  CHECK(driver.may_add(FlowId(0)));
  driver.run(20, 30);
  CHECK(driver.back_end.issued.empty());  // the entry itself also waits for the Reduce
  driver.engine.clear(kReduced, 40);
  driver.run(40, 50);
  CHECK(driver.issue_cycle(0) == 41);
}

TEST_CASE("Asking only when told to gives the issue cycles of asking in every cycle") {
  for (std::uint32_t seed = 1; seed <= 300; ++seed) {
    CAPTURE(seed);
    std::mt19937 random(seed);
    const auto below = [&](std::uint32_t bound) {
      return static_cast<std::uint32_t>(random() % bound);
    };
    TableWriter entries;
    std::vector<Cycle> step_time;
    std::map<Cycle, std::vector<TableEvent>> events;
    const std::uint32_t steps = 1 + below(6);
    std::uint32_t peer = 0;
    for (Timestep step = 1; step <= steps; ++step) {
      step_time.push_back(below(30));
      if (below(4) == 0) {
        entries.nop(step);
        continue;
      }
      for (std::uint32_t e = 0; e <= below(3); ++e) {
        std::vector<TableEvent> waits;
        for (std::uint32_t w = below(3); w > 0; --w) {
          waits.push_back({FlowId(0), Kind::reduced, NodeId(++peer)});
          events[below(150)].push_back(waits.back());
        }
        entries.entry(step, waits, 1 + below(3));
        if (below(3) == 0) entries.reads_back();
      }
    }
    const TableProgram program = entries.done();
    const LockstepMode mode = below(2) == 0 ? LockstepMode::estimate : LockstepMode::off;
    const auto engine_spec = spec(mode, step_time, 1 + below(3));
    TableDriver always(program, engine_spec);
    TableDriver sleeping(program, engine_spec);
    Cycle wake = 0;
    for (Cycle now = 0; now < 600; ++now) {
      always.evaluate(now);
      if (wake <= now) wake = sleeping.evaluate(now);
      for (const TableEvent& event : events[now]) {
        always.engine.clear(event, now);
        sleeping.engine.clear(event, now);
        wake = now + 1;
      }
    }
    CHECK(always.engine.done());
    CHECK(always.back_end.issued == sleeping.back_end.issued);
  }
}

}  // namespace
}  // namespace espalier
