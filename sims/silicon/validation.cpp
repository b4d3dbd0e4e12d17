#include "sims/silicon/validation.h"

#include <algorithm>
#include <cmath>
#include <tuple>

namespace espalier {

bool is_fitted_size(Bytes size) {
  return size != 0 && std::llround(std::log2(static_cast<double>(size))) % 3 == 0;
}

void ErrorMean::add(double ours, double measured) {
  sum_ += std::abs(std::log(ours / measured));
  ++count_;
}

double ErrorMean::error() const {
  return count_ == 0 ? 0 : std::exp(sum_ / static_cast<double>(count_)) - 1;
}

namespace {

// Rows of one case run one after the other, in place and out of place, or in several runs. No model
// that takes them for one case is within 41 % of both if they differ by more than this.
constexpr double kMostSpread = 2;

void set_apart(MeasuredCases& cases, const std::string& machine, const std::string& why,
               std::size_t rows) {
  const auto same = std::find_if(cases.apart.begin(), cases.apart.end(), [&](const ApartRows& a) {
    return a.machine == machine && a.why == why;
  });
  if (same != cases.apart.end()) {
    same->rows += rows;
  } else {
    cases.apart.push_back({machine, why, rows});
  }
}

}  // namespace

MeasuredCases cases_of(const std::vector<MeasuredRow>& rows) {
  MeasuredCases cases;
  std::map<std::pair<const SiliconMachine*, MeasuredCase>, std::vector<double>> times;
  for (const MeasuredRow& row : rows) {
    const MachineOfRow found = machine_of(row);
    if (found.machine == nullptr) {
      set_apart(cases, row.machine, found.why_apart, 1);
      continue;
    }
    MeasuredCase measured{row.op, {}, row.kernel, row.size, {}, {}};
    if (found.has_settings) {
      measured.setting = row.setting;
      measured.nccl = row.nccl;
      measured.site = row.machine;
    }
    times[{found.machine, std::move(measured)}].push_back(row.microseconds);
  }
  for (auto& [key, microseconds] : times) {
    std::sort(microseconds.begin(), microseconds.end());
    if (microseconds.back() > kMostSpread * microseconds.front()) {
      set_apart(cases, key.first->name, "rows of one case differ by more than 2x",
                microseconds.size());
      continue;
    }
    ComparedCase compared;
    compared.machine = key.first;
    compared.measured = key.second;
    compared.microseconds = std::move(microseconds);
    compared.fitted =
        is_fitted_size(key.second.size) || (key.first->fits_small && key.second.size < kSmallRows);
    cases.cases.push_back(std::move(compared));
  }
  return cases;
}

}  // namespace espalier
