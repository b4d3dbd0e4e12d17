// hw/rtl/ni_control.v beside the C++ sequencer, in two engines that run the same random programs.
#include <fmt/format.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <cstdio>
#include <random>
#include <set>
#include <vector>

#include "ni/engines/schedule_table_engine.h"
#include "ni/rtl/rtl_dependencies.h"
#include "ni/rtl/rtl_sequencer.h"
#include "rtl_bench.h"

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
    number_places(program);
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
  [[nodiscard]] bool has_ports_for(std::uint32_t) const override { return true; }
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
    if (spec.issue_per_cycle % 2 == 0) spec.dependencies = make_rtl_dependencies;
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

// A cycle of ni_control.v at S = 4, L = 6, I = 2: its inputs, and what the model's sequencer
// decides.
struct SequencerCycle {
  SequencerInputs entry[2];
  SequencerDecision decision[2];
  Timestep timestep = 0;
};

// Random inputs, but entries in the order of steps, and an entry stays until it has issued.
std::vector<SequencerCycle> random_cycles(LockstepMode mode, std::size_t count) {
  Draw draw(static_cast<std::uint64_t>(mode) + 1);
  const auto sequencer = make_sequencer(mode, 2);
  std::vector<SequencerCycle> cycles(count);
  std::vector<Timestep> steps;  // of the next entries
  Timestep last = 1;
  const auto step_after = [&](Timestep step) {
    return std::min<Timestep>(step + (chance(draw, 40) ? 1 + static_cast<Timestep>(draw() % 2) : 0),
                              15);
  };
  for (std::size_t c = 0; c < count; ++c) {
    SequencerCycle& cycle = cycles[c];
    while (steps.size() < 2) steps.push_back(last = step_after(last));
    SequencerInputs around;
    around.step_time = draw() % (chance(draw, 20) ? 3 : 20);
    around.posted = !chance(draw, 15);
    around.reduction_idle = !chance(draw, 15);
    around.all_sent = !chance(draw, 30);
    std::size_t issued = 0;
    for (std::size_t e = 0; e < 2; ++e) {
      SequencerInputs& entry = cycle.entry[e] = around;
      entry.step = steps[e];
      entry.valid = !chance(draw, 10);
      entry.clear = !chance(draw, 30);
      entry.room = !chance(draw, 20);
      const bool asked = issued == e && (e == 0 || steps[e] == sequencer->timestep());
      if (asked) cycle.decision[e] = sequencer->decide(c, entry);
      issued += cycle.decision[e].issues ? 1U : 0U;
    }
    cycle.timestep = sequencer->timestep();
    steps.erase(steps.begin(), steps.begin() + static_cast<std::ptrdiff_t>(issued));
  }
  return cycles;
}

std::string hex_of(const std::vector<SequencerCycle>& cycles, LockstepMode mode) {
  std::string text;
  for (const SequencerCycle& c : cycles) {
    std::uint64_t bits = c.timestep;
    const auto add = [&](std::uint64_t value, unsigned width) { bits = bits << width | value; };
    add(c.decision[1].issues ? 1 : 0, 1);
    add(c.decision[0].issues ? 1 : 0, 1);
    add(c.decision[0].enters_step ? 1 : 0, 1);
    add(static_cast<std::uint64_t>(mode), 2);
    add(c.entry[0].step_time, 6);
    add(c.entry[0].posted ? 1 : 0, 1);
    add(c.entry[0].reduction_idle ? 1 : 0, 1);
    add(c.entry[0].all_sent ? 1 : 0, 1);
    for (const std::size_t e : {std::size_t{1}, std::size_t{0}}) {
      add(c.entry[e].step, 4);
      add(c.entry[e].valid ? 1 : 0, 1);
      add(c.entry[e].clear ? 1 : 0, 1);
      add(c.entry[e].room ? 1 : 0, 1);
    }
    text += fmt::format("{:010x}\n", bits);
  }
  return text;
}

