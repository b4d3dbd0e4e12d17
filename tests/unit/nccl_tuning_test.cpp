// NCCL's choice between rings, trees and switches.
#include "alg/program/nccl_tuning.h"

#include <catch2/catch.hpp>
#include <string>

using namespace espalier;

namespace {

constexpr Bytes kMiB = Bytes{1} << 20;

NcclSystem hopper_servers(std::uint32_t servers) {
  NcclSystem system;
  system.gpu = GpuGeneration::hopper;
  system.servers = servers;
  system.channels = servers == 1 ? 24 : 16;
  system.ring_rate = 370.8 / system.channels;
  system.network_rate = 24;
  return system;
}

}  // namespace

TEST_CASE("A switch that adds takes large all_reduces of one server, and no other operation") {
  NcclSystem system = hopper_servers(1);
  CHECK(nccl_choice(system, CollectiveOp::all_reduce, 1024 * kMiB).algorithm ==
        NcclAlgorithm::ring);
  system.nvls_channels = 16;
  system.nvls_rate = 370.8 / 16;
  CHECK(nccl_choice(system, CollectiveOp::all_reduce, 1024 * kMiB).algorithm ==
        NcclAlgorithm::nvls);
  CHECK(nccl_choice(system, CollectiveOp::all_gather, 1024 * kMiB).algorithm ==
        NcclAlgorithm::ring);
}

TEST_CASE("Between ten servers trees give way to rings above a gigabyte") {
  // Rings move data at 194 GB/s and trees at 177, but rings begin 0.9 ms later: they cross near 1.7
  // GB.
  const NcclSystem system = hopper_servers(10);
  const NcclChoice smaller = nccl_choice(system, CollectiveOp::all_reduce, 1024 * kMiB);
  CHECK(smaller.algorithm == NcclAlgorithm::tree);
  CHECK(smaller.protocol == Protocol::simple);
  CHECK(nccl_choice(system, CollectiveOp::all_reduce, 4096 * kMiB).algorithm ==
        NcclAlgorithm::ring);
}

TEST_CASE("Small data take the protocol without fences, and fewer channels") {
  const NcclSystem system = hopper_servers(1);
  const NcclChoice small = nccl_choice(system, CollectiveOp::all_gather, 64 << 10);
  CHECK(small.protocol == Protocol::ll);
  CHECK(small.channels == 2);  // 512 threads with 64 B each, for each of 8 ranks: 32 KiB at least
  const NcclChoice large = nccl_choice(system, CollectiveOp::all_gather, 1024 * kMiB);
  CHECK(large.protocol == Protocol::simple);
  CHECK(large.channels == 24);
}

TEST_CASE("A network where flags and data may pass each other does without LL128") {
  NcclSystem system = hopper_servers(10);
  CHECK(nccl_choice(system, CollectiveOp::all_gather, 32 * kMiB).protocol == Protocol::ll128);
  system.has_ll128 = false;
  CHECK(nccl_choice(system, CollectiveOp::all_gather, 32 * kMiB).protocol == Protocol::simple);
}

namespace {

// A node has 4 A100 and 2 NICs, behind PCIe of 24 GB/s: 2 rings, which NCCL duplicates.
NcclSystem polaris_nodes(std::uint32_t nodes, NcclVersion version) {
  NcclSystem system;
  system.version = version;
  system.servers = nodes;
  system.gpus_per_server = 4;
  system.channels = 4;
  system.rings = system.trees = 2;
  system.ring_rate = system.network_rate = 23.8;
  system.has_ll128 = false;
  system.has_amd_hosts = true;
  return system;
}

std::string chosen(const NcclSystem& system, CollectiveOp op, Bytes size) {
  const NcclChoice choice = nccl_choice(system, op, size);
  return std::string(to_string(choice.algorithm)) + " " + to_string(choice.protocol);
}

}  // namespace

