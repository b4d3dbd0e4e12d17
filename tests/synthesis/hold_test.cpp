// hw/rtl/output_hold.v beside the model of a router's decisions.
#include <fmt/format.h>

#include <catch2/catch.hpp>
#include <string>
#include <utility>
#include <vector>

#include "hold_traffic.h"
#include "router/rtl/rtl_output_hold.h"
#include "rtl_bench.h"

using namespace espalier;
using test::HoldCycle;
using test::HoldTraffic;

namespace {

struct HoldVariant {
  HoldSpec spec;
  bool messages = false;
};

HoldVariant random_variant(std::uint64_t seed) {
  std::mt19937_64 draw(seed);
  HoldVariant variant;
  const bool large = draw() % 8 == 0;
  variant.spec.inputs = 1 + static_cast<std::uint32_t>(draw() % (large ? kRtlPorts : 6));
  variant.spec.outputs = 1 + static_cast<std::uint32_t>(draw() % (large ? kRtlPorts : 6));
  variant.spec.vcs = 1 + static_cast<std::uint32_t>(draw() % (large ? kRtlVcs : 5));
  variant.spec.hold = draw() % 2 == 0 ? SwitchHold::packet : SwitchHold::flit;
  variant.spec.crossbar_inputs = draw() % 2 == 0 ? CrossbarInputs::port : CrossbarInputs::vc;
  for (std::uint32_t o = 0; o < variant.spec.outputs; ++o) {
    variant.spec.rotates.push_back(seed % 2 == 0 && draw() % 4 != 0);
  }
  variant.messages = draw() % 2 == 0;
  return variant;
}

// The bench of iverilog has routers of this size.
constexpr std::uint32_t kPorts = 3;
constexpr std::uint32_t kVcs = 2;
constexpr std::size_t kCyclesOfVariant = 300;

// A cycle's signals at P = 3 and V = 2, and the grants that are expected.
std::string signals_of(const HoldCycle& cycle, const HoldSpec& spec) {
  std::uint64_t request = 0, starts = 0, wants = 0, permitted = 0, credits = 0, wire_free = 0;
  for (const HoldRequest& r : cycle.requests) {
    const std::uint32_t i = r.input * kVcs + r.vc;
    request |= std::uint64_t{1} << i;
    if (r.starts) starts |= std::uint64_t{1} << i;
    if (r.wire_free) wire_free |= std::uint64_t{1} << r.output;
    wants |= std::uint64_t{r.output} << (2 * i);
    permitted |= std::uint64_t{r.permitted} << (kVcs * i);
    credits |= std::uint64_t{r.credits} << (kVcs * i);
  }
  std::uint64_t leaves = 0, tail = 0, frees = 0;
  for (const test::LeavingFlit& flit : cycle.leaving) {
    leaves |= std::uint64_t{1} << flit.output;
    if (flit.tail) tail |= std::uint64_t{1} << flit.output;
    if (flit.frees_vc) frees |= std::uint64_t{1} << flit.output;
  }
  std::uint64_t grants = 0;  // by output: valid, port, VC, VC downstream
  for (const HoldGrant& g : cycle.grants) {
    grants |= std::uint64_t{16 | g.input << 2 | g.vc << 1 | g.out_vc} << (5 * g.output);
  }
  std::uint64_t rotates = 0;
  for (std::uint32_t o = 0; o < kPorts; ++o) rotates |= std::uint64_t{spec.rotates[o]} << o;
  const std::uint64_t hold_flit = spec.hold == SwitchHold::flit ? 1 : 0;
  return fmt::format("{:04x}{:02x}{:02x}{:04x}{:04x}{:04x}{:x}{:x}{:x}{:x}{:x}{:x}\n", grants,
                     request, starts, wants, permitted, credits, wire_free, leaves, tail, frees,
                     rotates, hold_flit);
}

// Counts the cycles in which sources of output_hold decide otherwise than the model.
class HoldBench {
 public:
  explicit HoldBench(CrossbarInputs crossbar_inputs) {
    std::string cycles;
    std::size_t variants = 0;
    for (const SwitchHold hold : {SwitchHold::packet, SwitchHold::flit}) {
      for (const bool rotates : {false, true}) {
        for (const bool messages : {false, true}) {
          const HoldSpec spec{kPorts, kPorts,          kVcs,
                              hold,   crossbar_inputs, {rotates, rotates, false}};
          HoldTraffic traffic(spec, messages, ++variants);
          for (std::size_t c = 0; c < kCyclesOfVariant; ++c) {
            cycles += signals_of(traffic.next(), spec);
          }
        }
      }
    }
    place_.write("cycles.hex", cycles);
    place_.write("bench.v",
                 fmt::format(R"(
module bench;
  reg clk, reset; reg [103:0] cycles [0:{0}]; reg [103:0] c; integer i, o, differ;
  wire [2:0] grant; wire [5:0] port; wire [2:0] vc, out_vc; reg [14:0] grants;
  output_hold #(.P(3), .V(2), .SHARED({3})) dut(.clk(clk), .reset(reset), .hold_flit(c[0]),
    .rotates(c[6:4]), .frees_vc(c[10:8]), .tail(c[14:12]), .leaves(c[18:16]), .wire_free(c[22:20]),
    .credits(c[35:24]), .permitted(c[51:40]), .wants(c[67:56]), .starts(c[77:72]),
    .request(c[85:80]), .grant(grant), .port(port), .vc(vc), .out_vc(out_vc));
  initial begin
    $readmemh("{1}", cycles);
    differ = 0; clk = 0;
    for (i = 0; i <= {0}; i = i + 1) begin
      c = cycles[i];
      if (i % {2} == 0) begin reset = 1; #1 clk = 1; #1 clk = 0; reset = 0; end
      #1 for (o = 0; o < 3; o = o + 1)
        grants[5*o +: 5] = grant[o] ? {{1'b1, port[2*o +: 2], vc[o], out_vc[o]}} : 5'd0;
      if (grants !== c[102:88]) differ = differ + 1;
      clk = 1; #1 clk = 0;
    end
    $display("%0d", differ);
  end
endmodule
)",
                             variants * kCyclesOfVariant - 1, place_.file("cycles.hex"),
                             kCyclesOfVariant, crossbar_inputs == CrossbarInputs::port ? 1 : 0));
  }

