// hw/rtl/ni_control.v beside the C++ sequencer, in two engines that run the same random programs.
#include <fmt/format.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <cstdio>
#include <random>
#include <set>
#include <vector>

#include "ni/engines/schedule_table_engine.h"
#include "ni/rtl/rtl_sequencer.h"

using namespace espalier;

namespace {

using Draw = std::mt19937_64;

bool chance(Draw& draw, unsigned percent) { return draw() % 100 < percent; }

// A table of up to 40 entries in up to 12 steps, some of which have no entry, or only NOPs.
struct RandomTable {
  TableProgram program;
  std::vector<TableEvent> events;
  Timestep last_step = 1;

  explicit RandomTable(Draw& draw) {
    Timestep step = 1;
    const std::size_t entries = 1 + draw() % 40;
    for (std::size_t e = 0; e < entries; ++e) {
      if (chance(draw, 35)) step += 1 + static_cast<Timestep>(draw() % 2);
      add_entry(draw, e, std::min<Timestep>(step, 12));
    }
    last_step = program.entries.back().step;
    std::sort(program.waiters.begin(), program.waiters.end(), [](const auto& a, const auto& b) {
      return a.event == b.event ? a.entry < b.entry : a.event < b.event;
    });
  }

 private:
  void add_entry(Draw& draw, std::size_t index, Timestep step) {
    ProgramEntry entry;
    entry.op = chance(draw, 15)   ? TableOp::nop
               : chance(draw, 50) ? TableOp::reduce
                                  : TableOp::gather;
    entry.step = step;
    entry.flow = FlowId(index);
    entry.first_send = static_cast<std::uint32_t>(program.sends.size());
    entry.num_sends = entry.op == TableOp::nop ? 0 : 1 + static_cast<std::uint32_t>(draw() % 2);
    entry.reads_back = chance(draw, 20);
    if (chance(draw, 20)) entry.not_before_ps = 1000 * (draw() % 60);
    if (chance(draw, 10)) entry.rows_passed = 1 + static_cast<std::uint32_t>(draw() % 5);
    for (std::uint32_t s = 0; s < entry.num_sends; ++s) {
      Operation send;
      send.flow = entry.flow;
      send.to = NodeId(s);
      program.sends.push_back(send);
    }
    const std::size_t waits = chance(draw, 50) ? 0 : 1 + draw() % 3;
    for (std::size_t w = 0; w < waits; ++w) {
      const TableEvent event{entry.flow, TableEvent::Kind::reduced, NodeId(w)};
      program.waiters.push_back({event, static_cast<std::uint32_t>(index), false});
      events.push_back(event);
    }
    entry.waits_for = static_cast<std::uint32_t>(waits);
    program.entries.push_back(entry);
  }
};

ScheduleTableEngine::Spec random_spec(Draw& draw, Timestep steps) {
  ScheduleTableEngine::Spec spec;
  spec.lockstep = static_cast<LockstepMode>(draw() % 4);
  spec.issue_per_cycle = 1 + static_cast<std::uint32_t>(draw() % 4);
  spec.turnaround = draw() % 4;
  spec.slot_clock_hertz = chance(draw, 70) ? 1'000'000'000 : 0;
  for (Timestep step = 0; step < steps; ++step) {
    spec.step_time.push_back(chance(draw, 20) ? draw() % 3 : draw() % 60);
  }
  Cycle at = 0;
  for (Timestep step = 1; step <= steps; ++step) {
    if (!chance(draw, 15)) continue;
    at += draw() % 80;
    spec.releases.push_back({step, at});
  }
  return spec;
}

// What surrounds both engines in a cycle.
struct Surroundings {
  std::vector<bool> full = {false, false};  // by peer
  bool all_sent = true;
  Cycle idle_at = 0;
};

struct Issued {
  std::size_t flow;
  NodeId to;
  Cycle at;
  bool operator==(const Issued& other) const {
    return flow == other.flow && to == other.to && at == other.at;
  }
};

class NotingBackEnd : public BackEnd {
 public:
  explicit NotingBackEnd(const Surroundings& around) : around_(around) {}
  [[nodiscard]] bool reduction_idle(Cycle now) const override { return around_.idle_at <= now; }
  [[nodiscard]] Cycle reduction_idle_at() const override { return around_.idle_at; }
  [[nodiscard]] bool all_sent() const override { return around_.all_sent; }
  // One send for each peer and cycle.
  [[nodiscard]] bool has_room(const Operation& operation) const override {
    const bool just_sent = !issued.empty() && issued.back().at == now_ &&
                           issued.back().to == operation.to && operation.to == NodeId(1);
    return !around_.full[operation.to.index()] && !just_sent;
  }
  void issue(const Operation& operation, Cycle now) override {
    issued.push_back({operation.flow.index(), operation.to, now});
  }
  WorkTimes work(const LocalWork& /*work*/, Cycle /*now*/) override { return {}; }

