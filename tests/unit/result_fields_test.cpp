#include "sims/experiment/result_fields.h"

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

using namespace espalier;
using Json = nlohmann::ordered_json;

TEST_CASE("A field is found by its dotted name") {
  const Json result = Json::parse(R"({"cycles": 7, "host": {"wall_s": 0.5}, "list": [1]})");
  REQUIRE(find_field(result, "cycles") != nullptr);
  CHECK(*find_field(result, "cycles") == 7);
  REQUIRE(find_field(result, "host.wall_s") != nullptr);
  CHECK(*find_field(result, "host.wall_s") == 0.5);
  CHECK(find_field(result, "host.wall") == nullptr);
  CHECK(find_field(result, "cycles.wall_s") == nullptr);
  CHECK(find_field(result, "") == nullptr);
}

TEST_CASE("A table has the fields of all results, lists and what depends on the machine aside") {
  const Json first = Json::parse(R"({"a": 1, "host": {"wall_s": 1}, "list": [1]})");
  const Json second = Json::parse(R"({"a": 2, "in": {"b": "x", "c": true}, "d": null})");
  CHECK(table_fields({&first, &second}) == std::vector<std::string>{"a", "in.b", "in.c", "d"});
  CHECK(results_csv({first, second}) == "a,in.b,in.c,d\n1,,,\n2,x,true,\n");
}

TEST_CASE("CSV quotes what would end a cell, and doubles quotes") {
  CHECK(csv_cell(std::string("plain text")) == "plain text");
  CHECK(csv_cell(std::string("a, b")) == "\"a, b\"");
  CHECK(csv_cell(std::string("say \"x\"")) == "\"say \"\"x\"\"\"");
  CHECK(csv_cell(std::string("two\nlines")) == "\"two\nlines\"");
  const Json tenth = 0.1;
  CHECK(csv_cell(&tenth) == "0.1");
}

TEST_CASE("A number in a CSV is the shortest decimal that reads back to it") {
  CHECK(results_csv({{{"a", 1298 / 1e6}, {"b", 800000.0}, {"c", 0.1}, {"d", 3}}}) ==
        "a,b,c,d\n0.001298,800000.0,0.1,3\n");
}

TEST_CASE("Settings come before the fields, and a key with a unit has its number behind it") {
  const auto columns = setting_columns({"system.link.latency", "collective.algorithm"});
  CHECK(columns == std::vector<std::string>{"system.link.latency", "system.link.latency_ns",
                                            "collective.algorithm"});
  const nlohmann::ordered_json first{{"system.link.latency", "1us"},
                                     {"system.link.latency_ns", 1000}};
  CHECK(
      results_csv({{{"a", 1}, {"collective.algorithm", "x"}}, {{"a", 2}}}, columns,
                  {first, {{"collective.algorithm", "ring"}}}) ==
      "system.link.latency,system.link.latency_ns,collective.algorithm,a\n1us,1000,,1\n,,ring,2\n");
}
