#include "sims/silicon/nccl_plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <tuple>

namespace espalier {

namespace {

constexpr Bytes kKi = 1024;
constexpr Bytes kMi = kKi * kKi;
constexpr Bytes kNetworkChunk = 128 * kKi;      // of a message between servers (src/init.cc)
constexpr std::uint32_t kMostVcs = 32;          // of a router
constexpr std::uint32_t kMessageChannels = 32;  // NCCL's channels for messages (p2pnChannels)

double number_of(const Numbers& numbers, const char* name, double otherwise) {
  const auto found = numbers.find(name);
  return found == numbers.end() ? otherwise : found->second;
}

std::string cycles(double nanoseconds) {
  return fmt::format("{}", static_cast<std::uint64_t>(std::llround(std::max(nanoseconds, 0.0))));
}

// Settings of one run that all plans share: the preset, and the calibrated keys. The launch is that
// of the preset, and the rate of a channel depends on the plan.
std::vector<std::string> machine_settings(const SiliconMachine& machine, const Numbers& numbers) {
  std::vector<std::string> settings;
  for (const auto* list : {&machine.given, &machine.fitted}) {
    for (const FittedNumber& fitted : *list) {
      const std::string name = fitted.name;
      if (name.find('.') == std::string::npos) continue;
      if (name == kLaunch || name == kChannelRate) continue;
      settings.push_back(name + "=" + machine.text_of(fitted, numbers.at(name)));
    }
  }
  return settings;
}

NcclSystem system_of(const SiliconMachine& machine, const MeasuredCase& measured) {
  NcclSystem system = machine.nccl;
  if (measured.nccl == "2.18") system.version = NcclVersion::v2_18;
  if (measured.nccl == "2.21") system.version = NcclVersion::v2_21;
  return system;
}

class CasePlanner {
 public:
  CasePlanner(const SiliconMachine& machine, const MeasuredCase& measured, const Numbers& numbers)
      : machine_(machine),
        system_(system_of(machine, measured)),
        case_(measured),
        numbers_(numbers),
        settings_(machine_settings(machine, numbers)) {
    set("system.preset", machine.preset);
    set("system.topology.servers", fmt::format("{}", system_.servers));
    set("system.topology.gpus_per_server", fmt::format("{}", system_.gpus_per_server));
  }

  CasePlan plan() {
    CasePlan plan = simulated();
    // All ranks start together, so that another launch adds its difference to every time.
    if (!in_switch_ && numbers_.count(kLaunch) != 0) {
      plan.added_microseconds += (number(kLaunch) - machine_.numbers().at(kLaunch)) / 1000;
    }
    return plan;
  }

 private:
  CasePlan simulated() {
    if (!case_.kernel.empty()) return kernel();
    switch (case_.op) {
      case MeasuredOp::all_reduce:
        return collective(CollectiveOp::all_reduce, "all_reduce", "nccl_ring");
      case MeasuredOp::all_gather:
        return collective(CollectiveOp::all_gather, "all_gather", "nccl_allgather");
      case MeasuredOp::reduce_scatter:
        return collective(CollectiveOp::reduce_scatter, "reduce_scatter", "nccl_reducescatter");
      case MeasuredOp::all_to_all:
        return messages("custom", "nccl_alltoall", case_.size / system_.ranks());
      case MeasuredOp::sendrecv:
        return messages("custom", "nccl_sendrecv", case_.size);
    }
    return {};
  }

  void set(const std::string& key, const std::string& value) {
    settings_.push_back(key + "=" + value);
  }
  void set_bytes(const std::string& key, Bytes bytes) { set(key, fmt::format("{}B", bytes)); }
  [[nodiscard]] double number(const char* name, double otherwise = 0) const {
    return number_of(numbers_, name, otherwise);
  }

