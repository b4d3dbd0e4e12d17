// What `algorithm: auto` has decided, so that the same question is planned and simulated once.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "hw/topology/topology.h"
#include "sims/point/collective_config.h"

namespace espalier {

struct SystemConfig;

// Makes the schedule or plan again.
struct Choice {
  std::string algorithm;       // a generator, a built-in program, or the planner of a plan
  std::uint32_t segments = 0;  // of a generator's request
  std::string why;             // a sentence: times of the best two
};

// The algorithms that `auto` took for the collectives of a run.
class TakenAlgorithms {
 public:
  // Empty: the algorithm was not chosen. Groups may take several algorithms for a size.
  void note(Bytes size, const std::string& algorithm);
  // "forest for 3 sizes from 4000 to 2359296 B, multitree for 40000 B"; empty if none was chosen.
  [[nodiscard]] std::string text() const;

 private:
  std::map<Bytes, std::string> by_size_;
};

// Everything that a choice depends on: this program (a hash of its executable), the system and the
// collective as resolved, the links of the network, and the node of each rank. `programs`: the
// collective programs that are candidates beside the schedules.
[[nodiscard]] nlohmann::ordered_json choice_question(const Topology& topology,
                                                     const SystemConfig& system,
                                                     const CollectiveConfig& collective,
                                                     const std::vector<std::string>& programs);

// Questions with their choices: in this process, and in the files of a folder that processes share.
// Copies share what they know.
class Choices {
 public:
  // `folder` is made when the first choice is kept. Empty: only this process remembers.
  explicit Choices(const std::string& folder = {}) : memory_(new Memory{folder, {}, 0}) {}

  // Empty if the question is new. A file that cannot be read counts as new, and keep() replaces it.
  // Whoever asks has to check that the choice is a candidate: people may edit files.
  [[nodiscard]] std::optional<Choice> find(const nlohmann::ordered_json& question) const;
  // Warns if the folder cannot be written.
  void keep(const nlohmann::ordered_json& question, const Choice& choice) const;

  // The time on the clock in which this process waited for simulations that confirm a choice.
  [[nodiscard]] double simulating_seconds() const { return memory_->simulating_seconds; }
  void add_simulating_seconds(double seconds) const { memory_->simulating_seconds += seconds; }

 private:
  struct Memory {
    std::string folder;
    std::map<std::string, Choice> known;
    double simulating_seconds;
  };
  [[nodiscard]] std::string file_of(const std::string& question) const;

  std::shared_ptr<Memory> memory_;
};

}  // namespace espalier
