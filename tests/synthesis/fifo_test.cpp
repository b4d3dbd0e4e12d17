// hw/rtl/fifo_control.v and credit_counter.v beside the rules of a VC's buffer.
#include <fmt/format.h>

#include <catch2/catch.hpp>
#include <deque>
#include <filesystem>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "flowctl/vc_buffer.h"
#include "rtl_bench.h"

using namespace espalier;

namespace {

constexpr int kFifoCycles = 20'000;

// Flits that come and go at random, in phases that fill and empty the buffer. A line has the
// events of a cycle and what is to be seen before them.
std::string buffer_cycles(std::uint32_t depth, Cycle credit_latency, std::uint64_t seed) {
  std::mt19937_64 draw(seed);
  VcBuffer buffer(depth);
  std::deque<Cycle> credits;  // in flight
  std::uint32_t writes = 0;
  std::uint32_t reads = 0;
  std::string text;
  for (Cycle now = 0; now < kFifoCycles; ++now) {
    const auto packet = static_cast<std::uint32_t>(draw() % 4 == 0 ? 1 : draw() % (depth + 1));
    const bool fills = now / (4 * depth) % 2 == 0;
    const bool room = packet == 0 || buffer.has_room(packet, now);
    const bool empty = buffer.empty();
    const bool full = !buffer.has_room(1, now);
    const bool write = draw() % 100 < (fills ? 90 : 30) && !full;
    const bool read = !empty && buffer.front_usable() <= now && draw() % 100 < (fills ? 30 : 90);
    const bool credit = !credits.empty() && credits.front() == now;
    if (credit) credits.pop_front();
    // Bits 0 to 5: write, read, credit, room, empty, full.
    const unsigned bits = (write ? 1U : 0U) | (read ? 2U : 0U) | (credit ? 4U : 0U) |
                          (room ? 8U : 0U) | (empty ? 16U : 0U) | (full ? 32U : 0U);
    text += fmt::format("{:04x}{:04x}{:04x}{:02x}\n", writes % depth, reads % depth, packet, bits);
    if (write) {
      buffer.push({}, now + 1);
      ++writes;
    }
    if (read) {
      buffer.pop(now + credit_latency);
      // The counter adds the credit at the end of the cycle before the sender sees it.
      credits.push_back(now + credit_latency - 1);
      if (credit_latency == 1) {
        credits.pop_back();
        text[text.size() - 2] = "0123456789abcdef"[(bits | 4U) & 15U];
      }
      ++reads;
    }
  }
  return text;
}

// The cycles in which the sources show something else than the model.
std::size_t buffer_differences(const std::string& sources, std::uint32_t depth, Cycle latency) {
  const test::Workplace place;
  place.write("cycles.hex", buffer_cycles(depth, latency, depth + latency));
  place.write("dut.v", sources);
  place.write("bench.v", fmt::format(R"(
module bench;
  localparam A = $clog2({0}), C = $clog2({0} + 1);
  reg clk, reset; reg [55:0] cycles [0:{1}]; reg [55:0] c; integer i, differ;
  wire [A-1:0] wp, rp; wire [C-1:0] free, credits; wire empty, full, room, has_credits;
  fifo_control #(.D({0})) fifo(.clk(clk), .reset(reset), .write(c[0]), .read(c[1]),
    .packet(c[8 +: C]), .write_pointer(wp), .read_pointer(rp), .free(free), .empty(empty),
    .full(full), .room(room));
  credit_counter #(.D({0})) counter(.clk(clk), .reset(reset), .sends(c[0]), .credit(c[2]),
    .packet(c[8 +: C]), .credits(credits), .room(has_credits));
  initial begin
    $readmemh("{2}", cycles);
    c = 0; differ = 0; clk = 0; reset = 1; #1 clk = 1; #1 clk = 0; reset = 0;
    for (i = 0; i <= {1}; i = i + 1) begin
      c = cycles[i];
      #1 if (has_credits !== c[3] || (credits == 0) !== c[5] || empty !== c[4] ||
             wp !== c[40 +: A] || rp !== c[24 +: A]) differ = differ + 1;
      else if ({3} == 1 && (room !== c[3] || full !== c[5])) differ = differ + 1;
      clk = 1; #1 clk = 0;
    end
    $display("%0d", differ);
  end
endmodule
)",
                                     depth, kFifoCycles - 1, place.file("cycles.hex"), latency));
  place.run(fmt::format("iverilog -g2005-sv -o {} {} {}", place.file("bench"),
                        place.file("bench.v"), place.file("dut.v")));
  place.run(fmt::format("vvp -n {} > {}", place.file("bench"), place.file("out")));
  return std::stoul(place.read("out"));
}

}  // namespace

TEST_CASE("FIFO control and credits in RTL keep the rules of VC buffers of any depth") {
  if (test::is_skipped({"iverilog", "vvp"}, false)) return;
  const std::string sources = test::rtl_sources({"fifo_control", "credit_counter"});
  for (const std::uint32_t depth : {2U, 5U, 16U, 318U}) {
    for (const Cycle latency : {Cycle{1}, Cycle{7}}) {
      CAPTURE(depth, latency);
      CHECK(buffer_differences(sources, depth, latency) == 0);
    }
  }
  const std::pair<const char*, const char*> changes[] = {
      {"write_pointer == LAST[A-1:0] ? {A{1'b0}} :", ""},  // wraps at a power of two
      {"read_pointer == LAST[A-1:0] ? {A{1'b0}} :", ""},
      {"packet <= free", "packet < free"},
      {"packet <= credits", "packet < credits"},
      {"credit & ~sends", "credit"},  // a credit and a flit together count twice
  };
  for (const auto& [was, is] : changes) {
    std::string mutant = sources;
    const std::size_t place = mutant.find(was);
    CAPTURE(was);
    REQUIRE(place != std::string::npos);
    mutant.replace(place, std::string(was).size(), is);
    CHECK(buffer_differences(mutant, 5, 1) > 0);
  }
}

TEST_CASE("Every module of hw/rtl is free of verilator's warnings") {
  if (test::is_skipped({"verilator"}, false)) return;
  const test::Workplace place;
  std::size_t modules = 0;
  for (const auto& file : std::filesystem::directory_iterator(test::kRtl)) {
    if (file.path().extension() != ".v") continue;
    CAPTURE(file.path().filename().string());
    const std::string command =
        fmt::format("verilator --lint-only -Wall -y {} --top-module {} {} > {} 2>&1", test::kRtl,
                    file.path().stem().string(), file.path().string(), place.file("log"));
    const int status = std::system(command.c_str());
    INFO(place.read("log"));
    CHECK(status == 0);
    ++modules;
  }
  CHECK(modules > 10);
}
