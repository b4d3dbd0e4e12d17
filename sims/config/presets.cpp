#include "sims/config/presets.h"

#include <algorithm>

namespace espalier {

namespace {

// Lists in the notation of a configuration file.
struct DimensionLists {
  const char* shape;
  const char* size;
  const char* links;
  const char* bandwidth;
  const char* latency;
};

// At 1 GHz, with the narrowest flits for which no link exceeds one flit per cycle: 25 B for 200
// Gb/s, and 188 B, rounded up, for 1500 Gb/s.
Preset dimensional(const char* name, const char* description, const DimensionLists& lists) {
  return {name,
          description,
          {{"system.topology.type", "dimensions"},
           {"system.dimensions.shape", lists.shape},
           {"system.dimensions.size", lists.size},
           {"system.dimensions.links", lists.links},
           {"system.dimensions.bandwidth", lists.bandwidth},
           {"system.dimensions.latency", lists.latency},
           {"system.dimensions.flit_bytes", "auto"},
           {"system.router.clock", "1GHz"}}};
}

std::vector<Preset> paper_presets() {
  return {
      {kDefaultPreset,
       "MultiTree's Table III with a reduction unit as fast as the ejection ports",
       {}},
      // The authors' simulator takes 16 cycles for each started 2048 B of a received chunk, after
      // the chunk's last byte.
      {"isca21",
       "MultiTree's Table III as in its authors' simulator: one aggregator and padded last packets",
       {{"system.link.latency", "150ns"},
        {"system.link.bandwidth", "16GB/s"},
        {"system.router.clock", "1GHz"},
        {"system.router.vcs", "4"},
        {"system.router.vc_depth_flits", "318"},
        {"system.router.flit_bytes", "16"},
        {"system.router.switching", "vct"},
        {"system.flow_control.payload_bytes", "256"},
        {"system.flow_control.pad_last_packet", "true"},
        {"system.ni.reduction.mode", "after_message"},
        {"system.ni.reduction.latency_cycles", "1"},
        {"system.ni.reduction.bytes_per_cycle", "128"},
        {"system.ni.reduction.block_bytes", "2048"}}},
      // BookSim allocates its switch for each flit, and injects packets on VCs in turn. In front of
      // each port are a message buffer of 32 packets, the network's own of 16, and an injection
      // queue of 80 flits, which takes a packet when one flit of it fits: five more.
      {"isca21_authors",
       "isca21 with the authors' NI: ports that are not bound to links, their lockstep and trees",
       {{"system.link.latency", "150ns"},
        {"system.link.bandwidth", "16GB/s"},
        {"system.router.clock", "1GHz"},
        {"system.router.vcs", "4"},
        {"system.router.vc_depth_flits", "318"},
        {"system.router.flit_bytes", "16"},
        {"system.router.switching", "vct"},
        {"system.router.hold", "flit"},
        {"system.router.vc_order", "rotating"},
        {"system.flow_control.payload_bytes", "256"},
        {"system.flow_control.pad_last_packet", "true"},
        {"system.ni.lockstep", "nop"},
        {"system.ni.buffer_flits", "0"},
        {"system.ni.buffer_packets", "53"},
        {"system.ni.port_binding", "any"},
        {"system.ni.release", "pushed"},
        {"system.ni.issue", "step"},
        {"system.ni.reduction.mode", "after_message"},
        {"system.ni.reduction.latency_cycles", "1"},
        {"system.ni.reduction.bytes_per_cycle", "128"},
        {"system.ni.reduction.block_bytes", "2048"},
        {"collective.step_end", "authors"},
        {"collective.line_order", "natural"},
        {"collective.phases", "posted"}}},
      dimensional(
          "themis_2d_sw_sw", "Themis, Table 2: 16x64, 1200 and 800 Gb/s",
          {"[switch, switch]", "[16, 64]", "[6, 1]", "[200Gb/s, 800Gb/s]", "[700ns, 1700ns]"}),
      dimensional("themis_3d_sw_sw_sw_homo", "Themis, Table 2: 16x8x8, 800 Gb/s in each dimension",
                  {"[switch, switch, switch]", "[16, 8, 8]", "[4, 4, 1]",
                   "[200Gb/s, 200Gb/s, 800Gb/s]", "[700ns, 700ns, 1700ns]"}),
      dimensional("themis_3d_sw_sw_sw_hetero", "Themis, Table 2: 16x8x8, 1600, 800 and 400 Gb/s",
                  {"[switch, switch, switch]", "[16, 8, 8]", "[8, 4, 1]",
                   "[200Gb/s, 200Gb/s, 400Gb/s]", "[700ns, 700ns, 1700ns]"}),
      dimensional("themis_3d_fc_ring_sw", "Themis, Table 2: 8x16x8, 1400, 800 and 400 Gb/s",
                  {"[fully_connected, ring, switch]", "[8, 16, 8]", "[7, 4, 1]",
                   "[200Gb/s, 200Gb/s, 400Gb/s]", "[700ns, 700ns, 1700ns]"}),
      dimensional("themis_4d_ring_sw_sw_sw",
                  "Themis, Table 2: 4x4x8x8, 2000, 1600, 800 and 400 Gb/s",
                  {"[ring, switch, switch, switch]", "[4, 4, 8, 8]", "[2, 8, 4, 1]",
                   "[1000Gb/s, 200Gb/s, 200Gb/s, 400Gb/s]", "[20ns, 700ns, 700ns, 1700ns]"}),
      dimensional("themis_4d_ring_fc_ring_sw",
                  "Themis, Table 2: 4x8x4x8, 3000, 1400, 1200 and 800 Gb/s",
                  {"[ring, fully_connected, ring, switch]", "[4, 8, 4, 8]", "[2, 7, 6, 1]",
                   "[1500Gb/s, 200Gb/s, 200Gb/s, 800Gb/s]", "[20ns, 700ns, 700ns, 1700ns]"}),
      dimensional(
          "themis_fig4_current", "Themis, Fig. 4: a system of its day, 16x64, 1200 and 100 Gb/s",
          {"[switch, switch]", "[16, 64]", "[6, 1]", "[200Gb/s, 100Gb/s]", "[700ns, 1700ns]"}),
  };
}

}  // namespace

const std::vector<Preset>& presets() {
  static const std::vector<Preset> table = [] {
    std::vector<Preset> all = paper_presets();
    for (Preset& preset : gpu_presets()) all.push_back(std::move(preset));
    return all;
  }();
  return table;
}

const Preset* find_preset(const std::string& name) {
  const auto& table = presets();
  const auto found =
      std::find_if(table.begin(), table.end(), [&](const Preset& p) { return p.name == name; });
  return found == table.end() ? nullptr : &*found;
}

}  // namespace espalier
