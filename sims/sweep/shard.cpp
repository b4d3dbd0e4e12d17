#include "sims/sweep/shard.h"

#include <fmt/format.h>

#include <charconv>
#include <cstdlib>

namespace espalier {

namespace {

std::optional<std::size_t> parse_number(const std::string& text) {
  std::size_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

std::optional<std::size_t> number_in_environment(const char* name) {
  const char* text = std::getenv(name);
  return text == nullptr ? std::nullopt : parse_number(text);
}

}  // namespace

ParsedShard parse_shard(const std::string& text) {
  const std::size_t slash = text.find('/');
  // What is no number is as good as 0, which no shard has.
  const std::size_t index = parse_number(text.substr(0, slash)).value_or(0);
  const std::size_t of =
      parse_number(slash == std::string::npos ? "" : text.substr(slash + 1)).value_or(0);
  if (index == 0 || index > of)
    return {std::nullopt, fmt::format("'{}' is no shard: 1/4 to 4/4 are those of four", text)};
  return {Shard{index - 1, of}, {}};
}

ParsedShard shard_of_slurm_task() {
  const auto task = number_in_environment("SLURM_ARRAY_TASK_ID");
  const auto count = number_in_environment("SLURM_ARRAY_TASK_COUNT");
  if (!task || !count) return {Shard{}, {}};
  const std::size_t first = number_in_environment("SLURM_ARRAY_TASK_MIN").value_or(1);
  const std::size_t step = number_in_environment("SLURM_ARRAY_TASK_STEP").value_or(1);
  const bool is_regular = *task >= first && step != 0 && (*task - first) % step == 0;
  const std::size_t index = is_regular ? (*task - first) / step : *count;
  if (index >= *count) {
    return {std::nullopt,
            fmt::format("task {} of an array of {} tasks from {} on: the numbers have gaps; "
                        "--shard says which part this is",
                        *task, *count, first)};
  }
  return {Shard{index, *count}, {}};
}

}  // namespace espalier
