// The RTL in hw/rtl against the cost model (synthesized with yosys and the OSU 0.18 um library) and
// against C++ that takes the same decisions (simulated with Icarus Verilog). Debian:
// yosys qflow-tech-osu018 iverilog. Skipped by name where they are not installed.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
#include <random>
#include <sstream>
#include <string>
#include <tuple>
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

void check_sizes(const std::vector<Size>& sizes) {
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
    CAPTURE(size.depth.fo4, found.fo4);
    CHECK(std::abs(size.depth.fo4 / found.fo4 - 1) < 0.20);
  }
}

// The bits of NiHosts (sims/workload/coordination), of one NI and clocked: what is missing of each
// unit, and the unit that is on its way.
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
  check_sizes(sizes);
}

TEST_CASE("A dimension queue of 64 chunks has the formula's gates and depth", "[slow]") {
  if (is_skipped({"yosys"}, true)) return;
  check_sizes({{{RtlModule::dimension_queue, 64, 32, 6},
                logic::scf_queue(64, 32, 6),
                logic::scf_queue_depth(64, 32)}});
}

TEST_CASE("FIFO control has the formula's gates, within 15 %, and its depth, within 20 %") {
  if (is_skipped({"yosys"}, true)) return;
  std::vector<Size> sizes;
  for (const std::uint32_t flits : {5U, 16U, 20U, 128U, 318U}) {
    sizes.push_back({{RtlModule::fifo_control, flits},
                     logic::fifo_control(flits),
                     logic::fifo_control_depth(flits)});
  }
  check_sizes(sizes);
}

TEST_CASE("Credit counters have the formula's gates, within 15 %, and its depth, within 20 %") {
  if (is_skipped({"yosys"}, true)) return;
  std::vector<Size> sizes;
  for (const std::uint32_t flits : {5U, 16U, 64U, 318U}) {
    sizes.push_back({{RtlModule::credit_counter, flits},
                     logic::credit_counter(flits),
                     logic::credit_counter_depth(flits)});
  }
  check_sizes(sizes);
}

TEST_CASE("The state of outputs has the formula's gates, within 15 %, and its depth, within 20 %",
          "[slow]") {
  if (is_skipped({"yosys"}, true)) return;
  std::vector<Size> sizes;
  const std::uint32_t shapes[][3] = {{3, 2, 1}, {5, 2, 1}, {5, 4, 1}, {8, 4, 1},
                                     {3, 2, 0}, {5, 4, 0}, {8, 2, 0}};
  for (const auto& [ports, vcs, shared] : shapes) {
    sizes.push_back({{RtlModule::output_state, ports, vcs, shared},
                     logic::output_state(ports, vcs, shared != 0),
                     logic::output_state_depth(ports, vcs, shared != 0)});
  }
  check_sizes(sizes);
}

// DSENT's allocators are matrix arbiters, whose gates grow with the square of the requesters; these
// are round robin, and the choice of a VC is in output_state.v.
TEST_CASE("The switch allocator in RTL is smaller than DSENT's allocators of 20 gates per pair") {
  if (is_skipped({"yosys"}, true)) return;
  const Synthesizer synthesizer;
  for (const auto& [ports, vcs] : {std::pair{5U, 2U}, std::pair{5U, 4U}, std::pair{8U, 4U}}) {
    const SynthesizedLogic found =
        synthesizer.measure({RtlModule::switch_allocator, ports, vcs, 1});
    const double dsent = logic::separable_allocator(ports, ports, vcs).value;
    fmt::print("{} ports of {} VCs: DSENT {:.0f} GE, synthesized {:.0f} GE, {:.0f} FO4\n", ports,
               vcs, dsent, found.gates, found.fo4);
    CHECK(found.gates < 0.75 * dsent);
    CHECK(found.gates > 0.25 * dsent);
  }
}

TEST_CASE("Dependency states have the formula's gates, within 15 %, and its depth, within 20 %") {
  if (is_skipped({"yosys"}, true)) return;
  std::vector<Size> sizes;
  const std::uint32_t shapes[][3] = {{4, 2, 2},  {16, 1, 2}, {32, 2, 2},
                                     {32, 8, 4}, {64, 4, 2}, {128, 4, 2}};
  for (const auto& [places, issue, turnaround] : shapes) {
    sizes.push_back({{RtlModule::dependency_state, places, issue, turnaround},
                     logic::dependency_state(places, issue, turnaround),
                     logic::dependency_state_depth(places)});
  }
  check_sizes(sizes);
}

