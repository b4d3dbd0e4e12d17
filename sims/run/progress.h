// Progress with an estimated time of arrival, on a terminal only.
#pragma once

#include <chrono>
#include <vector>

namespace espalier {

// Writes to stderr; silent for the first two seconds and where stderr is no terminal.
class ProgressBar {
 public:
  explicit ProgressBar(std::size_t points);
  ~ProgressBar();
  ProgressBar(const ProgressBar&) = delete;
  ProgressBar& operator=(const ProgressBar&) = delete;

  // `done`: part of point `point`, 0 to 1.
  void update(std::size_t point, double done);
  // Before another line goes to the terminal; the next update draws it anew.
  void clear();

 private:
  void draw(double done) const;

  std::vector<double> done_;
  std::chrono::steady_clock::time_point begin_;
  std::chrono::steady_clock::time_point last_drawn_;
  bool terminal_;
  bool drawn_ = false;
};

}  // namespace espalier
