#include "sims/cli/commands.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <optional>

#include "sims/cli/input.h"
#include "sims/cli/output.h"
#include "sims/cli/version.h"
#include "sims/study/manifest.h"
#include "sims/study/sweep.h"
#include "sims/study/sweep_runner.h"
#include "sims/text/people.h"
#include "sims/text/whole_file.h"

namespace espalier {

namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

fs::path folder_of(const SweepOptions& options) {
  return options.output.empty() ? fs::path("sweeps") / fs::path(options.file).stem()
                                : fs::path(options.output);
}

struct Planned {
  Sweep sweep;
  SweepPlan plan;
};

// Prints errors and warnings; nullopt after an error.
std::optional<Planned> plan_of(const SweepOptions& options) {
  Diagnostics diagnostics;
  Planned planned;
  planned.sweep = read_sweep(options.file, options.overrides, diagnostics);
  if (diagnostics.num_errors() == 0) planned.plan = plan_sweep(planned.sweep, diagnostics);
  const bool good = diagnostics.num_errors() == 0;
  if (!good || !options.no_warnings) tell(stderr, "{}", diagnostics.text());
  if (good) return planned;
  if (planned.plan.invalid != 0) {
    tell(stderr, "{}: error: {} of {} points cannot be simulated\n", options.file,
         planned.plan.invalid, planned.plan.combinations - planned.plan.excluded);
  }
  return std::nullopt;
}

// Prints the differences from the plan in the folder. Returns false if the manifest cannot be
// written.
bool update_manifest(const Planned& planned, const fs::path& folder) {
  const Json manifest = manifest_of(planned.sweep, planned.plan, kVersion);
  if (const auto before = read_manifest(folder).manifest) {
    const std::vector<std::string> changes = plan_changes(*before, manifest);
    if (!changes.empty())
      tell(stderr, "{}: the plan has changed\n", (folder / "manifest.json").string());
    for (const std::string& change : changes) tell(stderr, "  {}\n", change);
  }
  return write_manifest(folder, manifest);
}

// Returns false and prints the reason if the folder cannot be made or written.
bool prepare_folder(const Planned& planned, const fs::path& folder, const PointStore& store) {
  if (!store.open()) {
    static_cast<void>(
        usage_error(store.folder().string(), "is not a folder that can be made and written"));
    return false;
  }
  if (update_manifest(planned, folder)) return true;
  static_cast<void>(usage_error((folder / "manifest.json").string(), "cannot be written"));
  return false;
}

// The options that later calls for the same sweep need.
std::vector<std::string> same_sweep(const SweepOptions& options) {
  std::vector<std::string> words{options.file};
  if (!options.output.empty()) words.insert(words.end(), {"-o", options.output});
  for (const std::string& setting : options.overrides) words.insert(words.end(), {"-s", setting});
  return words;
}

// The file's limits, overridden by the command line's.
std::optional<WorkerLimits> limits_of(const SweepOptions& options, const Sweep& sweep) {
  WorkerLimits limits = sweep.limits;
  if (!read_time_limit(options.time_limit, limits) ||
      !read_limit(options.memory_limit, "--memory-limit", kMemoryLimits, limits.memory_bytes)) {
    return std::nullopt;
  }
  return limits;
}

void print_counts(const SweepPlan& plan) {
  tell(stdout, "{} points", plan.points.size());
  if (plan.excluded != 0) tell(stdout, ", {} left out by only and except", plan.excluded);
  if (plan.unsuited != 0) tell(stdout, ", {} without a suitable algorithm", plan.unsuited);
  if (plan.alike != 0) tell(stdout, ", {} equal to other points", plan.alike);
  tell(stdout, "\n");
}

std::string version_text(const std::string& version) {
  return version.empty() ? "a version that the points do not name" : "espalier " + version;
}

void say_other_versions(const SweepTally& tally, const fs::path& folder) {
  for (const auto& [version, points] : tally.other_versions) {
    tell(stderr,
         "warning: {} finished points are results of {}, and this program is espalier {}; to "
         "simulate them again, remove {}\n",
         points, version_text(version), kVersion, (folder / "points").string());
  }
}

int finish(const SweepTally& tally, const fs::path& folder) {
  const std::size_t finished = tally.finished_before + tally.finished_now;
  tell(stdout, "{} points: {} finished, {} of them now; {} failed\n", tally.points, finished,
       tally.finished_now, tally.failed);
  say_other_versions(tally, folder);
  if (!tally.writable) {
    return usage_error((folder / "points").string(),
                       fmt::format("results cannot be written; {} points are left", tally.left()));
  }
  if (tally.signal != 0) {
    tell(stderr, "stopped by {}; {} points are left, and the same command continues\n",
         signal_name(tally.signal), tally.left());
    return exit_code_of_signal(tally.signal);
  }
  return tally.failed == 0 ? kGood : kCheckFailed;
}

// These files may be all that is left of a sweep, so gather does not remove them.
void say_what_stays(const std::vector<fs::path>& files) {
  for (const fs::path& file : files) {
    if (fs::exists(file)) tell(stderr, "{} from an earlier gather is not changed\n", file.string());
  }
}

// Without -o, a sweep file of the same name in another folder may use this folder. Then prints that
// and returns false.
bool is_own_folder(const SweepOptions& options, const fs::path& folder) {
  if (!options.output.empty()) return true;
  const auto manifest = read_manifest(folder).manifest;
  const std::string other = manifest ? manifest->value("file", "") : "";
  std::error_code ignored;
  // A file that is gone was moved or deleted.
  if (!fs::exists(other, ignored) || fs::equivalent(other, options.file, ignored)) return true;
  static_cast<void>(usage_error(
      folder.string(),
      fmt::format("is the folder of another sweep, {}; choose another folder for {} with -o", other,
                  options.file)));
  return false;
}

}  // namespace

