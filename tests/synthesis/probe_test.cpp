// What waveforms read out of Verilog models: registers in the cycle to which they belong.
#include <algorithm>
#include <catch2/catch.hpp>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "ni/engines/dependency_state.h"
#include "ni/rtl/rtl_dependencies.h"
#include "ni/rtl/rtl_dimension_queue.h"
#include "ni/rtl/rtl_sequencer.h"

using namespace espalier;

namespace {

// The values of a model's signals in the cycles in which they settle.
class NotedSignals : public RtlWatcher {
 public:
  explicit NotedSignals(RtlProbe& probe) : probe_(probe), signals_(probe.signals()) {
    probe.watch(*this);
  }
  void settled(Cycle now) override {
    for (const RtlSignal& signal : signals_) noted_[signal.name][now] = signal.read();
  }
  // In cycle `at`, which is over.
  [[nodiscard]] std::uint64_t value(const std::string& name, Cycle at) {
    probe_.catch_up(at + 1);
    const auto& values = noted_.at(name);
    const auto later = values.upper_bound(at);
    REQUIRE(later != values.begin());
    return std::prev(later)->second;
  }
  [[nodiscard]] const std::vector<RtlSignal>& signals() const { return signals_; }

 private:
  RtlProbe& probe_;
  std::vector<RtlSignal> signals_;
  std::map<std::string, std::map<Cycle, std::uint64_t>> noted_;
};

// A table with an event for each of its entries.
TableProgram waits_of(std::uint32_t entries, bool reads_back) {
  TableProgram program;
  for (std::uint32_t e = 0; e < entries; ++e) {
    ProgramEntry entry;
    entry.waits_for = 1;
    entry.reads_back = reads_back && e % 2 == 0;
    program.entries.push_back(entry);
    program.waiters.push_back({{FlowId(e), TableEvent::Kind::gathered, NodeId(0)}, e, false});
  }
  number_places(program);
  return program;
}

}  // namespace

TEST_CASE("The lowest missing place is that of the registers, one cycle after its event") {
  constexpr std::uint32_t kEntries = 40;
  std::mt19937_64 draw(3);
  for (const Cycle turnaround : {0U, 3U}) {
    const TableProgram program = waits_of(kEntries, true);
    REQUIRE(program.num_places() == kEntries);
    const auto rtl = make_rtl_dependencies(program, turnaround, 2);
    NotedSignals noted(*rtl->rtl_probe());
    CHECK(noted.signals().size() == 1 + turnaround);
    CHECK(noted.signals().front().bits == 6);  // 40 places
    std::vector<std::uint32_t> order(kEntries);
    for (std::uint32_t e = 0; e < kEntries; ++e) order[e] = e;
    // Messages overtake a few others.
    for (std::uint32_t e = 0; e + 4 < kEntries; ++e) std::swap(order[e], order[e + draw() % 4]);
    std::vector<Cycle> set_from(kEntries, kNever);  // by place, in the order of entries
    Cycle now = 5;
    for (const std::uint32_t entry : order) {
      const Cycle until = now + draw() % 7;
      for (; now < until; ++now) {
        const auto missing =
            std::find_if(set_from.begin(), set_from.end(), [&](Cycle from) { return from > now; });
        CAPTURE(turnaround, now);
        REQUIRE(noted.value("missing", now) ==
                static_cast<std::uint64_t>(missing - set_from.begin()));
      }
      rtl->set({FlowId(entry), TableEvent::Kind::gathered, NodeId(0)}, now);
      set_from[entry] = now + 1 + (program.entries[entry].reads_back ? turnaround : 0);
    }
    CHECK(noted.value("missing", now + 10) == kEntries);
  }
}

TEST_CASE("A watched choice counts down in every cycle, and starts as one that is not watched") {
  DimensionArbiter::Inputs open;
  open.open = true;
  for (const Cycle arbitration : {1U, 2U, 9U}) {
    CAPTURE(arbitration);
    const auto plain = make_rtl_arbiter({}, arbitration, 8);
    const auto watched = make_rtl_arbiter({}, arbitration, 8);
    NotedSignals noted(*watched->rtl_probe());
    for (const std::uint32_t chunk : {3U, 5U}) {
      plain->push({chunk, 1}, 7);
      watched->push({chunk, 1}, 7);
    }
    Cycle now = 4;
    for (std::size_t waiting = 2; waiting > 0; --waiting) {
      const Cycle begin = now;
      while (true) {
        const auto stage = plain->decide(now, open);
        REQUIRE(watched->decide(now, open) == stage);
        const Cycle next = plain->rest(open);
        REQUIRE(watched->rest(open) == next);
        if (stage) break;
        now = next;
      }
      CHECK(now == begin + arbitration - 1);
      for (Cycle t = begin; t <= now; ++t) {
        CHECK(noted.value("left", t) == (t == begin ? 0 : now + 1 - t));
        CHECK(noted.value("begins", t) == (t == begin ? 1 : 0));
        CHECK(noted.value("starts", t) == (t == now ? 1 : 0));
      }
      CHECK(noted.value("chunk", now) == (waiting == 2 ? 5 : 3));  // of equal keys the newest
      CHECK(noted.value("stage", now) == 1);
      ++now;
    }
    CHECK(noted.value("depth", 4) == 0);  // both arrive in cycle 4
    CHECK(noted.value("depth", now) == 0);
    CHECK(noted.value("busy", now) == 0);
  }
}

TEST_CASE("A queue's registers are shown in the cycle after the choice, also while it is closed") {
  DimensionArbiter::Inputs open;
  open.open = true;
  const auto queue = make_rtl_arbiter({}, 1, 8);
  NotedSignals noted(*queue->rtl_probe());
  queue->push({0, 0}, 5);
  queue->push({1, 0}, 5);
  CHECK(queue->decide(3, open).has_value());
  queue->rest({});
  // The engine asks again, and again.
  for (const Cycle now : {4U, 5U}) {
    CHECK_FALSE(queue->decide(now, {}).has_value());
    queue->rest({});
    CHECK(noted.value("depth", now) == 1);
    CHECK(noted.value("begins", now) == 0);
  }
  CHECK(noted.value("depth", 3) == 0);
  CHECK(noted.value("starts", 3) == 1);
}

TEST_CASE("Models are destroyed in any order after others have been made") {
  const TableProgram program = waits_of(3, false);
  for (int round = 0; round < 3; ++round) {
    auto first = make_rtl_sequencer(LockstepMode::full, 1);
    auto second = make_rtl_dependencies(program, 1, 1);
    auto third = make_rtl_arbiter({}, 1, 8);
    second.reset();
    first.reset();
    first = make_rtl_sequencer(LockstepMode::off, 2);
    third.reset();
    CHECK(first->rtl_probe() != nullptr);
  }
}
