#include "alg/rank_order/annealing.h"

#include <cmath>

#include "alg/rank_order/order_moves.h"

namespace espalier {

namespace {

constexpr double kFirstTemperature = 0.3;  // of the mean change of a move
constexpr std::uint64_t kSamples = 256;
constexpr std::uint64_t kBetweenReports = 4096;

double mean_change(OrderMoves& moves, double guide, std::uint64_t samples) {
  double sum = 0;
  for (std::uint64_t s = 0; s < samples; ++s) {
    sum += std::abs(moves.propose() - guide);
    moves.reject();
  }
  return samples == 0 ? 0 : sum / static_cast<double>(samples);
}

}  // namespace

double exponential(std::uint64_t random_bits) {
  constexpr double kLn2 = 0.693147180559945309;
  const std::uint64_t bits = random_bits | 1;
  std::uint32_t zeros = 0;
  while ((bits << zeros >> 63) == 0) ++zeros;
  // u = 2^-zeros * (1 + f) / 2 with f in [0, 1): -log2(u) is near zeros + 1 - f.
  const double fraction = unit_interval(zeros == 63 ? 0 : bits << (zeros + 1));
  return kLn2 * (static_cast<double>(zeros) + 1.0 - fraction);
}

void anneal(OrderCost& cost, RandomSource& random, std::uint64_t evaluations, BestOrder& best,
            const SearchProgress& progress) {
  best.count(evaluations);
  if (evaluations <= 1) return;
  OrderMoves moves(cost, random);
  double energy = best.energy(cost.guide());
  const std::uint64_t samples = std::min<std::uint64_t>(kSamples, (evaluations - 1) / 2);
  const double first = kFirstTemperature * mean_change(moves, cost.guide(), samples);
  const std::uint64_t steps = evaluations - 1 - samples;
  for (std::uint64_t step = 0; step < steps; ++step) {
    if (step % kBetweenReports == 0 && progress) {
      progress(static_cast<double>(step) / static_cast<double>(steps));
    }
    const double left = static_cast<double>(steps - step) / static_cast<double>(steps);
    const double temperature = first * left * left * left * left;
    const double proposed = best.energy(moves.propose());
    if (proposed - energy > temperature * exponential(random.next())) {
      moves.reject();
      continue;
    }
    moves.accept();
    energy = proposed;
    best.offer(cost);
  }
}

}  // namespace espalier
