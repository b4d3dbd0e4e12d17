// FOLDER/points: one file for each point, written when the point ends.
#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "sims/study/study.h"
#include "sims/study/workers.h"

namespace espalier {

// The folder's information about a point.
struct StoredPoint {
  std::optional<nlohmann::ordered_json> document;
  std::string problem;  // set if the file exists but cannot be used: "FILE is not whole"
};

// What made a point's result.
struct PointOrigin {
  std::string command;  // runs the point again
  std::string version;  // of the program
};

class PointStore {
 public:
  explicit PointStore(const std::filesystem::path& sweep_folder)
      : folder_(sweep_folder / "points") {}

  [[nodiscard]] const std::filesystem::path& folder() const { return folder_; }
  // Makes the folder and proves that files can be written there. Returns false if they cannot.
  [[nodiscard]] bool open() const;

  // Read ID.json and ID.failed.json. A file that is incomplete, or belongs to another point, counts
  // as missing.
  [[nodiscard]] StoredPoint finished(const std::string& id, const std::string& config_hash) const;
  [[nodiscard]] StoredPoint failed(const std::string& id) const;

  // Replaces the point's files. Paths in the point's configuration are relative to its folder; in
  // the file they are relative to the sweep's folder, so that both can be moved together.
  // Returns false if the file cannot be written.
  [[nodiscard]] bool keep(const StudyPoint& point, const WorkerReport& report,
                          const PointOrigin& origin) const;

 private:
  std::filesystem::path folder_;
};

}  // namespace espalier
