// The command line of `espalier sweep`.
#pragma once

#include <CLI/CLI.hpp>

#include "sims/cli/sweep_command.h"

namespace espalier {

// `options` stays where it is until sweep_command is called.
CLI::App* add_sweep_command(CLI::App& app, SweepOptions& options);

// What was parsed. Returns an exit code.
[[nodiscard]] int sweep_command(const CLI::App& sweep, SweepOptions options);

}  // namespace espalier
