// A run whose waveform has the registers of the Verilog that decides in it.
#pragma once

#include <catch2/catch.hpp>
#include <cstdint>
#include <string>
#include <vector>

#include "cli_test_support.h"
#include "vcd_reader.h"

namespace espalier::test {

inline bool is_of_rtl(const std::string& name) { return name.find(".rtl.") != std::string::npos; }

// A configuration, with and without Verilog.
class RtlWaveRun {
 public:
  explicit RtlWaveRun(const char* config) : path_(folder_.write("run.yaml", config)) {}

  [[nodiscard]] Waves waves(std::vector<std::string> settings, const std::string& rtl,
                            const std::vector<std::string>& options = {}) const {
    settings.push_back("simulation.rtl=" + rtl);
    return waves_of(folder_, {path_, settings}, options);
  }
  // Checks that all other signals are those of a run without Verilog.
  [[nodiscard]] Waves checked_waves(const std::vector<std::string>& settings,
                                    const std::string& rtl) const {
    const Waves with = waves(settings, rtl);
    const Waves without = waves(settings, "none");
    std::size_t others = 0;
    for (const auto& [name, changes] : with.signals) {
      if (is_of_rtl(name)) continue;
      ++others;
      CAPTURE(name);
      REQUIRE(without.signals.count(name) == 1);
      CHECK((changes == without.signals.at(name)));
    }
    CHECK(others == without.signals.size());
    CHECK(others > 100);
    CHECK(with.signals.size() > others);
    CHECK(with.end == without.end);
    return with;
  }
  [[nodiscard]] std::string save_file() const { return read_text(folder_.file("waves.vcd.gtkw")); }

 private:
  TemporaryFolder folder_;
  std::string path_;
};

inline constexpr std::uint64_t kUnknown = ~std::uint64_t{0};

// The values of a signal in every cycle. Only signals of the model may be unknown.
inline std::vector<std::uint64_t> values_of(const Waves& waves, const std::string& name) {
  CAPTURE(name);
  const Waves::Changes& changes = waves.signals.at(name);
  REQUIRE(!changes.empty());
  REQUIRE(changes.front().first == 0);
  std::vector<std::uint64_t> values(waves.end, kUnknown);
  for (std::size_t i = 0; i < changes.size(); ++i) {
    if (is_of_rtl(name)) REQUIRE(changes[i].second != "x");
    if (changes[i].second == "x") continue;
    const std::uint64_t end = i + 1 < changes.size() ? changes[i + 1].first : waves.end;
    for (std::uint64_t at = changes[i].first; at < end; ++at) {
      values[at] = wave_number(changes[i].second);
    }
  }
  return values;
}

// The scopes whose Verilog has `module`: "net.ni_1_2".
inline std::vector<std::string> scopes_with(const Waves& waves, const std::string& module) {
  std::vector<std::string> scopes;
  for (const std::string& name : waves.names) {
    const std::size_t at = name.find(".rtl." + module + ".");
    if (at == std::string::npos) continue;
    const std::string scope = name.substr(0, at);
    if (scopes.empty() || scopes.back() != scope) scopes.push_back(scope);
  }
  return scopes;
}

inline std::size_t ones_of(const std::vector<std::uint64_t>& values) {
  std::size_t ones = 0;
  for (const std::uint64_t value : values) {
    ones += static_cast<std::size_t>(__builtin_popcountll(value));
  }
  return ones;
}

}  // namespace espalier::test
