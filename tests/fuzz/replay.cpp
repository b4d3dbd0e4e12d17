#include "replay.h"

#include <fmt/format.h>

#include <algorithm>

#include "fuzz_case.h"

namespace espalier::fuzz {

namespace {

namespace fs = std::filesystem;

std::vector<fs::path> configs_in(const std::vector<fs::path>& folders) {
  std::vector<fs::path> configs;
  for (const fs::path& folder : folders) {
    for (const auto& entry : fs::recursive_directory_iterator(folder)) {
      if (entry.path().filename() == kConfigName) configs.push_back(entry.path());
    }
  }
  std::sort(configs.begin(), configs.end());
  return configs;
}

}  // namespace

bool replay(const std::vector<fs::path>& folders, const Variants& variants) {
  const std::vector<fs::path> configs = configs_in(folders);
  std::size_t failed = 0;
  for (const fs::path& config : configs) {
    const Verdict verdict = compare(config.string(), variants);
    if (verdict.kind == Verdict::Kind::same) continue;
    ++failed;
    fmt::print("FAILED: {}\n{}\n", config.string(), verdict.words);
  }
  fmt::print("{} configurations replayed, {} failed\n", configs.size(), failed);
  return failed == 0 && !configs.empty();
}

}  // namespace espalier::fuzz
