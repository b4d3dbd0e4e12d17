#include <fmt/format.h>

#include <catch2/catch.hpp>
#include <set>

#include "sims/observe/waves/wave_format.h"
#include "sims/observe/waves/wave_recorder.h"
#include "wave_folder.h"

using namespace espalier;
using namespace espalier::wave_test;

TEST_CASE("A VCD has scopes, first values, and then changes") {
  const WaveFolder folder;
  WaveRecorder waves(folder.file("tiny.vcd"), 1'000'000'000);
  const EnumText op{"op", {"NOP", "REDUCE", "GATHER"}};
  const SignalId flits = waves.add("net.r_0.vc0.flits", 9);
  const SignalId busy = waves.add("net.r_0.busy", 1);
  const SignalId present = waves.add("net.ni_0.op", 2, &op);
  waves.describe_scope("net.ni_0", "NetworkInterface");
  waves.begin(5);
  waves.change(5, busy, 0);
  waves.change(5, flits, 0);
  waves.change(7, flits, 318);
  waves.change(7, present, 2);
  waves.change(8, busy, 1);
  waves.change_to_unknown(9, busy);
  waves.change_to_unknown(9, flits);
  finish(waves, 20);
  CHECK(folder.read("tiny.vcd") == R"($version espalier $end
$timescale 1 ns $end
$scope module net $end
$scope module r_0 $end
$var wire 1 " busy $end
$scope module vc0 $end
$var wire 9 ! flits [8:0] $end
$upscope $end
$upscope $end
$scope module ni_0 $end
$var wire 2 # op [1:0] $end
$upscope $end
$upscope $end
$enddefinitions $end
#5
$dumpvars
b0 !
0"
bx #
$end
#7
b100111110 !
b10 #
#8
1"
#9
bx !
x"
#20
)");
}

TEST_CASE("A VCD of one moment is complete") {
  const WaveFolder folder;
  WaveRecorder waves(folder.file("moment.vcd"), 2'000'000'000);
  waves.add("a", 1);
  waves.begin(4);
  finish(waves, 4);
  CHECK(folder.read("moment.vcd") ==
        "$version espalier $end\n$timescale 1 ps $end\n$var wire 1 ! a $end\n"
        "$enddefinitions $end\n#2000\n$dumpvars\nx!\n$end\n");
}

TEST_CASE("Many signals have short codes, each its own") {
  const WaveFolder folder;
  constexpr std::size_t kSignals = 20000;
  WaveRecorder waves(folder.file("many.vcd"), 1'000'000'000);
  for (std::size_t s = 0; s < kSignals; ++s) waves.add(fmt::format("s_{}", s), 1);
  waves.begin();
  finish(waves, 0);
  std::set<std::string> codes;
  const std::string text = folder.read("many.vcd");
  const std::string before = "$var wire 1 ";
  for (std::size_t at = text.find(before); at != std::string::npos;
       at = text.find(before, at + 1)) {
    const std::size_t begin = at + before.size();
    const std::string code = text.substr(begin, text.find(' ', begin) - begin);
    CHECK(code.size() <= 3);
    codes.insert(code);
  }
  CHECK(codes.size() == kSignals);
}

TEST_CASE("Numbers are written with all their bits, and cut to those that count") {
  const std::uint64_t value = 0x8123456789abcdefULL;
  for (unsigned bits = 1; bits <= 64; ++bits) {
    std::string expected;
    for (unsigned b = bits; b-- > 0;) expected += ((value >> b) & 1U) != 0 ? '1' : '0';
    std::string text(bits, '?');
    write_binary(text.data(), value, bits);
    CHECK(text == expected);
  }
  CHECK(significant_bits(0) == 1);
  CHECK(significant_bits(1) == 1);
  CHECK(significant_bits(0x100) == 9);
  CHECK(significant_bits(~std::uint64_t{0}) == 64);
}
