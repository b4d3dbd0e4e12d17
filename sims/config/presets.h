// Named systems. A preset supplies settings that a file leaves out; settings in the file win. A
// machine file is a preset of the user's own.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sims/nccl/machine.h"
#include "sims/text/config_node.h"
#include "sims/text/diagnostics.h"

namespace espalier {

struct Preset {
  std::string name;
  std::string description;
  std::map<std::string, ConfigNode> settings;  // by dotted key
  std::optional<NcclMachine> nccl;             // what NCCL finds and takes there, if it is known
};

// The presets of presets.yaml, in its order.
[[nodiscard]] const std::vector<Preset>& presets();

[[nodiscard]] std::string_view presets_file();  // presets.yaml

// A machine file: the keys of a preset, or the topology that NCCL writes, of as many servers; 0: as
// the file says, else one. `place`: of its name. Mistakes are recorded.
[[nodiscard]] Preset read_machine_file(const std::string& path, std::uint64_t servers,
                                       const Place& place, Diagnostics& diagnostics);

}  // namespace espalier
