// hw/rtl/dependency_state.v beside ni/engines/dependency_state.*, on random tables.
#include <fmt/format.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "hw/cost/logic.h"
#include "ni/engines/dependency_state.h"
#include "ni/rtl/rtl_dependencies.h"
#include "rtl_bench.h"

using namespace espalier;

namespace {

using DependencyDraw = std::mt19937_64;

bool happens(DependencyDraw& draw, unsigned percent) { return draw() % 100 < percent; }

// Entries that wait for up to four events each, some of them for those of entries before.
struct RandomWaits {
  TableProgram program;
  std::vector<TableEvent> events;

  RandomWaits(DependencyDraw& draw, std::size_t most_entries) {
    const std::size_t entries = 1 + draw() % most_entries;
    for (std::size_t e = 0; e < entries; ++e) add_entry(draw, static_cast<std::uint32_t>(e));
    std::sort(program.waiters.begin(), program.waiters.end(), [](const auto& a, const auto& b) {
      return a.event == b.event ? a.entry < b.entry : a.event < b.event;
    });
    number_places(program);
    std::shuffle(events.begin(), events.end(), draw);
  }

 private:
  void add_entry(DependencyDraw& draw, std::uint32_t index) {
    ProgramEntry entry;
    entry.reads_back = happens(draw, 30);
    const std::size_t waits = happens(draw, 30) ? 0 : 1 + draw() % 4;
    for (std::size_t w = 0; w < waits; ++w) {
      TableEvent event{FlowId(index), static_cast<TableEvent::Kind>(draw() % 4), NodeId(w)};
      if (!events.empty() && happens(draw, 25)) {
        event = events[draw() % events.size()];
      } else {
        events.push_back(event);
      }
      program.waiters.push_back({event, index, false});
    }
    entry.waits_for = static_cast<std::uint32_t>(waits);
    program.entries.push_back(entry);
  }
};

// An NI that sleeps and wakes, whose events come in any order, and whose clear entries sometimes
// have no room. `look` is asked about each decision, with the entry's place behind the head.
class RandomNi {
 public:
  RandomNi(const RandomWaits& waits, std::uint32_t issue_per_cycle)
      : waits_(waits), issue_per_cycle_(issue_per_cycle) {}

  [[nodiscard]] bool done() const { return head_ == waits_.program.entries.size(); }
  [[nodiscard]] std::size_t head() const { return head_; }

  // The events of a cycle: at times many, at times none for long.
  template <class Set>
  void events(DependencyDraw& draw, Set set) {
    if (happens(draw, 2)) quiet_ = draw() % 30;
    if (quiet_ != 0) {
      --quiet_;
      return;
    }
    for (std::size_t e = draw() % 3; e > 0 && come_ < waits_.events.size(); --e) {
      set(waits_.events[come_++]);
      if (happens(draw, 5)) set(waits_.events[draw() % come_]);  // one that has come before
    }
  }
  template <class Look>
  void decisions(DependencyDraw& draw, Look look) {
    if (happens(draw, 30)) return;  // it sleeps
    for (std::uint32_t i = 0; i < issue_per_cycle_ && !done(); ++i) {
      if (!look(i, head_) || happens(draw, 20)) return;
      ++head_;
    }
  }

 private:
  const RandomWaits& waits_;
  std::uint32_t issue_per_cycle_;
  std::size_t head_ = 0;
  std::size_t come_ = 0;
  std::uint64_t quiet_ = 0;
};

// The bench's sizes: N = 24, I = 2, T = 3, three events in a cycle.
constexpr std::uint32_t kPlaces = 24;
constexpr std::uint32_t kEvents = 3;
constexpr std::uint32_t kLooks = 2;

// Gives the bench the places of a cycle, next to what the model does with its events.
class NotedPlaces : public DependencyState {
 public:
  using DependencyState::DependencyState;
  struct Place {
    std::uint32_t place;
    bool reads_back;
  };
  std::vector<Place> of_cycle;

