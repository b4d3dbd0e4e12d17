// The table of families of networks.
#include <catch2/catch.hpp>

#include <map>
#include <set>
#include <stdexcept>
#include <string>

#include "hw/topology/families/family.h"

using namespace espalier;

TEST_CASE("Each family has a name and a place of its own, and a source") {
  std::set<std::string> names;
  std::set<std::uint32_t> places;
  for (const Family& family : families()) {
    CAPTURE(family.name);
    CHECK(names.insert(family.name).second);
    CHECK(places.insert(family.place).second);
    CHECK((family.source == Family::Source::keys) == (family.build != nullptr));
    CHECK((family.source == Family::Source::keys) == (family.size != nullptr));
    CHECK((family.racks == nullptr) == family.two_racks.empty());
  }
  CHECK(family_of(Family::Source::anynet_file) == "anynet");
}

// The configuration has one key for all of them.
TEST_CASE("Families that share a key agree in everything but its description") {
  std::map<std::string, FamilyKey> known;
  for (const Family& family : families()) {
    for (const FamilyKey& key : family.keys) {
      CAPTURE(family.name, key.name);
      const FamilyKey& first = known.emplace(key.name, key).first->second;
      CHECK(key.kind == first.kind);
      CHECK(key.required == first.required);
      CHECK(key.preset == first.preset);
      CHECK(key.min == first.min);
      CHECK(key.words == first.words);
      CHECK(key.entries == first.entries);
    }
  }
}

TEST_CASE("A network is described by keys that families have, within their ranges") {
  NetworkSpec spec;
  CHECK_THROWS_AS(spec.set("nodes_per_swich", {4}), std::logic_error);
  CHECK_THROWS_AS(make_network(spec, {}), std::invalid_argument);  // no sizes
  spec.set("dims", {2, 2, 2, 2});
  CHECK_THROWS_AS(make_network(spec, {}), std::invalid_argument);
  spec.set("dims", {3, 0});
  CHECK_THROWS_AS(make_network(spec, {}), std::invalid_argument);
  spec.set("dims", {3, 2});
  CHECK(make_network(spec, {}).num_nodes() == 6);
  spec.type = "switch";
  spec.set("nodes", {4, 8});
  CHECK_THROWS_AS(make_network(spec, {}), std::invalid_argument);
  for (const char* type : {"file", "dimensions", "no_such_family"}) {
    spec.type = type;
    CHECK_THROWS_AS(make_network(spec, {}), std::invalid_argument);
  }
}

TEST_CASE("Two nodes among millions of hosts need little memory, wherever they are placed") {
  NetworkSpec spec;
  spec.type = "data_center";
  for (const auto& [key, number] : std::map<std::string, std::uint64_t>{{"nodes", 2},
                                                                        {"pods", 16},
                                                                        {"racks_per_pod", 4000},
                                                                        {"hosts_per_rack", 4000},
                                                                        {"rack_uplinks", 1}}) {
    spec.set(key, {number});
  }
  for (const std::uint64_t placement : {0U, 1U, 2U}) {
    spec.set("placement", {placement});
    CHECK(make_network(spec, {}).num_nodes() == 2);
  }
  spec.set("placement", {9});
  CHECK_THROWS_AS(make_network(spec, {}), std::invalid_argument);
}
