// yosys proves of hw/rtl/dimension_queue.v, at small sizes and from every state, what the adapter
// and the cost model take for granted. Debian: yosys. Skipped where it is not installed.
#include <fmt/format.h>

#include <catch2/catch.hpp>
#include <cstdint>
#include <fstream>
#include <iterator>
#include <string>
#include <utility>

#include "rtl_bench.h"

using namespace espalier;

namespace {

// Stands at the end of the module. `sane`: the state can be reached. `fair`: the inputs are what
// the module's ports ask for.
constexpr const char* kQueueProperties = R"(
  integer x, y, z, arrivals;
  wire sane = count <= N & (~busy | (limit != 0 & limit <= count));
  wire [C-1:0] considered = busy ? limit : count_now;
  reg fair;
  reg is_waiting, is_smallest, is_tie_won;  // the place of is_next
  reg [N*(K+I)-1:0] now;
  always @* begin
    arrivals = 0;
    for (x = 0; x < P; x = x + 1) arrivals = arrivals + push[x];
    fair = count + arrivals <= N & (~fixed | ~busy | found);
    is_waiting = 1; is_smallest = 1; is_tie_won = 1;
    for (x = 0; x < N; x = x + 1) begin
      now[x*(K+I) +: K+I] = {key_now[x], number_now[x]};
      for (y = 0; y < x; y = y + 1) begin
        if (x < count_now && number_now[x] == number_now[y]) fair = 0;
      end
      if (is_next[x]) begin
        is_waiting = x < considered;
        for (y = 0; y < N; y = y + 1) begin
          if (y < considered && FIFO == 0 && key_now[y] < key_now[x]) is_smallest = 0;
          if (y < considered && key_now[y] == key_now[x] &&
              (NEWEST != 0 ? y > x : y < x)) is_tie_won = 0;
        end
        if (FIFO != 0) is_tie_won = x == 0;
      end
    end
  end
  always @* if (sane & fair) begin
    if (~fixed & ~busy) assert(found == (count + arrivals != 0));
    if (~fixed & found) begin
      assert(is_next != 0 && (is_next & (is_next - 1)) == 0);
      assert(is_waiting); assert(is_smallest); assert(is_tie_won);
    end
    if (fixed & found) assert(chunk == fixed_chunk);
    assert(begins == (found & open & ~busy));
    assert(starts == (busy ? left == 1 : begins & more == 0));
  end

  reg counts_was = 0, starts_was, begins_was, busy_was;
  reg [N*(K+I)-1:0] now_was;
  reg [N-1:0] chosen_was;
  reg [C-1:0] count_was, limit_was;
  reg [A-1:0] left_was, more_was;
  always @(posedge clk) begin
    counts_was <= sane & fair; starts_was <= starts; begins_was <= begins; busy_was <= busy;
    now_was <= now; chosen_was <= chosen; count_was <= count_now;
    limit_was <= limit; left_was <= left; more_was <= more;
  end
  reg in_order, passed;
  always @* begin
    in_order = 1; passed = 0;
    for (z = 0; z < N; z = z + 1) begin
      passed = passed | (starts_was & chosen_was[z]);
      if (z < count && {key[z], number[z]} !=
          (passed ? now_was >> (z + 1) * (K + I) : now_was >> z * (K + I)) % (1 << K + I))
        in_order = 0;
    end
  end
  always @* if (counts_was) begin
    assert(sane);
    assert(in_order);
    assert(count == count_was - starts_was);
    if (begins_was & more_was != 0) assert(busy & left == more_was & limit == count_was);
    if (busy_was & left_was > 1) assert(left == left_was - 1 & limit == limit_was & ~starts_was);
    if (busy_was & left_was == 1) assert(~busy & starts_was);
  end
)";

std::string verilog() {
  std::ifstream file(test::kRtl + "dimension_queue.v");
  return {std::istreambuf_iterator<char>(file), {}};
}

std::string parameters(std::uint32_t places, std::uint32_t key_bits, std::uint32_t pushes,
                       bool fifo, bool newest) {
  return fmt::format(
      "-chparam N {} -chparam K {} -chparam I 3 -chparam A 2 -chparam P {} -chparam FIFO {} "
      "-chparam NEWEST {}",
      places, key_bits, pushes, fifo ? 1 : 0, newest ? 1 : 0);
}

bool is_proved(std::string source, const std::string& parameters) {
  const test::Workplace place;
  source.insert(source.rfind("endmodule"), kQueueProperties);
  place.write("proved.v", source);
  place.write("run.ys", fmt::format("read_verilog -defer -sv -formal {}\n"
                                    "hierarchy -top dimension_queue {}\n"
                                    "proc\nopt_clean\n"
                                    "sat -seq 2 -prove-skip 1 -prove-asserts -set reset 0\n",
                                    place.file("proved.v"), parameters));
  place.run(fmt::format("yosys -Q -T -l {} {} > /dev/null 2>&1", place.file("log"),
                        place.file("run.ys")));
  const std::string log = place.read("log");
  const bool proved = log.find("proof finished - no model found: SUCCESS") != std::string::npos;
  INFO(log.substr(log.size() < 2000 ? 0 : log.size() - 2000));
  REQUIRE(proved != (log.find("proof finished - model found: FAIL") != std::string::npos));
  return proved;
}

}  // namespace

TEST_CASE("The solver proves the choice, the order of arrival and the count of the queue's RTL") {
  if (test::is_skipped({"yosys"}, false)) return;
  for (const std::string& size :
       {parameters(4, 4, 1, false, true), parameters(4, 4, 1, false, false),
        parameters(3, 3, 2, false, true), parameters(4, 2, 2, true, true)}) {
    CAPTURE(size);
    CHECK(is_proved(verilog(), size));
  }
}

TEST_CASE("The solver refutes a queue that considers late arrivals, or breaks ties otherwise") {
  if (test::is_skipped({"yosys"}, false)) return;
  const std::pair<const char*, const char*> changes[] = {
      {"best[2*t+1] <= best[2*t]", "best[2*t+1] < best[2*t]"},
      {"candidates = busy ? limit : count_now", "candidates = count_now"},
      {"moves = moves | (moves << s)", "moves = moves"},
      {"if (begins) limit <= count_now", "if (begins) limit <= count"},
  };
  for (const auto& [was, is] : changes) {
    std::string mutant = verilog();
    const std::size_t at = mutant.find(was);
    CAPTURE(was);
    REQUIRE(at != std::string::npos);
    mutant.replace(at, std::string(was).size(), is);
    CHECK_FALSE(is_proved(mutant, parameters(4, 3, 1, false, true)));
  }
}
