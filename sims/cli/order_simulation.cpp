#include "sims/cli/order_simulation.h"

#include <fmt/format.h>

#include <cmath>
#include <vector>

#include "sims/cli/output.h"
#include "sims/config/resolved.h"
#include "sims/experiment/point_worker.h"
#include "sims/experiment/workers.h"
#include "sims/point/enum_names.h"

namespace espalier {

namespace {

using Json = nlohmann::ordered_json;

// Gains that differ by less are the same.
constexpr double kSameGain = 0.05;
constexpr double kNoGain = 0.001;
// A link that is busy for this part of the time sets the pace by its bandwidth.
constexpr double kBusyLink = 0.8;

SimulatedOrder simulated(const Json& result) {
  SimulatedOrder order;
  order.cycles = result.at("cycles").get<std::uint64_t>();
  order.time_ns = result.at("time_ns").get<double>();
  if (!result.contains("links")) return order;
  for (const Json& link : result.at("links")) {
    const auto utilization = link.at("utilization").get<double>();
    if (utilization <= order.utilization) continue;
    order.utilization = utilization;
    order.link = fmt::format("{} -> {}", link.at("from").get<std::string>(),
                             link.at("to").get<std::string>());
  }
  return order;
}

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

}  // namespace

double OrderSimulation::gain() const {
  return found.cycles == 0 ? 1.0
                           : static_cast<double>(run.cycles) / static_cast<double>(found.cycles);
}

OrderSimulation simulate_orders(const Input& input, const OrderStudy& study,
                                const StudiedOrder& found, const std::string& program,
                                unsigned jobs,
                                const std::function<void(std::size_t, double)>& progress) {
  RunPoint point = input.points.front();
  point.simulation.link_utilization = true;
  const bool same = found.order == study.run_order.order;
  OrderSimulation simulation;
  WorkerBatch batch;
  batch.arguments = [&](std::size_t i) {
    WorkerTask task;
    if (i == 1) task.rank_order = found.order;
    return worker_arguments(resolved_json(point), point.system.topology.folder, point.file_hashes,
                            task);
  };
  batch.progress = progress;
  batch.finished = [&](std::size_t i, const WorkerReport& report) {
    if (!report.failure.empty()) {
      simulation.failure = report.failure;
      return false;
    }
    (i == 0 ? simulation.run : simulation.found) = simulated(report.result);
    return true;
  };
  simulation.signal = run_workers(program, same ? 1 : 2, jobs_at_once(jobs), batch);
  if (same) simulation.found = simulation.run;
  return simulation;
}

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

}  // namespace espalier
