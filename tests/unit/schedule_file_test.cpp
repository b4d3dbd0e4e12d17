#include "sims/formats/schedule_file.h"

#include <catch2/catch.hpp>
#include <numeric>
#include <random>
#include <sstream>

#include "alg/certify/certifier.h"
#include "alg/generators/process_group.h"
#include "alg/schedule/schedule_text.h"
#include "sims/text/strict_json.h"
#include "tests/support/networks.h"
#include "tests/support/share_of_cases.h"
#include "tests/unit/test_graphs.h"

namespace espalier {
namespace {

using Catch::Matchers::Contains;
using Catch::Matchers::StartsWith;
using Json = nlohmann::ordered_json;

Json described_system() {
  return {{"type", "mesh"}, {"dims", {2, 2}}, {"link", {{"latency", "150ns"}}}};
}

ScheduleTables generate(const char* algorithm, const Topology& topology, CollectiveOp op) {
  CollectiveRequest request;
  request.op = op;
  request.size = 4096;
  request.root = 1;
  for (Bytes c = 0; c < num_counts(op, topology.num_nodes()); ++c) {
    request.counts.push_back(c % (topology.num_nodes() + 1) == 0 ? 0 : 4 * c);
  }
  if (has_unequal_parts(op)) {
    request.size = std::accumulate(request.counts.begin(), request.counts.end(), Bytes{0});
  }
  return lower_to_tables(find_generator(algorithm)->generate(topology, request));
}

std::string written(const Topology& topology, const ScheduleTables& tables) {
  std::ostringstream out;
  write_schedule_file(out, described_system(), topology, tables);
  return out.str();
}

// The error, or nothing where the text is a schedule for this topology.
std::string error_of(const std::string& text, const Topology& topology) {
  const auto document = ScheduleDocument::parse(text);
  if (!document.value) return document.error;
  const auto tables = document.value->read_tables(topology);
  REQUIRE(tables.value.has_value() == tables.error.empty());
  return tables.error;
}

TEST_CASE("A schedule file gives back every entry, every route and the caller's configuration") {
  const std::vector<std::tuple<const char*, Topology, CollectiveOp>> cases{
      {"multitree", make_mesh({2, 2}, test::kPlainLink), CollectiveOp::all_reduce},
      {"multitree", make_mesh({3, 3}, test::kPlainLink), CollectiveOp::all_reduce},
      {"multitree", make_torus({2, 2}, test::kPlainLink),
       CollectiveOp::all_gather},  // parallel links
      {"ring", make_mesh({5}, test::kPlainLink),
       CollectiveOp::all_reduce},  // routes of several links
      {"2d_ring", make_mesh({4, 3}, test::kPlainLink), CollectiveOp::reduce_scatter},  // After
      {"forest", make_mesh({4, 3}, test::kPlainLink), CollectiveOp::all_reduce},   // planned order
      {"forest", make_bigraph(2, 4, test::kPlainLink), CollectiveOp::all_gather},  // time slots
      {"a2a_paths", make_torus({3, 3}, test::kPlainLink), CollectiveOp::all_to_all},
      {"forest", make_mesh({4, 3}, test::kPlainLink), CollectiveOp::broadcast},  // root
      {"direct", make_torus({3}, test::kPlainLink), CollectiveOp::all_to_allv},  // counts
      {"forest", make_mesh({4, 3}, test::kPlainLink), CollectiveOp::reduce_scatterv},
      {"ring", make_mesh({4}, test::kPlainLink), CollectiveOp::all_gatherv},
  };
  for (const auto& [algorithm, topology, op] : cases) {
    const ScheduleTables tables = generate(algorithm, topology, op);
    const std::string text = written(topology, tables);
    const auto document = ScheduleDocument::parse(text);
    CAPTURE(algorithm, topology.name(), document.error);
    REQUIRE(document.value);
    CHECK(nlohmann::ordered_json::parse(document.value->config_text()) == described_system());
    const auto read = document.value->read_tables(topology);
    CAPTURE(read.error);
    REQUIRE(read.value);
    CHECK(read.value->algorithm == tables.algorithm);
    CHECK(read.value->op == tables.op);
    CHECK(read.value->scope == tables.scope);
    CHECK(read.value->contention_free == tables.contention_free);
    CHECK(read.value->listed_order == tables.listed_order);
    CHECK(read.value->ni_ports == tables.ni_ports);
    // Routes may be numbered differently; what is sent along which links may not change.
    CHECK(written(topology, *read.value) == text);
    std::ostringstream before;
    std::ostringstream after;
    write_table_text(before, tables);
    write_table_text(after, *read.value);
    CHECK(after.str() == before.str());
    CHECK(certify(topology, *read.value).ok());
  }
}

TEST_CASE("A schedule file gives back several groups and the group of each chunk") {
  const Topology topology = make_fully_connected(5, test::kPlainLink);
  for (const CollectiveOp op : {CollectiveOp::all_reduce, CollectiveOp::all_to_all}) {
    CollectiveRequest request;
    request.op = op;
    request.size = 6000;
    request.groups = {{{NodeId(0), NodeId(1), NodeId(2)}, 4000}, {{NodeId(1), NodeId(4)}, 2000}};
    const ScheduleTables tables = lower_to_tables(generate(
        *find_generator(op == CollectiveOp::all_reduce ? "forest" : "direct"), topology, request));
    const std::string text = written(topology, tables);
    const auto read = ScheduleDocument::parse(text).value->read_tables(topology);
    CAPTURE(to_string(op), read.error);
    REQUIRE(read.value);
    CHECK(read.value->scope == tables.scope);
    CHECK(written(topology, *read.value) == text);
    CHECK(certify(topology, *read.value).ok());
  }
}

TEST_CASE("The first direct link is not named, any other route names its links") {
  const Topology topology = make_torus({2}, test::kPlainLink);
  ScheduleTables tables = generate("multitree", topology, CollectiveOp::all_reduce);
  TableEntry& reduce = tables.nodes[0][0];
  REQUIRE(reduce.op == TableOp::reduce);
  const LinkId first = topology.link_between(NodeId(0), NodeId(1));
  const LinkId second = topology.out_links(NodeId(0))[1];
  reduce.parent.route = RouteSet::single(first);
  CHECK_THAT(written(topology, tables), Contains("\"flow\": 1, \"parent\": 1, "));
  reduce.parent.route = RouteSet::single(second);
  CHECK_THAT(written(topology, tables),
             Contains("\"flow\": 1, \"parent\": {\"node\": 1, \"links\": [\"" +
                      link_name(topology, second) + "\"]}, "));
  reduce.parent.route = RouteId();
  CHECK_THROWS_WITH(written(topology, tables), Contains("without a route"));
}

TEST_CASE("Every mistake in a schedule file is named with its place") {
  const Topology topology = make_mesh({2, 2}, test::kPlainLink);
  const Json good =
      Json::parse(written(topology, generate("multitree", topology, CollectiveOp::all_reduce)));
  REQUIRE(error_of(good.dump(), topology).empty());
  Json bad = good;
  // Row 0 of node 2 is a Reduce to node 3, row 3 the root's Gather.
  const auto set = [&](const char* pointer, const Json& value) {
    bad[Json::json_pointer(pointer)] = value;
  };
  const auto erase = [&](const char* parent, const char* key) {
    bad[Json::json_pointer(parent)].erase(key);
  };
  std::string expected;
  SECTION("format") {
    set("/format", "gantt");
    expected = "/format: not a schedule file";
  }
  SECTION("version") {
    set("/version", 2);
    expected = "/version: \"version\" must be 1";
  }
  SECTION("a root where the collective has none") {
    set("/root", 0);
    expected = "top level: \"root\": all_reduce has no root";
  }
  SECTION("no root where the collective needs one") {
    set("/op", "broadcast");
    expected = "top level: \"root\" is missing: the node of the broadcast's root";
  }
  SECTION("a root that is no node") {
    set("/op", "reduce");
    set("/root", 4);
    expected = "/root";
  }
  SECTION("one member") {
    set("/members", {2});
    expected = "/members: a collective needs at least two nodes";
  }
  SECTION("groups beside members") {
    set("/members", {0, 1});
    set("/groups", Json::array());
    expected = "/groups: \"members\" names the only group";
  }
  SECTION("a list of one group") {
    set("/groups", Json::array({Json{{"members", {0, 1}}, {"size", 8}}}));
    expected = "/groups: a single group is named by \"members\"";
  }
  SECTION("members out of order") {
    set("/members", {2, 1});
    expected = "/members/1: members are listed in ascending order, each once";
  }
  SECTION("no object") {
    bad = Json::array();
    expected = "top level: not a schedule file";
  }
  SECTION("config missing") {
    bad.erase("config");
    expected = "top level: key \"config\"";
  }
  SECTION("key missing") {
    bad.erase("num_steps");
    expected = "top level: key \"num_steps\" is missing";
  }
  SECTION("key unknown") {
    set("/seed", 1);
    expected = "top level: unknown key \"seed\"";
  }
  SECTION("algorithm") {
    set("/algorithm", 5);
    expected = "/algorithm: expected a string, not number";
  }
  SECTION("collective") {
    set("/op", "all_to_some");
    expected = "/op: \"all_to_some\" is unknown; allowed are all_reduce";
  }
  SECTION("size") {
    set("/size", -1);
    expected = "/size: -1 is not between 0 and";
  }
  SECTION("fraction") {
    set("/size", 1.5);
    expected = "/size: expected an integer, not 1.5";
  }
  SECTION("claim") {
    set("/contention_free", 1);
    expected = "/contention_free: expected true or false";
  }
  SECTION("ports") {
    set("/ni_ports", 0);
    expected = "/ni_ports: 0 is not between 1";
  }
  SECTION("chunks") {
    set("/chunks", nullptr);
    expected = "/chunks: expected an array, not null";
  }
  SECTION("chunk") {
    set("/chunks/1", {1, 2});
    expected = "/chunks/1: expected [offset, size, owner]";
  }
  SECTION("owner") {
    set("/chunks/1/2", 4);
    expected = "/chunks/1/2: 4 is not between 0 and 3";
  }
  SECTION("nodes") {
    bad["nodes"].erase(3);
    expected = "/nodes: found 3 tables";
  }
  SECTION("table") {
    set("/nodes/2", 7);
    expected = "/nodes/2: expected an array, not number";
  }
  SECTION("entry") {
    set("/nodes/2/0", "x");
    expected = "/nodes/2/0: expected an object, not string";
  }
  SECTION("op missing") {
    erase("/nodes/2/0", "op");
    expected = "/nodes/2/0: key \"op\" is missing";
  }
  SECTION("op") {
    set("/nodes/2/0/op", "Send");
    expected = "/nodes/2/0/op: \"Send\" is unknown; allowed are Reduce";
  }
  SECTION("flow missing") {
    erase("/nodes/2/0", "flow");
    expected = "/nodes/2/0: key \"flow\" is missing";
  }
  SECTION("flow") {
    set("/nodes/2/0/flow", 4294967295U);
    expected = "/nodes/2/0/flow: 4294967295 is not";
  }
  SECTION("step") {
    set("/nodes/2/0/step", 4294967296U);
    expected = "/nodes/2/0/step: 4294967296 is not";
  }
  SECTION("Reduce without parent") {
    set("/nodes/2/0/parent", nullptr);
    expected = "/nodes/2/0/parent: expected an integer, not null";
  }
  SECTION("no neighbour") {
    set("/nodes/2/0/parent", 1);
    expected = "/nodes/2/0/parent: there is no link from node 2 to node 1";
  }
  SECTION("itself") {
    set("/nodes/2/0/parent", 2);
    expected = "/nodes/2/0/parent: there is no link";
  }
  SECTION("route of a parent that only sends") {
    set("/nodes/2/4/parent", {{"node", 0}, {"links", {"r_1_0.n"}}});
    expected = "/nodes/2/4/parent: expected an integer, not object";
  }
  SECTION("child") {
    set("/nodes/2/3/children/1", 9);
    expected = "/nodes/2/3/children/1: 9 is not between";
  }
  SECTION("route") {
    set("/nodes/2/3/children/1", {{"node", 3}, {"links", Json::array()}});
    expected = "/nodes/2/3/children/1/links: a route needs at least one link";
  }
  SECTION("link") {
    set("/nodes/2/3/children/1", {{"node", 3}, {"links", {"r_1_0.up"}}});
    expected = "/nodes/2/3/children/1/links/0: there is no link \"r_1_0.up\"";
  }
  SECTION("broken route") {
    set("/nodes/2/3/children/1", {{"node", 3}, {"links", {"r_1_0.e", "r_1_0.n"}}});
    expected = "/nodes/2/3/children/1/links/1: link r_1_0.n does not start at r_1_1";
  }
  SECTION("route elsewhere") {
    set("/nodes/2/3/children/1", {{"node", 3}, {"links", {"r_1_0.n"}}});
    expected = "/nodes/2/3/children/1/links: the route ends at r_0_0, not at node 3";
  }
  SECTION("peer key") {
    set("/nodes/2/3/children/1", {{"node", 3}, {"hops", 1}});
    expected = "/nodes/2/3/children/1: unknown key \"hops\"";
  }
  SECTION("address") {
    set("/nodes/2/0/addr", "0");
    expected = "/nodes/2/0/addr: expected an integer";
  }
  SECTION("after") {
    set("/nodes/2/0/after", {true});
    expected = "/nodes/2/0/after/0: expected an integer";
  }
  SECTION("NOP with more than a step") {
    set("/nodes/2/0/op", "NOP");
    expected = "/nodes/2/0: unknown key \"flow\"";
  }
  REQUIRE_FALSE(expected.empty());
  CHECK_THAT(error_of(bad.dump(), topology), StartsWith(expected));
}

TEST_CASE("Schedule files that are not strict JSON are refused") {
  const Topology topology = make_mesh({2, 2}, test::kPlainLink);
  CHECK_THAT(error_of("", topology), StartsWith("not JSON: unexpected end of input"));
  CHECK_THAT(error_of("{\"format\": \"espalier-schedule\",\n oops}", topology),
             StartsWith("not JSON: invalid literal"));
  CHECK_THAT(error_of("{} {}", topology), StartsWith("not JSON"));
  CHECK_THAT(error_of("{\"size\": 1e999}", topology), StartsWith("not JSON"));
  CHECK(error_of("{\"a/b\": [0, {\"size\": 1, \"size\": 2}]}", topology) ==
        "/a~1b/1/size: the key is given twice");
  CHECK_THAT(error_of(std::string(100'000, '['), topology), Contains("nested too deeply"));
  CHECK_THAT(error_of("{\"format\": \"\xff\"}", topology), StartsWith("not JSON"));
}

// What a careless hand or a broken disk may do to a file.
class TextMutator {
 public:
  explicit TextMutator(std::uint32_t seed) : random_(seed) {}

  std::string mutate(std::string text) {
    const std::size_t changes = 1 + below(2);
    for (std::size_t i = 0; i < changes && !text.empty(); ++i) {
      const std::size_t at = below(text.size());
      const std::size_t length = std::min(below(40), text.size() - at);
      switch (below(10)) {
        case 0:
          text[at] = static_cast<char>(below(256));
          break;
        case 1:
          text.erase(at, length);
          break;
        case 2:
          text.insert(at, text.substr(below(text.size()), below(40)));
          break;
        case 3:
          text.resize(at);
          break;
        default:
          replace_token(text, at);
          break;
      }
    }
    return text;
  }

 private:
  std::size_t below(std::size_t bound) {
    return std::uniform_int_distribution<std::size_t>(0, bound - 1)(random_);
  }

  // The number, word or bracket at or after `at` becomes another value: the text mostly stays JSON.
  void replace_token(std::string& text, std::size_t at) {
    static const std::vector<std::string> kValues{"0",
                                                  "1",
                                                  "2",
                                                  "3",
                                                  "4",
                                                  "-1",
                                                  "4294967295",
                                                  "4294967296",
                                                  "18446744073709551615",
                                                  "18446744073709551616",
                                                  "1e3",
                                                  "null",
                                                  "true",
                                                  "\"\"",
                                                  "[]",
                                                  "{}",
                                                  "[0]",
                                                  "\"Gather\"",
                                                  "\"Reduce\"",
                                                  "\"NOP\"",
                                                  "{\"node\": 1, \"links\": [\"r_0_0.e\"]}"};
    const std::string token_characters = "0123456789";
    const std::size_t begin = text.find_first_of(token_characters, at);
    if (begin == std::string::npos) return;
    const std::size_t end = std::min(text.find_first_not_of(token_characters, begin), text.size());
    text.replace(begin, end - begin, kValues[below(kValues.size())]);
  }

  std::mt19937 random_;
};

TEST_CASE("An error in JSON has the line and column of the value") {
  struct Case {
    const char* text;
    std::uint32_t line;
    std::uint32_t column;
    const char* why;
  };
  const Case cases[] = {
      {"{\n  \"a\": [1,\n    {\"x~/\": \"}\\\"\", \"b\": -7}]\n}", 3, 25,
       "/a/1/b: -7 is not between"},
      {"{\"a\": [1, {\"x\": 1, \"b\": {}}]}", 1, 25, "/a/1/b: expected an integer"},
      {"{\"a\": [1, {\"x\": 1}]}", 1, 11, "/a/1: key \"b\" is missing"},
      {"[]", 1, 1, "top level: expected an object"},
      {"{\"a\": 1,\n \"a\": [2]}", 2, 7, "/a: the key is given twice"},
      {"{\"a\":\n  ]}", 2, 3, "not JSON: "},
      {"{\"\\u0061\": [1, {\"\\u0062\": {}}]}", 1, 27, "/a/1/b: expected an integer"},
      {"{\"a\": [\"\xc3\xa4\xc3\xb6\", {\"b\": {}}]}", 1, 20, "/a/1/b: expected an integer"},
      {"\xef\xbb\xbf{\"a\": [1, {\"b\": {}}]}", 1, 17, "/a/1/b: expected an integer"},
      {"{\"a\": 1e400}", 1, 11, "not JSON: number overflow"},
      {"{\"a\": [", 1, 8, "not JSON: "},
  };
  for (const auto& [text, line, column, why] : cases) {
    CAPTURE(text);
    try {
      const Json json = parse_strict_json(text);
      const JsonCursor root(json);
      root.expect_keys({"a"});
      root.key("a").at(1).expect_key("b");
      static_cast<void>(root.key("a").at(1).key("b").integer(0, 9));
      FAIL("nothing is refused");
    } catch (const JsonError& error) {
      CHECK_THAT(error.what(), Catch::Matchers::StartsWith(why));
      CHECK(error.place(text).line == line);
      CHECK(error.place(text).column == column);
    }
  }
}

TEST_CASE("Ten thousand damaged files neither crash the reader nor the certifier") {
  const Topology topology = make_mesh({2, 2}, test::kPlainLink);
  const std::string good =
      written(topology, generate("multitree", topology, CollectiveOp::all_reduce));
  TextMutator mutator(20210614);
  std::size_t refused = 0;
  std::size_t unfit = 0;
  std::size_t certified = 0;
  constexpr int kFiles = test::kSanitized ? 1'500 : 10'000;
  for (int i = 0; i < kFiles; ++i) {
    const std::string text = mutator.mutate(good);
    CAPTURE(i, text);
    const auto document = ScheduleDocument::parse(text);
    if (!document.value) {
      CHECK_FALSE(document.error.empty());
      ++refused;
      continue;
    }
    const auto tables = document.value->read_tables(topology);
    if (!tables.value) {
      CHECK_FALSE(tables.error.empty());
      ++refused;
      continue;
    }
    ++(certify(topology, *tables.value).ok() ? certified : unfit);
  }
  // All three must be exercised for the numbers to mean something.
  CHECK(refused > kFiles / 10);
  CHECK(unfit > kFiles / 20);
  CHECK(certified > kFiles / 100);
}

}  // namespace
}  // namespace espalier
