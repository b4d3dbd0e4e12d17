#include "sims/workload/coordination/tensor_set.h"

#include <catch2/catch.hpp>

#include "sims/workload/coordination/coordination_spec.h"

using namespace espalier;

namespace {

TensorSet tensors_of(const std::vector<Bytes>& sizes) {
  TensorSet set;
  for (const Bytes size : sizes) set.tensors.push_back({"t", size, 1});
  return set;
}

std::vector<Bytes> fused(const TensorSet& set, std::uint32_t groups, const FusionSpec& spec) {
  const std::vector<TensorUnit> units = make_units(set, groups);
  std::vector<UnitId> ready;
  for (std::size_t u = 0; u < units.size(); ++u) ready.emplace_back(u);
  std::vector<Bytes> sizes;
  for (const Response& response : fuse(ready, units, set, spec)) sizes.push_back(response.bytes);
  return sizes;
}

}  // namespace

TEST_CASE("a fusion buffer looks ahead past what does not fit") {
  CHECK(fused(tensors_of({60, 50, 30, 40, 10}), 0, {100, true}) == std::vector<Bytes>{100, 90});
}

TEST_CASE("a tensor larger than the threshold is reduced by itself") {
  CHECK(fused(tensors_of({10, 500, 20}), 0, {100, true}) == std::vector<Bytes>{30, 500});
}

TEST_CASE("a threshold of 0 fuses nothing") {
  CHECK(fused(tensors_of({10, 20}), 0, {0, true}) == std::vector<Bytes>{10, 20});
}

TEST_CASE("groups share a buffer only if fuse_groups allows it") {
  const TensorSet set = tensors_of({10, 20, 30, 40});
  CHECK(fused(set, 2, {1000, true}) == std::vector<Bytes>{100});
  CHECK(fused(set, 2, {1000, false}) == std::vector<Bytes>{30, 70});
}

TEST_CASE("a group larger than the threshold is cut between its tensors") {
  CHECK(fused(tensors_of({40, 40, 40, 10, 10, 10}), 2, {100, true}) ==
        std::vector<Bytes>{80, 40, 30});
}

TEST_CASE("tensors are split into groups by their number, the remainder to the first groups") {
  const std::vector<TensorUnit> units = make_units(tensors_of({1, 1, 1, 1, 1, 1, 1}), 3);
  REQUIRE(units.size() == 3);
  CHECK(units[0].tensors.size() == 3);
  CHECK(units[1].tensors.size() == 2);
  CHECK(units[2].tensors.size() == 2);
}

TEST_CASE("the control plane's messages have Horovod's sizes") {
  CHECK(request_list_bytes({48, 2}, 161) == 20016);
  CHECK(request_list_bytes({48, 2}, 0) == 24);
  CHECK(bit_vector_bytes(161) == 24);
  CHECK(bit_vector_bytes(1024) == 136);
}
