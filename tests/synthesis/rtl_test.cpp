// The RTL in hw/rtl against the cost model (synthesized with yosys and the OSU 0.18 um library) and
// against C++ that takes the same decisions (simulated with Icarus Verilog). Debian:
// yosys qflow-tech-osu018 iverilog. Skipped by name where they are not installed.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <random>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "alg/schedule/repeated_rows.h"
#include "hw/cost/logic.h"
#include "hw/cost/technology.h"
#include "rtl_bench.h"
#include "sims/synthesis/synthesizer.h"

using namespace espalier;
using test::is_skipped;
using test::kRtl;
using test::Workplace;

namespace {

struct Size {
  RtlInstance instance;
  Gates gates;  // by formula
  Depth depth;
};

// `depth_tolerance`: most formulas of depths were fitted to one size, in FO4 of the slower of two
// libraries.
void check_sizes(const std::vector<Size>& sizes, double depth_tolerance = 0.5) {
  const Synthesizer synthesizer;
  for (const Size& size : sizes) {
    const SynthesizedLogic found = synthesizer.measure(size.instance);
    const double expected = size.gates.value;
    const double deviation = expected / found.gates - 1;
    fmt::print(
        "{:<26} formula {:>6.0f} GE, synthesized {:>6.0f} GE, {:+5.1f} %; {:>3.0f} and {:>3.0f} "
        "FO4\n",
        describe(size.instance), expected, found.gates, 100 * deviation, size.depth.fo4, found.fo4);
    CAPTURE(describe(size.instance), expected, found.gates);
    CHECK(std::abs(deviation) < 0.15);
    CHECK(found.fo4 > (1 - depth_tolerance) * size.depth.fo4);
    CHECK(found.fo4 < (1 + depth_tolerance) * size.depth.fo4);
  }
}

// The bits of NiHosts (sims/coordination), of one NI and clocked: what is missing of each unit, and
// the unit that is on its way.
class Readiness {
 public:
  struct Inputs {
    bool sets = false;
    std::uint32_t unit = 0;
    std::uint32_t source = 0;  // 0: the NI itself; children from 1
    bool taken = false;
  };

  Readiness(std::uint32_t units, const std::vector<bool>& absent)
      : absent_(absent), bits_(units, std::vector<bool>(absent.size() + 1)) {}

  [[nodiscard]] int shown() const { return shown_; }

  // Any bit that is not set; and of the unit that is taken in this cycle any, for its next round.
  [[nodiscard]] Inputs draw(std::mt19937_64& random) const {
    Inputs inputs;
    inputs.taken = shown_ >= 0 && random() % 4 == 0;
    inputs.unit = static_cast<std::uint32_t>(random() % bits_.size());
    inputs.source = static_cast<std::uint32_t>(random() % bits_[0].size());
    const bool is_set = bits_[inputs.unit][inputs.source] &&
                        !(inputs.taken && inputs.unit == static_cast<std::uint32_t>(shown_));
    const bool is_there = inputs.source == 0 || !absent_[inputs.source - 1];
    inputs.sets = !is_set && is_there && random() % 8 != 0;
    return inputs;
  }

  void clock(const Inputs& inputs) {
    const int lowest = lowest_complete();
    if (inputs.taken) {
      bits_[static_cast<std::size_t>(shown_)].assign(absent_.size() + 1, false);
      shown_ = -1;
    } else if (shown_ < 0) {
      shown_ = lowest;
    }
    if (inputs.sets) bits_[inputs.unit][inputs.source] = true;
  }

 private:
  [[nodiscard]] int lowest_complete() const {
    for (std::size_t u = 0; u < bits_.size(); ++u) {
      bool complete = bits_[u][0];
      for (std::size_t c = 0; c < absent_.size(); ++c) {
        complete = complete && (absent_[c] || bits_[u][c + 1]);
      }
      if (complete) return static_cast<int>(u);
    }
    return -1;
  }

  std::vector<bool> absent_;             // by child
  std::vector<std::vector<bool>> bits_;  // by unit, source
  int shown_ = -1;
};

}  // namespace

TEST_CASE("NI control has the formula's gates, within 15 %, and its depth, within 20 %") {
  if (is_skipped({"yosys"}, true)) return;
  std::vector<Size> sizes;
  const std::uint32_t shapes[][3] = {{6, 12, 1}, {8, 16, 1}, {8, 16, 4}, {12, 24, 4}, {16, 32, 8}};
  for (const auto& [step, lockstep, issue] : shapes) {
    sizes.push_back({{RtlModule::ni_control, step, lockstep, issue},
                     logic::ni_control(step, lockstep, issue),
                     logic::ni_control_depth(step, lockstep)});
  }
  check_sizes(sizes);
}

