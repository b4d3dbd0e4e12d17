#include "sims/experiment/sweep/shard.h"

#include <fmt/format.h>

#include <charconv>

namespace espalier {

namespace {

std::optional<std::size_t> parse_number(const std::string& text) {
  std::size_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

}  // namespace

ParsedShard parse_shard(const std::string& text) {
  const std::size_t slash = text.find('/');
  // Text that is not a number gives 0, which is not a valid shard.
  const std::size_t index = parse_number(text.substr(0, slash)).value_or(0);
  const std::size_t of =
      parse_number(slash == std::string::npos ? "" : text.substr(slash + 1)).value_or(0);
  if (index == 0 || index > of)
    return {std::nullopt,
            fmt::format("'{}' is not a shard; the shards of four are 1/4 to 4/4", text)};
  return {Shard{index - 1, of}, {}};
}

}  // namespace espalier
