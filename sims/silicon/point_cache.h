// Results of simulations on disk, each once.
#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "sims/point/config.h"

namespace espalier {

// Finished points on disk, a file each, so that an interrupted run continues where it stopped.
class PointCache {
 public:
  // `program`: the executable that simulates. Results of another build are not used.
  PointCache(std::filesystem::path folder, const std::string& program);

  [[nodiscard]] const std::filesystem::path& folder() const { return folder_; }
  // Makes the folder and proves that files can be written there. Returns false if they cannot.
  [[nodiscard]] bool open() const;

  // The hash of everything that the result depends on: the program, the resolved configuration, and
  // the contents of the files that it names. Two points with one key are one simulation.
  [[nodiscard]] std::string key_of(const RunPoint& point) const;

  // Returns nothing for a file that is incomplete or was changed.
  [[nodiscard]] std::optional<nlohmann::ordered_json> find(const std::string& key) const;

  // The file appears as a whole or not at all. Returns false if it cannot be written.
  bool keep(const std::string& key, const RunPoint& point,
            const nlohmann::ordered_json& result) const;

 private:
  [[nodiscard]] std::filesystem::path file_of(const std::string& key) const;

  std::filesystem::path folder_;
  std::string program_hash_;
};

}  // namespace espalier
