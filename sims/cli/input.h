// What a command is given: a configuration, or a schedule file that brings its configuration along.
#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "alg/schedule_table.h"
#include "hw/topology.h"
#include "sims/config/config.h"
#include "sims/config/reader.h"

namespace espalier {

struct Input {
  std::string path;
  std::vector<RunPoint> points;
  std::shared_ptr<const Topology> topology;
  std::optional<ScheduleTables> tables;  // of a schedule file
};

enum class Messages : std::uint8_t { people, nobody };

// Reads every file and prints all errors and warnings to stderr; nullopt if there was an error.
// Files that end in .json are schedule files, all others configurations.
[[nodiscard]] std::optional<std::vector<Input>> load_inputs(
    const std::vector<std::string>& paths, const std::vector<std::string>& overrides,
    ConfigNeed need, Messages messages = Messages::people);

// The points with the paths of graph and message files as they look from `folder`, for a file that
// is written there.
[[nodiscard]] std::vector<RunPoint> seen_from(std::vector<RunPoint> points,
                                              const std::filesystem::path& folder);

}  // namespace espalier
