#include "sims/config/presets.h"

#include <algorithm>

namespace espalier {

const std::vector<Preset>& presets() {
  static const std::vector<Preset> table{
      {kDefaultPreset,
       "Table III's network with a reduction unit that keeps up with the ejection ports",
       {}},
      // The authors' simulator charges a received chunk 16 cycles for each 2048 B begun, after its
      // last byte.
      {"isca21",
       "MultiTree's Table III as its authors' simulator has it: one aggregator, full last packets",
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
  };
  return table;
}

const Preset* find_preset(const std::string& name) {
  const auto& table = presets();
  const auto found =
      std::find_if(table.begin(), table.end(), [&](const Preset& p) { return p.name == name; });
  return found == table.end() ? nullptr : &*found;
}

}  // namespace espalier
