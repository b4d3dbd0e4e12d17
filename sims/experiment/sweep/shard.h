// A part of a sweep's points, for one of several machines.
#pragma once

#include <cstddef>
#include <optional>
#include <string>

namespace espalier {

// Points i, i + of, i + 2 of, ... of the manifest, from 0. Together all shards have every point
// once.
struct Shard {
  std::size_t index = 0;
  std::size_t of = 1;

  [[nodiscard]] bool has(std::size_t point) const { return point % of == index; }
};

struct ParsedShard {
  std::optional<Shard> shard;
  std::string error;  // why there is none
};

// "2/8" is the second of eight.
[[nodiscard]] ParsedShard parse_shard(const std::string& text);

// Of a task in a Slurm array whose numbers follow each other; the only shard outside of one. None
// where Slurm's variables do not say which: all points in each of many tasks help nobody.
[[nodiscard]] ParsedShard shard_of_slurm_task();

}  // namespace espalier
