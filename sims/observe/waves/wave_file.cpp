#include "sims/observe/waves/wave_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <stdexcept>
#include <utility>

#include "sims/observe/waves/fst_format.h"
#include "sims/observe/waves/vcd_format.h"
#include "sims/observe/waves/wave_writer.h"

namespace espalier {

namespace {
constexpr std::uint64_t kGigahertz = 1'000'000'000;
constexpr std::uint64_t kFastest = 1'000'000'000'000;
}  // namespace

WaveClock::WaveClock(std::uint64_t hertz) : counts_cycles_(hertz == kGigahertz) {
  if (hertz == 0 || hertz > kFastest) {
    throw std::invalid_argument(
        fmt::format("a waveform's clock must be between 1 Hz and 1 THz; found {} Hz", hertz));
  }
  clock_.hertz = hertz;
}

WaveFile::WaveFile(std::unique_ptr<WaveFormat> format, WaveClock clock)
    : format_(std::move(format)), clock_(clock) {}

SignalId WaveFile::add(const std::string& path, unsigned bits, const EnumText* texts) {
  expect(Stage::declaring, "signals are added");
  return tree_.add(path, bits, texts);
}

void WaveFile::describe_scope(const std::string& path, const std::string& component) {
  expect(Stage::declaring, "scopes are described");
  tree_.describe_scope(path, component);
}

void WaveFile::begin(Cycle first, Cycle last) {
  expect(Stage::declaring, "a waveform is begun");
  if (tree_.size() == 0) throw std::invalid_argument("a waveform needs at least one signal");
  if (last < first) throw std::invalid_argument("a waveform's window ends before it begins");
  tree_.write_header(*format_, clock_.timescale());
  states_.resize(tree_.size());
  for (std::size_t s = 0; s < states_.size(); ++s) {
    states_[s].most = ~std::uint64_t{0} >> (64 - tree_.bits(SignalId(s)));
  }
  touched_.reserve(tree_.size());
  first_ = now_ = first;
  last_ = last;
  stage_ = Stage::recording;
}

void WaveFile::change(Cycle at, SignalId signal, std::uint64_t value) {
  note(at, signal, {value, true});
}

void WaveFile::change_to_unknown(Cycle at, SignalId signal) { note(at, signal, {0, false}); }

void WaveFile::note(Cycle at, SignalId signal, WaveValue value) {
  // A change before the window becomes a change in the window's first cycle.
  const Cycle cycle = std::max(at, first_);
  if (cycle != now_) go_to(cycle);
  if (cycle > last_) return;
  State& state = states_[signal.index()];
  if (value.bits > state.most) {
    throw std::out_of_range(fmt::format("signal {}: {} does not fit into {} bits",
                                        tree_.path(signal), value.bits, tree_.bits(signal)));
  }
  state.present = value;
  if (state.touched) return;
  state.touched = true;
  touched_.push_back(signal);
}

void WaveFile::go_to(Cycle cycle) {
  expect(Stage::recording, "values change");
  if (cycle < now_) {
    throw std::logic_error(fmt::format(
        "a waveform at cycle {} received a change of the earlier cycle {}", now_, cycle));
  }
  write_cycle();
  now_ = cycle;
}

void WaveFile::write_cycle() {
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

void WaveFile::write_time(std::uint64_t time) {
  if (any_written_ && time == time_) return;
  any_written_ = true;
  time_ = time;
  format_->time(time);
}

void WaveFile::finish(Cycle end) {
  expect(Stage::recording, "a waveform is finished");
  write_cycle();
  // Changes after the window may have been reported; they were not written.
  const Cycle heard = std::max(end, now_);
  write_time(clock_.time(std::min(heard, last_)));
  stage_ = Stage::finished;
  now_ = kNever;
  format_->close();
}

void WaveFile::expect(Stage stage, const char* what) const {
  if (stage_ == stage) return;
  throw std::logic_error(fmt::format(
      "{} {}", what,
      stage == Stage::declaring ? "only before begin()" : "only between begin() and finish()"));
}

std::unique_ptr<WaveWriter> make_wave_writer(const std::string& path, std::uint64_t clock_hertz) {
  const WaveClock clock(clock_hertz);
  const std::string ending = std::filesystem::path(path).extension().string();
  if (ending == ".vcd") {
    return std::make_unique<WaveFile>(std::make_unique<VcdFormat>(path), clock);
  }
  if (ending == ".fst") return std::make_unique<WaveFile>(open_fst(path), clock);
  throw std::invalid_argument(
      fmt::format("{}: the name of a waveform file must end in .vcd or .fst", path));
}

}  // namespace espalier
