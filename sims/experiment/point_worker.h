// One resolved point in a process of its own: what the parent passes, and the work of the child.
#pragma once

#include <cstddef>
#include <cstdint>
#include <iosfwd>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "sims/experiment/workers.h"
#include "sims/text/file_hashes.h"

namespace espalier {

// What a worker does besides simulating the point's own algorithm.
struct WorkerTask {
  bool plan = false;          // only plan_run() (sims/experiment/point_runner.h)
  bool explain = false;       // the result has an explanation of the time
  std::string schedule = {};  // file of the schedule tables; empty: the algorithm makes the tables
  std::string choices = {};   // folder of what auto has decided; empty: none
  // The node of each rank, which replaces collective.rank_order; empty: as configured.
  std::vector<std::uint32_t> rank_order = {};
  std::string messages = {};  // file for a line of each message; empty: none
  std::size_t number = 1;     // of the point, in these lines
};

// The child's input. `config`: as resolved_json gives it; paths in it start in `folder`. `files`:
// hashes of the files that the point was read from. The child fails if a file has another hash.
[[nodiscard]] std::string worker_input(const nlohmann::ordered_json& config,
                                       const std::string& folder, const FileHashes& files,
                                       const WorkerTask& task = {});
// This program, whose workers read such an input.
[[nodiscard]] std::vector<std::string> worker_command();

// A point for run_points(), and what its worker does.
struct WorkerPoint {
  const RunPoint* point;
  WorkerTask task = {};
};

// Runs every point in a worker of its own, at most `jobs` at a time (jobs_at_once()). `batch` needs
// no input; without `progress`, a bar shows it. Returns the signal that stopped the workers, or
// 0.
[[nodiscard]] int run_points(const std::vector<WorkerPoint>& points, unsigned jobs,
                             WorkerBatch batch);

// The child's side: simulates the point and writes its report to stdout. Returns false if the point
// failed. Throws std::invalid_argument if the input is none of worker_input().
[[nodiscard]] bool work_on_point(std::istream& input);

}  // namespace espalier
