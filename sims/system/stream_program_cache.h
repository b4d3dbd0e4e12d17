// Loaded programs by size: fused gradients come in many sizes, and again in some.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <utility>

#include "hw/ids.h"
#include "ni/engines/stream_engine.h"

namespace espalier {

// Keeps programs of up to `most_operations` together, which take about 200 bytes each. Beyond that
// the one that was asked for longest ago and that nobody uses goes.
class StreamProgramCache {
 public:
  using Program = std::shared_ptr<const StreamProgram>;
  using Load = std::function<Program(Bytes)>;

  explicit StreamProgramCache(std::uint64_t most_operations) : most_operations_(most_operations) {}

  // `load` is called where the size is not kept. Throws what it throws.
  [[nodiscard]] Program get(Bytes bytes, const Load& load) {
    const auto known = kept_.find(bytes);
    if (known != kept_.end()) {
      known->second.last_use = ++uses_;
      return known->second.program;
    }
    Program program = load(bytes);
    operations_ += program->operations;
    drop_beyond_limit();
    kept_.emplace(bytes, Kept{program, ++uses_});
    return program;
  }

 private:
  struct Kept {
    Program program;
    std::uint64_t last_use;
  };

  void drop_beyond_limit() {
    while (operations_ > most_operations_) {
      auto oldest = kept_.end();
      for (auto kept = kept_.begin(); kept != kept_.end(); ++kept) {
        if (kept->second.program.use_count() != 1) continue;
        if (oldest == kept_.end() || kept->second.last_use < oldest->second.last_use) oldest = kept;
      }
      if (oldest == kept_.end()) return;
      operations_ -= oldest->second.program->operations;
      kept_.erase(oldest);
    }
  }

  std::uint64_t most_operations_;
  std::uint64_t operations_ = 0;  // of all that are kept
  std::uint64_t uses_ = 0;
  std::map<Bytes, Kept> kept_;
};

}  // namespace espalier
