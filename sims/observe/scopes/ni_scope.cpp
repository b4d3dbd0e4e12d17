#include <fmt/format.h>

#include <optional>
#include <string>
#include <vector>

#include "ni/engine_view.h"
#include "sims/observe/scopes/wave_scopes.h"

namespace espalier {

namespace {

const EnumText kOps{"table_op", {"Reduce", "Gather", "NOP", "done"}};
constexpr std::uint64_t kNoEntryLeft = 3;  // in kOps
constexpr unsigned kOpBits = 2;
const EnumText kStalls{"stall",
                       {"none", "step", "lockstep", "parent", "children", "dma", "injection",
                        "doorbell", "event", "slot", "done"}};
constexpr std::uint64_t kStallDone = 10;
constexpr unsigned kStallBits = 4;
// State of a context that has done its last step; lower values are ProgramOp.
constexpr std::uint64_t kDone = 9;
const EnumText kProgramOps{"program_op",
                           {"nop", "s", "r", "rcs", "rrs", "rrc", "rrcs", "cpy", "re", "done"}};
const EnumText kContextStalls{
    "context_stall",
    {"none", "launch", "dependency", "message", "slot", "requests", "port", "busy"}};
constexpr unsigned kStepBits = 16;
constexpr unsigned kCycleBits = 32;
constexpr unsigned kByteBits = 48;
constexpr unsigned kCountBits = 16;
// A down-counter is shown as a staircase with at most this many steps, so the cost does not depend
// on the number of cycles that it counts.
constexpr Cycle kCounterSteps = 8;

class NiScope : public WaveScope, public NiObserver {
 public:
  NiScope(NetworkInterface& ni, WaveRecorder& recorder, StepClock& steps)
      : recorder_(recorder), steps_(steps) {
    std::string scope = ni.name();
    const auto add = [&](const char* name, unsigned bits, const EnumText* texts = nullptr,
                         GtkwDisplay display = GtkwDisplay::decimal) {
      return recorder.add(fmt::format("{}.{}", scope, name), bits, texts, display);
    };
    recorder.describe_scope(scope, "NetworkInterface");
    if (ni.engine() != nullptr) {
      ni.prepare_to_show();
      ni.engine()->show(view_);
    }
    if (view_.table) {
      table_ = {add("timestep", kStepBits),
                add("lockstep", kCycleBits, nullptr, GtkwDisplay::analog_step),
                add("entry", kStepBits),
                add("op", kOpBits, &kOps),
                add("flow", kFlowBits),
                add("step", kStepBits),
                add("ready", kReadyBits),
                add("stall", kStallBits, &kStalls)};
    }
    for (std::size_t d = 0; d < view_.dimensions.size(); ++d) {
      scope = fmt::format("{}.dim{}", ni.name(), d + 1);
      dimensions_.push_back({add("depth", kCountBits), add("head", kCycleBits),
                             add("chosen", kCycleBits), add("in_flight", kCountBits)});
    }
    for (std::size_t c = 0; c < view_.contexts.size(); ++c) {
      scope = fmt::format("{}.ctx{}", ni.name(), c);
      contexts_.push_back({add("pc", kStepBits), add("op", 4, &kProgramOps),
                           add("tile", kCycleBits), add("requests", kCountBits),
                           add("stall", 3, &kContextStalls)});
    }
    scope = ni.name();
    sends_ = add("active_sends", kCountBits);
    if (ni.releases_early()) held_ = add("held_ports", kCountBits);
    reducing_ = add("reducing", 1);
    delivered_ = add("delivered_bytes", kByteBits);
    for (const SignalId signal : {sends_, held_, reducing_, delivered_})
      recorder.change(0, signal, 0);
    show(0);
  }

  void evaluated(const NetworkInterface& ni, Cycle now) override {
    end_reduction(now);
    if (ni.engine_acted()) {
      view_.table.reset();
      view_.dimensions.clear();
      view_.contexts.clear();
      ni.engine()->show(view_);
      show(now);
    }
    recorder_.change(now, sends_, ni.active_sends());
    if (ni.releases_early()) recorder_.change(now, held_, ni.held_ports());
    recorder_.change(now, delivered_, ni.delivered_bytes());
    if (ni.reduction_busy_until() > now) {
      reducing_until_ = ni.reduction_busy_until();
      recorder_.change(now, reducing_, 1);
    }
  }
  void generate(Cycle, Cycle until) override { end_reduction(until); }

