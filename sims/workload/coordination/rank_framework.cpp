#include "sims/workload/coordination/rank_framework.h"

#include <algorithm>
#include <numeric>

#include "hw/hash.h"

namespace espalier {

namespace {

// Independent streams of random numbers.
enum class Draw : std::uint64_t { skew = 1, jitter = 2, order = 3 };

double draw(const JitterSpec& spec, Draw what, std::uint64_t a, std::uint64_t b = 0) {
  return unit_interval(mix(mix(mix(spec.seed, static_cast<std::uint64_t>(what)), a), b));
}

Cycle stretched(Cycle time, double by) {
  return static_cast<Cycle>(static_cast<double>(time) * by);
}

}  // namespace

ReadyTimes::ReadyTimes(const TensorSet& set, const std::vector<TensorUnit>& units,
                       const JitterSpec& jitter)
    : set_(set), units_(units), jitter_(jitter), unit_of_(set.tensors.size(), 0) {
  for (std::size_t u = 0; u < units.size(); ++u) {
    for (const TensorId tensor : units[u].tensors) unit_of_[tensor.index()] = u;
  }
}

double ReadyTimes::slowness(RankId rank, std::uint32_t iteration) const {
  return 1 + jitter_.rank_skew * draw(jitter_, Draw::skew, rank.index()) +
         jitter_.jitter * draw(jitter_, Draw::jitter, rank.index(), iteration);
}

Cycle ReadyTimes::compute(RankId rank, std::uint32_t iteration) const {
  return std::max<Cycle>(1, stretched(set_.compute, slowness(rank, iteration)));
}

std::vector<std::size_t> ReadyTimes::order(RankId rank, std::uint32_t iteration) const {
  std::vector<std::size_t> order(set_.tensors.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  if (jitter_.order_window <= 1) return order;
  std::vector<double> place(order.size());
  for (std::size_t t = 0; t < place.size(); ++t) {
    const std::uint64_t of_rank = mix(rank.index(), iteration);
    place[t] =
        static_cast<double>(t) + jitter_.order_window * draw(jitter_, Draw::order, of_rank, t);
  }
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return place[a] < place[b]; });
  return order;
}

std::vector<ReadyUnit> ReadyTimes::of(RankId rank, std::uint32_t iteration) const {
  const double slow = slowness(rank, iteration);
  const std::vector<std::size_t> tensors = order(rank, iteration);
  std::vector<ReadyUnit> ready(units_.size());
  for (std::size_t u = 0; u < units_.size(); ++u) ready[u] = {0, kNever, UnitId(u)};
  for (std::size_t k = 0; k < tensors.size(); ++k) {
    ReadyUnit& unit = ready[unit_of_[tensors[k]]];
    const Cycle complete = std::max<Cycle>(1, stretched(set_.tensors[k].ready, slow));
    unit.at = std::max(unit.at, complete);
    unit.first = std::min(unit.first, complete);
  }
  std::stable_sort(ready.begin(), ready.end(),
                   [](const ReadyUnit& a, const ReadyUnit& b) { return a.at < b.at; });
  return ready;
}

void ComputeClock::change_speed(Cycle at, std::uint32_t speed) {
  const Piece& last = pieces_.back();
  pieces_.push_back({at, last.work + (at - last.begin) * last.speed, speed});
}

void ComputeClock::slow_down(Cycle at) {
  if (pieces_.size() > 1 && pieces_.back().begin >= at) {
    pieces_.pop_back();  // no time passed at full speed
  } else {
    change_speed(at, slow_speed_);
  }
}

void ComputeClock::posted(Cycle at) {
  if (slow_speed_ == kFullSpeed) return;
  if (under_way_.empty()) slow_down(at);
  under_way_.push_back(at);
}

void ComputeClock::done(Cycle at) {
  if (slow_speed_ == kFullSpeed) return;
  under_way_.erase(under_way_.begin());
  if (!under_way_.empty() && under_way_.front() <= at) return;
  change_speed(at, kFullSpeed);
  if (!under_way_.empty()) slow_down(under_way_.front());
}

Cycle ComputeClock::computed_by(Cycle now) const {
  auto piece = std::upper_bound(pieces_.begin(), pieces_.end(), now,
                                [](Cycle at, const Piece& p) { return at < p.begin; });
  --piece;
  return (piece->work + (now - piece->begin) * piece->speed) / kFullSpeed;
}

Cycle ComputeClock::when_computed(Cycle computed) const {
  const std::uint64_t work = computed * kFullSpeed;
  auto piece = std::lower_bound(pieces_.begin(), pieces_.end(), work,
                                [](const Piece& p, std::uint64_t w) { return p.work < w; });
  if (piece != pieces_.begin()) --piece;
  return piece->begin + (work - piece->work + piece->speed - 1) / piece->speed;
}

RankFramework::RankFramework(const TrainingJob& job, const ReadyTimes& times, RankId rank)
    : job_(&job), times_(&times), rank_(rank), clock_(job.spec.lost_permille) {
  begin(0);
}

void RankFramework::begin(Cycle at) {
  begin_ = at;
  clock_.begin(at);
  ready_ = times_->of(rank_, iteration_);
  next_ = 0;
  find_earliest();
  left_ = job_->set.tensors.size();
}

ShapeId RankFramework::shape() const {
  const std::uint32_t every = job_->spec.new_shapes_every;
  return every == 0 ? 0 : iteration_ / every;
}

RankFramework::Completion RankFramework::completion_of(UnitId unit) const {
  const auto found = std::find_if(ready_.begin(), ready_.end(),
                                  [&](const ReadyUnit& ready) { return ready.unit == unit; });
  return {clock_.when_computed(found->first), clock_.when_computed(found->at)};
}

Cycle RankFramework::reduced(std::size_t tensors, Cycle now) {
  clock_.done(now);
  left_ -= tensors;
  if (left_ != 0) return kNever;
  const Cycle end = std::max(now, clock_.when_computed(times_->compute(rank_, iteration_)));
  ++iteration_;
  if (!finished()) begin(end);
  return end;
}

}  // namespace espalier
