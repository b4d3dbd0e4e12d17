// The finished points of `run`, kept beside its results until the results are written, so that `run
// --resume` continues after an interruption. The folder is RESULTS.partial; its points are stored
// as a sweep's points are.
#pragma once

#include <chrono>
#include <cstddef>
#include <filesystem>
#include <string>
#include <vector>

#include "sims/study/point_store.h"
#include "sims/study/workers.h"

namespace espalier {

class RunStore {
 public:
  // `target`: the file of the results. `points` outlive the store.
  RunStore(const std::string& target, const std::vector<StudyPoint>& points, PointOrigin origin);

  [[nodiscard]] const std::filesystem::path& folder() const { return folder_; }

  // Looks at what an earlier run has left, and tells the user. With `resume`, `reports` gets its
  // finished points; the others stay as they are. Returns an error if the folder holds points of
  // another configuration, or is not a folder of this program; empty otherwise.
  [[nodiscard]] std::string begin(bool resume, std::vector<PointReport>& reports);

  // Point i has ended. Failed points are not kept: they run again.
  void add(std::size_t i, const WorkerReport& report);
  // Writes all points that are not written yet. Returns false if they cannot be written.
  [[nodiscard]] bool write();
  // The results are written, so the points are not needed any more.
  void remove();

 private:
  using Clock = std::chrono::steady_clock;

  std::filesystem::path folder_;
  PointStore store_;
  PointOrigin origin_;
  const std::vector<StudyPoint>& points_;
  std::string hash_;  // of all points
  std::vector<std::pair<std::size_t, WorkerReport>> waiting_;
  Clock::time_point last_written_;
  bool is_begun_ = false;  // the folder has the manifest of this run
};

}  // namespace espalier
