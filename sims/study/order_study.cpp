#include "sims/study/order_study.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "alg/generators/generator.h"
#include "alg/generators/rings.h"
#include "alg/rank_order/order_search.h"
#include "sims/experiment/result_fields.h"
#include "sims/point/config.h"
#include "sims/study/study.h"

namespace espalier {

namespace {

std::optional<OrderModel> model_of(const std::string& algorithm) {
  const Generator* generator = find_generator(algorithm);
  return generator != nullptr ? generator->order_model : std::nullopt;
}

StudiedOrder studied(const FoundOrder& found, bool proven, const CostMatrix& costs) {
  return {found.order, costs.in_units(found.cost), proven, found.evaluations};
}

class Study {
 public:
  Study(const CostModelRequest& request, const std::vector<std::uint64_t>& latencies,
        const RunOrder& run_order, const ReorderConfig& config)
      : config_(config),
        model_(make_cost_model(request)),
        costs_(request.ranks, latencies, config.window, model_.largest(), model_.num_messages()) {
    study_.model = request;
    study_.run_order = run_order;
  }

  OrderStudy run(std::size_t spread, const StudyProgress& progress) {
    study_.identity = cost_of(identity_permutation(model_.ranks));
    study_.run_cost = cost_of(study_.run_order.order);
    draw_orders();
    const Cost bound = order_bound(model_, costs_);
    auto [best, proven] = extreme(OrderDirection::best, [&](double d) { return progress(0, d); });
    prefer_simple(best);
    study_.best = studied(best, proven || best.cost == bound, costs_);
    study_.bound = proven ? study_.best.cost : costs_.in_units(bound);
    const auto [worst, worst_proven] =
        extreme(OrderDirection::worst, [&](double d) { return progress(1, d); });
    study_.worst = studied(worst, worst_proven, costs_);
    for (std::size_t i = 1; i <= spread; ++i) {
      const auto share = static_cast<double>(i) / static_cast<double>(spread);
      study_.spread.push_back(between(share, config_.search.seed + i));
    }
    return std::move(study_);
  }

 private:
  [[nodiscard]] double cost_of(const RankOrder& order) const {
    return costs_.in_units(full_cost(model_, costs_, order));
  }

  // Starts from the best order if random orders cost more than the target, otherwise from the
  // worst.
  [[nodiscard]] StudiedOrder between(double share, std::uint64_t seed) const {
    StudiedOrder order;
    const double cost = study_.best.cost + share * (study_.worst.cost - study_.best.cost);
    order.order =
        order_of_cost(cost < study_.random_mean ? study_.best.order : study_.worst.order, cost,
                      seed, [&](const RankOrder& candidate) { return cost_of(candidate); });
    order.cost = cost_of(order.order);
    return order;
  }

  // A search may end with any of several orders that cost the same, and may miss the run's order.
  void prefer_simple(FoundOrder& best) const {
    for (const RankOrder& order : {identity_permutation(model_.ranks), study_.run_order.order}) {
      const Cost cost = full_cost(model_, costs_, order);
      if (cost > best.cost) continue;
      best.order = order;
      best.cost = cost;
    }
  }

  void draw_orders() {
    double sum = 0;
    for (std::uint64_t draw = 0; draw < config_.random_orders; ++draw) {
      const double cost = cost_of(random_permutation(model_.ranks, config_.search.seed + draw));
      sum += cost;
      study_.random_costs.push_back(cost);
      if (draw == 0 || cost < study_.random_least) least_drawn_ = config_.search.seed + draw;
      if (draw == 0 || cost > study_.random_most) most_drawn_ = config_.search.seed + draw;
      study_.random_least = draw == 0 ? cost : std::min(study_.random_least, cost);
      study_.random_most = std::max(study_.random_most, cost);
    }
    study_.random_mean = sum / static_cast<double>(config_.random_orders);
  }

  std::pair<FoundOrder, bool> extreme(OrderDirection direction, const SearchProgress& progress) {
    if (model_.ranks <= config_.exact_nodes) {
      if (auto exact = exact_order(model_, costs_, direction)) return {std::move(*exact), true};
    }
    OrderSearchSpec spec = config_.search;
    spec.direction = direction;
    FoundOrder found = search_order(model_, costs_, spec, progress);
    // A search with a small budget may find less than the random orders did.
    const bool worst = direction == OrderDirection::worst;
    RankOrder drawn = random_permutation(model_.ranks, worst ? most_drawn_ : least_drawn_);
    const Cost of_drawn = full_cost(model_, costs_, drawn);
    if (worst ? of_drawn > found.cost : of_drawn < found.cost) {
      found.order = std::move(drawn);
      found.cost = of_drawn;
    }
    return {std::move(found), false};
  }

