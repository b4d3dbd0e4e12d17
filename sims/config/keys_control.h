// The keys of the section `control`.
#pragma once

#include <vector>

#include "sims/config/keys.h"

namespace espalier {

void add_control_keys(std::vector<Key>& table);

}  // namespace espalier