TEST_CASE("Version 2.18 takes trees where version 2.21 stays with rings") {
  constexpr Bytes kKi = 1024;
  const auto all_reduce = [](std::uint32_t nodes, NcclVersion version, Bytes size) {
    return chosen(polaris_nodes(nodes, version), CollectiveOp::all_reduce, size);
  };
  for (const NcclVersion version : {NcclVersion::v2_18, NcclVersion::v2_21}) {
    CHECK(all_reduce(2, version, 32 * kKi) == "tree LL");
    CHECK(all_reduce(2, version, 16 * kMiB) == "ring Simple");
    CHECK(all_reduce(8, version, 32 * kKi) == "tree LL");
    CHECK(all_reduce(8, version, 8 * kMiB) == "tree Simple");
    CHECK(all_reduce(8, version, 16 * kMiB) == "ring Simple");
  }
  CHECK(all_reduce(2, NcclVersion::v2_18, 256 * kKi) == "tree Simple");
  CHECK(all_reduce(2, NcclVersion::v2_18, 2 * kMiB) == "tree Simple");
  CHECK(all_reduce(2, NcclVersion::v2_21, 256 * kKi) == "ring LL");
  CHECK(all_reduce(2, NcclVersion::v2_21, 4 * kMiB) == "ring Simple");
  CHECK(all_reduce(8, NcclVersion::v2_18, 256 * kKi) == "tree Simple");
  CHECK(all_reduce(8, NcclVersion::v2_21, 256 * kKi) == "ring LL");
  // LL's rate counts twice as much in version 2.21, so it lasts longer.
  const auto all_gather = [](NcclVersion version, Bytes size) {
    return chosen(polaris_nodes(2, version), CollectiveOp::all_gather, size);
  };
  CHECK(all_gather(NcclVersion::v2_18, kMiB) == "ring Simple");
  CHECK(all_gather(NcclVersion::v2_21, kMiB) == "ring LL");
  CHECK(all_gather(NcclVersion::v2_21, 2 * kMiB) == "ring Simple");
}

TEST_CASE("LL128's limit counts the rings that the search found, not their duplicates") {
  NcclSystem system = hopper_servers(10);
  CHECK(chosen(system, CollectiveOp::all_gather, 256 * kMiB) == "ring LL128");
  system.rings = 8;
  system.network_rate = 48;
  CHECK(chosen(system, CollectiveOp::all_gather, 128 * kMiB) == "ring LL128");
  CHECK(chosen(system, CollectiveOp::all_gather, 256 * kMiB) == "ring Simple");
}

TEST_CASE("A slot of LL holds 32 KiB of data: 512 threads write 8 lines of 8 bytes and flags") {
  NcclChoice choice;
  choice.protocol = Protocol::ll;
  CHECK(nccl_chunk(polaris_nodes(2, NcclVersion::v2_21), kMiB, choice) == 32 << 10);
}

namespace {

NcclSystem hopper_servers_with_nvls(std::uint32_t servers) {
  NcclSystem system = hopper_servers(servers);
  system.rings = system.trees = system.nvls_channels = 8;
  system.network_rate = 48;
  system.nvls_rate = 370.8 / 8;
  return system;
}

}  // namespace

TEST_CASE("Where switches add, their trees take all_reduces of ten servers up to 2 GiB") {
  // 8 channels of 45.5 GB/s, NCCL's limit: 184 GB/s after 0.15 ms. Rings move 194 GB/s after 1.0
  // ms.
  const NcclSystem system = hopper_servers_with_nvls(10);
  const auto estimate = nccl_estimate(system, CollectiveOp::all_reduce, 1024 * kMiB,
                                      NcclAlgorithm::nvls_tree, Protocol::simple);
  REQUIRE(estimate.has_value());
  CHECK(*estimate == Approx(25 + 6 * 20.9 + 1024 * 1048.576 * 1e-3 * 158 / 80 / (8 * 45.5) * 1e3));
  for (const Bytes size : {32 * kMiB, 256 * kMiB, 2048 * kMiB}) {
    INFO(size);
    CHECK(chosen(system, CollectiveOp::all_reduce, size) == "NVLS tree Simple");
    CHECK(nccl_choice(system, CollectiveOp::all_reduce, size).channels == 16);
  }
  CHECK(chosen(system, CollectiveOp::all_reduce, 4096 * kMiB) == "ring Simple");
  CHECK(chosen(system, CollectiveOp::all_gather, 1024 * kMiB) == "ring Simple");
}

