// A training job whose hosts agree on what is all-reduced when: on the simulated network, or in
// closed form.
#include <fmt/format.h>
#include <algorithm>
#include <cmath>
#include <ctime>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>
#include <vector>

#include "alg/routes/routing.h"
#include "flowctl/framing.h"
#include "hw/topology/link_timing.h"
#include "sims/choose/choices.h"
#include "sims/choose/choose.h"
#include "sims/experiment/result_parts.h"
#include "sims/experiment/training_work.h"
#include "sims/model/idle_times.h"
#include "sims/point/config.h"
#include "sims/point/enum_names.h"
#include "sims/system/host_simulation.h"
#include "sims/workload/coordination/closed_form.h"
#include "sims/workload/coordination/coordination_spec.h"
#include "sims/workload/coordination/training_recorder.h"

namespace espalier {

namespace {

using Json = nlohmann::ordered_json;

Cycle at_least_one(std::uint64_t picoseconds, const ClockSpec& clock) {
  return std::max<Cycle>(1, cycles_covering(picoseconds, clock));
}

CoordinationSpec coordination_spec(const RunPoint& point, std::size_t ranks) {
  const CoordinationConfig& config = *point.coordination;
  const ClockSpec& clock = point.system.clock;
  CoordinationSpec spec;
  spec.mode = config.mode;
  spec.ranks = ranks;
  spec.iterations = config.iterations;
  spec.cache_capacity = config.cache_capacity;
  spec.arity = config.arity;
  spec.new_shapes_every = config.new_shapes_every;
  spec.lost_permille = static_cast<std::uint32_t>(std::lround(config.compute_contention * 1000));
  spec.wait = config.wait;
  spec.times.cycle = at_least_one(cycle_time_ps(config), clock);
  spec.times.request = cycles_covering(config.request_time_ps, clock);
  spec.times.overhead = at_least_one(config.message_overhead_ps, clock);
  spec.times.ni_update = config.ni_update_cycles;
  spec.fusion = {fusion_threshold(config), config.fuse_groups};
  spec.names = config.names;
  return spec;
}

// The latency of a short message in a network without other traffic: the zero-load closed form of
// docs/timing.md for any route.
class IdleNetwork : public MessageTime {
 public:
  // `nodes` is indexed by rank. All arguments must outlive this object. Throws
  // std::invalid_argument if link rates have no common tick.
  IdleNetwork(const Topology& topology, const SystemConfig& config,
              const std::vector<NodeId>& nodes)
      : topology_(topology),
        config_(config),
        nodes_(nodes),
        timing_(time_links(topology, config.clock)),
        framing_(framing_spec(config)) {}

  [[nodiscard]] Path path(RankId from, RankId to) const override {
    Shape shape;
    const auto route = route_packet(topology_, nodes_[from.index()], nodes_[to.index()]);
    for (const LinkId link : route) {
      shape.first += timing_.links[link.index()].latency;
      shape.second = std::max(shape.second, timing_.links[link.index()].ticks_per_flit);
    }
    shape.first = idle_overhead(config_, route.size(), shape.first) + 1;
    const auto [known, is_new] = numbers_.try_emplace(shape, static_cast<Path>(shapes_.size()));
    if (is_new) shapes_.push_back(shape);
    return known->second;
  }
  [[nodiscard]] Cycle flight(Path path, Bytes bytes) const override {
    const auto& [head, ticks_per_flit] = shapes_[path];
    const std::uint64_t ticks = (Framing(framing_, bytes).flits() - 1) * ticks_per_flit;
    return head + (ticks + timing_.ticks_per_cycle - 1) / timing_.ticks_per_cycle;
  }

 private:
  // The latency of a message of one flit, and the ticks of a flit on the slowest link.
  using Shape = std::pair<Cycle, Tick>;

