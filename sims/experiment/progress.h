// Progress with the estimated time left, on a terminal only.
#pragma once

#include <chrono>
#include <string>
#include <vector>

namespace espalier {

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
  void draw(double done) const;

  std::vector<double> done_;
  std::chrono::steady_clock::time_point begin_;
  std::chrono::steady_clock::time_point last_drawn_;
  bool terminal_;
  bool drawn_ = false;
};

// "40 s", "12:30 min", "3:05 h".
[[nodiscard]] std::string duration_text(double seconds);

}  // namespace espalier
