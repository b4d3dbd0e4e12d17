// Several points at once, each in a process of its own: SystemC elaborates once per process, and a
// point that crashes does not harm the others.
#pragma once

#include <array>
#include <chrono>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "hw/ids.h"
#include "sims/experiment/point_runner.h"
#include "sims/process/child_process.h"
#include "sims/text/units.h"

namespace espalier {

enum class FailureKind : std::uint8_t {
  none,
  error,       // the point cannot be simulated
  unverified,  // the point was simulated, and its result is wrong
  crash,
  time_limit,
  memory_limit
};
inline constexpr std::array kFailureKindNames{"none",  "error",      "unverified",
                                              "crash", "time_limit", "memory_limit"};

struct WorkerReport : PointReport {
  FailureKind kind = FailureKind::none;  // none: `failure` is empty
  bool stopped = false;                  // WorkerBatch::loses held; there is no result
};

// The lines that a worker writes to stdout, one JSON object each: any number of {"progress": x,
// "at_least": n}, then one {"report": ...}. `at_least`: cycles, as in SimulationHooks.
void write_worker_progress(double done, Cycle at_least);
void write_worker_report(const PointReport& report);
// After this call, a worker that gets no more memory reports it and ends.
void report_when_out_of_memory();
[[noreturn]] void report_out_of_memory();
// A sentence: how much memory this process had when it got no more, and its limit.
[[nodiscard]] std::string out_of_memory_text();

// Limits of each point. 0: no limit.
struct WorkerLimits {
  std::chrono::milliseconds time{0};  // on the clock
  std::uint64_t memory_bytes = 0;     // of address space, the program's own included
};

// A century. Clocks count nanoseconds in 63 bits, so a deadline in two centuries would overflow.
inline constexpr std::chrono::milliseconds kLongestTimeLimit = std::chrono::hours(876'000);

// Valid limits, in a sweep file and on the command line.
struct LimitRange {
  Quantity quantity;
  std::uint64_t least;
  std::uint64_t most;

  // In the quantity's base units, within the range.
  [[nodiscard]] ParsedQuantity parse(const std::string& text) const;
};

inline constexpr LimitRange kTimeLimits{Quantity::duration, 1,
                                        std::uint64_t{kLongestTimeLimit.count()}};
// The program alone takes about 20 MiB of address space.
inline constexpr LimitRange kMemoryLimits{Quantity::size, std::uint64_t{32} << 20U,
                                          std::uint64_t{1} << 60U};

// All functions are called on the thread that runs the batch.
struct WorkerBatch {
  // What the worker of point i reads from stdin.
  std::function<std::string(std::size_t)> input = {};
  std::function<void(std::size_t, double)> progress = {};
  // Point i has ended, with or without a failure. Returns false to start no further point.
  std::function<bool(std::size_t, const WorkerReport&)> finished = {};
  WorkerLimits limits = {};
  // Whether point i need not be simulated to the end, because it takes at least so many cycles;
  // asked before its worker starts, with 0, and when the worker reports progress. May be empty.
  std::function<bool(std::size_t, Cycle)> loses = {};
};

// Runs the command, whose first word is a program, for every i < points, at most `at_once` at a
// time, and waits for all workers. A
// worker that dies without a report yields a report that says so. If file descriptors run out,
// fewer workers run at once. A signal of kStopSignals ends all workers; their points are not
// reported.
// Workers end with this process, however it ends. Returns the signal, 0 if there was none. Call
// from the main thread.
[[nodiscard]] int run_workers(const std::vector<std::string>& command, std::size_t points,
                              std::size_t at_once, const WorkerBatch& batch);

// Nothing unless the text is a number.
[[nodiscard]] std::optional<unsigned> parse_number(std::string_view text);

// Returns `asked` unless it is 0; then the number of processors that Slurm gave the job, or of the
// machine.
[[nodiscard]] unsigned jobs_at_once(unsigned asked);

// The signals of kStopSignals as data, while the object exists. Signals that nobody has taken are
// dropped.
class StopSignals {
 public:
  StopSignals();
  ~StopSignals();
  StopSignals(const StopSignals&) = delete;
  StopSignals& operator=(const StopSignals&) = delete;

  [[nodiscard]] int descriptor() const { return descriptor_.number(); }
  // 0: none has arrived.
  [[nodiscard]] int take() const;

 private:
  sigset_t before_{};
  Descriptor descriptor_;
};

// "SIGINT".
[[nodiscard]] std::string signal_name(int signal);

}  // namespace espalier