TEST_CASE("Trees of switches connect servers, and switches alone stay in one") {
  const auto offers = [](std::uint32_t servers, NcclAlgorithm algorithm, Protocol protocol) {
    return nccl_estimate(hopper_servers_with_nvls(servers), CollectiveOp::all_reduce, kMiB,
                         algorithm, protocol)
        .has_value();
  };
  CHECK(offers(1, NcclAlgorithm::nvls, Protocol::simple));
  CHECK_FALSE(offers(2, NcclAlgorithm::nvls, Protocol::simple));
  CHECK_FALSE(offers(1, NcclAlgorithm::nvls_tree, Protocol::simple));
  CHECK(offers(2, NcclAlgorithm::nvls_tree, Protocol::simple));
  CHECK_FALSE(offers(2, NcclAlgorithm::nvls_tree, Protocol::ll128));
}

TEST_CASE("Chunks of trees grow with the data, so that enough of them fill the pipeline") {
  const auto chunk = [](std::uint32_t servers, NcclAlgorithm algorithm, Protocol protocol,
                        Bytes size) {
    return nccl_chunk(hopper_servers_with_nvls(servers), size, {algorithm, protocol, 16, 0});
  };
  // With LL128 38 chunks above 128 KiB: 4.8 steps of 64 for 8 GPUs.
  CHECK(chunk(10, NcclAlgorithm::tree, Protocol::ll128, 32 * kMiB) == 72000);
  CHECK(chunk(10, NcclAlgorithm::tree, Protocol::ll128, 128 * kMiB) == 144000);
  CHECK(chunk(10, NcclAlgorithm::tree, Protocol::ll128, 512 * kMiB) == 576000);
  // With Simple 80 chunks above 128 KiB, 8 for each step of the longest way.
  CHECK(chunk(10, NcclAlgorithm::tree, Protocol::simple, 128 * kMiB) == 128 << 10);
  CHECK(chunk(10, NcclAlgorithm::tree, Protocol::simple, 1024 * kMiB) == 512 << 10);
  // From 4 servers on, trees of switches have 64 KiB for each of 8 GPUs on 16 channels.
  CHECK(chunk(10, NcclAlgorithm::nvls_tree, Protocol::simple, 1024 * kMiB) == 64 << 10);
  CHECK(chunk(10, NcclAlgorithm::nvls_tree, Protocol::simple, 8 * kMiB) == 64 << 10);
  CHECK(chunk(10, NcclAlgorithm::nvls_tree, Protocol::simple, 4 * kMiB) == 32 << 10);
  CHECK(chunk(2, NcclAlgorithm::nvls_tree, Protocol::simple, 1024 * kMiB) == 128 << 10);
  CHECK(chunk(2, NcclAlgorithm::nvls_tree, Protocol::simple, 32 * kMiB) == 64 << 10);
}

TEST_CASE("A message takes more channels while a channel has more than 16 MiB") {
  // The measured steps of sendrecv on 8 H100: 80, 80, 162, 300 and 356 GB/s.
  CHECK(nccl_message_channels(8, 32 * kMiB, 32, 32) == 4);
  CHECK(nccl_message_channels(8, 64 * kMiB, 32, 32) == 4);
  CHECK(nccl_message_channels(8, 128 * kMiB, 32, 32) == 8);
  CHECK(nccl_message_channels(8, 256 * kMiB, 32, 32) == 16);
  CHECK(nccl_message_channels(8, 512 * kMiB, 32, 32) == 32);
  CHECK(nccl_message_channels(4, 128 * kMiB, 32, 32) == 8);
  CHECK(nccl_message_channels(80, 1024 * kMiB, 32, 1) == 1);
  // A part below an eighth of a step takes no channel of its own.
  CHECK(nccl_message_channels(8, 128 << 10, 32, 32) == 2);
  CHECK(nccl_message_channels(8, 1 << 10, 32, 32) == 1);
}