  const ReorderConfig& config_;
  CostModel model_;
  CostMatrix costs_;
  std::uint64_t least_drawn_ = 0;  // seeds of random orders
  std::uint64_t most_drawn_ = 0;
  OrderStudy study_;
};

SimulatedOrder simulated(const nlohmann::ordered_json& result) {
  SimulatedOrder order;
  order.cycles = find_field(result, field::cycles)->get<std::uint64_t>();
  order.time_ns = number_in(result, field::time_ns).value();
  const nlohmann::ordered_json* links = find_field(result, field::links);
  if (links == nullptr) return order;
  for (const nlohmann::ordered_json& link : *links) {
    const double utilization = number_in(link, field::links_utilization).value();
    if (utilization <= order.utilization) continue;
    order.utilization = utilization;
    order.link = fmt::format("{} -> {}", text_in(link, field::links_from).value(),
                             text_in(link, field::links_to).value());
  }
  return order;
}

}  // namespace

std::optional<CostModelRequest> cost_model_request(const RunPoint& point, std::size_t nodes,
                                                   std::string& problem) {
  const CollectiveConfig& collective = *point.collective;
  const auto model = point.reorder.model ? point.reorder.model : model_of(collective.algorithm);
  if (!model) {
    problem = fmt::format(
        "{} has no cost model, because it follows the network and not the order of its ranks. Set "
        "reorder.model to ring, halving_doubling, dbtree or bcube.",
        collective.algorithm);
    return std::nullopt;
  }
  CostModelRequest request;
  request.model = *model;
  request.form = point.reorder.form;
  request.objective = point.reorder.search.objective;
  request.ranks = nodes;
  request.size = collective.size;
  request.base = collective.base;
  problem = unsuited_for_model(request);
  if (!problem.empty()) return std::nullopt;
  return request;
}

RunOrder order_of_run(const Topology& topology, const RunPoint& point) {
  const RankOrderConfig& config = point.collective->rank_order;
  RunOrder run{identity_permutation(topology.num_nodes()), "nodes in number order",
               model_of(point.collective->algorithm)};
  if (!config.is_identity()) {
    run.order.clear();
    for (const NodeId node : config.nodes) run.order.push_back(node.value());
    run.name = config.is_random() ? fmt::format("random order, seed {}", config.seed)
                                  : fmt::format("order of {}", config.source);
    return run;
  }
  if (run.model != OrderModel::ring) return run;
  const NodeRing ring = find_node_ring(topology);
  RankOrder followed;
  for (const NodeId node : ring.nodes) followed.push_back(node.value());
  if (followed == run.order) return run;
  run.order = std::move(followed);
  run.name = ring.hamiltonian ? "Hamiltonian ring of the network's links"
                              : "ring in depth-first order of the network";
  return run;
}

OrderStudy study_orders(const CostModelRequest& request,
                        const std::vector<std::uint64_t>& latencies, const RunOrder& run_order,
                        const ReorderConfig& config, std::size_t spread,
                        const StudyProgress& progress) {
  return Study(request, latencies, run_order, config).run(spread, progress);
}

double OrderSimulation::gain() const {
  return found.cycles == 0 ? 1.0
                           : static_cast<double>(run.cycles) / static_cast<double>(found.cycles);
}

OrderSimulation simulate_orders(RunPoint point, const OrderStudy& study, const StudiedOrder& found,
                                unsigned jobs) {
  point.simulation.link_utilization = true;
  std::vector<StudyPoint> orders{study_point(point)};
  const bool same = found.order == study.run_order.order;
  if (!same) {
    orders.push_back(orders.front());
    orders.back().task.rank_order = found.order;
  }
  OrderSimulation simulation;
  WorkerBatch batch;
  batch.finished = [&](std::size_t i, const WorkerReport& report) {
    if (!report.failure.empty()) {
      simulation.failure = report.failure;
      return false;
    }
    (i == 0 ? simulation.run : simulation.found) = simulated(report.result);
    return true;
  };
  simulation.signal = run_points(orders, every_one(orders.size()), jobs, batch);
  if (same) simulation.found = simulation.run;
  return simulation;
}

}  // namespace espalier