  const Topology& topology_;
  const SystemConfig& config_;
  const std::vector<NodeId>& nodes_;
  SystemTiming timing_;
  FramingSpec framing_;
  mutable std::vector<Shape> shapes_;  // by path number
  mutable std::map<Shape, Path> numbers_;
};

// The closed form of an all-reduce: each step takes the time of the slowest path from a rank to the
// next.
AllReduceForm all_reduce_form(const RunPoint& point, std::size_t ranks,
                              const MessageTime& messages) {
  constexpr Bytes kLong = Bytes{1} << 20;
  const ClosedFormConfig& config = point.coordination->closed_form;
  Cycle step = 1;
  Cycle long_message = 0;
  for (std::size_t r = 0; r < ranks; ++r) {
    const auto path = messages.path(RankId(r), RankId((r + 1) % ranks));
    step = std::max(step, messages.flight(path, 1));
    long_message = std::max(long_message, messages.flight(path, kLong) - messages.flight(path, 1));
  }
  double rate = static_cast<double>(kLong) / static_cast<double>(std::max<Cycle>(1, long_message));
  if (config.bytes_per_second != 0) {
    rate = static_cast<double>(config.bytes_per_second) /
           static_cast<double>(point.system.clock.hertz);
  }
  if (config.step_latency_ps != 0) step = at_least_one(config.step_latency_ps, point.system.clock);
  const bool is_ring = config.algorithm == ClosedFormAllReduce::ring;
  return {is_ring ? AllReduceForm::Kind::ring : AllReduceForm::Kind::tree,
          static_cast<double>(ranks), step, rate};
}

// The algorithm that reduces.
std::string algorithm_name(const RunPoint& point, const JobPlanes& planes) {
  if (planes.data) return point.collective->algorithm;
  return fmt::format("{}, closed form", name_of(point.coordination->closed_form.algorithm));
}

TrainingJob training_job(const RunPoint& point, std::size_t ranks) {
  const TrainingConfig& training = *point.training;
  const CoordinationConfig& config = *point.coordination;
  TensorSpec tensors;
  tensors.tensors = config.tensors;
  tensors.element_bytes = point.collective->element_bytes;
  if (config.compute_time_ps != 0) {
    tensors.compute = at_least_one(config.compute_time_ps, point.system.clock);
  }
  TensorSet set = make_tensor_set(training.layers, plan_iteration(training), tensors);
  if (training.overlap == Overlap::none) {
    for (Tensor& tensor : set.tensors) tensor.ready = set.compute;
  }
  return make_training_job(coordination_spec(point, ranks), std::move(set), config.num_groups,
                           config.jitter);
}

bool is_steady(std::uint32_t iteration, std::size_t iterations) {
  return iterations == 1 || iteration != 0;
}

double difference(Cycle later, Cycle earlier) {
  return later <= earlier ? 0.0 : static_cast<double>(later - earlier);
}

}  // namespace

SteadyResult CoordinationResult::steady() const {
  SteadyResult steady{ns(1), static_cast<double>(job.set.compute),
                      static_cast<double>(job.spec.ranks) * point.training->mini_batch};
  const std::size_t count = record.iterations.size();
  for (std::size_t i = 0; i < count; ++i) {
    if (!is_steady(static_cast<std::uint32_t>(i), count)) continue;
    const IterationRecord& iteration = record.iterations[i];
    const Cycle begin = i == 0 ? iteration.begin : record.iterations[i - 1].end;
    ++steady.iterations;
    steady.iteration += difference(iteration.end, begin);
    steady.control += static_cast<double>(iteration.control);
    steady.control_cycles += static_cast<double>(iteration.control_cycles);
  }
  Cycle stream_free = 0;
  for (const CollectiveRecord& c : record.collectives) {
    const Cycle begin = std::max(stream_free, c.last_posted);
    stream_free = std::max(stream_free, c.end);
    if (!is_steady(c.iteration, count)) continue;
    ++steady.all_reduces;
    steady.busy += difference(c.end, begin);
    steady.for_tensors += difference(c.last_complete, c.first_complete);
    steady.negotiation += difference(c.last_posted, c.last_complete);
    steady.queued += difference(begin, c.last_posted);
  }
  return steady;
}

std::vector<std::uint64_t> CoordinationResult::counts_by_log2() const {
  std::vector<std::uint64_t> counts;
  for (const CollectiveRecord& c : record.collectives) {
    if (!is_steady(c.iteration, record.iterations.size())) continue;
    std::size_t log2 = 0;
    while (c.bytes >> (log2 + 1) != 0) ++log2;
    if (log2 >= counts.size()) counts.resize(log2 + 1, 0);
    ++counts[log2];
  }
  return counts;
}

std::vector<JobIteration> CoordinationResult::by_iteration() const {
  std::vector<JobIteration> list;
  Cycle begin = 0;
  for (const IterationRecord& iteration : record.iterations) {
    list.push_back({ns(iteration.end - begin), ns(iteration.control), iteration.control_cycles});
    begin = iteration.end;
  }
  return list;
}

namespace {

class JobRun : public PointRun {
 public:
  explicit JobRun(const PointInput& input)
      : PointRun(input),
        nodes_(nodes_by_rank(topology(), point())),
        job_(training_job(point(), nodes_.size())),
        idle_(topology(), point().system, nodes_),
        reductions_(all_reduce_form(point(), nodes_.size(), idle_)) {
    const CoordinationConfig& config = *point().coordination;
    planes_.control = is_on_network(config.control_plane, nodes_.size(), kMostControlRanks);
    planes_.data = is_on_network(config.data_plane, nodes_.size(), kMostDataRanks);
  }

