// A folder for waveforms.
#pragma once

#include <fstream>
#include <iterator>
#include <string>

#include "sims/observe/waves/wave_recorder.h"
#include "sims/process/work_folder.h"

namespace espalier::wave_test {

class WaveFolder : public WorkFolder {
 public:
  [[nodiscard]] std::string read(const std::string& name) const {
    std::ifstream in(path() / name, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
  }
};

// The last changes are in cycle `end`.
inline void finish(WaveRecorder& waves, Cycle end) {
  waves.flush(end + 1);
  waves.finish(end);
}

}  // namespace espalier::wave_test
