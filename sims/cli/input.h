// The input of a command: a configuration, a schedule file with its configuration, or a collective
// program.
#pragma once

#include <filesystem>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "alg/program/program.h"
#include "alg/schedule/schedule_table.h"
#include "hw/topology/topology.h"
#include "sims/cli/output.h"
#include "sims/config/reader.h"
#include "sims/point/config.h"
#include "sims/study/workers.h"
#include "sims/text/file_hashes.h"

namespace espalier {

struct Input {
  std::string path;
  std::string system;  // tells it from the others, where several are compared
  std::vector<RunPoint> points;
  std::shared_ptr<const Topology> topology;
  FileHashes file_hashes;                // of every text that the input was read from
  std::optional<ScheduleTables> tables;  // only for a schedule file
  // Only for a program file without overrides, which has no points and no topology.
  std::optional<Program> program;
};

// A point, and the input that it is from.
struct PointRef {
  const Input* input;
  const RunPoint* point;
};
[[nodiscard]] std::vector<PointRef> all_points(const std::vector<Input>& inputs);

// What of several points a message proposes to a command that takes one: "choose one with -s, for
// example -s collective.size=4KiB", a key that differs between the first and the last of them.
[[nodiscard]] std::string how_to_choose_one(const RunPoint& first, const RunPoint& last);

// What is printed to stderr.
enum class Messages : std::uint8_t { people, errors, nobody };

// Reads every file and prints errors and warnings to stderr; nullopt if there was an error.
// "-" is a configuration from stdin, whose paths start in the working folder. .json files are
// schedules, .xml and .trace files collective programs, all others configurations. Programs beside
// one configuration run on its network with its settings. A program by itself needs no system for
// `check` and `schedule` (ConfigNeed::schedule without overrides). Otherwise its ranks are nodes
// of one switch, which a note says, unless an override gives another topology.
[[nodiscard]] std::optional<std::vector<Input>> load_inputs(
    const std::vector<std::string>& paths, const std::vector<std::string>& overrides,
    ConfigNeed need, Messages messages = Messages::people);

// An option's limit of each point. An empty text leaves `limit` as it is. After an error, prints it
// and returns false.
[[nodiscard]] bool read_limit(const std::string& text, const char* option, const LimitRange& range,
                              std::uint64_t& limit);
[[nodiscard]] bool read_time_limit(const std::string& text, WorkerLimits& limits);

// Overrides of one system out of several, and the words that tell it from the others.
struct ListedSystem {
  std::vector<std::string> overrides;
  std::string words;  // "dims [4, 4], bandwidth 50GB/s"; empty: no override lists values
};
// Every combination of the values that overrides list for keys that a configuration gives once,
// as those of its network. After an error, prints it and returns nullopt.
[[nodiscard]] std::optional<std::vector<ListedSystem>> listed_systems(
    const std::vector<std::string>& settings);

// The input files, and the files that their configurations name: graphs, layers, programs.
[[nodiscard]] std::vector<CommandFile> files_of(const std::vector<Input>& inputs);

// The configuration of the point with paths relative to `folder`, for a file that is written there.
[[nodiscard]] nlohmann::ordered_json resolved_for(const RunPoint& point,
                                                  const std::filesystem::path& folder);

}  // namespace espalier