  CasePlan collective(CollectiveOp op, const char* op_name, const char* ring) {
    const NcclChoice choice = nccl_choice(system_, op, case_.size);
    CasePlan plan;
    plan.how = fmt::format("{} {} x{}", to_string(choice.algorithm), to_string(choice.protocol),
                           choice.channels);
    if (choice.algorithm == NcclAlgorithm::nvls) return in_switch(std::move(plan));
    set("collective.op", op_name);
    const bool is_tree = choice.algorithm != NcclAlgorithm::ring;
    set("collective.algorithm", is_tree ? "nccl_tree" : ring);
    set("collective.program.channels", fmt::format("{}", choice.channels));
    const Bytes parts = is_tree ? choice.channels : choice.channels * system_.ranks();
    const Bytes part = std::max<Bytes>((case_.size + parts - 1) / parts, 4);
    const Bytes chunk = chunk_of(choice, part);
    set_protocol(choice.protocol, post_of(choice, chunk), rate_of(choice));
    set_chunk(choice, chunk);
    // A round moves a chunk of every part.
    const Bytes rounds = (part + chunk - 1) / chunk;
    add_runs(plan, rounds, chunk * parts, is_tree ? 16 : 2);
    return plan;
  }

  static Bytes round_up(Bytes bytes) { return (bytes + 3) / 4 * 4; }

  // What a channel moves in one round of its `part` of the data.
  [[nodiscard]] Bytes chunk_of(const NcclChoice& choice, Bytes part) const {
    Bytes chunk = nccl_chunk(system_, case_.size, choice);
    // The chunks of all GPUs of a server are one, which takes a server's GPUs in a chain.
    if (choice.algorithm == NcclAlgorithm::nvls_tree) chunk *= system_.gpus_per_server;
    chunk = std::min(chunk, round_up(part));
    // NCCL cuts a ring's last, shorter chunk into two equal slices as well. Simulated slices have
    // one size, so all chunks have the same.
    if (choice.algorithm != NcclAlgorithm::ring || choice.protocol != Protocol::simple) {
      return chunk;
    }
    const Bytes rounds = (part + chunk - 1) / chunk;
    return round_up((part + rounds - 1) / rounds);
  }

  // The rate of a channel, GB/s; 0: the preset's.
  [[nodiscard]] double rate_of(const NcclChoice& choice) const {
    if (choice.algorithm == NcclAlgorithm::nvls_tree) return number("nvls_tree_rate");
    const double common = number(kChannelRate);
    if (choice.protocol == Protocol::simple) return common;
    const double rate = choice.protocol == Protocol::ll ? number("ll_rate", common) : common;
    // In trees 70 % of a channel's threads reduce and 30 % broadcast (src/device/all_reduce.h): 42
    // % of a ring's rate on the way up and down.
    return choice.algorithm == NcclAlgorithm::tree ? 0.42 * rate : rate;
  }

  // Messages of the network for one chunk: NCCL cuts a ring's chunk of Simple into two slices of at
  // least 32 KiB.
  static std::uint32_t posts_of(const NcclChoice& choice, Bytes chunk) {
    const bool has_slices =
        choice.protocol == Protocol::simple && choice.algorithm == NcclAlgorithm::ring;
    return has_slices && chunk > 32 * kKi ? 2 : 1;
  }

  // A number that depends on the setting of the network, and on the site: "simple_post_5",
  // "exchange_nic_rate_sirius_3".
  [[nodiscard]] double set_number(const std::string& name, double otherwise = 0) const {
    const double common = number(name.c_str(), otherwise);
    const double of_setting = number((name + "_" + case_.setting).c_str(), common);
    return number((name + "_" + case_.site + "_" + case_.setting).c_str(), of_setting);
  }

  // Slots that NCCL has for a connection (NCCL_STEPS), and thus posts to receive in advance.
  static constexpr std::uint32_t kSlotsInAdvance = 8;