TEST_CASE("Dimension queues have the formula's gates, within 15 %, and its depth, within 20 %") {
  if (is_skipped({"yosys"}, true)) return;
  std::vector<Size> sizes;
  const std::uint32_t shapes[][3] = {{8, 16, 3}, {12, 16, 4}, {16, 16, 4}, {16, 32, 4}};
  for (const auto& [chunks, key, number] : shapes) {
    sizes.push_back({{RtlModule::dimension_queue, chunks, key, number},
                     logic::scf_queue(chunks, key, number),
                     logic::scf_queue_depth(chunks, key)});
  }
  check_sizes(sizes, 0.2);
}

TEST_CASE("A dimension queue of 64 chunks has the formula's gates and depth", "[slow]") {
  if (is_skipped({"yosys"}, true)) return;
  check_sizes({{{RtlModule::dimension_queue, 64, 32, 6},
                logic::scf_queue(64, 32, 6),
                logic::scf_queue_depth(64, 32)}},
              0.2);
}

TEST_CASE("FIFO control has the formula's gates, within 15 %") {
  if (is_skipped({"yosys"}, true)) return;
  check_sizes(
      {{{RtlModule::fifo_control, 5, 0}, logic::fifo_control(5), logic::fifo_control_depth(5)},
       {{RtlModule::fifo_control, 7, 0}, logic::fifo_control(7), logic::fifo_control_depth(7)},
       {{RtlModule::fifo_control, 9, 0}, logic::fifo_control(9), logic::fifo_control_depth(9)}});
}

TEST_CASE("Dependency tables have the formula's gates, within 15 %") {
  if (is_skipped({"yosys"}, true)) return;
  check_sizes({{{RtlModule::dependency_table, 16, 8},
                logic::dependency_table(16, 8),
                logic::dependency_match_depth(16, 8)},
               {{RtlModule::dependency_table, 16, 12},
                logic::dependency_table(16, 12),
                logic::dependency_match_depth(16, 12)},
               {{RtlModule::dependency_table, 16, 16},
                logic::dependency_table(16, 16),
                logic::dependency_match_depth(16, 16)}});
}

TEST_CASE("Readiness tables have the formula's gates, within 15 %") {
  if (is_skipped({"yosys"}, true)) return;
  std::vector<Size> sizes;
  for (const auto& [units, children] :
       {std::pair{5U, 8U}, std::pair{16U, 2U}, std::pair{64U, 8U}, std::pair{161U, 8U}}) {
    sizes.push_back({{RtlModule::readiness_table, units, children},
                     logic::readiness_table(units, children),
                     logic::readiness_table_depth(units, children)});
  }
  check_sizes(sizes);
}

TEST_CASE("Rows that repeat have the formula's gates, within 15 %") {
  if (is_skipped({"yosys"}, true)) return;
  std::vector<Size> sizes;
  for (const auto& [address, fields] :
       {std::pair{64U, 8U}, std::pair{64U, 16U}, std::pair{64U, 24U}, std::pair{32U, 16U}}) {
    sizes.push_back({{RtlModule::row_repeat, address, fields},
                     logic::row_repeat(address, fields),
                     logic::row_repeat_depth(address)});
  }
  check_sizes(sizes);
}

TEST_CASE("Slot counters have the formula's gates, within 15 %") {
  if (is_skipped({"yosys"}, true)) return;
  std::vector<Size> sizes;
  for (const std::uint32_t bits : {16U, 24U, 32U}) {
    sizes.push_back({{RtlModule::slot_counter, bits, 0},
                     logic::slot_counter(bits),
                     logic::slot_counter_depth(bits)});
  }
  check_sizes(sizes);
}

