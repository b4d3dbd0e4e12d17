// Progress for the log of a batch job: a line every half minute, if stderr is not a terminal.
#pragma once

#include <chrono>
#include <cstddef>
#include <string>

namespace espalier {

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

}  // namespace espalier
