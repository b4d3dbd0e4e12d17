// What NCCL runs for an operation: ring, tree or switches, with which protocol, over how many
// channels. The choice is that of NCCL's own cost model, whose tables and formulas are published
// with its sources (src/graph/tuning.cc, src/enqueue.cc; names of its tables in the comments).
// Written anew from these facts. The estimates decide; they are not the times that we report.
// Versions of NCCL differ in the tables, and choose differently.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "alg/program/program.h"
#include "alg/schedule/schedule.h"

namespace espalier {

enum class GpuGeneration : std::uint8_t { ampere, hopper };
// nvls_tree: switches add and copy inside servers, and a tree connects each GPU with those of its
// number in other servers.
enum class NcclAlgorithm : std::uint8_t { ring, tree, nvls, nvls_tree };
// The versions whose tables differ here, by the first of them.
enum class NcclVersion : std::uint8_t { v2_18, v2_21, v2_22 };

// What NCCL's search of the topology would find. Rates in GB/s.
struct NcclSystem {
  NcclVersion version = NcclVersion::v2_22;
  GpuGeneration gpu = GpuGeneration::ampere;
  std::uint32_t servers = 1;
  std::uint32_t gpus_per_server = 8;
  std::uint32_t channels = 1;  // of rings and of trees
  // Rings and trees that the search found; 0: as many as channels. NCCL then duplicates them
  // (src/graph/connect.cc), but estimates with what was found.
  std::uint32_t rings = 0;
  std::uint32_t trees = 0;
  double ring_rate = 0;             // of a found ring inside a server
  double network_rate = 0;          // of a found ring between servers
  std::uint32_t nvls_channels = 0;  // that the search found; 0: the switch cannot reduce
  double nvls_rate = 0;             // of a found one inside a server
  bool has_ll128 = true;
  // What the network's plugin states, in microseconds; 0 of NCCL's own InfiniBand transport.
  double network_latency = 0;
  bool has_amd_hosts = false;  // the host's kind decides LL's rate and the network's overhead

  [[nodiscard]] std::uint32_t ranks() const { return servers * gpus_per_server; }
  [[nodiscard]] std::uint32_t found_rings() const { return rings == 0 ? channels : rings; }
  [[nodiscard]] std::uint32_t found_trees() const { return trees == 0 ? channels : trees; }
};

struct NcclChoice {
  NcclAlgorithm algorithm = NcclAlgorithm::ring;
  Protocol protocol = Protocol::simple;
  std::uint32_t channels = 1;
  double microseconds = 0;  // NCCL's estimate
};

// NCCL's estimate of one combination; nullopt if NCCL does not offer it. `size` as in
// CollectiveRequest::size. Preconditions: all_reduce, all_gather or reduce_scatter; two or more
// ranks.
[[nodiscard]] std::optional<double> nccl_estimate(const NcclSystem& system, CollectiveOp op,
                                                  Bytes size, NcclAlgorithm algorithm,
                                                  Protocol protocol);

// The combination with the least estimate, and the channels that have enough work. Same
// preconditions.
[[nodiscard]] NcclChoice nccl_choice(const NcclSystem& system, CollectiveOp op, Bytes size);

// Channels over which a message to one peer is spread: a share of all channels, doubled while a
// channel's part exceeds 32 steps of the FIFO, and fewer if a part is below an eighth of a step.
// `most`: channels for one peer.
[[nodiscard]] std::uint32_t nccl_message_channels(std::uint32_t ranks, Bytes bytes,
                                                  std::uint32_t channels, std::uint32_t most);

// Data of the FIFO steps that NCCL hands on at once: the chunk that a channel of the chosen
// combination moves to the next rank in one round, before the next round begins. With nvls_tree
// every GPU of a server moves a chunk of the channel.
[[nodiscard]] Bytes nccl_chunk(const NcclSystem& system, Bytes size, const NcclChoice& choice);

[[nodiscard]] const char* to_string(NcclAlgorithm algorithm);

}  // namespace espalier
