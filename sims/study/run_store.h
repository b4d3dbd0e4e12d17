// The finished points of `run`, `compare` and `latency`, kept beside their results until the
// results are written, so that --resume continues after an interruption. The folder is
// RESULTS.partial; its points are stored as a sweep's points are. A point's id stands for its
// content, so points of several configurations may lie beside each other.
#pragma once

#include <chrono>
#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "sims/study/point_store.h"
#include "sims/study/workers.h"

namespace espalier {

class RunStore {
 public:
  // `target`: the file of the results; empty if they go to none, so that nothing is kept.
  // `resumes`: finished points of an earlier run are used. `origin.command` continues an
  // interrupted run. `quiet`: begin() prints nothing.
  RunStore(const std::string& target, bool resumes, PointOrigin origin, bool quiet = false);

  // Why --resume cannot be used; empty if it can.
  [[nodiscard]] std::string mistake() const;
  // Tells the user what an earlier run has left. `points`: all points of this run; empty if they
  // depend on results. Returns an error if the folder holds something else, or no point of this
  // run although it resumes; empty otherwise.
  [[nodiscard]] std::string begin(const std::vector<StudyPoint>& points);

  // What an earlier run has kept of the point, if this run resumes.
  [[nodiscard]] std::optional<WorkerReport> recall(const StudyPoint& point);
  // The point has ended. Failed points are not kept: they run again.
  void add(const StudyPoint& point, const WorkerReport& report);

  // After a signal. `stop` says what stopped and what is finished. Returns false if the points are
  // not kept; then `otherwise` ends the sentence.
  bool say_stop(const std::string& stop, const std::string& otherwise);
  // The results cannot be written; the simulations are not lost.
  void say_unwritten() { say_kept("the finished points are", "to write the results"); }
  // The results are written, so the points of this run are not needed any more. With `good` false,
  // points have failed, and the others stay for them.
  void end(bool good);

 private:
  using Clock = std::chrono::steady_clock;

  // Writes all points that are not written yet. Returns false if the folder has none.
  [[nodiscard]] bool write();
  bool say_kept(const std::string& what, const char* why);

  std::filesystem::path folder_;  // empty: nothing is kept
  PointStore store_;
  bool resumes_;
  bool quiet_;
  PointOrigin origin_;
  std::vector<std::pair<StudyPoint, WorkerReport>> waiting_;
  std::vector<std::string> ended_;  // ids
  bool has_points_ = false;         // the folder has points of this run
  Clock::time_point last_written_ = Clock::now();
  bool has_warned_ = false;  // of points of another version
};

}  // namespace espalier
