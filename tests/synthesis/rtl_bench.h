// Tools for tests of hw/rtl that call simulators and synthesis.
#pragma once

#include <fmt/format.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

namespace espalier::test {

inline const std::string kRtl = ESPALIER_SOURCE_DIR "/hw/rtl/";
inline const std::string kLibrary = "/usr/share/qflow/tech/osu018/osu018_stdcells.lib";

// The text of modules of hw/rtl.
inline std::string rtl_sources(const std::vector<std::string>& modules) {
  std::string text;
  for (const std::string& module : modules) {
    std::ifstream file(kRtl + module + ".v");
    REQUIRE(file);
    text.append(std::istreambuf_iterator<char>(file), {});
  }
  return text;
}

inline bool is_installed(const std::string& program) {
  return std::system(("command -v " + program + " > /dev/null 2>&1").c_str()) == 0;
}

// True where the test has to be left out; ctest reads the word.
inline bool is_skipped(const std::vector<std::string>& programs, bool needs_library) {
  for (const std::string& program : programs) {
    if (is_installed(program)) continue;
    fmt::print("skipped: {} is not installed\n", program);
    return true;
  }
  if (!needs_library || std::filesystem::exists(kLibrary)) return false;
  fmt::print("skipped: qflow-tech-osu018 is not installed\n");
  return true;
}

class Workplace {
 public:
  Workplace()
      : path_(std::filesystem::temp_directory_path() / fmt::format("espalier_rtl_{}", getpid())) {
    std::filesystem::create_directories(path_);
  }
  ~Workplace() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  Workplace(const Workplace&) = delete;
  Workplace& operator=(const Workplace&) = delete;

  [[nodiscard]] std::string file(const std::string& name) const { return (path_ / name).string(); }
  void write(const std::string& name, const std::string& text) const {
    std::ofstream(file(name)) << text;
  }
  [[nodiscard]] std::string read(const std::string& name) const {
    std::ifstream in(file(name));
    return {std::istreambuf_iterator<char>(in), {}};
  }
  void run(const std::string& command) const {
    INFO(command);
    REQUIRE(std::system(command.c_str()) == 0);
  }

 private:
  std::filesystem::path path_;
};

}  // namespace espalier::test
