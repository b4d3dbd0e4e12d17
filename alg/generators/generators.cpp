// The registry of schedule generators. It is an explicit list, because the linker drops objects of
// a static library that only register themselves.
#include <algorithm>

#include "alg/generators/generator.h"

namespace espalier {

// Defined in the algorithm's .cpp: its name, its operations, the networks on which it runs, its
// parameters.
Generator ring_row();
Generator bidirectional_ring_row();
Generator ring_2d_row();
Generator hierarchical_ring_row();
Generator multitree_row();
Generator multitree_translated_row();
Generator direct_row();
Generator pairwise_row();
Generator halving_doubling_row();
Generator hdrm_row();
Generator bcube_row();
Generator dbtree_row();
Generator binomial_row();
Generator chain_row();
Generator forest_row();
Generator a2a_paths_row();
Generator auto_row();

Schedule finished(Schedule schedule) {
  schedule.sort_by_step();
  schedule.contention_free = is_contention_free(schedule);
  return schedule;
}

const std::vector<Generator>& generators() {
  static const std::vector<Generator> table{
      ring_row(),
      bidirectional_ring_row(),
      ring_2d_row(),
      hierarchical_ring_row(),
      multitree_row(),
      multitree_translated_row(),
      direct_row(),
      pairwise_row(),
      halving_doubling_row(),
      hdrm_row(),
      bcube_row(),
      dbtree_row(),
      binomial_row(),
      chain_row(),
      forest_row(),
      a2a_paths_row(),
      auto_row(),
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
