// Points that are simulated together, each in a process of its own.
#pragma once

#include <cstddef>
#include <cstdint>
#include <iosfwd>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "sims/study/progress.h"
#include "sims/study/workers.h"
#include "sims/text/file_hashes.h"

namespace espalier {

class RunStore;
struct RunPoint;

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

struct StudyPoint {
  // Of the content: the configuration, the texts of the files that it names, and the parts of the
  // task that change a result. The same point has the same id in every study.
  std::string id;
  // Of a sweep, by axis key, as written; without keys whose axis does not vary here.
  nlohmann::ordered_json set = nlohmann::ordered_json::object();
  std::vector<nlohmann::ordered_json> alike = {};  // further values of the axes, the same point
  std::string config_hash;
  std::string config;  // resolved, as the text of JSON: a sweep has up to a million
  std::string folder;  // paths in `config` start here
  FileHashes files;    // the files that the point was read from
  WorkerTask task;
};

// Precondition: point.file_hashes has the task's schedule.
[[nodiscard]] StudyPoint study_point(const RunPoint& point, WorkerTask task = {});

// Runs the points with the indices `which`, in this order, each in a worker of its own, at most
// `jobs` at a time (jobs_at_once()). `batch` gets indices of `points`; it needs neither input
// nor progress. `store`, unless it is nullptr, gives the reports of points that it has, before any
// worker starts, and gets the others. Returns the signal that stopped the workers, or 0.
[[nodiscard]] int run_points(const std::vector<StudyPoint>& points,
                             const std::vector<std::size_t>& which, unsigned jobs,
                             const WorkerBatch& batch, Shown shown = Shown::on_terminals,
                             RunStore* store = nullptr);
// 0 to points - 1.
[[nodiscard]] std::vector<std::size_t> every_one(std::size_t points);

// Simulates the point in this process: run_point() with the task's choices and lines of messages.
[[nodiscard]] PointReport simulate_here(const Topology& topology, const RunPoint& point,
                                        const std::optional<ScheduleTables>& tables,
                                        SimulationHooks hooks, RunAccount* account,
                                        const WorkerTask& task);

// The child's side: simulates the point and writes its report to stdout. Returns false if the point
// failed. Throws std::invalid_argument if the input is no point.
[[nodiscard]] bool work_on_point(std::istream& input);

}  // namespace espalier
