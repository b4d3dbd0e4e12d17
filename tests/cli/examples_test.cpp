// What the repository shows its users works: every configuration, every command in the text.
#include <catch2/catch.hpp>
#include <cstdlib>

#include <algorithm>
#include <filesystem>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "cli_test_support.h"
#include "sims/config/reader.h"

using namespace espalier;
using test::Json;
using test::Outcome;
using test::TemporaryFolder;

namespace {

namespace fs = std::filesystem;

fs::path source_folder() { return ESPALIER_SOURCE_DIR; }

std::vector<std::string> files_in(const fs::path& folder, const std::string& extension) {
  std::vector<std::string> files;
  if (!fs::exists(folder)) return files;
  for (const auto& entry : fs::directory_iterator(folder)) {
    if (entry.path().extension() == extension) files.push_back(entry.path().string());
  }
  std::sort(files.begin(), files.end());
  return files;
}

// Words in capitals stand for something the reader fills in, but for a variable that is set before
// the command; so do dots and angle brackets.
bool has_placeholder(const std::string& command) {
  static const std::regex placeholder(R"(\b[A-Z][A-Z_]+\b(?!=)|\.\.\.|<[a-z]+>)");
  return std::regex_search(command, placeholder);
}

// Lines of code blocks, fenced or indented, that call the command or one of the examples.
std::vector<std::string> commands_in(const std::string& markdown) {
  std::vector<std::string> commands;
  bool fenced = false;
  std::istringstream lines(markdown);
  for (std::string line; std::getline(lines, line);) {
    const std::size_t text = line.find_first_not_of(' ');
    if (text == std::string::npos) continue;
    if (line.compare(text, 3, "```") == 0) fenced = !fenced;
    if (!fenced && text < 4) continue;
    std::string command = line.substr(text);
    if (command.compare(0, 2, "$ ") == 0) command.erase(0, 2);
    for (std::string next;
         !command.empty() && command.back() == '\\' && std::getline(lines, next);) {
      command.back() = ' ';
      command += next;
    }
    for (const std::string name : {"espalier ", "build/release/espalier "}) {
      if (command.compare(0, name.size(), name) == 0) {
        commands.push_back("espalier " + command.substr(name.size()));
      }
    }
    if (command.compare(0, 17, "PYTHONPATH=python") == 0) commands.push_back(command);
  }
  return commands;
}

// Commands that take long, and settings with which they take less; the last -s of a key wins.
struct Long {
  const char* part;  // of the command
  const char* less;
};
constexpr Long kLong[] = {
    {"training_overlap.yaml -s collective.algorithm=auto", "-s training.overlap=none"},
    {"run configs/torus_8x8.yaml -s collective.algorithm=auto", "-s system.topology.dims=[4,4]"},
    {"[window, rs_window_ag, multitree]", "-s system.topology.dims=[4,4]"},
    {"[line, multitree]", "-s system.topology.dims=[4,4]"},
    {"'[forest, multitree]' -s collective.size=100MB", "-s collective.size=1MB"},
    {"[a2a_paths, direct]", "-s collective.size=480kB"},
    {"compare configs/torus_8x8.yaml", "-s collective.size=16KiB"},
    {"compare configs/lab.yaml", "-s collective.size=60kB"},
    {"compare configs/graphs/lab.yaml", "-s collective.size=60kB"},
    {"espalier latency ", "-s traffic.measure_cycles=2000"},
    {"run configs/reorder/fabric_64.yaml", "-s collective.size=1MB"},
    {"reorder configs/reorder/fabric_64.yaml", "-s reorder.evaluations=1000"},
    {"run configs/workloads/themis.yaml", "-s workload.name=resnet152 -s workload.iterations=1"},
    {"sweep run configs/sweeps/subpacket_vc_latency.yaml",
     "-s system.topology.dims=[4,4] -s collective.size=64KiB"},
};

std::string with_less(std::string command) {
  for (const Long& heavy : kLong) {
    if (command.find(heavy.part) == std::string::npos) continue;
    const std::size_t comment = std::min(command.find("  #"), command.size());
    return command.insert(comment, std::string(" ") + heavy.less);
  }
  return command;
}

}  // namespace

TEST_CASE("Every configuration in configs runs to verified results") {
  std::vector<std::string> files = files_in(source_folder() / "configs", ".yaml");
  REQUIRE_FALSE(files.empty());
  for (const char* folder :
       {"topologies", "gc3", "programs", "faults", "reorder", "planned", "published"}) {
    CAPTURE(folder);
    const auto more = files_in(source_folder() / "configs" / folder, ".yaml");
    REQUIRE_FALSE(more.empty());
    files.insert(files.end(), more.begin(), more.end());
  }
  // Of the multi-dimensional ones, those that are small.
  for (const char* name : {"astra_network.yaml", "late_node.yaml"}) {
    files.push_back((source_folder() / "configs" / "themis" / name).string());
  }
  for (const char* name : {"coordinator.yaml", "summit.yaml"}) {
    files.push_back((source_folder() / "configs" / "coordination" / name).string());
  }
  for (const std::string& file : files) {
    CAPTURE(file);
    const ConfigResult config = read_run_config(file);
    CAPTURE(config.diagnostics);
    REQUIRE(config.ok);
    CHECK(config.num_warnings == 0);
    // The same systems and schedules, with little to send.
    const RunPoint& first = config.points.front();
    const std::string less = first.training     ? "training.mini_batch=1"
                             : first.collective ? "collective.size=16KiB"
                             : first.traffic    ? "traffic.measure_cycles=1000"
                                                : "control.duration_cycles=1000";
    const Outcome outcome = test::espalier({"run", file, "-s", less, "--json", "-"});
    CAPTURE(outcome.err);
    REQUIRE(outcome.exit_code == 0);
    const Json results = Json::parse(outcome.out).at("results");
    CHECK_FALSE(results.empty());
    for (const Json& result : results) CHECK(result.at("verified") == true);
    if (config.points.front().collective) {
      CHECK(test::espalier({"check", file, "-s", less}).exit_code == 0);
    }
  }
}