  [[nodiscard]] std::size_t cycles_that_differ(const std::string& sources) const {
    place_.write("dut.v", sources);
    place_.run(fmt::format("iverilog -g2005-sv -o {} {} {}", place_.file("bench"),
                           place_.file("bench.v"), place_.file("dut.v")));
    place_.run(fmt::format("vvp -n {} > {}", place_.file("bench"), place_.file("out")));
    return std::stoul(place_.read("out"));
  }

 private:
  test::Workplace place_;
};

}  // namespace

TEST_CASE("A change of one line in the output hold's Verilog is noticed") {
  if (test::is_skipped({"iverilog", "vvp"}, false)) return;
  const std::string source = test::rtl_sources({"output_hold", "output_state", "switch_allocator"});
  CHECK(HoldBench(CrossbarInputs::vc).cycles_that_differ(source) == 0);
  const HoldBench shared(CrossbarInputs::port);
  CHECK(shared.cycles_that_differ(source) == 0);
  const std::pair<const char*, const char*> changes[] = {
      {"(tail | {P{hold_flit}})", "tail"},              // flits hold the output like packets
      {"leaves & frees_vc", "leaves & tail"},           // a sub-packet's tail frees the VC
      {"(owned | taken) & ~freed", "owned | taken"},    // VCs are never freed
      {"wire_free & ~held", "wire_free"},               // a held output is granted again
      {"wire_free & ~held", "~held"},                   // a busy wire is granted
      {"(owns[i] ? own : permitted", "(permitted"},     // a message changes its VC
      {" & ~owned[wants[i*O+:O]*V+:V]", ""},            // two owners of a VC
      {"first_flit[r] & rotates[r]", "first_flit[r]"},  // every output rotates
      {"first_flit[r] & rotates[r]", "rotates[r]"},     // every flit moves the order of VCs
      {"if (wins[i])", ""},                             // losers move the input's order
      {"output_order[b*X+:X] <= -granted[b*X+:X] & ~granted[b*X+:X]",
       "output_order[b*X+:X] <= -granted[b*X+:X]"},  // the winner stays first
      {"& ~(SHARED != 0 && busy[i/V])", ""},         // two packets at a crossbar input
  };
  for (const auto& [was, is] : changes) {
    std::string mutant = source;
    const std::size_t place = mutant.find(was);
    CAPTURE(was, is);
    REQUIRE(place != std::string::npos);
    mutant.replace(place, std::string(was).size(), is);
    CHECK(shared.cycles_that_differ(mutant) > 0);
  }
}

TEST_CASE("In a million cycles the Verilog output hold grants what the model grants", "[slow]") {
  std::size_t grants = 0;
  constexpr std::uint64_t kVariants = 200;
  for (std::uint64_t seed = 1; seed <= kVariants; ++seed) {
    const HoldVariant variant = random_variant(seed);
    HoldTraffic traffic(variant.spec, variant.messages, seed);
    const auto rtl = make_rtl_output_hold(variant.spec);
    CAPTURE(seed, variant.spec.inputs, variant.spec.outputs, variant.spec.vcs, variant.messages);
    for (Cycle cycle = 0; cycle < 5000; ++cycle) {
      const HoldCycle& model = traffic.next();
      for (const HoldRequest& request : model.requests) rtl->request(request);
      const std::vector<HoldGrant>& granted = rtl->decide();
      if (!(granted == model.grants)) {
        FAIL(fmt::format("cycle {}: {} and {} grants", cycle, model.grants.size(), granted.size()));
      }
      grants += granted.size();
      for (const test::LeavingFlit& flit : model.leaving) {
        rtl->flit_leaves(flit.output, flit.tail, flit.frees_vc);
      }
      rtl->end_cycle(cycle);
    }
  }
  CHECK(grants > 500'000);
}
