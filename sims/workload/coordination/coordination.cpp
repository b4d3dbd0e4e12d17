#include "sims/workload/coordination/coordination.h"

#include <fmt/format.h>

namespace espalier {

namespace {

std::vector<ControlPattern> make_patterns(const CoordinationSpec& spec) {
  std::vector<ControlPattern> patterns(kNumControlOps);
  const auto at = [&](ControlOp op) -> ControlPattern& {
    return patterns[static_cast<std::size_t>(op)];
  };
  if (spec.mode == CoordinationMode::hierarchical) {
    at(ControlOp::count_up) = tree_gather(spec.ranks, spec.arity);
    at(ControlOp::broadcast_list) = tree_broadcast(spec.ranks, spec.arity);
    return patterns;
  }
  at(ControlOp::gather_lengths) = at(ControlOp::gather_lists) = binomial_gather(spec.ranks);
  at(ControlOp::broadcast_length) = at(ControlOp::broadcast_list) = binomial_broadcast(spec.ranks);
  if (spec.mode == CoordinationMode::cached) {
    at(ControlOp::intersect) = at(ControlOp::unite) = recursive_doubling(spec.ranks);
  }
  return patterns;
}

}  // namespace

Coordination::Coordination(const TrainingJob& job)
    : job_(job),
      uses_cache_(job.spec.mode == CoordinationMode::cached && job.spec.cache_capacity != 0),
      patterns_(make_patterns(job.spec)) {
  const CoordinationSpec& spec = job.spec;
  controllers_.reserve(spec.ranks);
  for (std::size_t r = 0; r < spec.ranks; ++r) {
    controllers_.emplace_back(job, uses_cache_ ? spec.cache_capacity : 0);
  }
  if (spec.mode != CoordinationMode::hierarchical) {
    counters_.emplace_back(static_cast<std::uint32_t>(spec.ranks), job.units.size());
    return;
  }
  up_.resize(spec.ranks);
  for (std::size_t r = 0; r < spec.ranks; ++r) {
    counters_.emplace_back(1 + tree_children(spec.ranks, spec.arity, RankId(r)), job.units.size());
  }
}

const ControlPattern& Coordination::pattern(ControlOp op) const {
  return patterns_[static_cast<std::size_t>(op)];
}

void Coordination::enter(RankId rank, std::uint64_t cycle, RankFramework& framework, Cycle at) {
  RankController& controller = controllers_[rank.index()];
  const ShapeId shape = framework.shape();
  framework.take_until(at, [&](UnitId unit) { controller.submit(unit, shape); });
  if (cycle == first_record_ + records_.size()) records_.emplace_back();
  Record& now = record(cycle);
  controller.begin_cycle();
  if (!controller.uncached().empty()) now.any_uncached = true;
  if (uses_cache_) {
    if (now.entered == 0) {
      now.entries = controller.cached_entries();
      now.common = BitVector(now.entries, true);
      now.invalid = BitVector(now.entries);
    } else if (now.entries != controller.cached_entries()) {
      disagree(rank, "the number of cached responses");
      return;
    }
    if (!now.common_is_empty && controller.none_pending()) {
      now.common = BitVector(now.entries);
      now.common_is_empty = true;
    }
    if (!now.common_is_empty) controller.intersect_pending(now.common);
    for (const std::uint32_t bit : controller.invalid_bits()) {
      now.invalid.set(bit);
      now.any_invalid = true;
    }
  }
  ++now.entered;
}

std::optional<ControlOp> Coordination::op(RankId rank, std::uint64_t cycle, std::size_t index) {
  if (job_.spec.mode == CoordinationMode::hierarchical) {
    if (index > 1) return std::nullopt;
    return index == 0 ? ControlOp::count_up : ControlOp::broadcast_list;
  }
  if (uses_cache_) {
    if (index == 0) return ControlOp::intersect;
    const Record& now = record(cycle);
    if (now.entered != job_.spec.ranks) disagree(rank, "the ranks in the cycle");
    if (now.any_invalid && index == 1) return ControlOp::unite;
    if (!now.any_uncached) return std::nullopt;
    index -= now.any_invalid ? 2 : 1;
  }
  constexpr ControlOp kCoordinator[] = {ControlOp::gather_lengths, ControlOp::gather_lists,
                                        ControlOp::broadcast_length, ControlOp::broadcast_list};
  return index < std::size(kCoordinator) ? std::optional(kCoordinator[index]) : std::nullopt;
}

Cycle Coordination::begin(RankId rank, ControlOp op) {
  if (op != ControlOp::count_up) return 0;
  const std::vector<UnitId>& own = controllers_[rank.index()].uncached();
  up_[rank.index()].clear();
  counters_[rank.index()].count(own, up_[rank.index()]);
  return job_.spec.times.request * tensors_in(own);
}

Bytes Coordination::own_part(RankId rank, ControlOp op) const {
  if (op == ControlOp::gather_lengths) return kListLengthBytes;
  if (op != ControlOp::gather_lists) return 0;
  return request_list_bytes(job_.spec.names, tensors_in(controllers_[rank.index()].uncached()));
}

Bytes Coordination::message_bytes(RankId rank, std::uint64_t cycle, ControlOp op,
                                  Bytes gathered) const {
  switch (op) {
    case ControlOp::intersect:
    case ControlOp::unite:
      return bit_vector_bytes(record(cycle).entries);
    case ControlOp::gather_lengths:
    case ControlOp::gather_lists:
      return gathered;
    case ControlOp::count_up: {
      const bool empty = !record(cycle).any_uncached;
      return request_list_bytes(job_.spec.names, empty ? 0 : tensors_in(up_[rank.index()]));
    }
    case ControlOp::broadcast_length:
      return kListLengthBytes;
    case ControlOp::broadcast_list:
      break;
  }
  return list_bytes_;
}

Cycle Coordination::received(RankId rank, RankId from, ControlOp op) {
  if (op != ControlOp::count_up) return 0;
  const std::vector<UnitId>& list = up_[from.index()];
  counters_[rank.index()].count(list, up_[rank.index()]);
  return job_.spec.times.request * tensors_in(list);
}

Cycle Coordination::finished(RankId rank, std::uint64_t cycle, ControlOp op) {
  Record& now = record(cycle);
  if (op == ControlOp::intersect && !now.any_invalid) learn_cached(rank, now);
  if (op == ControlOp::unite) learn_cached(rank, now);
  if (rank != kRoot) return 0;
  if (op == ControlOp::count_up) {
    if (now.any_uncached) now.asked = up_[kRoot.index()];
    decide(now);
  }
  if (op != ControlOp::gather_lists) return 0;
  std::size_t requests = 0;
  for (const RankController& controller : controllers_) {
    requests += tensors_in(controller.uncached());
    counters_.front().count(controller.uncached(), now.asked);
  }
  decide(now);
  return job_.spec.times.request * requests;
}

void Coordination::learn_cached(RankId rank, Record& record) {
  // In a quiet cycle, every rank would process only empty vectors.
  if (record.is_quiet) return;
  record.is_quiet = !record.cached && record.common.none() && record.invalid.none();
  std::vector<UnitId> cached =
      controllers_[rank.index()].intersected(record.common, record.invalid);
  if (!record.cached) {
    record.cached = std::move(cached);
    if (!record.any_uncached) decide(record);
  } else if (*record.cached != cached) {
    disagree(rank, "the tensors that are pending on all ranks");
  }
}

void Coordination::decide(Record& record) {
  if (record.cached) record.units = *record.cached;
  record.units.insert(record.units.end(), record.asked.begin(), record.asked.end());
  record.decided.first = static_cast<CollectiveNumber>(responses_.size());
  for (Response& response : fuse(record.units, job_.units, job_.set, job_.spec.fusion)) {
    responses_.push_back(std::move(response));
  }
  record.decided.end = static_cast<CollectiveNumber>(responses_.size());
  record.is_decided = true;
  list_bytes_ = response_list_bytes(job_.spec.names, record.decided.end - record.decided.first,
                                    tensors_in(record.units), job_.spec.ranks);
}

Coordination::Decided Coordination::leave(RankId rank, std::uint64_t cycle) {
  Record& now = record(cycle);
  if (!now.is_decided) disagree(rank, "the decision of the cycle");
  const Decided decided = now.decided;
  if (!now.units.empty()) controllers_[rank.index()].executed(now.units);
  if (++now.left == job_.spec.ranks) {
    records_.pop_front();
    ++first_record_;
  }
  return decided;
}

std::size_t Coordination::tensors_in(const std::vector<UnitId>& units) const {
  std::size_t tensors = 0;
  for (const UnitId unit : units) tensors += job_.units[unit.index()].tensors.size();
  return tensors;
}

void Coordination::disagree(RankId rank, const char* what) {
  if (!disagreement_.empty()) return;
  disagreement_ = fmt::format("rank {} disagrees with the other ranks on {}", rank.value(), what);
}

}  // namespace espalier