  void describe(Json& result) const override {
    write_fields(result, JobResult{facts(), algorithm_name(point(), planes_), job_.set.bytes()});
  }
  SimulationOutcome simulate(const SimulationHooks& hooks) override {
    const std::clock_t cpu_begin = std::clock();
    SimulationOutcome outcome;
    if (planes_.control) {
      outcome = simulate_on_network(hooks);
    } else {
      record_ = run_in_closed_form(job_, idle_, reductions_, hooks.progress);
      outcome.engine_seconds = static_cast<double>(std::clock() - cpu_begin) / CLOCKS_PER_SEC;
    }
    outcome.failure = record_.failure;
    outcome.verified = record_.failure.empty();
    outcome.complete = outcome.verified;
    return outcome;
  }
  void describe_outcome(Json& result, const SimulationOutcome& outcome) const override {
    write_fields(result, JobOutcome{outcome, {point(), job_, record_, planes_}, taken_.text()});
  }
  [[nodiscard]] RunNeed need() const override { return configured_need(point()); }
  // The data plane may be a closed form, which moves no flits.
  [[nodiscard]] bool counts_energy() const override { return false; }

 private:
  SimulationOutcome simulate_on_network(const SimulationHooks& hooks) {
    const auto hosts = make_hosts(job_);
    ModelledDataPlane modelled(*hosts, nodes_.size(), reductions_);
    HostProgram& program = planes_.data ? static_cast<HostProgram&>(*hosts) : modelled;
    SimulationOutcome outcome =
        simulate_hosts(
            topology(), point(), {nodes_, {}}, program,
            [&](const HostCollective& what) {
              StreamWork work = certified_work(topology(), point(), {nodes_, {}}, what);
              taken_.note(what.bytes, work.tables.taken);
              return work;
            },
            hooks)
            .simulation;
    record_ = hosts->record();
    if (record_.failure.empty()) record_.failure = outcome.failure;
    if (record_.failure.empty() && !outcome.verified) record_.failure = "the job did not end";
    return outcome;
  }

  std::vector<NodeId> nodes_;
  TrainingJob job_;
  IdleNetwork idle_;
  AllReduceForm reductions_;
  JobPlanes planes_;
  TrainingRecord record_;
  TakenAlgorithms taken_;
};

}  // namespace

std::unique_ptr<PointRun> make_job_run(const PointInput& input) {
  return std::make_unique<JobRun>(input);
}

}  // namespace espalier
