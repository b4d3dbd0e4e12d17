// What the certifier demands of the result: each rank ends with the data of its collective.
#include <catch2/catch.hpp>

#include "certifier_test_support.h"

namespace espalier::certifier_test {
namespace {

using Catch::Matchers::Contains;

TEST_CASE("A missing contribution is named with rank and chunk") {
  Plan plan = line_of_3(CollectiveOp::all_reduce, 2);
  for (std::size_t chunk = 0; chunk < 2; ++chunk) {
    const auto reduce = plan.add(kReduce, chunk, 0, 1, 1, {}, chunk);
    TransferId sum;
    if (chunk == 0) {
      sum = plan.add(kReduce, chunk, 2, 1, 1, {}, chunk);
    }
    const std::vector<TransferId> after =
        chunk == 0 ? std::vector<TransferId>{reduce, sum} : std::vector<TransferId>{reduce};
    plan.add(kCopy, chunk, 1, 0, 2, after, chunk);
    plan.add(kCopy, chunk, 1, 2, 2, after, chunk);
  }
  plan.schedule.sort_by_step();
  plan.schedule.contention_free = false;
  const Certificate certificate = plan.certified();
  CHECK(kinds(certificate) == Kinds{ViolationKind::postcondition});
  CHECK(listed(certificate, ViolationKind::postcondition) ==
        "at the end chunk 1 at rank 0 misses the contribution of rank 2\n"
        "at the end chunk 1 at rank 1 misses the contribution of rank 2\n"
        "at the end chunk 1 at rank 2 misses the contribution of rank 2\n");
}

TEST_CASE("A contribution that is added twice is named") {
  Plan plan = pair();
  const auto once = plan.add(kReduce, 0, 1, 0, 1);
  const auto twice = plan.add(kReduce, 1, 1, 0, 2);
  plan.add(kCopy, 0, 0, 1, 3, {once, twice});
  const Certificate certificate = plan.certified();
  CHECK(kinds(certificate) == Kinds{ViolationKind::postcondition});
  CHECK(listed(certificate, ViolationKind::postcondition) ==
        "at the end chunk 0 at rank 0 holds the contribution of rank 1 more than once\n"
        "at the end chunk 0 at rank 1 holds the contribution of rank 1 more than once\n");
}

TEST_CASE("A double contribution that is overwritten in the end does no harm") {
  // Ranks 1 and 2 spoil chunk 0; the reduction of chunk 1 tells rank 0, which still has it, when to
  // repair it.
  Plan plan = line_of_3(CollectiveOp::all_reduce, 2);
  const auto from_0 = plan.add(kReduce, 0, 0, 1, 1);
  const auto from_2 = plan.add(kReduce, 0, 2, 1, 1);
  const auto to_0 = plan.add(kCopy, 0, 1, 0, 2, {from_0, from_2});
  const auto echo = plan.add(kCopy, 9, 0, 1, 3, {to_0});
  const auto doubled = plan.add(kReduce, 1, 1, 2, 4, {echo});
  const auto spoilt = plan.add(kCopy, 2, 2, 1, 5, {doubled});
  const auto partial = plan.add(kReduce, 20, 2, 1, 5, {doubled}, 1);
  const auto total = plan.add(kReduce, 20, 1, 0, 6, {spoilt, partial}, 1);
  const bool repair = GENERATE(true, false);
  const auto repaired = plan.add(kCopy, repair ? 3U : 4U, 0, 1, 7, {to_0, total}, repair ? 0 : 1);
  const auto to_1 = plan.add(kCopy, 20, 0, 1, 8, {total}, 1);
  plan.add(kCopy, 3, 1, 2, 8, {repaired}, 0);
  plan.add(kCopy, 20, 1, 2, 9, {to_1, repaired}, 1);
  plan.schedule.contention_free = false;
  if (repair) {
    CHECK(plan.certified().ok());
  } else {
    CHECK(listed(plan.certified(), ViolationKind::postcondition) ==
          "at the end chunk 0 at rank 1 holds the contribution of rank 2 more than once\n"
          "at the end chunk 0 at rank 2 holds the contribution of rank 2 more than once\n");
  }
}

TEST_CASE("Each rank of a reduce_scatter needs its own chunks only") {
  Plan plan = pair(CollectiveOp::reduce_scatter, 2);
  plan.add(kReduce, 0, 1, 0, 1, {}, 0);
  SECTION("complete") {
    plan.add(kReduce, 1, 0, 1, 1, {}, 1);
    CHECK(plan.certified().ok());
  }
  SECTION("the owner of chunk 1 lacks a part") {
    CHECK(listed(plan.certified(), ViolationKind::postcondition) ==
          "at the end chunk 1 at rank 1 misses the contribution of rank 0\n");
  }
}

TEST_CASE("Each rank of an all_gather ends with every owner's data and nothing else") {
  Plan plan = pair(CollectiveOp::all_gather, 2);
  plan.add(kCopy, 0, 0, 1, 1, {}, 0);
  SECTION("complete") {
    plan.add(kCopy, 1, 1, 0, 1, {}, 1);
    CHECK(plan.certified().ok());
  }
  SECTION("a chunk that is not passed on") {
    CHECK(listed(plan.certified(), ViolationKind::postcondition) ==
          "at the end chunk 1 at rank 0 misses the contribution of rank 1\n");
  }
  SECTION("reading what was never written") {
    plan.add(kCopy, 1, 0, 1, 1, {}, 1);
    CHECK(listed(plan.certified(), ViolationKind::read_before_write) ==
          "the copy of flow 1 from 0 to 1 in step 1 reads chunk 1 at node 0, which was never "
          "written\n");
  }
  SECTION("adding to what was never written") {
    plan.add(kReduce, 1, 1, 0, 1, {}, 1);
    CHECK_THAT(listed(plan.certified(), ViolationKind::read_before_write),
               Contains("reads chunk 1 at node 0, which was never written"));
  }
}

// A broadcast from node 1 of a line of three, as a schedule.
Plan broadcast_from_middle() {
  Plan plan = line_of_3(CollectiveOp::broadcast, 1);
  plan.schedule.scope.root = NodeId(1);
  plan.schedule.chunks[0].owner = NodeId(1);
  plan.add(kCopy, 0, 1, 0, 1);
  return plan;
}

TEST_CASE("Each rank of a broadcast ends with the root's data") {
  Plan plan = broadcast_from_middle();
  SECTION("complete") {
    plan.add(kCopy, 0, 1, 2, 1);
    CHECK(plan.certified().ok());
  }
  SECTION("a rank that gets nothing") {
    CHECK(listed(plan.certified(), ViolationKind::postcondition) ==
          "at the end chunk 0 at rank 2 misses the contribution of rank 1\n");
  }
  SECTION("data added to the root's own") {
    plan.add(kCopy, 0, 1, 2, 1);
    plan.add(kReduce, 1, 0, 1, 2, {TransferId(0)});
    CHECK_THAT(listed(plan.certified(), ViolationKind::postcondition),
               Contains("chunk 0 at rank 1 holds the contribution of rank 1 more than once"));
  }
  SECTION("from a node that is not the root") {
    plan.add(kCopy, 1, 2, 1, 1);
    CHECK_THAT(listed(plan.certified(), ViolationKind::read_before_write),
               Contains("reads chunk 0 at node 2, which was never written"));
  }
  SECTION("another root than the chunks have") {
    plan.add(kCopy, 0, 1, 2, 1);
    plan.schedule.scope.root = NodeId(0);
    CHECK_THAT(listed(plan.certified(), ViolationKind::malformed),
               Contains("the owner of chunk 0 is node 1, but the root of the broadcast is node 0"));
  }
  SECTION("no root") {
    plan.schedule.scope.root = NodeId();
    CHECK_THAT(listed(plan.certified(), ViolationKind::malformed), Contains("needs a root"));
  }
  SECTION("a root where the collective has none") {
    plan.schedule.op = CollectiveOp::all_gather;
    CHECK_THAT(listed(plan.certified(), ViolationKind::malformed),
               Contains("all_gather has no root"));
  }
}

TEST_CASE("The root of a reduce ends with every contribution once") {
  Plan plan = line_of_3(CollectiveOp::reduce, 1);
  plan.schedule.scope.root = NodeId(0);
  const auto far = plan.add(kReduce, 0, 2, 1, 1);
  SECTION("complete") {
    plan.add(kReduce, 0, 1, 0, 2, {far});
    CHECK(plan.certified().ok());
  }
  SECTION("a rank that is missing") {
    CHECK(listed(plan.certified(), ViolationKind::postcondition) ==
          "at the end chunk 0 at rank 0 misses the contribution of ranks 1, 2\n");
  }
  SECTION("a rank that is added twice") {
    const auto near = plan.add(kReduce, 0, 1, 0, 2, {far});
    plan.add(kReduce, 1, 1, 0, 3, {far});
    static_cast<void>(near);
    CHECK_THAT(listed(plan.certified(), ViolationKind::postcondition),
               Contains("holds the contribution of ranks 1, 2 more than once"));
  }
}

TEST_CASE("In a process group only members have data and must have the result") {
  // Nodes 0 and 2 sum up through node 1, which stores and passes on.
  Plan plan = line_of_3(CollectiveOp::all_reduce, 1);
  plan.schedule.scope.groups = {RankGroup{{NodeId(0), NodeId(2)}}};
  const auto up = plan.add(kReduce, 0, 0, 1, 1);
  const auto sum = plan.add(kReduce, 0, 1, 2, 2, {up});
  const auto back = plan.add(kCopy, 0, 2, 1, 3, {sum});
  SECTION("complete") {
    plan.add(kCopy, 0, 1, 0, 4, {back});
    CHECK(plan.certified().ok());
  }
  SECTION("a member without the result") {
    CHECK(listed(plan.certified(), ViolationKind::postcondition) ==
          "at the end chunk 0 at rank 0 misses the contribution of rank 2\n");
  }
  SECTION("with node 1 as a member, its contribution would be there") {
    plan.add(kCopy, 0, 1, 0, 4, {back});
    plan.schedule.scope.groups = {};
    CHECK(plan.certified().ok());
  }
  SECTION("members out of order") {
    plan.schedule.scope.groups = {RankGroup{{NodeId(2), NodeId(0)}}};
    CHECK_THAT(listed(plan.certified(), ViolationKind::malformed), Contains("ascending order"));
  }
  SECTION("a chunk of a node outside") {
    plan.schedule.op = CollectiveOp::reduce_scatter;
    plan.schedule.chunks[0].owner = NodeId(1);
    CHECK_THAT(listed(plan.certified(), ViolationKind::malformed),
               Contains("the owner of chunk 0 is node 1, which takes no part"));
  }
}

TEST_CASE("Each pair of an all_to_allv gets the bytes that are asked for") {
  Plan plan = pair(CollectiveOp::all_to_allv, 2);
  plan.schedule.chunks = {{0, 12, NodeId(0), NodeId(1)}, {12, 4, NodeId(1), NodeId(0)}};
  plan.schedule.scope.counts = {0, 12, 4, 0};
  plan.add(kCopy, 0, 0, 1, 1, {}, 0);
  SECTION("complete") {
    plan.add(kCopy, 1, 1, 0, 1, {}, 1);
    CHECK(plan.certified().ok());
  }
  SECTION("a pair without its data") {
    CHECK(listed(plan.certified(), ViolationKind::postcondition) ==
          "at the end chunk 1 at rank 0 misses the contribution of rank 1\n");
  }
  SECTION("another division of the same bytes") {
    plan.add(kCopy, 1, 1, 0, 1, {}, 1);
    plan.schedule.scope.counts = {0, 4, 12, 0};
    CHECK(listed(plan.certified(), ViolationKind::postcondition) ==
          "rank 0 sends 12 bytes to rank 1, but must send 4\n"
          "rank 1 sends 4 bytes to rank 0, but must send 12\n");
  }
  SECTION("more bytes than chunks") {
    plan.add(kCopy, 1, 1, 0, 1, {}, 1);
    plan.schedule.scope.counts = {0, 12, 8, 0};
    CHECK_THAT(listed(plan.certified(), ViolationKind::malformed),
               Contains("the chunks cover 16 of 20 bytes"));
  }
  SECTION("no counts") {
    plan.schedule.scope.counts.clear();
    CHECK_THAT(listed(plan.certified(), ViolationKind::malformed),
               Contains("found 0 counts; all_to_allv of 2 nodes has 4"));
  }
}

TEST_CASE("Each rank of an all_gatherv owns the bytes that are asked for") {
  Plan plan = pair(CollectiveOp::all_gatherv, 2);
  plan.schedule.chunks = {{0, 12, NodeId(0)}, {12, 4, NodeId(1)}};
  plan.schedule.scope.counts = {12, 4};
  plan.add(kCopy, 0, 0, 1, 1, {}, 0);
  plan.add(kCopy, 1, 1, 0, 1, {}, 1);
  SECTION("complete") { CHECK(plan.certified().ok()); }
  SECTION("another division of the same bytes") {
    plan.schedule.scope.counts = {16, 0};
    CHECK(listed(plan.certified(), ViolationKind::postcondition) ==
          "rank 0 owns 12 bytes, but must own 16\n"
          "rank 1 owns 4 bytes, but must own 0\n");
  }
  SECTION("counts of pairs") {
    plan.schedule.scope.counts = {0, 12, 4, 0};
    CHECK_THAT(listed(plan.certified(), ViolationKind::malformed),
               Contains("found 4 counts; all_gatherv of 2 nodes has 2"));
  }
}

}  // namespace
}  // namespace espalier::certifier_test
