#include "alg/packing/tree_shares.h"

#include <algorithm>
#include <limits>
#include <numeric>

namespace espalier {

namespace {

constexpr std::size_t kShareRounds = 6000;
constexpr double kDearer = 0.02;

}  // namespace

double seconds_of(const LinkLists& trees, const std::vector<double>& rates) {
  std::vector<double> load(rates.size(), 0);
  double most = 0;
  for (const auto& tree : trees) {
    for (const std::uint32_t l : tree) most = std::max(most, ++load[l] / rates[l]);
  }
  return most / static_cast<double>(trees.size());
}

std::vector<double> shares_of(const LinkLists& trees, const std::vector<double>& rates) {
  std::vector<double> price;
  for (const double rate : rates) price.push_back(1 / rate);
  std::vector<double> share(trees.size(), 0);
  for (std::size_t round = 0; round < kShareRounds; ++round) {
    std::size_t cheapest = 0;
    double least = std::numeric_limits<double>::infinity();
    for (std::size_t t = 0; t < trees.size(); ++t) {
      double cost = 0;
      for (const std::uint32_t l : trees[t]) cost += price[l];
      if (cost >= least) continue;
      least = cost;
      cheapest = t;
    }
    double rate = std::numeric_limits<double>::infinity();
    for (const std::uint32_t l : trees[cheapest]) rate = std::min(rate, rates[l]);
    share[cheapest] += rate;
    for (const std::uint32_t l : trees[cheapest]) price[l] *= 1 + kDearer * rate / rates[l];
  }
  return share;
}

std::vector<std::size_t> repeated(const std::vector<double>& share, double count) {
  const double all = std::accumulate(share.begin(), share.end(), 0.0);
  std::vector<std::size_t> result;
  for (std::size_t t = 0; t < share.size(); ++t) {
    result.insert(result.end(), static_cast<std::size_t>(share[t] / all * count + 0.5), t);
  }
  return result;
}

}  // namespace espalier
