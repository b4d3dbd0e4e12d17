#include "sims/observe/waves/make_wave_writer.h"

#include <fmt/format.h>

#include <filesystem>
#include <stdexcept>

#include "sims/observe/waves/fst_format.h"
#include "sims/observe/waves/vcd_format.h"
#include "sims/observe/waves/wave_file.h"

namespace espalier {

std::unique_ptr<WaveWriter> make_wave_writer(const std::string& path, std::uint64_t clock_hertz) {
  const WaveClock clock(clock_hertz);
  const std::string ending = std::filesystem::path(path).extension().string();
  if (ending == ".vcd") {
    return std::make_unique<WaveFile>(std::make_unique<VcdFormat>(path), clock);
  }
  if (ending == ".fst") return std::make_unique<WaveFile>(open_fst(path), clock);
  throw std::invalid_argument(
      fmt::format("{}: waveforms are written to a file that ends in .vcd or .fst", path));
}

}  // namespace espalier
