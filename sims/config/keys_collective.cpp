// Keys of section `collective`: operation, algorithm and rank order.
#include <fmt/format.h>

#include <algorithm>

#include "sims/config/key_table.h"

namespace espalier {

namespace {

using Names = std::vector<std::string>;

void add_rank_order_keys(KeyTable& table) {
  const auto order =
      table.group("collective", &RunPoint::collective, &CollectiveConfig::rank_order);
  order.path("rank_order", &RankOrderConfig::source)
      .word(RankOrderConfig::kIdentity)
      .names({RankOrderConfig::kRandom})
      .optional()
      .doc(
          "assignment of ranks to nodes; identity: rank r is node r; random: drawn from the seed; "
          "or a file that espalier reorder writes, relative to this file's folder");
  order.integer("rank_order_seed", &RankOrderConfig::seed)
      .only(table.where("collective.rank_order", {RankOrderConfig::kRandom}))
      .doc("seed of the random order");
}

void add_plan_keys(KeyTable& table) {
  using Config = CollectiveConfig;
  const auto collective = table.group("collective", &RunPoint::collective);
  collective.integer("chunks", &Config::chunks)
      .range(1, 65536)
      .only_where_algorithm_reads_it()
      .doc("number of equal chunks; each chunk has its own order of dimensions");
  collective.integer("threshold_divisor", &Config::threshold_divisor)
      .range(1, 65536)
      .only_where_algorithm_reads_it()
      .doc(
          "two loads count as equal if they differ by less than the load of a stage of chunk size "
          "/ this number");
  collective.boolean("loads_start_at_fixed_delay", &Config::loads_start_at_fixed_delay)
      .only_where_algorithm_reads_it()
      .doc(
          "true: a dimension's load starts at the latency of its steps, as the paper's text says; "
          "false: at 0");
  collective.choice("parts", &Config::parts)
      .only_where_algorithm_reads_it()
      .doc(
          "NPUs' parts of a chunk; equal: padded to equal size; exact: cut between elements; auto: "
          "equal where padding adds at most 1 %");
}

void add_program_keys(KeyTable& table) {
  using Config = ProgramConfig;
  const auto program =
      table.group("collective.program", &RunPoint::collective, &CollectiveConfig::program);
  const auto runs = [&](bool (*is_so)(const Algorithm&)) {
    return program.only(table.where(kAlgorithmKey, algorithms_where(is_so)));
  };
  const auto from_file =
      runs([](const Algorithm& a) { return a.is_program() && a.program == nullptr; });
  from_file.path("file", &Config::file)
      .required()
      .doc(
          "file of the program, MSCCL XML (.xml) or a trace (.trace), relative to this file's "
          "folder");
  from_file.path("promises", &Config::promises)
      .doc(
          "file with the contents that the output chunks of a custom collective must have, "
          "relative to this file's folder");
  program.integer("channels", &Config::channels)
      .range(1, 32)
      .only_where_algorithm_reads_it()
      .doc("number of channels over which a built-in program spreads its steps");
  program.integer("instances", &Config::instances)
      .range(1, 32)
      .only_where_algorithm_reads_it()
      .doc(
          "number of copies of a built-in program; each copy has a share of the data and its own "
          "channels");
  program.integer("ranks_per_server", &Config::ranks_per_server)
      .range(1, 65536)
      .only_where_algorithm_reads_it()
      .word("auto")
      .doc(
          "number of ranks that a hierarchical program treats as one server; auto: the number of "
          "GPUs per server of gpu_cluster");
  runs([](const Algorithm& a) { return a.is_program(); })
      .choice("protocol", &Config::protocol)
      .doc(
          "protocol of all connections; auto: the protocol in the program's file, Simple for a "
          "built-in program gc3_*, Message for other built-in programs");
}

}  // namespace

std::vector<std::string> algorithms_where(const std::function<bool(const Algorithm&)>& is_so) {
  std::vector<std::string> names;
  for (const Algorithm& algorithm : algorithms()) {
    if (is_so(algorithm)) names.push_back(algorithm.name);
  }
  return names;
}

KeyCondition where_algorithm_reads(const std::string& key) {
  std::vector<std::string> names;
  std::vector<std::string> ignored_with;
  for (const Algorithm& algorithm : algorithms()) {
    const AlgorithmParameter* parameter = algorithm.parameter(key);
    if (parameter == nullptr) continue;
    names.push_back(algorithm.name);
    for (const CollectiveOp op : parameter->ignored_with) {
      const std::string word = to_string(op);
      const bool is_new =
          std::find(ignored_with.begin(), ignored_with.end(), word) == ignored_with.end();
      if (is_new) ignored_with.push_back(word);
    }
  }
  std::sort(names.begin(), names.end());
  std::string sentence = fmt::format("{} is {}", kAlgorithmKey, fmt::join(names, " or "));
  if (!ignored_with.empty()) {
    sentence += fmt::format(", and collective.op is not {}", fmt::join(ignored_with, " or "));
  }
  return {kAlgorithmKey, sentence, [key](const RunPoint& point) {
            const Algorithm* algorithm = find_algorithm(point.collective->algorithm);
            return algorithm != nullptr && algorithm->row_on(point.system.topology.is_dimensional())
                                               .reads(key, point.collective->op);
          }};
}

void add_collective_keys(KeyTable& table) {
  using Config = CollectiveConfig;
  const auto collective = table.group("collective", &RunPoint::collective);
  // A workload has operations of its own, whose elements are FP16.
  collective.choice("op", &Config::op)
      .only(KeyTable::without({"workload"}))
      .doc("collective operation");
  collective
      .named("algorithm", &Config::algorithm,
             algorithms_where([](const Algorithm&) { return true; }))
      .file_as("program", {".xml", ".trace"}, "all", {kAutoAlgorithm})
      .doc(
          "algorithm that generates the schedule, plan or program (espalier list algorithms); "
          "auto: the fastest schedule, program or plan; nccl: what NCCL takes on the machine of "
          "the "
          "preset; all: every other algorithm that suits the network and the operation; a "
          "program's "
          "file: that program. In a list, an algorithm that does not suit is skipped");
  Key& algorithm = table.last();
  algorithm.set = [set = algorithm.set](RunPoint& point, const Value& value) {
    set(point, value);
    if (!value.text.empty()) point.collective->program.file = value.text;
  };
  collective.size("size", &Config::size)
      .range(1, kLargestCollective)
      .only(KeyTable::without({"training", "workload"}))
      .required()
      .doc("size of each rank's input; for all_gather, size of the gathered result");
  collective.size("element", &Config::element_bytes)
      .range(1, 64 << 10)
      .only(KeyTable::without({"workload"}))
      .doc("size of an element; data are cut only between elements");
  collective.number(ValueType::name, "tree_order", &Config::remaining_height_first)
      .names({"root", "remaining_height"})
      .only_where_algorithm_reads_it()
      .doc("tree that takes its turn first in MultiTree (section III-C2)");
  collective.choice("step_end", &Config::step_end)
      .word("paper")
      .optional()
      .only_where_algorithm_reads_it()
      .doc(
          "end of a timestep in the construction of MultiTree's trees; paper: no tree can grow any "
          "more (Algorithm 1); authors: the last tree of a round did not grow, and trees take "
          "turns in reverse order after the first round");
  collective.choice("line_order", &Config::line_order)
      .word("folded")
      .optional()
      .only_where_algorithm_reads_it()
      .doc(
          "rings of 2d_ring along the lines of a mesh; folded: 0 2 4 ... 5 3 1; natural: 0 1 2 ... "
          "in both directions, and back over the whole line");
  collective.integer("segments", &Config::segments)
      .range(1, 64 << 10)
      .word("auto")
      .only_where_algorithm_reads_it()
      .doc(
          "number of pieces, none of them empty; dbtree: of each tree's half of the data (auto: "
          "pieces of about 8 KiB, 1 to 64); multitree_translated: of a chunk (auto: 1 to 16, by "
          "size); window, rs_window_ag, line: of a message (auto: 1 to 32, by size)");
  collective.boolean("bitwise_identical", &Config::bitwise_identical)
      .doc(
          "true: refuse built-in algorithms whose ranks add in different orders, so that "
          "floating-point sums differ in their last bits");
  add_rank_order_keys(table);
  collective.integer("root", &Config::root)
      .range(0, 65535)
      .nodes()
      .only_where_algorithm_reads_it()
      .doc("rank that has the data of a broadcast, or gets the sum of a reduce; a name is a node");
  table.group("collective", &RunPoint::collective, &CollectiveConfig::counts)
      .path("counts", &CountsConfig::source)
      .word(CountsConfig::kZipf)
      .only(table.where("collective.op", {"all_to_allv", "all_gatherv", "reduce_scatterv"}))
      .doc(
          "how much each rank sends to each other, or owns; zipf: rank r gets a share in "
          "proportion to 1 / (r + 1); or a table of weights (docs/collectives.md), relative to "
          "this file's folder");
  collective.number(ValueType::integer, "ranks", &Config::ranks)
      .range(0, 65535)
      .nodes()
      .list(ListOf::any_number)
      .word("all")
      .only(table.where(kAlgorithmKey, algorithms_where([](const Algorithm& a) {
                          return a.generator != nullptr;
                        })))
      .only(KeyTable::without({"training", "workload"}))
      .optional()
      .doc(
          "nodes of the ranks of a process group, rank 0 first; the other nodes take no part; all: "
          "rank r is node r");
  ValueField ranks = value_field("ranks", ValueType::integer, 0, 65535, true);
  ranks.shape.list = ListOf::any_number;
  ranks.shape.is_node = true;
  collective
      .records<GroupConfig>("groups", &Config::groups,
                            {{&GroupConfig::ranks, std::move(ranks)},
                             {&GroupConfig::size,
                              value_field("size", ValueType::size, 1, kLargestCollective, false)}})
      .only(table.where(kAlgorithmKey, algorithms_where([](const Algorithm& a) {
                          return a.generator != nullptr;
                        })))
      .only(KeyTable::without({"training", "workload"}))
      .only({"collective.ranks", "collective.ranks names no process group",
             [](const RunPoint& point) { return point.collective->ranks.empty(); }})
      .exclusive()
      .doc(
          "process groups that run the collective at the same time, each on data of its own: [[0, "
          "1], [2, 3]]; size: of the group's data, otherwise collective.size");
  collective.boolean("relay", &Config::relay)
      .only_where_algorithm_reads_it()
      .only({"collective.ranks", "collective.ranks or collective.groups names a process group",
             [](const RunPoint& point) {
               return !point.collective->ranks.empty() || !point.collective->groups.empty();
             }})
      .doc(
          "true: nodes outside of a process group store messages and send them on, and add to "
          "them; false: their NIs do nothing");
  collective.integer("base", &Config::base)
      .range(2, 64)
      .only_where_algorithm_reads_it()
      .doc("number of ranks in a group, which is the base of the ranks' digits");
  const auto call = collective.only(KeyTable::without({"training", "workload"}));
  constexpr std::uint64_t kMostCycles = 100'000'000;
  call.number(ValueType::label, "choice", &Config::choice)
      .doc("what algorithm nccl took and wrote into the other keys; espalier writes it for people");
  call.cycles("launch_cycles", &Config::launch_cycles)
      .range(0, kMostCycles)
      .word("none")
      .optional()
      .doc("cycles from the hosts' call to the start of the collective");
  call.cycles("host_cycles", &Config::host_cycles)
      .range(0, kMostCycles)
      .word("none")
      .optional()
      .doc(
          "cycles in which the hosts prepare one call while the call before runs: of calls one "
          "after the other, each takes at least so long");
  add_plan_keys(table);
  add_program_keys(table);
}

}  // namespace espalier
