// collective.rank_order and its file, collective.base, and the section `reorder`.
#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "alg/rank_order/permutation.h"
#include "config_test_support.h"
#include "sims/config/resolved.h"
#include "sims/formats/rank_order_file.h"
#include "sims/model/build_program.h"
#include "sims/study/study.h"
#include "tests/support/networks.h"
#include "tests/support/resolved_yaml.h"

namespace espalier {

using namespace config_test;
using Catch::Matchers::Contains;

namespace {

std::string ring_on_four(const std::string& more) {
  return "system:\n  topology: {type: torus, dims: [4]}\n"
         "collective: {algorithm: ring, size: 4KiB" +
         more + "}\n";
}

std::string text_of_errors(const std::string& config, const std::string& folder = {}) {
  return read_run_config_text("config.yaml", config, folder).diagnostics;
}

TEST_CASE("Without a rank order rank r is node r, and the configuration does not mention it") {
  const RunPoint point = only_point(ring_on_four(""));
  CHECK(point.collective->rank_order.is_identity());
  CHECK(point.collective->rank_order.nodes.empty());
  CHECK_FALSE(resolved_json(point).at("collective").contains("rank_order"));
  CHECK(resolved_yaml(only_point(ring_on_four(", rank_order: identity"))) == resolved_yaml(point));
}

TEST_CASE("Random orders are drawn by their seeds, a list of which runs each") {
  const ConfigResult result = read_run_config_text(
      "config.yaml", ring_on_four(", rank_order: [identity, random], rank_order_seed: [3, 4, 5]"));
  INFO(result.diagnostics);
  REQUIRE(result.ok);
  REQUIRE(result.points.size() == 4);
  CHECK(result.points[0].collective->rank_order.nodes.empty());
  for (std::size_t p = 1; p < 4; ++p) {
    const RankOrderConfig& order = result.points[p].collective->rank_order;
    CHECK(order.seed == p + 2);
    CHECK(order.nodes == to_nodes(random_permutation(4, p + 2)));
    CHECK(only_point(resolved_yaml(result.points[p])).collective->rank_order.nodes == order.nodes);
    CHECK(config_hash(result.points[p]) != config_hash(result.points[p - 1]));
  }
}

TEST_CASE("A mapping file beside the configuration says which node each rank is") {
  const TemporaryFolder folder("rank_order");
  const std::string path =
      folder.write("order.yaml", "rank_order: [3, 0, 2, 1]\nmetadata: {model: ring}\n");
  const std::string place = std::filesystem::path(path).parent_path().string();
  const ConfigResult result =
      read_run_config_text("config.yaml", ring_on_four(", rank_order: order.yaml"), place);
  INFO(result.diagnostics);
  REQUIRE(result.ok);
  const RunPoint& point = result.points.front();
  CHECK(point.collective->rank_order.nodes == to_nodes({3, 0, 2, 1}));
  CHECK(resolved_json(point).at("collective").at("rank_order") == "order.yaml");
  // Another order in a file of the same name is another simulation.
  const std::string before = study_point(point).id;
  folder.write("order.yaml", "rank_order: [0, 3, 2, 1]\n");
  // The point is what was read for it, whatever stands in the file by now.
  CHECK(study_point(point).id == before);
  const ConfigResult again =
      read_run_config_text("config.yaml", ring_on_four(", rank_order: order.yaml"), place);
  CHECK(study_point(again.points.front()).id != before);
  // No file is read for a word.
  CHECK_NOTHROW(study_point(only_point(ring_on_four(", rank_order: random"))));
}

std::string errors_of_order(const std::string& text) {
  Diagnostics diagnostics;
  const auto order = parse_rank_order("order.yaml", text, make_torus({4}, LinkSpec{}), diagnostics);
  CHECK_FALSE(order);
  return diagnostics.text();
}

TEST_CASE("Errors in a mapping file have their places") {
  CHECK_THAT(errors_of_order("rank_order: [3, 0, 3, 1]\n"),
             Contains("order.yaml:1:20: error: rank_order: node 3 is already rank 0"));
  CHECK_THAT(
      errors_of_order("rank_order: [3, 0, 1]\n"),
      Contains("order.yaml:1:13: error: rank_order: has 3 entries, but the network has 4 nodes"));
  CHECK_THAT(errors_of_order("rank_order: [4, 0, 1, 2]\n"),
             Contains("order.yaml:1:14: error: rank_order: 4 is out of range"));
  CHECK_THAT(errors_of_order("rank_order:\n  - 1\n  - x\n  - 2\n  - 0\n"),
             Contains("order.yaml:3:5: error: rank_order: 'x' is no node of the network"));
  CHECK_THAT(errors_of_order("rank_order: 5\n"),
             Contains("order.yaml:1:13: error: rank_order: expected a list"));
  CHECK_THAT(errors_of_order("order: [0]\n"), Contains("order.yaml:1:1: error: "));
  CHECK_THAT(errors_of_order("[0, 1]\n"), Contains("expected a mapping"));
}

TEST_CASE("Ranks and roots are nodes by number, name and coordinates alike") {
  const TemporaryFolder folder("named_ranks");
  const std::string place = folder.path();
  folder.write("order.yaml", "rank_order: [r_1_1, 0, 1_0, ni_0_1]\n");
  const std::string mesh =
      "system: {topology: {type: mesh, dims: [2, 2]}}\n"
      "collective: {op: broadcast, algorithm: binomial, size: 4KiB, ";
  const auto root_of = [&](const std::string& rest) {
    const ConfigResult result = read_run_config_text("c.yaml", mesh + rest + "}\n", place);
    INFO(result.diagnostics);
    REQUIRE(result.ok);
    const CollectiveConfig& collective = *result.points.front().collective;
    // The resolved configuration has the rank.
    CHECK(resolved_json(result.points.front())["collective"]["root"] == collective.root);
    return collective.root;
  };
  CHECK(root_of("root: 2") == 2);
  CHECK(root_of("root: r_1_0") == 2);
  CHECK(root_of("root: 1_0, rank_order: order.yaml") == 2);
  CHECK(root_of("root: ni_1_1, rank_order: order.yaml") == 0);
  CHECK(root_of("root: 3, rank_order: order.yaml") == 3);
  CHECK(root_of("root: r_1_0, ranks: [3, r_1_0]") == 1);
  const auto errors_of = [&](const std::string& rest) {
    const ConfigResult result = read_run_config_text("c.yaml", mesh + rest + "}\n", place);
    CHECK_FALSE(result.ok);
    return result.diagnostics;
  };
  CHECK_THAT(errors_of("root: r_0_0, ranks: [3, r_1_0]"),
             Contains("collective.root: r_0_0 takes no part in the collective"));
  CHECK_THAT(errors_of("root: r_7_7"), Contains("collective.root: 'r_7_7' is no node"));
}

TEST_CASE("A name that is no node counts as no node, and not as node 0") {
  const std::string errors = text_of_errors(
      "system: {topology: {type: fat_tree, nodes_per_switch: 2, switches: 2, spines: 1}}\n"
      "collective: {op: all_reduce, algorithm: ring, size: 4KiB, ranks: [0, sw_0]}\n");
  CHECK_THAT(errors, Contains("collective.ranks: 'sw_0' is a switch; a node is needed"));
  CHECK_THAT(errors, !Contains("listed twice"));
  const std::string faults = text_of_errors(
      "system: {topology: {type: mesh, dims: [2, 2]}}\n"
      "collective: {op: all_reduce, algorithm: ring, size: 4KiB}\n"
      "faults: {late_nis: [{node: 0, cycles: 5}, {node: r_9_9, cycles: 5}]}\n");
  CHECK_THAT(faults, Contains("'r_9_9' is no node of the network"));
  CHECK_THAT(faults, !Contains("twice"));
}

TEST_CASE("A mapping file may be JSON") {
  Diagnostics diagnostics;
  const auto order = parse_rank_order("order.json", R"({"rank_order": [1, 0]})",
                                      make_mesh({2}, LinkSpec{}), diagnostics);
  INFO(diagnostics.text());
  REQUIRE(order);
  CHECK(*order == to_nodes({1, 0}));
}

TEST_CASE("Impossible rank orders are refused where they are written") {
  const std::string missing = text_of_errors(ring_on_four(", rank_order: nowhere.yaml"));
  CHECK_THAT(missing, Contains("config.yaml:3:") && Contains("'nowhere.yaml'"));
  const std::string refused = text_of_errors(
      "system: {topology: {type: torus, dims: [4, 4]}}\n"
      "collective: {size: 4KiB, rank_order: random, op: all_reduce,\n"
      "  algorithm: [multitree_translated, gc3_ring]}\n");
  CHECK_THAT(refused, Contains("config.yaml:2:38: error: collective.rank_order: "
                               "multitree_translated cannot use a rank order"));
  CHECK_THAT(refused, Contains("gc3_ring cannot use a rank order: rank r of a collective program"));
  const std::string planned = text_of_errors(
      "system:\n  topology: {type: dimensions}\n"
      "  dimensions: {shape: [ring], size: [4], bandwidth: 200Gb/s, latency: 700ns}\n"
      "collective: {algorithm: themis, size: 1MiB, rank_order: random}\n");
  CHECK_THAT(planned, Contains("themis cannot use a rank order"));
}

TEST_CASE("A seed without a random order has no effect") {
  CHECK_THAT(text_of_errors(ring_on_four(", rank_order_seed: 4")), Contains("has no effect"));
}

TEST_CASE("bcube's base must fit the nodes, and other algorithms refuse it") {
  const auto config = [](const std::string& more) {
    return "system: {topology: {type: torus, dims: [4, 4]}}\n"
           "collective: {size: 4KiB, algorithm: " +
           more + "}\n";
  };
  CHECK(only_point(config("bcube")).collective->base == 4);
  CHECK(only_point(config("bcube, base: 16")).collective->base == 16);
  CHECK_THAT(text_of_errors(config("bcube, base: 3")),
             Contains("config.yaml:2:") &&
                 Contains("collective.base: bcube needs a number of nodes that is a power of its "
                          "base; 16 nodes") &&
                 Contains("for example collective.base: 2"));
  CHECK_THAT(text_of_errors(config("ring, base: 4")), Contains("has no effect"));
}

TEST_CASE("The settings of the search are not part of a run's configuration") {
  const RunPoint plain = only_point(ring_on_four(""));
  const RunPoint point = only_point(
      ring_on_four("") +
      "reorder: {model: dbtree, form: as_printed, objective: max, evaluations: 5, "
      "seed: 7, direction: worst, start: random, random_orders: 3, exact_nodes: 0, window: 1KiB, "
      "probes: 2, payload: 8B, percentile: 50}\n");
  CHECK(resolved_yaml(point) == resolved_yaml(plain));
  const ReorderConfig& reorder = point.reorder;
  CHECK(reorder.model == OrderModel::dbtree);
  CHECK(reorder.form == OrderForm::as_printed);
  CHECK(reorder.search.objective == OrderObjective::max);
  CHECK(reorder.search.evaluations == 5);
  CHECK(reorder.search.seed == 7);
  CHECK(reorder.search.direction == OrderDirection::worst);
  CHECK(reorder.search.start == OrderStart::random);
  CHECK(reorder.random_orders == 3);
  CHECK(reorder.exact_nodes == 0);
  CHECK(reorder.window == 1024);
  CHECK(reorder.probes == 2);
  CHECK(reorder.payload == 8);
  CHECK(reorder.percentile == 50);
  CHECK_FALSE(plain.reorder.model);
}

std::string errors_of_latencies(const std::string& text) {
  Diagnostics diagnostics;
  CHECK_FALSE(parse_latencies("m.csv", text, 2, diagnostics));
  return diagnostics.text();
}

TEST_CASE("A table of weights has a line for each rank") {
  Diagnostics diagnostics;
  const auto weights = parse_weights("w.csv", "-, 5\n7, 0\n", 2, 2, diagnostics);
  REQUIRE(weights);
  CHECK(*weights == std::vector<std::uint64_t>{0, 5, 7, 0});
  const auto errors_of = [](const std::string& text) {
    Diagnostics found;
    CHECK_FALSE(parse_weights("w.csv", text, 2, 2, found));
    return found.text();
  };
  CHECK_THAT(errors_of("0,5\n7\n"), Contains("w.csv:2:1: error: found 1 values, but the network "
                                             "has 2 ranks"));
  CHECK_THAT(errors_of("0,1000001\n7,0\n"), Contains("w.csv:1:3: error: weight 0 to 1"));
}

TEST_CASE("Weights of parts are one line with a weight for each rank") {
  Diagnostics diagnostics;
  const auto weights = parse_weights("w.csv", "# bytes\n4, 0, 1\n", 3, 1, diagnostics);
  REQUIRE(weights);
  CHECK(*weights == std::vector<std::uint64_t>{4, 0, 1});
  const auto errors_of = [](const std::string& text) {
    Diagnostics found;
    CHECK_FALSE(parse_weights("w.csv", text, 3, 1, found));
    return found.text();
  };
  CHECK_THAT(errors_of("4, 0\n"), Contains("w.csv:1:4: error: found 2 values, but the network has "
                                           "3 ranks"));
  CHECK_THAT(errors_of("4, 0, 1\n1, 2, 3\n"),
             Contains("w.csv:2:1: error: found a second line of weights; every rank has one"));
  CHECK_THAT(errors_of("# none\n"), Contains("found 0 lines of weights"));
  CHECK_THAT(errors_of("4, -, 1\n"), Contains("w.csv:1:4: error: weight of rank 1: '-' is not"));
}

TEST_CASE("The parts of an all_gatherv are whole elements and sum to the size") {
  const RunPoint point = only_point(
      "system: {topology: {type: torus, dims: [4]}}\n"
      "collective: {op: all_gatherv, algorithm: ring, size: 1000B, element: 8B}\n");
  const CollectiveRequest request = collective_request(point.system, *point.collective);
  CHECK(request.counts == std::vector<Bytes>{480, 240, 152, 128});
}

TEST_CASE("Weights become whole elements, of which the largest row sums to the size") {
  const RunPoint point = only_point(
      "system: {topology: {type: torus, dims: [4]}}\n"
      "collective: {op: all_to_allv, algorithm: direct, size: 1000B, element: 4B}\n");
  const CollectiveRequest request = collective_request(point.system, *point.collective);
  REQUIRE(request.counts.size() == 16);
  Bytes most = 0;
  for (std::size_t from = 0; from < 4; ++from) {
    Bytes sum = 0;
    for (std::size_t to = 0; to < 4; ++to) {
      const Bytes count = request.counts[from * 4 + to];
      CHECK(count % 4 == 0);
      CHECK((count == 0) == (from == to));
      sum += count;
    }
    most = std::max(most, sum);
  }
  CHECK(most == 1000);
  // zipf: rank 0 gets about twice as much as rank 1 of what rank 3 sends.
  CHECK(static_cast<double>(request.counts[12]) ==
        Approx(2 * static_cast<double>(request.counts[13])).margin(8));
}

TEST_CASE("A matrix of latencies has a line for each node") {
  Diagnostics diagnostics;
  const auto matrix = parse_latencies("m.csv", "# us\n0, 5\n\n7, -  # to itself\n", 2, diagnostics);
  INFO(diagnostics.text());
  REQUIRE(matrix);
  CHECK(*matrix == std::vector<std::uint64_t>{0, 5, 7, 0});
  CHECK_THAT(errors_of_latencies("0,5\n7\n"), Contains("m.csv:2:1: error: found 1 values"));
  CHECK_THAT(errors_of_latencies("0,5\n7,0,1\n"), Contains("m.csv:2:5: error: found 3 values"));
  CHECK_THAT(errors_of_latencies("0,5\n"),
             Contains("found 1 lines of latencies, but the network has 2"));
  CHECK_THAT(errors_of_latencies("0,5\n7,0\n1,2\n"),
             Contains("m.csv:3:1: error: found more lines"));
  CHECK_THAT(errors_of_latencies("0,5us\n7,0\n"),
             Contains("m.csv:1:3: error: latency 0 to 1: '5us' is not an integer"));
}

}  // namespace
}  // namespace espalier
