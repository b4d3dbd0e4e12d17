#include "sims/observe/scopes/wave_recorder.h"

#include <fnmatch.h>

#include <algorithm>

namespace espalier {

WaveRecorder::WaveRecorder(std::unique_ptr<WaveWriter> writer, std::vector<std::string> scopes)
    : writer_(std::move(writer)), patterns_(std::move(scopes)) {
  const std::size_t given = patterns_.size();
  for (std::size_t i = 0; i < given; ++i) patterns_.push_back(patterns_[i] + ".*");
}

bool WaveRecorder::may_want(const std::string& scope) const {
  if (patterns_.empty()) return true;
  return std::any_of(patterns_.begin(), patterns_.end(), [&](const std::string& pattern) {
    const std::size_t literal = std::min(pattern.find_first_of("*?["), scope.size());
    return pattern.compare(0, literal, scope, 0, literal) == 0;
  });
}

bool WaveRecorder::is_wanted(const std::string& path) const {
  if (patterns_.empty()) return true;
  return std::any_of(patterns_.begin(), patterns_.end(), [&](const std::string& pattern) {
    return fnmatch(pattern.c_str(), path.c_str(), 0) == 0;
  });
}

WaveSignal WaveRecorder::add(const std::string& path, unsigned bits, const EnumText* texts,
                             GtkwDisplay display) {
  if (!is_wanted(path)) return {};
  const WaveSignal signal = writer_->add(path, bits, texts);
  signals_.push_back({path, bits, texts != nullptr ? GtkwDisplay::enum_text : display, texts});
  noted_.resize(signal.index() + 1);
  before_.resize(signal.index() + 1);
  return signal;
}

void WaveRecorder::begin(Cycle first) {
  has_begun_ = true;
  writer_->begin(first);
  for (std::size_t s = 0; s < before_.size(); ++s) {
    write({first, before_[s].bits, WaveSignal(s), before_[s].is_unknown});
  }
}

void WaveRecorder::write(const WaveChange& change) {
  if (change.is_unknown) {
    writer_->change_to_unknown(change.at, change.signal);
  } else {
    writer_->change(change.at, change.signal, change.bits);
  }
}

void WaveRecorder::flush(Cycle until) {
  // The last of several changes of a signal in one cycle counts.
  for (const WaveChange& change : changes_.take_before(until)) {
    if (has_begun_) {
      write(change);
    } else {
      before_[change.signal.index()] = {change.is_unknown, change.bits};
    }
  }
}

void WaveRecorder::finish(Cycle end) { writer_->finish(end); }

}  // namespace espalier
