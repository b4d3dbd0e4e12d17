// Runs the espalier command as its users do.
#pragma once

#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>
#include <vector>

#include "sims/process/child_process.h"
#include "sims/process/work_folder.h"

namespace espalier::test {

using Json = nlohmann::ordered_json;

inline std::string read_text(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) throw std::runtime_error(path + " cannot be read");
  return {std::istreambuf_iterator<char>(file), {}};
}

class TemporaryFolder : public WorkFolder {
 public:
  // Returns the path.
  std::string write(const std::string& name, const std::string& text) const {
    std::ofstream out(file(name), std::ios::binary);
    out << text;
    out.close();
    if (!out) throw std::runtime_error(file(name) + " cannot be written");
    return file(name);
  }
};

using Outcome = ChildOutcome;

inline Outcome run_program(const std::string& program, const std::vector<std::string>& arguments,
                           const std::string& working_folder = "") {
  Outcome outcome = run_child(program, arguments, working_folder);
  if (!outcome.problem.empty()) throw std::runtime_error(program + ": " + outcome.problem);
  return outcome;
}

inline Outcome espalier(const std::vector<std::string>& arguments,
                        const std::string& working_folder = "") {
  return run_program(ESPALIER_PROGRAM, arguments, working_folder);
}

// A MultiTree all-reduce of 4 KiB on the 2x2 mesh of the paper's Fig. 5, in message mode.
inline constexpr const char* kSmallConfig =
    "system:\n"
    "  topology: {type: mesh, dims: [2, 2]}\n"
    "collective: {op: all_reduce, algorithm: multitree, size: 4KiB}\n";

// Without what depends on the machine.
inline Json without_host(Json json) {
  if (json.is_object()) json.erase("host");
  for (Json& member : json) {
    if (member.is_structured()) member = without_host(member);
  }
  return json;
}

// Nor what says which files it came from.
inline Json without_origin(Json document) {
  document.erase("command");
  document.erase("points");
  return without_host(std::move(document));
}

// `run --json -` with these arguments. Throws with what the command said unless it is good.
inline Json run_to_json(std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), "run");
  arguments.insert(arguments.end(), {"--json", "-"});
  const Outcome outcome = espalier(arguments);
  if (outcome.exit_code != 0) throw std::runtime_error(outcome.err);
  return Json::parse(outcome.out);
}

}  // namespace espalier::test