 private:
  // The reduction unit is free without an event.
  void end_reduction(Cycle until) {
    if (reducing_until_ == 0 || reducing_until_ > until) return;
    recorder_.change(reducing_until_, reducing_, 0);
    reducing_until_ = 0;
  }
  struct TableSignals {
    SignalId timestep, lockstep, entry, op, flow, step, ready, stall;
  };
  struct DimensionSignals {
    SignalId depth, head, chosen, in_flight;
  };
  struct ContextSignals {
    SignalId pc, op, tile, requests, stall;
  };
  void show(Cycle now) {
    if (view_.table) show_table(*view_.table, now);
    show_dimensions(view_.dimensions, now);
    show_contexts(view_.contexts, now);
  }
  void show_table(const TableView& table, Cycle now) {
    const auto timestep = static_cast<Timestep>(table.timestep);
    for (; timestep_ < timestep; ++timestep_) steps_.entered(timestep_ + 1, now);
    recorder_.change(now, table_.timestep, table.timestep);
    if (table.lockstep_until != lockstep_until_) {
      lockstep_until_ = table.lockstep_until;
      count_down(now, lockstep_until_);
    } else if (now == 0) {
      recorder_.change(0, table_.lockstep, 0);
    }
    if (table.done) {
      // The numbers stay at the last entry's. Unknown values would look like a fault of the RTL.
      recorder_.change(now, table_.op, kNoEntryLeft);
      recorder_.change(now, table_.stall, kStallDone);
      if (now != 0) return;
      for (const SignalId signal : {table_.entry, table_.flow, table_.step, table_.ready}) {
        recorder_.change(now, signal, 0);
      }
      return;
    }
    recorder_.change(now, table_.stall, static_cast<std::uint64_t>(table.stall));
    recorder_.change(now, table_.entry, table.head);
    recorder_.change(now, table_.op, table.op);
    if (table.flow.valid()) {
      recorder_.change(now, table_.flow, table.flow.value());
    } else if (now == 0) {
      recorder_.change(0, table_.flow, 0);  // a NOP has no flow; the last one stays
    }
    recorder_.change(now, table_.step, table.head_step);
    recorder_.change(now, table_.ready, table.ready_bits);
  }
  // A loaded counter always runs down to 0.
  void count_down(Cycle from, Cycle until) {
    if (until <= from) {
      recorder_.change(from, table_.lockstep, 0);
      return;
    }
    const Cycle load = until - from;
    recorder_.change(from, table_.lockstep, load);
    Cycle step = 1;
    while (step * kCounterSteps < load) step *= 2;
    for (Cycle left = (load - 1) / step * step; left != 0; left -= step) {
      recorder_.change(until - left, table_.lockstep, left);
    }
    recorder_.change(until, table_.lockstep, 0);
  }
  void show_dimensions(const std::vector<DimensionView>& dimensions, Cycle now) {
    for (std::size_t d = 0; d < dimensions_.size(); ++d) {
      const DimensionView& view = dimensions[d];
      const DimensionSignals& signals = dimensions_[d];
      const auto show = [&](SignalId signal, const std::optional<std::uint64_t>& value) {
        if (value) {
          recorder_.change(now, signal, *value);
        } else {
          recorder_.change_to_unknown(now, signal);
        }
      };
      recorder_.change(now, signals.depth, view.depth);
      show(signals.head, view.head);
      show(signals.chosen, view.chosen);
      recorder_.change(now, signals.in_flight, view.in_flight);
    }
  }
  void show_contexts(const std::vector<ContextView>& contexts, Cycle now) {
    for (std::size_t c = 0; c < contexts_.size(); ++c) {
      const ContextView& view = contexts[c];
      const ContextSignals& signals = contexts_[c];
      recorder_.change(now, signals.op, view.done ? kDone : view.op);
      recorder_.change(now, signals.requests, view.requests);
      recorder_.change(now, signals.stall, static_cast<std::uint64_t>(view.stall));
      if (view.done && now != 0) continue;
      recorder_.change(now, signals.pc, view.pc);
      recorder_.change(now, signals.tile, view.tile);
    }
  }

  WaveRecorder& recorder_;
  StepClock& steps_;
  TableSignals table_;
  std::vector<DimensionSignals> dimensions_;
  std::vector<ContextSignals> contexts_;
  SignalId sends_, held_, reducing_, delivered_;
  EngineView view_;  // a member only to reuse its memory
  Timestep timestep_ = 0;
  Cycle lockstep_until_ = 0;
  Cycle reducing_until_ = 0;
};

}  // namespace

std::unique_ptr<WaveScope> ni_scope(NetworkInterface& ni, WaveRecorder& recorder, StepClock& steps,
                                    bool always) {
  const std::size_t before = recorder.num_signals();
  auto scope = std::make_unique<NiScope>(ni, recorder, steps);
  if (recorder.num_signals() == before && !always) return nullptr;
  ni.observe(*scope);
  return scope;
}

}  // namespace espalier
