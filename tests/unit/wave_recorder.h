// A waveform format that remembers what it was told, one line each.
#pragma once

#include <fmt/format.h>

#include <memory>
#include <string>
#include <vector>

#include "sims/observe/waves/wave_recorder.h"

namespace espalier::wave_test {

using Lines = std::vector<std::string>;

class Recorder final : public WaveFormat {
 public:
  explicit Recorder(Lines& lines) : lines_(lines) {}

  void begin_header(int timescale, std::size_t num_signals) override {
    note("timescale {}, {} signals", timescale, num_signals);
  }
  void open_scope(const std::string& name, const std::string& component) override {
    note("scope {} {}", name, component);
  }
  void declare(SignalId id, const WaveSignal& signal) override {
    note("signal {} {} {}", id.value(), signal.name, signal.bits);
  }
  void close_scope() override { note("end of scope"); }
  void end_header() override { note("end of header"); }
  void time(std::uint64_t time) override { note("#{}", time); }
  void value(SignalId id, WaveValue value) override {
    note("{}={}", id.value(), value.known ? std::to_string(value.bits) : "x");
  }
  void close() override { note("closed"); }

 private:
  template <class... Values>
  void note(const char* text, const Values&... values) {
    lines_.push_back(fmt::format(fmt::runtime(text), values...));
  }

  Lines& lines_;
};

// A recorder into `lines`, at 1 GHz where nothing else is said.
inline std::unique_ptr<WaveRecorder> record(Lines& lines,
                                            std::uint64_t clock_hertz = 1'000'000'000) {
  return std::make_unique<WaveRecorder>(std::make_unique<Recorder>(lines), WaveClock(clock_hertz));
}

}  // namespace espalier::wave_test
