#include "sims/cli/comparison.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "alg/schedule/algorithm_row.h"
#include "sims/cli/result_table.h"
#include "sims/experiment/result_fields.h"
#include "sims/point/collective_config.h"
#include "sims/study/compared_runs.h"

namespace espalier {

namespace {

using Json = nlohmann::ordered_json;

std::string string_in(const Json& result, const char* key) {
  const auto value = result.find(key);
  return value != result.end() && value->is_string() ? value->get<std::string>() : std::string();
}

// What the algorithms compete in: a training iteration, or the whole run. None for a failed run.
std::optional<double> time_ns_of(const Json& result) {
  if (!result.value("verified", false)) return std::nullopt;
  const auto training = result.find("training");
  const Json& owner = training == result.end() ? result : *training;
  const auto time = owner.find(training == result.end() ? "time_ns" : "iteration_ns");
  if (time == owner.end() || !time->is_number()) return std::nullopt;
  return time->get<double>();
}

std::string workload_of(const Json& result) {
  const std::string what =
      result.contains("step")       ? "step of " + string_in(result, "workload")
      : result.contains("workload") ? "iterations of " + string_in(result, "workload")
      : result.contains("network")
          ? "training of " + string_in(result, "network")
          : fmt::format("{} of {}", string_in(result, "op"), size_text(result));
  return fmt::format("{} on {}{} nodes", what,
                     result.contains(kComparedSystem) ? "" : string_in(result, "topology") + ", ",
                     result.at("nodes").dump());
}

// The same of a result among others. NCCL's choice may have moved to the preset of a switch that
// adds, and runs an all_to_all as a custom program: it competes with the algorithms of its input.
std::string workload_among(const Json& result, const std::vector<Json>& results) {
  const auto is_of_nccl = [](const Json& r) { return string_in(r, "algorithm") == kNcclAlgorithm; };
  for (const Json& other : results) {
    if (!is_of_nccl(result) || is_of_nccl(other) ||
        other.value("nodes", Json()) != result.value("nodes", Json()) ||
        other.value("size_bytes", Json()) != result.value("size_bytes", Json())) {
      continue;
    }
    const std::string op = string_in(result, "op");
    const std::string others = string_in(other, "op");
    if (others == op || (op == "custom" && others == "all_to_all")) return workload_of(other);
  }
  return workload_of(result);
}

// The simpler of two algorithms needs the smaller table. A program has no table; its largest
// context stands for it.
std::uint64_t table_entries(const Json& result) {
  for (const char* key : {"table_entries_max", "context_steps_max"}) {
    const auto entries = result.find(key);
    if (entries != result.end() && entries->is_number()) return entries->get<std::uint64_t>();
  }
  return 0;
}

// µm² of the schedule table of the largest NI; none for programs and plans, which have no table.
std::optional<double> table_area(const Json& result) {
  if (!result.contains("table_entries_max")) return std::nullopt;
  const auto area = result.find("area");
  if (area == result.end() || !area->is_object() || !area->contains("blocks")) return std::nullopt;
  for (const Json& block : area->at("blocks")) {
    if (string_in(block, "block") == "ni.schedule_table") return block.at("um2").get<double>();
  }
  return std::nullopt;
}

std::string microseconds(double nanoseconds) { return fmt::format("{:.1f}", nanoseconds / 1e3); }

std::string time_text(const Json& result) {
  if (const auto time = time_ns_of(result)) return microseconds(*time);
  return string_in(result, "failure") == kLoses ? "> " + fixed(result, "stopped_ns", 1, 1e-3) : "-";
}

std::string slower_text(const Json& result, double fastest) {
  if (const auto time = time_ns_of(result)) {
    return *time == fastest ? "+0.0 %" : fmt::format("{:+.1f} %", 100 * (*time / fastest - 1));
  }
  const std::string failure = string_in(result, "failure");
  return failure == kLoses ? "> 5 x" : failure == kPlannedToLose ? "planned > 5 x" : "-";
}

std::vector<std::string> published_tools(const Json& result) {
  std::vector<std::string> tools;
  for (const Json& each : result.value("published", Json::array())) {
    tools.push_back(string_in(each, "tool"));
  }
  return tools;
}

const Json* published_by(const std::string& tool, const Json& result) {
  if (!result.contains("published")) return nullptr;
  for (const Json& each : result.at("published")) {
    if (string_in(each, "tool") == tool) return &each;
  }
  return nullptr;
}

// "TE-CCL: 6.7 us, 1.03 times the best time here (microsoft/TE-CCL@c128bf2)."
std::string published_text(const Json& best) {
  std::string text;
  for (const std::string& tool : published_tools(best)) {
    const Json& published = *published_by(tool, best);
    text += fmt::format("{}: {} us, {:.3f} times the best time here ({}).\n", tool,
                        fixed(published, "time_ns", 2, 1e-3), published.at("speed").get<double>(),
                        string_in(published, "source"));
  }
  return text;
}

std::vector<ResultColumn> ranking_columns(const Json& best, double fastest, bool has_stopped) {
  std::vector<ResultColumn> columns{
      {"algorithm", true, [](const Json& r) { return string_in(r, "algorithm"); }},
      {"system", false, [](const Json& r) { return string_in(r, kComparedSystem); }}};
  for (ResultColumn& column : variant_columns()) columns.push_back(std::move(column));
  if (has_stopped) columns.push_back({"planned us", false, number_text("planned_ns", 1, 1e-3)});
  columns.push_back({"time us", true, time_text});
  columns.push_back({"slower", true, [fastest](const Json& r) { return slower_text(r, fastest); }});
  for (const std::string& tool : published_tools(best)) {
    columns.push_back({"of " + tool, true, [tool](const Json& r) {
                         const Json* published = published_by(tool, r);
                         return published == nullptr
                                    ? std::string("-")
                                    : fmt::format("{:.1f} %",
                                                  100 / published->at("speed").get<double>());
                       }});
  }
  if (best.contains("step")) {
    const std::vector<ResultColumn> answers = columns_of("step answer", {best});
    columns.insert(columns.end(), answers.begin(), answers.end());
    return columns;
  }
  columns.push_back({"GB/s", true, number_text("bandwidth_GBps", 2)});
  columns.push_back({"of bound", true, percent_text("bound_ratio")});
  columns.push_back({"table entries", true, [](const Json& r) {
                       const auto entries = r.find("table_entries_max");
                       return entries == r.end() || entries->is_null() ? "-" : entries->dump();
                     }});
  columns.push_back({"table um2", true, [](const Json& r) {
                       const auto area = table_area(r);
                       return area ? fmt::format("{:.0f}", *area) : std::string("-");
                     }});
  columns.push_back({"energy uJ", true, number_text("energy.priced_uJ", 1)});
  return columns;
}

// "multitree", with the settings that vary among the results.
std::string name_of(const Json& result, const std::vector<Json>& ranked) {
  std::string name = string_in(result, "algorithm");
  for (const ResultColumn& column : variant_columns()) {
    const std::string mine = column.text(result);
    const bool varies = std::any_of(ranked.begin(), ranked.end(), [&](const Json& other) {
      return string_in(other, "algorithm") == string_in(result, "algorithm") &&
             column.text(other) != mine;
    });
    if (varies) name += fmt::format(", {} {}", column.title, mine);
  }
  if (result.contains(kComparedSystem)) name += ", " + string_in(result, kComparedSystem);
  return name;
}

const Json& fastest_of(const std::vector<Json>& ranked) {
  return *std::min_element(ranked.begin(), ranked.end(), [](const Json& a, const Json& b) {
    return *time_ns_of(a) < *time_ns_of(b);
  });
}

// With the rule that puts the best one first if another one is faster.
std::string tie_text(const Ranking& ranking, const std::vector<Json>& ranked) {
  if (ranking.tied < 2) return {};
  std::vector<std::string> others;
  for (std::size_t i = 1; i < ranking.tied; ++i) others.push_back(name_of(ranked[i], ranked));
  std::string text = fmt::format("{} {} within {:.1f} % of it", fmt::join(others, ", "),
                                 others.size() == 1 ? "is" : "are", 100 * kTieShare);
  const Json& fastest = fastest_of(ranked);
  if (&fastest != &ranked.front()) {
    text += fmt::format(
        ", which counts as equal, and the smallest table comes first: it needs {} entries or "
        "steps, and {}, which takes {} us, needs {}",
        table_entries(ranked.front()), name_of(fastest, ranked), fixed(fastest, "time_ns", 3, 1e-3),
        table_entries(fastest));
  }
  return text + ".\n";
}

std::string stopped_text(const Ranking& ranking, const std::vector<Json>& results) {
  std::string text;
  for (const char* why : {kProvenSlowly, kPlannedToLose, kLoses}) {
    std::vector<std::string> names;
    for (const std::size_t i : ranking.stopped) {
      if (string_in(results[i], "failure") == why) names.push_back(name_of(results[i], results));
    }
    if (!names.empty()) text += fmt::format("{}: {}\n", fmt::join(names, ", "), why);
  }
  return text;
}

// What was not simulated, although it may be faster than the best.
std::string untried_text(const Ranking& ranking, const std::vector<Json>& results,
                         double fastest_ns) {
  std::string text;
  for (const std::size_t i : ranking.stopped) {
    const double planned = results[i].value("planned_ns", fastest_ns);
    if (planned >= fastest_ns) continue;
    text += fmt::format("; {} is planned to take {} us and was not simulated",
                        name_of(results[i], results), microseconds(planned));
  }
  return text;
}

}  // namespace

bool put_beside(const std::vector<PublishedTime>& times, std::vector<Json>& results) {
  bool any = false;
  for (Json& result : results) {
    const auto ours = time_ns_of(result);
    // The time of a training iteration is not the time of its collectives.
    if (!ours || result.contains("training") || !result.contains("op") ||
        !result.contains("size_bytes"))
      continue;
    for (const PublishedTime& time : times) {
      if (time.network != string_in(result, "topology") ||
          to_string(time.op) != string_in(result, "op") || result.at("size_bytes") != time.size) {
        continue;
      }
      const double theirs = static_cast<double>(time.picoseconds) * 1e-3;
      result["published"].push_back({{"tool", time.tool},
                                     {"time_ns", theirs},
                                     {"speed", theirs / *ours},
                                     {"source", time.source}});
      any = true;
    }
  }
  return any;
}

std::vector<Ranking> rank_results(const std::vector<Json>& results) {
  std::vector<Ranking> rankings;
  for (std::size_t i = 0; i < results.size(); ++i) {
    const bool stopped = results[i].contains("stopped_ns");
    if (!stopped && !time_ns_of(results[i])) continue;
    const std::string workload = workload_among(results[i], results);
    auto ranking = std::find_if(rankings.begin(), rankings.end(),
                                [&](const Ranking& other) { return other.workload == workload; });
    if (ranking == rankings.end()) ranking = rankings.insert(ranking, {workload, {}, 0});
    (stopped ? ranking->stopped : ranking->order).push_back(i);
  }
  for (Ranking& ranking : rankings) {
    const auto time = [&](std::size_t i) { return *time_ns_of(results[i]); };
    std::stable_sort(ranking.order.begin(), ranking.order.end(),
                     [&](std::size_t a, std::size_t b) { return time(a) < time(b); });
    if (ranking.order.empty()) continue;
    const double limit = time(ranking.order.front()) * (1 + kTieShare);
    const auto tie_end = std::find_if(ranking.order.begin(), ranking.order.end(),
                                      [&](std::size_t i) { return time(i) > limit; });
    // The algorithm that auto has taken stands before auto.
    const auto simplicity = [&](std::size_t i) {
      return std::pair(table_entries(results[i]),
                       string_in(results[i], "algorithm") == kAutoAlgorithm);
    };
    std::stable_sort(ranking.order.begin(), tie_end,
                     [&](std::size_t a, std::size_t b) { return simplicity(a) < simplicity(b); });
    ranking.tied = static_cast<std::size_t>(tie_end - ranking.order.begin());
    const auto planned = [&](std::size_t i) {
      return results[i].value("planned_ns", std::numeric_limits<double>::max());
    };
    std::stable_sort(ranking.stopped.begin(), ranking.stopped.end(),
                     [&](std::size_t a, std::size_t b) { return planned(a) < planned(b); });
  }
  return rankings;
}

std::string ranking_text(const Ranking& ranking, const std::vector<Json>& results) {
  if (ranking.order.empty()) {
    return fmt::format("{}\n\n{}\n", ranking.workload, stopped_text(ranking, results));
  }
  std::vector<Json> ranked;
  for (const std::size_t i : ranking.order) ranked.push_back(results[i]);
  std::vector<Json> rows = ranked;
  for (const std::size_t i : ranking.stopped) rows.push_back(results[i]);
  const Json& best = ranked.front();
  std::string text = fmt::format("{}\n\n{}{}", ranking.workload,
                                 table_text(ranking_columns(best, *time_ns_of(fastest_of(ranked)),
                                                            rows.size() != ranked.size()),
                                            rows),
                                 table_notes(ranked));
  text += stopped_text(ranking, results) + "\n";
  text += fmt::format("Best: {}, {} us", name_of(best, ranked), microseconds(*time_ns_of(best)));
  if (ranked.size() > ranking.tied) {
    const Json& next = ranked[ranking.tied];
    text += fmt::format(", {:.2f} times as fast as {}", *time_ns_of(next) / *time_ns_of(best),
                        name_of(next, ranked));
  }
  text += untried_text(ranking, results, *time_ns_of(best)) + ".\n";
  text += tie_text(ranking, ranked) + published_text(best);
  const auto ratio = best.find("bound_ratio");
  const std::string binding = string_in(best, "bound_binding");
  if (ratio != best.end() && ratio->is_number() && !binding.empty()) {
    text +=
        fmt::format("No algorithm can be faster than {} us on this network; what binds is: {}.\n",
                    fixed(best, "bound_ns", 1, 1e-3), binding);
    if (best.contains("two_phase_bound_ns")) {
      text += fmt::format(
          "A reduce_scatter that ends before its all_gather begins needs {} us at least.\n",
          fixed(best, "two_phase_bound_ns", 1, 1e-3));
    }
  }
  // At the bound, the sentence before this one is the verdict.
  if (text_in(best, field::explanation_limit_kind) != "bound") {
    const auto verdict = text_in(best, field::explanation_verdict);
    if (verdict) text += *verdict + "\n";
  }
  return text + "\n";
}

std::string crossover_text(const std::vector<Ranking>& rankings, const std::vector<Json>& results) {
  std::vector<Json> rows;  // the best of each ranking, with NCCL's result as a field
  bool has_nccl = false;
  for (const Ranking& ranking : rankings) {
    if (ranking.order.empty()) continue;
    Json& row = rows.emplace_back(results[ranking.order.front()]);
    for (const std::size_t i : ranking.order) {
      if (string_in(results[i], "algorithm") == kNcclAlgorithm) row[kNcclAlgorithm] = results[i];
    }
    has_nccl |= row.contains(kNcclAlgorithm);
  }
  if (rows.size() < 2) return {};
  const auto of_nccl = [&](const auto& text) {
    return [=](const Json& r) {
      return r.contains(kNcclAlgorithm) ? text(r.at(kNcclAlgorithm)) : std::string("-");
    };
  };
  std::vector<ResultColumn> columns{{"size", true, size_text},
                                    {"best", true, [](const Json& r) { return name_of(r, {}); }},
                                    {"time us", true, time_text},
                                    {"GB/s", true, number_text("bandwidth_GBps", 2)},
                                    {"of bound", true, percent_text("bound_ratio")}};
  if (has_nccl) {
    columns.push_back({"NCCL takes", true, of_nccl([](const Json& r) {
                         const std::string choice = string_in(r, "choice");
                         return choice.substr(0, choice.find(';'));
                       })});
    columns.push_back({"NCCL us", true, of_nccl(time_text)});
    columns.push_back({"slower", true, [](const Json& r) {
                         return r.contains(kNcclAlgorithm)
                                    ? slower_text(r.at(kNcclAlgorithm), *time_ns_of(r))
                                    : std::string("-");
                       }});
  }
  return fmt::format("Best by size\n\n{}{}\n", table_text(columns, rows),
                     has_nccl ? "NCCL's times contain the launch of a kernel; NIs that run "
                                "schedules have none.\n"
                              : "");
}

std::string skipped_text(const std::vector<SkippedAlgorithm>& skipped) {
  std::map<std::string, std::vector<std::string>> by_reason;
  std::vector<std::string> reasons;  // in order
  for (const SkippedAlgorithm& each : skipped) {
    auto& names = by_reason[each.reason];
    if (names.empty()) reasons.push_back(each.reason);
    if (std::find(names.begin(), names.end(), each.name) == names.end()) names.push_back(each.name);
  }
  if (reasons.empty()) return {};
  std::string text = "Not compared:\n";
  for (const std::string& reason : reasons) {
    text += fmt::format("  {}: {}\n", fmt::join(by_reason[reason], ", "), reason);
  }
  return text;
}

}  // namespace espalier
