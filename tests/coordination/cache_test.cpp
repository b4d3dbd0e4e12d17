#include <catch2/catch.hpp>

#include "sims/workload/coordination/rank_controller.h"

using namespace espalier;

TEST_CASE("a full response cache gives the bit of its least recently used entry to the new one") {
  ResponseCache cache(2, 4);
  cache.put(TensorId(0), 7);
  cache.put(TensorId(1), 7);
  cache.put(TensorId(0), 7);  // used again
  cache.put(TensorId(2), 7);
  CHECK(cache.size() == 2);
  CHECK(cache.look_up(TensorId(1), 7) == CacheState::miss);
  CHECK(cache.bit_of(TensorId(0)) == 0);
  CHECK(cache.bit_of(TensorId(2)) == 1);
  CHECK(cache.tensor_at(1) == TensorId(2));
}

TEST_CASE("a response cache of capacity 0 never holds anything") {
  ResponseCache cache(0, 2);
  cache.put(TensorId(0), 1);
  CHECK(cache.size() == 0);
  CHECK(cache.look_up(TensorId(0), 1) == CacheState::miss);
}

TEST_CASE("another shape makes a cached response invalid, and an erased entry leaves no gap") {
  ResponseCache cache(8, 4);
  for (std::size_t t = 0; t < 4; ++t) cache.put(TensorId(t), 1);
  CHECK(cache.look_up(TensorId(1), 2) == CacheState::invalid);
  cache.erase({1, 2});
  CHECK(cache.size() == 2);
  CHECK(cache.look_up(TensorId(1), 1) == CacheState::miss);
  CHECK(cache.bit_of(TensorId(0)) == 0);
  CHECK(cache.bit_of(TensorId(3)) == 1);
}

TEST_CASE("an erasure keeps the order of last use of the other entries") {
  ResponseCache cache(3, 6);
  for (std::size_t t = 0; t < 3; ++t) cache.put(TensorId(t), 1);
  cache.put(TensorId(0), 1);  // oldest is 1, then 2, then 0
  cache.erase({1});
  cache.put(TensorId(3), 1);
  cache.put(TensorId(4), 1);  // full: 2 goes
  CHECK(cache.look_up(TensorId(2), 1) == CacheState::miss);
  CHECK(cache.look_up(TensorId(0), 1) == CacheState::hit);
}
