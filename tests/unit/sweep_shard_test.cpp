// Which points are whose.
#include <catch2/catch.hpp>
#include <string>

#include "sims/study/sweep_runner.h"

using namespace espalier;
using Catch::Matchers::Contains;

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
