#include "sims/synthesis/synthesizer.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <regex>
#include <stdexcept>
#include <vector>

#include "hw/cost/technology.h"
#include "sims/process/child_process.h"
#include "sims/process/work_folder.h"

namespace espalier {

namespace {

namespace fs = std::filesystem;

// Delay of an inverter that drives four, measured on a synthesized chain of inverters; cells
// without wires.
constexpr double kFo4Ps = 99;

// The names of the parameters that the members of RtlInstance set, in their order.
struct ModuleParameters {
  RtlModule module;
  std::array<const char*, 5> names;
};
constexpr ModuleParameters kParameters[] = {
    {RtlModule::ni_control, {"S", "L", "I"}},
    {RtlModule::dependency_state, {"N", "I", "T"}},
    {RtlModule::fifo_control, {"D"}},
    {RtlModule::dimension_queue, {"N", "K", "I"}},
    {RtlModule::readiness_table, {"UNITS", "CHILDREN"}},
    {RtlModule::row_repeat, {"A", "N"}},
    {RtlModule::slot_counter, {"N"}},
    {RtlModule::fp_adder, {"E", "M"}},
    {RtlModule::dma_engine, {"A", "P", "O"}},
    {RtlModule::packetizer, {"W", "V", "C", "F", "N"}},
    {RtlModule::message_table, {"N", "K", "C"}},
    {RtlModule::program_context, {"S", "T", "R", "I", "A"}},
    {RtlModule::program_scoreboard, {"N", "B"}},
    {RtlModule::slot_credits, {"B"}},
    {RtlModule::output_state, {"P", "V", "SHARED"}},
    {RtlModule::credit_counter, {"D"}},
    {RtlModule::switch_allocator, {"P", "V", "SHARED"}},
};

template <class Visit>
void for_each_parameter(const RtlInstance& instance, Visit visit) {
  const std::uint32_t values[] = {instance.first, instance.second, instance.third, instance.fourth,
                                  instance.fifth};
  const auto row = std::find_if(std::begin(kParameters), std::end(kParameters),
                                [&](const auto& any) { return any.module == instance.module; });
  if (row == std::end(kParameters)) throw std::logic_error("a module without names of parameters");
  const auto& names = row->names;
  for (std::size_t p = 0; p < names.size() && names[p] != nullptr; ++p) visit(names[p], values[p]);
}

class Workplace : public WorkFolder {
 public:
  void write(const char* name, const std::string& text) const { std::ofstream(file(name)) << text; }
  [[nodiscard]] std::string read(const char* name) const {
    std::ifstream in(file(name));
    return {std::istreambuf_iterator<char>(in), {}};
  }
  // The Liberty file under a name that scripts can have: quotes and blanks in its path would end a
  // word of yosys, abc or OpenSTA.
  void link_library(const std::string& path) const { fs::create_symlink(path, file("cells.lib")); }
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

namespace {

// The part of this long period that the slack does not leave is the delay.
constexpr const char* kTimingPeriodPs = "1000000";

// Delay in ps of the netlist in `place`.
double timed(const std::string& sta_program, const Workplace& place, const char* top,
             const std::string& name, const std::string& library) {
  place.write("timing.tcl", fmt::format("set top {}\nset period {}\n", top, kTimingPeriodPs) +
                                synthesis_script("timing.tcl"));
  const ChildOutcome sta =
      run_child(sta_program, {"-no_splash", "-exit", "timing.tcl"}, place.path().string());
  const std::string report = place.read("timing.txt");
  std::smatch slack;
  if (!sta.problem.empty() || sta.exit_code != 0 ||
      !std::regex_search(report, slack, std::regex("(-?[0-9.]+) +slack"))) {
    throw std::runtime_error(
        fmt::format("OpenSTA (sta) finds no path in {} with {}", name, library));
  }
  return std::stod(kTimingPeriodPs) - std::stod(slack[1]);
}

// The cells of a mapped module and their leakage; empty if the library lacks that of one of them.
std::optional<double> leakage_uw(const std::string& statistics,
                                 const std::map<std::string, double>& leakage_nw) {
  if (leakage_nw.empty()) return std::nullopt;
  double sum = 0;
  const std::regex row("\n +([^ :\n]+) +([0-9]+)(?=\n)");
  for (std::sregex_iterator it(statistics.begin(), statistics.end(), row), end; it != end; ++it) {
    const auto cell = leakage_nw.find((*it)[1]);
    if (cell == leakage_nw.end()) return std::nullopt;
    sum += std::stod((*it)[2]) * cell->second;
  }
  return sum / 1000;
}

[[noreturn]] void refuse(const std::string& path, const std::string& text, std::size_t at,
                         const std::string& what) {
  const auto end = text.begin() + static_cast<std::ptrdiff_t>(at);
  const std::size_t line = at == 0 ? std::string::npos : text.rfind('\n', at - 1);
  throw std::runtime_error(fmt::format("{}:{}:{}: error: {}", path,
                                       1 + std::count(text.begin(), end, '\n'), at - line, what));
}

// std::regex takes a stack frame for each character that a pattern matches.
constexpr std::size_t kLongestWord = 1000;

// The file without comments, with one blank for several, and with the beginnings of long texts.
// Refuses a file that is cut off: yosys reads one.
std::string liberty_text(const std::string& path) {
  std::ifstream in(path);
  if (!in || !fs::is_regular_file(path)) {
    throw std::runtime_error(fmt::format("{}: error: cannot read the Liberty file", path));
  }
  std::string text{std::istreambuf_iterator<char>(in), {}};
  const auto skip_to = [&](std::size_t from, const char* mark, const char* what) {
    const std::size_t end = text.find(mark, from + 1);
    if (end == std::string::npos) refuse(path, text, from, what);
    return end;
  };
  std::string short_text;
  std::size_t depth = 0;
  std::size_t word = 0;
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (text[at] == '"') {
      const std::size_t end = skip_to(at, "\"", "a text that does not end");
      short_text += text.substr(at, std::min(end - at, kLongestWord)) + '"';
      at = end;
    } else if (text.compare(at, 2, "//") == 0) {
      at = std::min(text.find('\n', at), text.size()) - 1;
    } else if (text.compare(at, 2, "/*") == 0) {
      at = skip_to(at + 1, "*/", "a comment that does not end") + 1;
    } else if (std::strchr(" \t\r\n", text[at]) == nullptr) {
      if (text[at] == '{') ++depth;
      if (text[at] == '}' && depth-- == 0) refuse(path, text, at, "found '}' outside of a group");
      word = std::strchr("{}();:,", text[at]) == nullptr ? word + 1 : 1;
      if (word > kLongestWord) refuse(path, text, at, "a word of more than 1000 characters");
      short_text += text[at];
      continue;
    } else if (word != 0) {
      short_text += text[at];
    }
    word = 0;
  }
  if (depth != 0) refuse(path, text, text.size(), "the file ends within a group; expected '}'");
  return short_text;
}

std::string value_in(const std::string& text, const char* pattern) {
  std::smatch found;
  return std::regex_search(text, found, std::regex(pattern)) ? found[1].str() : std::string();
}

// In nW: "1nW", "1pW", "10uW".
double leakage_unit(const std::string& library) {
  const std::string unit = value_in(library, "leakage_power_unit\\s*:\\s*\"?([0-9.]*[a-zA-Z]*)");
  char* rest = nullptr;
  const double count = std::strtod(unit.c_str(), &rest);
  const double size = *rest == 'p' ? 1e-3 : *rest == 'u' ? 1e3 : *rest == 'm' ? 1e6 : 1;
  return (count == 0 ? 1 : count) * size;
}

// Of its own, or the mean over the cell's states; empty: the file states none.
std::optional<double> leakage_of_cell(const std::string& cell) {
  static const std::string number = "\\s*:\\s*\"?([-+]?[0-9]+\\.?[0-9]*(?:[eE][-+]?[0-9]{1,2})?)";
  static const std::regex of_cell("\\bcell_leakage_power" + number);
  static const std::regex state("\\bleakage_power\\s*\\([^)]{0,500}\\)\\s*\\{[^}]{0,500}\\bvalue" +
                                number);
  std::smatch own;
  if (std::regex_search(cell, own, of_cell)) return std::strtod(own[1].str().c_str(), nullptr);
  double sum = 0;
  std::size_t states = 0;
  for (std::sregex_iterator it(cell.begin(), cell.end(), state), end; it != end; ++it, ++states) {
    sum += std::strtod((*it)[1].str().c_str(), nullptr);
  }
  if (states == 0) return std::nullopt;
  return sum / static_cast<double>(states);
}

// Leakage by cell. It is read here because yosys does not report it.
std::map<std::string, double> leakages(const std::string& library) {
  std::map<std::string, double> leakage_nw;
  const double unit = leakage_unit(library);
  const std::regex header("\\bcell\\s*\\(\\s*\"?([^\")\\s]+)\"?\\s*\\)");
  for (std::sregex_iterator it(library.begin(), library.end(), header), end; it != end;) {
    const std::string name = (*it)[1];
    const auto begin = (*it)[0].second;
    ++it;
    const auto leakage = leakage_of_cell({begin, it == end ? library.end() : (*it)[0].first});
    if (leakage) leakage_nw[name] = unit * *leakage;
  }
  return leakage_nw;
}

// The area of the NAND2 to which yosys maps, um2.
double nand2_area(const std::string& yosys, const std::string& path) {
  const Workplace place;
  place.write("probes.v", synthesis_script("probes.v"));
  place.link_library(fs::absolute(path).string());
  place.write("run.ys", synthesis_script("probes.ys"));
  const ChildOutcome outcome =
      run_child(yosys, {"-Q", "-T", "-l", "log.txt", "run.ys"}, place.path().string());
  const std::string area = place.read("area.txt");
  const std::string nand2 =
      value_in(area, "=== nand2 ===[^=]*of cells: +1\n[^=]*area for module [^:]*: ([0-9.]+)");
  if (outcome.exit_code == 0 && area.find("flip_flop': 0") == std::string::npos && !nand2.empty()) {
    return std::stod(nand2);
  }
  const std::string error = value_in(place.read("log.txt"), "ERROR: ([^\n]{0,200})");
  const std::string line = value_in(error, " on line ([0-9]+)");
  throw std::runtime_error(fmt::format(
      "{}{}: error: yosys cannot map a NAND2 and a flip-flop to these cells{}; synthesis needs a "
      "NAND2, an inverter, a buffer and a D flip-flop with an area",
      path, line.empty() ? "" : ":" + line + ":1", error.empty() ? "" : " (" + error + ")"));
}

}  // namespace

Synthesizer::Synthesizer()
    : yosys_(find_program("yosys")), library_("/usr/share/qflow/tech/osu018/osu018_stdcells.lib") {
  if (!yosys_.empty() && fs::exists(library_)) return;
  throw std::runtime_error(
      "error: synthesis needs yosys and the cells of the OSU 0.18 um library: apt install yosys "
      "qflow-tech-osu018");
}

Synthesizer::Synthesizer(const std::string& liberty)
    : yosys_(find_program("yosys")), library_(fs::absolute(liberty).string()) {
  const std::string text = liberty_text(liberty);
  const std::string name = value_in(text, "^\\s*library\\s*\\(\\s*\"?([^\")\\s]*)");
  if (name.empty()) refuse(liberty, text, 0, "expected: library (NAME) { ... }");
  if (yosys_.empty()) throw std::runtime_error("error: synthesis needs yosys: apt install yosys");
  leakage_nw_ = leakages(text);
  user_library_ = UserLibrary{name, nand2_area(yosys_, liberty)};
  has_timing_ = !value_in(text, "\\btiming\\s*\\([^)]{0,500}\\)\\s*\\{\\s*([^\\s}])").empty();
  if (has_timing_) sta_ = find_program("sta");
}

SynthesizedLogic Synthesizer::measure(const RtlInstance& instance) const {
  const Workplace place;
  const RtlSource source = rtl_source(instance.module);
  const std::string name = describe(instance);
  const char* areas = user_library_ ? "cells.lib" : "areas.lib";
  const std::string area_library_path = user_library_ ? library_ : areas;
  std::string parameters;
  for_each_parameter(instance, [&](const char* parameter, std::uint32_t value) {
    parameters += fmt::format(" -set {} {}", parameter, value);
  });
  place.write("module.v", source.text);
  place.link_library(library_);
  if (!user_library_) place.write("areas.lib", synthesis_script("areas.lib"));
  place.write("map.abc", synthesis_script("map.abc"));
  // The area is taken from a mapping for area, and the delay from a mapping for delay.
  std::string script = fmt::format(
      "read_verilog module.v\n"
      "chparam{1} {0}\n"
      "hierarchy -top {0}\n"
      "synth -top {0} -flatten\n"
      "design -save logic\n"
      "dfflibmap -liberty {2}\n"
      "abc -liberty {2}\n"
      "opt_clean\n"
      "tee -o area.txt stat -liberty {2}\n",
      source.name, parameters, areas);
  if (has_timing_) script += synthesis_script("delay.ys");
  place.write("run.ys", script);
  const std::vector<std::string> arguments{"-Q", "-T", "-l", "log.txt", "run.ys"};
  const ChildOutcome yosys = run_child(yosys_, arguments, place.path().string());
  if (!yosys.problem.empty() || yosys.exit_code != 0) {
    throw std::runtime_error(fmt::format("yosys failed on {} with {}", name, area_library_path));
  }
  const std::string area = place.read("area.txt");
  // Unmapped cells have no area.
  if (area.find("$_") != std::string::npos) {
    throw std::runtime_error(
        fmt::format("yosys left cells of {} that {} has no area for", name, area_library_path));
  }
  SynthesizedLogic logic;
  logic.instance = instance;
  logic.gates = number_in(area, "Chip area for .*: ([0-9.]+)", "the area of " + name) /
                (user_library_ ? user_library_->nand2_um2 : cells_of(CellLibrary::nangate45).nand2);
  if (user_library_) logic.leakage_uw = leakage_uw(area, leakage_nw_);
  if (!has_timing_) return logic;
  if (!sta_.empty()) {
    logic.ps = timed(sta_, place, source.name, name, library_);
    return logic;
  }
  const double ps =
      number_in(place.read("log.txt"), "Delay = *([0-9.]+) ps", "the delay of " + name);
  if (user_library_) {
    logic.ps = ps;
  } else {
    logic.fo4 = ps / kFo4Ps;
  }
  return logic;
}

}  // namespace espalier
