#include "sims/formats/llm_workload.h"

#include <fmt/format.h>

#include <catch2/catch.hpp>

#include "config_test_support.h"

namespace espalier {

using namespace config_test;

namespace {

struct ParsedWork {
  std::shared_ptr<const WorkGraph> graph;
  std::string said;
};

ParsedWork parse_work(const std::string& text, std::uint32_t ranks) {
  Diagnostics diagnostics;
  ParsedWork parsed;
  CHECK(is_llm_workload(text));
  parsed.graph = parse_llm_workload("w.txt", text, ranks, diagnostics);
  parsed.said = diagnostics.text();
  return parsed;
}

// A rank's work in one line: "0 a forward 700", "1 a forward all_reduce 8 TP <0".
std::vector<std::string> work_lines(const std::string& text, std::uint32_t ranks) {
  const ParsedWork parsed = parse_work(text, ranks);
  INFO(parsed.said);
  REQUIRE(parsed.graph);
  const WorkGraph& graph = *parsed.graph;
  std::vector<std::string> lines;
  REQUIRE(graph.ranks.size() == ranks);
  const RankWork& work = *graph.ranks.back();
  for (std::size_t n = 0; n < work.nodes.size(); ++n) {
    const WorkNode& node = work.nodes[n];
    std::string line = fmt::format("{} {}", n, graph.names.at(node.name));
    line += node.kind == WorkKind::compute
                ? fmt::format(" {}", node.picoseconds / 1000)
                : fmt::format(" {} {} {}", to_string(node.op), node.bytes,
                              graph.groups.at(node.group).name);
    for (std::size_t w = work.first_wait[n]; w < work.first_wait[n + 1]; ++w) {
      line += fmt::format(" <{}", work.waits[w]);
    }
    lines.push_back(line);
  }
  return lines;
}

// The sets of a group, "0 1|2 3".
std::string sets_of_group(const WorkGraph& graph, const std::string& name) {
  std::string text;
  for (const WorkGroup& group : graph.groups) {
    if (group.name != name) continue;
    for (const auto& set : group.sets) {
      text += fmt::format("{}{}", text.empty() ? "" : "|", fmt::join(set, " "));
    }
  }
  return text;
}

const std::string kStep =
    "HYBRID_TRANSFORMER_FWD_IN_BCKWD model_parallel_NPU_group: 2 checkpoints: 0 "
    "checkpoint_initiates: 0\n";

}  // namespace

TEST_CASE("Of a training step only the collectives of the weights' gradients run beside others") {
  CHECK(work_lines(kStep + "2\r\n"
                           "a -1 700 ALLREDUCE 8 350 REDUCESCATTER 16 340 ALLREDUCE 32 100\n"
                           "b\t-1\t70\t\tNONE    0\t35 ALLGATHER 64 34 ALLGATHER 128 0 test",
                   4) ==
        std::vector<std::string>{
            "0 a forward 700", "1 a forward all_reduce 8 TP <0", "2 b forward 70 <1",
            "3 b gradient of input 35 <2", "4 b gradient of input all_gather 64 TP <3",
            "5 b gradient of weights 34 <4", "6 b gradient of weights all_gather 128 DP <5",
            "7 a gradient of input 350 <5", "8 a gradient of input reduce_scatter 16 TP <7",
            "9 a gradient of weights 340 <8", "10 a gradient of weights all_reduce 32 DP <9",
            "11 a update 100 <10"});
}

TEST_CASE("Tensor-parallel ranks are neighbours; experts and copies are strides of them apart") {
  const ParsedWork parsed = parse_work(
      "HYBRID_TRANSFORMER model_parallel_NPU_group: 2 ep: 2 pp: 2 vpp: 3 ga: 4 all_gpus: 16 "
      "pp_comm 64\n1\n"
      "moe -1 0 ALLTOALL 8 0 ALLTOALL_EP 8 0 ALLREDUCE 8 0\n",
      16);
  REQUIRE(parsed.graph);
  CHECK(sets_of_group(*parsed.graph, "TP") == "0 1|2 3|4 5|6 7|8 9|10 11|12 13|14 15");
  CHECK(sets_of_group(*parsed.graph, "EP") == "0 2|1 3|4 6|5 7|8 10|9 11|12 14|13 15");
  CHECK(sets_of_group(*parsed.graph, "DP") == "0 4 8 12|1 5 9 13|2 6 10 14|3 7 11 15");
  CHECK(parsed.said.find("w.txt:1:1: warning: the pipeline is not simulated: the time is that of "
                         "one stage. SimAI adds 1/12 of it, and 24 transfers of pp_comm bytes") ==
        0);
  const ParsedWork experts = parse_work(
      "HYBRID_TRANSFORMER model_parallel_NPU_group: 2 ep: 2\n1\n"
      "moe -1 0 NONE 0 0 NONE 0 0 ALLGATHER_DP_EP 8 0\n",
      16);
  REQUIRE(experts.graph);
  CHECK(experts.said.empty());
  CHECK(sets_of_group(*experts.graph, "DP_EP") == "0 4 8 12|1 5 9 13|2 6 10 14|3 7 11 15");
}

TEST_CASE("A policy says which ranks hold a model") {
  const std::string line = "1\na -1 0 ALLREDUCE 8 0 NONE 0 0 ALLREDUCE 16 0";
  const auto sets = [&](const std::string& policy, const std::string& end = "\n") {
    const ParsedWork parsed = parse_work(policy + "\n" + line + end, 4);
    INFO(parsed.said);
    REQUIRE(parsed.graph);
    std::string all;
    for (const WorkNode& node : parsed.graph->ranks[0]->nodes) {
      const WorkGroup& group = parsed.graph->groups[node.group];
      all += fmt::format("{}: {}; ", node.bytes, sets_of_group(*parsed.graph, group.name));
    }
    return all;
  };
  CHECK(sets("DATA") == "16: 0 1 2 3; ");
  CHECK(sets("MODEL") == "8: 0 1 2 3; ");
  CHECK(sets("MICRO") == "16: 0 1 2 3; ");
  const std::string two = " model_parallel_NPU_group: 2";
  CHECK(sets("HYBRID_DATA_MODEL" + two) == "8: 0 2|1 3; 16: 0 1|2 3; ");
  CHECK(sets("HYBRID_MODEL_DATA" + two) == "8: 0 1|2 3; 16: 0 2|1 3; ");
  CHECK(sets("HYBRID_CUSTOMIZED", " DATA\n") == "16: 0 1 2 3; ");
  CHECK(sets("HYBRID_CUSTOMIZED" + two, " HYBRID_DATA_MODEL\n") == "8: 0 2|1 3; 16: 0 1|2 3; ");
}

TEST_CASE("MICRO measures its collectives one after the other") {
  CHECK(work_lines("MICRO\n3\nm -1 1 NONE 0 1 NONE 0 1 ALLGATHER 4096 1\n"
                   "m -1 1 NONE 0 1 NONE 0 1 REDUCESCATTER 0 1\n"
                   "m -1 1 NONE 0 1 NONE 0 1 ALLTOALL 8192 1\n",
                   8) ==
        std::vector<std::string>{"0 m all_gather 4096 all", "1 m all_to_all 8192 all <0"});
}

TEST_CASE("The forward pass is repeated from a checkpoint before the gradient that needs it") {
  std::string text =
      "HYBRID_TRANSFORMER_FWD_IN_BCKWD model_parallel_NPU_group: 1 checkpoints: 1 0 "
      "checkpoint_initiates: 1 2\n3\n";
  for (const char* name : {"a", "b", "c"}) {
    text += fmt::format("{} -1 10 NONE 0 0 NONE 0 20 NONE 0 1\n", name);
  }
  CHECK(work_lines(text, 2) ==
        std::vector<std::string>{"0 a forward 10", "1 b forward 10 <0", "2 c forward 10 <1",
                                 "3 a repeated 10 <2", "4 b repeated 10 <3",
                                 "5 c gradient of weights 20 <4", "6 b gradient of weights 20 <5",
                                 "7 a gradient of weights 20 <6"});
}

TEST_CASE("The operations of AICB's table follow one another") {
  const std::string head =
      "[rank0 ~ rank7]\n"
      "comm_type,comm_group,comm_group_size,msg_size,stage,dst,src,additional,_elapsed_time\n";
  const std::string text = head +
                           "CommType.broadcast,CommGroup.tp_group,2,16384,forward,None,0,,None\n"
                           "CommType.all_reduce,CommGroup.dp_group,4,8,init.model,None,None,,None\n"
                           "CommType.all_gather,CommGroup.tp_group,2,0,step,None,None,,None\n"
                           "CommType.barrier,CommGroup.all,8,0,init,None,None,,None\n"
                           "CommType.epoch_end,None,None,0,,None,None,,None\n";
  CHECK(work_lines(text, 8) == std::vector<std::string>{"0 forward broadcast 16384 tp_group",
                                                        "1 init.model all_reduce 8 dp_group <0",
                                                        "2 init all_reduce 4 all <1"});
  const ParsedWork parsed = parse_work(text, 8);
  CHECK(sets_of_group(*parsed.graph, "tp_group") == "0 1|2 3|4 5|6 7");
  CHECK(sets_of_group(*parsed.graph, "dp_group") == "0 2 4 6|1 3 5 7");
}

TEST_CASE("Work that cannot be understood is refused with its place") {
  const std::string policy = "HYBRID_TRANSFORMER model_parallel_NPU_group: 2";
  const std::string line = "a -1 1 NONE 0 1 NONE 0 1 ALLREDUCE 8 1\n";
  const std::string table =
      "[rank0 ~ rank7]\ncomm_type,comm_group,comm_group_size,msg_size,stage,dst,src\n";
  const std::vector<std::pair<std::string, std::string>> refused{
      {"HYBRID_DLRM\n1\n" + line, "w.txt:1:1: error: policy 'HYBRID_DLRM' is not known"},
      {"HYBRID_DATA_MODEL\n1\n" + line,
       "w.txt:1:1: error: 'HYBRID_DATA_MODEL' does not say how many ranks hold"},
      {"HYBRID_TRANSFORMER model_parallel_NPU_group: 3\n1\n" + line,
       "w.txt:1:1: error: TP: groups of 3 ranks, 1 apart, do not fill 8 ranks"},
      {policy + " cp: 2\n1\n" + line, "w.txt:1:48: error: parameter 'cp' is not known"},
      {policy + " ep: 1 ep: 1\n1\n" + line, "w.txt:1:54: error: the parameter stands twice"},
      {policy + " ep:\n1\n" + line, "w.txt:1:51: error: no value for 'ep'"},
      {policy + " checkpoints: 2 1\n1\n" + line, "w.txt:1:61: error: checkpoints: 2 is out of"},
      {policy + " all_gpus: 9216\n1\n" + line,
       "w.txt:1:58: error: the work is that of 9216 ranks, the network has 8"},
      {policy + "\n839\n" + line,
       "w.txt:2:1: error: the file states '839' lines of work and has 1"},
      {policy + "\n1\n" + line + line,
       "w.txt:2:1: error: the file states '1' lines of work and has 2"},
      {policy, "w.txt:1:19: error: the file states '' lines of work and has 0"},
      {policy + "\n1\na -1 1 NONE 0 1 NONE 0\n", "w.txt:3:1: error: found 8 columns in place of"},
      {policy + "\n1\na -1 1 ALLREDUCEALLTOALL 8 1 NONE 0 1 NONE 0 1\n",
       "w.txt:3:8: error: communication 'ALLREDUCEALLTOALL' is not known"},
      {policy + "\n1\na -1 1 ALLTOALL_EP 8 1 NONE 0 1 NONE 0 1\n",
       "w.txt:3:8: error: 'ALLTOALL_EP': the first line has no 'ep'"},
      {policy + " ep: 8\n1\na -1 1 ALLTOALL_EP 8 1 NONE 0 1 NONE 0 1\n",
       "w.txt:1:1: error: EP: groups of 8 ranks, 2 apart, do not fill 8 ranks"},
      {policy + "\n1\na -1 -1 NONE 0 1 NONE 0 1 NONE 0 1\n", "w.txt:3:6: error: computation:"},
      {policy + " checkpoint_initiates: 1 0\n1\n" + line,
       "w.txt:1:72: error: no checkpoint before this line"},
      {"HYBRID_CUSTOMIZED\n1\na -1 1 NONE 0 1 NONE 0 1 NONE 0 1 HYBRID_MODEL_DATA\n",
       "w.txt:3:35: error: 'HYBRID_MODEL_DATA' does not say how many ranks hold a model"},
      {"[rank0 ~ rank127]\n", "w.txt:1:10: error: the work is that of 128 ranks"},
      {"[rank0, rank1]\n", "w.txt:1:1: error: expected the ranks, '[rank0 ~ rank127]'"},
      {"[rank0 ~ rank7]\ncomm_group\n", "w.txt:2:1: error: expected the names of columns"},
      {table + "CommType.isend,CommGroup.pp_group,2,8,x,1,0\n",
       "w.txt:3:1: error: operation 'CommType.isend' is not known"},
      {table + "CommType.all_reduce,CommGroup.pp_group,2,8,x,None,None\n",
       "w.txt:3:21: error: group 'CommGroup.pp_group' is not known"},
      {table + "CommType.all_reduce,CommGroup.tp_group,3,8,x,None,None\n",
       "w.txt:3:21: error: tp_group: groups of 3 ranks, 1 apart, do not fill 8 ranks"},
      {table + "CommType.broadcast,CommGroup.tp_group,2,8,x,None,1\n",
       "w.txt:3:50: error: src: only the first rank of a group may be the root"},
      {table + "CommType.all_reduce,CommGroup.tp_group\n",
       "w.txt:3:21: error: expected seven columns"},
  };
  for (const auto& [text, wanted] : refused) {
    const ParsedWork parsed = parse_work(text, 8);
    INFO(text);
    CHECK_FALSE(parsed.graph);
    CHECK(parsed.said.substr(0, wanted.size()) == wanted);
  }
  CHECK_FALSE(is_llm_workload("ready,from,to,bytes\n"));
  CHECK_FALSE(is_llm_workload(""));
}

TEST_CASE("All 9216 ranks of a job share one rank's work") {
  std::string text =
      "HYBRID_TRANSFORMER_FWD_IN_BCKWD model_parallel_NPU_group: 2 ep: 16 pp: 12 vpp: 8 ga: 24 "
      "all_gpus: 9216 checkpoints: 0 checkpoint_initiates: 0 pp_comm 50331648\n1789\n";
  for (int l = 0; l < 1789; ++l) {
    text +=
        "mlp -1 7956367 ALLTOALL_EP 100663296 7956367 ALLGATHER 1572864 1 "
        "ALLGATHER_DP_EP 19327352832 100\n";
  }
  const ParsedWork parsed = parse_work(text, 9216);
  REQUIRE(parsed.graph);
  const WorkGraph& graph = *parsed.graph;
  CHECK(graph.ranks.front() == graph.ranks.back());
  CHECK(graph.ranks[0]->nodes.size() == std::size_t{1789} * 7);
  REQUIRE(graph.groups.size() == 4);
  CHECK(graph.groups[1].sets.size() == 9216 / 16);
  CHECK(graph.groups[3].sets[0].size() == 24);
  CHECK(graph.groups[3].sets[0][1] == 2 * 12 * 16);
}

TEST_CASE("workload.file is a text if its contents are, and a text needs no keys of traces") {
  const TemporaryFolder folder("llm_workload");
  const std::string text =
      folder.write("step", "DATA\n1\na -1 7 NONE 0 7 NONE 0 7 ALLREDUCE 64 0\n");
  const std::string config =
      kGoodSystem + "collective: {algorithm: ring}\nworkload: {file: " + text;
  const ConfigResult good = read_run_config_text("good.yaml", config + "}\n", "");
  INFO(good.diagnostics);
  REQUIRE(good.ok);
  REQUIRE(good.points.front().workload->graph);
  CHECK(good.points.front().workload->graph->ranks.size() == 16);
  CHECK(good.points.front().workload->issue == IssueOrder::streams);
  const ConfigResult issue = read_run_config_text("a.yaml", config + ", issue: lowest_id}\n", "");
  CHECK(issue.points.front().workload->issue == IssueOrder::lowest_id);
  const Marked marked = unmark(config + ", element: @2B}\n");
  const ConfigResult refused = read_run_config_text("a.yaml", marked.text, "");
  INFO(refused.diagnostics);
  CHECK(find_at(parse_diagnostics(refused.diagnostics), marked,
                "workload.element: applies only if workload.file names traces") != nullptr);
}

}  // namespace espalier
