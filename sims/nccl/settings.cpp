#include "sims/nccl/settings.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "sims/nccl/choice.h"

namespace espalier {

namespace {

constexpr Bytes kKiB = 1024;
constexpr Bytes kMiB = kKiB * kKiB;
constexpr Bytes kNetworkChunk = 128 * kKiB;      // of a message between servers (src/init.cc)
constexpr std::uint32_t kMostVcs = 32;           // of a router
constexpr std::uint32_t kMessageChannels = 32;   // p2pnChannels
constexpr std::uint32_t kReceivesInAdvance = 8;  // of a connection (NCCL_STEPS)
const std::string kNi = "system.ni.program.";

Bytes round_up(Bytes size) { return (size + 3) / 4 * 4; }
Bytes divided(Bytes size, Bytes parts) { return (size + parts - 1) / parts; }

class Planner {
 public:
  Planner(const NcclMachine& machine, const NcclNode& node, CollectiveOp op, Bytes size)
      : m_(machine), node_(node), op_(op), size_(size) {}

  NcclPlan plan() {
    if (op_ == CollectiveOp::all_to_all || op_ == CollectiveOp::custom) {
      messages();
    } else {
      collective();
    }
    return std::move(plan_);
  }

 private:
  void set(const std::string& key, std::string value) {
    plan_.settings.emplace_back(key, std::move(value));
  }
  void set(const std::string& key, Bytes value) { set(key, std::to_string(value)); }
  [[nodiscard]] std::uint64_t cycles(double nanoseconds) const {
    const double hertz = static_cast<double>(node_.hertz);
    return static_cast<std::uint64_t>(std::max(nanoseconds, 0.0) * (hertz / 1e9) + 0.5);
  }
  // A rate in GB/s, of which a cycle moves whole bytes.
  [[nodiscard]] std::uint64_t per_cycle(double rate) const {
    const double hertz = static_cast<double>(node_.hertz);
    return std::max<std::uint64_t>(static_cast<std::uint64_t>(rate * (1e9 / hertz) + 0.5), 1);
  }
  [[nodiscard]] double common_rate() const {
    const double hertz = static_cast<double>(node_.hertz);
    return static_cast<double>(node_.context_bytes_per_cycle) * (hertz / 1e9);
  }
  [[nodiscard]] bool between() const { return m_.servers > 1; }
  [[nodiscard]] Bytes ranks() const { return static_cast<Bytes>(m_.ranks()); }

  // Rings and trees.

  void collective() {
    const NcclChoice choice = nccl_choice(m_, op_, size_);
    constexpr std::array<const char*, 4> kNames{"tree", "ring", "NVLS", "NVLS tree"};
    plan_.choice = fmt::format("{} {} x{}; NCCL {} estimates {:.1f} us",
                               kNames[static_cast<std::size_t>(choice.algorithm)],
                               kNcclProtocols[static_cast<std::size_t>(choice.protocol)],
                               choice.channels, m_.version, choice.microseconds);
    if (choice.algorithm == NcclAlgorithm::nvls) return in_switch();
    const bool is_ring = choice.algorithm == NcclAlgorithm::ring;
    set("collective.op", to_string(op_));
    set("collective.algorithm", !is_ring                          ? "nccl_tree"
                                : op_ == CollectiveOp::all_reduce ? "nccl_ring"
                                : op_ == CollectiveOp::all_gather ? "nccl_allgather"
                                                                  : "nccl_reducescatter");
    set("collective.program.channels", Bytes{choice.channels});
    const Bytes parts = choice.channels * (is_ring ? ranks() : 1);
    const Bytes part = std::max<Bytes>(divided(size_, parts), 4);
    const Bytes chunk = chunk_of(choice, part);
    set_protocol(choice.protocol, post_of(choice, chunk), rate_of(choice));
    set_chunk(choice, chunk);
  }

  // What a channel moves in one round of its `part` of the data.
  [[nodiscard]] Bytes chunk_of(const NcclChoice& choice, Bytes part) const {
    Bytes chunk = nccl_chunk(m_, size_, choice);
    // The chunks of all GPUs of a server are one, which takes a server's GPUs in a chain.
    if (choice.algorithm == NcclAlgorithm::nvls_tree) {
      chunk *= static_cast<Bytes>(m_.gpus_per_server);
    }
    chunk = std::min(chunk, round_up(part));
    // NCCL cuts a ring's last, shorter chunk into two equal slices as well. Simulated slices have
    // one size, so all chunks have it.
    const bool is_cut =
        choice.algorithm == NcclAlgorithm::ring && choice.protocol == NcclProtocol::simple;
    return is_cut ? round_up(divided(part, divided(part, chunk))) : chunk;
  }

