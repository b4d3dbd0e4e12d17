// What a command is given: a configuration, a schedule file that brings its configuration along, or
// a collective program.
#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "alg/program/program.h"
#include "alg/schedule/schedule_table.h"
#include "hw/topology/topology.h"
#include "sims/config/reader.h"
#include "sims/point/config.h"
#include "sims/text/file_hashes.h"

namespace espalier {

struct Input {
  std::string path;
  std::vector<RunPoint> points;
  std::shared_ptr<const Topology> topology;
  FileHashes file_hashes;                // of every text that it was read from
  std::optional<ScheduleTables> tables;  // of a schedule file
  // Of a file that holds a program and nothing else, where no setting says more: then there are no
  // points and no topology.
  std::optional<Program> program;
};

enum class Messages : std::uint8_t { people, nobody };

// Reads every file and prints all errors and warnings to stderr; nullopt if there was an error.
// Files that end in .json are schedule files, in .xml or .trace collective programs, all others
// configurations. A program needs no system to be checked or shown (ConfigNeed::collective without
// overrides); else its ranks stand around one switch where no override gives another topology.
[[nodiscard]] std::optional<std::vector<Input>> load_inputs(
    const std::vector<std::string>& paths, const std::vector<std::string>& overrides,
    ConfigNeed need, Messages messages = Messages::people);

// The points with the paths of graph and message files as they look from `folder`, for a file that
// is written there.
[[nodiscard]] std::vector<RunPoint> seen_from(std::vector<RunPoint> points,
                                              const std::filesystem::path& folder);

}  // namespace espalier
