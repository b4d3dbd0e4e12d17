// The properties that an algorithm of any kind declares. Other code reads this row instead of
// comparing names. Each kind adds its functions: Generator (alg/generators/generator.h) and Planner
// (alg/plans/planner.h); alg/algorithm.h joins them with the collective programs.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "alg/schedule/schedule.h"

namespace espalier {

// A configuration key that only some algorithms read.
struct AlgorithmParameter {
  std::string key;                         // "collective.base"
  std::vector<CollectiveOp> ignored_with;  // operations for which the algorithm does not read it
};

// The algorithm that takes the fastest of the others. It has a row among the generators, and one
// among the planners for multi-dimensional systems.
inline constexpr const char* kAutoAlgorithm = "auto";

struct AlgorithmRow {
  std::string name;               // the value of collective.algorithm
  std::string summary;            // one line for `espalier list algorithms`
  std::vector<CollectiveOp> ops;  // operations that the algorithm computes
  std::vector<AlgorithmParameter> parameters;
  // The reason why collective.rank_order cannot be given, as a clause; empty if it can be given.
  std::string fixed_ranks;
  // Index of the algorithm's colour and mark in reports (sims/page/page.js) and figures; kNoLook:
  // the algorithm has none of its own.
  static constexpr std::size_t kNoLook = ~std::size_t{0};
  std::size_t look = kNoLook;

  [[nodiscard]] bool computes(CollectiveOp op) const {
    return std::find(ops.begin(), ops.end(), op) != ops.end();
  }
  [[nodiscard]] bool follows_rank_order() const { return fixed_ranks.empty(); }
  // Returns nullptr if the algorithm has no such parameter.
  [[nodiscard]] const AlgorithmParameter* parameter(const std::string& key) const {
    const auto found = std::find_if(parameters.begin(), parameters.end(),
                                    [&](const AlgorithmParameter& p) { return p.key == key; });
    return found == parameters.end() ? nullptr : &*found;
  }
  [[nodiscard]] bool reads(const std::string& key, CollectiveOp op) const {
    const AlgorithmParameter* const p = parameter(key);
    return p != nullptr &&
           std::find(p->ignored_with.begin(), p->ignored_with.end(), op) == p->ignored_with.end();
  }
};

// collective.root, which only broadcast and reduce read, as a parameter of an algorithm that
// computes `ops`.
inline AlgorithmParameter root_parameter(const std::vector<CollectiveOp>& ops) {
  AlgorithmParameter root{"collective.root", {}};
  for (const CollectiveOp op : ops) {
    if (!is_rooted(op)) root.ignored_with.push_back(op);
  }
  return root;
}

inline const std::vector<CollectiveOp>& reduction_ops() {
  static const std::vector<CollectiveOp> ops{CollectiveOp::all_reduce, CollectiveOp::reduce_scatter,
                                             CollectiveOp::all_gather};
  return ops;
}
inline std::vector<CollectiveOp> with_unequal_parts(std::vector<CollectiveOp> ops) {
  ops.insert(ops.end(), {CollectiveOp::all_gatherv, CollectiveOp::reduce_scatterv});
  return ops;
}

}  // namespace espalier
