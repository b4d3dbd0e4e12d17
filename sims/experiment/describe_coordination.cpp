#include "sims/experiment/describe_coordination.h"

#include <algorithm>
#include <vector>

#include "hw/topology/link_timing.h"
#include "sims/point/enum_names.h"

namespace espalier {

namespace {

using Json = nlohmann::ordered_json;

// Means over the iterations after the first, because the first fills the response caches. A job of
// one iteration has the values of that one.
struct Steady {
  double iterations = 0;
  double iteration = 0;
  double control = 0;
  double control_cycles = 0;
  double all_reduces = 0;
  double busy = 0;  // an all-reduce is in flight
  // Mean of an all-reduce.
  double for_tensors = 0;  // from its first tensor's completion to its last one's, on rank 0
  double negotiation = 0;  // from the last tensor until all ranks have posted the all-reduce
  double queued = 0;       // from the last post until the all-reduce starts
};

bool is_steady(std::uint32_t iteration, std::size_t iterations) {
  return iterations == 1 || iteration != 0;
}

double difference(Cycle later, Cycle earlier) {
  return later <= earlier ? 0.0 : static_cast<double>(later - earlier);
}

Steady steady_of(const TrainingRecord& record) {
  Steady steady;
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

// Counts of all-reduces by size: 1 B, 2 and 3 B, 4 to 7 B, and so on.
Json counts_by_log2(const TrainingRecord& record) {
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

Json describe_iterations(const RunPoint& point, const TrainingRecord& record) {
  Json list = Json::array();
  Cycle begin = 0;
  for (const IterationRecord& iteration : record.iterations) {
    Json one;
    one["iteration_ns"] = nanoseconds(iteration.end - begin, point.system.clock);
    one["control_ns"] = nanoseconds(iteration.control, point.system.clock);
    one["control_cycles"] = iteration.control_cycles;
    begin = iteration.end;
    list.push_back(std::move(one));
  }
  return list;
}

Json describe_steady(const RunPoint& point, const TrainingJob& job, const Steady& steady) {
  const double cycle_ns = nanoseconds(1, point.system.clock);
  const double iterations = std::max(1.0, steady.iterations);
  const double all_reduces = std::max(1.0, steady.all_reduces);
  const double iteration = steady.iteration / iterations;
  const auto compute = static_cast<double>(job.set.compute);
  Json training;
  training["compute_ns"] = compute * cycle_ns;
  training["iteration_ns"] = iteration * cycle_ns;
  training["exposed_ns"] = std::max(0.0, iteration - compute) * cycle_ns;
  training["exposed_share"] = iteration == 0 ? 0.0 : std::max(0.0, 1 - compute / iteration);
  training["efficiency"] = iteration == 0 ? 0.0 : compute / iteration;
  training["samples_per_s"] = iteration == 0
                                  ? 0.0
                                  : static_cast<double>(job.spec.ranks) *
                                        point.training->mini_batch / (iteration * cycle_ns * 1e-9);
  training["all_reduce_ns"] = steady.busy / iterations * cycle_ns;
  training["coordination_ns"] = steady.control / iterations * cycle_ns;
  training["coordination_cycles"] = steady.control_cycles / iterations;
  training["all_reduces"] = steady.all_reduces / iterations;
  training["waiting_ns"] = steady.for_tensors / iterations * cycle_ns;
  training["wait_for_tensors_ns"] = steady.for_tensors / all_reduces * cycle_ns;
  training["negotiation_ns"] = steady.negotiation / all_reduces * cycle_ns;
  training["queued_ns"] = steady.queued / all_reduces * cycle_ns;
  return training;
}

}  // namespace

void describe_coordination(Json& result, const RunPoint& point, const TrainingJob& job,
                           const TrainingRecord& record, const JobPlanes& planes) {
  const CoordinationConfig& config = *point.coordination;
  Json about;
  about["mode"] = name_of(config.mode);
  about["control_plane"] = planes.control ? "network" : "closed_form";
  about["data_plane"] = planes.data ? "network" : "closed_form";
  about["tensors"] = job.set.tensors.size();
  about["groups"] = config.num_groups;
  about["iterations"] = job.spec.iterations;
  about["seed"] = config.jitter.seed;
  about["control_messages"] = record.control_messages;
  about["control_bytes"] = record.control_bytes;
  if (!record.failure.empty()) {
    result["cycles"] = nullptr;
    result["time_ns"] = nullptr;
    result["coordination"] = std::move(about);
    return;
  }
  result["cycles"] = record.end;
  result["time_ns"] = nanoseconds(record.end, point.system.clock);
  result["training"] = describe_steady(point, job, steady_of(record));
  about["by_iteration"] = describe_iterations(point, record);
  about["log2_step"] = 1;
  about["counts_by_log2"] = counts_by_log2(record);
  result["coordination"] = std::move(about);
}

}  // namespace espalier