  // A slot of LL costs a proxy on Slingshot either 1 to 2 us or as much as one of Simple, by these
  // measured rules. The likely reason is who matches a message with its receive: the NIC if the
  // receive is there in time, as for the first eight messages of a connection, and in one channel
  // of small messages, which stays in step; otherwise the host. With setting 5 it is always the
  // host in rings.
  [[nodiscard]] bool is_matched_by_host(const NcclChoice& choice, Bytes chunk) const {
    constexpr Bytes kInStep = 1 * kKi;
    if (choice.algorithm != NcclAlgorithm::ring) return false;
    if (case_.setting == "5") return true;
    const std::uint32_t passes = case_.op == MeasuredOp::all_reduce ? 2 : 1;
    const bool outruns_receives = passes * (system_.ranks() - 1) > kSlotsInAdvance;
    return outruns_receives && (choice.channels > 1 || chunk >= kInStep);
  }

  // What the proxy takes for one slot of the network, ns.
  [[nodiscard]] double post_of(const NcclChoice& choice, Bytes chunk) const {
    switch (choice.protocol) {
      case Protocol::ll:
        if (numbers_.count("ll_post") == 0) return 0;
        if (!is_matched_by_host(choice, chunk)) return set_number("ll_post");
        return set_number("matched_post", set_number("simple_post"));
      case Protocol::ll128:
        return 0;
      default:
        if (choice.algorithm == NcclAlgorithm::nvls_tree) return 0;
        if (choice.algorithm == NcclAlgorithm::tree && numbers_.count("tree_post") != 0) {
          return set_number("tree_post");
        }
        return posts_of(choice, chunk) * set_number("simple_post");
    }
  }

  // What a step costs besides links, by the protocol.
  void set_protocol(Protocol protocol, double post, double rate) {
    set("collective.program.protocol", to_string(protocol));
    double step = 1;
    if (protocol == Protocol::ll) step = number("ll_step", 1);
    if (protocol == Protocol::ll128) step = number("ll128_step", 1300);
    set("system.ni.program.decode_cycles", cycles(std::max(step, 1.0)));
    if (rate != 0) set(kChannelRate, cycles(rate));
    if (system_.servers == 1) return;
    set("system.ni.program.network_slot_cycles", cycles(post));
    set("system.ni.program.network_receive_cycles", cycles(post));
  }

  // Tiles are chunks. Simple hands on a ring's chunk in two slices; LL and LL128 hand on lines,
  // which are simulated in pieces.
  void set_chunk(const NcclChoice& choice, Bytes chunk) {
    Bytes request = chunk;
    std::uint32_t slots = 8;
    if (choice.protocol == Protocol::simple && choice.algorithm == NcclAlgorithm::ring) {
      request = std::max<Bytes>(round_up((chunk + 1) / 2), 32 * kKi);
      slots = 2;
    } else if (choice.protocol != Protocol::simple) {
      request = std::max<Bytes>(round_up(chunk / 4), 4 * kKi);
    }
    set_bytes("system.ni.program.slot", std::max<Bytes>(chunk, 4));
    set("system.ni.program.slots", fmt::format("{}", slots));
    set_bytes("system.ni.program.request", std::min(request, std::max<Bytes>(chunk, 4)));
    set("system.ni.program.requests", "2");
  }

  // `rounds` rounds of `bytes` each. With many ranks, more than `most` of them are not simulated:
  // two smaller runs stand for the whole, which is off by up to a tenth.
  void add_runs(CasePlan& plan, Bytes rounds, Bytes bytes, Bytes most) {
    constexpr std::uint32_t kFewRanks = 16;
    if (rounds <= most || system_.ranks() <= kFewRanks) {
      plan.runs.push_back(run_of(case_.size, 1));
      return;
    }
    const Bytes fewer = most / 2;
    const double steps =
        (static_cast<double>(case_.size) / static_cast<double>(bytes) - static_cast<double>(most)) /
        static_cast<double>(most - fewer);
    plan.runs.push_back(run_of(most * bytes, 1 + steps));
    plan.runs.push_back(run_of(fewer * bytes, -steps));
    plan.how += ", continued";
  }