TEST_CASE("Every multi-dimensional system in configs reads without a warning") {
  const auto files = files_in(source_folder() / "configs" / "themis", ".yaml");
  CHECK(files.size() >= 7);
  for (const std::string& file : files) {
    CAPTURE(file);
    const ConfigResult config = read_run_config(file);
    CAPTURE(config.diagnostics);
    REQUIRE(config.ok);
    // The example of docs/themis.md where Themis loses.
    const bool loses = std::filesystem::path(file).filename() == "3d_balanced.yaml";
    CHECK(config.num_warnings == (loses ? 1 : 0));
    CHECK(config.points.size() == 2);
    CHECK(config.topology->dimensions());
  }
}

TEST_CASE("Commands are found in fenced and in indented code, and nowhere else") {
  CHECK(commands_in("Use\n\n    espalier list\n```sh\n$ build/release/espalier schema\nls\n```\n"
                    "espalier run is a command\n    PYTHONPATH=python python3 -m a 3\n") ==
        std::vector<std::string>{"espalier list", "espalier schema",
                                 "PYTHONPATH=python python3 -m a 3"});
  CHECK(has_placeholder("espalier run CONFIG"));
  CHECK(has_placeholder("espalier run <file>"));
  CHECK_FALSE(has_placeholder("PYTHONPATH=python python3 -m espalier.library by_levels"));
  CHECK_FALSE(has_placeholder("espalier run a.yaml -s system.link.bandwidth=16GB/s"));
}

TEST_CASE("The README's first commands print the lines below them") {
  std::istringstream readme(test::read_text((source_folder() / "README.md").string()));
  std::string printed;
  bool in_text = false;
  int commands = 0;
  int lines = 0;
  for (std::string line; std::getline(readme, line) && line.rfind("## ", 0) != 0;) {
    if (line.rfind("```", 0) == 0) {
      in_text = line == "```text";
    } else if (in_text) {
      CHECK_THAT(printed, Catch::Contains(line));
      ++lines;
    } else if (line.rfind("    ", 0) == 0) {
      // The quick start builds, and then runs the main job.
      const std::string command =
          line == "    sims/quickstart.sh" ? "espalier run configs/torus_8x8.yaml" : line;
      const std::string script =
          "espalier() { '" ESPALIER_PROGRAM "' \"$@\"; }\n" +
          std::regex_replace(command, std::regex("build/release/espalier"), "espalier");
      const Outcome outcome =
          test::run_program("/bin/sh", {"-c", script}, source_folder().string());
      CAPTURE(line, outcome.err);
      CHECK(outcome.exit_code == 0);
      printed = outcome.out;
      ++commands;
    }
  }
  CHECK(commands == 3);
  CHECK(lines == 9);
}

TEST_CASE("Every command in the README and in docs runs", "[slow]") {
  std::vector<std::string> pages = files_in(source_folder() / "docs", ".md");
  pages.push_back((source_folder() / "README.md").string());
  // A folder with links to the repository's, so that the files that commands write do not stay.
  // Later commands find the files of earlier commands.
  const TemporaryFolder folder;
  fs::create_directory_symlink(source_folder() / "configs", folder.file("configs"));
  fs::create_directory_symlink(source_folder() / "python", folder.file("python"));
  std::set<std::string> done;
  for (const std::string& page : pages) {
    CAPTURE(page);
    for (const std::string& written : commands_in(test::read_text(page))) {
      const std::string command = with_less(written);
      // A sweep's points of before stay, but `sweep plan` in between may have removed them.
      const bool once = command.find("sweep run") == std::string::npos;
      if (has_placeholder(command) || (!done.insert(command).second && once)) continue;
      const bool synthesizes = command.find("--synthesize") != std::string::npos;
      if (synthesizes && std::system("command -v yosys > /dev/null 2>&1") != 0) {
        WARN("skipped, yosys is not installed: " << command);
        continue;
      }
      const bool plots = command.find("espalier.figures") != std::string::npos;
      if (plots && std::system("python3 -c 'import matplotlib, yaml' 2> /dev/null") != 0) {
        WARN("skipped, matplotlib or yaml is not installed: " << command);
        continue;
      }
      const std::string script = "export ESPALIER='" ESPALIER_PROGRAM
                                 "'\nespalier() { \"$ESPALIER\" \"$@\"; }\n" +
                                 command;
      const Outcome outcome = test::run_program("/bin/sh", {"-c", script}, folder.path().string());
      CAPTURE(command, outcome.err);
      CHECK(outcome.exit_code == 0);
    }
  }
}
