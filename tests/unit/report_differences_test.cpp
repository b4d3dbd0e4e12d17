#include <catch2/catch.hpp>

#include "sims/page/config_differences.h"

using namespace espalier::report;
using Json = nlohmann::ordered_json;
using Names = std::vector<std::string>;

namespace {

const Json kRing = {{"collective.algorithm", "ring"}, {"collective.size", "4KiB"}, {"a.x", 1}};
const Json kTree = {{"collective.algorithm", "multitree"},
                    {"collective.size", "4KiB"},
                    {"collective.tree_order", "root"},
                    {"a.x", 1}};

}  // namespace

TEST_CASE("Keys whose values differ, and keys that only some have, are differences") {
  const ConfigDifferences differences = compare_configs({&kRing, &kTree});
  CHECK(differences.keys == Names{"collective.algorithm", "collective.tree_order"});
  CHECK(differences.common == Json{{"collective.size", "4KiB"}, {"a.x", 1}});
}

TEST_CASE("Equal configurations share all settings, and no configurations share none") {
  CHECK(compare_configs({&kRing, &kRing}).keys.empty());
  CHECK(compare_configs({&kRing}).common == kRing);
  CHECK(compare_configs({}).keys.empty());
  CHECK(compare_configs({nullptr}).common.empty());
}

TEST_CASE("An unknown configuration is not a difference") {
  CHECK(compare_configs({&kRing, nullptr, &kRing}).keys.empty());
}

TEST_CASE("A list is one value, and a number is not its text") {
  const Json one{{"dims", {4, 4}}, {"n", 1}};
  const Json two{{"dims", {4, 8}}, {"n", "1"}};
  CHECK(compare_configs({&one, &two}).keys == Names{"dims", "n"});
  CHECK(value_text(one.at("dims")) == "[4, 4]");
  const Json faults = Json::parse(R"([{"node": 5, "cycles": 2000}, {"node": 6, "cycles": 1}])");
  CHECK(value_text(faults) == "[{node: 5, cycles: 2000}, {node: 6, cycles: 1}]");
}

TEST_CASE("Configurations become dotted names and sections again") {
  const Json config = {{"system", {{"link", {{"latency", "150ns"}}}, {"vcs", 4}}}, {"size", 8}};
  const Json flat = {{"system.link.latency", "150ns"}, {"system.vcs", 4}, {"size", 8}};
  CHECK(flatten_config(config) == flat);
  CHECK(nest_config(flat) == config);
}

TEST_CASE("Short names are as long as it takes to tell keys apart") {
  CHECK(short_names({"a.size", "b.latency"}) == Names{"size", "latency"});
  CHECK(short_names({"system.link.latency", "system.credit.latency", "x"}) ==
        Names{"link.latency", "credit.latency", "x"});
  CHECK(short_names({"latency", "link.latency"}) == Names{"latency", "link.latency"});
}

TEST_CASE("Of keys that vary together only the first tells configurations apart") {
  const Json ring_small = {{"collective.algorithm", "ring"}, {"size", 1}};
  const Json ring_large = {{"collective.algorithm", "ring"}, {"size", 2}};
  const Json tree_small = {{"collective.algorithm", "tree"}, {"order", "root"}, {"size", 1}};
  const Names keys{"collective.algorithm", "order", "size"};
  CHECK(telling_keys(keys, {&ring_small, &ring_large, &tree_small}) ==
        Names{"collective.algorithm", "size"});
  CHECK(telling_keys(keys, {&ring_small}).empty());
}
