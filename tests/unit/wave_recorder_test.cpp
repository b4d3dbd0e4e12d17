#include "sims/observe/waves/wave_recorder.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <stdexcept>

#include "wave_folder.h"
#include "wave_recorder.h"

using namespace espalier;
using namespace espalier::wave_test;
using Catch::Matchers::Contains;

namespace {

// What a format is told after the header.
Lines values(const Lines& lines) {
  const auto header = std::find(lines.begin(), lines.end(), "end of header");
  return {header + 1, lines.end()};
}

struct TwoSignals {
  Lines lines;
  std::unique_ptr<WaveRecorder> waves = record(lines);
  SignalId a = waves->add("net.a", 8);
  SignalId b = waves->add("net.b", 1);
};

}  // namespace

TEST_CASE("A waveform begins with all signals, unknown where nobody said what they are") {
  TwoSignals two;
  two.waves->begin(10);
  two.waves->change(10, two.a, 3);
  finish(*two.waves, 12);
  CHECK(values(two.lines) == Lines{"#10", "0=3", "1=x", "#12", "closed"});
}

TEST_CASE("A value equal to the one before is not written, nor is a cycle without changes") {
  TwoSignals two;
  two.waves->begin();
  two.waves->change(0, two.a, 3);
  two.waves->change(5, two.a, 3);
  two.waves->change(6, two.b, 1);
  two.waves->change(7, two.b, 1);
  finish(*two.waves, 7);
  CHECK(values(two.lines) == Lines{"#0", "0=3", "1=x", "#6", "1=1", "#7", "closed"});
}

TEST_CASE("Of several values in a cycle the last one counts") {
  TwoSignals two;
  two.waves->begin();
  two.waves->change(0, two.a, 1);
  two.waves->change(0, two.a, 2);
  two.waves->change(4, two.a, 7);
  two.waves->change(4, two.b, 1);
  two.waves->change(4, two.a, 8);
  SECTION("written once, where another follows") {
    finish(*two.waves, 9);
    CHECK(values(two.lines) == Lines{"#0", "0=2", "1=x", "#4", "0=8", "1=1", "#9", "closed"});
  }
  SECTION("not at all, where it is back at the cycle's begin") {
    two.waves->change(4, two.a, 2);
    two.waves->change_to_unknown(4, two.b);
    finish(*two.waves, 4);
    CHECK(values(two.lines) == Lines{"#0", "0=2", "1=x", "#4", "closed"});
  }
}

TEST_CASE("A signal becomes unknown and known again, with the value of before too") {
  TwoSignals two;
  two.waves->begin();
  two.waves->change(0, two.a, 0);
  two.waves->change(1, two.b, 0);
  two.waves->change_to_unknown(2, two.a);
  two.waves->change_to_unknown(3, two.a);
  two.waves->change(4, two.a, 0);
  finish(*two.waves, 4);
  CHECK(values(two.lines) ==
        Lines{"#0", "0=0", "1=x", "#1", "1=0", "#2", "0=x", "#4", "0=0", "closed"});
}

TEST_CASE("Only a window of cycles is written, beginning with what the signals were by then") {
  TwoSignals two;
  two.waves->change(50, two.b, 1);
  two.waves->change(3, two.a, 1);
  two.waves->flush(60);
  two.waves->begin(100);
  two.waves->change(99, two.a, 2);
  two.waves->change(100, two.b, 0);
  two.waves->change(200, two.a, 5);
  two.waves->change(201, two.a, 6);
  two.waves->change(500, two.b, 1);
  two.waves->flush(201);
  two.waves->finish(201);
  CHECK(values(two.lines) == Lines{"#100", "0=2", "1=0", "#200", "0=5", "#201", "closed"});
}

TEST_CASE("A run that ends before the window leaves the values of its end") {
  TwoSignals two;
  two.waves->begin(100);
  two.waves->change(3, two.a, 1);
  finish(*two.waves, 60);
  CHECK(values(two.lines) == Lines{"#100", "0=1", "1=x", "closed"});
}

TEST_CASE("A waveform does not end before its last change") {
  TwoSignals two;
  two.waves->begin();
  two.waves->change(30, two.a, 1);
  two.waves->flush(31);
  two.waves->finish(20);
  CHECK(values(two.lines) == Lines{"#0", "0=x", "1=x", "#30", "0=1", "closed"});
}

TEST_CASE("Changes are found in any order, and written in order of time") {
  TwoSignals two;
  two.waves->begin();
  two.waves->change(30, two.a, 1);
  two.waves->change(20, two.b, 1);
  two.waves->flush(25);
  two.waves->change(25, two.b, 0);
  finish(*two.waves, 40);
  CHECK(values(two.lines) ==
        Lines{"#0", "0=x", "1=x", "#20", "1=1", "#25", "1=0", "#30", "0=1", "#40", "closed"});
}

