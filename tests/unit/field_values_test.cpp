// How values become JSON in a result.
#include "sims/experiment/field_values.h"

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

using namespace espalier;
using Json = nlohmann::ordered_json;

namespace {

struct Stop {
  std::string name;
  std::optional<double> minutes;
};
void write_fields(Json& to, const Stop& stop) {
  put(to, "name", stop.name);
  put(to, "minutes", stop.minutes);
}

std::string json_text(const Json& json) { return json.dump(); }

}  // namespace

TEST_CASE("A part of a result is an object, and an optional without a value is null") {
  CHECK(json_text(json_of(Stop{"first", 2.5})) == R"({"name":"first","minutes":2.5})");
  CHECK(json_text(json_of(Stop{"second", {}})) == R"({"name":"second","minutes":null})");
  CHECK(json_text(json_of(std::optional<Stop>())) == "null");
  CHECK(json_text(json_of(std::optional(Stop{"x", {}}))) == R"({"name":"x","minutes":null})");
}

TEST_CASE("A list is a list, also without entries, and a list by names is an object") {
  CHECK(json_text(json_of(std::vector<Stop>{})) == "[]");
  CHECK(json_text(json_of(std::vector<Stop>{{"a", 1}, {"b", {}}})) ==
        R"([{"name":"a","minutes":1.0},{"name":"b","minutes":null}])");
  CHECK(json_text(json_of(std::vector<std::vector<std::string>>{{"a", "b"}, {}})) ==
        R"([["a","b"],[]])");
  CHECK(json_text(json_of(std::vector<Named<std::optional<double>>>{{"z", 1}, {"a", {}}})) ==
        R"({"z":1.0,"a":null})");
}

TEST_CASE("The members of a numbered field follow one another from 1") {
  Json to{{"period", 5}};
  put_each(to, "dim", std::vector<std::vector<double>>{{0.5, 1}, {}});
  CHECK(json_text(to) == R"({"period":5,"dim1":[0.5,1.0],"dim2":[]})");
  put(to, "period", std::uint64_t{7});
  CHECK(json_text(to) == R"({"period":7,"dim1":[0.5,1.0],"dim2":[]})");
}
