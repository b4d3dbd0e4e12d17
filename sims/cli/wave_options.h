// Options of `run` that make waveforms, and what they ask for.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "sims/observe/scopes/wave_session.h"
#include "sims/point/config.h"

namespace CLI {
class App;
}

namespace espalier {

struct WaveOptions {
  std::string file;  // empty: none
  std::vector<std::string> scopes;
  std::string from;
  std::string to;
};

void add_wave_options(CLI::App& app, WaveOptions& options);

// What is wrong with the options for runs of these points; empty where nothing is.
[[nodiscard]] std::string wave_mistake(const WaveOptions& options,
                                       const std::vector<const RunPoint*>& points);

// Precondition: no mistake, a file. Throws as WaveSession.
[[nodiscard]] std::unique_ptr<WaveSession> wave_session(const WaveOptions& options,
                                                        const RunPoint& point);

}  // namespace espalier
