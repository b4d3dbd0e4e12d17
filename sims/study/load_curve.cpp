#include "sims/study/load_curve.h"

#include <algorithm>
#include <cmath>

namespace espalier {

namespace {

constexpr double kFirstLoad = 0.5;
constexpr double kResolution = 0.01;  // of the saturation load
constexpr double kMostSteps = 10;     // round loads of a curve

// Four significant digits, so that loads are short in configurations and tables.
double rounded(double load) {
  const double unit = std::pow(10, std::floor(std::log10(load)) - 3);
  // The quotient by a whole number is the double nearest to the decimal number.
  return unit < 1 ? std::round(load / unit) / std::round(1 / unit) : std::round(load / unit) * unit;
}

// 1, 2 or 5 times a power of ten, so that at most kMostSteps steps reach `end`.
double round_step(double end) {
  const double power = std::pow(10, std::floor(std::log10(end / kMostSteps)));
  for (const double factor : {1.0, 2.0, 5.0}) {
    if (end / (power * factor) <= kMostSteps) return power * factor;
  }
  return power * 10;
}

}  // namespace

LoadCurve::LoadCurve(std::vector<double> loads, double least, double most, bool is_closed_loop)
    : loads_(std::move(loads)),
      least_(std::min(least, most)),
      most_(most),
      searches_(loads_.empty() && !is_closed_loop) {}

std::vector<double> LoadCurve::next() const {
  if (searches_) {
    if (const auto load = next_of_search()) return {*load};
  }
  std::vector<double> left;
  for (const double load : loads_.empty() ? chosen_loads() : loads_) {
    if (saturated_.count(load) == 0) left.push_back(load);
  }
  std::sort(left.begin(), left.end());
  left.erase(std::unique(left.begin(), left.end()), left.end());
  return left;
}

std::optional<double> LoadCurve::next_of_search() const {
  double good = 0;
  std::optional<double> bad;
  for (const auto& [load, saturated] : saturated_) {
    if (saturated) {
      bad = load;
      break;
    }
    good = load;
  }
  if (!bad) {
    if (good >= most_) return std::nullopt;
    return std::min(most_, good == 0 ? std::max(kFirstLoad, least_) : 2 * good);
  }
  if (*bad - good <= kResolution * *bad) return std::nullopt;
  const double middle = std::max(least_, rounded((good + *bad) / 2));
  if (middle <= good || middle >= *bad) return std::nullopt;
  return middle;
}

std::optional<double> LoadCurve::saturation() const {
  double good = 0;
  for (const auto& [load, saturated] : saturated_) {
    if (saturated) return good == 0 ? std::nullopt : std::make_optional(good);
    good = load;
  }
  return std::nullopt;
}

std::vector<double> LoadCurve::chosen_loads() const {
  if (!searches_) {
    std::vector<double> doubled;
    for (double part = 64; part >= 1; part /= 2) {
      doubled.push_back(std::max(least_, rounded(most_ / part)));
    }
    return doubled;
  }
  const std::optional<double> found = saturation();
  const bool all_saturate = !found && !saturated_.empty() && saturated_.begin()->second;
  if (all_saturate) return {};
  const double end = found.value_or(most_);
  const double step = round_step(end);
  std::vector<double> loads{rounded(step / 5)};
  for (int i = 1; i * step < end; ++i) loads.push_back(rounded(i * step));
  if (found) {
    loads.push_back(rounded(0.9 * end));
    loads.push_back(rounded(0.95 * end));
  }
  loads.push_back(end);
  for (double& load : loads) load = std::max(load, least_);
  return loads;
}

}  // namespace espalier
