// What yosys proves of hw/rtl/output_hold.v, by induction from its reset on, for all inputs.
#include <fmt/format.h>

#include <catch2/catch.hpp>
#include <string>
#include <utility>
#include <vector>

#include "rtl_bench.h"

using namespace espalier;

namespace {

// Of output_hold: an output grants one crossbar input at a time, and only if it is free; what is
// granted has requested the output, and its wire is free; no crossbar input goes to two outputs.
constexpr const char* kGrantProperties = R"(
  reg [P-1:0] was_held = 0;
  reg [P*O-1:0] was_port;
  reg [P*W-1:0] was_vc;
  integer x, y;
  always @(posedge clk) begin
    was_held <= reset ? 0 : holds & ~(leaves & (tail | {P{hold_flit}}));
    was_port <= port;
    was_vc <= vc;
  end
  always @* if (!reset) begin
    // A packet that holds an output leaves by it.
    for (x = 0; x < P; x = x + 1)
      if (was_held[x]) assume (wants[{was_port[x*O+:O], was_vc[x*W+:W]}*O+:O] == x);
    assert ((grant & was_held) == 0);
    for (x = 0; x < P; x = x + 1) begin
      assert ((granted[x*X+:X] & (granted[x*X+:X] - 1'b1)) == 0);
      if (grant[x]) begin
        assert (request[{port[x*O+:O], vc[x*W+:W]}]);
        assert (wants[{port[x*O+:O], vc[x*W+:W]}*O+:O] == x);
        assert (wire_free[x]);
      end
      for (y = 0; y < x; y = y + 1)
        if (holds[x] && holds[y] && SHARED != 0) assert (port[x*O+:O] != port[y*O+:O]);
        else if (holds[x] && holds[y])
          assert ({port[x*O+:O], vc[x*W+:W]} != {port[y*O+:O], vc[y*W+:W]});
    end
  end
endmodule
)";

// Of output_state: no two input VCs own the same VC of the next channel, an owned VC is not free,
// and a packet that holds an output owns the VC that it leaves on.
constexpr const char* kOwnerProperties = R"(
  reg [P*V*O-1:0] way = 0;
  integer x, y;
  always @(posedge clk) way <= wants;
  always @* if (!reset) begin
    // Flits leave by outputs that are held, a VC is freed at a tail, and a message leaves by one
    // output.
    assume ((leaves & ~holds) == 0 && (frees_vc & ~tail) == 0);
    for (x = 0; x < P * V; x = x + 1) assume (!owns[x] || wants[x*O+:O] == way[x*O+:O]);
    for (x = 0; x < P; x = x + 1)
      if (held[x]) begin
        assert (owns[{held_port[x*O+:O], held_vc[x*W+:W]}]);
        assert (way[{held_port[x*O+:O], held_vc[x*W+:W]}*O+:O] == x);
        assert (own_vc[{held_port[x*O+:O], held_vc[x*W+:W]}*W+:W] == held_out_vc[x*W+:W]);
      end
    for (x = 0; x < P * V; x = x + 1) begin
      if (owns[x]) assert (owned[way[x*O+:O]*V+own_vc[x*W+:W]]);
      for (y = 0; y < x; y = y + 1)
        assert (!(owns[x] && owns[y] && way[x*O+:O] == way[y*O+:O] &&
                  own_vc[x*W+:W] == own_vc[y*W+:W]));
    end
  end
endmodule
)";

// Of switch_allocator: a crossbar input that asks an output is granted after at most X - 1 others,
// and a VC that could go after at most V - 1 other VCs of its port.
constexpr const char* kTurnProperties = R"(
  reg [P*X*4-1:0] passed = 0;
  reg [P*V*4-1:0] passed_vc = 0;
  reg [P-1:0] port_wins;
  integer h, k;
  always @* begin
    port_wins = 0;
    for (h = 0; h < P; h = h + 1)
      for (k = 0; k < P * V; k = k + 1)
        if (picked[k] && granted[h*X+k/V*S+k%S]) port_wins[k/V] = 1;
  end
  always @(posedge clk) begin
    for (h = 0; h < P * X; h = h + 1)
      if (reset || !asks[h] || granted[h]) passed[h*4+:4] <= 0;
      else if (|granted[h/X*X+:X]) passed[h*4+:4] <= passed[h*4+:4] + 1;
    for (h = 0; h < P * V; h = h + 1)
      if (reset || SHARED == 0 || !can[h] || (picked[h] && port_wins[h/V])) passed_vc[h*4+:4] <= 0;
      else if (port_wins[h/V]) passed_vc[h*4+:4] <= passed_vc[h*4+:4] + 1;
  end
  always @* if (!reset) begin
    for (h = 0; h < P * X; h = h + 1) assert (passed[h*4+:4] < X);
    for (h = 0; h < P * V; h = h + 1) assert (passed_vc[h*4+:4] < V);
  end
endmodule
)";

struct HoldShape {
  const char* top;
  int ports;
  int vcs;
  bool shared;
};
constexpr HoldShape kSharedPorts{"output_hold", 2, 2, true};
constexpr HoldShape kOwnInputs{"output_hold", 2, 2, false};

// The sources of the hold, with properties at the end of one module.
std::string hold_with(const std::string& module, const char* properties) {
  std::string text;
  for (const char* name : {"output_hold", "output_state", "switch_allocator"}) {
    std::string source = test::rtl_sources({name});
    if (name == module) source = source.substr(0, source.rfind("endmodule")) + properties;
    text += source;
  }
  return text;
}

// True if yosys proves the properties, false if it refutes them; anything else fails the test.
bool holds_always(const std::string& sources, const HoldShape& shape) {
  const test::Workplace place;
  place.write("dut.v", sources);
  place.write(
      "run.ys",
      fmt::format("read_verilog -sv -formal {0}\n"
                  "chparam -set P {2} -set V {3} -set SHARED {4} {1}\n"
                  "prep -top {1} -flatten\nopt -full\n"
                  "sat -tempinduct -prove-asserts -set-assumes -set-at 1 reset 1 -seq 1 "
                  "-maxsteps 8 {1}\n",
                  place.file("dut.v"), shape.top, shape.ports, shape.vcs, shape.shared ? 1 : 0));
  place.run(
      fmt::format("yosys -Q -T -l {} {} > /dev/null", place.file("log"), place.file("run.ys")));
  const std::string log = place.read("log");
  const bool proven = log.find("Induction step proven: SUCCESS") != std::string::npos;
  INFO(log.substr(log.size() < 2000 ? 0 : log.size() - 2000));
  CHECK(proven == (log.find("model found for base case: FAIL") == std::string::npos));
  return proven;
}

void check_refuted(const std::string& sources, const HoldShape& shape,
                   const std::vector<std::pair<std::string, std::string>>& changes) {
  for (const auto& [was, is] : changes) {
    CAPTURE(was, is);
    std::string mutant = sources;
    const std::size_t place = mutant.find(was);
    REQUIRE(place != std::string::npos);
    CHECK_FALSE(holds_always(mutant.replace(place, was.size(), is), shape));
  }
}

}  // namespace

