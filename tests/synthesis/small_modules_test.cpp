// The modules of hw/rtl that the simulation does not run: the DMA engine, and the context, the
// scoreboard and the slots of collective programs. A model follows the contract in each module's
// head, and shows it random inputs.
#include <fmt/format.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "rtl_bench.h"

using namespace espalier;

namespace {

struct ModulePort {
  const char* name;
  std::size_t bits;
};

// A cycle in binary digits, the first port first. 'x': any value is right.
class CycleLine {
 public:
  CycleLine& add(std::uint64_t value, std::size_t bits) {
    for (std::size_t b = bits; b-- > 0;) text_ += (value >> b & 1U) != 0 ? '1' : '0';
    return *this;
  }
  CycleLine& add_if(bool matters, std::uint64_t value, std::size_t bits) {
    if (matters) return add(value, bits);
    text_.append(bits, 'x');
    return *this;
  }
  [[nodiscard]] std::string text() const { return text_ + "\n"; }

 private:
  std::string text_;
};

// Shows a module the inputs of each cycle, and counts the output bits that differ.
class ModuleBench {
 public:
  ModuleBench(std::string module, const std::string& parameters,
              const std::vector<ModulePort>& inputs, const std::vector<ModulePort>& outputs,
              const std::string& lines)
      : source_(test::rtl_sources({module})) {
    std::size_t expected = 0;
    for (const ModulePort& port : outputs) expected += port.bits;
    std::size_t width = expected;
    for (const ModulePort& port : inputs) width += port.bits;
    std::string connections;
    std::size_t at = width;
    for (const ModulePort& port : inputs) {
      at -= port.bits;
      connections += fmt::format(", .{}(c[{} +: {}])", port.name, at, port.bits);
    }
    for (const ModulePort& port : outputs) {
      at -= port.bits;
      connections += fmt::format(", .{}(shown[{} +: {}])", port.name, at, port.bits);
    }
    place_.write("cycles.bin", lines);
    place_.write("bench.v", fmt::format(R"(
module bench;
  reg clk; reg [{0}:0] cycles [0:{1}]; reg [{0}:0] c; wire [{2}:0] shown; integer i, b, differ;
  {3} #({4}) dut(.clk(clk){5});
  initial begin
    $readmemb("{6}", cycles);
    differ = 0; clk = 0;
    for (i = 0; i <= {1}; i = i + 1) begin
      c = cycles[i];
      #1 for (b = 0; b <= {2}; b = b + 1) if (c[b] !== 1'bx && shown[b] !== c[b]) differ = differ + 1;
      clk = 1; #1 clk = 0;
    end
    $display("%0d", differ);
  end
endmodule
)",
                                        width - 1, std::count(lines.begin(), lines.end(), '\n') - 1,
                                        expected - 1, module, parameters, connections,
                                        place_.file("cycles.bin")));
  }

  [[nodiscard]] std::size_t differences(const std::string& was = "",
                                        const std::string& is = "") const {
    std::string source = source_;
    const std::size_t at = source.find(was);
    CAPTURE(was);
    REQUIRE(at != std::string::npos);
    place_.write("dut.v", source.replace(at, was.size(), is));
    place_.run(fmt::format("iverilog -g2005-sv -o {} {} {}", place_.file("bench"),
                           place_.file("bench.v"), place_.file("dut.v")));
    place_.run(fmt::format("vvp -n {} > {}", place_.file("bench"), place_.file("out")));
    return std::stoul(place_.read("out"));
  }

  // The module is right, and each change of one line is noticed.
  void expect(const std::vector<std::pair<const char*, const char*>>& changes) const {
    CHECK(differences() == 0);
    for (const auto& [was, is] : changes) {
      CAPTURE(was, is);
      CHECK(differences(was, is) > 0);
    }
  }

 private:
  test::Workplace place_;
  std::string source_;
};

using ModuleDraw = std::mt19937_64;
bool hits(ModuleDraw& draw, unsigned percent) { return draw() % 100 < percent; }

constexpr int kModuleCycles = 4000;

