// Which points are whose.
#include <catch2/catch.hpp>
#include <cstdlib>
#include <map>
#include <string>

#include "sims/experiment/sweep/shard.h"

using namespace espalier;
using Catch::Matchers::Contains;

namespace {

// Slurm's variables, less "SLURM_ARRAY_TASK_", for as long as it lives.
class Task {
 public:
  explicit Task(const std::map<std::string, std::string>& variables) {
    clear();
    for (const auto& [name, value] : variables)
      setenv(("SLURM_ARRAY_TASK_" + name).c_str(), value.c_str(), 1);
  }
  ~Task() { clear(); }
  Task(const Task&) = delete;
  Task& operator=(const Task&) = delete;

 private:
  static void clear() {
    for (const std::string name : {"ID", "COUNT", "MIN", "STEP"})
      unsetenv(("SLURM_ARRAY_TASK_" + name).c_str());
  }
};

std::string refusal(const std::map<std::string, std::string>& variables) {
  const Task task(variables);
  const ParsedShard parsed = shard_of_slurm_task();
  CHECK_FALSE(parsed.shard);
  return parsed.error;
}

}  // namespace

TEST_CASE("Every point is in one of the shards") {
  for (std::size_t of = 1; of < 8; ++of) {
    for (std::size_t point = 0; point < 20; ++point) {
      std::size_t owners = 0;
      for (std::size_t s = 1; s <= of; ++s)
        if (parse_shard(std::to_string(s) + "/" + std::to_string(of)).shard->has(point)) ++owners;
      CHECK(owners == 1);
    }
  }
}

TEST_CASE("Shards count from one") {
  CHECK(parse_shard("2/8").shard->index == 1);
  CHECK(parse_shard("8/8").shard->of == 8);
  for (const char* text : {"", "/", "0/8", "9/8", "1", "1/", "/8", "a/8", "1/b", "-1/8", "1/8/2"}) {
    CAPTURE(text);
    const ParsedShard parsed = parse_shard(text);
    CHECK_FALSE(parsed.shard);
    CHECK_THAT(parsed.error, Contains("is not a shard"));
  }
}

TEST_CASE("A task of a Slurm array runs the shard of its position among the tasks") {
  {
    const Task task({{"ID", "12"}, {"COUNT", "3"}, {"MIN", "10"}, {"STEP", "1"}});
    CHECK(shard_of_slurm_task().shard->index == 2);
    CHECK(shard_of_slurm_task().shard->of == 3);
  }
  {
    const Task task({{"ID", "20"}, {"COUNT", "3"}, {"MIN", "0"}, {"STEP", "10"}});
    CHECK(shard_of_slurm_task().shard->index == 2);
  }
  const Task none({});
  CHECK(shard_of_slurm_task().shard->of == 1);
}

TEST_CASE("Slurm variables that do not identify the task are refused with the reason") {
  CHECK_THAT(refusal({{"ID", "3"}}), Contains("SLURM_ARRAY_TASK_ID=3") &&
                                         Contains("SLURM_ARRAY_TASK_COUNT is not set") &&
                                         Contains("--shard 1/1"));
  CHECK_THAT(refusal({{"ID", "x"}, {"COUNT", "4"}}),
             Contains("SLURM_ARRAY_TASK_ID=x is not a number"));
  CHECK_THAT(refusal({{"ID", ""}, {"COUNT", "4"}}),
             Contains("SLURM_ARRAY_TASK_ID= is not a number"));
  CHECK_THAT(refusal({{"ID", "1"}, {"COUNT", "4"}, {"STEP", "two"}}),
             Contains("SLURM_ARRAY_TASK_STEP=two is not a number"));
  CHECK_THAT(refusal({{"ID", "0"}, {"COUNT", "4"}}), Contains("SLURM_ARRAY_TASK_MIN is not set") &&
                                                         Contains("below the first task's, 1") &&
                                                         !Contains("gaps"));
  CHECK_THAT(refusal({{"ID", "20"}, {"COUNT", "4"}, {"MIN", "1"}}), Contains("have gaps"));
  CHECK_THAT(refusal({{"ID", "4"}, {"COUNT", "4"}, {"MIN", "1"}, {"STEP", "2"}}),
             Contains("have gaps"));
}
