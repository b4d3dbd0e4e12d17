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

MeasuredCases cases_of(const std::vector<MeasuredRow>& rows) {
  MeasuredCases comparison;
  std::map<std::pair<const SiliconMachine*, MeasuredCase>, std::vector<double>> times;
  for (const MeasuredRow& row : rows) {
    MachineOfRow found = machine_of(row);
    if (found.machine != nullptr) {
      times[{found.machine,
             {row.op, found.has_settings ? row.setting : std::string(), row.kernel, row.size}}]
          .push_back(row.microseconds);
      continue;
    }
    auto& apart = comparison.apart;
    const auto same = std::find_if(apart.begin(), apart.end(), [&](const ApartRows& a) {
      return a.machine == row.machine && a.why == found.why_apart;
    });
    if (same == apart.end()) {
      apart.push_back({row.machine, std::move(found.why_apart), 1});
    } else {
      ++same->rows;
    }
  }
  for (auto& [key, microseconds] : times) {
    std::sort(microseconds.begin(), microseconds.end());
    ComparedCase compared;
    compared.machine = key.first;
    compared.measured = key.second;
    compared.microseconds = std::move(microseconds);
    compared.fitted = is_fitted_size(key.second.size);
    comparison.cases.push_back(std::move(compared));
  }
  return comparison;
}

}  // namespace espalier
