#include "sims/cli/commands.h"

#include <fmt/format.h>

#include <chrono>
#include <cmath>
#include <functional>
#include <nlohmann/json.hpp>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "alg/algorithm.h"
#include "sims/cli/input.h"
#include "sims/cli/output.h"
#include "sims/cli/version.h"
#include "sims/config/resolved.h"
#include "sims/formats/rank_order_file.h"
#include "sims/model/build_program.h"
#include "sims/point/config.h"
#include "sims/point/enum_names.h"
#include "sims/study/order_study.h"
#include "sims/study/progress.h"
#include "sims/system/probe.h"
#include "sims/text/people.h"
#include "sims/text/read_file.h"

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
          {"evaluations", config.search.evaluations},
          {"seed", config.search.seed},
          {"direction", name_of(config.search.direction)},
          {"start", name_of(config.search.start)},
          {"random_orders", config.random_orders},
          {"exact_nodes", config.exact_nodes},
          {"window", config.window},
          {"probes", config.probes},
          {"payload", config.payload},
          {"percentile", config.percentile}};
}

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
    text += fmt::format("{:<17}{}\n", name, value);
  };
  const auto cost = [&](const std::string& name, double value) {
    row(name, fmt::format("{:>14.6g} {:>8.3f} x", value,
                          study.best.cost == 0 ? 1.0 : value / study.best.cost));
  };
  row("model", model_name(study.model));
  row("ranks", fmt::format("{}", study.model.ranks));
  row("the run uses", study.run_order.name);
  row("", fmt::format("{:>14} {:>10}", "cost, " + unit, "of best"));
  cost("number order", study.identity);
  cost("order of the run", study.run_cost);
  cost("best", study.best.cost);
  cost("worst", study.worst.cost);
  cost("random, mean", study.random_mean);
  cost("random, least", study.random_least);
  cost("random, most", study.random_most);
  cost("lower bound", study.bound);
  row("optimal", optimal_text(study));
  row("evaluations", fmt::format("{} and {}", study.best.evaluations, study.worst.evaluations));
  row("seconds", fmt::format("{:.2f}", seconds));
  return text;
}

// Gains that differ by less are the same.
constexpr double kSameGain = 0.05;
constexpr double kNoGain = 0.001;
// A link that is busy for this part of the time sets the pace by its bandwidth.
constexpr double kBusyLink = 0.8;

double predicted_gain(const OrderStudy& study, const StudiedOrder& found) {
  return found.cost == 0 ? 1.0 : study.run_cost / found.cost;
}

// Why the simulation gains something else than the model, as far as the results tell.
std::string reason_text(const OrderSimulation& simulation, const OrderStudy& study) {
  const SimulatedOrder& found = simulation.found;
  if (study.run_order.model != study.model.model) {
    return fmt::format("The model is that of {}, which is not the algorithm of the run.",
                       name_of(study.model.model));
  }
  if (found.utilization >= kBusyLink) {
    return fmt::format(
        "Link {} is busy for {:.0f} % of the simulated time, so bandwidth decides, and the model "
        "counts latencies.",
        found.link, 100 * found.utilization);
  }
  if (study.model.model == OrderModel::ring && study.model.objective == OrderObjective::sum) {
    return "The model adds up the latencies of all hops, but in a ring all hops work at the same "
           "time, and the slowest hop sets the pace (reorder.objective: max prices that hop).";
  }
  return "The model prices pairs of nodes one by one; in the simulation messages share links and "
         "overlap. espalier explain shows where the time goes.";
}

std::string verdict_text(const OrderSimulation& simulation, const OrderStudy& study,
                         const StudiedOrder& found, bool is_worst) {
  const char* name = is_worst ? "worst" : "best";
  const double predicted = predicted_gain(study, found);
  const double gain = simulation.gain();
  if (found.order == study.run_order.order) {
    return fmt::format("The run already uses the {} order of the model{}.", name,
                       is_worst ? "" : ", so there is nothing to change");
  }
  std::string text = fmt::format(
      "The model predicts {:.2f} x against the order of the run, the simulation {:.2f} x.",
      predicted, gain);
  if (std::abs(predicted / gain - 1) > kSameGain) text += " " + reason_text(simulation, study);
  if (!is_worst && gain < 1 + kNoGain) {
    text += fmt::format(" Keep the order of the run: the order found {}.",
                        gain > 1 - kNoGain ? "gains nothing" : "is slower");
  }
  return text;
}

