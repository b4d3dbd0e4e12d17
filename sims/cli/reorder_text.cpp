#include "sims/cli/reorder_text.h"

#include <fmt/format.h>

#include "sims/cli/version.h"
#include "sims/config/resolved.h"
#include "sims/point/enum_names.h"

namespace espalier {

namespace {

using Json = nlohmann::ordered_json;

constexpr double kPercent = 100;

std::string model_name(const CostModelRequest& model) {
  std::string name = fmt::format("{}, {}, {}", name_of(model.model), name_of(model.form),
                                 name_of(model.objective));
  if (model.model == OrderModel::bcube) name += fmt::format(", base {}", model.base);
  return name;
}

std::string optimal_text(const OrderStudy& study) {
  if (study.best.proven) return "proven";
  if (study.bound == 0) return "not proven";
  return fmt::format("not proven; at most {:.1f} % above the bound", kPercent * study.gap());
}

const StudiedOrder& chosen(const OrderStudy& study, OrderDirection direction) {
  return direction == OrderDirection::worst ? study.worst : study.best;
}

Json describe(const StudiedOrder& order) {
  return {{"cost", order.cost},
          {"proven", order.proven},
          {"evaluations", order.evaluations},
          {"rank_order", order.order}};
}

Json describe(const ReorderConfig& config) {
  return {{"form", name_of(config.form)},
          {"objective", name_of(config.search.objective)},
          {"search", name_of(config.search.search)},
          {"evaluations", config.search.evaluations},
          {"seed", config.search.seed},
          {"direction", name_of(config.search.direction)},
          {"start", name_of(config.search.start)},
          {"random_orders", config.random_orders},
          {"exact_nodes", config.exact_nodes},
          {"window", config.window},
          {"z3_rlimit", config.z3_rlimit},
          {"probes", config.probes},
          {"payload", config.payload},
          {"percentile", config.percentile}};
}

}  // namespace

std::string latency_table(const std::vector<std::uint64_t>& latencies, std::size_t nodes) {
  std::string text;
  for (std::size_t from = 0; from < nodes; ++from) {
    const auto row = latencies.begin() + static_cast<std::ptrdiff_t>(from * nodes);
    text += fmt::format("{}\n", fmt::join(row, row + static_cast<std::ptrdiff_t>(nodes), ","));
  }
  return text;
}

std::string study_table(const OrderStudy& study, const std::string& unit, double seconds) {
  std::string text;
  const auto row = [&](const std::string& name, const std::string& value) {
    text += fmt::format("{:<16}{}\n", name, value);
  };
  const auto cost = [&](const std::string& name, double value) {
    row(name, fmt::format("{:>14.6g} {:>8.3f} x", value,
                          study.best.cost == 0 ? 1.0 : value / study.best.cost));
  };
  row("model", model_name(study.model));
  row("ranks", fmt::format("{}", study.model.ranks));
  row("", fmt::format("{:>14} {:>10}", "cost, " + unit, "of best"));
  cost("identity", study.identity);
  cost("best", study.best.cost);
  cost("worst", study.worst.cost);
  cost("random, mean", study.random_mean);
  cost("random, least", study.random_least);
  cost("random, most", study.random_most);
  cost("lower bound", study.bound);
  row("bound from", study.bound_kind);
  row("optimal", optimal_text(study));
  if (!study.z3.empty()) row("Z3", study.z3);
  row("evaluations", fmt::format("{} and {}", study.best.evaluations, study.worst.evaluations));
  row("seconds", fmt::format("{:.2f}", seconds));
  return text;
}

Json study_json(const OrderStudy& study, const RunPoint& point, const std::string& topology,
                const std::string& latencies, double seconds) {
  Json result;
  result["model"] = name_of(study.model.model);
  result["form"] = name_of(study.model.form);
  result["topology"] = topology;
  result["nodes"] = study.model.ranks;
  result["size_bytes"] = study.model.size;
  result["latencies"] = latencies;
  result["identity"] = study.identity;
  result["best"] = describe(study.best);
  result["worst"] = describe(study.worst);
  result["random"] = {{"orders", point.reorder.random_orders},
                      {"mean", study.random_mean},
                      {"least", study.random_least},
                      {"most", study.random_most},
                      {"costs", study.random_costs}};
  for (const StudiedOrder& order : study.spread) {
    result["spread"].push_back({{"cost", order.cost}, {"rank_order", order.order}});
  }
  result["bound"] = study.bound;
  result["bound_kind"] = study.bound_kind;
  const bool unbounded = study.bound == 0 && study.best.cost != 0;
  result["gap"] = unbounded ? Json(nullptr) : Json(study.gap());
  result["optimal"] = study.best.proven ? "proven" : "not proven";
  if (!study.z3.empty()) result["z3"] = study.z3;
  result["host"] = {{"wall_s", seconds}};
  Json root;
  root["tool"] = {{"name", "espalier"}, {"version", kVersion}};
  root["config"] = resolved_json(point);
  root["reorder"] = describe(point.reorder);
  root["result"] = std::move(result);
  return root;
}

std::string mapping_file(const OrderStudy& study, const ReorderConfig& config,
                         const std::string& topology) {
  const OrderDirection direction = config.search.direction;
  const StudiedOrder& order = chosen(study, direction);
  Json metadata;
  metadata["topology"] = topology;
  metadata["model"] = name_of(study.model.model);
  metadata["form"] = name_of(study.model.form);
  metadata["objective"] = name_of(study.model.objective);
  metadata["direction"] = name_of(direction);
  metadata["cost"] = order.cost;
  metadata["identity"] = study.identity;
  metadata["optimal"] = order.proven ? "proven" : "not proven";
  metadata["seed"] = config.search.seed;
  return fmt::format("rank_order: [{}]\nmetadata: {}\n", fmt::join(order.order, ", "),
                     metadata.dump());
}

}  // namespace espalier