// 16 bits of address, packets of 8 bytes, up to 3 outstanding reads.
std::string dma_lines() {
  ModuleDraw draw(1);
  std::string text;
  std::uint64_t address = 0;
  std::uint64_t left = 0;
  std::uint64_t outstanding = 0;
  for (int cycle = 0; cycle < kModuleCycles; ++cycle) {
    const bool reset = cycle == 0 || hits(draw, 1);
    const bool start = !reset && left == 0 && hits(draw, 40);
    const std::uint64_t size = hits(draw, 30) ? draw() % 4 * 8 : draw() % 40;
    const std::uint64_t begin = draw() % 60000;
    const bool room = hits(draw, 70);
    const bool answer = outstanding != 0 && hits(draw, 45);
    const bool read = left != 0 && room && outstanding < 3;
    const std::uint64_t bytes = std::min<std::uint64_t>(left, 8);
    CycleLine line;
    line.add(reset, 1).add(start, 1).add(begin, 16).add(size, 16).add(room, 1).add(answer, 1);
    line.add_if(cycle != 0, left == 0, 1).add_if(cycle != 0, read, 1);
    line.add_if(read, address, 16).add_if(read, bytes, 4).add_if(cycle != 0, read && left <= 8, 1);
    text += line.text();
    if (start) address = begin;
    if (read && !start) address += 8;
    left = reset ? 0 : start ? size : read ? left - bytes : left;
    outstanding = reset ? 0 : outstanding + (read ? 1 : 0) - (answer ? 1 : 0);
  }
  return text;
}

// Slots of two directions, at most seven.
std::string slot_lines() {
  ModuleDraw draw(2);
  std::string text;
  std::uint64_t slots = 0;
  std::uint64_t free = 0;
  std::uint64_t filled = 0;
  for (int cycle = 0; cycle < kModuleCycles; ++cycle) {
    const bool reset = cycle == 0 || hits(draw, 1);
    if (reset) slots = 1 + draw() % 7;
    const bool send = free != 0 && hits(draw, 50);
    const bool credit = free < slots && hits(draw, 45);
    const bool arrived = filled < 7 && hits(draw, 50);
    const bool take = filled != 0 && hits(draw, 45);
    CycleLine line;
    line.add(reset, 1).add(slots, 3).add(send, 1).add(credit, 1).add(arrived, 1).add(take, 1);
    line.add_if(cycle != 0, free != 0, 1).add_if(cycle != 0, filled != 0, 1);
    text += line.text();
    free = reset ? slots : free - (send ? 1 : 0) + (credit ? 1 : 0);
    filled = reset ? 0 : filled + (arrived ? 1 : 0) - (take ? 1 : 0);
  }
  return text;
}

// Four contexts, whose counts of four bits wrap around. A context waits for one that is at most
// seven steps behind or ahead.
std::string scoreboard_lines() {
  ModuleDraw draw(3);
  std::string text;
  std::uint64_t count[4] = {};
  for (int cycle = 0; cycle < kModuleCycles; ++cycle) {
    const bool reset = cycle == 0 || hits(draw, 1);
    std::uint64_t waits_for = 0;
    std::uint64_t until = 0;
    std::uint64_t ready = 0;
    const std::uint64_t done = draw() % 16;
    for (unsigned n = 0; n < 4; ++n) {
      const std::uint64_t other = draw() % 4;
      const std::int64_t ahead = static_cast<std::int64_t>(draw() % 15) - 7;
      waits_for |= other << (2 * n);
      until |= ((count[other] - static_cast<std::uint64_t>(ahead)) & 15U) << (4 * n);
      ready |= std::uint64_t{ahead >= 0 ? 1U : 0U} << n;
    }
    CycleLine line;
    line.add(reset, 1).add(done, 4).add(waits_for, 8).add(until, 16);
    text += line.add_if(cycle != 0, ready, 4).text();
    for (unsigned n = 0; n < 4; ++n) count[n] = reset ? 0 : count[n] + (done >> n & 1U);
  }
  return text;
}

