// A folder for waveforms.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <string>

namespace espalier::wave_test {

// Gone, with all that is in it, at the end.
class WaveFolder {
 public:
  WaveFolder() {
    std::string pattern = (std::filesystem::temp_directory_path() / "waves.XXXXXX").string();
    if (mkdtemp(pattern.data()) == nullptr) throw std::runtime_error("no folder for waveforms");
    path_ = pattern;
  }
  ~WaveFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  WaveFolder(const WaveFolder&) = delete;
  WaveFolder& operator=(const WaveFolder&) = delete;

  [[nodiscard]] std::string file(const std::string& name) const { return (path_ / name).string(); }
  [[nodiscard]] std::string read(const std::string& name) const {
    std::ifstream in(path_ / name, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
  }

 private:
  std::filesystem::path path_;
};

}  // namespace espalier::wave_test
