#include "sims/trace/vc_flit_scope.h"

#include <algorithm>

namespace espalier {

void VcFlitScope::arriving(const ArrivingRun& run, const FlitRun& sent) {
  arrivals_.add(run);
  landing_.add(run.landing);
  sent_.add(sent);
}

void VcFlitScope::arriving_cut(std::uint64_t n) {
  arrivals_.cut(n);
  landing_.cut(n);
  sent_.cut(n);
}

void VcFlitScope::leaving(const FlitRun& run) {
  leaving_.add(run);
  returning_.add({run.start + credit_latency_ * q_, run.rate, run.n});
}

void VcFlitScope::leaving_cut(std::uint64_t n) {
  leaving_.cut(n);
  returning_.cut(n);
}

Tick VcFlitScope::next_tick() const {
  return std::min({sent_.next(), landing_.next(), leaving_.next(), returning_.next()});
}

void VcFlitScope::take_before(Tick tick) {
  credits_ -= sent_.take_before(tick);
  credits_ += returning_.take_before(tick);
  occupancy_ += landing_.take_before(tick);
  std::uint64_t left = leaving_.take_before(tick);
  occupancy_ -= left;
  while (left != 0) {
    const std::uint64_t here = std::min(left, arrivals_.front().landing.n);
    arrivals_.leave(here);
    left -= here;
  }
}

void VcFlitScope::show(Cycle at, WaveRecorder& recorder) {
  Shown now;
  now.occupancy = occupancy_;
  now.credits = credits_;
  if (occupancy_ != 0) now.type = arrivals_.front().type_of_first();
  // In a stream a flit comes for each that leaves: most cycles change nothing.
  if (now.occupancy != shown_->occupancy) recorder.change(at, signals_.occupancy, now.occupancy);
  if (now.credits != shown_->credits) recorder.change(at, signals_.credits, now.credits);
  if (now.type != shown_->type) {
    if (now.type) {
      recorder.change(at, signals_.type, static_cast<std::uint64_t>(*now.type));
    } else {
      recorder.change_to_unknown(at, signals_.type);
    }
  }
  shown_ = now;
}

void VcFlitScope::generate(Cycle from, Cycle until, WaveRecorder& recorder) {
  if (from >= until) {
    take_before(until * q_);
    return;
  }
  if (!shown_) {
    take_before(from * q_);
    shown_.emplace();
    recorder.change(from, signals_.occupancy, 0);
    recorder.change(from, signals_.credits, 0);
    recorder.change_to_unknown(from, signals_.type);
    show(from, recorder);
  }
  // What is landed, sent or left in a cycle shows in it.
  while (next_tick() < until * q_) {
    const Cycle cycle = next_tick() / q_;
    take_before((cycle + 1) * q_);
    show(cycle, recorder);
  }
}

}  // namespace espalier
