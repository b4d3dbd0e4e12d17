#include "alg/rank_order/z3_order.h"

#include <z3++.h>

#include <algorithm>

#include "alg/rank_order/cost_formula.h"

namespace espalier {

const char* to_string(Z3Verdict verdict) {
  switch (verdict) {
    case Z3Verdict::better:
      return "better";
    case Z3Verdict::optimal:
      return "optimal";
    case Z3Verdict::unknown:
      return "unknown";
  }
  return "";
}

namespace {

// Nodes are integers, costs exact integers in arrays (the paper's flattened c').
class Encoding {
 public:
  Encoding(const CostModel& model, const CostMatrix& costs)
      : model_(model), costs_(costs), solver_(context_) {
    z3::expr_vector nodes(context_);
    for (std::size_t r = 0; r < model.ranks; ++r) {
      nodes.push_back(context_.int_const(("r" + std::to_string(r)).c_str()));
      solver_.add(nodes.back() >= 0 && nodes.back() < number(model.ranks));
      nodes_.push_back(nodes.back());
    }
    solver_.add(z3::distinct(nodes));
  }

  Z3Answer below(Cost known, std::uint64_t rlimit) {
    z3::params parameters(context_);
    parameters.set("rlimit", static_cast<unsigned>(rlimit));
    solver_.set(parameters);
    if (model_.objective == OrderObjective::load) {
      add_load(known);
    } else {
      add_rounds(known);
      for (const TreeModel& tree : model_.trees) add_tree(tree, known);
    }
    switch (solver_.check()) {
      case z3::sat:
        return {Z3Verdict::better, order()};
      case z3::unsat:
        return {Z3Verdict::optimal, {}};
      case z3::unknown:
        break;
    }
    return {};
  }

 private:
  [[nodiscard]] z3::expr number(std::uint64_t value) {
    return context_.int_val(static_cast<std::uint64_t>(value));
  }

  // c'[from * N + to], one array for each message size.
  z3::expr array_of(Bytes bytes) {
    for (const auto& [size, array] : arrays_) {
      if (size == bytes) return array;
    }
    const std::string name = "c" + std::to_string(arrays_.size());
    z3::expr array = context_.constant(
        name.c_str(), context_.array_sort(context_.int_sort(), context_.int_sort()));
    const std::vector<Cost> values = costs_.costs(bytes);
    for (std::size_t at = 0; at < values.size(); ++at) {
      solver_.add(z3::select(array, number(at)) == number(values[at]));
    }
    arrays_.emplace_back(bytes, array);
    return array;
  }

  z3::expr cost_of(const RankPair& pair, const z3::expr& array) {
    if (pair.a == pair.b) return number(0);
    return z3::select(array, nodes_[pair.a] * number(model_.ranks) + nodes_[pair.b]);
  }

  z3::expr unknown_cost() {
    return context_.int_const(("t" + std::to_string(next_cost_++)).c_str());
  }

  void add_load(Cost known) {
    z3::expr total = number(0);
    for_each_message(model_, [&](const RankPair& pair, Bytes bytes) {
      total = total + cost_of(pair, array_of(bytes));
    });
    solver_.add(total < number(known));
  }

  // For each round, a variable that is at least the cost of each pair represents the slowest pair.
  // An order below the limit exists if and only if such values exist.
  void add_rounds(Cost known) {
    if (model_.rounds.empty()) return;
    z3::expr total = number(0);
    for (const CostRound& round : model_.rounds) {
      const z3::expr slowest = unknown_cost();
      const z3::expr array = array_of(round.bytes);
      for (const RankPair& pair : round.pairs) solver_.add(slowest >= cost_of(pair, array));
      if (model_.objective == OrderObjective::max) {
        solver_.add(slowest < number(known));
      } else {
        total = total + slowest;
      }
    }
    if (model_.objective == OrderObjective::sum) solver_.add(total < number(known));
  }

  void add_tree(const TreeModel& tree, Cost known) {
    const z3::expr array = array_of(tree.bytes);
    std::vector<z3::expr> of_vertex;
    for (const auto& vertex : tree.vertices) {
      const z3::expr cost = unknown_cost();
      solver_.add(cost >= 0);
      for (const TreeModelEdge& edge : vertex) {
        const z3::expr hop = cost_of(edge.pair, array);
        const bool leaf = edge.below == TreeModelEdge::kNothing;
        solver_.add(cost >= (leaf ? hop : hop + of_vertex[edge.below]));
      }
      of_vertex.push_back(cost);
    }
    solver_.add(of_vertex.back() < number(known));
  }

  RankOrder order() {
    const z3::model found = solver_.get_model();
    RankOrder order;
    for (const z3::expr& node : nodes_) {
      order.push_back(static_cast<std::uint32_t>(found.eval(node, true).get_numeral_uint64()));
    }
    return order;
  }

  const CostModel& model_;
  const CostMatrix& costs_;
  z3::context context_;
  z3::solver solver_;
  std::vector<z3::expr> nodes_;  // by rank
  std::vector<std::pair<Bytes, z3::expr>> arrays_;
  std::size_t next_cost_ = 0;
};

}  // namespace

std::string why_no_z3() { return {}; }

Z3Answer z3_better_order(const CostModel& model, const CostMatrix& costs, Cost known,
                         std::uint64_t rlimit) {
  return Encoding(model, costs).below(known, rlimit);
}

}  // namespace espalier
