#include "sims/study/run_store.h"

#include <fmt/format.h>

#include <utility>

#include "sims/config/resolved.h"
#include "sims/text/read_file.h"
#include "sims/text/whole_file.h"

namespace espalier {

namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

// A run that ends within this time leaves no folder, and a killed run loses no more than this.
constexpr std::chrono::seconds kBetweenWrites{1};

// Null if the folder has no manifest of a run.
Json read_run_manifest(const fs::path& folder) {
  const FileText file = read_file_bytes((folder / "manifest.json").string());
  if (!file.text) return nullptr;
  Json manifest = Json::parse(*file.text, nullptr, false);
  const bool is_ours = manifest.is_object() && manifest.value("run", Json()).is_string();
  return is_ours ? manifest : Json();
}

}  // namespace

RunStore::RunStore(const std::string& target, const std::vector<StudyPoint>& points,
                   PointOrigin origin)
    : folder_(target + ".partial"),
      store_(folder_),
      origin_(std::move(origin)),
      points_(points),
      last_written_(Clock::now()) {
  Json ids = Json::array();
  for (const StudyPoint& point : points) ids.push_back(point.id);
  hash_ = hash_of(ids);
}

std::string RunStore::begin(bool resume, std::vector<PointReport>& reports) {
  std::error_code ignored;
  if (!fs::exists(folder_, ignored)) {
    if (resume) {
      fmt::print(stderr, "{}: note: there are no finished points; all points are simulated\n",
                 folder_.string());
    }
    return {};
  }
  const Json manifest = read_run_manifest(folder_);
  if (manifest.is_null()) {
    return fmt::format(
        "{}: error: it exists and holds no points of an interrupted run; remove it, or write the "
        "results to another file",
        folder_.string());
  }
  const bool is_same = manifest.at("run") == hash_;
  if (resume && !is_same) {
    return fmt::format(
        "{}: error: the finished points belong to another configuration ({}; this one is {}); "
        "without --resume, all points are simulated and the finished points are removed",
        folder_.string(), manifest.at("run").get<std::string>(), hash_);
  }
  std::size_t kept = 0;
  std::size_t of_other_version = 0;
  std::string other_version;
  for (std::size_t i = 0; i < points_.size(); ++i) {
    const StoredPoint stored = store_.finished(points_[i].id, points_[i].config_hash);
    if (!stored.problem.empty() && resume) {
      fmt::print(stderr, "warning: {}; simulating the point again\n", stored.problem);
    }
    if (!stored.document) continue;
    ++kept;
    if (!resume) continue;
    const std::string version = stored.document->value("version", "");
    if (version != origin_.version) {
      ++of_other_version;
      other_version = version;
    }
    reports[i].result = stored.document->at("result");
    if (stored.document->contains("host")) reports[i].result["host"] = stored.document->at("host");
  }
  is_begun_ = is_same;
  if (is_same) {
    fmt::print(stderr, "{}: {}{} of {} points are finished{}\n", folder_.string(),
               resume ? "" : "note: ", kept, points_.size(),
               resume ? "" : " since an earlier run; --resume uses them");
  } else {
    fmt::print(stderr,
               "{}: note: the finished points of another configuration are removed when the first "
               "points of this run are kept\n",
               folder_.string());
  }
  if (of_other_version != 0) {
    fmt::print(stderr,
               "{}: warning: {} of them are results of espalier {}, and this program is espalier "
               "{}; run without --resume to simulate them again\n",
               folder_.string(), of_other_version, other_version, origin_.version);
  }
  return {};
}

void RunStore::add(std::size_t i, const WorkerReport& report) {
  if (report.kind != FailureKind::none) return;
  waiting_.emplace_back(i, report);
  if (Clock::now() - last_written_ < kBetweenWrites) return;
  // If the points cannot be written now, they stay in the list and are tried again.
  static_cast<void>(write());
}

bool RunStore::write() {
  last_written_ = Clock::now();
  if (!is_begun_) {
    std::error_code ignored;
    // begin() has made sure that an existing folder is one of this program.
    fs::remove_all(folder_, ignored);
    if (!store_.open()) return false;
    const Json manifest{{"tool", {{"name", "espalier"}, {"version", origin_.version}}},
                        {"run", hash_},
                        {"command", origin_.command},
                        {"points", points_.size()}};
    if (!write_whole_file(folder_ / "manifest.json", manifest.dump(2) + "\n")) return false;
    is_begun_ = true;
  }
  while (!waiting_.empty()) {
    const auto& [i, report] = waiting_.back();
    if (!store_.keep(points_[i], report, origin_)) return false;
    waiting_.pop_back();
  }
  return true;
}

void RunStore::remove() {
  std::error_code ignored;
  if (is_begun_) fs::remove_all(folder_, ignored);
}

}  // namespace espalier
