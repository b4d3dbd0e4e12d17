#include "sims/workload/training/parallel_groups.h"

#include <catch2/catch.hpp>

#include "config_test_support.h"
#include "sims/model/build_dimensions.h"

namespace espalier {
namespace {

std::vector<DimensionSpec> groups_of_preset(const std::string& name) {
  return dimension_specs(config_test::only_point("system: {preset: " + name +
                                                 "}\ncollective: {algorithm: themis, size: 1MiB}\n")
                             .system);
}

std::vector<DimensionSpec> switches(const std::vector<std::uint32_t>& sizes) {
  std::vector<DimensionSpec> dimensions;
  for (const std::uint32_t size : sizes) {
    DimensionSpec spec;
    spec.shape = DimensionShape::switched;
    spec.size = size;
    dimensions.push_back(spec);
  }
  return dimensions;
}

}  // namespace

TEST_CASE("Groups of 128 are the first dimensions of each of Themis' systems") {
  struct Row {
    const char* preset;
    LogicalGroup model;
    LogicalGroup data;
  };
  const std::vector<Row> table{{"themis_2d_sw_sw", {{0, 16}, {1, 8}}, {{1, 8}}},
                               {"themis_3d_sw_sw_sw_homo", {{0, 16}, {1, 8}}, {{2, 8}}},
                               {"themis_3d_sw_sw_sw_hetero", {{0, 16}, {1, 8}}, {{2, 8}}},
                               {"themis_3d_fc_ring_sw", {{0, 8}, {1, 16}}, {{2, 8}}},
                               {"themis_4d_ring_sw_sw_sw", {{0, 4}, {1, 4}, {2, 8}}, {{3, 8}}},
                               {"themis_4d_ring_fc_ring_sw", {{0, 4}, {1, 8}, {2, 4}}, {{3, 8}}}};
  for (const Row& row : table) {
    CAPTURE(row.preset);
    const std::vector<DimensionSpec> dimensions = groups_of_preset(row.preset);
    const ParallelGroups groups = split_groups(dimensions, 128);
    CHECK(groups.model == row.model);
    CHECK(groups.data == row.data);
    CHECK(num_npus(groups.model) == 128);
    CHECK(num_npus(groups.data) == 8);
    CHECK(num_npus(groups.all) == 1024);
    CHECK(groups.all.size() == dimensions.size());
  }
}

TEST_CASE("A group of one NPU has nothing to communicate, and one of all NPUs leaves nothing") {
  const ParallelGroups one = split_groups(switches({16, 8}), 1);
  CHECK(one.model.empty());
  CHECK(one.data == one.all);
  const ParallelGroups whole = split_groups(switches({16, 8}), 128);
  CHECK(whole.data.empty());
  CHECK(whole.model == whole.all);
  CHECK(&whole.of(CommunicationScope::data) == &whole.data);
  CHECK(&whole.of(CommunicationScope::model) == &whole.model);
  CHECK(&whole.of(CommunicationScope::all) == &whole.all);
}

TEST_CASE("Group sizes that do not divide are refused") {
  CHECK_THROWS_WITH(split_groups(switches({16, 8}), 0),
                    "a model-parallel group needs at least one NPU");
  CHECK_THROWS_WITH(split_groups(switches({16, 8}), 48),
                    "a model-parallel group of 48 NPUs needs 3 NPUs of dimension 2, which has 8; "
                    "one of the two numbers must divide the other");
  CHECK_THROWS_WITH(split_groups(switches({16, 8}), 256),
                    "a model-parallel group of 256 NPUs is 2 times as large as the system; it may "
                    "have at most all NPUs");
  CHECK_THROWS_WITH(split_groups(groups_of_preset("themis_3d_fc_ring_sw"), 32),
                    "a model-parallel group of 32 NPUs would cut the ring of dimension 2 into "
                    "parts of 4");
}

}  // namespace espalier
