#include "sims/synthesis/synthesizer.h"

#include <fmt/format.h>

#include <array>
#include <boost/filesystem.hpp>
#include <fstream>
#include <iterator>
#include <regex>
#include <stdexcept>
#include <string_view>
#include <vector>

#include "hw/cost/technology.h"
#include "sims/process/child_process.h"
#include "sims/synthesis/rtl_source.h"

namespace espalier {

namespace {

namespace fs = boost::filesystem;

// Delay of an inverter that drives four, measured on a synthesized chain of inverters; cells
// without wires.
constexpr double kFo4Ps = 99;

// The names of the parameters that RtlInstance::first, second and third set.
std::array<const char*, 3> parameters_of(RtlModule module) {
  switch (module) {
    case RtlModule::ni_control:
      return {"S", "L", "I"};
    case RtlModule::dependency_table:
      return {"N", "K", nullptr};
    case RtlModule::dimension_queue:
      return {"N", "K", "I"};
    case RtlModule::readiness_table:
      return {"UNITS", "CHILDREN", nullptr};
    case RtlModule::row_repeat:
      return {"A", "N", nullptr};
    case RtlModule::slot_counter:
      return {"N", nullptr, nullptr};
    case RtlModule::fifo_control:
      break;
  }
  return {"A", nullptr, nullptr};
}

template <class Visit>
void for_each_parameter(const RtlInstance& instance, Visit visit) {
  const std::uint32_t values[] = {instance.first, instance.second, instance.third};
  const auto names = parameters_of(instance.module);
  for (std::size_t p = 0; p < names.size() && names[p] != nullptr; ++p) visit(names[p], values[p]);
}

// A drive-1 cell of the library of areas.
struct AreaCell {
  const char* name;
  double um2;
  std::string_view inputs;  // a letter each
  const char* function;
};

// Areas of inverter, NAND2, XOR2, MUX2 and flip-flop are those of the technology table.
std::string cell_text(const AreaCell& cell) {
  std::string text = fmt::format("  cell ({}) {{\n    area : {};\n", cell.name, cell.um2);
  for (const char input : cell.inputs) {
    text += fmt::format("    pin ({}) {{ direction : input; }}\n", input);
  }
  text += fmt::format("    pin (Z) {{ direction : output; function : \"{}\"; }}\n  }}\n",
                      cell.function);
  return text;
}

// A Liberty file of twelve combinational cells and a flip-flop with the areas that Nangate45's LEF
// states (FreePDK45). Nothing else of that library: no timing, no power.
std::string area_library() {
  const LibraryCells& table = cells_of(CellLibrary::nangate45);
  const AreaCell cells[] = {{"INV", table.inverter, "A", "!A"},
                            {"BUF", 0.798, "A", "A"},
                            {"NAND2", table.nand2, "AB", "!(A B)"},
                            {"NAND3", 1.064, "ABC", "!(A B C)"},
                            {"NOR2", 0.798, "AB", "!(A+B)"},
                            {"AND2", 1.064, "AB", "A B"},
                            {"OR2", 1.064, "AB", "A+B"},
                            {"AOI21", 1.064, "ABC", "!((A B)+C)"},
                            {"OAI21", 1.064, "ABC", "!((A+B) C)"},
                            {"XOR2", table.xor2, "AB", "A^B"},
                            {"XNOR2", table.xor2, "AB", "!(A^B)"},
                            {"MUX2", table.mux2, "ABS", "(A !S)+(B S)"}};
  std::string text = "library (areas) {\n  delay_model : table_lookup;\n";
  for (const AreaCell& cell : cells) text += cell_text(cell);
  text += fmt::format(
      "  cell (DFF) {{\n    area : {};\n"
      "    ff (IQ, IQN) {{ clocked_on : \"CK\"; next_state : \"D\"; }}\n"
      "    pin (CK) {{ direction : input; clock : true; }}\n"
      "    pin (D) {{ direction : input; }}\n"
      "    pin (Q) {{ direction : output; function : \"IQ\"; }}\n  }}\n}}\n",
      table.flip_flop);
  return text;
}

// A temporary folder; the destructor removes it with its files.
class Workplace {
 public:
  Workplace() : path_(fs::temp_directory_path() / fs::unique_path("espalier-%%%%%%%%")) {
    fs::create_directories(path_);
  }
  ~Workplace() {
    boost::system::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  Workplace(const Workplace&) = delete;
  Workplace& operator=(const Workplace&) = delete;

  [[nodiscard]] const fs::path& path() const { return path_; }
  void write(const char* name, const std::string& text) const { std::ofstream(file(name)) << text; }
  [[nodiscard]] std::string read(const char* name) const {
    std::ifstream in(file(name));
    return {std::istreambuf_iterator<char>(in), {}};
  }

 private:
  [[nodiscard]] std::string file(const char* name) const { return (path_ / name).string(); }
  fs::path path_;
};

double number_in(const std::string& log, const char* pattern, const std::string& what) {
  std::smatch found;
  if (!std::regex_search(log, found, std::regex(pattern))) {
    throw std::runtime_error(fmt::format("yosys says nothing of {}", what));
  }
  return std::stod(found[1]);
}

}  // namespace

std::string describe(const RtlInstance& instance) {
  std::string text = rtl_source(instance.module).name;
  for_each_parameter(instance, [&](const char* name, std::uint32_t value) {
    text += fmt::format(" {}={}", name, value);
  });
  return text;
}

Synthesizer::Synthesizer()
    : yosys_(find_program("yosys")), library_("/usr/share/qflow/tech/osu018/osu018_stdcells.lib") {
  if (!yosys_.empty() && fs::exists(library_)) return;
  throw std::runtime_error(
      "synthesis needs yosys and the cells of the OSU 0.18 um library: apt install yosys "
      "qflow-tech-osu018");
}

SynthesizedLogic Synthesizer::measure(const RtlInstance& instance) const {
  const Workplace place;
  const RtlSource source = rtl_source(instance.module);
  std::string parameters;
  for_each_parameter(instance, [&](const char* name, std::uint32_t value) {
    parameters += fmt::format(" -set {} {}", name, value);
  });
  place.write("module.v", source.text);
  place.write("areas.lib", area_library());
  // The area is taken from a mapping for area to the cells of the formulas, and the delay from a
  // mapping for delay. `stime -p` at the end prints the delay of the critical path.
  place.write("map.abc",
              "strash\ndch -f\nmap -B 0.9 -D 10000\ntopo\nbuffer -c -N 16\nupsize\ndnsize\n"
              "stime -p\n");
  place.write("run.ys", fmt::format("read_verilog module.v\n"
                                    "chparam{1} {0}\n"
                                    "hierarchy -top {0}\n"
                                    "synth -top {0} -flatten\n"
                                    "design -save logic\n"
                                    "dfflibmap -liberty areas.lib\n"
                                    "abc -liberty areas.lib\n"
                                    "opt_clean\n"
                                    "tee -o area.txt stat -liberty areas.lib\n"
                                    "design -load logic\n"
                                    "dfflibmap -liberty {2}\n"
                                    "abc -liberty {2} -script map.abc\n",
                                    source.name, parameters, library_));
  const std::vector<std::string> arguments{"-Q", "-T", "-l", "log.txt", "run.ys"};
  const ChildOutcome yosys = run_child(yosys_, arguments, place.path().string());
  const std::string name = describe(instance);
  if (!yosys.problem.empty() || yosys.exit_code != 0)
    throw std::runtime_error(fmt::format("yosys failed on {}", name));
  const std::string area = place.read("area.txt");
  // Unmapped cells have no area.
  if (area.find("$_") != std::string::npos) {
    throw std::runtime_error(fmt::format("yosys left cells of {} that have no area", name));
  }
  SynthesizedLogic logic;
  logic.instance = instance;
  logic.gates = number_in(area, "Chip area for .*: ([0-9.]+)", "the area of " + name) /
                cells_of(CellLibrary::nangate45).nand2;
  logic.fo4 =
      number_in(place.read("log.txt"), "Delay = *([0-9.]+) ps", "the delay of " + name) / kFo4Ps;
  return logic;
}

}  // namespace espalier