TEST_CASE("A dependency state of 256 places has the formula's gates and depth", "[slow]") {
  if (is_skipped({"yosys"}, true)) return;
  check_sizes({{{RtlModule::dependency_state, 256, 4, 1},
                logic::dependency_state(256, 4, 1),
                logic::dependency_state_depth(256)}});
}

TEST_CASE("Readiness tables have the formula's gates, within 15 %, and its depth, within 20 %") {
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

TEST_CASE("Rows that repeat have the formula's gates, within 15 %, and its depth, within 20 %") {
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

TEST_CASE("Slot counters have the formula's gates, within 15 %, and its depth, within 20 %") {
  if (is_skipped({"yosys"}, true)) return;
  std::vector<Size> sizes;
  for (const std::uint32_t bits : {16U, 24U, 32U}) {
    sizes.push_back({{RtlModule::slot_counter, bits, 0},
                     logic::slot_counter(bits),
                     logic::slot_counter_depth(bits)});
  }
  check_sizes(sizes);
}

TEST_CASE(
    "Floating-point adders have the formula's gates, within 15 %, and its depth, within 20 %") {
  if (is_skipped({"yosys"}, true)) return;
  std::vector<Size> sizes;
  for (const auto& [exponent, fraction] :
       {std::pair{5U, 10U}, std::pair{8U, 7U}, std::pair{8U, 23U}, std::pair{11U, 52U}}) {
    sizes.push_back({{RtlModule::fp_adder, exponent, fraction},
                     logic::fp_adder(fraction),
                     logic::fp_adder_depth(exponent, fraction)});
  }
  check_sizes(sizes);
}

TEST_CASE("DMA engines have the formula's gates, within 15 %, and its depth, within 20 %") {
  if (is_skipped({"yosys"}, true)) return;
  std::vector<Size> sizes;
  for (const auto& [address, payload, reads] :
       {std::tuple{32U, 8U, 4U}, std::tuple{48U, 8U, 5U}, std::tuple{64U, 12U, 6U}}) {
    sizes.push_back({{RtlModule::dma_engine, address, payload, reads},
                     logic::dma_engine(address),
                     logic::dma_engine_depth(address)});
  }
  check_sizes(sizes);
}

TEST_CASE("Packetizers have the formula's gates, within 15 %, and its depth, within 20 %") {
  if (is_skipped({"yosys"}, true)) return;
  std::vector<Size> sizes;
  for (const logic::PacketizerShape& shape :
       {logic::PacketizerShape{64, 2, 6, 5, 8}, logic::PacketizerShape{128, 4, 9, 5, 16},
        logic::PacketizerShape{128, 8, 9, 5, 16}, logic::PacketizerShape{256, 4, 12, 9, 24}}) {
    sizes.push_back({{RtlModule::packetizer, shape.flit_bits, shape.vcs, shape.credit_bits,
                      shape.packet_bits, shape.message_bits},
                     logic::packetizer(shape),
                     logic::packetizer_depth(shape.credit_bits)});
  }
  check_sizes(sizes);
}

TEST_CASE("Message tables have the formula's gates, within 15 %, and its depth, within 20 %") {
  if (is_skipped({"yosys"}, true)) return;
  std::vector<Size> sizes;
  for (const auto& [entries, tag, count] :
       {std::tuple{4U, 12U, 8U}, std::tuple{16U, 16U, 16U}, std::tuple{32U, 16U, 16U}}) {
    sizes.push_back({{RtlModule::message_table, entries, tag, count},
                     logic::message_table(entries, tag, count),
                     logic::message_table_depth(entries)});
  }
  check_sizes(sizes);
}

TEST_CASE("Program contexts have the formula's gates, within 15 %, and its depth, within 20 %") {
  if (is_skipped({"yosys"}, true)) return;
  std::vector<Size> sizes;
  for (const logic::ContextShape& shape :
       {logic::ContextShape{4, 8, 8, 2, 32}, logic::ContextShape{6, 16, 16, 4, 64},
        logic::ContextShape{8, 24, 24, 4, 64}}) {
    sizes.push_back({{RtlModule::program_context, shape.step_bits, shape.tile_bits,
                      shape.request_bits, shape.flight_bits, shape.address_bits},
                     logic::program_context(shape),
                     logic::program_context_depth(shape)});
  }
  check_sizes(sizes);
}

TEST_CASE("Scoreboards have the formula's gates, within 15 %, and its depth, within 20 %") {
  if (is_skipped({"yosys"}, true)) return;
  std::vector<Size> sizes;
  for (const auto& [contexts, bits] :
       {std::pair{4U, 8U}, std::pair{8U, 16U}, std::pair{16U, 16U}}) {
    sizes.push_back({{RtlModule::program_scoreboard, contexts, bits},
                     logic::program_scoreboard(contexts, bits),
                     logic::program_scoreboard_depth(contexts, bits)});
  }
  check_sizes(sizes);
}

TEST_CASE("Slot credits have the formula's gates, within 15 %, and its depth, within 20 %") {
  if (is_skipped({"yosys"}, true)) return;
  std::vector<Size> sizes;
  for (const std::uint32_t bits : {2U, 4U, 8U}) {
    sizes.push_back({{RtlModule::slot_credits, bits},
                     logic::slot_credits(bits),
                     logic::slot_credits_depth(bits)});
  }
  check_sizes(sizes);
}

TEST_CASE("The floating-point adder in RTL adds as the host does, subnormal numbers as zero") {
  if (is_skipped({"iverilog", "vvp"}, false)) return;
  constexpr int kCases = 20'000;
  constexpr std::uint32_t kSign = 0x8000'0000U;
  const std::uint64_t seed = 7;
  CAPTURE(seed);
  std::mt19937_64 random(seed);
  const auto is_nan = [](std::uint32_t bits) {
    return (bits & 0x7f80'0000U) == 0x7f80'0000U && (bits & 0x007f'ffffU) != 0;
  };
  const auto flushed = [](std::uint32_t bits) {
    return (bits & 0x7f80'0000U) == 0 ? bits & kSign : bits;
  };
  const auto draw = [&](std::uint32_t near) {
    std::uint32_t bits = static_cast<std::uint32_t>(random());
    const std::uint64_t kind = random() % 8;
    // Often an exponent like the other number's, so that digits cancel; sometimes a special one.
    if (kind < 4) {
      const std::uint32_t exponent = (near >> 23) + static_cast<std::uint32_t>(random() % 5) - 2;
      bits = (bits & 0x807f'ffffU) | ((exponent & 0xffU) << 23);
    }
    if (kind == 4) bits &= 0xff80'0000U;
    if (kind == 5 && random() % 4 == 0) bits |= 0x7f80'0000U;
    if (kind == 6 && random() % 4 == 0) bits &= 0x80ff'ffffU;
    return bits;
  };
  const Workplace place;
  std::string stimulus;
  std::vector<std::uint32_t> expected;
  for (int c = 0; c < kCases; ++c) {
    const auto a = static_cast<std::uint32_t>(random());
    const std::uint32_t b = random() % 16 == 0 ? a ^ kSign : draw(a);
    stimulus += fmt::format("{:08x}{:08x}\n", a, b);
    float x = 0;
    float y = 0;
    const std::uint32_t left = flushed(a);
    const std::uint32_t right = flushed(b);
    std::memcpy(&x, &left, 4);
    std::memcpy(&y, &right, 4);
    const float sum = x + y;
    std::uint32_t bits = 0;
    std::memcpy(&bits, &sum, 4);
    expected.push_back(flushed(bits));
  }
  place.write("stimulus.hex", stimulus);
  place.write(
      "bench.v",
      fmt::format("module bench;\n"
                  "  reg [63:0] cases[0:{0}];\n"
                  "  reg [63:0] now;\n"
                  "  wire [31:0] sum;\n"
                  "  integer i;\n"
                  "  fp_adder #(.E(8), .M(23)) dut(.a(now[63:32]), .b(now[31:0]), .sum(sum));\n"
                  "  initial begin\n"
                  "    $readmemh(\"{1}\", cases);\n"
                  "    for (i = 0; i <= {0}; i = i + 1) begin\n"
                  "      now = cases[i];\n"
                  "      #1 $display(\"%0d\", sum);\n"
                  "    end\n"
                  "  end\n"
                  "endmodule\n",
                  kCases - 1, place.file("stimulus.hex")));
  place.run(fmt::format("iverilog -g2005-sv -o {} {} {}fp_adder.v", place.file("bench"),
                        place.file("bench.v"), kRtl));
  place.run(fmt::format("vvp -n {} > {}", place.file("bench"), place.file("out")));
  std::istringstream out(place.read("out"));
  for (int c = 0; c < kCases; ++c) {
    std::uint32_t sum = 0;
    REQUIRE(out >> sum);
    const std::uint32_t wanted = expected[static_cast<std::size_t>(c)];
    CAPTURE(c, stimulus.substr(static_cast<std::size_t>(c) * 17, 16));
    if (is_nan(wanted)) {
      REQUIRE(is_nan(sum));
    } else {
      REQUIRE(sum == wanted);
    }
  }
}

TEST_CASE("The packetizer in RTL sends every flit once, in packets, within the credits of a VC") {
  if (is_skipped({"iverilog", "vvp"}, false)) return;
  const Workplace place;
  // 50 messages of 1 to 7 packets of 5 flits over 2 VCs of 15 credits; credits come back at random.
  // The bench counts the flits, heads and tails of each message, and the flits in a VC's buffer.
  const int by_message = GENERATE(0, 1);
  CAPTURE(by_message);
  place.write(
      "bench.v",
      fmt::format(
          "module bench;\n"
          "  reg clk, reset, start; reg [7:0] packets; reg [1:0] credit;\n"
          "  wire idle, takes, valid, head, tail; wire [1:0] vc; wire [15:0] flit;\n"
          "  integer m, flits, heads, tails, headers, wrong, seed, held0, held1, c;\n"
          "  packetizer #(.W(16), .V(2), .C(4), .F(3), .N(8)) dut(.clk(clk), .reset(reset),\n"
          "      .start(start), .packets(packets), .header(16'hbeef), .data_here(1'b1),\n"
          "      .data(16'h1234), .packet_flits(3'd5), .by_message(1'b{0}), .credit(credit),\n"
          "      .idle(idle), .takes_data(takes), .valid(valid), .head(head), .tail(tail),\n"
          "      .vc(vc), .flit(flit));\n"
          "  task tick;\n"
          "    begin\n"
          "      credit[0] = (held0 != 0) & ($random(seed) % 3 == 0);\n"
          "      credit[1] = (held1 != 0) & ($random(seed) % 3 == 0);\n"
          "      #1 clk = 1; #1 clk = 0;\n"
          "      held0 = held0 - credit[0] + (valid & vc[0]);\n"
          "      held1 = held1 - credit[1] + (valid & vc[1]);\n"
          "      if (held0 > 15 || held1 > 15 || (valid && vc != 1 && vc != 2)) wrong = wrong + "
          "1;\n"
          "      if (valid) begin\n"
          "        flits = flits + 1; heads = heads + head; tails = tails + tail;\n"
          "        headers = headers + (flit == 16'hbeef);\n"
          "      end\n"
          "    end\n"
          "  endtask\n"
          "  initial begin\n"
          "    seed = 3; wrong = 0; held0 = 0; held1 = 0; clk = 0; start = 0; reset = 1;\n"
          "    flits = 0; heads = 0; tails = 0; headers = 0; credit = 0; packets = 0;\n"
          "    #1 clk = 1; #1 clk = 0; #1 clk = 1; #1 clk = 0; reset = 0;\n"
          "    for (m = 0; m < 50; m = m + 1) begin\n"
          "      flits = 0; heads = 0; tails = 0; headers = 0;\n"
          "      packets = 1 + m % 7; start = 1; tick; start = 0;\n"
          "      c = 0;\n"
          "      while (!idle && c < 1000) begin tick; c = c + 1; end\n"
          "      tick; tick;\n"
          "      $display(\"%0d %0d %0d %0d %0d\", flits, heads, tails, headers, wrong);\n"
          "    end\n"
          "  end\n"
          "endmodule\n",
          by_message));
  place.run(fmt::format("iverilog -g2005-sv -o {} {} {}packetizer.v", place.file("bench"),
                        place.file("bench.v"), kRtl));
  place.run(fmt::format("vvp -n {} > {}", place.file("bench"), place.file("out")));
  std::istringstream out(place.read("out"));
  for (int m = 0; m < 50; ++m) {
    const int packets = 1 + m % 7;
    const int ends = by_message == 1 ? 1 : packets;
    int flits = 0;
    int heads = 0;
    int tails = 0;
    int headers = 0;
    int wrong = -1;
    REQUIRE(out >> flits >> heads >> tails >> headers >> wrong);
    CAPTURE(m);
    CHECK(flits == 5 * packets);
    CHECK(heads == ends);
    CHECK(tails == ends);
    CHECK(headers == ends);
    CHECK(wrong == 0);
  }
}

TEST_CASE("The message table in RTL says when the last packet of a message has come") {
  if (is_skipped({"iverilog", "vvp"}, false)) return;
  const std::uint64_t seed = 11;
  CAPTURE(seed);
  std::mt19937_64 random(seed);
  // At most four messages are open; their packets arrive in any order.
  std::map<std::uint32_t, std::uint32_t> missing;  // by tag
  std::map<std::uint32_t, std::uint32_t> packets;
  std::uint32_t next_tag = 0;
  std::string stimulus;
  std::vector<int> expected;
  for (int c = 0; c < 5'000; ++c) {
    if (missing.size() < 4 && random() % 2 == 0) {
      const std::uint32_t tag = next_tag++ % 256;
      missing[tag] = packets[tag] = 1 + static_cast<std::uint32_t>(random() % 6);
    }
    const bool arrives = !missing.empty() && random() % 4 != 0;
    std::uint32_t tag = 0;
    int complete = 0;
    if (arrives) {
      auto chosen = missing.begin();
      std::advance(chosen, static_cast<std::ptrdiff_t>(random() % missing.size()));
      tag = chosen->first;
      if (--chosen->second == 0) {
        complete = 1;
        missing.erase(chosen);
      }
    }
    stimulus += fmt::format("{:x}{:02x}{:02x}\n", arrives ? 1 : 0, tag, arrives ? packets[tag] : 0);
    expected.push_back(complete);
  }
  const Workplace place;
  place.write("stimulus.hex", stimulus);
  place.write("bench.v",
              fmt::format("module bench;\n"
                          "  reg [19:0] cases[0:{0}]; reg [19:0] now; reg clk, reset;\n"
                          "  wire complete, full; integer i;\n"
                          "  message_table #(.N(4), .K(8), .C(8)) dut(.clk(clk), .reset(reset),\n"
                          "      .arrive(now[16]), .tag(now[15:8]), .packets(now[7:0]),\n"
                          "      .complete(complete), .full(full));\n"
                          "  initial begin\n"
                          "    $readmemh(\"{1}\", cases);\n"
                          "    now = 0; clk = 0; reset = 1; #1 clk = 1; #1 clk = 0; reset = 0;\n"
                          "    for (i = 0; i <= {0}; i = i + 1) begin\n"
                          "      now = cases[i];\n"
                          "      #1 $display(\"%0d\", complete);\n"
                          "      clk = 1; #1 clk = 0;\n"
                          "    end\n"
                          "  end\n"
                          "endmodule\n",
                          expected.size() - 1, place.file("stimulus.hex")));
  place.run(fmt::format("iverilog -g2005-sv -o {} {} {}message_table.v", place.file("bench"),
                        place.file("bench.v"), kRtl));
  place.run(fmt::format("vvp -n {} > {}", place.file("bench"), place.file("out")));
  std::istringstream out(place.read("out"));
  for (std::size_t c = 0; c < expected.size(); ++c) {
    int complete = -1;
    REQUIRE(out >> complete);
    CAPTURE(c);
    REQUIRE(complete == expected[c]);
  }
}

TEST_CASE("The readiness table in RTL shows the unit that the NI's bits complete, cycle by cycle") {
  if (is_skipped({"iverilog", "vvp"}, false)) return;
  constexpr int kCycles = 10'000;
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
