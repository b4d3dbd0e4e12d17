// `espalier run --waves FILE`: the waveform of one simulation, with its save file for GTKWave.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "alg/schedule/schedule.h"
#include "hw/ids.h"
#include "sims/observe/scopes/wave_scopes.h"
#include "sims/observe/waves/wave_recorder.h"
#include "sims/system/fabric.h"
#include "sims/system/simulation.h"

namespace espalier {

// The recorded part of a run, in cycles or in timesteps of the schedule. A step begins when the
// first NI enters it, and ends when the last NI enters the next step. The default is the whole run.
struct WaveWindow {
  std::optional<Cycle> from;
  std::optional<Cycle> to;  // the cycle after the last one in the window
  std::optional<Timestep> from_step;
  std::optional<Timestep> to_step;  // the last one in the window

  [[nodiscard]] bool is_whole_run() const { return !from && !to && !from_step && !to_step; }
};

struct WaveRequest {
  std::string path;  // .vcd or .fst
  std::vector<std::string> scopes;
  WaveWindow window;
  std::uint64_t clock_hertz = 1'000'000'000;
  bool shows_flits = false;  // also show signals that change with every flit, see VcFlitScope
};

// What a save file shows first, by the names of modules.
struct WaveFocus {
  std::vector<std::string> nis;
  std::vector<std::string> channels;
  std::optional<Cycle> marker;
};

class WaveSession : public SystemObserver {
 public:
  // Creates the file. Throws std::invalid_argument and std::runtime_error like WaveRecorder.
  explicit WaveSession(const WaveRequest& request);

  // Throws std::invalid_argument if a scope has no signal.
  void begin(Fabric& fabric) override;
  // If the file cannot be written, both end the recording, and the run goes on.
  void advance(Cycle until) override;
  void finish(Cycle end) override;
  // What begin() has thrown; empty if nothing.
  [[nodiscard]] const std::string& mistake() const { return mistake_; }
  // Why the recording has ended too early; empty if it has not.
  [[nodiscard]] const std::string& problem() const { return problem_; }
  // To be called after finish(): writes the save file again, with these NIs before all other NIs,
  // these channels and their VCs before all other channels, and the marker if it is in the window.
  void show_first(const WaveFocus& focus);

 private:
  void order_by_position(const Topology& topology);
  void watch_channels(Fabric& fabric);
  void watch_nis(Fabric& fabric);
  void keep(std::unique_ptr<WaveScope> scope) {
    if (scope) scopes_.push_back(std::move(scope));
  }
  void watch_rtl(const std::vector<RtlPlace>& models);
  [[nodiscard]] Cycle window_begin() const;
  [[nodiscard]] Cycle window_end() const;
  // Calls write(); if that fails, the recording ends.
  template <class Write>
  void attempt(const Write& write);
  void record(Cycle until);
  void close(Cycle end);
  [[nodiscard]] std::string channel_of(const std::string& scope) const;
  [[nodiscard]] static std::string module_of(const std::string& scope);
  void write_save_file() const;

  WaveRequest request_;
  WaveRecorder recorder_;
  std::unique_ptr<StepClock> steps_;
  std::vector<std::unique_ptr<WaveScope>> scopes_;
  std::set<std::string> channel_names_;
  std::set<std::string> router_names_;  // of routers with Verilog
  // By NI and router: its place among those of its kind, layer by layer and row by row. Empty: the
  // network has no positions.
  std::map<std::string, std::size_t> order_;
  WaveFocus focus_;
  Cycle first_ = 0;
  Cycle end_ = 0;
  bool has_begun_ = false;
  bool is_closed_ = false;
  std::string mistake_;
  std::string problem_;
};

}  // namespace espalier
