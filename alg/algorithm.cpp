#include "alg/algorithm.h"

#include <fmt/format.h>

#include <algorithm>

namespace espalier {

namespace {

// A planner with the name of a generator is the same algorithm.
void add_planner(std::vector<Algorithm>& all, const Planner& planner) {
  const auto same = std::find_if(all.begin(), all.end(),
                                 [&](const Algorithm& a) { return a.name == planner.name; });
  if (same == all.end()) {
    all.push_back({planner, nullptr, &planner});
    return;
  }
  same->planner = &planner;
  same->parameters.insert(same->parameters.end(), planner.parameters.begin(),
                          planner.parameters.end());
}

}  // namespace

const AlgorithmRow& Algorithm::row_on(bool is_dimensional) const {
  if (planner == nullptr || generator == nullptr) return *this;
  return is_dimensional ? static_cast<const AlgorithmRow&>(*planner) : *generator;
}

std::string Algorithm::unsuited(const Topology& topology) const {
  if (planner != nullptr && (topology.dimensions() || generator == nullptr)) {
    return unsuited_for_planners(topology);
  }
  // A transfer of a schedule may pass from link to link, and flits of dimensions may differ in
  // width.
  if (topology.dimensions()) {
    std::vector<std::string> names;
    for (const Planner& p : planners()) names.push_back(p.name);
    return fmt::format(
        "messages do not pass between dimensions (system.topology.type: dimensions); only {} run "
        "there",
        fmt::join(names, ", "));
  }
  return generator != nullptr ? generator->unsuited(topology) : std::string();
}

const std::vector<Algorithm>& algorithms() {
  static const std::vector<Algorithm> table = [] {
    std::vector<Algorithm> all;
    for (const Generator& g : generators()) all.push_back({g, &g});
    for (const Planner& p : planners()) add_planner(all, p);
    for (const BuiltinProgram& p : builtin_programs()) all.push_back({p, nullptr, nullptr, &p});
    Algorithm from_file;
    from_file.name = "program";
    from_file.summary = "a collective program from a file: MSCCL XML or a trace";
    from_file.ops = {CollectiveOp::all_reduce, CollectiveOp::reduce_scatter,
                     CollectiveOp::all_gather, CollectiveOp::all_to_all,
                     CollectiveOp::broadcast,  CollectiveOp::reduce,
                     CollectiveOp::custom};
    from_file.fixed_ranks = kProgramRanks;
    all.push_back(from_file);
    Algorithm nccl;
    nccl.name = "nccl";
    nccl.summary = "what NCCL takes on the machine of the preset: rings, trees or switches";
    nccl.ops = {CollectiveOp::all_reduce, CollectiveOp::reduce_scatter, CollectiveOp::all_gather,
                CollectiveOp::all_to_all, CollectiveOp::custom};
    nccl.fixed_ranks = kProgramRanks;
    nccl.is_library = true;
    all.push_back(nccl);
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
