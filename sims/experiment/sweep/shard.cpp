#include "sims/experiment/sweep/shard.h"

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

constexpr const char* kAllOrPart = "write --shard 1/1 for all points, or --shard I/N for a part";

bool is_set(const char* name) { return std::getenv(name) != nullptr; }

std::optional<std::size_t> number_of(const char* name) {
  return is_set(name) ? parse_number(std::getenv(name)) : std::nullopt;
}

// "SLURM_ARRAY_TASK_ID=3", or "no SLURM_ARRAY_TASK_ID" if the variable is not set.
std::string setting_text(const char* name) {
  return is_set(name) ? fmt::format("{}={}", name, std::getenv(name))
                      : fmt::format("{} is not set", name);
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

ParsedShard shard_of_slurm_task() {
  constexpr const char* kTask = "SLURM_ARRAY_TASK_ID";
  constexpr const char* kCount = "SLURM_ARRAY_TASK_COUNT";
  constexpr const char* kFirst = "SLURM_ARRAY_TASK_MIN";
  constexpr const char* kStep = "SLURM_ARRAY_TASK_STEP";
  if (!is_set(kTask)) return {Shard{}, {}};
  const auto refused = [&](const std::string& why) {
    return ParsedShard{std::nullopt, fmt::format("{}; {}", why, kAllOrPart)};
  };
  for (const char* name : {kTask, kCount, kFirst, kStep}) {
    const bool is_needed = name == kTask || name == kCount;
    if (number_of(name) || (!is_needed && !is_set(name))) continue;
    return refused(name == kTask || is_set(name)
                       ? fmt::format("{} is not a number", setting_text(name))
                       : fmt::format("{}, but {}", setting_text(kTask), setting_text(name)));
  }
  const std::size_t task = *number_of(kTask);
  const std::size_t count = *number_of(kCount);
  const std::size_t first = number_of(kFirst).value_or(1);
  const std::size_t step = number_of(kStep).value_or(1);
  const std::string array =
      fmt::format("{}, {}, {}", setting_text(kTask), setting_text(kCount), setting_text(kFirst));
  if (task < first) {
    return refused(
        fmt::format("{}: the task's number is below the first task's, {}", array, first));
  }
  if (step == 0 || (task - first) % step != 0 || (task - first) / step >= count)
    return refused(fmt::format("{}: the numbers of the array's tasks have gaps", array));
  return {Shard{(task - first) / step, count}, {}};
}

}  // namespace espalier
