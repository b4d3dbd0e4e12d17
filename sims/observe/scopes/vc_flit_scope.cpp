#include "sims/observe/scopes/vc_flit_scope.h"

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
  recorder.change(at, signals_.occupancy, occupancy_);
  recorder.change(at, signals_.credits, credits_);
  if (occupancy_ == 0) {
    recorder.change_to_unknown(at, signals_.type);
  } else {
    recorder.change(at, signals_.type,
                    static_cast<std::uint64_t>(arrivals_.front().type_of_first()));
  }
}

void VcFlitScope::generate(Cycle from, Cycle until, WaveRecorder& recorder) {
  if (from >= until) {
    take_before(until * q_);
    return;
  }
  if (!is_shown_) {
    is_shown_ = true;
    take_before(from * q_);
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