  // The rate of a channel, GB/s; 0: the node's.
  [[nodiscard]] double rate_of(const NcclChoice& choice) const {
    if (choice.algorithm == NcclAlgorithm::nvls_tree) return m_.nvls_tree_rate;
    const double common = common_rate();
    if (choice.protocol == NcclProtocol::simple) return common;
    const bool is_own = choice.protocol == NcclProtocol::ll && m_.ll_rate != 0;
    const double rate = is_own ? m_.ll_rate : common;
    // In trees 70 % of a channel's threads reduce and 30 % broadcast (src/device/all_reduce.h):
    // 42 % of a ring's rate up and down.
    return choice.algorithm == NcclAlgorithm::tree ? 0.42 * rate : rate;
  }

  // A slot of LL costs a proxy on Slingshot either 1 to 2 us or as much as one of Simple, by these
  // measured rules. The likely reason is who matches a message with its receive: the NIC if the
  // receive is there in time, as for the first eight messages of a connection, and in one channel
  // of small messages, which stays in step; otherwise the host.
  [[nodiscard]] bool is_matched_by_host(const NcclChoice& choice, Bytes chunk) const {
    if (choice.algorithm != NcclAlgorithm::ring) return false;
    if (m_.host_matches) return true;
    const Bytes passes = op_ == CollectiveOp::all_reduce ? 2 : 1;
    const bool outruns_receives = passes * (ranks() - 1) > kReceivesInAdvance;
    return outruns_receives && (choice.channels > 1 || chunk >= kKiB);
  }

  // What the proxy takes for one slot of the network, ns.
  [[nodiscard]] double post_of(const NcclChoice& choice, Bytes chunk) const {
    if (choice.protocol == NcclProtocol::ll) {
      if (m_.ll_post == 0) return 0;
      if (!is_matched_by_host(choice, chunk)) return m_.ll_post;
      return m_.matched_post != 0 ? m_.matched_post : m_.simple_post;
    }
    if (choice.protocol == NcclProtocol::ll128 || choice.algorithm == NcclAlgorithm::nvls_tree) {
      return 0;
    }
    if (choice.algorithm == NcclAlgorithm::tree && m_.tree_post != 0) return m_.tree_post;
    // NCCL cuts a ring's chunk of Simple into two slices of at least 32 KiB, a message each.
    const bool is_cut = choice.algorithm == NcclAlgorithm::ring && chunk > 32 * kKiB;
    return (is_cut ? 2 : 1) * m_.simple_post;
  }

  // The time that a step takes beside the time on links.
  void set_protocol(NcclProtocol protocol, double post, double rate) {
    const double step = protocol == NcclProtocol::ll      ? m_.ll_step
                        : protocol == NcclProtocol::ll128 ? m_.ll128_step
                                                          : 1;
    set("collective.program.protocol", kNcclProtocols[static_cast<std::size_t>(protocol)]);
    set(kNi + "decode_cycles", std::max<std::uint64_t>(cycles(step), 1));
    if (rate != 0) set(kNi + "context_bytes_per_cycle", per_cycle(rate));
    if (!between()) return;
    set(kNi + "network_slot_cycles", cycles(post));
    set(kNi + "network_receive_cycles", cycles(post));
  }

  void set_slots(Bytes slot, Bytes slots, Bytes request) {
    set(kNi + "slot", fmt::format("{}B", slot));
    set(kNi + "slots", slots);
    set(kNi + "request", fmt::format("{}B", request));
    set(kNi + "requests", Bytes{2});
  }

  // Tiles are chunks. Simple hands on a ring's chunk in two slices; LL and LL128 hand on lines,
  // simulated in pieces.
  void set_chunk(const NcclChoice& choice, Bytes chunk) {
    Bytes request = chunk;
    Bytes slots = 8;
    if (choice.protocol != NcclProtocol::simple) {
      request = std::max(round_up(chunk / 4), 4 * kKiB);
    } else if (choice.algorithm == NcclAlgorithm::ring) {
      request = std::max(round_up(divided(chunk, 2)), 32 * kKiB);
      slots = 2;
    }
    const Bytes slot = std::max<Bytes>(chunk, 4);
    set_slots(slot, slots, std::min(request, slot));
  }