  [[nodiscard]] PlannedRun run_of(Bytes size, double weight) const {
    PlannedRun run{settings_, weight};
    run.settings.push_back(fmt::format("collective.size={}B", size));
    return run;
  }

  // The switch of the server adds and copies.
  CasePlan in_switch(CasePlan plan) {
    settings_.clear();
    in_switch_ = true;
    set("system.preset", std::string(machine_.preset) + "_nvls");
    set("system.dimensions.switch_bytes_per_cycle", cycles(number("nvls_rate")));
    set("collective.op", "all_reduce");
    set("collective.algorithm", "baseline");
    set("collective.chunks", "64");
    plan.runs.push_back(run_of(case_.size, 1));
    plan.added_microseconds = number("nvls_start") / 1000;
    return plan;
  }

  // Slingshot's switches have virtual output queues (De Sensi et al., SC 2020). VCs by destination
  // with crossbar inputs of their own are the same for up to 32 GPUs: a packet whose output is
  // taken by another sender does not hold up those to other GPUs.
  void queue_by_output() {
    set("system.router.vcs", fmt::format("{}", std::min(system_.ranks(), kMostVcs)));
    set("system.router.vc_order", "destination");
    set("system.router.crossbar_inputs", "vc");
  }

  // Messages of an all_to_all meet at the NICs.
  void set_exchange_rate() {
    const double nic = set_number("exchange_nic_rate");
    if (case_.op != MeasuredOp::all_to_all || nic == 0) return;
    set("system.topology.nic_link.bandwidth", fmt::format("{:.1f}GB/s", nic));
  }

  // What a kernel of MSCCL++ sends to whom.
  [[nodiscard]] const char* kernel_algorithm() const {
    const bool is_small = case_.size < kSmallRows;
    if (case_.op != MeasuredOp::all_reduce) return "nccl_alltoall";
    if (is_small) return case_.kernel == "2" ? "mscclpp_packets" : "gc3_allpairs";
    return system_.servers > 1 ? "gc3_hierarchical" : "nccl_ring";
  }

  // A kernel of MSCCL++: all ranks exchange with all others at once, small data in lines with
  // flags. Large sums are spread over many thread blocks, as in rings. Between servers they go
  // through rings of servers.
  CasePlan kernel() {
    const bool is_small = case_.size < kSmallRows;
    const bool adds = case_.op == MeasuredOp::all_reduce;
    const bool is_ring = adds && !is_small && system_.servers == 1;
    const char* algorithm = kernel_algorithm();
    if (!adds && system_.servers > 1) queue_by_output();
    CasePlan plan;
    plan.how = algorithm;
    set("collective.op", adds ? "all_reduce" : "custom");
    set("collective.algorithm", algorithm);
    set("collective.program.protocol", is_small ? "LL" : "Message");
    // Kernel 6 has 21 thread blocks, 3 for each peer (test/mscclpp-test/allreduce_test.cu).
    const bool has_more_blocks = case_.kernel == "6";
    set("collective.program.instances", has_more_blocks ? "3" : is_small || is_ring ? "1" : "4");
    if (is_ring) set("collective.program.channels", "24");
    // Kernels 4 and 5 read from their peers: a request of one flit for each 128 bytes, whose answer
    // has a head flit for 8 flits of data. 8 of 10 flits are data, with writes 16 of 17.
    if (case_.kernel == "4" || case_.kernel == "5") {
      const bool is_hopper = system_.gpu == GpuGeneration::hopper;
      set("system.link.bandwidth", is_hopper ? "335GB/s" : "230GB/s");
    }
    // Kernel 2 hands one put to a proxy thread; the receiver looks for the data itself.
    if (case_.kernel == "2") {
      set("system.ni.program.network_slot_cycles", cycles(number("proxy_put")));
    }
    const Bytes part = std::max<Bytes>(case_.size / system_.ranks() / 4, 4);
    // NICs take turns among connections by small pieces.
    const Bytes most = !adds && system_.servers > 1 ? 256 * kKi : kMi;
    const Bytes request = std::clamp<Bytes>(round_up(part / 16), 4 * kKi, most);
    set_bytes("system.ni.program.request", request);
    set_bytes("system.ni.program.slot", std::max<Bytes>(request, 64 * kKi));
    set("system.ni.program.slots", "8");
    plan.runs.push_back(run_of(case_.size, 1));
    return plan;
  }

