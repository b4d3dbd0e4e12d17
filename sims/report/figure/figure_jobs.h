// The simulations that figures need, each once, and their results on disk.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "sims/point/config.h"
#include "sims/report/figure/figure_reader.h"
#include "sims/report/figure/figure_table.h"

namespace espalier {

// Finished points on disk, a file each, so that an interrupted figure continues where it stopped.
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

struct FigureJob {
  // A panel that draws the point.
  struct Use {
    std::size_t figure;
    std::size_t panel;
  };

  std::string key;  // of the cache
  const RunPoint* point = nullptr;
  std::vector<Use> uses;
  bool kept = false;  // finished by an earlier call
  std::optional<nlohmann::ordered_json> result;
  std::string failure;
};

struct FigureRun {
  std::string problem;  // why results cannot be kept; empty if they can
  int signal = 0;       // the signal that stopped the run; 0 for none
};

class FigureJobs {
 public:
  // `figures` must outlive this object. Takes the results of the cache.
  FigureJobs(std::vector<FigureResult>& figures, const PointCache& cache);

  // Simulates the missing points in child processes of `program`, `at_once` at a time. Every result
  // goes to the cache as it comes. Stops with errors in the figure's diagnostics if a result lacks
  // a field that the figure draws.
  [[nodiscard]] FigureRun run(const std::string& program, std::size_t at_once);

  [[nodiscard]] const std::vector<FigureJob>& jobs() const { return jobs_; }
  // The job of point i in panel p of figure f.
  [[nodiscard]] const FigureJob& job_of(std::size_t f, std::size_t p, std::size_t i) const;

 private:
  // Returns false if a figure asks for a field that the result lacks.
  bool check(const FigureJob& job);

  std::vector<FigureResult>& figures_;
  const PointCache& cache_;
  std::vector<FigureJob> jobs_;
  std::vector<std::vector<std::vector<std::size_t>>> index_;  // job by figure, panel, point
};

// By panel and point, the settings that tell a figure's points apart: "collective.algorithm=ring
// collective.size=32KiB".
[[nodiscard]] std::vector<std::vector<std::string>> point_names(const Figure& figure);

}  // namespace espalier