// `is_worst`: the search looked for the worst order.
std::string comparison_text(const OrderSimulation& simulation, const OrderStudy& study,
                            const StudiedOrder& found, bool is_worst) {
  const auto row = [&](const std::string& name, double cost, const SimulatedOrder& order) {
    return fmt::format("{:<17}{:>14.6g} {:>16} {:>10.1f}\n", name, cost, order.cycles,
                       order.time_ns / 1e3);
  };
  return fmt::format("\n{:<17}{:>14} {:>16} {:>10}\n", "", "model", "simulated cycles", "us") +
         row("order of the run", study.run_cost, simulation.run) +
         row(is_worst ? "worst" : "best", found.cost, simulation.found) +
         fmt::format("{:<17}{:>12.3f} x {:>14.3f} x\n", "gain", predicted_gain(study, found),
                     simulation.gain()) +
         verdict_text(simulation, study, found, is_worst) + "\n";
}

Json comparison_json(const OrderSimulation& simulation, const OrderStudy& study,
                     const StudiedOrder& found, bool is_worst) {
  const auto described = [](const SimulatedOrder& order) {
    Json json{{"cycles", order.cycles}, {"time_ns", order.time_ns}};
    json["busiest_link"] = order.link.empty() ? Json(nullptr) : Json(order.link);
    json["busiest_link_utilization"] = order.utilization;
    return json;
  };
  Json json;
  json["run_order"] = described(simulation.run);
  json[is_worst ? "worst" : "best"] = described(simulation.found);
  json["gain"] = simulation.gain();
  json["predicted_gain"] = predicted_gain(study, found);
  json["verdict"] = verdict_text(simulation, study, found, is_worst);
  return json;
}

