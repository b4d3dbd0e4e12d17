#include "hw/ids.h"

#include <catch2/catch.hpp>
#include <type_traits>
#include <unordered_set>

namespace espalier {
namespace {

TEST_CASE("A default id is nil and every given number is not") {
  CHECK_FALSE(NodeId().valid());
  CHECK(NodeId(0).valid());
  CHECK(NodeId(0xfffffffeU).valid());
  CHECK(NodeId() == NodeId());
  CHECK(NodeId() != NodeId(0));
}

TEST_CASE("Ids compare as their numbers do") {
  const NodeId low(3);
  const NodeId high(7);
  CHECK(low < high);
  CHECK(low <= high);
  CHECK(low <= low);
  CHECK(high > low);
  CHECK(high >= low);
  CHECK(low != high);
  CHECK_FALSE(low < low);
  CHECK_FALSE(low > low);
  CHECK(low.index() == 3);
  CHECK(low.value() == 3);
  CHECK(high < NodeId());  // nil sorts last
}

TEST_CASE("Ids of different kinds and plain numbers do not convert to each other") {
  STATIC_REQUIRE_FALSE(std::is_convertible_v<NodeId, LinkId>);
  STATIC_REQUIRE_FALSE(std::is_convertible_v<std::size_t, NodeId>);
  STATIC_REQUIRE_FALSE(std::is_convertible_v<NodeId, std::size_t>);
  STATIC_REQUIRE_FALSE(std::is_constructible_v<FlowId, NodeId>);
}

TEST_CASE("Ids serve as keys of hashed sets") {
  std::unordered_set<ChunkId> chunks;
  for (std::size_t c = 0; c < 100; ++c) chunks.insert(ChunkId(c % 10));
  CHECK(chunks.size() == 10);
  CHECK(chunks.count(ChunkId(9)) == 1);
  CHECK(chunks.count(ChunkId(10)) == 0);
}

}  // namespace
}  // namespace espalier
