// The simulations that figures need, each once, however many figures show it.
#pragma once

#include <cstddef>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "sims/report/figure/figure_reader.h"
#include "sims/report/figure/figure_table.h"
#include "sims/report/figure/point_cache.h"

namespace espalier {

struct FigureJob {
  // Where it is drawn.
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
  std::string problem;  // why results cannot be kept; empty where they are
  int signal = 0;       // that stopped it
};

class FigureJobs {
 public:
  // `figures` stays where it is as long as this lives. Takes results that the cache has.
  FigureJobs(std::vector<FigureResult>& figures, const PointCache& cache);

  // Simulates what is missing, in child processes of `program`, `at_once` at a time; every result
  // goes to the cache as it comes. Stops early, with errors in the figure's diagnostics, where the
  // results do not have what a figure draws.
  [[nodiscard]] FigureRun run(const std::string& program, std::size_t at_once);

  [[nodiscard]] const std::vector<FigureJob>& jobs() const { return jobs_; }
  // Of point i in panel p of figure f.
  [[nodiscard]] const FigureJob& job_of(std::size_t f, std::size_t p, std::size_t i) const;

 private:
  // False: a figure asks for what the result does not have.
  bool check(const FigureJob& job);

  std::vector<FigureResult>& figures_;
  const PointCache& cache_;
  std::vector<FigureJob> jobs_;
  std::vector<std::vector<std::vector<std::size_t>>> index_;  // job by figure, panel, point
};

// What tells a figure's points apart, "collective.algorithm=ring collective.size=32KiB", by panel
// and point.
[[nodiscard]] std::vector<std::vector<std::string>> point_names(const Figure& figure);

}  // namespace espalier
