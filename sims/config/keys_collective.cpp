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
      .optional();
  order.integer("rank_order_seed", &RankOrderConfig::seed)
      .only(table.where("collective.rank_order", {RankOrderConfig::kRandom}));
}

void add_plan_keys(KeyTable& table) {
  using Config = CollectiveConfig;
  const auto collective = table.group("collective", &RunPoint::collective);
  collective.integer("chunks", &Config::chunks).range(1, 65536).only_where_algorithm_reads_it();
  collective.integer("threshold_divisor", &Config::threshold_divisor)
      .range(1, 65536)
      .only_where_algorithm_reads_it();
  collective.boolean("loads_start_at_fixed_delay", &Config::loads_start_at_fixed_delay)
      .only_where_algorithm_reads_it();
  collective.choice("parts", &Config::parts).only_where_algorithm_reads_it();
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
  from_file.path("file", &Config::file).required();
  from_file.path("promises", &Config::promises);
  program.integer("channels", &Config::channels).range(1, 32).only_where_algorithm_reads_it();
  program.integer("instances", &Config::instances).range(1, 32).only_where_algorithm_reads_it();
  program.integer("ranks_per_server", &Config::ranks_per_server)
      .range(1, 65536)
      .only_where_algorithm_reads_it()
      .word("auto");
  runs([](const Algorithm& a) { return a.is_program(); }).choice("protocol", &Config::protocol);
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
  collective.choice("op", &Config::op).only(KeyTable::without({"workload"}));
  collective
      .named("algorithm", &Config::algorithm,
             algorithms_where([](const Algorithm&) { return true; }))
      .file_as("program", {".xml", ".trace", ".json"}, "all", {kAutoAlgorithm});
  Key& algorithm = table.last();
  algorithm.shape.missing = {
      "rccl",
      "needs the tables of RCCL's cost model, which are not known here, so what RCCL takes "
      "is not either",
      "nccl, with a machine file whose nccl.tuning has your rows (docs/silicon.md); or a program, "
      "for example nccl_ring"};
  algorithm.set = [set = algorithm.set](RunPoint& point, const Value& value) {
    set(point, value);
    if (!value.text.empty()) point.collective->program.file = value.text;
  };
  collective.size("size", &Config::size)
      .range(1, kLargestCollective)
      .only(KeyTable::without({"training", "workload"}))
      .required();
  collective.size("element", &Config::element_bytes)
      .range(1, 64 << 10)
      .only(KeyTable::without({"workload"}));
  collective.number(ValueType::name, "tree_order", &Config::remaining_height_first)
      .names({"root", "remaining_height"})
      .only_where_algorithm_reads_it();
  collective.choice("step_end", &Config::step_end)
      .word("paper")
      .optional()
      .only_where_algorithm_reads_it();
  collective.choice("line_order", &Config::line_order)
      .word("folded")
      .optional()
      .only_where_algorithm_reads_it();
  collective.integer("segments", &Config::segments)
      .range(1, 64 << 10)
      .word("auto")
      .only_where_algorithm_reads_it();
  collective.boolean("bitwise_identical", &Config::bitwise_identical);
  add_rank_order_keys(table);
  collective.integer("root", &Config::root).range(0, 65535).nodes().only_where_algorithm_reads_it();
  table.group("collective", &RunPoint::collective, &CollectiveConfig::counts)
      .path("counts", &CountsConfig::source)
      .word(CountsConfig::kZipf)
      .only(table.where("collective.op", {"all_to_allv", "all_gatherv", "reduce_scatterv"}));
  collective.number(ValueType::integer, "ranks", &Config::ranks)
      .range(0, 65535)
      .nodes()
      .list(ListOf::any_number)
      .word("all")
      .only(table.where(kAlgorithmKey, algorithms_where([](const Algorithm& a) {
                          return a.generator != nullptr;
                        })))
      .only(KeyTable::without({"training", "workload"}))
      .optional();
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
      .exclusive();
  collective.boolean("relay", &Config::relay)
      .only_where_algorithm_reads_it()
      .only({"collective.ranks", "collective.ranks or collective.groups names a process group",
             [](const RunPoint& point) {
               return !point.collective->ranks.empty() || !point.collective->groups.empty();
             }});
  collective.integer("base", &Config::base).range(2, 64).only_where_algorithm_reads_it();
  const auto call = collective.only(KeyTable::without({"training", "workload"}));
  constexpr std::uint64_t kMostCycles = 100'000'000;
  call.number(ValueType::label, "choice", &Config::choice);
  call.cycles("launch_cycles", &Config::launch_cycles)
      .range(0, kMostCycles)
      .word("none")
      .optional();
  call.cycles("host_cycles", &Config::host_cycles).range(0, kMostCycles).word("none").optional();
  add_plan_keys(table);
  add_program_keys(table);
}

}  // namespace espalier