Json study_json(const OrderStudy& study, const RunPoint& point, const std::string& topology,
                const std::string& latencies, double seconds, Json simulated) {
  Json result;
  result["model"] = name_of(study.model.model);
  result["form"] = name_of(study.model.form);
  result["topology"] = topology;
  result["nodes"] = study.model.ranks;
  result["size_bytes"] = study.model.size;
  result["latencies"] = latencies;
  result["identity"] = study.identity;
  result["run_order"] = {{"name", study.run_order.name},
                         {"cost", study.run_cost},
                         {"rank_order", study.run_order.order}};
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
  const bool unbounded = study.bound == 0 && study.best.cost != 0;
  result["gap"] = unbounded ? Json(nullptr) : Json(study.gap());
  result["optimal"] = study.best.proven ? "proven" : "not proven";
  result["simulated"] = std::move(simulated);
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

std::vector<std::uint64_t> probed_latencies(const Topology& topology, const RunPoint& point,
                                            const std::function<void(double)>& progress) {
  ProbeSpec spec;
  spec.probes = point.reorder.probes;
  spec.payload = point.reorder.payload;
  spec.percentile = point.reorder.percentile;
  const ProbeResult result = probe_latency(topology, point, spec, progress);
  return {result.round_trip.begin(), result.round_trip.end()};
}

std::optional<std::vector<std::uint64_t>> measured_latencies(const std::string& path,
                                                             std::size_t nodes) {
  Diagnostics diagnostics;
  const FileText file = read_file_text(path);
  std::optional<std::vector<std::uint64_t>> latencies;
  if (file.text) {
    latencies = parse_latencies(path, *file.text, nodes, diagnostics);
  } else {
    const SourceIndex source = diagnostics.add_file(path, "");
    diagnostics.error({source, 0, 0}, fmt::format("the file {}", file.problem));
  }
  tell(stderr, "{}", diagnostics.text());
  return latencies;
}

// Parts of the progress bar: latencies, best order, worst order.
constexpr std::size_t kSearchParts = 3;

std::string problem_of(const Input& input) {
  if (input.points.size() != 1) {
    return fmt::format("reorder needs one point, but the configuration has {}; {}",
                       input.points.size(),
                       how_to_choose_one(input.points.front(), input.points.back()));
  }
  if (input.tables) return "a finished schedule already has its rank order; give a configuration";
  if (input.topology->dimensions()) {
    return "reorder does not run on a multi-dimensional system, where an NPU's coordinates give "
           "its rank";
  }
  return {};
}

std::optional<std::vector<std::uint64_t>> latencies_of(const ReorderOptions& options,
                                                       const Input& input, Progress& bar) {
  if (!options.latency.empty()) {
    return measured_latencies(options.latency, input.topology->num_nodes());
  }
  return probed_latencies(*input.topology, input.points.front(),
                          [&](double done) { bar.update(0, done); });
}

// The reason why the point cannot run in the order that is found; empty if it can.
std::string why_no_order(const RunPoint& point) {
  const Algorithm* algorithm = find_algorithm(point.collective->algorithm);
  if (algorithm == nullptr || algorithm->follows_rank_order()) return {};
  return fmt::format("{} cannot use a rank order: {}", algorithm->name, algorithm->fixed_ranks);
}

int study(const ReorderOptions& options, const Input& input) {
  const auto begin = std::chrono::steady_clock::now();
  const RunPoint& point = input.points.front();
  if (!group_nodes(*point.collective).empty()) {
    return usage_error(input.path,
                       "espalier reorder searches orders of all nodes, and collective.ranks or "
                       "collective.groups names some");
  }
  std::string problem;
  const auto request = cost_model_request(point, input.topology->num_nodes(), problem);
  if (!request) return usage_error(input.path, problem);
  Progress bar(kSearchParts);
  const auto latencies = latencies_of(options, input, bar);
  if (!latencies) return kUsageError;
  bar.update(0, 1);
  if (!options.write_latency.empty() &&
      !write_text(options.write_latency, latency_table(*latencies, request->ranks))) {
    return kUsageError;
  }
  std::optional<StopSignals> signals(std::in_place);
  int signal = 0;
  const OrderStudy result =
      study_orders(*request, *latencies, order_of_run(*input.topology, point), point.reorder,
                   options.spread, [&](std::size_t part, double done) {
                     bar.update(1 + part, done);
                     if (signal == 0) signal = signals->take();
                     return signal == 0;
                   });
  signals.reset();
  const double seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  const StudiedOrder& found = chosen(result, point.reorder.search.direction);
  const std::string no_simulation = options.no_simulate ? "--no-simulate"
                                    : signal != 0       ? "stopped by " + signal_name(signal)
                                                        : why_no_order(point);
  OrderSimulation simulation;
  bar.clear();
  if (no_simulation.empty()) simulation = simulate_orders(point, result, found, options.jobs);
  if (simulation.signal != 0) signal = simulation.signal;
  const bool probed = options.latency.empty();
  std::FILE* people = options.json == "-" || options.output == "-" || options.write_latency == "-"
                          ? stderr
                          : stdout;
  tell(people, "{}", study_table(result, probed ? "cycles" : "unit of the file", seconds));
  const bool simulated =
      no_simulation.empty() && simulation.failure.empty() && simulation.signal == 0;
  const bool is_worst = point.reorder.search.direction == OrderDirection::worst;
  if (simulated) {
    tell(people, "{}", comparison_text(simulation, result, found, is_worst));
  } else if (no_simulation.empty() && simulation.signal == 0) {
    tell(stderr, "{}: error: the simulation failed: {}\n", input.path, simulation.failure);
  } else if (!no_simulation.empty()) {
    tell(people, "not simulated: {}\n", no_simulation);
  }
  const std::string topology = input.topology->name();
  if (!options.output.empty() &&
      !write_text(options.output, mapping_file(result, point.reorder, topology))) {
    return kUsageError;
  }
  if (signal != 0) {
    tell(stderr, "stopped by {}; the orders are the best that were found until then\n",
         signal_name(signal));
  }
  const int simulation_code = signal != 0                  ? exit_code_of_signal(signal)
                              : simulation.failure.empty() ? kGood
                                                           : kCheckFailed;
  if (options.json.empty()) return simulation_code;
  const auto json =
      study_json(result, point, topology, probed ? "probes" : options.latency, seconds,
                 simulated ? comparison_json(simulation, result, found, is_worst) : Json(nullptr));
  return write_text(options.json, json.dump(2) + "\n") ? simulation_code : kUsageError;
}

}  // namespace

int reorder_command(const ReorderOptions& options) {
  const auto inputs = load_inputs({options.config}, options.overrides, ConfigNeed::collective);
  if (!inputs) return kUsageError;
  const Input& input = inputs->front();
  const std::string problem = input.topology == nullptr
                                  ? "a program alone has no network; give a configuration"
                                  : problem_of(input);
  if (!problem.empty()) return usage_error(input.path, problem);
  std::vector<CommandFile> files = files_of(*inputs);
  if (!options.latency.empty()) files.push_back({"--latency file", options.latency});
  if (!can_write({{"--json", options.json},
                  {"--output", options.output},
                  {"--write-latency", options.write_latency}},
                 files))
    return kUsageError;
  try {
    return study(options, input);
  } catch (const std::invalid_argument& error) {
    return usage_error(input.path, error.what());
  }
}

}  // namespace espalier
