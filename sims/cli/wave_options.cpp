#include "sims/cli/wave_options.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <charconv>
#include <optional>

#include "sims/point/fidelity.h"

namespace espalier {

namespace {

// "5000" is a cycle, "step:17" a timestep.
struct WavePoint {
  bool is_step = false;
  std::uint64_t value = 0;
};

std::optional<WavePoint> parse_point(const std::string& text) {
  constexpr std::string_view kStep = "step:";
  WavePoint point;
  point.is_step = text.compare(0, kStep.size(), kStep) == 0;
  const char* begin = text.data() + (point.is_step ? kStep.size() : 0);
  const char* end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(begin, end, point.value);
  if (error != std::errc() || rest != end) return std::nullopt;
  if (point.is_step && point.value == 0) return std::nullopt;
  return point;
}

void set_point(const std::string& text, std::optional<Cycle>& cycle,
               std::optional<Timestep>& step) {
  if (text.empty()) return;
  const WavePoint point = parse_point(text).value();
  if (point.is_step) {
    step = static_cast<Timestep>(point.value);
  } else {
    cycle = point.value;
  }
}

WaveWindow window_of(const WaveOptions& options) {
  WaveWindow window;
  set_point(options.from, window.from, window.from_step);
  set_point(options.to, window.to, window.to_step);
  return window;
}

// Whether the NIs execute schedule tables, which have timesteps: a collective, or a schedule file.
bool has_steps(const RunPoint& point) {
  const bool only_control = point.control && !point.collective;
  return !point.traffic && !point.system.topology.is_dimensional() && !only_control;
}

}  // namespace

void add_wave_options(CLI::App& app, WaveOptions& options) {
  app.add_option("--waves", options.file,
                 "write waveforms to this file, .fst or .vcd, with a save file for GTKWave")
      ->type_name("FILE");
  app.add_option("--wave-scope", options.scopes,
                 "only signals and scopes with such names, as 'net.ni_*' (repeatable)")
      ->type_name("GLOB")
      ->allow_extra_args(false);
  app.add_option("--wave-from", options.from,
                 "the waves begin with this cycle, or timestep: 5000, step:17")
      ->type_name("POINT");
  app.add_option("--wave-to", options.to,
                 "the waves end before this cycle, or with this timestep: 6000, step:18")
      ->type_name("POINT");
}

std::string wave_mistake(const WaveOptions& options, const std::vector<const RunPoint*>& points) {
  for (const auto& [name, text] :
       {std::make_pair("--wave-from", &options.from), std::make_pair("--wave-to", &options.to)}) {
    if (!text->empty() && !parse_point(*text)) {
      return fmt::format("{} {}: neither a cycle, as 5000, nor a timestep, as step:17", name,
                         *text);
    }
  }
  const bool has_details = !options.scopes.empty() || !options.from.empty() || !options.to.empty();
  if (options.file.empty()) {
    return has_details ? "--wave-scope, --wave-from and --wave-to need --waves FILE" : "";
  }
  const WaveWindow window = window_of(options);
  if ((window.from && window.to && *window.from >= *window.to) ||
      (window.from_step && window.to_step && *window.from_step > *window.to_step)) {
    return "--wave-to is not after --wave-from";
  }
  if (points.size() != 1) {
    return fmt::format(
        "--waves shows one run, and this would be {}; -s picks one, as -s "
        "collective.algorithm=multitree",
        points.size());
  }
  if (points.front()->coordination) {
    return "--waves shows one collective; a coordinated job posts many while it runs";
  }
  if (points.front()->workload) {
    return "--waves shows one collective; a workload simulates one after the other, each by itself";
  }
  const bool in_steps = window.from_step || window.to_step;
  if (in_steps && !has_steps(*points.front())) {
    return "--wave-from and --wave-to in timesteps need schedule tables, which this run has not: "
           "say cycles";
  }
  return {};
}

std::unique_ptr<WaveSession> wave_session(const WaveOptions& options, const RunPoint& point) {
  WaveRequest request;
  request.path = options.file;
  request.scopes = options.scopes;
  request.window = window_of(options);
  request.clock_hertz = point.system.clock.hertz;
  // A train is one thing; its flits are shown where somebody looks at a part of the run.
  request.shows_flits = chosen_fidelity(point) == Fidelity::cycle || !request.window.is_whole_run();
  return std::make_unique<WaveSession>(request);
}

}  // namespace espalier