 private:
  void set_place(std::uint32_t place, bool reads_back, Cycle /*now*/) override {
    of_cycle.push_back({place, reads_back});
  }
};

// A line for each cycle: reset, turnaround, events with their places, `through` of two entries,
// which of both are asked about, and whether they are clear.
std::string random_lines(std::size_t programs) {
  std::string text;
  DependencyDraw draw(7);
  for (std::size_t p = 0; p < programs; ++p) {
    RandomWaits waits(draw, 14);
    while (waits.program.num_places() > kPlaces) waits = RandomWaits(draw, 14);
    const Cycle turnaround = draw() % 4;
    NotedPlaces state(waits.program, turnaround);
    RandomNi ni(waits, kLooks);
    text += "80000000000\n";
    // A reset may come while events wait for their write-back.
    const Cycle end = happens(draw, 50) ? draw() % 20 : 500;
    for (Cycle now = 0; now < end && !ni.done(); ++now) {
      state.of_cycle.clear();
      std::uint64_t asked = 0;
      std::uint64_t clear = 0;
      std::uint64_t through = 0;
      ni.events(draw, [&](const TableEvent& event) {
        if (state.of_cycle.size() + 2 <= kEvents) state.set(event, now);
      });
      ni.decisions(draw, [&](std::uint32_t i, std::size_t entry) {
        const bool is_clear = state.is_clear(entry, now);
        asked |= 1U << i;
        clear |= std::uint64_t{is_clear ? 1U : 0U} << i;
        through |= std::uint64_t{waits.program.entries[entry].through} << (5 * i);
        return is_clear;
      });
      std::uint64_t bits = turnaround;
      for (std::size_t e = 0; e < kEvents; ++e) {
        const bool comes = e < state.of_cycle.size();
        const NotedPlaces::Place place = comes ? state.of_cycle[e] : NotedPlaces::Place{0, false};
        bits = bits << 7 | (comes ? 64U : 0U) | (place.reads_back ? 32U : 0U) | place.place;
      }
      bits = bits << 10 | through;
      bits = bits << 2 | asked;
      bits = bits << 2 | clear;
      text += fmt::format("{:011x}\n", bits);
    }
  }
  return text;
}

// Counts the decisions that a source of dependency_state takes otherwise.
class DependencyBench {
 public:
  explicit DependencyBench(std::size_t programs) {
    const std::string lines = random_lines(programs);
    const auto count = std::count(lines.begin(), lines.end(), '\n');
    place_.write("cycles.hex", lines);
    place_.write("bench.v", fmt::format(R"(
module bench;
  reg clk; reg [43:0] cycles [0:{0}]; reg [43:0] c; integer i, differ; wire [1:0] clear;
  dependency_state #(.N(24), .I(2), .T(3), .E(3), .G(4)) dut(.clk(clk), .reset(c[43]),
    .turnaround(c[36:35]), .comes({{c[34], c[27], c[20]}}), .reads_back({{c[33], c[26], c[19]}}),
    .place({{c[32:28], c[25:21], c[18:14]}}), .through({{c[13:9], c[8:4]}}), .clear(clear));
  initial begin
    $readmemh("{1}", cycles);
    differ = 0; clk = 0;
    for (i = 0; i <= {0}; i = i + 1) begin
      c = cycles[i];
      #1 if ((clear & c[3:2]) !== c[1:0]) differ = differ + 1;
      clk = 1; #1 clk = 0;
    end
    $display("%0d", differ);
  end
endmodule
)",
                                        count - 1, place_.file("cycles.hex")));
  }

  [[nodiscard]] std::size_t decisions_that_differ(const std::string& source) const {
    place_.write("dut.v", source);
    place_.run(fmt::format("iverilog -g2005-sv -o {} {} {}", place_.file("bench"),
                           place_.file("bench.v"), place_.file("dut.v")));
    place_.run(fmt::format("vvp -n {} > {}", place_.file("bench"), place_.file("out")));
    return std::stoul(place_.read("out"));
  }

 private:
  test::Workplace place_;
};

std::string dependency_source() {
  std::ifstream file(test::kRtl + "dependency_state.v");
  return {std::istreambuf_iterator<char>(file), {}};
}

std::string with_change(const std::string& source, const std::string& was, const std::string& is) {
  std::string mutant = source;
  const std::size_t place = mutant.find(was);
  CAPTURE(was);
  REQUIRE(place != std::string::npos);
  return mutant.replace(place, was.size(), is);
}

