#include <fmt/format.h>

#include <catch2/catch.hpp>
#include <functional>
#include <nlohmann/json.hpp>

#include "config_test_support.h"
#include "sims/config/resolved.h"
#include "sims/formats/chakra_records.h"
#include "tests/support/trace_writer.h"

namespace espalier {

using namespace config_test;
using Catch::Contains;
using test::coll;
using test::comp;
using test::receive;
using test::send;
using test::trace_text;
using test::TraceNodeText;

namespace {

constexpr std::uint64_t kMiB = 1 << 20;
constexpr std::uint64_t kMicrosecond = 1'000'000;  // ps

using Nodes = std::vector<TraceNodeText>;

// Traces t.RANK.et in a folder, and a configuration that names them.
class Traces {
 public:
  Traces(std::uint32_t ranks, const std::function<Nodes(std::uint32_t)>& nodes,
         const std::string& groups = {}) {
    for (std::uint32_t rank = 0; rank < ranks; ++rank) {
      folder.write(fmt::format("t.{}.et", rank), trace_text(nodes(rank)));
    }
    if (!groups.empty()) folder.write("t.json", groups);
    network = fmt::format("{{topology: {{type: switch, nodes: {}}}}}", ranks);
  }

  [[nodiscard]] ConfigResult read(const std::string& settings = {}) const {
    return read_run_config_text("run.yaml",
                                fmt::format("system: {}\nworkload: {{file: t{}}}\n", network,
                                            settings.empty() ? "" : ", " + settings),
                                folder.path());
  }
  [[nodiscard]] std::shared_ptr<const WorkGraph> graph(const std::string& settings = {}) const {
    const ConfigResult result = read(settings);
    INFO(result.diagnostics);
    REQUIRE(result.points.size() == 1);
    REQUIRE(result.points.front().workload->graph);
    return result.points.front().workload->graph;
  }

