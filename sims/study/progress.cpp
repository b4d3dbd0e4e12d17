#include "sims/study/progress.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <numeric>

namespace espalier {

using std::chrono::steady_clock;

namespace {

// "40 s", "12:30 min", "3:05 h".
std::string duration_text(double seconds) {
  const auto whole = std::lround(seconds);
  if (whole < 60) return fmt::format("{} s", whole);
  if (whole < 3600) return fmt::format("{}:{:02} min", whole / 60, whole % 60);
  return fmt::format("{}:{:02} h", whole / 3600, whole / 60 % 60);
}

}  // namespace

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

Progress::Progress(std::size_t points, Shown shown, Time begin)
    : done_(points, 0),
      shown_(shown),
      terminal_(isatty(STDERR_FILENO) == 1),
      begin_(begin),
      last_(begin) {}

void Progress::clear() {
  if (drawn_) fmt::print(stderr, "\r\x1b[K");
  drawn_ = false;
}

void Progress::count(bool failed) {
  ++ended_;
  if (!failed) return;
  ++failed_;
  clear();  // somebody may write about it
}

void Progress::update(std::size_t point, double done) {
  if (shown_ == Shown::nothing) return;
  done_[point] = std::min(done, 1.0);
  const Time now = steady_clock::now();
  if (terminal_) {
    if (now - last_ >= std::chrono::milliseconds(200)) draw(now);
  } else if (shown_ == Shown::in_logs_too) {
    const std::string text = line(now);
    if (!text.empty()) fmt::print(stderr, "{}\n", text);
  }
}

void Progress::draw(Time now) {
  constexpr int kWidth = 30;
  last_ = now;
  const double done =
      std::accumulate(done_.begin(), done_.end(), 0.0) / static_cast<double>(done_.size());
  const int filled = static_cast<int>(done * kWidth);
  const auto left = left_.seconds(now, done);
  if (now - begin_ < std::chrono::seconds(2)) return;
  drawn_ = true;
  fmt::print(stderr, "\r\x1b[K[{}{}] {:3.0f} %{}",
             std::string(static_cast<std::size_t>(filled), '#'),
             std::string(static_cast<std::size_t>(kWidth - filled), '.'), done * 100,
             left ? fmt::format("  {} left", duration_text(*left)) : std::string());
  std::fflush(stderr);
}

std::string Progress::line(Time now) {
  const std::size_t points = done_.size();
  if (ended_ == 0 || ended_ == points || now - last_ <= std::chrono::seconds(30)) return {};
  last_ = now;
  const double elapsed = std::chrono::duration<double>(now - begin_).count();
  const double left = elapsed * static_cast<double>(points - ended_) / static_cast<double>(ended_);
  return fmt::format("{} of {} points, {} failed; {} left", ended_, points, failed_,
                     duration_text(left));
}

}  // namespace espalier