// The steps of a thread block: each moves its requests, in every pass.
std::string context_lines() {
  ModuleDraw draw(4);
  std::string text;
  enum class Phase { idle, fetch, wait, move } phase = Phase::idle;
  std::uint64_t passes = 0;
  std::uint64_t steps = 0;
  std::uint64_t step = 0;
  std::uint64_t tile = 0;
  std::uint64_t left = 0;
  std::uint64_t in_flight = 0;
  std::uint64_t source = 0;
  std::uint64_t target = 0;
  for (int cycle = 0; cycle < 4 * kModuleCycles; ++cycle) {
    const bool reset = cycle == 0 || draw() % 1000 == 0;
    const bool launch = hits(draw, 30);
    if (phase == Phase::idle) {
      passes = 1 + draw() % 3;
      steps = 1 + draw() % 4;
    }
    const bool turn = hits(draw, 70);
    const bool decoded = hits(draw, 50);
    const bool ready = hits(draw, 60);
    const bool may_start = hits(draw, 80);
    const std::uint64_t requests = draw() % 6;
    const std::uint64_t from = draw() % 200;
    const std::uint64_t to = draw() % 200;
    const std::uint64_t bytes = 5;
    const bool ended = in_flight != 0 && hits(draw, 30);
    const bool is_last = step + 1 == steps;
    const bool start = phase == Phase::move && left != 0 && turn && may_start && in_flight < 3;
    const bool step_done = phase == Phase::move && left == 0 && in_flight == 0;
    const bool known = cycle != 0;
    const bool in_step = known && phase != Phase::idle;
    CycleLine line;
    line.add(reset, 1).add(launch, 1).add(passes, 4).add(turn, 1).add(decoded, 1).add(is_last, 1);
    line.add(ready, 1).add(requests, 4).add(from, 8).add(to, 8).add(bytes, 8).add(may_start, 1);
    line.add(ended, 1).add_if(known, phase == Phase::fetch, 1).add_if(in_step, step, 3);
    line.add_if(in_step, tile, 4).add_if(known, start, 1).add_if(start, source & 255U, 8);
    line.add_if(start, target & 255U, 8).add_if(known, step_done, 1);
    text += line.add_if(known, phase == Phase::idle, 1).text();
    if (phase == Phase::wait) {
      left = requests;
      source = from;
      target = to;
    } else if (start) {
      --left;
      source += bytes;
      target += bytes;
    }
    in_flight = in_flight + (start ? 1 : 0) - (ended ? 1 : 0);
    Phase next = phase;
    if (phase == Phase::idle && launch) next = Phase::fetch;
    if (phase == Phase::fetch && decoded) next = Phase::wait;
    if (phase == Phase::wait && ready && turn) next = Phase::move;
    if (step_done) next = is_last && tile + 1 == passes ? Phase::idle : Phase::fetch;
    if (step_done) {
      tile += is_last ? 1 : 0;
      step = is_last ? 0 : step + 1;
    }
    if (phase == Phase::idle) step = tile = 0;
    phase = next;
    if (reset) {
      phase = Phase::idle;
      in_flight = 0;
    }
  }
  return text;
}

}  // namespace

TEST_CASE("The DMA engine's Verilog reads every byte of a request once, in packets") {
  if (test::is_skipped({"iverilog", "vvp"}, false)) return;
  const ModuleBench bench(
      "dma_engine", ".A(16), .P(3), .O(2)",
      {{"reset", 1},
       {"start", 1},
       {"start_address", 16},
       {"start_size", 16},
       {"room", 1},
       {"answer", 1}},
      {{"idle", 1}, {"read", 1}, {"read_address", 16}, {"read_bytes", 4}, {"last", 1}},
      dma_lines());
  bench.expect(
      {{"~idle & room & ", "~idle & "},
       {" & ~(&outstanding)", ""},
       {"whole ? {1'b1, {P{1'b0}}} : {1'b0", "!whole ? {1'b1, {P{1'b0}}} : {1'b0"},
       {"(left[A-1:P] == 1) & ~(|left[P-1:0])", "(left[A-1:P] == 1)"},
       {"left[A-1:P] - 1'b1, left[P-1:0]} : {A{1'b0}}", "left[A-1:P] - 1'b1, left[P-1:0]} : left"},
       {"left <= {A{1'b0}};", ";"},
       {"outstanding <= {O{1'b0}};", ";"},
       {"read & ~answer", "read"},
       {"answer & ~read", "1'b0"},
       {"address <= start_address", "address <= address"},
       {"address[A-1:P] + 1'b1", "address[A-1:P]"}});
}

