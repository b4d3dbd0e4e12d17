// The registration table: an explicit list, because the linker drops self-registering objects of a
// static library.
#include <algorithm>

#include "alg/generators/generator.h"
#include "alg/generators/node_routes.h"

namespace espalier {

namespace {
constexpr auto kReductionOps = {CollectiveOp::all_reduce, CollectiveOp::reduce_scatter,
                                CollectiveOp::all_gather};
constexpr auto kAllOps = {CollectiveOp::all_reduce, CollectiveOp::reduce_scatter,
                          CollectiveOp::all_gather, CollectiveOp::all_to_all};
}  // namespace

const std::vector<Generator>& generators() {
  static const std::vector<Generator> table{
      {"ring", "one unidirectional ring over all nodes (Hamiltonian where one exists)",
       kReductionOps, unsuited_for_routes, generate_ring},
      {"bidirectional_ring", "two opposite rings, half of the data each way", kReductionOps,
       unsuited_for_routes, generate_bidirectional_ring},
      {"2d_ring", "ring all-reduce in one dimension, then in the other, halves in opposite orders",
       kReductionOps, unsuited_for_2d_ring, generate_2d_ring},
      {"multitree", "MultiTree, Algorithm 1: one tree per node, built together, contention-free",
       kAllOps, unsuited_for_multitree, generate_multitree},
      {"multitree_translated",
       "one tree of the fewest steps, translated to every root: tori, hypercubes, all-to-all links",
       kAllOps, unsuited_for_multitree_translated, generate_multitree_translated, false},
      {"direct", "all-pairs: every chunk straight to its owner, every result straight to all",
       kAllOps, unsuited_for_direct, generate_direct},
      {"halving_doubling", "recursive halving, then recursive doubling over the ranks",
       kReductionOps, unsuited_for_routes, generate_halving_doubling},
      {"hdrm", "halving-doubling on a BiGraph with ranks mapped to alternate between its sides",
       kReductionOps, unsuited_for_hdrm, generate_hdrm},
      {"bcube", "halving-doubling in groups of collective.base ranks, all pairs of a group at once",
       kReductionOps, unsuited_for_routes, generate_bcube},
      {"dbtree",
       "double binary tree as in NCCL, pipelined in collective.segments",
       {CollectiveOp::all_reduce},
       unsuited_for_routes,
       generate_dbtree},
  };
  return table;
}

const Generator* find_generator(const std::string& name) {
  const auto& table = generators();
  const auto found =
      std::find_if(table.begin(), table.end(), [&](const Generator& g) { return g.name == name; });
  return found == table.end() ? nullptr : &*found;
}

}  // namespace espalier
