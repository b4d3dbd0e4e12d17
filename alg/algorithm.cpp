#include "alg/algorithm.h"

#include <algorithm>

namespace espalier {

bool Algorithm::computes(CollectiveOp op) const {
  return std::find(ops.begin(), ops.end(), op) != ops.end();
}

std::string Algorithm::unsuited(const Topology& topology) const {
  if (planner != nullptr) return unsuited_for_planners(topology);
  // Their transfers may pass from link to link; here a message would have to change its flits.
  if (topology.dimensions()) {
    return "The links' flits differ from dimension to dimension; baseline and themis run there.";
  }
  return generator != nullptr ? generator->unsuited(topology) : std::string();
}

const std::vector<Algorithm>& algorithms() {
  static const std::vector<Algorithm> table = [] {
    std::vector<Algorithm> all;
    for (const Generator& g : generators()) all.push_back({g.name, g.summary, g.ops, &g});
    for (const Planner& p : planners()) all.push_back({p.name, p.summary, p.ops, nullptr, &p});
    for (const BuiltinProgram& p : builtin_programs()) {
      all.push_back({p.name, p.summary, {p.collective}, nullptr, nullptr, &p});
    }
    all.push_back({"program",
                   "a collective program from a file: MSCCL XML or a trace",
                   {CollectiveOp::all_reduce, CollectiveOp::reduce_scatter,
                    CollectiveOp::all_gather, CollectiveOp::all_to_all, CollectiveOp::broadcast,
                    CollectiveOp::reduce, CollectiveOp::custom}});
    return all;
  }();
  return table;
}

const Algorithm* find_algorithm(const std::string& name) {
  const auto& table = algorithms();
  const auto found =
      std::find_if(table.begin(), table.end(), [&](const Algorithm& a) { return a.name == name; });
  return found == table.end() ? nullptr : &*found;
}

}  // namespace espalier