TEST_CASE("The Verilog of slots counts free and filled ones") {
  if (test::is_skipped({"iverilog", "vvp"}, false)) return;
  const ModuleBench bench(
      "slot_credits", ".B(3)",
      {{"reset", 1}, {"slots", 3}, {"send", 1}, {"credit", 1}, {"arrived", 1}, {"take", 1}},
      {{"may_send", 1}, {"has_arrived", 1}}, slot_lines());
  bench.expect({{"free <= slots", "free <= free"},
                {"send & ~credit", "send"},
                {"credit & ~send", "credit"},
                {"filled <= {B{1'b0}}", "filled <= filled"},
                {"arrived & ~take", "arrived"},
                {"take & ~arrived", "take & arrived"},
                {"|free;", "&free;"},
                {"|filled;", "filled[0];"}});
}

TEST_CASE("The scoreboard's Verilog tells who has come far enough, also where counts wrap") {
  if (test::is_skipped({"iverilog", "vvp"}, false)) return;
  const ModuleBench bench("program_scoreboard", ".N(4), .B(4)",
                          {{"reset", 1}, {"step_done", 4}, {"waits_for", 8}, {"until_count", 16}},
                          {{"ready", 4}}, scoreboard_lines());
  bench.expect({{"count[waits_for[n*I+:I]]", "count[n]"},
                {"~ahead[B-1]", "(count[waits_for[n*I+:I]] >= until_count[n*B+:B])"},
                {"~ahead[B-1]", "~ahead[B-1] & (|ahead)"},
                {"count[n] <= {B{1'b0}}", "count[n] <= count[n]"},
                {"count[n] + 1'b1", "count[n] + 2'd2"},
                {"else if (step_done[n])", "else if (step_done[0])"}});
}

TEST_CASE("A program context's Verilog moves every request of every step, in every pass") {
  if (test::is_skipped({"iverilog", "vvp"}, false)) return;
  const ModuleBench bench("program_context", ".S(3), .T(4), .R(4), .I(2), .A(8)",
                          {{"reset", 1},
                           {"launch", 1},
                           {"passes", 4},
                           {"turn", 1},
                           {"decoded", 1},
                           {"last_step", 1},
                           {"ready", 1},
                           {"requests", 4},
                           {"source_base", 8},
                           {"target_base", 8},
                           {"request_bytes", 8},
                           {"may_start", 1},
                           {"ended", 1}},
                          {{"fetch", 1},
                           {"step", 3},
                           {"tile", 4},
                           {"start", 1},
                           {"source", 8},
                           {"target", 8},
                           {"step_done", 1},
                           {"done", 1}},
                          context_lines());
  bench.expect({{"(|left) & turn & may_start", "(|left) & may_start"},
                {"turn & may_start", "turn"},
                {" & ~(&in_flight)", ""},
                {"~(|left) & ~(|in_flight)", "~(|left)"},
                {"tile + 1'b1 == passes", "tile == passes"},
                {"if (ready & turn)", "if (ready)"},
                {"if (decoded)", "if (1'b1)"},
                {"last_step & last_pass ? IDLE", "last_pass ? IDLE"},
                {"in_flight <= {I{1'b0}};", ";"},
                {"phase <= IDLE;", ";"},
                {"start & ~ended", "start"},
                {"ended & ~start", "ended & start"},
                {"if (last_step) tile", "tile"},
                {"step <= last_step ? {S{1'b0}}", "step <= last_step ? step"},
                {"tile <= {T{1'b0}};", ";"},
                {"left <= left - 1'b1", "left <= {R{1'b0}}"},
                {"source + request_bytes", "source"},
                {"target <= target + request_bytes", "target <= source + request_bytes"}});
}
