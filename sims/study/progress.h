// Progress with the estimated time left: a bar on a terminal, lines in the log of a batch job.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
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

enum class Shown : std::uint8_t { nothing, on_terminals, in_logs_too };

// Writes to stderr: on a terminal a bar, after two seconds; in a log a line every half minute. A
// thread draws the bar, so that it shows the passing time while a schedule is planned, which takes
// long and tells nothing. The thread takes no lock that a forked child needs.
class Progress {
 public:
  using Time = TimeLeft::Time;

  explicit Progress(std::size_t points, Shown shown = Shown::on_terminals,
                    Time begin = std::chrono::steady_clock::now());
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  // `done`: the part of point `point` that is simulated, 0 to 1.
  void update(std::size_t point, double done);
  // A point has ended.
  void count(bool failed);
  // Erases the bar before other text is written, and leaves a second for the text.
  void clear();
  // "40 of 200 points, 2 failed; 12:30 min left", without an end of line. Empty in the half minute
  // after the last line, and before the first point has ended.
  [[nodiscard]] std::string line(Time now);

 private:
  void draw_until_the_end();
  void draw(Time now);

  std::vector<double> done_;
  std::size_t ended_ = 0;
  std::size_t failed_ = 0;
  Shown shown_;
  Time begin_;
  Time last_line_;
  TimeLeft left_;
  std::atomic<double> share_{0};  // of all points
  std::atomic<bool> drawn_{false};
  std::atomic<Time> next_drawing_;
  std::mutex mutex_;  // of ends_
  std::condition_variable end_;
  bool ends_ = false;
  std::thread drawer_;  // on a terminal
};

}  // namespace espalier
