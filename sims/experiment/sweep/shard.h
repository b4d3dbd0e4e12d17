// A share of a sweep's points, for one of several machines.
#pragma once

#include <cstddef>
#include <optional>
#include <string>

namespace espalier {

// Points i, i + of, i + 2 of, ... of the manifest; i counts from 0. All shards together have every
// point exactly once.
struct Shard {
  std::size_t index = 0;
  std::size_t of = 1;

  [[nodiscard]] bool has(std::size_t point) const { return point % of == index; }
};

struct ParsedShard {
  std::optional<Shard> shard;
  std::string error;  // reason, if `shard` is empty
};

// "2/8" is the second of eight.
[[nodiscard]] ParsedShard parse_shard(const std::string& text);

}  // namespace espalier
