#include "sims/observe/waves/gtkw_file.h"

#include <catch2/catch.hpp>
#include <filesystem>
#include <stdexcept>

#include "wave_folder.h"

using namespace espalier;
using namespace espalier::wave_test;
using Catch::Matchers::Contains;

namespace {

const EnumText kOperation{"op", {"NOP", "REDUCE", "GATHER"}};

GtkwView view_of(const std::string& waves) {
  GtkwView view;
  view.waves = waves;
  view.first = 100;
  view.end = 3900;
  view.groups = {{"NI 0 lockstep",
                  true,
                  {{"net.ni_0.timestep", 8, GtkwDisplay::decimal, nullptr},
                   {"net.ni_0.lockstep", 16, GtkwDisplay::analog_step, nullptr},
                   {"net.ni_0.op", 2, GtkwDisplay::enum_text, &kOperation},
                   {"net.ni_0.stalled", 1, GtkwDisplay::decimal, nullptr}}},
                 {"Links",
                  false,
                  {{"net.l_0.flit", 64, GtkwDisplay::hex, nullptr},
                   {"wires.l_0.vc", 4, GtkwDisplay::binary, nullptr}}}};
  return view;
}

}  // namespace

TEST_CASE("A save file names groups and signals with the flags that GTKWave wants") {
  const WaveFolder folder;
  const std::string path = write_gtkw_file(view_of(folder.file("run.fst")));
  CHECK(path == folder.file("run.fst.gtkw"));
  // 3800 cycles in 760 pixels: of the frames of 200 pixels, each has 1000.
  CHECK(folder.read("run.fst.gtkw") == R"([dumpfile] "/waves/run.fst"
[savefile] "/waves/run.fst.gtkw"
[timestart] 100
[size] 1400 800
*-9.965784 -1
[treeopen] net.
[treeopen] wires.
[sst_width] 220
[signals_width] 320
[sst_expanded] 1
@800200
-NI 0 lockstep
@24
net.ni_0.timestep[7:0]
@88024
net.ni_0.lockstep[15:0]
@20000
-
-
@100000028
net.ni_0.op[1:0]
@28
net.ni_0.stalled
@1000200
-group_end
@c00200
-Links
@22
net.l_0.flit[63:0]
@28
wires.l_0.vc[3:0]
@1401200
-group_end
)");
  CHECK(!std::filesystem::exists(folder.file("run.fst.flt")));
}

TEST_CASE("The marker of a save file is in the unit of the waves") {
  const WaveFolder folder;
  GtkwView view = view_of(folder.file("run.fst"));
  view.marker = 700;
  view.clock_hertz = 500'000'000;  // picoseconds
  write_gtkw_file(view);
  CHECK_THAT(folder.read("run.fst.gtkw"), Contains(" 1400000\n[treeopen]"));
}

TEST_CASE("Texts beside a VCD are files of their own, one for each width") {
  const WaveFolder folder;
  GtkwView view = view_of(folder.file("run.vcd"));
  view.groups.front().signals.push_back({"net.ni_1.op", 4, GtkwDisplay::enum_text, &kOperation});
  write_gtkw_file(view);
  const std::string save = folder.read("run.vcd.gtkw");
  CHECK_THAT(save, Contains("@2028\n^1 /waves/run.vcd.flt/op_2.txt\nnet.ni_0.op[1:0]\n"));
  CHECK_THAT(save, Contains("@2028\n^1 /waves/run.vcd.flt/op_4.txt\nnet.ni_1.op[3:0]\n"));
  CHECK(folder.read("run.vcd.flt/op_2.txt") == "00 NOP\n01 REDUCE\n10 GATHER\n");
  CHECK(folder.read("run.vcd.flt/op_4.txt") == "0000 NOP\n0001 REDUCE\n0010 GATHER\n");
}

TEST_CASE("The window of a save file is in the unit of the waves") {
  const WaveFolder folder;
  GtkwView view = view_of(folder.file("slow.fst"));
  view.clock_hertz = 500'000'000;
  write_gtkw_file(view);
  CHECK_THAT(folder.read("slow.fst.gtkw"), Contains("[timestart] 200000\n"));
}

TEST_CASE("A save file that cannot be written, or shows texts that are not there, is an error") {
  const WaveFolder folder;
  CHECK_THROWS_WITH(
      write_gtkw_file(view_of(folder.file("none/run.fst"))),
      folder.file("none/run.fst.gtkw") + ": cannot be written: No such file or directory");
  GtkwView view = view_of(folder.file("run.vcd"));
  view.groups.front().signals[2].texts = nullptr;
  CHECK_THROWS_AS(write_gtkw_file(view), std::invalid_argument);
}
