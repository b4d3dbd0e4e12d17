#include "sims/experiment/progress_lines.h"

#include <fmt/format.h>

#include "sims/experiment/progress.h"

namespace espalier {

namespace {

constexpr std::chrono::seconds kPeriod{30};

}  // namespace

std::string ProgressLines::line(Time now) {
  if (ended_ == 0 || ended_ == points_ || now - last_ <= kPeriod) return {};
  last_ = now;
  const double elapsed = std::chrono::duration<double>(now - begin_).count();
  const double left = elapsed * static_cast<double>(points_ - ended_) / static_cast<double>(ended_);
  return fmt::format("{} of {} points, {} failed; {} left", ended_, points_, failed_,
                     duration_text(left));
}

}  // namespace espalier
