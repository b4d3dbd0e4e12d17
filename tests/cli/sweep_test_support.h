// Sweeps of a few small points, and what is left of them in their folder.
#pragma once

#include <signal.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <functional>
#include <set>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "cli_test_support.h"

namespace espalier::test {

// Twelve points of a few milliseconds each.
inline constexpr const char* kSmallSweep =
    "title: Small\n"
    "config:\n"
    "  system: {topology: {type: mesh, dims: [2, 2]}}\n"
    "  collective: {op: all_reduce, size: 4KiB}\n"
    "axes:\n"
    "  - {key: collective.algorithm, values: [ring, multitree]}\n"
    "  - {key: collective.size, from: 4KiB, to: 16KiB, factor: 2}\n"
    "  - {key: system.link.latency, values: [20ns, 150ns]}\n";

inline std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

class SweepFolder {
 public:
  explicit SweepFolder(const std::string& text = kSmallSweep)
      : file_(folder_.write("sweep.yaml", text)) {}

  [[nodiscard]] const std::string& file() const { return file_; }
  [[nodiscard]] std::string path(const std::string& name) const { return folder_.file(name); }
  std::string write(const std::string& name, const std::string& text) const {
    return folder_.write(name, text);
  }
  [[nodiscard]] std::string text(const std::string& name) const { return read_text(path(name)); }

  // `sweep COMMAND` into the folder `output` beside the file.
  [[nodiscard]] std::vector<std::string> arguments(const std::string& command,
                                                   const std::vector<std::string>& more = {},
                                                   const std::string& output = "out") const {
    std::vector<std::string> words{"sweep", command, file_, "-o", path(output)};
    words.insert(words.end(), more.begin(), more.end());
    return words;
  }
  [[nodiscard]] Outcome call(const std::string& command, const std::vector<std::string>& more = {},
                             const std::string& output = "out") const {
    return espalier(arguments(command, more, output));
  }
  [[nodiscard]] Json manifest(const std::string& output = "out") const {
    return Json::parse(text(output + "/manifest.json"));
  }
  [[nodiscard]] std::vector<std::string> ids(const std::string& output = "out") const {
    std::vector<std::string> ids;
    const Json plan = manifest(output);
    for (const Json& point : plan.at("points")) ids.push_back(point.at("id"));
    return ids;
  }
  // Names of the files in points/, unfinished ones included.
  [[nodiscard]] std::set<std::string> point_files(const std::string& output = "out") const {
    std::set<std::string> names;
    const std::string folder = path(output) + "/points";
    if (!std::filesystem::exists(folder)) return names;
    for (const auto& entry : std::filesystem::directory_iterator(folder))
      names.insert(entry.path().filename().string());
    return names;
  }
  // A sweep also tries whether it can write there, before its signals are handled.
  [[nodiscard]] std::size_t finished_points() const {
    const std::set<std::string> names = point_files();
    return static_cast<std::size_t>(
        std::count_if(names.begin(), names.end(), [](const std::string& name) {
          return std::filesystem::path(name).extension() == ".json";
        }));
  }

 private:
  TemporaryFolder folder_;
  std::string file_;
};

// Polls; false after a minute.
inline bool wait_until(const std::function<bool()>& condition) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::minutes(1);
  while (!condition()) {
    if (std::chrono::steady_clock::now() > end) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return true;
}

// Processes whose parent is `pid`.
inline std::vector<int> children_of(int pid) {
  std::ifstream file("/proc/" + std::to_string(pid) + "/task/" + std::to_string(pid) + "/children");
  std::vector<int> children;
  for (int child = 0; file >> child;) children.push_back(child);
  return children;
}

}  // namespace espalier::test
