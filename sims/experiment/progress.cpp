#include "sims/experiment/progress.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <numeric>

namespace espalier {

using std::chrono::steady_clock;

std::string duration_text(double seconds) {
  const auto whole = std::lround(seconds);
  if (whole < 60) return fmt::format("{} s", whole);
  if (whole < 3600) return fmt::format("{}:{:02} min", whole / 60, whole % 60);
  return fmt::format("{}:{:02} h", whole / 3600, whole / 60 % 60);
}

std::optional<double> TimeLeft::seconds(Time now, double done) {
  constexpr double kShortest = 2;
  constexpr double kLongEnough = 20;
  constexpr double kEnoughDone = 0.01;
  if (done <= 0) return std::nullopt;
  if (!begin_) {
    begin_ = now;
    done_at_begin_ = done;
  }
  const double elapsed = std::chrono::duration<double>(now - *begin_).count();
  const double progress = done - done_at_begin_;
  if (elapsed < kShortest || progress <= 0) return std::nullopt;
  if (progress < kEnoughDone && elapsed < kLongEnough) return std::nullopt;
  return elapsed * (1 - done) / progress;
}

ProgressBar::ProgressBar(std::size_t points)
    : done_(points, 0),
      begin_(steady_clock::now()),
      last_drawn_(begin_),
      terminal_(isatty(STDERR_FILENO) == 1) {}

ProgressBar::~ProgressBar() { clear(); }

void ProgressBar::clear() {
  if (drawn_) fmt::print(stderr, "\r\x1b[K");
  drawn_ = false;
}

void ProgressBar::update(std::size_t point, double done) {
  if (!terminal_) return;
  done_[point] = std::min(done, 1.0);
  const auto now = steady_clock::now();
  if (now - last_drawn_ < std::chrono::milliseconds(200)) return;
  last_drawn_ = now;
  draw(std::accumulate(done_.begin(), done_.end(), 0.0) / static_cast<double>(done_.size()));
}

void ProgressBar::draw(double done) {
  constexpr int kWidth = 30;
  const int filled = static_cast<int>(done * kWidth);
  const auto now = steady_clock::now();
  const auto left = left_.seconds(now, done);
  if (now - begin_ < std::chrono::seconds(2)) return;
  drawn_ = true;
  fmt::print(stderr, "\r\x1b[K[{}{}] {:3.0f} %{}",
             std::string(static_cast<std::size_t>(filled), '#'),
             std::string(static_cast<std::size_t>(kWidth - filled), '.'), done * 100,
             left ? fmt::format("  {} left", duration_text(*left)) : std::string());
  std::fflush(stderr);
}

std::string ProgressLines::line(Time now) {
  if (ended_ == 0 || ended_ == points_ || now - last_ <= std::chrono::seconds(30)) return {};
  last_ = now;
  const double elapsed = std::chrono::duration<double>(now - begin_).count();
  const double left = elapsed * static_cast<double>(points_ - ended_) / static_cast<double>(ended_);
  return fmt::format("{} of {} points, {} failed; {} left", ended_, points_, failed_,
                     duration_text(left));
}

}  // namespace espalier
