// Several points at once, each in a process of its own: SystemC elaborates once per process.
#pragma once

#include <cstddef>
#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "sims/run/point_runner.h"

namespace espalier {

// What a worker writes to its stdout, one JSON object per line: any number of {"progress": x}, then
// one {"report": ...}.
void write_worker_progress(double done);
void write_worker_report(const PointReport& report);

// What the workers of a batch are told, and whom they tell. The latter two may be called from any
// thread, for several workers at once.
struct WorkerBatch {
  std::function<std::vector<std::string>(std::size_t)> arguments;
  std::function<void(std::size_t, double)> progress;
  // Point i has ended, well or not. False: no further point is started. May be empty.
  std::function<bool(std::size_t, const PointReport&)> finished;
};

// Runs `program` for every i < points, at most `at_once` at a time, and returns their reports in
// order; those of points that were not started are empty. A worker that dies without a report
// yields one whose failure says so.
[[nodiscard]] std::vector<PointReport> run_workers(const std::string& program, std::size_t points,
                                                   std::size_t at_once, const WorkerBatch& batch);

}  // namespace espalier
