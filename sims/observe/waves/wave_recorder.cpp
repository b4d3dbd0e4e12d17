#include "sims/observe/waves/wave_recorder.h"

#include <fmt/format.h>
#include <fnmatch.h>

#include <algorithm>
#include <filesystem>
#include <stdexcept>
#include <utility>

#include "sims/text/nearest_name.h"

namespace espalier {

namespace {

std::unique_ptr<WaveFormat> open_format(const std::string& path) {
  const std::string ending = std::filesystem::path(path).extension().string();
  if (ending == ".vcd") return open_vcd(path);
  if (ending == ".fst") return open_fst(path);
  throw std::invalid_argument(
      fmt::format("{}: the name of a waveform file must end in .vcd or .fst", path));
}

}  // namespace

WaveRecorder::WaveRecorder(const std::string& path, std::uint64_t clock_hertz,
                           const std::vector<std::string>& scopes)
    : WaveRecorder(nullptr, WaveClock(clock_hertz), scopes) {
  format_ = open_format(path);
}

WaveRecorder::WaveRecorder(std::unique_ptr<WaveFormat> format, WaveClock clock,
                           const std::vector<std::string>& scopes)
    : clock_(clock), format_(std::move(format)) {
  for (const std::string& scope : scopes) patterns_.push_back({scope, scope + ".*"});
}

bool WaveRecorder::may_want(const std::string& scope) {
  if (patterns_.empty()) return true;
  names_.push_back(scope);
  return std::any_of(patterns_.begin(), patterns_.end(), [&](const Pattern& pattern) {
    const std::size_t literal = std::min(pattern.below.find_first_of("*?["), scope.size());
    return pattern.below.compare(0, literal, scope, 0, literal) == 0;
  });
}

bool WaveRecorder::is_wanted(const std::string& path) {
  if (patterns_.empty()) return true;
  names_.push_back(path);
  bool is_wanted = false;
  for (Pattern& pattern : patterns_) {
    if (fnmatch(pattern.text.c_str(), path.c_str(), 0) != 0 &&
        fnmatch(pattern.below.c_str(), path.c_str(), 0) != 0) {
      continue;
    }
    pattern.is_matched = is_wanted = true;
  }
  return is_wanted;
}

std::string WaveRecorder::unmatched() const {
  const auto found = std::find_if_not(patterns_.begin(), patterns_.end(),
                                      [](const Pattern& pattern) { return pattern.is_matched; });
  if (found == patterns_.end()) return {};
  const std::string nearest = nearest_name(found->text, names_);
  return fmt::format("no signal matches '{}'; {}", found->text,
                     nearest.empty() ? "signals are for example " + names_.front()
                                     : fmt::format("did you mean '{}'?", nearest));
}

SignalId WaveRecorder::add(const std::string& path, unsigned bits, const EnumText* texts,
                           GtkwDisplay display) {
  if (!is_wanted(path)) return {};
  const SignalId signal = tree_.add(path, bits, texts);
  signals_.push_back({path, bits, texts != nullptr ? GtkwDisplay::enum_text : display, texts});
  states_.emplace_back().most = ~std::uint64_t{0} >> (64 - bits);
  return signal;
}

void WaveRecorder::refuse_value(SignalId signal, std::uint64_t value) const {
  const GtkwSignal& refused = signals_[signal.index()];
  throw std::out_of_range(
      fmt::format("signal {}: {} does not fit into {} bits", refused.path, value, refused.bits));
}

void WaveRecorder::begin(Cycle first) {
  tree_.write_header(*format_, clock_.timescale());
  first_ = now_ = first;
}

void WaveRecorder::flush(Cycle until) {
  for (const WaveChange& change : changes_.take_before(until)) {
    // A change before the window becomes a change in the window's first cycle.
    const Cycle cycle = std::max(change.at, first_);
    if (first_ != kNever && cycle < now_) {
      throw std::logic_error(
          fmt::format("a waveform at cycle {} received a change of cycle {}", now_, cycle));
    }
    if (cycle != now_ && first_ != kNever) {
      write_cycle();
      now_ = cycle;
    }
    State& state = states_[change.signal.index()];
    state.present = {change.bits, !change.is_unknown};
    if (!std::exchange(state.touched, true)) touched_.push_back(change.signal);
  }
}

void WaveRecorder::write_cycle() {
  if (!any_written_) {
    write_time(clock_.time(first_));
    for (std::size_t s = 0; s < states_.size(); ++s) {
      states_[s].written = states_[s].present;
      format_->value(SignalId(s), states_[s].present);
    }
  }
  for (const SignalId signal : touched_) {
    State& state = states_[signal.index()];
    state.touched = false;
    if (state.present == state.written) continue;
    write_time(clock_.time(now_));
    state.written = state.present;
    format_->value(signal, state.present);
  }
  touched_.clear();
}

void WaveRecorder::write_time(std::uint64_t time) {
  if (any_written_ && time == time_) return;
  any_written_ = true;
  time_ = time;
  format_->time(time);
}

void WaveRecorder::finish(Cycle end) {
  write_cycle();
  write_time(clock_.time(std::max(end, now_)));
  format_->close();
}

}  // namespace espalier
