#include "alg/program/builtin_programs.h"

#include "alg/program/builtin_parts.h"

namespace espalier {

const std::vector<BuiltinProgram>& builtin_programs() {
  static const std::vector<BuiltinProgram> programs{
      {"gc3_ring", "one logical ring, its chunks spread over channels", CollectiveOp::all_reduce,
       false, true, unsuited_ring, build_ring},
      {"gc3_ring_rotated",
       "a ring for each channel, turned by one rank within every server: all NICs carry some",
       CollectiveOp::all_reduce, true, true, unsuited_servers, build_ring_rotated},
      {"gc3_allpairs", "two steps: every rank sums its chunk from all others and hands it to all",
       CollectiveOp::all_reduce, false, false, unsuited_sizes, build_allpairs},
      {"gc3_hierarchical", "rings inside servers and across them, in one program",
       CollectiveOp::all_reduce, true, false, unsuited_servers, build_hierarchical},
      {"gc3_hierarchical_composed", "gc3_hierarchical as four library calls",
       CollectiveOp::all_reduce, true, false, unsuited_servers, build_hierarchical_composed},
      {"gc3_halving_doubling", "recursive vector halving, then doubling", CollectiveOp::all_reduce,
       false, false, unsuited_power_of_two, build_halving_doubling},
      {"gc3_binomial_tree", "reduction to rank 0 and broadcast over a binomial tree",
       CollectiveOp::all_reduce, false, false, unsuited_sizes, build_binomial_tree},
      {"gc3_double_binary_tree", "half of the data over each of two trees",
       CollectiveOp::all_reduce, false, false, unsuited_sizes, build_double_binary_tree},
      {"gc3_reducescatter_ring", "the first half of gc3_ring", CollectiveOp::reduce_scatter, false,
       true, unsuited_ring, build_reducescatter_ring},
      {"gc3_allgather_ring", "the second half of gc3_ring", CollectiveOp::all_gather, false, true,
       unsuited_ring, build_allgather_ring},
      {"gc3_allgather_recursive_doubling", "partners exchange all they have, ever farther away",
       CollectiveOp::all_gather, false, false, unsuited_power_of_two,
       build_allgather_recursive_doubling},
      {"gc3_direct_alltoall", "every rank sends to every other one", CollectiveOp::all_to_all,
       false, false, unsuited_sizes, build_direct_alltoall},
      {"gc3_twostep_alltoall", "what goes to another server is brought together first",
       CollectiveOp::all_to_all, true, false, unsuited_servers, build_twostep_alltoall},
      {"gc3_twostep_alltoall_composed",
       "gc3_twostep_alltoall as two library calls, its runs gathered by copies",
       CollectiveOp::all_to_all, true, false, unsuited_servers, build_twostep_alltoall_composed},
      {"gc3_broadcast_tree", "from rank 0 down a binomial tree", CollectiveOp::broadcast, false,
       false, unsuited_sizes, build_broadcast_tree},
      {"gc3_alltonext", "rank i's buffer to rank i + 1, between servers by way of all their ranks",
       CollectiveOp::custom, true, false, unsuited_servers, build_alltonext},
      {"gc3_alltonext_direct", "rank i's buffer to rank i + 1 in one message", CollectiveOp::custom,
       false, false, unsuited_sizes, build_alltonext_direct},
  };
  return programs;
}

const BuiltinProgram* find_builtin_program(const std::string& name) {
  for (const BuiltinProgram& program : builtin_programs()) {
    if (program.name == name) return &program;
  }
  return nullptr;
}

}  // namespace espalier
