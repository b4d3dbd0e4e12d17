// Programs of posted collectives. The tables of a size are made when the size is posted for the
// first time, and again if they have been dropped since.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>

#include "alg/schedule/schedule_table.h"
#include "hw/ids.h"
#include "ni/engines/stream_engine.h"
#include "sims/system/side_routes.h"

namespace espalier {

struct RunPoint;

// Loaded programs by size, because fused gradients repeat some sizes. Keeps programs with up to
// `most_operations` operations in total, about 200 bytes each. If there are more, drops the least
// recently used program that is not running.
class StreamProgramCache {
 public:
  using Program = std::shared_ptr<const StreamProgram>;
  using Load = std::function<Program(Bytes)>;

  explicit StreamProgramCache(std::uint64_t most_operations) : most_operations_(most_operations) {}

  // Calls `load` if no program of this size is kept. Throws what `load` throws.
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
  std::uint64_t operations_ = 0;  // of all kept programs
  std::uint64_t uses_ = 0;
  std::map<Bytes, Kept> kept_;
};

// Certified tables of an all-reduce of this many bytes. May throw.
using TablesOfSize = std::function<ScheduleTables(Bytes)>;

class StreamPrograms {
 public:
  // All arguments must outlive this object.
  StreamPrograms(const Topology& topology, const RunPoint& point, const TablesOfSize& tables_of,
                 SideRoutes& routes);

  // Throws the exceptions of tables_of, and std::invalid_argument if the tables are not an
  // all-reduce of this size on this network.
  [[nodiscard]] StreamProgramCache::Program of_size(Bytes bytes);

 private:
  [[nodiscard]] StreamProgramCache::Program load(Bytes bytes);
  // Binds the routes that the program uses. The other routes stay invalid.
  void bind_routes(StreamProgram& program);

  const Topology& topology_;
  const RunPoint& point_;
  const TablesOfSize& tables_of_;
  SideRoutes& routes_;
  StreamProgramCache cache_;
};

}  // namespace espalier