TEST_CASE("An output grants one requester, a crossbar input goes to one output: proven") {
  if (test::is_skipped({"yosys"}, false)) return;
  const std::string sources = hold_with("output_hold", kGrantProperties);
  CHECK(holds_always(sources, kSharedPorts));
  CHECK(holds_always(sources, kOwnInputs));
  CHECK(holds_always(sources, {"output_hold", 4, 2, true}));
  check_refuted(sources, kSharedPorts,
                {{"wire_free & ~held", "wire_free"},
                 {"wire_free & ~held", "~held"},
                 {"if (request[i])", "if (1'b1)"},
                 {"& ~(SHARED != 0 && busy[i/V])", ""},
                 {"first_input = left & -left", "first_input = left"}});
}

TEST_CASE("A VC of the next channel has at most one owner: proven") {
  if (test::is_skipped({"yosys"}, false)) return;
  const std::string sources = hold_with("output_state", kOwnerProperties);
  CHECK(holds_always(sources, kSharedPorts));
  CHECK(holds_always(sources, kOwnInputs));
  check_refuted(sources, kSharedPorts,
                {{" & ~owned[wants[i*O+:O]*V+:V]", ""},
                 {"leaves & frees_vc", "leaves"},
                 {"owns & ~owner_frees", "owns"}});
}

TEST_CASE("Whoever asks an output is granted after at most all others: proven") {
  if (test::is_skipped({"yosys"}, false)) return;
  const std::string sources = hold_with("switch_allocator", kTurnProperties);
  const HoldShape shape{"switch_allocator", 2, 2, true};
  CHECK(holds_always(sources, shape));
  CHECK(holds_always(sources, {"switch_allocator", 4, 1, true}));
  CHECK(holds_always(sources, {"switch_allocator", 2, 3, false}));
  check_refuted(
      sources, shape,
      {{"output_order[b*X+:X] <= -granted[b*X+:X] & ~granted[b*X+:X]",
        "output_order[b*X+:X] <= -granted[b*X+:X]"},
       {"if (wins[i])", ""},
       {"order[i*V+:V] <= -picked[i*V+:V] & ~picked[i*V+:V]", "order[i*V+:V] <= -picked[i*V+:V]"}});
}
