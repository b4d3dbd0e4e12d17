// What the configuration tests share: reading printed diagnostics back, and inputs with a marked
// place.
#pragma once

#include <fmt/format.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <cstddef>
#include <filesystem>
#include <fstream>
#include <regex>
#include <sstream>
#include <string>
#include <vector>

#include "sims/config/reader.h"

namespace espalier::config_test {

struct Printed {
  std::string where;  // file, or "-s key=value"
  std::size_t line = 0;
  std::size_t column = 0;
  std::string severity;
  std::string message;
  std::string excerpt;
  std::size_t caret_column = 0;  // in characters, from 1; 0: no caret line
  std::string hint;
};

inline std::vector<Printed> parse_diagnostics(const std::string& text) {
  static const std::regex placed("^(.*):([0-9]+):([0-9]+): (error|warning): (.*)$");
  static const std::regex unplaced("^(.*): (error|warning): (.*)$");
  std::vector<Printed> result;
  std::istringstream lines(text);
  std::string line;
  std::smatch match;
  while (std::getline(lines, line)) {
    if (line.rfind("hint: ", 0) == 0 && !result.empty()) {
      result.back().hint = line.substr(6);
      continue;
    }
    Printed printed;
    if (std::regex_match(line, match, placed)) {
      printed.where = match[1];
      printed.line = std::stoul(match[2]);
      printed.column = std::stoul(match[3]);
      printed.severity = match[4];
      printed.message = match[5];
    } else if (std::regex_match(line, match, unplaced)) {
      printed.where = match[1];
      printed.severity = match[2];
      printed.message = match[3];
    } else {
      continue;  // "and 7 more"
    }
    const bool has_excerpt = printed.line != 0 || printed.where.rfind("-s ", 0) == 0;
    if (has_excerpt) {
      std::getline(lines, printed.excerpt);
      std::string caret;
      std::getline(lines, caret);
      REQUIRE(caret.find_first_not_of(" \t") == caret.size() - 1);
      REQUIRE(caret.back() == '^');
      printed.caret_column = caret.size();
    }
    result.push_back(printed);
  }
  return result;
}

// A text in which '@' stands before the character that a message must point at.
struct Marked {
  std::string text;
  std::size_t line = 1;
  std::size_t column = 1;
  std::string excerpt;
};

inline Marked unmark(const std::string& with_mark) {
  Marked marked;
  const std::size_t at = with_mark.find('@');
  REQUIRE(at != std::string::npos);
  marked.text = with_mark.substr(0, at) + with_mark.substr(at + 1);
  std::size_t line_begin = 0;
  for (std::size_t i = 0; i < at; ++i) {
    if (with_mark[i] != '\n') continue;
    ++marked.line;
    line_begin = i + 1;
  }
  marked.column = 1;
  for (std::size_t i = line_begin; i < at; ++i) {
    const bool continues = (static_cast<unsigned char>(with_mark[i]) & 0xc0U) == 0x80U;
    if (!continues) ++marked.column;  // columns count characters, not bytes
  }
  marked.excerpt = marked.text.substr(line_begin, marked.text.find('\n', line_begin) - line_begin);
  return marked;
}

inline const Printed* find_at(const std::vector<Printed>& all, const Marked& marked,
                              const std::string& message) {
  for (const Printed& printed : all) {
    if (printed.line == marked.line && printed.column == marked.column &&
        printed.message.find(message) != std::string::npos) {
      return &printed;
    }
  }
  return nullptr;
}

// A folder of its own for each test, gone with it.
class TemporaryFolder {
 public:
  explicit TemporaryFolder(const std::string& name)
      : path_(std::filesystem::temp_directory_path() /
              fmt::format("espalier_{}_{}", name, getpid())) {
    std::filesystem::remove_all(path_);
    std::filesystem::create_directories(path_);
  }
  ~TemporaryFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;

  std::string write(const std::string& name, const std::string& text) const {
    std::ofstream(path_ / name) << text;
    return (path_ / name).string();
  }
  [[nodiscard]] std::string path() const { return path_.string(); }

 private:
  std::filesystem::path path_;
};

inline const std::string kGoodSystem = "system: {topology: {type: torus, dims: [4, 4]}}\n";
inline const std::string kGoodCollective = "collective: {algorithm: multitree, size: 16MiB}\n";

inline RunPoint only_point(const std::string& text,
                           const std::vector<std::string>& overrides = {}) {
  const ConfigResult result = read_run_config_text("good.yaml", text, "", overrides);
  INFO(text);
  INFO(result.diagnostics);
  REQUIRE(result.ok);
  REQUIRE(result.points.size() == 1);
  return result.points.front();
}

}  // namespace espalier::config_test
