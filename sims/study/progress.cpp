#include "sims/study/progress.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <csignal>
#include <cstdio>
#include <numeric>

#include "sims/text/whole_file.h"

namespace espalier {

using std::chrono::steady_clock;

namespace {

constexpr const char* kEraseLine = "\r\x1b[K";

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
      begin_(begin),
      last_line_(begin),
      next_drawing_(begin + std::chrono::seconds(2)) {
  if (shown_ == Shown::nothing || isatty(STDERR_FILENO) != 1) return;
  // Signals are for the thread that works.
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  drawer_ = std::thread([this] { draw_until_the_end(); });
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

Progress::~Progress() {
  if (!drawer_.joinable()) return;
  {
    const std::lock_guard lock(mutex_);
    ends_ = true;
  }
  end_.notify_one();
  drawer_.join();
  clear();
}

void Progress::clear() {
  next_drawing_ = steady_clock::now() + std::chrono::seconds(1);
  if (drawn_.exchange(false)) static_cast<void>(write_all(STDERR_FILENO, kEraseLine));
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
  share_ = std::accumulate(done_.begin(), done_.end(), 0.0) / static_cast<double>(done_.size());
  if (drawer_.joinable() || shown_ != Shown::in_logs_too) return;
  const std::string text = line(steady_clock::now());
  if (!text.empty()) fmt::print(stderr, "{}\n", text);
}

void Progress::draw_until_the_end() {
  std::unique_lock lock(mutex_);
  while (!end_.wait_for(lock, std::chrono::milliseconds(200), [this] { return ends_; })) {
    draw(steady_clock::now());
  }
}

void Progress::draw(Time now) {
  constexpr std::size_t kWidth = 30;
  const double share = share_;
  const auto left = left_.seconds(now, share);
  if (now < next_drawing_.load()) return;
  const auto filled = static_cast<std::size_t>(share * kWidth);
  const std::string text =
      share == 0 ? fmt::format("planning, {} so far",
                               duration_text(std::chrono::duration<double>(now - begin_).count()))
                 : fmt::format("[{}{}] {:3.0f} %{}", std::string(filled, '#'),
                               std::string(kWidth - filled, '.'), share * 100,
                               left ? fmt::format("  {} left", duration_text(*left)) : "");
  drawn_ = true;
  static_cast<void>(write_all(STDERR_FILENO, kEraseLine + text));
}

std::string Progress::line(Time now) {
  const std::size_t points = done_.size();
  if (ended_ == 0 || ended_ == points || now - last_line_ <= std::chrono::seconds(30)) return {};
  last_line_ = now;
  const double elapsed = std::chrono::duration<double>(now - begin_).count();
  const double left = elapsed * static_cast<double>(points - ended_) / static_cast<double>(ended_);
  return fmt::format("{} of {} points, {} failed; {} left", ended_, points, failed_,
                     duration_text(left));
}

}  // namespace espalier