// Counts the cycles in which a source of ni_control decides otherwise.
class SequencerBench {
 public:
  explicit SequencerBench(std::size_t cycles) {
    std::string all;
    for (const LockstepMode mode :
         {LockstepMode::off, LockstepMode::estimate, LockstepMode::drain, LockstepMode::full}) {
      all += hex_of(random_cycles(mode, cycles), mode);
    }
    place_.write("cycles.hex", all);
    place_.write("bench.v", fmt::format(R"(
module bench;
  reg clk, reset; reg [39:0] cycles [0:{0}]; reg [39:0] c; integer i, differ;
  wire enter; wire [1:0] issue; wire [3:0] step; wire [5:0] lockstep;
  ni_control #(.S(4), .L(6), .I(2)) dut(.clk(clk), .reset(reset), .mode(c[24:23]),
    .valid({{c[9], c[2]}}), .entry_step({{c[13:10], c[6:3]}}), .clear({{c[8], c[1]}}),
    .room({{c[7], c[0]}}), .step_time(c[22:17]), .posted(c[16]), .reduction_idle(c[15]),
    .all_sent(c[14]), .enter_step(enter), .issue(issue), .timestep(step), .lockstep(lockstep));
  initial begin
    $readmemh("{1}", cycles);
    differ = 0; clk = 0;
    for (i = 0; i <= {0}; i = i + 1) begin
      c = cycles[i];
      if (i % {2} == 0) begin reset = 1; #1 clk = 1; #1 clk = 0; reset = 0; end
      #1 if ({{step, issue, enter}} !== c[31:25]) differ = differ + 1;
      clk = 1; #1 clk = 0;
    end
    $display("%0d", differ);
  end
endmodule
)",
                                        4 * cycles - 1, place_.file("cycles.hex"), cycles));
  }

  [[nodiscard]] std::size_t cycles_that_differ(const std::string& source) const {
    place_.write("dut.v", source);
    place_.run(fmt::format("iverilog -g2005-sv -o {} {} {}", place_.file("bench"),
                           place_.file("bench.v"), place_.file("dut.v")));
    place_.run(fmt::format("vvp -n {} > {}", place_.file("bench"), place_.file("out")));
    return std::stoul(place_.read("out"));
  }

 private:
  test::Workplace place_;
};

}  // namespace

TEST_CASE("A change of one line in the sequencer's Verilog is noticed") {
  if (test::is_skipped({"iverilog", "vvp"}, false)) return;
  std::ifstream file(test::kRtl + "ni_control.v");
  const std::string source{std::istreambuf_iterator<char>(file), {}};
  const SequencerBench bench(3000);
  CHECK(bench.cycles_that_differ(source) == 0);
  const std::pair<const char*, const char*> changes[] = {
      {"held = |counter[L-1:1]", "held = |counter"},                 // a cycle too long
      {"((mode != 2'd2) | all_sent)", "all_sent"},                   // every mode drains
      {"& posted & step_ends", "& step_ends"},                       // no doorbell
      {"(enter_step | ~armed) & mode[0]", "(enter_step | ~armed)"},  // `drain` counts
      {"~held & reduction_idle &", "~held &"},                       // no wait for reductions
      {"(mode == 2'd0) | ~(|step)", "(mode == 2'd0)"},               // the first step waits
      {"issue[0] | (armed & ~enter_step)", "issue[0] | armed"},      // one step is counted
      {"(enter_step | ~armed) & mode", "mode"},                      // every entry arms the counter
      {"if (e != 0) go = go & (entry_step[e*S +: S] == timestep);", ""},  // steps overlap
      {"valid[e] & clear[e] & room[e]", "valid[e] & clear[e]"},
  };
  for (const auto& [was, is] : changes) {
    std::string mutant = source;
    const std::size_t place = mutant.find(was);
    CAPTURE(was);
    REQUIRE(place != std::string::npos);
    mutant.replace(place, std::string(was).size(), is);
    CHECK(bench.cycles_that_differ(mutant) > 0);
  }
}

TEST_CASE("In a million cycles the Verilog sequencer issues in the cycles of the model's") {
  Cycle cycles = 0;
  for (std::uint64_t seed = 1; cycles < 1'000'000; ++seed) {
    Draw draw(seed);
    const RandomTable table(draw);
    const ScheduleTableEngine::Spec spec = random_spec(draw, table.last_step);
    CAPTURE(seed, static_cast<int>(spec.lockstep), spec.issue_per_cycle);
    cycles += Pair(table, spec).run(draw);
  }
}
