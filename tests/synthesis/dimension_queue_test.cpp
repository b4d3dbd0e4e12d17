// hw/rtl/dimension_queue.v beside the C++ arbiter, under random arrivals, gates and orders.
#include <fmt/format.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <fstream>
#include <iterator>
#include <numeric>
#include <random>
#include <string>
#include <vector>

#include "ni/engines/dimension_arbiter.h"
#include "ni/rtl/rtl_dimension_queue.h"
#include "rtl_bench.h"

using namespace espalier;

namespace {

using Random = std::mt19937_64;

bool comes_up(Random& random, unsigned percent) { return random() % 100 < percent; }

ArbiterSpec random_arbiter(Random& random) {
  ArbiterSpec spec;
  spec.order = comes_up(random, 30) ? QueueOrder::fifo : QueueOrder::scf;
  spec.ties = comes_up(random, 50) ? TieRule::newest : TieRule::oldest;
  return spec;
}

// Stages in their order of arrival, and, where the order of starts is fixed, in that order.
struct RandomQueue {
  ArbiterSpec arbiter;
  Cycle arbitration = 1;
  bool is_fixed = false;
  std::uint64_t keys = 1;  // different ones
  unsigned arrives = 0;    // percent of the cycles with an arrival
  unsigned opens = 0;      // percent of the events that find the gate open
  std::vector<StageRef> stages;
  std::vector<StageRef> order;

  explicit RandomQueue(Random& random) {
    arbiter = random_arbiter(random);
    arbitration = comes_up(random, 60) ? 1 : 2 + random() % (comes_up(random, 90) ? 8 : 1023);
    is_fixed = comes_up(random, 40);
    constexpr std::uint64_t kKeys[] = {1, 4, 1000, std::uint64_t{1} << 33U, 0};
    keys = kKeys[random() % 5];
    arrives = 1 + static_cast<unsigned>(random() % 60);
    opens = 10 + static_cast<unsigned>(random() % 90);
    // The Verilog's models have 64 and 256 places.
    const std::size_t most = comes_up(random, 90) ? 64 : 256;
    const std::size_t count = 1 + random() % most;
    for (std::uint32_t c = 0; c < count; ++c) {
      stages.push_back({c, static_cast<std::uint32_t>(random() % 6)});
    }
    order = stages;
    std::shuffle(stages.begin(), stages.end(), random);
    if (comes_up(random, 50)) std::shuffle(order.begin(), order.end(), random);
  }
};

// Both arbiters in the same queue. They decide at every event and when they ask for it, or in every
// cycle.
class ArbiterPair {
 public:
  explicit ArbiterPair(const RandomQueue& queue)
      : queue_(queue),
        model_(make_arbiter(queue.arbiter, queue.arbitration, queue.stages.size())),
        rtl_(make_rtl_arbiter(queue.arbiter, queue.arbitration, queue.stages.size())) {}

  // Returns the cycles until all stages have started.
  Cycle run(Random& random, bool sleeps) {
    Cycle now = 0;
    Cycle next = kNever;
    for (; started_ < queue_.stages.size(); ++now) {
      // An event in the cycle after it: arrivals, or a gate that opens or closes.
      bool woken = !sleeps || now >= next;
      if (comes_up(random, queue_.arrives)) {
        push(random, now == 0 && comes_up(random, 50) ? 1000 : 1 + random() % 3);
        woken = true;
      }
      if (!woken && !comes_up(random, 10)) continue;
      if (!is_choosing_) open_ = comes_up(random, queue_.opens);
      next = decide(now);
      compare(random);
    }
    return now;
  }

 private:
  void push(Random& random, std::size_t count) {
    for (; count > 0 && arrived_ < queue_.stages.size(); --count) {
      const std::uint64_t key = queue_.keys == 0 ? random() : random() % queue_.keys;
      model_->push(queue_.stages[arrived_], key);
      rtl_->push(queue_.stages[arrived_], key);
      ++arrived_;
    }
  }

