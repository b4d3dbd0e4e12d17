// Finished points on disk, one file each, so that an interrupted figure goes on where it stopped.
#pragma once

#include <cstdint>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "sims/point/config.h"

namespace espalier {

class PointCache {
 public:
  // `program`: whose results these are; another build's are not used.
  PointCache(std::filesystem::path folder, const std::string& program);

  [[nodiscard]] const std::filesystem::path& folder() const { return folder_; }
  // False where the folder cannot be made.
  [[nodiscard]] bool open() const;

  // Of all that the result depends on: the program, the resolved configuration, and what stands in
  // the files it names. Two points with one key are one simulation.
  [[nodiscard]] std::string key_of(const RunPoint& point) const;

  // A file that is not whole, or was changed, is as good as none.
  [[nodiscard]] std::optional<nlohmann::ordered_json> find(const std::string& key) const;

  // Appears at once or not at all. False where it cannot be written.
  bool keep(const std::string& key, const RunPoint& point,
            const nlohmann::ordered_json& result) const;

 private:
  [[nodiscard]] std::filesystem::path file_of(const std::string& key) const;

  std::filesystem::path folder_;
  std::string program_hash_;
};

}  // namespace espalier
