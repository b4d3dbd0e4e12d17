#include <fmt/format.h>

#include "sims/config/presets.h"

namespace espalier {

namespace {

// Cycles are nanoseconds, and bytes per cycle GB/s: the clock is 1 GHz.
struct GpuSystem {
  const char* name;
  const char* description;
  unsigned servers;
  unsigned gpus;  // of a server
  unsigned gpus_per_nic_group;
  unsigned nics_per_group;
  // Wire rate of a GPU's links to its server's switch. A head flit before every 16 flits leaves
  // 16/17 of it for data.
  unsigned link;
  const char* nic_rate;
  unsigned nic_latency;   // of each of the four links from GPU to GPU by two NICs
  unsigned channel_rate;  // of one thread block
  unsigned fence;         // of a step with protocol Simple
  unsigned launch;
};

Preset gpu_preset(const GpuSystem& s) {
  return {s.name,
          s.description,
          {{"system.topology.type", "gpu_cluster"},
           {"system.topology.servers", fmt::format("{}", s.servers)},
           {"system.topology.gpus_per_server", fmt::format("{}", s.gpus)},
           {"system.topology.gpus_per_nic_group", fmt::format("{}", s.gpus_per_nic_group)},
           {"system.topology.nics_per_group", fmt::format("{}", s.nics_per_group)},
           {"system.topology.nic_link.bandwidth", s.nic_rate},
           {"system.topology.nic_link.latency", fmt::format("{}ns", s.nic_latency)},
           {"system.link.bandwidth", fmt::format("{}GB/s", s.link)},
           // As in configs/gc3/a100_2servers.yaml: NCCL's 0.6 us of a ring step with LL
           // (src/graph/tuning.cc), less what both ends take.
           {"system.link.latency", "200ns"},
           {"system.router.clock", "1GHz"},
           {"system.router.flit_bytes", fmt::format("{}", s.link)},
           // Covers the credit loops of NVLink and of the NICs.
           {"system.router.vc_depth_flits", "1024"},
           {"system.flow_control.mode", "packet"},
           {"system.flow_control.payload_bytes", fmt::format("{}", 16 * s.link)},
           {"system.ni.dma.latency_cycles", "50"},
           {"system.ni.program.context_bytes_per_cycle", fmt::format("{}", s.channel_rate)},
           {"system.ni.program.fence_cycles", fmt::format("{}", s.fence)},
           {"system.ni.program.doorbell_cycles", fmt::format("{}", s.launch)},
           // Kernels are resident code.
           {"system.ni.program.load_cycles_per_step", "0"}}};
}

}  // namespace

std::vector<Preset> gpu_presets() {
  // Given: 18 NVLinks of 25 GB/s one way (H100 data sheet: 900 GB/s in both directions), of which
  // 20.6 GB/s are for data (NCCL, src/graph/topo.h, SM90_NVLINK_BW): 371 GB/s of data, 394 on the
  // wire. A100: 12 links of 20.0 GB/s (SM80_NVLINK_BW): 240 and 255.
  constexpr unsigned kHopperLink = 394;
  constexpr unsigned kAmpereLink = 255;
  // Calibrated: MSCCL++ moves 255 GB/s of data over the same links.
  constexpr unsigned kAmpereMscclppLink = 271;
  return {
      // Calibrated (docs/silicon.md): NIC rate and latency, channel rate, fence, launch.
      gpu_preset({"a100_8", "8 A100 behind NVSwitch, as in DGX A100 and Azure's NDm v4", 1, 8, 1, 1,
                  kAmpereMscclppLink, "25.6GB/s", 1000, 22, 2900, 4085}),
      // Launch calibrated, NIC assumed: twice the rate of NDm v4's, and its latency.
      gpu_preset({"ndv5", "8 H100 behind NVSwitch, as in Azure's ND v5, with MSCCL++'s kernels", 1,
                  8, 1, 1, kHopperLink, "51.2GB/s", 1000, 27, 1988, 4085}),
      gpu_preset({"h100_8", "8 H100 behind NVSwitch", 1, 8, 1, 1, kHopperLink, "49.0GB/s", 2000, 27,
                  1988, 26027}),
      gpu_preset({"h100_10x8", "10 servers of 8 H100, a 400 Gb/s NIC for each GPU", 10, 8, 1, 1,
                  kHopperLink, "53.1GB/s", 1620, 20, 1988, 26027}),
      gpu_preset({"polaris", "Polaris: 4 A100 and 2 Slingshot 11 NICs in a node; 8 nodes", 8, 4, 2,
                  1, kAmpereLink, "19.0GB/s", 741, 22, 8578, 6169}),
      gpu_preset({"sophia", "Sophia: 2 DGX A100, an HDR InfiniBand NIC for each GPU", 2, 8, 1, 1,
                  kAmpereLink, "23.6GB/s", 779, 22, 3915, 22615}),
      {"h100_8_nvls",
       "8 H100 whose switch adds and copies (NVLS)",
       {{"system.topology.type", "dimensions"},
        {"system.dimensions.shape", "[switch]"},
        {"system.dimensions.size", "[8]"},
        {"system.dimensions.links", "[1]"},
        {"system.dimensions.bandwidth", fmt::format("[{}GB/s]", kHopperLink)},
        {"system.dimensions.latency", "[1000ns]"},
        {"system.dimensions.flit_bytes", fmt::format("[{}]", kHopperLink)},
        {"system.dimensions.algorithm", "[in_network]"},
        {"system.dimensions.switch_bytes_per_cycle", "260"},
        // Some chunks are multicast while others are added.
        {"system.ni.dimension_queue.order", "scf"},
        {"system.router.clock", "1GHz"}}},
  };
}

}  // namespace espalier