TEST_CASE("The readiness table in RTL shows the unit that the NI's bits complete, cycle by cycle") {
  if (is_skipped({"iverilog", "vvp"}, false)) return;
  constexpr int kCycles = 20'000;
  struct Case {
    std::uint32_t units;
    std::vector<bool> absent;  // by child
  };
  const auto [units, absent] =
      GENERATE(Case{1, {false}}, Case{5, {false, false, true}}, Case{16, {true, true, true, true}},
               Case{33, {false, false, false, false, false, false, false, false}},
               Case{161, {false, false, true, true, true, true, true, true}});
  const std::uint64_t seed = units;
  CAPTURE(seed, units, absent.size());
  std::mt19937_64 random(seed);
  Readiness model(units, absent);
  const Workplace place;
  std::string stimulus;
  std::vector<int> expected;  // before each edge
  int picks = 0;
  for (int c = 0; c < kCycles; ++c) {
    const Readiness::Inputs inputs = model.draw(random);
    expected.push_back(model.shown());
    stimulus += fmt::format("{:x}{:04x}{:02x}{:x}\n", inputs.sets ? 1 : 0, inputs.unit,
                            inputs.source, inputs.taken ? 1 : 0);
    picks += inputs.taken ? 1 : 0;
    model.clock(inputs);
  }
  CHECK(picks > kCycles / 50);
  std::string mask;  // the last child first, as a vector is written
  for (std::size_t c = absent.size(); c-- > 0;) mask += absent[c] ? '1' : '0';
  place.write("stimulus.hex", stimulus);
  place.write("bench.v",
              fmt::format("module bench;\n"
                          "  reg [31:0] cases[0:{0}];\n"
                          "  reg [31:0] now;\n"
                          "  reg clk, reset;\n"
                          "  wire found;\n"
                          "  wire [{1}:0] unit;\n"
                          "  integer i;\n"
                          "  readiness_table #(.UNITS({2}), .CHILDREN({3}))\n"
                          "      dut(.clk(clk), .reset(reset), .absent({3}'b{4}),\n"
                          "          .set_bit(now[28]), .set_unit(now[{1}+12:12]),\n"
                          "          .set_source(now[{5}+4:4]), .taken(now[0]), .found(found),\n"
                          "          .unit(unit));\n"
                          "  initial begin\n"
                          "    $readmemh(\"{6}\", cases);\n"
                          "    now = 0; clk = 0; reset = 1;\n"
                          "    #1 clk = 1; #1 clk = 0; reset = 0;\n"
                          "    for (i = 0; i <= {0}; i = i + 1) begin\n"
                          "      now = cases[i];\n"
                          "      if (found) $display(\"%0d\", unit);\n"
                          "      else $display(\"-1\");\n"
                          "      #1 clk = 1; #1 clk = 0;\n"
                          "    end\n"
                          "  end\n"
                          "endmodule\n",
                          kCycles - 1, std::max(1U, bits_for(units)) - 1, units, absent.size(),
                          mask, bits_for(absent.size() + 1) - 1, place.file("stimulus.hex")));
  place.run(fmt::format("iverilog -g2005-sv -o {} {} {}readiness_table.v", place.file("bench"),
                        place.file("bench.v"), kRtl));
  place.run(fmt::format("vvp -n {} > {}", place.file("bench"), place.file("out")));
  std::istringstream out(place.read("out"));
  for (int c = 0; c < kCycles; ++c) {
    int shown = -2;
    out >> shown;
    CAPTURE(c);
    REQUIRE(shown == expected[static_cast<std::size_t>(c)]);
  }
}

