// themis_search: orders of dimensions found by search over the pre-simulation, instead of by load
// alone. The pre-simulation has the timing of the modelled NI and links, so a plan is judged by
// what costs time there: latency of steps, places in flight, and the order in which stages start.
// Algorithm 1 of Themis sees bandwidth only.
#include <algorithm>
#include <cmath>
#include <numeric>
#include <random>
#include <utility>

#include "alg/plans/planner.h"

namespace espalier {
namespace {

using Orders = std::vector<DimensionOrder>;  // by chunk

// Pre-simulations of one annealing. Plans of many stages get fewer, so that planning stays in
// seconds.
constexpr std::size_t kMostTries = 2000;
constexpr std::size_t kFewestTries = 100;
constexpr std::size_t kStagesPerAnnealing = 1'000'000;
constexpr std::size_t kAnnealings = 3;
// A worse plan by this part of the time is accepted with probability 1/e, first and last.
constexpr double kHot = 0.003;
constexpr double kCold = 0.00003;

// The order of a chunk's planned half. The gathers of an all_reduce go back the same way, because a
// node's part of a chunk is then consecutive in memory in every stage.
DimensionOrder order_of(const PlannedChunk& chunk, std::size_t dimensions) {
  DimensionOrder order;
  for (std::size_t s = 0; s < dimensions; ++s) order.push_back(chunk.stages[s].dimension);
  return order;
}

void set_order(PlannedChunk& chunk, const DimensionOrder& order) {
  const std::size_t stages = chunk.stages.size();
  for (std::size_t s = 0; s < order.size(); ++s) {
    chunk.stages[s].dimension = order[s];
    if (stages > order.size()) chunk.stages[stages - 1 - s].dimension = order[s];
  }
}

// More dimensions than this have too many orders to weigh each for every chunk.
constexpr std::size_t kMostWeighed = 6;

Orders all_orders(std::size_t dimensions) {
  Orders all;
  DimensionOrder order(dimensions);
  std::iota(order.begin(), order.end(), 0U);
  do {
    all.push_back(order);
  } while (std::next_permutation(order.begin(), order.end()));
  return all;
}

Orders orders_of(const DimensionPlan& plan) {
  Orders orders;
  for (const PlannedChunk& c : plan.chunks) orders.push_back(order_of(c, plan.dimensions.size()));
  return orders;
}

class PlanSearch {
 public:
  PlanSearch(DimensionPlan plan, const ForecastSpec& spec) : plan_(std::move(plan)), spec_(spec) {}

  // Chunk by chunk, the order after which the loads have the least sum of squares, each weighted by
  // its dimension's bandwidth. Loads start at the fixed delay of the dimension's steps.
  [[nodiscard]] Orders evenly_filled() const {
    const Orders choices = all_orders(plan_.dimensions.size());
    const std::vector<PlannedDimension>& dimensions = plan_.dimensions;
    std::vector<double> loads;
    for (const PlannedDimension& d : dimensions) {
      const StageSteps steps(d.algorithm, d.size);
      loads.push_back(static_cast<double>(steps.steps()) * static_cast<double>(d.step_latency_ps) *
                      1e-12);
    }
    DimensionPlan trial = plan_;
    Orders orders;
    for (std::uint32_t c = 0; c < plan_.chunks.size(); ++c) {
      double least = 0;
      const DimensionOrder* best = nullptr;
      std::vector<double> best_loads;
      for (const DimensionOrder& order : choices) {
        set_order(trial.chunks[c], order);
        const std::vector<double> residents = trial.residents(c);
        const std::vector<PlannedStage>& stages = trial.chunks[c].stages;
        std::vector<double> after = loads;
        for (std::size_t s = 0; s < stages.size(); ++s) {
          const PlannedDimension& d = dimensions[stages[s].dimension];
          after[stages[s].dimension] +=
              bytes_sent(stages[s].kind, d.algorithm, d.size, residents[s]) /
              static_cast<double>(d.bytes_per_second);
        }
        double sum = 0;
        for (std::size_t d = 0; d < after.size(); ++d) {
          sum += static_cast<double>(dimensions[d].bytes_per_second) * after[d] * after[d];
        }
        if (best != nullptr && sum >= least) continue;
        least = sum;
        best = &order;
        best_loads = std::move(after);
      }
      orders.push_back(*best);
      loads = std::move(best_loads);
    }
    return orders;
  }

  void consider(const Orders& orders, const ArbiterSpec& arbiter) {
    const auto known = [&](const Candidate& c) {
      return c.orders == orders && c.arbiter == arbiter;
    };
    if (std::any_of(candidates_.begin(), candidates_.end(), known)) return;
    candidates_.push_back({orders, arbiter, forecast(orders, arbiter)});
  }