  TemporaryFolder folder{"espalier_traces"};
  std::string network;
};

Nodes all_reduce_of_all(std::uint32_t /*rank*/) { return {coll(1, 0, kMiB)}; }

// What a rank of one node reads as.
WorkNode only_node(const TraceNodeText& node, const std::string& settings = {}) {
  const Traces traces(2, [&](std::uint32_t) { return Nodes{node}; });
  return traces.graph(settings)->ranks.at(0)->nodes.at(0);
}

}  // namespace

TEST_CASE("Each question of the tiny traces has the answer that a reader should give") {
  if (test::skips_traces()) return;
  struct Question {
    const char* name;
    std::uint32_t ranks;
    std::function<Nodes(std::uint32_t)> nodes;
    std::string groups;
    std::string refused;  // empty: runs
  };
  const auto only_rank = [](std::uint32_t which, Nodes nodes) {
    return [which, nodes](std::uint32_t rank) { return rank == which ? nodes : Nodes{}; };
  };
  const auto same = [](Nodes nodes) { return [nodes](std::uint32_t) { return nodes; }; };
  const auto in_group = [](std::uint64_t id, const char* group) {
    return coll(id, 0, kMiB).has("pg_name", std::string(group));
  };
  const std::string pairs = R"({"1": [0, 1], "2": [2, 3]})";
  const auto pair_of = [&](std::uint32_t rank) { return Nodes{in_group(1, rank < 2 ? "1" : "2")}; };
  const std::vector<Question> questions{
      {"base_ar", 4, all_reduce_of_all, "", ""},
      {"group_of_one", 4,
       [&](std::uint32_t rank) {
         return Nodes{in_group(1, std::to_string(rank + 1).c_str()), comp(2, 3).after({1})};
       },
       R"({"1": [0], "2": [1], "3": [2], "4": [3]})", ""},
      {"zero_tensor_first", 4,
       same({comp(1, 0).has("num_ops", 10).has("tensor_size", 0), coll(2, 0, kMiB).after({1})}), "",
       ""},
      {"metadata_first", 4,
       same(
           {TraceNodeText(1, "pg", 1).inputs(R"(["[{\"pg_name\": \"1\", \"ranks\": [0,1,2,3]}]"])"),
            in_group(2, "1").after({1})}),
       "", ""},
      {"invalid_first", 4, same({TraceNodeText(1, "nothing", 0), coll(2, 0, kMiB).after({1})}), "",
       ""},
      {"ctrl_dep", 4, same({comp(1, 10), coll(2, 0, kMiB).after({1}, true)}), "", ""},
      {"missing_dep2", 4, same({comp(1, 5), comp(2, 5).after({77})}), "",
       "node 2 (comp2) of rank 0 waits for node 77, which the trace does not have"},
      {"cycle_behind", 4, same({comp(5, 5), comp(1, 5).after({2}), comp(2, 5).after({1})}), "",
       "nodes wait for each other in a circle: node 1 (comp1) of rank 0 waits for node 2 (comp2) "
       "of rank 0, node 2 (comp2) of rank 0 waits for node 1 (comp1) of rank 0"},
      {"broadcast", 4, same({coll(1, 5, kMiB).lasts(5)}), "", ""},
      {"barrier", 4, same({coll(1, 9, 0)}), "", ""},
      {"ag_zero", 4, same({coll(1, 2, 0)}), "", ""},
      {"ar_1001", 4, same({coll(1, 0, 1001)}), "", ""},
      {"comp_roof_noattr", 4, same({comp(1, 7).has("num_ops", 10)}), "",
       "node 1 (comp1) of rank 0 has num_ops but no tensor_size"},
      {"two_groups", 4, pair_of, pairs, ""},
      {"group_reversed", 4, same({in_group(1, "1")}), R"({"1": [3, 2, 1, 0]})", ""},
      {"group_zero_given", 4, same({in_group(1, "0")}), R"({"0": [0, 1]})",
       "group 0 is that of all ranks and cannot be defined"},
      {"group_unknown", 4, same({in_group(1, "9")}), pairs,
       "node 1 (coll1) of rank 0 runs in process group 9, which"},
      {"group_not_member", 4, same({in_group(1, "1")}), R"({"1": [0, 1]})",
       "node 1 (coll1) of rank 2 runs a collective of group 1, of which rank 2 is no member"},
      {"swapped_order", 4,
       [](std::uint32_t rank) {
         return rank == 0 ? Nodes{coll(1, 2, kMiB), coll(2, 0, kMiB).after({1})}
                          : Nodes{coll(1, 0, kMiB), coll(2, 2, kMiB).after({1})};
       },
       "", "node 2 (coll2) of rank 0 waits for node 1 (coll1) of rank 0"},
      {"swapped_groups", 4,
       [&](std::uint32_t rank) {
         return Nodes{in_group(1, rank % 2 == 0 ? "2" : "1"),
                      in_group(2, rank % 2 == 0 ? "1" : "2").after({1})};
       },
       R"({"1": [0, 1, 2, 3], "2": [0, 1, 2, 3]})",
       "nodes wait for each other in a circle, where a collective waits for all its ranks: "},
      {"p2p", 2,
       [](std::uint32_t rank) {
         return rank == 0 ? Nodes{send(1, 1, kMiB)} : Nodes{receive(1, 0, kMiB)};
       },
       "", ""},
      {"p2p_no_send", 4, only_rank(1, {receive(1, 0, kMiB)}), "",
       "node 1 (recv1) of rank 1 receives from rank 0 with tag 5, which sends no such message"},
      {"p2p_no_receive", 4, only_rank(1, {send(1, 0, kMiB)}), "",
       "node 1 (send1) of rank 1 sends to rank 0 with tag 5, where no receive is left"},
      {"p2p_size_mismatch", 2,
       [](std::uint32_t rank) {
         return rank == 0 ? Nodes{send(1, 1, kMiB)} : Nodes{receive(7, 0, kMiB + 1)};
       },
       "",
       "node 1 (send1) of rank 0 sends 1048576 B with tag 5, but node 7 (recv7) of rank 1 receives "
       "1048577 B"},
      {"p2p_zero", 4, only_rank(0, {send(1, 1, 0)}), "", "is a message of no bytes"},
      {"p2p_itself", 4, only_rank(0, {send(1, 0, 8)}), "", "sends to its own rank"},
      {"p2p_nobody", 4, only_rank(0, {send(1, 4, 8)}), "", "has comm_dst 4; at most 3 is allowed"},
      {"p2p_of_another", 4, only_rank(0, {send(1, 1, 8).has("comm_src", 2)}), "",
       "has comm_src 2; the file is that of rank 0"},
      {"comm_cpu", 4, same({coll(1, 0, kMiB).has("is_cpu_op", 1, test::kBool)}), "",
       "node 1 (coll1) of rank 0 is communication of the host"},
      {"launch", 4, same({TraceNodeText(1, "c10d::allreduce_", 7).has("is_cpu_op", 1).lasts(4)}),
       "", ""},
      {"mem_load", 4, same({TraceNodeText(1, "load", 2).has("tensor_size", kMiB)}), "",
       "node 1 (load) of rank 0 accesses remote memory"},
      {"no_nodes", 4,
       [&](std::uint32_t rank) { return rank < 2 ? Nodes{in_group(1, "1")} : Nodes{}; },
       R"({"1": [0, 1]})", ""},
      {"group_custom_unsorted", 4,
       [&](std::uint32_t rank) { return rank == 1 ? Nodes{} : Nodes{in_group(1, "1")}; },
       R"({"1": [3, 0, 2]})", ""},
      {"duplicate_id", 4, same({comp(1, 1), comp(1, 2)}), "",
       "rank 0 has two nodes with id 1: comp1 and comp1"},
      {"coll_no_type", 4, same({TraceNodeText(1, "c", 7).has("comm_size", kMiB)}), "",
       "node 1 (c) of rank 0 has no attribute comm_type"},
      {"coll_no_size", 4, same({TraceNodeText(1, "c", 7).has("comm_type", 0)}), "",
       "node 1 (c) of rank 0 has no attribute comm_size"},
      {"is_cpu_absent", 4, same({TraceNodeText(1, "c", 7).has("comm_type", 0).has("comm_size", 8)}),
       "", ""},
      {"gather", 4, same({coll(1, 3, kMiB)}), "", "is a GATHER, which is not simulated"},
      {"text for a number", 4,
       same({TraceNodeText(1, "c", 7).has("comm_type", 0).has("comm_size", std::string("8"))}), "",
       "node 1 (c) of rank 0 has an attribute comm_size that is not an integer"},
      {"number for a text", 4, same({coll(1, 0, 8).has("pg_name", 1, test::kInt32)}), "",
       "has an attribute pg_name that is not a string"},
      {"a group without a number", 4, same({in_group(1, "tp")}), "",
       "names a process group that is no number: 'tp'"},
      {"a rank posts less", 4,
       [](std::uint32_t rank) {
         return rank == 3 ? Nodes{coll(1, 0, 8)} : Nodes{coll(1, 0, 8), coll(2, 0, 8)};
       },
       "",
       "rank 0 posts 2 x all_reduce of 8 B in group 0, first with node 1 (coll1) of rank 0, but "
       "rank "
       "3 posts 1"},
      {"other sizes", 2, [](std::uint32_t rank) { return Nodes{coll(1, 0, 8 + rank)}; }, "",
       "but rank 1 posts 0 (and all_reduce of 9 B by node 1 (coll1) of rank 1)"},
      {"ranks that receive before they send", 2,
       [](std::uint32_t rank) {
         return Nodes{receive(1, 1 - rank, 8), send(2, 1 - rank, 8).after({1})};
       },
       "", "node 1 (recv1) of rank 1 waits for node 2 (send2) of rank 0"},
      {"involved_dim", 4, same({coll(1, 0, 8).involves({true, false})}), "",
       "has an involved_dim of length 2, but the network has no dimensions"},
      {"involved_dim of all", 4, same({coll(1, 0, 8).involves({true, true})}), "", ""},
  };
  for (const Question& question : questions) {
    INFO(question.name);
    const ConfigResult result = Traces(question.ranks, question.nodes, question.groups).read();
    INFO(result.diagnostics);
    CHECK(result.ok == question.refused.empty());
    CHECK_THAT(result.diagnostics, Contains(question.refused));
    if (question.refused.empty()) CHECK(result.diagnostics.empty());
  }
}

TEST_CASE("Sizes of a trace are a rank's input, and an all-gather's result has all ranks' shards") {
  if (test::skips_traces()) return;
  const Traces traces(4, [](std::uint32_t) {
    return Nodes{coll(1, 0, 1000), coll(2, 2, 1000), coll(3, 7, 1000),
                 coll(4, 6, 1000), coll(5, 9, 0),    coll(6, 0, 1),
                 coll(7, 7, 0),    coll(8, 2, 0),    coll(9, 0, 0)};
  });
  const auto graph = traces.graph("element: 2B");
  const auto& nodes = graph->ranks.at(3)->nodes;
  CHECK(nodes.at(0).op == CollectiveOp::all_reduce);
  CHECK(nodes.at(0).bytes == 2000);
  CHECK(nodes.at(1).op == CollectiveOp::all_gather);
  CHECK(nodes.at(1).bytes == 8000);
  CHECK(nodes.at(2).op == CollectiveOp::reduce_scatter);
  CHECK(nodes.at(2).bytes == 2000);
  CHECK(nodes.at(3).op == CollectiveOp::all_to_all);
  CHECK(nodes.at(3).bytes == 2000);
  CHECK(nodes.at(4).bytes == 4);  // a barrier
  // As in ASTRA-sim, parts have a byte at least. Unlike there, no bytes stay none.
  CHECK(nodes.at(5).bytes == 4);
  for (const std::size_t none : {6U, 7U, 8U}) CHECK(nodes.at(none).bytes == 0);
}

TEST_CASE("A computation takes the roofline's time where the trace counts operations") {
  if (test::skips_traces()) return;
  const TraceNodeText counted =
      comp(1, 7).has("num_ops", 1'000'000'000).has("tensor_size", 1'000'000);
  CHECK(only_node(comp(1, 7)).picoseconds == 7 * kMicrosecond);
  CHECK(only_node(counted, "compute: {tflops: 100}").picoseconds == 10 * kMicrosecond);
  CHECK(only_node(counted, "compute: {tflops: 100, memory: 50GB/s}").picoseconds ==
        20 * kMicrosecond);
  CHECK(only_node(counted, "element: 2B, compute: {tflops: 100, memory: 50GB/s}").picoseconds ==
        40 * kMicrosecond);
  CHECK(only_node(counted, "compute: {tflops: recorded}").picoseconds == 7 * kMicrosecond);
  CHECK(only_node(comp(1, 7).has("num_ops", 0)).picoseconds == 7 * kMicrosecond);
  CHECK(only_node(comp(1, 7).has("num_ops", 9).has("tensor_size", 0)).kind == WorkKind::none);
  CHECK(only_node(counted).kind == WorkKind::compute);
  CHECK(only_node(TraceNodeText(0, "cpu", 4).has("is_cpu_op", 1, test::kInt32).lasts(2)).kind ==
        WorkKind::host);
}

TEST_CASE("Dependencies of both kinds are a set, and nodes may stand before those they wait for") {
  if (test::skips_traces()) return;
  const Traces traces(2, [](std::uint32_t) {
    return Nodes{comp(9, 1).after({4, 3, 4}).after({4}, true), comp(4, 1), comp(3, 1).after({4})};
  });
  const auto graph = traces.graph();
  const RankWork& work = *graph->ranks.at(1);
  CHECK(work.first_wait == std::vector<std::uint32_t>{0, 2, 2, 3});
  CHECK(work.waits == std::vector<std::uint32_t>{1, 2, 1});
  CHECK(graph->names.size() == 3);  // shared by the ranks
}

TEST_CASE("A trace's names are short text that results can contain, and a folder is no trace") {
  if (test::skips_traces()) return;
  const Traces traces(2, [](std::uint32_t) {
    return Nodes{TraceNodeText(1, "a\x1b[31m\xff", 4), TraceNodeText(2, std::string(5000, 'n'), 4)};
  });
  CHECK(traces.graph()->names == std::vector<std::string>{"a?[31m?", std::string(200, 'n')});
  std::filesystem::remove(traces.folder.path() + "/t.1.et");
  std::filesystem::create_directory(traces.folder.path() + "/t.1.et");
  CHECK_THAT(traces.read().diagnostics, Contains("t.1.et: error: is not a file"));
}

TEST_CASE("Flags of dimensions make groups of the ranks whose other coordinates are equal") {
  if (test::skips_traces()) return;
  Traces traces(8, [](std::uint32_t) {
    return Nodes{coll(1, 2, 10).involves({true, false}), coll(2, 0, 10).involves({false, true}),
                 coll(3, 0, 10).involves({true, true, true, true})};
  });
  traces.network = "{topology: {type: torus, dims: [4, 2]}}";
  const auto graph = traces.graph();
  REQUIRE(graph->groups.size() == 3);
  const auto& nodes = graph->ranks.at(5)->nodes;
  CHECK(nodes.at(0).bytes == 40);
  using Sets = std::vector<std::vector<std::uint32_t>>;
  CHECK(graph->groups.at(nodes.at(0).group).sets == Sets{{0, 1, 2, 3}, {4, 5, 6, 7}});
  CHECK(graph->groups.at(nodes.at(1).group).sets == Sets{{0, 4}, {1, 5}, {2, 6}, {3, 7}});
  CHECK(nodes.at(2).group == 0);

  Traces fewer(8, [](std::uint32_t) { return Nodes{coll(1, 0, 10).involves({true})}; });
  fewer.network = traces.network;
  CHECK_THAT(fewer.read().diagnostics,
             Contains("has an involved_dim of length 1, but the network has 2 dimensions"));
}

TEST_CASE("Groups keep the order of their ring, and are read from a file of any name") {
  if (test::skips_traces()) return;
  Traces traces(
      4, [](std::uint32_t) { return Nodes{coll(1, 0, 8).has("pg_name", std::string("07"))}; });
  traces.folder.write("groups.json", R"({"7": [3, 2, 0, 1]})");
  const auto graph = traces.graph("groups: groups.json");
  CHECK(graph->groups.at(graph->ranks.at(0)->nodes.at(0).group).sets ==
        std::vector<std::vector<std::uint32_t>>{{3, 2, 0, 1}});
  CHECK_THAT(
      traces.read().diagnostics,
      Contains("runs in process group 7, which no file defines") && Contains("workload.groups"));
  for (const auto& [groups, why] : std::vector<std::pair<const char*, const char*>>{
           {R"({"7": [0, 4]})", ":1:11: error: "},
           {R"({"7": [0, 0]})", "rank 0 is in the group twice"},
           {R"({"x": [0, 1]})", ":1:7: error: /x: a process group's name is no number"},
           {R"({"7": 3})", ":1:7: error: "},
           {R"([0, 1])", ":1:1: error: "},
           {R"({"7": [0, 1)", ":1:12: error: "}}) {
    traces.folder.write("groups.json", groups);
    const ConfigResult result = traces.read("groups: groups.json");
    INFO(groups << result.diagnostics);
    CHECK_FALSE(result.ok);
    CHECK_THAT(result.diagnostics, Contains("groups.json") && Contains(why));
    CHECK(parse_diagnostics(result.diagnostics).size() == 1);  // and not one for each rank
  }
}

TEST_CASE("There is a trace for each node of the network, and files of other kinds are named") {
  if (test::skips_traces()) return;
  Traces traces(3, all_reduce_of_all);
  CHECK(traces.read().ok);
  traces.network = "{topology: {type: switch, nodes: 4}}";
  CHECK_THAT(traces.read().diagnostics,
             Contains("the network has 4 nodes, but there is no trace") && Contains("t.3.et'"));
  traces.network = "{topology: {type: switch, nodes: 2}}";
  CHECK_THAT(traces.read().diagnostics,
             Contains("run.yaml:2:18: error: workload.file: there are traces of 3 ranks, but the "
                      "network has 2 nodes"));
  traces.network = "{topology: {type: switch, nodes: 3}}";
  const std::string trace = trace_text({coll(1, 0, kMiB)});
  for (const auto& [text, why] : std::vector<std::pair<std::string, const char*>>{
           {"\x1f\x8b\x08", "t.1.et: error: is compressed with gzip: unpack it with gunzip"},
           {"\x28\xb5\x2f\xfd", "is compressed with zstd"},
           {"{\"workload_graph\": []}", "is Chakra's JSON form"},
           {"", "is empty"},
           {"hello, world", "is damaged: the record at byte 0 ends behind the file"},
           {trace.substr(0, trace.size() - 1),
            "is damaged: the record at byte 8 ends behind the file"},
           {trace + "\xff", "has no end"},
           {trace + std::string("\x03\x0a\x05x", 4), "is no node"},
           {trace.substr(8), "is no Chakra execution trace of version 0.0.4 or 1.0"}}) {
    traces.folder.write("t.1.et", text);
    const ConfigResult result = traces.read();
    INFO(result.diagnostics);
    CHECK_FALSE(result.ok);
    CHECK_THAT(result.diagnostics, Contains(why));
  }
  const TemporaryFolder other("espalier_packed_traces");
  other.write("t.0.et.gz", "x");
  other.write("u.0.json", "{}");
  const auto refused = [&](const std::string& name) {
    return read_run_config_text(
               "run.yaml",
               "system: {topology: {type: switch, nodes: 2}}\nworkload: {file: " + name + "}\n",
               other.path())
        .diagnostics;
  };
  CHECK_THAT(refused("t"),
             Contains("found '" + other.path() + "/t.0.et.gz' in place of") && Contains("gunzip"));
  CHECK_THAT(refused("u"),
             Contains("u.0.json' in place of") && Contains("Chakra's JSON form is not read"));
  CHECK_THAT(refused("u.0.json"), Contains("Chakra's JSON form is not read"));
  CHECK_THAT(refused("t.0.et"),
             Contains("the name of one rank's file") && Contains("in front of .RANK.et: t\n"));
  other.write("busbw.yaml", "allreduce: 1\n");
  CHECK_THAT(refused("busbw.yaml"), Contains("is no text of SimAI, AICB or ASTRA-sim 1.0"));
  CHECK_THAT(refused("v"), Contains("there is no file") && Contains(".RANK.et"));
}

TEST_CASE("A trace resolves to its prefix, and a change in one rank makes another point") {
  if (test::skips_traces()) return;
  const Traces traces(2, all_reduce_of_all);
  const auto hash = [&] {
    const ConfigResult result = traces.read("issue: streams");
    INFO(result.diagnostics);
    return result.points.at(0).file_hashes.at(traces.folder.path() + "/t");
  };
  const std::uint64_t before = hash();
  CHECK(hash() == before);
  traces.folder.write("t.1.et", trace_text({coll(1, 0, kMiB), comp(2, 1)}));
  CHECK(hash() != before);
  const auto resolved = resolved_json(traces.read("issue: streams").points.at(0))["workload"];
  CHECK(resolved["file"] == "t");
  CHECK(resolved["issue"] == "streams");
  CHECK_FALSE(resolved.contains("name"));
  CHECK_THAT(traces.read("name: dlrm").diagnostics, Contains("workload.name"));
}

TEST_CASE("Without protobuf every trace is refused") {
  if (reads_traces()) {
    fmt::print("skipped: built with protobuf\n");
    return;
  }
  CHECK_THAT(Traces(2, all_reduce_of_all).read().diagnostics,
             Contains("run.yaml:2:18: error: workload.file: ") && Contains("libprotobuf-dev"));
}

}  // namespace espalier
