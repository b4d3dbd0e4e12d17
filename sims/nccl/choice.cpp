#include "sims/nccl/choice.h"

#include <algorithm>
#include <array>
#include <optional>
#include <string>

namespace espalier {

namespace {

constexpr Bytes kKi = 1024;

std::size_t index_of(NcclProtocol protocol) { return static_cast<std::size_t>(protocol); }
std::string name_of_protocol(NcclProtocol protocol) { return kNcclProtocols[index_of(protocol)]; }
std::string chunk_row(NcclProtocol protocol) { return "chunk/" + name_of_protocol(protocol); }

std::uint32_t log2_floor(Bytes value) {
  std::uint32_t log = 0;
  while (value >>= 1U) ++log;
  return log;
}
std::uint32_t levels_of(const NcclMachine& m) { return log2_floor(static_cast<Bytes>(m.servers)); }

double by_servers(const NcclMachine& m, const std::string& row) {
  return m.table(row, static_cast<std::size_t>(std::min(m.servers, 3.0)) - 1);
}
// Rates of LL depend on the GPU inside a server and on the host between servers.
double ll_limit(const NcclMachine& m) {
  return by_servers(m, "ll/" + (m.servers > 1 ? m.hosts : m.gpu));
}
double rate_of_rings(const NcclMachine& m) {
  return m.rings() * (m.servers <= 2 ? m.ring_rate : m.network_rate);
}

struct Cost {
  double rate = 0;     // GB/s of the operation's size
  double latency = 0;  // us
};

Cost ring_cost(const NcclMachine& m, CollectiveOp op, Bytes size, NcclProtocol protocol) {
  const double phases = op == CollectiveOp::all_reduce ? 2 : 1;
  const double steps = phases * (m.ranks() - 1);
  double network_steps = phases * (m.servers - 1);
  // Up to version 2.21 an all_reduce counts two more (nInterSteps).
  const bool is_older = m.version == "2.18" || m.version == "2.21";
  if (is_older && m.servers > 1 && phases == 2) network_steps = 2 * m.servers;
  double rate = rate_of_rings(m);
  // Half of LL's bytes are flags. Version 2.18 halves the rate once more.
  if (protocol == NcclProtocol::ll) {
    rate = std::min(ll_limit(m), rate / (m.version == "2.18" ? 4 : 2));
  }
  if (protocol == NcclProtocol::ll128) {
    rate = std::min(rate * 0.92, m.rings() * by_servers(m, "ring_ll128/" + m.gpu));
  }
  const std::size_t p = index_of(protocol);
  // With one GPU in a server nothing hides the network's latency.
  const std::string tree = "tree/" + m.version;
  const double network = m.table((m.gpus_per_server == 1 ? tree : "ring") + "/network", p);
  double nvlink = m.table("ring/nvlink", p);
  if (m.servers > 1) {
    nvlink = std::max(
        nvlink, (m.hosts == "amd" ? 2.0 : 1.0) * (protocol == NcclProtocol::simple ? 3.0 : 1.0));
  }
  double latency =
      m.table("ring/start", p) + (steps - network_steps) * nvlink + network_steps * network;
  const bool has_plateau = protocol == NcclProtocol::simple && m.servers > 1 && phases == 2;
  if (has_plateau && size / static_cast<Bytes>(m.channels * m.ranks()) >= 64) latency *= 1.4;
  return {rate * m.ranks() / steps, latency};
}

Cost tree_cost(const NcclMachine& m, Bytes size, NcclProtocol protocol) {
  double rate = rate_of_rings(m);
  rate = std::min(rate * 0.92, m.rings() * by_servers(m, "tree_simple/" + m.gpu));
  if (protocol == NcclProtocol::ll) rate = std::min(rate / 3.8, ll_limit(m));
  if (protocol == NcclProtocol::ll128) {
    const double most = by_servers(m, "tree_ll128/" + m.gpu);
    rate = std::min(rate * (m.servers == 1 ? 7.0 / 9 : 120.0 / 128), m.rings() * most);
  }
  const std::size_t p = index_of(protocol);
  double correction = 1;
  const std::vector<double>& factors = m.tables.at("tree_correction/" + name_of_protocol(protocol));
  if (const std::uint32_t log = log2_floor(size / 64); size >= 64 && log < factors.size()) {
    correction = factors[log];
  }
  const std::string tree = "tree/" + m.version;
  const double way_up = (m.gpus_per_server - 1) * m.table(tree + "/nvlink", p) +
                        levels_of(m) * m.table(tree + "/network", p);
  return {rate / 2 * correction, m.table(tree + "/start", p) + 2 * way_up};
}

Cost nvls_cost(const NcclMachine& m, NcclAlgorithm algorithm) {
  const double channels = m.nvls_channels;
  // The addition and the multicast of an all_reduce follow each other through the switch.
  double rate = 2 * m.nvls_rate * m.table("nvls/efficiency") * (channels - 1) / channels;
  double latency = m.table("nvls/nvlink");
  if (algorithm == NcclAlgorithm::nvls_tree) {
    const double network = (m.servers <= 2 ? 2 : 1) * m.network_rate;
    rate = std::min({rate, network, by_servers(m, "nvls_tree")});
    latency += 2 * levels_of(m) * m.table("nvls/tree_network");
  }
  return {rate * (m.ranks() / (2 * (m.ranks() - 1))) * channels, latency};
}

// NCCL's estimate in us; nothing if NCCL does not offer this combination.
std::optional<double> estimate(const NcclMachine& m, CollectiveOp op, Bytes size,
                               NcclAlgorithm algorithm, NcclProtocol protocol) {
  if (protocol == NcclProtocol::ll128 && !m.has_ll128) return std::nullopt;
  if (algorithm != NcclAlgorithm::ring && op != CollectiveOp::all_reduce) return std::nullopt;
  Cost cost;
  if (algorithm == NcclAlgorithm::ring) {
    cost = ring_cost(m, op, size, protocol);
  } else if (algorithm == NcclAlgorithm::tree) {
    cost = tree_cost(m, size, protocol);
  } else {
    // NVLS stays in one server: between servers only a switch of the network that adds could do
    // the same.
    const bool is_one = algorithm == NcclAlgorithm::nvls;
    if (m.nvls_channels < 2 || protocol != NcclProtocol::simple || is_one != (m.servers == 1)) {
      return std::nullopt;
    }
    cost = nvls_cost(m, algorithm);
  }
  return cost.latency + static_cast<double>(size) / (1000 * cost.rate);
}

// Bytes below which a channel is not used (threadThresholds).
Bytes least_work(const NcclMachine& m, const NcclChoice& choice) {
  if (choice.is_in_switch()) return 0;
  if (choice.protocol == NcclProtocol::simple) return 512 * 64;
  if (choice.protocol == NcclProtocol::ll128) return 640 * 8;
  const bool is_ring = choice.algorithm == NcclAlgorithm::ring;
  return 512 * 8 * (is_ring ? static_cast<Bytes>(m.ranks()) : 1);
}

// Trees cut their data such that the pipeline fills (calcCollChunking).
Bytes tree_chunk(const NcclMachine& m, Bytes size, const NcclChoice& choice) {
  struct Limit {
    double fewest_chunks;
    Bytes least;
  };
  const Bytes per_channel = size / choice.channels;
  const double gpus = m.gpus_per_server;
  auto chunk = static_cast<Bytes>(m.table("step"));
  std::vector<Limit> limits;
  if (choice.protocol == NcclProtocol::ll128) {
    chunk = static_cast<Bytes>(m.table(chunk_row(choice.protocol)));
    const double steps = 1 + levels_of(m) + 0.1 * gpus;
    limits = {{steps * 64 / gpus, 128 * kKi}, {steps * 16 / gpus, 32 * kKi}};
  } else {
    const double depth = gpus - 1 + levels_of(m);
    limits = {{depth * 8, 128 * kKi}, {depth * 4, 64 * kKi}, {depth, 32 * kKi}};
  }
  for (const Limit& limit : limits) {
    while (static_cast<double>(per_channel / chunk) < limit.fewest_chunks && chunk > limit.least) {
      chunk /= 2;
    }
  }
  return chunk;
}

}  // namespace

NcclChoice nccl_choice(const NcclMachine& machine, CollectiveOp op, Bytes size) {
  constexpr std::array<NcclAlgorithm, 4> kAlgorithms{NcclAlgorithm::tree, NcclAlgorithm::ring,
                                                     NcclAlgorithm::nvls, NcclAlgorithm::nvls_tree};
  std::optional<NcclChoice> best;
  for (const NcclAlgorithm algorithm : kAlgorithms) {
    for (std::size_t p = 0; p < kNcclProtocols.size(); ++p) {
      const auto protocol = static_cast<NcclProtocol>(p);
      const auto time = estimate(machine, op, size, algorithm, protocol);
      if (!time || (best && *time >= best->microseconds)) continue;
      best = NcclChoice{algorithm, protocol, static_cast<std::uint32_t>(machine.channels), *time};
    }
  }
  if (best->is_in_switch()) {
    best->channels = static_cast<std::uint32_t>(machine.table("nvls/channels"));
  }
  // Only the channels that have enough work are used.
  while (best->channels > 1 && size < best->channels * least_work(machine, *best)) {
    --best->channels;
  }
  return *best;
}

Bytes nccl_chunk(const NcclMachine& machine, Bytes size, const NcclChoice& choice) {
  if (choice.algorithm == NcclAlgorithm::nvls_tree) {
    const auto at_once =
        static_cast<Bytes>(machine.table("nvls/channels") * machine.gpus_per_server);
    Bytes chunk = (machine.servers >= 4 ? 64 : 128) * kKi;
    if (size < 4 * at_once * chunk) chunk = std::min(chunk, 64 * kKi);
    return size < at_once * chunk ? std::min(chunk, 32 * kKi) : chunk;
  }
  if (choice.algorithm == NcclAlgorithm::ring || choice.protocol == NcclProtocol::ll) {
    return static_cast<Bytes>(machine.table(chunk_row(choice.protocol)));
  }
  return tree_chunk(machine, size, choice);
}

// A share of all channels, doubled while a channel's part exceeds 32 FIFO steps, and halved while a
// part is below an eighth of a step.
std::uint32_t nccl_message_channels(const NcclMachine& machine, Bytes size, std::uint32_t channels,
                                    std::uint32_t most) {
  const auto step = static_cast<Bytes>(machine.table("step"));
  std::uint32_t used = most;
  while (used > 1 && used * machine.ranks() > channels) used /= 2;
  while (used * 2 <= most && (size + used - 1) / used > 32 * step) used *= 2;
  while (used > 1 && size / used < step / 8) used /= 2;
  return used;
}

}  // namespace espalier
