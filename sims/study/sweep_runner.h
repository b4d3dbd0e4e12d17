// Simulates the points of a sweep that have no result yet.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>

#include "sims/study/point_store.h"
#include "sims/study/sweep_plan.h"
#include "sims/study/workers.h"

namespace espalier {

// A share of the points, for one of several machines: i, i + of, i + 2 of, ... of the manifest; i
// counts from 0. All shards together have every point exactly once.
struct Shard {
  std::size_t index = 0;
  std::size_t of = 1;

  [[nodiscard]] bool has(std::size_t point) const { return point % of == index; }
};

struct ParsedShard {
  std::optional<Shard> shard;
  std::string error;  // reason, if `shard` is empty
};

// "2/8" is the second of eight.
[[nodiscard]] ParsedShard parse_shard(const std::string& text);

struct SweepRunSettings {
  std::string command;  // runs the sweep; with the id of a point appended, runs the point
  std::string version;  // of the program
  std::string only_id;  // if not empty: run this point, even if it is finished
  Shard shard;
  unsigned at_once = 1;
  WorkerLimits limits;
  bool keep_failed = false;  // do not try again points that failed before
};

// Counts of the points in the shard. Only points with a file in the folder count as finished or
// failed.
struct SweepTally {
  std::size_t points = 0;
  std::size_t finished_before = 0;
  std::size_t finished_now = 0;
  std::size_t failed = 0;  // including points that failed before
  // Points of `finished_before` that another version of the program made, by that version; "" for
  // points without a version.
  std::map<std::string, std::size_t> other_versions;
  int signal = 0;        // the signal that stopped the sweep
  bool writable = true;  // false: a file could not be written, and the sweep stopped

  [[nodiscard]] std::size_t left() const {
    return points - finished_before - finished_now - failed;
  }
};

// Failures are written to stderr immediately.
[[nodiscard]] SweepTally run_sweep(const SweepPlan& plan, const PointStore& store,
                                   const SweepRunSettings& settings);

}  // namespace espalier
