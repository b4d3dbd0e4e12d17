// The settings of a coordinated training job: how its hosts agree on the next reduction (Romero et
// al., NSDI 2022).
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "hw/ids.h"
#include "sims/workload/coordination/tensor_set.h"

namespace espalier {

// The root of every tree of coordination, and the coordinator of the modes that have one.
inline constexpr RankId kRoot{0};

// Bytes of the control plane's messages as Horovod serializes them (a measured fit). L is the
// length of a tensor's name, D the number of its dimensions, N the number of ranks.
struct NameShape {
  std::uint32_t name_bytes = 48;
  std::uint32_t dimensions = 2;
};

inline constexpr Bytes kListLengthBytes = 4;  // sent before a list
inline constexpr Bytes kEmptyListBytes = 24;
inline constexpr Bytes kListBytes = 52;  // a list with entries, without the entries

// 60 + L + 8 D for each request. Example: 161 tensors of L = 48, D = 2 take 20016 B.
[[nodiscard]] constexpr Bytes request_list_bytes(const NameShape& shape, std::size_t requests) {
  return requests == 0
             ? kEmptyListBytes
             : kListBytes + requests * (60 + shape.name_bytes + Bytes{8} * shape.dimensions);
}

// 76 + 4 N (device list) for each response, 20 + L for each of its tensors.
[[nodiscard]] constexpr Bytes response_list_bytes(const NameShape& shape, std::size_t responses,
                                                  std::size_t tensors, std::size_t ranks) {
  return responses == 0
             ? kEmptyListBytes
             : kListBytes + responses * (76 + 4 * ranks) + tensors * (20 + shape.name_bytes);
}

// A bit for each entry of the cache, and three flags, in words of 64 bits.
inline constexpr std::size_t kFlagBits = 3;
[[nodiscard]] constexpr Bytes bit_vector_bytes(std::size_t entries) {
  return 8 * ((entries + kFlagBits + 63) / 64);
}

enum class CoordinationMode : std::uint8_t {
  none,          // every rank reduces in the order in which its own tensors complete
  coordinator,   // rank 0 collects all requests and answers all ranks (section 2.2.2)
  hierarchical,  // a tree of coordinators (section 2.2.3)
  cached,        // response cache and bit vector; coordinator for new tensors (section 3.1)
  in_ni,         // a bit per unit in every NI, intersected in a tree as bits are set
};
// What the background thread does while a collective runs.
enum class DataPlaneWait : std::uint8_t {
  asynchronous,  // goes on with the next cycle (NCCL)
  blocking,      // waits for it (MPI)
};

struct JitterSpec {
  double rank_skew = 0;  // slows a rank by a fixed random factor of up to this share
  // Slows a rank by a random factor of up to this share, new in each iteration.
  double jitter = 0;
  // A tensor completes less than this many places from its own place.
  std::uint32_t order_window = 1;
  std::uint64_t seed = 1;
};

struct ControlTimes {
  Cycle cycle = 1;      // minimum time between the starts of two cycles of a rank
  Cycle request = 0;    // time in which a coordinator handles one request
  Cycle overhead = 1;   // software time per message, sent or received; at least 1
  Cycle ni_update = 1;  // in_ni: from a set bit or a message to its effect; at least 1
};

struct CoordinationSpec {
  CoordinationMode mode = CoordinationMode::cached;
  std::size_t ranks = 1;
  std::uint32_t iterations = 2;
  std::uint32_t cache_capacity = 1024;
  std::uint32_t arity = 8;             // of the tree of hierarchical and in_ni
  std::uint32_t new_shapes_every = 0;  // in iterations; 0: shapes never change
  // Speed that computing loses while all-reduces run, in 1/1000; less than 1000.
  std::uint32_t lost_permille = 0;
  DataPlaneWait wait = DataPlaneWait::asynchronous;
  ControlTimes times;
  FusionSpec fusion;
  NameShape names;
};

// The constant part of a job.
struct TrainingJob {
  CoordinationSpec spec;
  TensorSet set;
  std::vector<TensorUnit> units;
  std::vector<UnitId> unit_of;  // by tensor
  JitterSpec jitter;
};

// The name of a collective of at least one tensor: "conv1/weights and 3 more".
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
