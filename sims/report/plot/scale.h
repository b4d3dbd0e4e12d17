// Maps values to places in a picture, and chooses the ticks of an axis.
#pragma once

#include <vector>

namespace espalier::report {

enum class ScaleKind { linear, log2, log10 };

class Scale {
 public:
  // Maps `low` to the place `begin` and `high` to `end`, which may be less than `begin`. A single
  // value lies in the middle. Precondition: low <= high, and low > 0 on logarithmic scales.
  Scale(ScaleKind kind, double low, double high, double begin, double end);

  [[nodiscard]] double operator()(double value) const;
  [[nodiscard]] double low() const { return low_; }
  [[nodiscard]] double high() const { return high_; }

 private:
  [[nodiscard]] double position(double value) const;

  ScaleKind kind_;
  double low_;
  double high_;
  double begin_;
  double end_;
};

struct AxisRange {
  double low = 0;
  double high = 1;
  std::vector<double> ticks;  // ascending, within the range
};

// The range widened to about `count` ticks at round values. Linear: multiples of 1, 2 or 5 times a
// power of ten. log2: powers of two, or every n-th of them. log10: powers of ten, and 2 and 5 times
// them if there is room. Preconditions as for Scale.
[[nodiscard]] AxisRange round_range(ScaleKind kind, double low, double high, std::size_t count);
// Ticks of a log2 scale that is not widened: the powers of two between the values, or the values
// themselves if no power lies between them.
[[nodiscard]] AxisRange power_range(double low, double high, std::size_t count);

// Logarithmic if values spread over more than about a decade, otherwise linear.
[[nodiscard]] ScaleKind suited_scale(double low, double high);

}  // namespace espalier::report