  CasePlan messages(const char* op, const char* algorithm, Bytes bytes) {
    std::uint32_t channels = nccl_message_channels(
        system_.ranks(), bytes, kMessageChannels,
        system_.servers > 1 ? static_cast<std::uint32_t>(number("network_channels", 2))
                            : kMessageChannels);
    // All peers share the channels: more for each than that do not run at the same time.
    if (case_.op == MeasuredOp::all_to_all) {
      channels = std::min(channels, std::max(2 * kMessageChannels / system_.ranks(), 1U));
    }
    CasePlan plan;
    plan.how = fmt::format("messages x{}", channels);
    set("collective.op", op);
    set("collective.algorithm", algorithm);
    set("collective.program.instances", fmt::format("{}", channels));
    set_protocol(Protocol::simple, set_number("message_post"), number("message_rate", 20));
    // Libfabric's CXI provider injects messages of up to 192 bytes, for which the host copies them
    // from the GPU.
    if (system_.servers > 1 && bytes / channels <= 192) {
      set("system.ni.program.network_slot_cycles",
          cycles(set_number("message_post") + set_number("inject_post")));
    }
    set("system.ni.program.fence_cycles", "0");
    // Flows to all others meet in the switch as they come; simulated ranks stay in step.
    const double exchange = number("exchange_rate");
    if (case_.op == MeasuredOp::all_to_all && exchange != 0) {
      set("system.link.bandwidth", cycles(exchange) + "GB/s");
    }
    set_exchange_rate();
    const Bytes part = std::max<Bytes>(round_up(bytes / channels), 4);
    if (case_.op == MeasuredOp::all_to_all && system_.servers > 1) queue_by_output();
    // Between servers a message is stored chunk by chunk. In a server, flows share an NI's queue,
    // where they take turns by pieces.
    const Bytes request = system_.servers > 1
                              ? std::min(part, kNetworkChunk)
                              : std::clamp<Bytes>(round_up(part / 64), 64 * kKi, kMi);
    const Bytes slot =
        system_.servers > 1 ? request : std::max(request, std::min<Bytes>(512 * kKi, part));
    set_bytes("system.ni.program.slot", slot);
    set("system.ni.program.slots", "8");
    set_bytes("system.ni.program.request", std::min(request, slot));
    set("system.ni.program.requests", "2");
    if (case_.op == MeasuredOp::sendrecv) {
      add_runs(plan, (part + request - 1) / request, channels * request, 1024);
    } else {
      plan.runs.push_back(run_of(case_.size, 1));
    }
    // The host prepares a task for each peer, and launches the kernel.
    const std::uint32_t peers = case_.op == MeasuredOp::all_to_all ? system_.ranks() - 1 : 1;
    if (const double task = number("peer_launch"); task != 0) {
      plan.host_microseconds = (task * peers + number(kLaunch)) / 1000;
    }
    return plan;
  }

  const SiliconMachine& machine_;
  const NcclSystem system_;
  const MeasuredCase& case_;
  const Numbers& numbers_;
  std::vector<std::string> settings_;
  bool in_switch_ = false;
};

}  // namespace

bool operator<(const MeasuredCase& a, const MeasuredCase& b) {
  return std::tie(a.op, a.kernel, a.nccl, a.site, a.setting, a.size) <
         std::tie(b.op, b.kernel, b.nccl, b.site, b.setting, b.size);
}

CasePlan plan_case(const SiliconMachine& machine, const MeasuredCase& measured,
                   const Numbers& numbers) {
  return CasePlanner(machine, measured, numbers).plan();
}

}  // namespace espalier
