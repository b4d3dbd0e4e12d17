// What auto remembers: in a process, and in a folder.
#include <catch2/catch.hpp>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "config_test_support.h"
#include "sims/choose/choices.h"
#include "tests/support/networks.h"

using namespace espalier;
using config_test::TemporaryFolder;

namespace {

CollectiveConfig question_collective() {
  CollectiveConfig collective;
  collective.size = 4096;
  return collective;
}

}  // namespace

TEST_CASE(
    "A question depends on the system, the links, the collective, the ranks and the programs") {
  const Topology torus = make_torus({4, 4}, LinkSpec{150'000, 16'000'000'000});
  const SystemConfig system;
  const CollectiveConfig collective = question_collective();
  const auto asked = choice_question(torus, system, collective, {});
  CHECK(choice_question(torus, system, collective, {}) == asked);
  const Topology slow = make_torus({4, 4}, LinkSpec{150'000, 8'000'000'000});
  CHECK(choice_question(slow, system, collective, {}) != asked);
  const Topology far = make_torus({4, 4}, LinkSpec{151'000, 16'000'000'000});
  CHECK(choice_question(far, system, collective, {}) != asked);
  CHECK(choice_question(torus, system, collective, {"window"}) != asked);
  SystemConfig other = system;
  other.ni.send_queue = 3;
  CHECK(choice_question(torus, other, collective, {}) != asked);
  other = system;
  // Of a key that is "auto", the number counts.
  for (const auto change : {+[](SystemConfig& s) { s.router.pipeline_cycles = 3; },
                            +[](SystemConfig& s) { s.router.vc_depth_flits = 319; },
                            +[](SystemConfig& s) { s.ni.reduction.latency_cycles = 4; }}) {
    other = system;
    change(other);
    CHECK(choice_question(torus, other, collective, {}) != asked);
  }
  for (const auto change : {+[](CollectiveConfig& c) { c.size = 8192; },
                            +[](CollectiveConfig& c) { c.op = CollectiveOp::all_gather; },
                            +[](CollectiveConfig& c) { c.element_bytes = 2; },
                            +[](CollectiveConfig& c) {
                              c.ranks = {0, 3};
                            },
                            +[](CollectiveConfig& c) {
                              c.counts.weights = {1, 2};
                            },
                            +[](CollectiveConfig& c) { c.rank_order.nodes = {NodeId(1)}; }}) {
    CollectiveConfig changed = collective;
    change(changed);
    CHECK(choice_question(torus, system, changed, {}) != asked);
  }
}

TEST_CASE("A choice is found again, by another process too if there is a folder") {
  const TemporaryFolder folder("choices");
  const std::string path = folder.path() + "/kept";
  const nlohmann::ordered_json question{{"size", 1}};
  const nlohmann::ordered_json other{{"size", 2}};
  Choices first(path);
  CHECK_FALSE(first.find(question));
  CHECK_FALSE(std::filesystem::exists(path));
  first.keep(question, {"forest", 4, "forest, 1 us planned"});
  for (const Choices& choices : {first, Choices(path)}) {
    const auto found = choices.find(question);
    REQUIRE(found);
    CHECK(found->algorithm == "forest");
    CHECK(found->segments == 4);
    CHECK(found->why == "forest, 1 us planned");
    CHECK_FALSE(choices.find(other));
  }
  Choices alone;
  alone.keep(question, {"ring", 0, ""});
  CHECK(alone.find(question));
  CHECK_FALSE(Choices().find(question));
  // A damaged file is no answer, and is replaced.
  for (const auto& entry : std::filesystem::directory_iterator(path)) {
    std::ofstream(entry.path()) << "{\"question\": {\"size\": 1}, \"answer\": 3}";
  }
  CHECK_FALSE(Choices(path).find(question));
  Choices again(path);
  again.keep(question, {"ring", 0, "ring"});
  CHECK(Choices(path).find(question)->algorithm == "ring");
}

TEST_CASE("A choice that cannot be written is known to this process") {
  const TemporaryFolder folder("choices");
  const std::string file = folder.write("file", "text");
  Choices choices(file + "/below");
  choices.keep({{"size", 1}}, {"ring", 0, ""});
  CHECK(choices.find({{"size", 1}})->algorithm == "ring");
  CHECK(!Choices(file + "/below").find({{"size", 1}}));
}

TEST_CASE("Choices of several sizes are one sentence") {
  TakenAlgorithms taken;
  CHECK(taken.text() == "");
  taken.note(4, "ring");
  taken.note(8, "");
  taken.note(16, "forest");
  taken.note(64, "ring");
  taken.note(4, "ring");
  CHECK(taken.text() == "ring for 2 sizes from 4 to 64 B, forest for 16 B");
  taken.note(16, "direct");
  CHECK(taken.text() == "ring for 2 sizes from 4 to 64 B, forest and direct for 16 B");
}
