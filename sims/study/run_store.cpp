#include "sims/study/run_store.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>

#include "sims/text/people.h"
#include "sims/text/whole_file.h"

namespace espalier {

namespace {

namespace fs = std::filesystem;

// A run that ends within this time leaves no folder, and a killed run loses no more than this.
constexpr std::chrono::seconds kBetweenWrites{1};

// Whether the folder holds what a run keeps, in part or whole, and nothing else.
bool is_of_a_run(const fs::path& folder) {
  std::error_code error;
  const auto ends_as = [](const fs::directory_entry& entry) {
    return entry.path().extension() == ".json" || entry.path().extension() == ".new";
  };
  for (const auto& entry : fs::directory_iterator(folder, error)) {
    // Version 0.5 wrote a manifest.
    if (entry.path().filename() != "points" && !ends_as(entry)) return false;
  }
  if (error || !fs::exists(folder / "points")) return !error;
  const fs::directory_iterator points(folder / "points", error);
  return !error && std::all_of(begin(points), end(points), ends_as);
}

}  // namespace

RunStore::RunStore(const std::string& target, bool resumes, PointOrigin origin, bool quiet)
    : folder_(target.empty() ? "" : target + ".partial"),
      store_(folder_),
      resumes_(resumes),
      quiet_(quiet),
      origin_(std::move(origin)) {}

std::string RunStore::mistake() const {
  return resumes_ && folder_.empty()
             ? "--resume: finished points are kept beside the results; name "
               "their file with --json or --csv"
             : "";
}

std::string RunStore::begin(const std::vector<StudyPoint>& points) {
  if (folder_.empty()) return {};
  const std::string name = folder_.string();
  std::error_code ignored;
  if (fs::exists(folder_, ignored) && !is_of_a_run(folder_)) {
    return fmt::format(
        "{}: error: it exists and holds no points of an interrupted run; remove it, or write the "
        "results to another file",
        name);
  }
  // A run may have been killed before or while it kept its first point.
  const bool has_any =
      fs::exists(store_.folder(), ignored) &&
      std::any_of(fs::directory_iterator(store_.folder()), {}, [](const fs::directory_entry& file) {
        return file.path().extension() == ".json";
      });
  if (!has_any && resumes_ && !quiet_) {
    tell(stderr, "{}: note: there are no finished points; all points are simulated\n", name);
  }
  if (!has_any) return {};
  std::size_t kept = 0;
  std::size_t damaged = 0;  // recall() names them
  for (const StudyPoint& point : points) {
    const StoredPoint stored = store_.finished(point.id, point.config_hash);
    if (stored.document) ++kept;
    if (!stored.problem.empty()) ++damaged;
  }
  if (!points.empty() && kept + damaged == 0 && resumes_) {
    return fmt::format(
        "{}: error: the finished points belong to another configuration; without --resume, all "
        "points are simulated, and the finished points stay",
        name);
  }
  if (kept != 0 && !quiet_) {
    tell(stderr, "{}: {}{} of {} points are finished{}\n", name, resumes_ ? "" : "note: ", kept,
         points.size(), resumes_ ? "" : " since an earlier run; --resume uses them");
  }
  return {};
}

std::optional<WorkerReport> RunStore::recall(const StudyPoint& point) {
  if (!resumes_ || folder_.empty()) return std::nullopt;
  const StoredPoint stored = store_.finished(point.id, point.config_hash);
  if (!stored.problem.empty()) {
    tell(stderr, "warning: {}; simulating the point again\n", stored.problem);
  }
  if (!stored.document) return std::nullopt;
  ended_.push_back(point.id);
  has_points_ = true;
  const std::string version = stored.document->at("version").get<std::string>();
  if (version != origin_.version && !has_warned_) {
    has_warned_ = true;
    tell(stderr,
         "{}: warning: finished points are results of espalier {}, and this program is espalier "
         "{}; run without --resume to simulate them again\n",
         folder_.string(), version, origin_.version);
  }
  WorkerReport report;
  report.result = stored.document->at("result");
  if (stored.document->contains("host")) report.result["host"] = stored.document->at("host");
  report.note = stored.document->value("note", "");
  return report;
}

void RunStore::add(const StudyPoint& point, const WorkerReport& report) {
  ended_.push_back(point.id);
  if (folder_.empty() || report.kind != FailureKind::none || report.stopped) return;
  waiting_.emplace_back(point, report);
  if (Clock::now() - last_written_ < kBetweenWrites) return;
  // If the points cannot be written now, they stay in the list and are tried again.
  static_cast<void>(write());
}

bool RunStore::write() {
  last_written_ = Clock::now();
  bool is_open = !waiting_.empty() && store_.open();
  while (is_open && !waiting_.empty()) {
    const auto& [point, report] = waiting_.back();
    is_open = store_.keep(point, report, origin_);
    has_points_ |= is_open;
    if (is_open) waiting_.pop_back();
  }
  // A folder in which nothing could be written is empty.
  std::error_code ignored;
  if (!has_points_ && fs::remove(store_.folder(), ignored)) fs::remove(folder_, ignored);
  return has_points_ && waiting_.empty();
}

bool RunStore::say_kept(const std::string& what, const char* why) {
  if (!write()) return false;
  tell(stderr, "{} kept in {}; {}:\n    {}\n", what, folder_.string(), why, origin_.command);
  return true;
}

bool RunStore::say_stop(const std::string& stop, const std::string& otherwise) {
  if (say_kept(stop + " and", "to continue")) return true;
  tell(stderr, "{}{}\n", stop, otherwise);
  return false;
}

void RunStore::end(bool good) {
  if (!good && has_points_) say_kept("the finished points are", "to simulate the others again");
  if (!good || folder_.empty()) return;
  std::error_code ignored;
  for (const std::string& id : ended_) fs::remove(store_.folder() / (id + ".json"), ignored);
  fs::remove(folder_ / "manifest.json", ignored);
  remove_unfinished_files(store_.folder());
  // A folder with points of another configuration stays.
  fs::remove(store_.folder(), ignored);
  fs::remove(folder_, ignored);
}

}  // namespace espalier
