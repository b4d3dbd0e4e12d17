// Progress with an estimated time of arrival, on a terminal only.
#pragma once

#include <chrono>
#include <mutex>
#include <vector>

namespace espalier {

// Thread-safe. Writes to stderr; silent for the first two seconds and where stderr is no terminal.
class ProgressBar {
 public:
  explicit ProgressBar(std::size_t points);
  ~ProgressBar();
  ProgressBar(const ProgressBar&) = delete;
  ProgressBar& operator=(const ProgressBar&) = delete;

  // `done`: part of point `point`, 0 to 1.
  void update(std::size_t point, double done);

 private:
  void draw(double done) const;

  std::mutex mutex_;
  std::vector<double> done_;
  std::chrono::steady_clock::time_point begin_;
  std::chrono::steady_clock::time_point last_drawn_;
  bool terminal_;
  bool drawn_ = false;
};

}  // namespace espalier
