// The area of a design by blocks, and the Pareto front of designs.
#pragma once

#include <string>
#include <vector>

#include "sims/page/report_data.h"

namespace espalier::report {

struct AreaBlock {
  std::string name;  // "router.buffers"
  double count = 1;
  double um2 = 0;  // of all instances in one router or NI
  double um2_high = 0;
  std::string implementation;
  std::string origin;
  double ps = 0;  // 0 if unknown

  [[nodiscard]] friend bool operator==(const AreaBlock& a, const AreaBlock& b) {
    return a.name == b.name && a.count == b.count && a.um2 == b.um2 && a.um2_high == b.um2_high &&
           a.implementation == b.implementation && a.origin == b.origin;
  }
};

struct AreaUnit {
  std::string name;  // "router", "ni": the prefix of the block names
  std::vector<AreaBlock> blocks;

  [[nodiscard]] double low() const;
  [[nodiscard]] double high() const;
};

// The units in the order of their first block; empty if the result has no area by blocks. Blocks
// without a name or a number are left out.
[[nodiscard]] std::vector<AreaUnit> area_units(const ReportPoint& point);

struct Design {
  double cost = 0;  // less is better
  double time = 0;  // less is better
};

// For each design, whether it is on the Pareto front. A design is off the front if another design
// is at least as good in both values and better in one. Equal designs are all on the front or all
// off it.
[[nodiscard]] std::vector<bool> pareto_front(const std::vector<Design>& designs,
                                             double tolerance = 0);

// Designs of a front whose costs and times differ by no more than the tolerance.
struct Tie {
  std::size_t best = 0;             // index of the smallest design
  std::vector<std::size_t> others;  // indices, in the order of costs
  double spread = 0;                // the largest difference from the best one, as a part of it
};
// Groups the designs that `counts` selects, in the order of costs.
[[nodiscard]] std::vector<Tie> ties_of(const std::vector<Design>& designs,
                                       const std::vector<bool>& counts, double tolerance);

}  // namespace espalier::report
