// The networks of MultiTree's evaluation (section V-B), built in as layer tables; sources in
// docs/training.md.
#pragma once

#include <string>
#include <vector>

namespace espalier {

struct BuiltInNetwork {
  const char* name;
  const char* summary;
  const char* table;  // the text of configs/networks/<name>.csv
};

[[nodiscard]] const std::vector<BuiltInNetwork>& built_in_networks();
// nullptr where none has that name.
[[nodiscard]] const BuiltInNetwork* find_network(const std::string& name);

}  // namespace espalier
