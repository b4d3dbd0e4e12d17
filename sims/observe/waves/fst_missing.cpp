#include <fmt/format.h>

#include <stdexcept>

#include "sims/observe/waves/wave_format.h"

namespace espalier {

bool has_fst() { return false; }

std::unique_ptr<WaveFormat> open_fst(const std::string& path) {
  throw std::invalid_argument(
      fmt::format("{}: this program was built without FST; install Debian's verilator and "
                  "zlib1g-dev and build again, or write a .vcd",
                  path));
}

}  // namespace espalier
