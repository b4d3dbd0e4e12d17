// How the hosts of a training job agree on what is reduced when (Romero et al., NSDI 2022).
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "sims/workload/coordination/fusion.h"
#include "sims/workload/coordination/ready_times.h"
#include "sims/workload/coordination/tensor_set.h"
#include "sims/workload/coordination/wire_sizes.h"

namespace espalier {

enum class CoordinationMode : std::uint8_t {
  none,          // every rank reduces in the order in which its own tensors are complete
  coordinator,   // rank 0 hears all requests and answers all ranks (section 2.2.2)
  hierarchical,  // a tree of coordinators (section 2.2.3)
  cached,        // response cache and bit vector, the coordinator for what is new (section 3.1)
  in_ni,         // a bit per unit in every NI, intersected in a tree as soon as it is set
};
// What carries messages of the control plane, and what reduces.
enum class PlaneModel : std::uint8_t { network, closed_form };
// What the background thread does while a collective runs.
enum class DataPlaneWait : std::uint8_t {
  asynchronous,  // goes on with the next cycle (NCCL)
  blocking,      // waits for it (MPI)
};

struct ControlTimes {
  Cycle cycle = 1;      // between the starts of two cycles of a rank, at least
  Cycle request = 0;    // a coordinator handles one request
  Cycle overhead = 1;   // software, for each message sent and for each received; at least 1
  Cycle ni_update = 1;  // in_ni: a bit is set, or a message taken in, until it shows; at least 1
};

struct CoordinationSpec {
  CoordinationMode mode = CoordinationMode::cached;
  std::size_t ranks = 1;
  std::uint32_t iterations = 2;
  std::uint32_t cache_capacity = 1024;
  std::uint32_t arity = 8;             // of trees: hierarchical, in_ni
  std::uint32_t new_shapes_every = 0;  // iterations; 0: shapes never change
  std::uint32_t lost_permille = 0;     // of computing's speed while all-reduces run; under 1000
  DataPlaneWait wait = DataPlaneWait::asynchronous;
  ControlTimes times;
  FusionSpec fusion;
  NameShape names;
};

// What never changes during a job.
struct TrainingJob {
  CoordinationSpec spec;
  TensorSet set;
  std::vector<TensorUnit> units;
  std::vector<UnitId> unit_of;  // by tensor
  JitterSpec jitter;
};

// What a collective of these tensors, at least one, is called: "conv1/weights and 3 more".
[[nodiscard]] inline std::string name_of_tensors(const TrainingJob& job,
                                                 const std::vector<TensorId>& tensors) {
  const std::string& first = job.set.tensors[tensors.front().index()].name;
  if (tensors.size() == 1) return first;
  return first + " and " + std::to_string(tensors.size() - 1) + " more";
}

[[nodiscard]] inline TrainingJob make_training_job(const CoordinationSpec& spec, TensorSet set,
                                                   std::uint32_t num_groups,
                                                   const JitterSpec& jitter) {
  TrainingJob job{spec, std::move(set), {}, {}, jitter};
  job.units = make_units(job.set, num_groups);
  job.unit_of.resize(job.set.tensors.size());
  for (std::size_t u = 0; u < job.units.size(); ++u) {
    for (const TensorId tensor : job.units[u].tensors) job.unit_of[tensor.index()] = UnitId(u);
  }
  return job;
}

}  // namespace espalier
