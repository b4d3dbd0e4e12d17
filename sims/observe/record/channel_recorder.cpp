#include "sims/observe/record/channel_recorder.h"

#include <utility>

#include "sims/observe/record/cut_runs.h"

namespace espalier {

namespace {

FlitRun& flits_of(CarriedRun& run) { return run.flits; }
FlitRun& flits_of(FlitRun& run) { return run; }

bool goes_on(const FlitRun& run, const FlitRun& next) {
  return run.rate == next.rate && run.tick_of(run.n) == next.start;
}

template <class Runs>
void take_back(Runs& runs, std::uint64_t n) {
  cut_runs(runs, n, [](auto& run) -> FlitRun& { return flits_of(run); });
}

template <class Runs>
void take_back_from(Runs& runs, Tick end) {
  while (!runs.empty()) {
    const FlitRun& last = flits_of(runs.back());
    const std::uint64_t late = last.n - last.before(end);
    if (late == 0) return;
    take_back(runs, late);
  }
}

}  // namespace

ChannelRecorder::ChannelRecorder(ChannelRecord& record, MessageRecords& messages,
                                 FlitInSwitch& in_switch)
    : record_(record), messages_(messages), in_switch_(in_switch), fronts_(record.vcs.size()) {}

void ChannelRecorder::end_at(Tick end) {
  for (VcRecord& vc : record_.vcs) {
    take_back_from(vc.carried, end);
    take_back_from(vc.left, end);
  }
}

void ChannelRecorder::carry(std::uint32_t vc, const CarriedRun& run) {
  std::vector<CarriedRun>& runs = record_.vcs[vc].carried;
  if (!runs.empty()) {
    CarriedRun& last = runs.back();
    if (last.message == run.message && last.offset + last.flits.n == run.offset &&
        goes_on(last.flits, run.flits)) {
      last.flits.n += run.flits.n;
      return;
    }
  }
  runs.push_back(run);
}

// An NI takes a flit in each cycle, in whichever part of it the flit came.
void ChannelRecorder::leave(std::uint32_t vc, FlitRun flits) {
  const Tick q = record_.spec.ticks_per_cycle;
  if (flits.rate == q) flits.start -= flits.start % q;
  std::vector<FlitRun>& runs = record_.vcs[vc].left;
  if (!runs.empty() && goes_on(runs.back(), flits)) {
    runs.back().n += flits.n;
  } else {
    runs.push_back(flits);
  }
}

std::uint64_t ChannelRecorder::pop(std::uint32_t vc) {
  const std::vector<CarriedRun>& runs = record_.vcs[vc].carried;
  Front& front = fronts_[vc];
  if (front.flit == runs[front.run].flits.n) front = {front.run + 1, 0};
  return runs[front.run].offset + front.flit++;
}

void ChannelRecorder::flit_sent(std::uint32_t vc, const Flit& flit, Tick departure) {
  by_flits_ = true;
  const FlitRun alone{departure, record_.link.ticks_per_flit, 1};
  const RecordIndex message = messages_.index_of(flit.message);
  const std::uint16_t out_port = messages_.out_port(flit.message, flit.hop);
  if (flit.hop == 0) {
    carry(vc, {message, 0, out_port, messages_.next_injected(flit.message), alone});
  } else {
    in_switch_ = {this, vc, message, flit.hop, out_port, alone};
  }
}

void ChannelRecorder::run_sent(const SentRun& run) {
  carry(run.vc, {messages_.index_of(run.message), run.hop, messages_.out_port(run.message, run.hop),
                 run.offset, run.flits});
}

void ChannelRecorder::run_cut(std::uint32_t vc, std::uint64_t n) {
  take_back(record_.vcs[vc].carried, n);
}

void ChannelRecorder::flits_left(std::uint32_t vc, const FlitRun& flits) {
  if (!by_flits_) {
    leave(vc, flits);
    return;
  }
  const std::uint64_t offset = pop(vc);
  const FlitInSwitch flit = std::exchange(in_switch_, {});
  if (flit.to == nullptr) {  // to an NI
    leave(vc, flits);
    return;
  }
  leave(vc, flit.departure);
  flit.to->carry(flit.vc, {flit.message, flit.hop, flit.out_port, offset, flit.departure});
}

void ChannelRecorder::leaving_cut(std::uint32_t vc, std::uint64_t n) {
  take_back(record_.vcs[vc].left, n);
}

}  // namespace espalier
