#include "sims/observe/scopes/ni_scope.h"

#include <fmt/format.h>

#include <algorithm>

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

}  // namespace

void StepClock::entered(Timestep step, Cycle now) {
  if (step >= steps_.size()) steps_.resize(step + 1);
  Step& entered = steps_[step];
  entered.first = std::min(entered.first, now);
  entered.last = std::max(entered.last, now);
  ++entered.entered;
}

Cycle StepClock::begin_of(Timestep step) const {
  return step < steps_.size() ? steps_[step].first : kNever;
}

Cycle StepClock::end_of(Timestep step) const {
  const bool is_over = step + 1 < steps_.size() && steps_[step + 1].entered == nis_;
  return is_over ? steps_[step + 1].last : kNever;
}

NiScope::NiScope(NetworkInterface& ni, WaveRecorder& recorder, StepClock& steps)
    : recorder_(recorder), steps_(steps) {
  const std::string name = ni.name();
  const std::size_t before = recorder.num_signals();
  recorder.describe_scope(name, "NetworkInterface");
  if (ni.engine() != nullptr) {
    ni.prepare_to_show();
    ni.engine()->show(view_);
  }
  if (view_.table) {
    table_.timestep = recorder.add(name + ".timestep", kStepBits);
    table_.lockstep =
        recorder.add(name + ".lockstep", kCycleBits, nullptr, GtkwDisplay::analog_step);
    table_.entry = recorder.add(name + ".entry", kStepBits);
    table_.op = recorder.add(name + ".op", kOpBits, &kOps);
    table_.flow = recorder.add(name + ".flow", kFlowBits);
    table_.step = recorder.add(name + ".step", kStepBits);
    table_.ready = recorder.add(name + ".ready", kReadyBits);
    table_.stall = recorder.add(name + ".stall", kStallBits, &kStalls);
  }
  for (std::size_t d = 0; d < view_.dimensions.size(); ++d) {
    const std::string scope = fmt::format("{}.dim{}", name, d + 1);
    DimensionSignals signals;
    signals.depth = recorder.add(scope + ".depth", kCountBits);
    signals.head = recorder.add(scope + ".head", kCycleBits);
    signals.chosen = recorder.add(scope + ".chosen", kCycleBits);
    signals.in_flight = recorder.add(scope + ".in_flight", kCountBits);
    dimensions_.push_back(signals);
  }
  add_contexts(name);
  sends_ = recorder.add(name + ".active_sends", kCountBits);
  if (ni.releases_early()) held_ = recorder.add(name + ".held_ports", kCountBits);
  reducing_ = recorder.add(name + ".reducing", 1);
  delivered_ = recorder.add(name + ".delivered_bytes", kByteBits);
  is_wanted_ = recorder.num_signals() != before;
  recorder.change(0, sends_, 0);
  if (ni.releases_early()) recorder.change(0, held_, 0);
  recorder.change(0, reducing_, 0);
  recorder.change(0, delivered_, 0);
  if (view_.table) show_table(*view_.table, 0);
  show_dimensions(view_.dimensions, 0);
  show_contexts(view_.contexts, 0);
}

void NiScope::add_contexts(const std::string& name) {
  for (std::size_t c = 0; c < view_.contexts.size(); ++c) {
    const std::string scope = fmt::format("{}.ctx{}", name, c);
    ContextSignals signals;
    signals.pc = recorder_.add(scope + ".pc", kStepBits);
    signals.op = recorder_.add(scope + ".op", 4, &kProgramOps);
    signals.tile = recorder_.add(scope + ".tile", kCycleBits);
    signals.requests = recorder_.add(scope + ".requests", kCountBits);
    signals.stall = recorder_.add(scope + ".stall", 3, &kContextStalls);
    contexts_.push_back(signals);
  }
}

void NiScope::evaluated(const NetworkInterface& ni, Cycle now) {
  generate(now);
  if (ni.engine_acted()) {
    view_.table.reset();
    view_.dimensions.clear();
    view_.contexts.clear();
    ni.engine()->show(view_);
    if (view_.table) show_table(*view_.table, now);
    show_dimensions(view_.dimensions, now);
    show_contexts(view_.contexts, now);
  }
  recorder_.change(now, sends_, ni.active_sends());
  if (ni.releases_early()) recorder_.change(now, held_, ni.held_ports());
  recorder_.change(now, delivered_, ni.delivered_bytes());
  if (ni.reduction_busy_until() > now) {
    reducing_until_ = ni.reduction_busy_until();
    recorder_.change(now, reducing_, 1);
  }
}

void NiScope::generate(Cycle until) {
  if (reducing_until_ == 0 || reducing_until_ > until) return;
  recorder_.change(reducing_until_, reducing_, 0);
  reducing_until_ = 0;
}

void NiScope::show_table(const TableView& table, Cycle now) {
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
void NiScope::count_down(Cycle from, Cycle until) {
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

void NiScope::show_dimensions(const std::vector<DimensionView>& dimensions, Cycle now) {
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

void NiScope::show_contexts(const std::vector<ContextView>& contexts, Cycle now) {
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

}  // namespace espalier