  [[nodiscard]] DimensionArbiter::Inputs inputs() const {
    DimensionArbiter::Inputs inputs;
    inputs.open = open_;
    inputs.is_fixed = queue_.is_fixed;
    if (queue_.is_fixed && started_ < queue_.order.size()) inputs.next = queue_.order[started_];
    return inputs;
  }

  Cycle decide(Cycle now) {
    const std::optional<StageRef> stage = model_->decide(now, inputs());
    CAPTURE(now);
    REQUIRE(rtl_->decide(now, inputs()) == stage);
    if (stage) ++started_;
    const Cycle next = model_->rest(inputs());
    REQUIRE(rtl_->rest(inputs()) == next);
    return next;
  }

  void compare(Random& random) {
    is_choosing_ = model_->is_choosing();
    REQUIRE(rtl_->is_choosing() == is_choosing_);
    REQUIRE(rtl_->size() == model_->size());
    if (!comes_up(random, 20)) return;
    if (!queue_.is_fixed) REQUIRE(rtl_->head() == model_->head());
    const StageRef any = queue_.stages[random() % queue_.stages.size()];
    REQUIRE(rtl_->holds(any) == model_->holds(any));
  }

  const RandomQueue& queue_;
  std::unique_ptr<DimensionArbiter> model_;
  std::unique_ptr<DimensionArbiter> rtl_;
  std::size_t arrived_ = 0;
  std::size_t started_ = 0;
  bool open_ = false;
  bool is_choosing_ = false;
};

// A queue of 5 places for up to 2 arrivals in a cycle: its inputs, and what the model decides.
constexpr std::size_t kQueuePlaces = 5;

struct QueueCycle {
  std::uint32_t pushes = 0;
  std::uint32_t key[2] = {};
  std::uint32_t chunk[2] = {};
  DimensionArbiter::Inputs inputs;
  std::optional<StageRef> started;
  bool is_choosing = false;  // after the cycle
};

// Chunks have numbers of 4 bits, which return when the chunk has started.
std::vector<QueueCycle> random_queue_cycles(const ArbiterSpec& spec, Cycle arbitration,
                                            bool is_fixed, std::size_t count) {
  Random random(1 + arbitration * 2 + (is_fixed ? 1 : 0));
  const auto arbiter = make_arbiter(spec, arbitration, kQueuePlaces);
  std::vector<QueueCycle> cycles(count);
  std::vector<std::uint32_t> waiting;
  std::uint32_t next = 0;  // where the order is fixed: chunks start in ascending number
  std::vector<std::uint32_t> absent(16);
  std::iota(absent.begin(), absent.end(), 0U);
  for (std::size_t c = 0; c < count; ++c) {
    QueueCycle& cycle = cycles[c];
    const bool was_choosing = c > 0 && cycles[c - 1].is_choosing;
    for (std::uint32_t p = 0; p < 2; ++p) {
      if (waiting.size() == kQueuePlaces || !comes_up(random, 25)) break;
      // One place is left for the chunk that is next.
      std::size_t at = random() % absent.size();
      const auto found = std::find(absent.begin(), absent.end(), next);
      if (is_fixed && waiting.size() == kQueuePlaces - 1 && found != absent.end()) {
        at = static_cast<std::size_t>(found - absent.begin());
      }
      cycle.chunk[p] = absent[at];
      cycle.key[p] = static_cast<std::uint32_t>(random() % 8);
      arbiter->push({cycle.chunk[p], 0}, cycle.key[p]);
      waiting.push_back(cycle.chunk[p]);
      absent.erase(absent.begin() + static_cast<std::ptrdiff_t>(at));
      ++cycle.pushes;
    }
    cycle.inputs.open = was_choosing ? cycles[c - 1].inputs.open : comes_up(random, 40);
    cycle.inputs.is_fixed = is_fixed;
    if (is_fixed) cycle.inputs.next = StageRef{next, 0};
    cycle.started = arbiter->decide(c, cycle.inputs);
    cycle.is_choosing = arbiter->is_choosing();
    if (!cycle.started) continue;
    waiting.erase(std::find(waiting.begin(), waiting.end(), cycle.started->chunk));
    absent.push_back(cycle.started->chunk);
    next = (next + 1) % 16;
  }
  return cycles;
}

std::string hex_of(const std::vector<QueueCycle>& cycles, Cycle arbitration) {
  std::string text;
  for (const QueueCycle& c : cycles) {
    std::uint64_t bits = 0;
    const auto add = [&](std::uint64_t value, unsigned width) { bits = bits << width | value; };
    add(c.is_choosing ? 1 : 0, 1);
    add(c.started ? 1 : 0, 1);
    add(c.started ? c.started->chunk : 0, 4);
    add(arbitration - 1, 3);
    add(c.inputs.open ? 1 : 0, 1);
    add(c.inputs.is_fixed ? 1 : 0, 1);
    add(c.inputs.next ? c.inputs.next->chunk : 0, 4);
    for (const std::size_t p : {std::size_t{1}, std::size_t{0}}) {
      add(c.pushes > p ? 1 : 0, 1);
      add(c.key[p], 3);
      add(c.chunk[p], 4);
    }
    text += fmt::format("{:08x}\n", bits);
  }
  return text;
}

// Counts the cycles in which a source of dimension_queue decides otherwise.
class QueueBench {
 public:
  QueueBench(const ArbiterSpec& spec, std::size_t cycles) {
    std::string all;
    for (const Cycle arbitration : {1U, 2U, 4U}) {
      for (const bool is_fixed : {false, true}) {
        all += hex_of(random_queue_cycles(spec, arbitration, is_fixed, cycles), arbitration);
      }
    }
    place_.write("cycles.hex", all);
    place_.write("bench.v", fmt::format(R"(
module bench;
  reg clk, reset; reg [31:0] cycles [0:{0}]; reg [31:0] c; integer i, differ;
  wire found, begins, starts, busy; wire [3:0] chunk; wire [2:0] depth; reg choosing;
  dimension_queue #(.N(5), .K(3), .I(4), .A(3), .P(2), .FIFO({3}), .NEWEST({4})) dut(
    .clk(clk), .reset(reset), .push({{c[15], c[7]}}), .push_key({{c[14:12], c[6:4]}}),
    .push_chunk({{c[11:8], c[3:0]}}), .open(c[21]), .fixed(c[20]), .fixed_chunk(c[19:16]),
    .more(c[24:22]), .found(found), .begins(begins), .starts(starts), .busy(busy), .chunk(chunk),
    .depth(depth));
  initial begin
    $readmemh("{1}", cycles);
    differ = 0; clk = 0;
    for (i = 0; i <= {0}; i = i + 1) begin
      c = cycles[i];
      if (i % {2} == 0) begin reset = 1; #1 clk = 1; #1 clk = 0; reset = 0; end
      choosing = c[30];
      #1 if ((begins | busy) & ~starts !== choosing | starts !== c[29] |
             (c[29] & chunk !== c[28:25])) differ = differ + 1;
      clk = 1; #1 clk = 0;
    end
    $display("%0d", differ);
  end
endmodule
)",
                                        6 * cycles - 1, place_.file("cycles.hex"), cycles,
                                        spec.order == QueueOrder::fifo ? 1 : 0,
                                        spec.ties == TieRule::newest ? 1 : 0));
  }

  [[nodiscard]] std::size_t cycles_that_differ(const std::string& source) const {
    place_.write("dut.v", source);
    place_.run(fmt::format("iverilog -g2005-sv -o {0} {1} {2} > {3} 2>&1", place_.file("bench"),
                           place_.file("bench.v"), place_.file("dut.v"), place_.file("log")));
    place_.run(fmt::format("vvp -n {} > {}", place_.file("bench"), place_.file("out")));
    return std::stoul(place_.read("out"));
  }

 private:
  test::Workplace place_;
};

