#include "sims/cli/write_text.h"

#include <fmt/format.h>

#include <fstream>
#include <iostream>

namespace espalier {

bool write_text(const std::string& target, const std::string& text) {
  if (target == "-") {
    std::cout << text;
    return true;
  }
  std::ofstream file(target);
  file << text;
  file.close();
  if (!file) fmt::print(stderr, "{}: error: cannot be written\n", target);
  return !file.fail();
}

}  // namespace espalier
