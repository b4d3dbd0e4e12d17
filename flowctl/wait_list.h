// The waits in a stuck system, as its modules report them.
#pragma once

#include <string>
#include <vector>

namespace espalier {

struct Wait {
  std::string who;   // hierarchical name of the module, VC or table entry that waits
  std::string whom;  // name of the module, VC or table entry that it waits for
  std::string why;   // text for the user
};
using WaitList = std::vector<Wait>;

}  // namespace espalier
