#include "alg/program/nccl_tuning.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "alg/program/protocol.h"

namespace espalier {

namespace {

// In the order LL, LL128, Simple.
using ByProtocol = std::array<double, 3>;

std::size_t index_of(Protocol protocol) {
  if (protocol == Protocol::ll) return 0;
  return protocol == Protocol::ll128 ? 1 : 2;
}

// Microseconds (baseLat, hwLat).
constexpr ByProtocol kRingStart{6.6, 14.0, 8.4};
constexpr ByProtocol kRingNvlink{0.6, 1.9, 3.4};
constexpr ByProtocol kRingNetwork{2.7, 4.0, 14.0};
// Trees with Simple begin with 0 us and take 4 us for a step inside a server and 14 us for one of
// the network up to version 2.18, 28 and 28 us in 2.19 to 2.21, and begin with 8.4 us from 2.22 on.
struct TreeLatencies {
  ByProtocol start;
  ByProtocol nvlink;
  ByProtocol network;
};
constexpr TreeLatencies kTree2_18{{6.8, 14.0, 0}, {0.6, 1.25, 4.0}, {5.0, 8.5, 14.0}};
constexpr TreeLatencies kTree2_21{{6.8, 14.0, 0}, {0.6, 1.25, 28.0}, {5.0, 8.5, 28.0}};
constexpr TreeLatencies kTree2_22{{6.8, 14.0, 8.4}, {0.6, 1.25, 4.0}, {5.0, 8.5, 14.0}};

const TreeLatencies& tree_latencies(NcclVersion version) {
  if (version == NcclVersion::v2_18) return kTree2_18;
  return version == NcclVersion::v2_21 ? kTree2_21 : kTree2_22;
}

constexpr double kNvlsNvlink = 25;
constexpr double kNvlsTreeNetwork = 20.9;
constexpr std::uint32_t kNvlsKernelChannels = 16;  // nvlsChannels of Hopper
// In a table by the number of servers: 1, 2, more.
using ByServers = std::array<double, 3>;

std::size_t scale_of(const NcclSystem& system) { return std::min(system.servers, 3U) - 1; }

// Rates of LL (llMaxBws): inside a server by GPU, between servers by host.
double most_ll(const NcclSystem& system) {
  constexpr ByServers kIntel{39.0, 39.0, 20.4};
  constexpr ByServers kAmd{87.7, 22.5, 19.0};
  constexpr ByServers kHopper{141.0, 45.0, 35.0};
  const std::size_t scale = scale_of(system);
  if (system.servers > 1) return (system.has_amd_hosts ? kAmd : kIntel)[scale];
  return (system.gpu == GpuGeneration::hopper ? kHopper : kAmd)[scale];
}

// Rates of a channel (perChMaxRingLL128Bws, perChMaxTreeLL128Bws, perChMaxTreeBws).
double most_ring_ll128(const NcclSystem& system) {
  return system.gpu == GpuGeneration::hopper ? 36.7 : 20.0;
}
double most_tree_ll128(const NcclSystem& system) {
  constexpr ByServers kHopper{36.7, 36.7, 29.0};
  return system.gpu == GpuGeneration::hopper ? kHopper[scale_of(system)] : 20.0;
}
double most_tree(const NcclSystem& system) {
  constexpr ByServers kAmpere{24.0, 23.6, 17.8};
  constexpr ByServers kHopper{38.7, 41.4, 36.0};
  return (system.gpu == GpuGeneration::hopper ? kHopper : kAmpere)[scale_of(system)];
}

double log2_floor(std::uint64_t value) {
  double log = 0;
  for (; value > 1; value /= 2) ++log;
  return log;
}

// Trees are slower than the model at medium sizes (treeCorrectionFactor): powers of two from 64 B.
double tree_correction(Protocol protocol, Bytes size) {
  constexpr std::size_t kSizes = 24;
  constexpr std::array<std::array<double, kSizes>, 3> kFactor{
      {{1, 1, 1, 1, .9, .8, .7, .7, .7, .7, .6, .5, .4, .4, .5, .6, .7, .8, .9, 1, 1, 1, 1, 1},
       {1, 1, 1, 1, 1, .9, .8, .8, .8, .7, .6, .6, .6, .6, .6, .6, .8, .9, .9, .9, .9, 1, 1, 1},
       {.9, .9, .9, .9, .9, .9, .9, .8, .7, .6, .6, .5,
        .5, .5, .5, .6, .7, .8, .7, .7, .8, .9, .9, .9}}};
  if (size < 64) return 1;
  const auto log = static_cast<std::size_t>(log2_floor(size / 64));
  return log < kSizes ? kFactor[index_of(protocol)][log] : 1;
}

struct Cost {
  double rate = 0;  // GB/s of the operation's size
  double latency = 0;
};

Cost ring_cost(const NcclSystem& system, CollectiveOp op, Bytes size, Protocol protocol) {
  const double ranks = system.ranks();
  const double phases = op == CollectiveOp::all_reduce ? 2 : 1;
  const double steps = phases * (ranks - 1);
  double network_steps = phases * (system.servers - 1);
  // Up to version 2.21 an all_reduce counts two more (nInterSteps).
  const bool counts_more = system.version < NcclVersion::v2_22 && system.servers > 1;
  if (counts_more && op == CollectiveOp::all_reduce) network_steps = 2 * system.servers;
  const double channels = system.found_rings();
  double rate = channels * (system.servers <= 2 ? system.ring_rate : system.network_rate);
  // Flags take half of LL's rate. Version 2.18 counts half of what is left.
  const double ll_share = system.version == NcclVersion::v2_18 ? 4 : 2;
  if (protocol == Protocol::ll) rate = std::min(most_ll(system), rate / ll_share);
  if (protocol == Protocol::ll128) {
    rate = std::min(rate * 0.92, channels * most_ring_ll128(system));
  }
  const std::size_t p = index_of(protocol);
  // With one GPU in a server nothing hides the network's latency.
  double network =
      system.gpus_per_server == 1 ? tree_latencies(system.version).network[p] : kRingNetwork[p];
  network += system.network_latency * (protocol == Protocol::simple ? 2 : 1);
  double nvlink = kRingNvlink[p];
  if (system.servers > 1) {
    const double overhead = system.has_amd_hosts ? 2 : 1;
    nvlink = std::max(nvlink, overhead * (protocol == Protocol::simple ? 3 : 1));
  }
  Cost cost;
  cost.rate = rate * ranks / steps;
  cost.latency = kRingStart[p] + (steps - network_steps) * nvlink + network_steps * network;
  const bool has_plateau = protocol == Protocol::simple && system.servers > 1 &&
                           op == CollectiveOp::all_reduce &&
                           size / (system.channels * system.ranks()) >= 64;
  if (has_plateau) cost.latency *= 1.4;
  return cost;
}

Cost tree_cost(const NcclSystem& system, Bytes size, Protocol protocol) {
  const double channels = system.found_trees();
  double rate =
      system.found_rings() * (system.servers <= 2 ? system.ring_rate : system.network_rate);
  rate = std::min(rate * 0.92, channels * most_tree(system));
  if (protocol == Protocol::ll) rate = std::min(rate / 3.8, most_ll(system));
  if (protocol == Protocol::ll128) {
    rate = std::min(rate * (system.servers == 1 ? 7.0 / 9 : 120.0 / 128),
                    channels * most_tree_ll128(system));
  }
  const std::size_t p = index_of(protocol);
  const TreeLatencies& latencies = tree_latencies(system.version);
  const double network =
      latencies.network[p] + system.network_latency * (protocol == Protocol::simple ? 2 : 1);
  Cost cost;
  cost.rate = rate / 2 * tree_correction(protocol, size);
  cost.latency = latencies.start[p] + 2 * ((system.gpus_per_server - 1) * latencies.nvlink[p] +
                                           log2_floor(system.servers) * network);
  return cost;
}

// A channel's rate inside a server: the reduction and the multicast of an all_reduce follow each
// other through the switch.
double nvls_channel_rate(const NcclSystem& system) {
  constexpr double kEfficiency = 0.85;  // nvlsEfficiency of Hopper
  const double channels = system.nvls_channels;
  return 2 * system.nvls_rate * kEfficiency * (channels - 1) / channels;
}

double all_reduce_share(const NcclSystem& system) {
  const double ranks = system.ranks();
  return ranks / (2 * (ranks - 1));
}

Cost nvls_cost(const NcclSystem& system) {
  const double rate = nvls_channel_rate(system) * all_reduce_share(system);
  return {rate * system.nvls_channels, kNvlsNvlink};
}

Cost nvls_tree_cost(const NcclSystem& system) {
  constexpr ByServers kMost{0, 57.7, 45.5};  // perChMaxNVLSTreeBws of Hopper
  const double network = (system.servers <= 2 ? 2 : 1) * system.network_rate;
  const double rate = std::min({nvls_channel_rate(system), network, kMost[scale_of(system)]}) *
                      all_reduce_share(system);
  const double step = kNvlsTreeNetwork + 2 * system.network_latency;
  return {rate * system.nvls_channels, kNvlsNvlink + 2 * log2_floor(system.servers) * step};
}

bool is_in_switch(NcclAlgorithm algorithm) {
  return algorithm == NcclAlgorithm::nvls || algorithm == NcclAlgorithm::nvls_tree;
}

// Bytes of work below which a thread gets no channel of its own (threadThresholds).
Bytes least_work(const NcclSystem& system, const NcclChoice& choice) {
  constexpr Bytes kThreads = 512;
  if (is_in_switch(choice.algorithm)) return 0;
  if (choice.protocol == Protocol::simple) return kThreads * 64;
  if (choice.protocol == Protocol::ll128) return 640 * 8;
  return kThreads * 8 * (choice.algorithm == NcclAlgorithm::ring ? system.ranks() : 1);
}

}  // namespace

std::optional<double> nccl_estimate(const NcclSystem& system, CollectiveOp op, Bytes size,
                                    NcclAlgorithm algorithm, Protocol protocol) {
  if (protocol == Protocol::message) return std::nullopt;
  if (protocol == Protocol::ll128 && !system.has_ll128) return std::nullopt;
  if (algorithm != NcclAlgorithm::ring && op != CollectiveOp::all_reduce) return std::nullopt;
  const bool has_nvls = system.nvls_channels >= 2 && protocol == Protocol::simple;
  if (is_in_switch(algorithm) && !has_nvls) return std::nullopt;
  Cost cost;
  switch (algorithm) {
    case NcclAlgorithm::ring:
      cost = ring_cost(system, op, size, protocol);
      break;
    case NcclAlgorithm::tree:
      cost = tree_cost(system, size, protocol);
      break;
    case NcclAlgorithm::nvls:
      // Between servers only with switches of the network that reduce.
      if (system.servers > 1) return std::nullopt;
      cost = nvls_cost(system);
      break;
    case NcclAlgorithm::nvls_tree:
      if (system.servers == 1) return std::nullopt;
      cost = nvls_tree_cost(system);
      break;
  }
  return cost.latency + static_cast<double>(size) / (1000 * cost.rate);
}

NcclChoice nccl_choice(const NcclSystem& system, CollectiveOp op, Bytes size) {
  std::optional<NcclChoice> best;
  for (const auto algorithm :
       {NcclAlgorithm::tree, NcclAlgorithm::ring, NcclAlgorithm::nvls, NcclAlgorithm::nvls_tree}) {
    for (const auto protocol : {Protocol::ll, Protocol::ll128, Protocol::simple}) {
      const auto estimate = nccl_estimate(system, op, size, algorithm, protocol);
      if (!estimate || (best && *estimate >= best->microseconds)) continue;
      best = {algorithm, protocol, system.channels, *estimate};
    }
  }
  if (is_in_switch(best->algorithm)) best->channels = kNvlsKernelChannels;
  const Bytes least = least_work(system, *best);
  while (best->channels > 1 && size < best->channels * least) --best->channels;
  return *best;
}

std::uint32_t nccl_message_channels(std::uint32_t ranks, Bytes bytes, std::uint32_t channels,
                                    std::uint32_t most) {
  constexpr Bytes kStep = Bytes{512} << 10;
  constexpr Bytes kMostOfChannel = 32 * kStep;
  constexpr Bytes kLeastOfChannel = kStep / 8;
  std::uint32_t used = most;
  while (used > 1 && used * ranks > channels) used /= 2;
  while (used * 2 <= most && (bytes + used - 1) / used > kMostOfChannel) used *= 2;
  while (used > 1 && bytes / used < kLeastOfChannel) used /= 2;
  return used;
}

namespace {

// Trees cut their data such that the pipeline fills. Here and below: calcCollChunking.
Bytes tree_chunk(const NcclSystem& system, Bytes size, const NcclChoice& choice, Bytes most) {
  const Bytes per_channel = size / choice.channels;
  const double gpus = system.gpus_per_server;
  const double levels = log2_floor(system.servers);
  Bytes chunk = most;
  const auto halve = [&](double fewest_chunks, Bytes least) {
    while (static_cast<double>(per_channel / chunk) < fewest_chunks && chunk > least) chunk /= 2;
  };
  if (choice.protocol == Protocol::ll128) {
    const double steps = 1 + levels + 0.1 * gpus;
    halve(steps * 64 / gpus, Bytes{128} << 10);
    halve(steps * 16 / gpus, Bytes{32} << 10);
  } else {
    const double depth = gpus - 1 + levels;
    halve(depth * 8, Bytes{128} << 10);
    halve(depth * 4, Bytes{64} << 10);
    halve(depth, Bytes{32} << 10);
  }
  return chunk;
}

Bytes nvls_tree_chunk(const NcclSystem& system, Bytes size) {
  const Bytes at_once = kNvlsKernelChannels * system.gpus_per_server;
  Bytes chunk = Bytes{system.servers >= 4 ? 64U : 128U} << 10;
  if (size < 4 * at_once * chunk) chunk = std::min(chunk, Bytes{64} << 10);
  if (size < at_once * chunk) chunk = std::min(chunk, Bytes{32} << 10);
  return chunk;
}

}  // namespace

Bytes nccl_chunk(const NcclSystem& system, Bytes size, const NcclChoice& choice) {
  const Bytes slot = protocol_spec(choice.protocol).slot_bytes;
  if (choice.algorithm == NcclAlgorithm::nvls_tree) return nvls_tree_chunk(system, size);
  if (choice.algorithm == NcclAlgorithm::ring || choice.protocol == Protocol::ll) return slot;
  constexpr Bytes kStep = Bytes{512} << 10;  // an eighth of a channel's buffer of 4 MiB
  return tree_chunk(system, size, choice, choice.protocol == Protocol::ll128 ? slot : kStep);
}

const char* to_string(NcclAlgorithm algorithm) {
  switch (algorithm) {
    case NcclAlgorithm::ring:
      return "ring";
    case NcclAlgorithm::tree:
      return "tree";
    case NcclAlgorithm::nvls:
      return "NVLS";
    case NcclAlgorithm::nvls_tree:
      return "NVLS tree";
  }
  return "";
}

}  // namespace espalier