  void begin_cycle(Cycle now) { now_ = now; }

  std::vector<Issued> issued;

 private:
  const Surroundings& around_;
  Cycle now_ = 0;
};

// Two engines in the same surroundings. Each is evaluated when it asks for it, at every event, and
// while it waits for ports.
class Pair {
 public:
  Pair(const RandomTable& table, const ScheduleTableEngine::Spec& spec)
      : model_back_(around_),
        rtl_back_(around_),
        model_(table.program, NodeFrame(), spec),
        rtl_(table.program, NodeFrame(), with_rtl(spec)),
        events_(table.events) {}

  // Returns the cycles until the table was done.
  Cycle run(Draw& draw) {
    std::shuffle(events_.begin(), events_.end(), draw);
    constexpr Cycle kLongest = 20'000;
    Cycle now = 0;
    for (; now < kLongest && !model_.done(); ++now) {
      step(draw, now);
      if (model_.timestep() != rtl_.timestep() || model_.head() != rtl_.head() ||
          model_.lockstep_counter(now + 1) != rtl_.lockstep_counter(now + 1) ||
          model_.timer_running(now) != rtl_.timer_running(now) ||
          model_back_.issued != rtl_back_.issued) {
        FAIL(fmt::format(
            "cycle {}: timestep {} and {}, head {} and {}, lockstep {} and {}, timer {} and {}, "
            "{} and {} sends, until {} and {}",
            now, model_.timestep(), rtl_.timestep(), model_.head(), rtl_.head(),
            model_.lockstep_counter(now + 1), rtl_.lockstep_counter(now + 1),
            model_.timer_running(now), rtl_.timer_running(now), model_back_.issued.size(),
            rtl_back_.issued.size(), model_.lockstep_counter(0), rtl_.lockstep_counter(0)));
      }
    }
    REQUIRE(model_.done());
    return now;
  }

 private:
  static ScheduleTableEngine::Spec with_rtl(ScheduleTableEngine::Spec spec) {
    spec.sequencer = make_rtl_sequencer;
    return spec;
  }

  void step(Draw& draw, Cycle now) {
    bool woken = model_.waits_for_ports();
    if (chance(draw, 10) && !events_.empty()) {
      model_.clear(events_.back(), now == 0 ? 0 : now - 1);
      rtl_.clear(events_.back(), now == 0 ? 0 : now - 1);
      events_.pop_back();
      woken = true;
    }
    if (woken || now >= next_) {
      around_.full = {chance(draw, 20), chance(draw, 20)};
      around_.all_sent = !chance(draw, 30);
      if (chance(draw, 10)) around_.idle_at = now + draw() % 30;
      model_back_.begin_cycle(now);
      rtl_back_.begin_cycle(now);
      const Cycle next = model_.evaluate(now, model_back_);
      next_ = rtl_.evaluate(now, rtl_back_);
      REQUIRE(next == next_);
    }
  }

  Surroundings around_;
  NotingBackEnd model_back_;
  NotingBackEnd rtl_back_;
  ScheduleTableEngine model_;
  ScheduleTableEngine rtl_;
  std::vector<TableEvent> events_;  // yet to come
  Cycle next_ = 0;
};

}  // namespace

TEST_CASE("In a million cycles the Verilog sequencer issues in the cycles of the model's") {
  if (!has_rtl()) {
    fmt::print("skipped: built without verilator\n");
    return;
  }
  Cycle cycles = 0;
  for (std::uint64_t seed = 1; cycles < 1'000'000; ++seed) {
    Draw draw(seed);
    const RandomTable table(draw);
    const ScheduleTableEngine::Spec spec = random_spec(draw, table.last_step);
    CAPTURE(seed, static_cast<int>(spec.lockstep), spec.issue_per_cycle);
    cycles += Pair(table, spec).run(draw);
  }
}
