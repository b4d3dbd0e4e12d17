#include "sims/system/simulated_system.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <string>

namespace espalier {
namespace {

using Catch::Matchers::Contains;

TEST_CASE("Modules that wait for each other are printed as a cycle in order") {
  const std::string text =
      describe_waits({{"a", "b", "credits"}, {"b", "c", "the switch"}, {"c", "a", "a Gather"}});
  CHECK(text ==
        "these modules wait for each other in a cycle:\n"
        "  a waits for b: credits\n"
        "  b waits for c: the switch\n"
        "  c waits for a: a Gather\n");
}

TEST_CASE("Modules that only lead into the cycle are left out") {
  const std::string text =
      describe_waits({{"a", "m", "1"}, {"m", "x", "2"}, {"x", "y", "3"}, {"y", "x", "4"}});
  CHECK(text ==
        "these modules wait for each other in a cycle:\n"
        "  x waits for y: 3\n"
        "  y waits for x: 4\n");
}

TEST_CASE("A cycle is found behind waits that lead nowhere") {
  const std::string text = describe_waits(
      {{"a", "dead", "1"}, {"a", "b", "2"}, {"b", "end", "3"}, {"b", "c", "4"}, {"c", "a", "5"}});
  CHECK_THAT(text, Contains("these modules wait for each other"));
  CHECK_THAT(text, Contains("a waits for b: 2"));
  CHECK_THAT(text, Contains("b waits for c: 4"));
  CHECK_THAT(text, Contains("c waits for a: 5"));
  CHECK_THAT(text, !Contains("dead"));
  CHECK_THAT(text, !Contains("end"));
}

TEST_CASE("A module that waits for itself is a cycle of one") {
  CHECK(describe_waits({{"a", "b", "x"}, {"b", "b", "y"}}) ==
        "these modules wait for each other in a cycle:\n  b waits for b: y\n");
}

TEST_CASE("Without a cycle the chain up to the module that never moves is printed") {
  const std::string text = describe_waits({{"a", "b", "x"}, {"b", "c", "y"}});
  CHECK(text ==
        "the longest chain of waits:\n"
        "  a waits for b: x\n"
        "  b waits for c: y\n");
}

TEST_CASE("Without a cycle the chain is the longest one whatever the names") {
  // Names whose order is not the order of the chain.
  const std::string text = describe_waits({{"c", "b", "x"}, {"b", "a", "y"}, {"a", "z", "w"}});
  CHECK(text ==
        "the longest chain of waits:\n"
        "  c waits for b: x\n"
        "  b waits for a: y\n"
        "  a waits for z: w\n");
}

TEST_CASE("A long cycle is shortened, and the text counts the remaining modules") {
  WaitList waits;
  for (int i = 0; i < 40; ++i) {
    waits.push_back({"m" + std::to_string(i), "m" + std::to_string((i + 1) % 40), "x"});
  }
  const std::string text = describe_waits(waits, 10);
  CHECK_THAT(text, Contains("... and 30 more"));
  CHECK(std::count(text.begin(), text.end(), '\n') == 12);
}

TEST_CASE("A cycle through a hundred thousand modules is found without deep recursion") {
  WaitList waits;
  for (int i = 0; i < 100'000; ++i) {
    waits.push_back({"m" + std::to_string(i), "m" + std::to_string((i + 1) % 100'000), "x"});
  }
  CHECK_THAT(describe_waits(waits), Contains("and 99976 more"));
}

TEST_CASE("An empty list of waits has a text of its own") {
  CHECK_THAT(describe_waits({}), Contains("no module waits"));
}

}  // namespace
}  // namespace espalier
