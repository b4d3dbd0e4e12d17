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

// Runs `program arguments(i)` for every i < points, at most `at_once` at a time, and returns their
// reports in order. A worker that dies without a report yields one whose failure says so.
// `progress(i, x)` may come from any thread.
[[nodiscard]] std::vector<PointReport> run_workers(
    const std::string& program, std::size_t points,
    const std::function<std::vector<std::string>(std::size_t)>& arguments, std::size_t at_once,
    const std::function<void(std::size_t, double)>& progress);

}  // namespace espalier