// What yosys proves: a place that is set stays set, an entry is clear if and only if all its places
// are set, and the place of an event is set when its write-back is over.
constexpr const char* kProperties = R"(
  reg begun = 0;
  reg [N-1:0] before;
  reg [D-1:0] constant;
  reg [T:0] event_at;
  reg [(T+1)*P-1:0] place_at;
  always @(posedge clk) begin
    begun <= 1;
    constant <= turnaround;
    before <= came & {N{~reset}};
    event_at <= reset ? 0 : {event_at[T-1:0], comes[0] & reads_back[0]};
    place_at <= {place_at[T*P-1:0], place[P-1:0]};
  end
  always @* if (begun) begin
    assume (turnaround == constant && turnaround <= T);
    assert ((before & ~came) == 0);
    if (turnaround == T && event_at[T]) assert (came[place_at[T*P +: P]]);
    for (i = 0; i < I; i = i + 1) begin
      assume (through[i*C +: C] <= N);
      assert (clear[i] == ~|(~came & ~({N{1'b1}} << through[i*C +: C])));
    end
  end
endmodule
)";

// Whether yosys proves the properties of this source from its reset on, by induction.
bool is_proven(const std::string& source) {
  const test::Workplace place;
  place.write("dut.v", source.substr(0, source.rfind("endmodule")) + kProperties);
  place.write("run.ys", fmt::format("read_verilog -sv -formal {}\n"
                                    "chparam -set N 4 -set I 2 -set E 2 -set T 2 "
                                    "dependency_state\n"
                                    "prep -top dependency_state -flatten\nasync2sync\n"
                                    "sat -tempinduct -prove-asserts -set-assumes -set-at 1 reset 1 "
                                    "-seq 1 dependency_state\n",
                                    place.file("dut.v")));
  place.run(
      fmt::format("yosys -Q -T -l {} {} > /dev/null", place.file("log"), place.file("run.ys")));
  const std::string log = place.read("log");
  const bool proven = log.find("Induction step proven: SUCCESS") != std::string::npos;
  INFO(log.substr(log.size() < 2000 ? 0 : log.size() - 2000));
  CHECK(proven == (log.find("model found for base case: FAIL") == std::string::npos));
  return proven;
}

}  // namespace

TEST_CASE("A change of one line in the dependency state's Verilog is noticed") {
  if (test::is_skipped({"iverilog", "vvp"}, false)) return;
  const std::string source = dependency_source();
  const DependencyBench bench(150);
  CHECK(bench.decisions_that_differ(source) == 0);
  const std::pair<const char*, const char*> changes[] = {
      {"through[i*C +: C] <= missing", "through[i*C +: C] < missing"},  // one place too many
      {"comes & reads_back & {E{|turnaround}}", "{E{1'b0}}"},           // no write-back
      {"turnaround} == t + 1", "turnaround} == t"},                     // a cycle too long
      {"if (delayed[e]) came[delayed_place[e*P +: P]] <= 1'b1;", ""},   // never written back
      {"comes[e] & ~later[e]", "comes[0] & ~later[0]"},                 // one event in a cycle
      {"delayed_place[((t+1)*E + e)", "delayed_place[(t*E + e)"},       // another event's place
      {"g >= 0; g = g - 1", "g > 0; g = g - 1"},  // the first group is not read
      {"came <= {N{1'b0}};", ";"},                // events of the table before
      {"delayed <= {T*E{1'b0}};", ";"},           // events of the table before, on their way
  };
  for (const auto& [was, is] : changes) {
    CAPTURE(was);
    CHECK(bench.decisions_that_differ(with_change(source, was, is)) > 0);
  }
}

TEST_CASE("In a million cycles the Verilog and the model agree which entries are clear") {
  Cycle cycles = 0;
  std::size_t far_ahead = 0;
  for (std::uint64_t seed = 1; cycles < 1'000'000; ++seed) {
    DependencyDraw draw(seed);
    const RandomWaits waits(draw, happens(draw, 5) ? 1500 : 60);
    const Cycle turnaround = draw() % (kRtlTurnaround + 1);
    const auto issue_per_cycle = static_cast<std::uint32_t>(1 + draw() % 4);
    const auto model = make_dependencies(waits.program, turnaround, issue_per_cycle);
    const auto rtl = make_rtl_dependencies(waits.program, turnaround, issue_per_cycle);
    RandomNi ni(waits, issue_per_cycle);
    CAPTURE(seed, turnaround, issue_per_cycle);
    Cycle now = 0;
    for (; !ni.done(); ++now) {
      REQUIRE(now < 100'000);
      ni.events(draw, [&](const TableEvent& event) {
        model->set(event, now);
        rtl->set(event, now);
        far_ahead += event.flow.index() > ni.head() + 500 ? 1U : 0U;
      });
      ni.decisions(draw, [&](std::uint32_t /*i*/, std::size_t entry) {
        const bool is_clear = model->is_clear(entry, now);
        if (rtl->is_clear(entry, now) != is_clear) {
          FAIL(fmt::format("cycle {}: entry {} is {}clear", now, entry, is_clear ? "" : "not "));
        }
        return is_clear;
      });
    }
    cycles += now;
  }
  CHECK(far_ahead > 10'000);
}

TEST_CASE("A program that needs more places than the Verilog has is refused with both numbers") {
  TableProgram program;
  for (std::uint32_t e = 0; e <= kRtlPlaces; ++e) {
    program.entries.emplace_back();
    program.waiters.push_back({{FlowId(e), TableEvent::Kind::gathered, NodeId(0)}, e, false});
  }
  number_places(program);
  CHECK_THROWS_WITH(make_rtl_dependencies(program, 2, 1),
                    "simulation.rtl: dependency_state.v has 8192 places of events here, but an NI "
                    "needs 8193");
  CHECK_THROWS_WITH(make_rtl_dependencies(TableProgram(), 9, 1),
                    Catch::Matchers::Contains("has 4 cycles of turnaround here"));
  CHECK_THROWS_WITH(make_rtl_dependencies(TableProgram(), 2, 17),
                    Catch::Matchers::Contains("has 16 entries in a cycle here"));
}

TEST_CASE("A place stays set and an entry is clear if and only if its places are set: proven") {
  if (test::is_skipped({"yosys"}, false)) return;
  const std::string source = dependency_source();
  CHECK(is_proven(source));
  // A new event takes the place of those before; an entry waits for a place too few; a write-back
  // that no one ends.
  CHECK_FALSE(is_proven(with_change(source, "if (reset) begin", "if (reset | comes[0]) begin")));
  CHECK_FALSE(is_proven(
      with_change(source, "through[i*C +: C] <= missing", "through[i*C +: C] <= missing + 1")));
  CHECK_FALSE(is_proven(with_change(source, "if (delayed[e]) came", "if (comes[e]) came")));
}
