// Who waits for whom, as the modules of a stuck system tell it.
#pragma once

#include <string>
#include <vector>

namespace espalier {

struct Wait {
  std::string who;   // hierarchical name of the module, VC or table entry that waits
  std::string whom;  // name of what it waits for, where that is something that may wait itself
  std::string why;   // for people
};
using WaitList = std::vector<Wait>;

}  // namespace espalier
