// A look into Verilog that decides in the simulation, and into external ports, for waveforms.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "hw/ids.h"

namespace espalier {

// What a program says that was built without Verilog models.
inline constexpr const char* kNoRtlModels =
    "this program has no Verilog models; from a clone, "
    "CMAKE_OPTIONS=-DESPALIER_RTL=ON sims/build.sh release espalier builds one with them";

// How a waveform shows a signal. A down-counter falls by 1 in each cycle until it stops at 0 or 1.
enum class RtlKind : std::uint8_t { number, mask, down_counter };

// A register or a wire of a compiled Verilog model.
struct RtlSignal {
  std::string name;  // in the model's scope: "timestep", "out2.vc"
  unsigned bits = 1;
  std::function<std::uint64_t()> read;  // the model's present value
  RtlKind kind = RtlKind::number;
};

class RtlWatcher {
 public:
  virtual ~RtlWatcher() = default;
  // The model has the state of cycle `now`: its registers as they are before the edge that ends the
  // cycle, its outputs as they follow from the cycle's inputs. The last call for a cycle counts.
  // The signals stay as they are in cycles without a call. Cycles do not descend.
  virtual void settled(Cycle now) = 0;
};

// What an adapter of a Verilog model shows. A new signal is one line in signals() of its adapter.
class RtlProbe {
 public:
  RtlProbe() = default;
  virtual ~RtlProbe() = default;
  RtlProbe(const RtlProbe&) = delete;
  RtlProbe& operator=(const RtlProbe&) = delete;

  [[nodiscard]] virtual const char* module() const = 0;  // in Verilog
  // Only the ports that this instance uses. The probe must outlive the signals.
  [[nodiscard]] virtual std::vector<RtlSignal> signals() const = 0;
  // A module sleeps while its model decides nothing, and the model may be left behind. Shows the
  // watcher the cycles before `until`, which are over.
  virtual void catch_up(Cycle until) = 0;

  // To be called before the simulation. `watcher` must outlive the calls of settled().
  void watch(RtlWatcher& watcher) { watcher_ = &watcher; }
  void stop_watching() { watcher_ = nullptr; }

 protected:
  [[nodiscard]] bool is_watched() const { return watcher_ != nullptr; }
  void settled(Cycle now) const {
    if (watcher_ != nullptr) watcher_->settled(now);
  }

 private:
  RtlWatcher* watcher_ = nullptr;
};

// A model, and the scope of the hardware that it is part of: "net.r_1_2", "net.ni_1_2.dim1".
struct RtlPlace {
  std::string scope;
  RtlProbe* probe = nullptr;
  const char* between = ".rtl.";  // the scope and the module
};

}  // namespace espalier