std::string queue_source() {
  std::ifstream file(test::kRtl + "dimension_queue.v");
  return {std::istreambuf_iterator<char>(file), {}};
}

}  // namespace

TEST_CASE("The dimension queue's Verilog chooses, in every order, what the model chooses") {
  if (test::is_skipped({"iverilog", "vvp"}, false)) return;
  for (const QueueOrder order : {QueueOrder::fifo, QueueOrder::scf}) {
    for (const TieRule ties : {TieRule::newest, TieRule::oldest}) {
      CAPTURE(static_cast<int>(order), static_cast<int>(ties));
      const QueueBench bench({order, ChunkKey::larger, ties}, 3000);
      CHECK(bench.cycles_that_differ(queue_source()) == 0);
    }
  }
}

TEST_CASE("A change of one line in the dimension queue's Verilog is noticed") {
  if (test::is_skipped({"iverilog", "vvp"}, false)) return;
  const QueueBench bench({QueueOrder::scf, ChunkKey::larger, TieRule::newest}, 1000);
  const std::pair<const char*, const char*> changes[] = {
      {"best[2*t+1] <= best[2*t]", "best[2*t+1] < best[2*t]"},              // oldest wins
      {"candidates = busy ? limit : count_now", "candidates = count_now"},  // late arrivals join
      {"if (begins) limit <= count_now", "if (begins) limit <= count"},     // without the last ones
      {"found & open & ~busy", "found & ~busy"},                            // the gate is ignored
      {"found & open & ~busy", "found & open"},          // a choice begins during another one
      {"starts ? count_now -", "begins ? count_now -"},  // a place is freed too early
      {"if (begins) left <= more", "if (begins) left <= more >> 1"},
      {"moves = moves | (moves << s)", "moves = moves"},  // one chunk moves up
      {"chosen = fixed ? is_fixed : is_next", "chosen = is_next"},
      {"(f[C-1:0] < count_now) & ", ""},  // chunks that have left are found again
      {"~none[2*t+1] & (NEWEST", "(NEWEST"},
      {"none[t] = none[2*t]", "none[t] = none[2*t+1]"},
      {"key[q] <= moves[q] ? key_now[q+1] : key_now[q]", "key[q] <= key_now[q]"},
      {"number[q] <= moves[q] ? number_now[q+1] : number_now[q]", "number[q] <= number_now[q]"},
  };
  for (const auto& [was, is] : changes) {
    std::string mutant = queue_source();
    const std::size_t at = mutant.find(was);
    CAPTURE(was);
    REQUIRE(at != std::string::npos);
    mutant.replace(at, std::string(was).size(), is);
    CHECK(bench.cycles_that_differ(mutant) > 0);
  }
}

