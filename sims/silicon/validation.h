// Our times beside measured ones: which rows are fitted, and how far we are off.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "sims/silicon/nccl_plan.h"

namespace espalier {

// The rows on which numbers may be fitted, at most a third of the sizes: the binary logarithm of
// the size, rounded, is a multiple of three (..., 1 MiB is not, 128 MiB is). All others test.
[[nodiscard]] bool is_fitted_size(Bytes size);

// How far times are off: the mean of |log(ours / measured)| as a factor, less 1. Half as long and
// twice as long are equally wrong. 0 without times.
class ErrorMean {
 public:
  void add(double ours, double measured);
  [[nodiscard]] double error() const;
  [[nodiscard]] std::size_t count() const { return count_; }

 private:
  double sum_ = 0;
  std::size_t count_ = 0;
};

// All measured times of one case.
struct ComparedCase {
  const SiliconMachine* machine = nullptr;
  MeasuredCase measured;
  std::vector<double> microseconds;  // ascending
  bool fitted = false;
  std::string how;      // what was simulated
  double ours = 0;      // microseconds; 0: not simulated
  std::string failure;  // why not

  [[nodiscard]] double median() const { return microseconds[microseconds.size() / 2]; }
};

struct ApartRows {
  std::string machine;
  std::string why;
  std::size_t rows = 0;
};

struct MeasuredCases {
  std::vector<ComparedCase> cases;  // by machine, operation, setting and size
  std::vector<ApartRows> apart;     // in the order of their first row
};

[[nodiscard]] MeasuredCases cases_of(const std::vector<MeasuredRow>& rows);

}  // namespace espalier