int sweep_plan_command(const SweepOptions& options) {
  const auto planned = plan_of(options);
  if (!planned) return kUsageError;
  const fs::path folder = folder_of(options);
  if (!is_own_folder(options, folder)) return kUsageError;
  const PointStore store(folder);
  if (!prepare_folder(*planned, folder, store)) return kUsageError;
  for (const StudyPoint& point : planned->plan.points) {
    const bool is_finished = store.finished(point.id, point.config_hash).document.has_value();
    const char* state = is_finished                       ? " (finished)"
                        : store.failed(point.id).document ? " (failed)"
                                                          : "";
    tell(stdout, "{} {}{}\n", point.id, set_text(point.set), state);
  }
  print_counts(planned->plan);
  return kGood;
}

int sweep_run_command(const SweepOptions& options) {
  auto planned = plan_of(options);
  if (!planned) return kUsageError;
  const fs::path folder = folder_of(options);
  if (!is_own_folder(options, folder)) return kUsageError;
  const PointStore store(folder);

  SweepRunSettings settings;
  if (options.shard) {
    const ParsedShard shard = parse_shard(*options.shard);
    if (!shard.shard) return usage_error("--shard", shard.error);
    settings.shard = *shard.shard;
  }
  const auto limits = limits_of(options, planned->sweep);
  if (!limits) return kUsageError;
  settings.limits = *limits;
  std::vector<StudyPoint>& points = planned->plan.points;
  const auto is_named = [&](const StudyPoint& point) { return point.id == options.point; };
  if (!options.point.empty() && std::none_of(points.begin(), points.end(), is_named))
    return usage_error("--point", fmt::format("the sweep has no point {}", options.point));
  settings.only_id = options.point;
  std::vector<std::string> command{"espalier", "sweep", "run"};
  const std::vector<std::string> same = same_sweep(options);
  command.insert(command.end(), same.begin(), same.end());
  settings.command = shell_line(command);
  settings.version = kVersion;
  const std::string choices = (folder / "choices").string();
  for (StudyPoint& point : points) point.task.choices = choices;
  settings.at_once = jobs_at_once(options.jobs);
  settings.keep_failed = options.keep_failed;
  if (!prepare_folder(*planned, folder, store)) return kUsageError;
  return finish(run_sweep(planned->plan, store, settings), folder);
}

int sweep_gather_command(const SweepOptions& options) {
  const fs::path folder = folder_of(options);
  if (!is_own_folder(options, folder)) return kUsageError;
  const ManifestFile file = read_manifest(folder);
  if (!file.manifest) {
    tell(stderr, "{}\nhint: 'espalier sweep plan' or 'espalier sweep run' writes it\n",
         file.problem);
    return kUsageError;
  }
  const GatheredSweep gathered = gather_sweep(*file.manifest, PointStore(folder));
  for (const std::string& point : gathered.missing) tell(stderr, "missing: {}\n", point);
  for (const std::string& point : gathered.failed) tell(stderr, "failed: {}\n", point);
  if (gathered.versions.size() > 1) {
    tell(stderr, "warning: the points are results of different versions of the program:\n");
    for (const auto& [version, points] : gathered.versions) {
      tell(stderr, "  {} points of {}\n", points, version_text(version));
    }
  }
  const std::size_t gaps = gathered.missing.size() + gathered.failed.size();
  const fs::path csv = folder / "results.csv";
  const fs::path jsonl = folder / "results.jsonl";
  if (gaps != 0) {
    tell(stderr, "{} of {} points are missing, {} failed{}\n", gathered.missing.size(),
         gathered.points, gathered.failed.size(),
         options.partial ? "" : "; nothing is written (--partial writes the others)");
    if (!options.partial) {
      say_what_stays({csv, jsonl});
      return kCheckFailed;
    }
  }
  for (const auto& [path, text] : {std::pair(csv, &gathered.csv), {jsonl, &gathered.jsonl}}) {
    if (!write_whole_file(path, *text)) return usage_error(path.string(), "cannot be written");
  }
  tell(stdout, "{} {}: {} points\n", csv.string(), jsonl.string(), gathered.points - gaps);
  return gaps == 0 ? kGood : kCheckFailed;
}

}  // namespace espalier