TEST_CASE("In a million cycles the Verilog queue starts stages in the cycles of the model's",
          "[slow]") {
  Cycle cycles = 0;
  for (std::uint64_t seed = 1; cycles < 1'000'000; ++seed) {
    Random random(seed);
    const RandomQueue queue(random);
    CAPTURE(seed, static_cast<int>(queue.arbiter.order), queue.arbitration, queue.is_fixed,
            queue.stages.size());
    cycles += ArbiterPair(queue).run(random, seed % 2 == 0);
  }
}

TEST_CASE("A Verilog queue whose NI rests over a choice that could begin stops the run") {
  DimensionArbiter::Inputs open;
  open.open = true;
  for (const Cycle arbitration : {1U, 3U}) {
    const auto late = make_rtl_arbiter({}, arbitration, 8);
    late->push({0, 0}, 5);
    late->push({1, 0}, 5);
    const bool starts_at_once = arbitration == 1;
    CHECK(late->decide(0, open).has_value() == starts_at_once);
    CHECK(late->rest(open) == (starts_at_once ? 1 : 2));
    CHECK_THROWS_AS(late->decide(3, open), std::logic_error);
  }
  CHECK_THROWS_AS(make_rtl_arbiter({}, 1, 1025), std::invalid_argument);
  CHECK_THROWS_AS(make_rtl_arbiter({}, 1025, 8), std::invalid_argument);
}