  ForecastPlan run() {
    // Stable: the plan that was considered first wins ties.
    std::stable_sort(candidates_.begin(), candidates_.end(),
                     [](const Candidate& a, const Candidate& b) { return a.cycles < b.cycles; });
    best_ = candidates_.front();
    const std::size_t starts = std::min(kAnnealings, candidates_.size());
    if (plan_.dimensions.size() > 1 && !plan_.chunks.empty()) {
      for (std::size_t i = 0; i < starts; ++i) anneal(candidates_[i], i);
    }
    spec_.arbiter = best_.arbiter;
    apply(best_.orders);
    Forecast forecast = forecast_order(plan_, spec_);
    plan_.start_order = std::move(forecast.start_order);
    plan_.loads_fs = planned_loads_fs(plan_);
    return {std::move(plan_), forecast.cycles, {}, {}};
  }

 private:
  struct Candidate {
    Orders orders;
    ArbiterSpec arbiter;
    Cycle cycles = 0;
  };

  void apply(const Orders& orders) {
    for (std::size_t c = 0; c < orders.size(); ++c) set_order(plan_.chunks[c], orders[c]);
  }

  [[nodiscard]] Cycle forecast(const Orders& orders, const ArbiterSpec& arbiter) {
    apply(orders);
    spec_.arbiter = arbiter;
    return forecast_order(plan_, spec_).cycles;
  }

  void anneal(Candidate current, std::uint64_t seed) {
    const std::size_t stages = plan_.chunks.size() * plan_.chunks.front().stages.size();
    const std::size_t tries = std::clamp(kStagesPerAnnealing / stages, kFewestTries, kMostTries);
    std::mt19937_64 random(seed);
    const auto below = [&](std::size_t n) { return static_cast<std::size_t>(random() % n); };
    const auto start = static_cast<double>(current.cycles);
    for (std::size_t t = 0; t < tries; ++t) {
      const double cooled = static_cast<double>(t) / static_cast<double>(tries);
      const double temperature = start * kHot * std::pow(kCold / kHot, cooled);
      const std::size_t a = below(current.orders.size());
      const std::size_t b = below(current.orders.size());
      const bool swaps = random() % 2 == 0;
      if (swaps && current.orders[a] == current.orders[b]) continue;
      const DimensionOrder old = current.orders[a];
      if (swaps) {
        std::swap(current.orders[a], current.orders[b]);
      } else {
        DimensionOrder& order = current.orders[a];
        for (std::size_t i = order.size(); i > 1; --i) std::swap(order[i - 1], order[below(i)]);
        if (current.orders[a] == old) continue;
      }
      const Cycle cycles = forecast(current.orders, current.arbiter);
      const double worse = static_cast<double>(cycles) - static_cast<double>(current.cycles);
      const double chance = static_cast<double>(random() >> 11) * 0x1p-53;
      if (worse <= 0 || chance < std::exp(-worse / temperature)) {
        current.cycles = cycles;
        if (cycles < best_.cycles) best_ = current;
      } else if (swaps) {
        std::swap(current.orders[a], current.orders[b]);
      } else {
        current.orders[a] = old;
      }
    }
  }

  DimensionPlan plan_;
  ForecastSpec spec_;
  std::vector<Candidate> candidates_;
  Candidate best_;
};

// The configured rule first: it wins among equals.
std::vector<ArbiterSpec> rules(const ArbiterSpec& configured) {
  std::vector<ArbiterSpec> all{configured, {QueueOrder::fifo, ChunkKey::larger, TieRule::newest}};
  for (const ChunkKey key : {ChunkKey::larger, ChunkKey::before, ChunkKey::after}) {
    for (const TieRule ties : {TieRule::newest, TieRule::oldest}) {
      all.push_back({QueueOrder::scf, key, ties});
    }
  }
  return all;
}

}  // namespace

ForecastPlan search_plan(DimensionPlan plan, const std::vector<DimensionPlan>& known,
                         const ForecastSpec& spec) {
  const bool weighed = plan.dimensions.size() <= kMostWeighed;
  PlanSearch search(std::move(plan), spec);
  const Orders even = weighed ? search.evenly_filled() : Orders{};
  for (const ArbiterSpec& rule : rules(spec.arbiter)) {
    for (const DimensionPlan& one : known) search.consider(orders_of(one), rule);
    if (weighed) search.consider(even, rule);
  }
  return search.run();
}

}  // namespace espalier
