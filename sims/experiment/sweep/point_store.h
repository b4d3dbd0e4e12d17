// FOLDER/points: a file for every point that has ended, as it ends.
#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "sims/experiment/sweep/sweep_plan.h"
#include "sims/experiment/workers.h"

namespace espalier {

// What the folder says of a point.
struct StoredPoint {
  std::optional<nlohmann::ordered_json> document;
  std::string problem;  // of a file that is there and of no use: "FILE is not whole"
};

class PointStore {
 public:
  explicit PointStore(const std::filesystem::path& sweep_folder)
      : folder_(sweep_folder / "points") {}

  [[nodiscard]] const std::filesystem::path& folder() const { return folder_; }
  // False where the folder cannot be made.
  [[nodiscard]] bool open() const;

  // ID.json and ID.failed.json. A file that is not whole, or of something else, is as good as none.
  [[nodiscard]] StoredPoint finished(const std::string& id, const std::string& config_hash) const;
  [[nodiscard]] StoredPoint failed(const std::string& id) const;

  // Replaces what was there of the point. Paths in its configuration start in `config_folder`, in
  // the file in the sweep's folder, so that both may be moved together. `command` runs it again.
  // False where it cannot be written.
  [[nodiscard]] bool keep(const SweepPoint& point, const std::string& config_folder,
                          const WorkerReport& report, const std::string& command) const;

 private:
  std::filesystem::path folder_;
};

}  // namespace espalier
