// From a document and overrides to the keys they give: names and single values are checked here.
#pragma once

#include <string>

#include "sims/config/given_keys.h"
#include "sims/text/config_node.h"
#include "sims/text/diagnostics.h"

namespace espalier {

void collect_keys(const ConfigNode& root, GivenKeys& given, Diagnostics& diagnostics);
// "dotted.key=value"
void collect_override(const std::string& assignment, GivenKeys& given, Diagnostics& diagnostics);

}  // namespace espalier