TEST_CASE("Rows that repeat issue in RTL what the NI's table program issues, row by row") {
  if (is_skipped({"iverilog", "vvp"}, false)) return;
  const std::uint64_t seed = GENERATE(1U, 2U, 3U, 4U);
  CAPTURE(seed);
  std::mt19937_64 random(seed);
  RepeatedTable table;
  auto& loop = table.loops.emplace_back();
  const std::size_t rows = 1 + random() % 20;
  std::string memory;
  for (std::size_t r = 0; r < rows; ++r) {
    RepeatedRow row;
    row.first.op = TableOp::gather;
    row.first.flow = FlowId(5000 + random() % 1000);
    row.first.step = static_cast<Timestep>(1 + random() % 100);
    row.first.start_addr = (std::uint64_t{1} << 40) + random() % 100'000'000;
    row.first.size = 1 + random() % 1'000'000;
    row.first_pass = static_cast<std::uint32_t>(random() % 4);
    row.count = static_cast<std::uint32_t>(1 + random() % 40);
    row.flow_stride = static_cast<std::int64_t>(random() % 41) - 20;
    row.step_stride = static_cast<std::int64_t>(random() % 3);
    row.address_stride = static_cast<std::int64_t>(random() % 2'000'001) - 1'000'000;
    row.last_size = 1 + random() % row.first.size;
    const auto field = [](std::int64_t value) {
      return fmt::format("{:04x}", static_cast<std::uint64_t>(value) & 0xffff);
    };
    memory +=
        field(row.first_pass) + field(row.count) +
        field(static_cast<std::int64_t>(row.first.flow.index())) + field(row.flow_stride) +
        field(row.first.step) + field(row.step_stride) +
        fmt::format("{:016x}{:016x}{:016x}{:016x}\n", row.first.start_addr,
                    static_cast<std::uint64_t>(row.address_stride), row.first.size, row.last_size);
    loop.push_back(std::move(row));
  }
  const Workplace place;
  place.write("rows.hex", memory);
  place.write(
      "bench.v",
      fmt::format("module bench;\n"
                  "  reg [351:0] rows[0:{0}];\n"
                  "  reg [351:0] row;\n"
                  "  reg clk, reset;\n"
                  "  reg over;\n"
                  "  wire issues, loop_over;\n"
                  "  wire [63:0] size, address;\n"
                  "  wire [15:0] count, flow, step, slot;\n"
                  "  integer i, passed;\n"
                  "  row_repeat #(.A(64), .N(16)) dut(.clk(clk), .reset(reset), .take(1'b1),\n"
                  "      .last_row(i == {0}), .first_pass(row[351:336]), .count(row[335:320]),\n"
                  "      .flow(row[319:304]), .flow_stride(row[303:288]), .step(row[287:272]),\n"
                  "      .step_stride(row[271:256]), .slot(row[287:272]),\n"
                  "      .slot_stride(row[271:256]), .address(row[255:192]),\n"
                  "      .address_stride(row[191:128]), .size(row[127:64]),\n"
                  "      .last_size(row[63:0]), .issues(issues), .issued_size(size),\n"
                  "      .next_count(count), .next_flow(flow), .next_step(step),\n"
                  "      .next_slot(slot), .next_address(address), .loop_over(loop_over));\n"
                  "  initial begin\n"
                  "    $readmemh(\"{1}\", rows);\n"
                  "    row = rows[0]; i = 0; passed = 0; over = 0; clk = 0; reset = 1;\n"
                  "    #1 clk = 1; #1 clk = 0; reset = 0;\n"
                  "    while (!over) begin\n"
                  "      row = rows[i];\n"
                  "      #1;\n"
                  "      if (issues) begin\n"
                  "        $display(\"%0d %0d %0d %0d %0d\", passed, row[319:304], row[287:272],\n"
                  "                 row[255:192], size);\n"
                  "        passed = 0;\n"
                  "        rows[i] = {{row[351:336], count, flow, row[303:288], step,\n"
                  "                   row[271:256], address, row[191:0]}};\n"
                  "      end else passed = passed + 1;\n"
                  "      over = loop_over;\n"
                  "      clk = 1; #1 clk = 0;\n"
                  "      i = i == {0} ? 0 : i + 1;\n"
                  "    end\n"
                  "  end\n"
                  "endmodule\n",
                  rows - 1, place.file("rows.hex")));
  place.run(fmt::format("iverilog -g2005-sv -o {} {} {}row_repeat.v", place.file("bench"),
                        place.file("bench.v"), kRtl));
  place.run(fmt::format("vvp -n {} > {}", place.file("bench"), place.file("out")));
  std::istringstream out(place.read("out"));
  for_each_issued(table, [&](const TableEntry& entry, std::uint32_t rows_passed) {
    std::uint64_t seen[5] = {};
    for (std::uint64_t& field : seen) REQUIRE(out >> field);
    CHECK(seen[0] == rows_passed);
    CHECK(seen[1] == entry.flow.index());
    CHECK(seen[2] == entry.step);
    CHECK(seen[3] == entry.start_addr);
    CHECK(seen[4] == entry.size);
  });
  std::string more;
  CHECK_FALSE(out >> more);
}

TEST_CASE("The slot counter in RTL lets an entry issue in the first cycle of its slot") {
  if (is_skipped({"iverilog", "vvp"}, false)) return;
  const Workplace place;
  // Steps of 20 cycles; the counter stops at 15. Prints the cycle in which each slot is reached.
  place.write("bench.v",
              "module bench;\n"
              "  reg clk, enter; reg [3:0] slot; wire reached; integer s, c, found;\n"
              "  slot_counter #(.N(4)) dut(.clk(clk), .enter_step(enter), .slot(slot),\n"
              "                            .reached(reached));\n"
              "  initial begin\n"
              "    clk = 0;\n"
              "    for (s = 0; s < 16; s = s + 1) begin\n"
              "      slot = s; enter = 1; #1 clk = 1; #1 clk = 0; enter = 0; found = -1;\n"
              "      for (c = 0; c < 20; c = c + 1) begin\n"
              "        #1 if (reached && found < 0) found = c;\n"
              "        if (!reached && found >= 0) found = 100;\n"
              "        clk = 1; #1 clk = 0;\n"
              "      end\n"
              "      $display(\"%0d\", found);\n"
              "    end\n"
              "  end\n"
              "endmodule\n");
  place.run(fmt::format("iverilog -g2005-sv -o {} {} {}slot_counter.v", place.file("bench"),
                        place.file("bench.v"), kRtl));
  place.run(fmt::format("vvp -n {} > {}", place.file("bench"), place.file("out")));
  std::istringstream out(place.read("out"));
  for (int slot = 0; slot < 16; ++slot) {
    int reached = -1;
    REQUIRE(out >> reached);
    CHECK(reached == slot);
  }
}
