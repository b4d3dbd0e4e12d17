#include "sims/report/plot/scale.h"

#include <algorithm>
#include <cmath>

namespace espalier::report {

namespace {

constexpr double kSpreadForLog = 10;

AxisRange linear_range(double low, double high, std::size_t count) {
  if (low == high) {
    high = low > 0 ? low * 1.5 : low + 1;
    low = low > 0 ? low * 0.5 : low;
  }
  const double rough = (high - low) / static_cast<double>(std::max<std::size_t>(count, 1));
  const double power = std::pow(10.0, std::floor(std::log10(rough)));
  double step = 10 * power;
  for (const double factor : {1.0, 2.0, 5.0}) {
    // Accepts a step that is too small only because of rounding.
    if (factor * power >= rough * (1 - 1e-9)) {
      step = factor * power;
      break;
    }
  }
  const double first = std::floor(low / step + 1e-9);
  const double last = std::ceil(high / step - 1e-9);
  AxisRange range{first * step, last * step, {}};
  for (double i = first; i <= last; ++i) range.ticks.push_back(i * step);
  return range;
}

AxisRange decade_range(double low, double high, std::size_t count) {
  AxisRange range;
  const double first = std::floor(std::log10(low) + 1e-9);
  const double last = std::ceil(std::log10(high) - 1e-9);
  const bool room = (last - first) * 3 <= static_cast<double>(count) + 1;
  std::vector<double> candidates;
  for (double e = first; e <= last; ++e) {
    for (const double factor : {1.0, 2.0, 5.0}) {
      if (factor == 1.0 || room) candidates.push_back(factor * std::pow(10.0, e));
    }
  }
  // Takes the range from the last candidate not above `low` to the first one not below `high`.
  const auto above = [](double a, double b) { return a > b * (1 + 1e-9); };
  std::size_t begin = 0;
  while (begin + 1 < candidates.size() && !above(candidates[begin + 1], low)) ++begin;
  std::size_t end = begin + 1;
  while (end < candidates.size() && above(high, candidates[end - 1])) ++end;
  range.ticks.assign(candidates.begin() + static_cast<std::ptrdiff_t>(begin),
                     candidates.begin() + static_cast<std::ptrdiff_t>(end));
  range.low = std::min(low, range.ticks.front());
  range.high = std::max(high, range.ticks.back());
  return range;
}

}  // namespace

Scale::Scale(ScaleKind kind, double low, double high, double begin, double end)
    : kind_(kind), low_(low), high_(high), begin_(begin), end_(end) {}

double Scale::position(double value) const {
  return kind_ == ScaleKind::linear ? value : std::log2(value);
}

double Scale::operator()(double value) const {
  const double low = position(low_);
  const double high = position(high_);
  if (low == high) return (begin_ + end_) / 2;
  return begin_ + (position(value) - low) / (high - low) * (end_ - begin_);
}

AxisRange power_range(double low, double high, std::size_t count) {
  AxisRange range{low, high, {}};
  const double first = std::ceil(std::log2(low) - 1e-9);
  const double last = std::floor(std::log2(high) + 1e-9);
  const double stride = std::max(1.0, std::ceil((last - first + 1) / static_cast<double>(count)));
  for (double e = first; e <= last; e += stride) range.ticks.push_back(std::exp2(e));
  if (range.ticks.empty()) range.ticks = low == high ? std::vector{low} : std::vector{low, high};
  return range;
}

AxisRange round_range(ScaleKind kind, double low, double high, std::size_t count) {
  switch (kind) {
    case ScaleKind::linear:
      return linear_range(low, high, count);
    case ScaleKind::log10:
      return decade_range(low, high, count);
    case ScaleKind::log2:
      break;
  }
  return power_range(std::exp2(std::floor(std::log2(low) + 1e-9)),
                     std::exp2(std::ceil(std::log2(high) - 1e-9)), count);
}

ScaleKind suited_scale(double low, double high) {
  return low > 0 && high / low > kSpreadForLog ? ScaleKind::log10 : ScaleKind::linear;
}

}  // namespace espalier::report
