// What NCCL takes: the choices of its published cost model on the machines of the presets.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <catch2/catch.hpp>

#include "config_test_support.h"
#include "sims/config/presets.h"
#include "sims/nccl/choice.h"
#include "sims/nccl/settings.h"

namespace espalier {

using namespace config_test;
using Catch::Matchers::Contains;

namespace {

using Op = CollectiveOp;

NcclMachine nccl_machine(const std::string& name) {
  const auto found = std::find_if(presets().begin(), presets().end(),
                                  [&](const Preset& preset) { return preset.name == name; });
  NcclMachine machine = *found->nccl;
  machine.servers = machine.measured_servers;
  return machine;
}

std::string text_of(const NcclChoice& choice) {
  constexpr std::array<const char*, 4> kNames{"tree", "ring", "NVLS", "NVLS tree"};
  return fmt::format("{} {} x{}", kNames[static_cast<std::size_t>(choice.algorithm)],
                     kNcclProtocols[static_cast<std::size_t>(choice.protocol)], choice.channels);
}

// The point with the preset's machine.
std::string nccl_config(const std::string& preset, const std::string& op, const std::string& size) {
  return fmt::format("system: {{preset: {}}}\ncollective: {{op: {}, algorithm: nccl, size: {}}}\n",
                     preset, op, size);
}

struct KnownChoice {
  const char* preset;
  const char* version;
  Op op;
  Bytes size;
  const char* choice;
  double microseconds;
  Bytes chunk;
};
// The first power of two of each choice, by an implementation of the formulas in another language.
constexpr KnownChoice kKnownChoices[] = {
    {"h100_8", "2.22", Op::all_reduce, 8, "ring LL x1", 15.000, 32768},
    {"h100_8", "2.22", Op::all_reduce, 2097152, "NVLS Simple x16", 31.210, 0},
    {"h100_8", "2.22", Op::all_gather, 8, "ring LL x1", 10.800, 32768},
    {"h100_8", "2.22", Op::all_gather, 8388608, "ring LL128 x24", 48.816, 576000},
    {"h100_8", "2.22", Op::all_gather, 33554432, "ring Simple x24", 111.380, 2097152},
    {"h100_10x8", "2.18", Op::all_reduce, 4294967296, "ring Simple x16", 23150.641, 2097152},
    {"h100_10x8", "2.21", Op::all_reduce, 4294967296, "ring Simple x16", 23150.641, 2097152},
    {"h100_10x8", "2.22", Op::all_reduce, 8, "tree LL x1", 45.201, 32768},
    {"h100_10x8", "2.22", Op::all_reduce, 262144, "tree LL128 x16", 86.266, 18000},
    {"h100_10x8", "2.22", Op::all_reduce, 16777216, "NVLS tree Simple x16", 241.430, 65536},
    {"h100_10x8", "2.22", Op::all_reduce, 4294967296, "ring Simple x16", 23120.961, 2097152},
    {"h100_10x8", "2.22", Op::all_gather, 8, "ring LL x1", 100.900, 32768},
    {"h100_10x8", "2.22", Op::all_gather, 2097152, "ring LL128 x16", 190.054, 576000},
    {"h100_10x8", "2.22", Op::all_gather, 268435456, "ring Simple x16", 1062.713, 2097152},
    {"polaris_2", "2.18", Op::all_reduce, 8, "tree LL x1", 20.401, 32768},
    {"polaris_2", "2.18", Op::all_reduce, 131072, "ring LL x4", 56.675, 32768},
    {"polaris_2", "2.18", Op::all_reduce, 262144, "tree Simple x4", 75.944, 32768},
    {"polaris_2", "2.18", Op::all_reduce, 8388608, "ring Simple x4", 482.565, 2097152},
    {"polaris_2", "2.21", Op::all_reduce, 131072, "ring LL x4", 47.594, 32768},
    {"polaris_2", "2.21", Op::all_reduce, 4194304, "ring Simple x4", 328.362, 2097152},
    {"polaris_2", "2.22", Op::all_reduce, 131072, "ring LL x4", 46.194, 32768},
    {"polaris_2", "2.22", Op::all_reduce, 4194304, "ring Simple x4", 305.962, 2097152},
    {"polaris_2", "2.22", Op::all_gather, 8, "ring LL x1", 21.300, 32768},
    {"polaris_2", "2.22", Op::all_gather, 2097152, "ring Simple x4", 96.951, 2097152},
    {"polaris", "2.18", Op::reduce_scatter, 8, "ring LL x1", 73.501, 32768},
    {"polaris", "2.18", Op::reduce_scatter, 4194304, "ring Simple x4", 335.762, 2097152},
    {"polaris", "2.21", Op::reduce_scatter, 8388608, "ring Simple x4", 421.124, 2097152},
    {"polaris", "2.22", Op::all_reduce, 8, "tree LL x1", 40.402, 32768},
    {"polaris", "2.22", Op::all_reduce, 262144, "tree Simple x4", 145.854, 32768},
    {"polaris", "2.22", Op::all_reduce, 16777216, "ring Simple x4", 1372.256, 2097152},
    {"polaris", "2.22", Op::all_gather, 8, "ring LL x1", 73.500, 32768},
    {"polaris", "2.22", Op::all_gather, 8388608, "ring Simple x4", 421.124, 2097152},
    {"polaris", "2.22", Op::reduce_scatter, 8388608, "ring Simple x4", 421.124, 2097152},
    {"sophia", "2.22", Op::all_reduce, 8, "tree LL x1", 25.201, 32768},
    {"sophia", "2.22", Op::all_reduce, 262144, "tree LL128 x16", 53.961, 18000},
    {"sophia", "2.22", Op::all_reduce, 16777216, "ring LL128 x16", 274.608, 576000},
    {"sophia", "2.22", Op::all_reduce, 134217728, "ring Simple x16", 1596.880, 2097152},
    {"sophia", "2.22", Op::all_gather, 8, "ring LL x1", 37.300, 32768},
    {"sophia", "2.22", Op::all_gather, 262144, "ring LL128 x16", 47.536, 576000},
    {"sophia", "2.22", Op::all_gather, 67108864, "ring Simple x16", 434.080, 2097152},
};

}  // namespace

TEST_CASE("NCCL's choice, its estimate and its chunk are those of its published cost model") {
  for (const KnownChoice& known : kKnownChoices) {
    INFO(known.preset << " " << known.version << " " << to_string(known.op) << " " << known.size);
    NcclMachine machine = nccl_machine(known.preset);
    machine.version = known.version;
    const NcclChoice choice = nccl_choice(machine, known.op, known.size);
    CHECK(text_of(choice) == known.choice);
    CHECK(choice.microseconds == Approx(known.microseconds).margin(0.001));
    if (known.chunk != 0) CHECK(nccl_chunk(machine, known.size, choice) == known.chunk);
    // A smaller size takes what the row before it says.
    if (known.size > 8) {
      CHECK(text_of(nccl_choice(machine, known.op, known.size / 2)).substr(0, 9) !=
            std::string(known.choice).substr(0, 9));
    }
  }
}

TEST_CASE("Chunks of trees grow with the data, so that the pipeline fills") {
  struct Row {
    double servers;
    NcclAlgorithm algorithm;
    NcclProtocol protocol;
    Bytes size;
    Bytes chunk;
  };
  const Bytes mib = 1 << 20;
  // With LL128 38 chunks above 128 KiB: 4.8 steps of 64 for 8 GPUs. With Simple 80, 8 for each step
  // of the longest way.
  for (const Row& row :
       {Row{10, NcclAlgorithm::tree, NcclProtocol::ll128, 32 * mib, 72'000},
        {10, NcclAlgorithm::tree, NcclProtocol::ll128, 512 * mib, 576'000},
        {10, NcclAlgorithm::tree, NcclProtocol::simple, 128 * mib, 128 << 10},
        {10, NcclAlgorithm::tree, NcclProtocol::simple, 1024 * mib, 512 << 10},
        {10, NcclAlgorithm::nvls_tree, NcclProtocol::simple, 4 * mib, 32 << 10},
        {2, NcclAlgorithm::nvls_tree, NcclProtocol::simple, 1024 * mib, 128 << 10}}) {
    NcclMachine machine = nccl_machine("h100_10x8");
    machine.servers = row.servers;
    CHECK(nccl_chunk(machine, row.size, {row.algorithm, row.protocol, 16}) == row.chunk);
  }
}

TEST_CASE("A message to a peer gets a share of the channels, more for long and fewer for short") {
  const NcclMachine one = nccl_machine("h100_8");
  // The measured steps of sendrecv on 8 H100: 80, 80, 162, 300 and 356 GB/s.
  std::vector<std::uint32_t> channels;
  for (const Bytes mib : {Bytes{32}, Bytes{64}, Bytes{128}, Bytes{256}, Bytes{512}}) {
    channels.push_back(nccl_message_channels(one, mib << 20, 32, 32));
  }
  CHECK(channels == std::vector<std::uint32_t>{4, 4, 8, 16, 32});
  // A part below an eighth of a step takes no channel of its own.
  CHECK(nccl_message_channels(one, 128 << 10, 32, 32) == 2);
  CHECK(nccl_message_channels(one, 1 << 10, 32, 32) == 1);
  CHECK(nccl_message_channels(nccl_machine("h100_10x8"), 1 << 30, 32, 1) == 1);
}

TEST_CASE("Algorithm nccl becomes the program, protocol and channels that NCCL takes") {
  const RunPoint ring = only_point(nccl_config("h100_8", "all_gather", "64MiB"));
  CHECK(ring.collective->algorithm == "nccl_allgather");
  CHECK(ring.collective->choice == "ring Simple x24; NCCL 2.22 estimates 190.6 us");
  CHECK(ring.collective->program.channels == 24);
  CHECK(ring.system.ni.program.slot_bytes == 349'528);  // a chunk of each of 8 ranks' 24 parts
  CHECK(ring.system.ni.program.request_bytes == 174'764);
  // Trees of LL128 share a channel's threads between both directions: 42 % of 22 GB/s.
  const RunPoint tree = only_point(nccl_config("sophia", "all_reduce", "1MiB"));
  CHECK(tree.collective->algorithm == "nccl_tree");
  CHECK(tree.system.ni.program.context_bytes_per_cycle == 9);
  // The chunks of a server's 8 GPUs are one of 512 KiB.
  const RunPoint switches = only_point(nccl_config("h100_10x8", "all_reduce", "1GiB"));
  CHECK_THAT(switches.collective->choice, Contains("NVLS tree Simple x16;"));
  CHECK(switches.system.ni.program.slot_bytes == 512 << 10);
  // A server whose switch adds: the point moves to the preset of that switch.
  const RunPoint nvls = only_point(nccl_config("h100_8", "all_reduce", "64MiB"));
  CHECK_THAT(nvls.collective->choice, Contains("NVLS Simple x16, on h100_8_nvls; NCCL 2.22"));
  CHECK(nvls.system.topology.is_dimensional());
  CHECK(nvls.system.dimensions.bytes_per_second == std::vector<std::uint64_t>{394'000'000'000});
  CHECK(nvls.collective->launch_cycles == 53'768);
  // An exchange: switches queue by output, and the host prepares a task for each peer.
  const RunPoint exchange = only_point(nccl_config("polaris", "all_to_all", "4KiB"));
  CHECK(exchange.collective->algorithm == "nccl_alltoall");
  CHECK(exchange.system.router.vcs == 32);
  CHECK(exchange.collective->host_cycles == 31 * 4745 + 6169);
  CHECK(exchange.system.ni.program.network_slot_cycles ==
        2791 + 14'000);  // injected: 192 B or less
  CHECK(only_point(nccl_config("sophia", "custom", "1MiB")).collective->algorithm ==
        "nccl_sendrecv");
}

TEST_CASE("A clock of half the rate gives a step half the cycles, and a cycle twice the bytes") {
  const std::string config = nccl_config("sophia", "all_gather", "4MiB");
  const auto keys = {std::string("system.router.clock=500MHz"),
                     std::string("system.router.flit_bytes=510"),
                     std::string("system.flow_control.payload_bytes=8160"),
                     std::string("system.ni.program.context_bytes_per_cycle=44")};
  const RunPoint half = only_point(config, keys);
  const RunPoint whole = only_point(config);
  CHECK(whole.system.ni.program.decode_cycles == 4000);
  CHECK(half.system.ni.program.decode_cycles == 2000);
  CHECK(half.system.ni.program.context_bytes_per_cycle == 44);
  CHECK(half.collective->choice == whole.collective->choice);
}

TEST_CASE(
    "A list of algorithms with nccl keeps its order, and a network without a machine skips it") {
  const ConfigResult both =
      read_run_config_text("list.yaml",
                           "system: {preset: h100_8}\n"
                           "collective: {algorithm: [nccl_ring, nccl, ring], size: [64KiB, 64MiB], "
                           "program: {channels: 24}}\n");
  REQUIRE(both.ok);
  std::vector<std::string> names;
  for (const RunPoint& point : both.points) {
    names.push_back(point.collective->choice.empty() ? point.collective->algorithm
                                                     : point.collective->choice.substr(0, 4));
  }
  CHECK(names ==
        std::vector<std::string>{"nccl_ring", "nccl_ring", "ring", "NVLS", "ring", "ring"});
  const ConfigResult torus =
      read_run_config_text("list.yaml",
                           "system: {topology: {type: torus, dims: [4, 4]}}\n"
                           "collective: {algorithm: [ring, nccl], size: 64KiB}\n");
  REQUIRE(torus.skipped.size() == 1);
  CHECK_THAT(torus.skipped.front().reason, Contains("links and NICs of servers of GPUs"));
}

}  // namespace espalier