TEST_CASE("Only the signals and scopes that a user asks for are recorded") {
  Lines lines;
  WaveRecorder waves(std::make_unique<Recorder>(lines), WaveClock(1'000'000'000),
                     {"net.r_?", "*.b"});
  CHECK(waves.add("net.r_1.a", 1).valid());
  CHECK(!waves.add("net.r_10.a", 1).valid());
  CHECK(waves.add("net.r_10.b", 1).valid());
  CHECK(waves.num_signals() == 2);
  CHECK(
      !WaveRecorder(std::make_unique<Recorder>(lines), WaveClock(1), {"net.r_?"}).may_want("bus"));
  waves.change(0, waves.add("net.ni.a", 1), 5);  // is ignored, although it does not fit
}

TEST_CASE("The time axis counts cycles at 1 GHz and picoseconds at every other clock") {
  CHECK(WaveClock(1'000'000'000).timescale() == -9);
  CHECK(WaveClock(1'000'000'000).time(12345) == 12345);
  const WaveClock fast(3'000'000'000);
  CHECK(fast.timescale() == -12);
  CHECK(fast.time(1) == 333);
  CHECK(fast.time(2) == 666);
  CHECK(fast.time(3) == 1000);
  CHECK(fast.time(3'000'000'000'000) == 1'000'000'000'000'000);
  const WaveClock fastest(1'000'000'000'000);
  CHECK(fastest.time(77) == 77);
  CHECK_THROWS_WITH(WaveClock(1'000'000'000'001), Contains("1 THz"));
  CHECK_THROWS_AS(WaveClock(0), std::invalid_argument);

  Lines lines;
  const auto waves = record(lines, 500'000'000);
  const SignalId a = waves->add("a", 1);
  waves->begin(1);
  waves->change(2, a, 1);
  finish(*waves, 3);
  CHECK(lines.front() == "timescale -12, 1 signals");
  CHECK(values(lines) == Lines{"#2000", "0=x", "#4000", "0=1", "#6000", "closed"});
}

TEST_CASE("Signals in any order form one tree in the order of their first appearance") {
  Lines lines;
  const auto waves = record(lines);
  waves->describe_scope("net.r_10", "Router");
  waves->describe_scope("net.nobody", "Router");
  waves->add("net.r_10.in_e.vc0.flits", 9);
  waves->add("net.r_2.busy", 1);
  waves->add("net.cycle", 64);
  waves->add("net.r_10.busy", 1);
  waves->add("net.r_10.in_e.vc1.flits", 9);
  waves->add("done", 1);
  waves->describe_scope("net.r_2", "Switch");
  waves->begin();
  CHECK(lines == Lines{"timescale -9, 6 signals",
                       "signal 5 done 1",
                       "scope net ",
                       "signal 2 cycle 64",
                       "scope r_10 Router",
                       "signal 3 busy 1",
                       "scope in_e ",
                       "scope vc0 ",
                       "signal 0 flits 9",
                       "end of scope",
                       "scope vc1 ",
                       "signal 4 flits 9",
                       "end of scope",
                       "end of scope",
                       "end of scope",
                       "scope r_2 Switch",
                       "signal 1 busy 1",
                       "end of scope",
                       "end of scope",
                       "end of header"});
}

TEST_CASE("Names that a viewer could not show are refused") {
  Lines lines;
  const auto waves = record(lines);
  waves->add("net.a", 1);
  for (const char* name :
       {"", ".", "net.", ".net", "net..b", "net.a b", "net.b[1]", "net.\xc3\xa4"}) {
    CAPTURE(name);
    CHECK_THROWS_AS(waves->add(name, 1), std::invalid_argument);
  }
  CHECK_THROWS_WITH(waves->add("net.a", 2), "signal net.a: is defined twice");
  CHECK_THROWS_WITH(waves->add("net", 2), "signal net: is the name of a scope");
  CHECK_THROWS_WITH(waves->add("net.a.b", 2), "signal net.a: is the name of a scope");
  CHECK_THROWS_WITH(waves->add("net.b", 0), Contains("1 to 64 bits"));
  CHECK_THROWS_WITH(waves->add("net.b", 65), Contains("1 to 64 bits"));
  waves->begin();
  // Nothing is left of what was refused.
  CHECK(lines == Lines{"timescale -9, 1 signals", "scope net ", "signal 0 a 1", "end of scope",
                       "end of header"});
}

TEST_CASE("Texts for values have to fit the signal, and one name has one list") {
  Lines lines;
  const auto waves = record(lines);
  const EnumText three{"op", {"NOP", "REDUCE", "GATHER"}};
  const EnumText other{"op", {"NOP", "GATHER"}};
  waves->add("a", 2, &three);
  waves->add("b", 64, &three);
  CHECK_THROWS_WITH(waves->add("c", 1, &three), "signal c: has 1 bits for 3 texts");
  CHECK_THROWS_WITH(waves->add("d", 2, &other), Contains("two different lists"));
  const EnumText empty{"holes", {"one", ""}};
  const EnumText lines_in_it{"lines", {"one\ntwo"}};
  const EnumText bad_name{"../op", {"one"}};
  CHECK_THROWS_AS(waves->add("e", 2, &empty), std::invalid_argument);
  CHECK_THROWS_AS(waves->add("e", 2, &lines_in_it), std::invalid_argument);
  CHECK_THROWS_AS(waves->add("e", 2, &bad_name), std::invalid_argument);
}

TEST_CASE("Values that do not fit into their bits are an error, not another value") {
  TwoSignals two;
  const SignalId wide = two.waves->add("net.wide", 64);
  two.waves->begin();
  two.waves->change(0, two.a, 255);
  two.waves->change(0, wide, ~std::uint64_t{0});
  CHECK_THROWS_WITH(two.waves->change(0, two.a, 256), "signal net.a: 256 does not fit into 8 bits");
  CHECK_THROWS_AS(two.waves->change(0, two.b, 2), std::out_of_range);
}