  void in_switch() {
    plan_.in_switch = true;
    set("collective.op", "all_reduce");
    set("collective.algorithm", "baseline");
    set("collective.chunks", "64");
    set("system.dimensions.switch_bytes_per_cycle", per_cycle(m_.nvls_addition));
    set("collective.launch_cycles", cycles(m_.nvls_start));
  }

  // Messages to all peers or to the next one.

  void messages() {
    const bool is_exchange = op_ == CollectiveOp::all_to_all;
    const Bytes size = is_exchange ? size_ / ranks() : size_;
    const auto most =
        between() ? static_cast<std::uint32_t>(m_.network_channels) : kMessageChannels;
    std::uint32_t channels = nccl_message_channels(m_, size, kMessageChannels, most);
    // All peers share the channels, so a peer cannot use more than its share at the same time.
    if (is_exchange) {
      const auto share = static_cast<std::uint32_t>(2 * kMessageChannels / ranks());
      channels = std::min(channels, std::max<std::uint32_t>(share, 1));
    }
    plan_.choice = fmt::format("messages x{}; NCCL {}", channels, m_.version);
    set("collective.op", to_string(CollectiveOp::custom));
    set("collective.algorithm", is_exchange ? "nccl_alltoall" : "nccl_sendrecv");
    set("collective.program.instances", Bytes{channels});
    // Libfabric's CXI provider injects messages of up to 192 bytes, for which the host copies them
    // from the GPU.
    const bool is_injected = between() && size / channels <= 192;
    set_protocol(NcclProtocol::simple, m_.message_post, m_.message_rate);
    if (is_injected) {
      set(kNi + "network_slot_cycles", cycles(m_.message_post + m_.inject_post));
    }
    set(kNi + "fence_cycles", Bytes{0});
    if (is_exchange) set_exchange();
    // Between servers a message is stored chunk by chunk. In a server, flows share an NI's queue,
    // where they take turns by pieces.
    const Bytes part = std::max<Bytes>(round_up(size / channels), 4);
    if (between()) {
      const Bytes slot = std::min(part, kNetworkChunk);
      set_slots(slot, 8, slot);
    } else {
      const Bytes request = std::min(std::max(round_up(part / 64), 64 * kKiB), kMiB);
      const Bytes slot = std::max(request, std::min(512 * kKiB, part));
      set_slots(slot, 8, std::min(request, slot));
    }
    // The host prepares a task for each peer, and launches the kernel, while the GPUs execute the
    // operation before.
    if (m_.peer_launch == 0) return;
    const double peers = is_exchange ? m_.ranks() - 1 : 1;
    set("collective.host_cycles", cycles(m_.peer_launch * peers) + node_.doorbell_cycles);
  }

  // Flows to all others meet in the switch and at the NICs as they come; simulated ranks stay in
  // step. Slingshot's switches have virtual output queues (De Sensi et al., SC 2020). VCs by
  // destination with crossbar inputs of their own are the same for up to 32 GPUs: a packet whose
  // output is taken by another sender does not hold up those to other GPUs.
  void set_exchange() {
    const auto rate = [](double gbps) { return fmt::format("{:.1f}GB/s", gbps); };
    if (m_.exchange_rate != 0 && m_.exchange_rate < node_.link_rate) {
      set("system.link.bandwidth", rate(m_.exchange_rate));
    }
    if (!between()) return;
    if (m_.exchange_nic_rate != 0 && m_.exchange_nic_rate < node_.nic_rate) {
      set("system.topology.nic_link.bandwidth", rate(m_.exchange_nic_rate));
    }
    set("system.router.vcs", std::min<Bytes>(ranks(), kMostVcs));
    set("system.router.vc_order", "destination");
    set("system.router.crossbar_inputs", "vc");
  }

  const NcclMachine& m_;
  const NcclNode node_;
  const CollectiveOp op_;
  const Bytes size_;
  NcclPlan plan_;
};

}  // namespace

bool nccl_computes(CollectiveOp op) {
  return op == CollectiveOp::all_reduce || op == CollectiveOp::all_gather ||
         op == CollectiveOp::reduce_scatter || op == CollectiveOp::all_to_all ||
         op == CollectiveOp::custom;
}

NcclPlan nccl_plan(const NcclMachine& machine, const NcclNode& node, CollectiveOp op, Bytes size) {
  return Planner(machine, node, op, size).plan();
}

}  // namespace espalier
