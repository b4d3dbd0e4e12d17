// From values to places in a picture, and where its axis has ticks.
#pragma once

#include <vector>

namespace espalier::report {

enum class ScaleKind { linear, log2, log10 };

class Scale {
 public:
  // Values from `low` to `high` lie between the places `begin` and `end`, which may run backwards.
  // One value alone lies in the middle. Precondition: low <= high, and on logarithmic scales
  // low > 0.
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
  std::vector<double> ticks;  // ascending, all within
};

// Widened to ticks at round values, about `count` of them: multiples of 1, 2 or 5 times a power of
// ten; or powers of two, every n-th where there are too many; or powers of ten, with 2 and 5
// between them where there is room. Preconditions as for Scale.
[[nodiscard]] AxisRange round_range(ScaleKind kind, double low, double high, std::size_t count);
// On a log2 scale without widening: powers of two between the values, or the values themselves
// where no power lies there.
[[nodiscard]] AxisRange power_range(double low, double high, std::size_t count);

// Linear; logarithmic where values spread over more than a decade or so.
[[nodiscard]] ScaleKind suited_scale(double low, double high);

}  // namespace espalier::report
