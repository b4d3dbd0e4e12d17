// The waveform of a run, read from a VCD file.
#pragma once

#include <catch2/catch.hpp>
#include <cstdint>
#include <map>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "cli_test_support.h"

namespace espalier::test {

// Of a VCD: by name, the values at the times of their changes.
struct Waves {
  using Changes = std::vector<std::pair<std::uint64_t, std::string>>;
  std::map<std::string, Changes> signals;
  std::vector<std::string> names;  // in the order of the file
  std::uint64_t end = 0;           // the last time of the file

  [[nodiscard]] std::string at(const std::string& name, std::uint64_t time) const {
    std::string value;
    for (const auto& [when, what] : signals.at(name)) {
      if (when <= time) value = what;
    }
    return value;
  }
};

inline Waves read_vcd(const std::string& path) {
  Waves waves;
  std::map<std::string, std::string> names;
  std::vector<std::string> scopes;
  std::istringstream in(read_text(path));
  std::uint64_t time = 0;
  bool has_values = false;
  for (std::string line; std::getline(in, line);) {
    std::istringstream words(line);
    std::vector<std::string> w;
    for (std::string word; words >> word;) w.push_back(word);
    if (w.empty()) continue;
    if (w[0] == "$scope") {
      scopes.push_back(w[2]);
    } else if (w[0] == "$upscope") {
      scopes.pop_back();
    } else if (w[0] == "$var") {
      std::string name;
      for (const std::string& scope : scopes) name += scope + ".";
      names[w[3]] = name + w[4];
      waves.signals[name + w[4]];
      waves.names.push_back(name + w[4]);
    } else if (w[0] == "$enddefinitions") {
      has_values = true;
    } else if (!has_values) {
      continue;  // the date, the unit of time
    } else if (w[0][0] == '#') {
      time = std::stoull(w[0].substr(1));
      waves.end = time;
    } else if (w[0][0] == 'b') {
      waves.signals[names.at(w[1])].emplace_back(time, w[0].substr(1));
    } else if (w[0][0] == '0' || w[0][0] == '1' || w[0][0] == 'x') {
      waves.signals[names.at(w[0].substr(1))].emplace_back(time, w[0].substr(0, 1));
    }
  }
  return waves;
}

inline std::uint64_t wave_number(const std::string& bits) { return std::stoull(bits, nullptr, 2); }

struct WaveRun {
  std::string config;
  std::vector<std::string> settings;
};

inline Waves waves_of(const TemporaryFolder& folder, const WaveRun& run,
                      const std::vector<std::string>& options = {}) {
  const std::string file = folder.file("waves.vcd");
  std::vector<std::string> words{"run", run.config, "--waves", file};
  for (const std::string& setting : run.settings) words.insert(words.end(), {"-s", setting});
  words.insert(words.end(), options.begin(), options.end());
  const Outcome outcome = espalier(words);
  INFO(outcome.err);
  REQUIRE(outcome.exit_code == 0);
  return read_vcd(file);
}

}  // namespace espalier::test
