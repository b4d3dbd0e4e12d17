// The blocks of a result's area: what a router and an NI are made of.
#pragma once

#include <string>
#include <vector>

#include "sims/report/page/report_data.h"

namespace espalier::report {

struct AreaBlock {
  std::string name;  // "router.buffers"
  double count = 1;
  double um2 = 0;  // of all instances in one router or NI
  double um2_high = 0;
  std::string implementation;
  std::string origin;
  double ps = 0;  // 0: not said

  [[nodiscard]] friend bool operator==(const AreaBlock& a, const AreaBlock& b) {
    return a.name == b.name && a.count == b.count && a.um2 == b.um2 && a.um2_high == b.um2_high &&
           a.implementation == b.implementation && a.origin == b.origin;
  }
};

struct AreaUnit {
  std::string name;  // "router", "ni": what block names start with
  std::vector<AreaBlock> blocks;

  [[nodiscard]] double low() const;
  [[nodiscard]] double high() const;
};

// In the order of their first block; empty where the result has no area by blocks. Blocks without a
// name or a number are left out.
[[nodiscard]] std::vector<AreaUnit> area_units(const ReportPoint& point);

}  // namespace espalier::report
