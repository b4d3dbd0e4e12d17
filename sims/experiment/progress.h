// Progress with the estimated time left: a bar on a terminal, lines in the log of a batch job.
#pragma once

#include <chrono>
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace espalier {

// Estimates the time that is left from the pace since the first progress. The time before, in which
// schedules are generated and systems are built, says nothing about the pace.
class TimeLeft {
 public:
  using Time = std::chrono::steady_clock::time_point;

  // In seconds. `done`: the part of the work that is done, 0 to 1. Nothing while the pace is not
  // known: in the first two seconds, and until 1 % or 20 seconds have passed.
  [[nodiscard]] std::optional<double> seconds(Time now, double done);

 private:
  std::optional<Time> begin_;
  double done_at_begin_ = 0;
};

// Writes to stderr. Silent for the first two seconds, and if stderr is not a terminal.
class ProgressBar {
 public:
  explicit ProgressBar(std::size_t points);
  ~ProgressBar();
  ProgressBar(const ProgressBar&) = delete;
  ProgressBar& operator=(const ProgressBar&) = delete;

  // `done`: the part of point `point` that is simulated, 0 to 1.
  void update(std::size_t point, double done);
  // Whether stderr is a terminal.
  [[nodiscard]] bool has_terminal() const { return terminal_; }
  // Erases the line before other text is written; the next update draws it again.
  void clear();

 private:
  void draw(double done);

  std::vector<double> done_;
  std::chrono::steady_clock::time_point begin_;
  std::chrono::steady_clock::time_point last_drawn_;
  TimeLeft left_;
  bool terminal_;
  bool drawn_ = false;
};

// A line every half minute, for a stderr that is not a terminal.
class ProgressLines {
 public:
  using Time = std::chrono::steady_clock::time_point;

  explicit ProgressLines(std::size_t points, Time begin)
      : points_(points), begin_(begin), last_(begin) {}

  // A point has ended.
  void count(bool failed) {
    ++ended_;
    if (failed) ++failed_;
  }
  // "40 of 200 points, 2 failed; 12:30 min left", without an end of line. Empty in the half minute
  // after the last line, and before the first point has ended.
  [[nodiscard]] std::string line(Time now);

 private:
  std::size_t points_;
  std::size_t ended_ = 0;
  std::size_t failed_ = 0;
  Time begin_;
  Time last_;
};

// "40 s", "12:30 min", "3:05 h".
[[nodiscard]] std::string duration_text(double seconds);

}  // namespace espalier
