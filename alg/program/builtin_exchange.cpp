// All-reduces by exchanges: in every step all ranks form pairs. These are published algorithms,
// with which others compare. Both ranks of a pair add the same two sums, so all ranks get identical
// bits.
//
// Swing (De Sensi, Bonato, Saam, Hoefler: "Swing: short-cutting rings for higher bandwidth
// allreduce", NSDI 2024): partners on a ring are 1, 1, 3, 5, 11, 21, ... apart, in alternating
// directions, which is nearer than the distances 1, 2, 4, 8, ... of recursive doubling.
#include <algorithm>
#include <stdexcept>

#include "alg/program/builtin_parts.h"
#include "alg/program/grid_lines.h"
#include "hw/bits.h"

namespace espalier {

namespace {

using Partners = std::vector<std::uint32_t>;  // by rank

// Exchanges all data of chunk `chunk` in every step. A rank keeps its sum while the partner's
// arrives beside it, so that a partner never gets a sum twice.
void write_whole_exchanges(ChunkTracer& tracer, const std::vector<Partners>& steps,
                           std::uint32_t chunk) {
  const auto ranks = static_cast<std::uint32_t>(steps.front().size());
  const auto num_steps = static_cast<std::uint32_t>(steps.size());
  std::vector<ChunkRef> sums;
  for (std::uint32_t r = 0; r < ranks; ++r) {
    sums.push_back(tracer.chunk(r, ProgramBuffer::input, chunk));
  }
  for (std::uint32_t s = 0; s < num_steps; ++s) {
    // In a single step, partners still read the input.
    const bool in_place = s + 1 == num_steps && num_steps > 1;
    const ProgramBuffer buffer = in_place ? ProgramBuffer::input : ProgramBuffer::scratch;
    const std::uint32_t index = in_place ? chunk : chunk * num_steps + s;
    std::vector<ChunkRef> next;
    for (std::uint32_t r = 0; r < ranks; ++r) {
      next.push_back(sums[r].copy(r, buffer, index).reduce(sums[steps[s][r]], {chunk}));
    }
    sums = std::move(next);
  }
  for (std::uint32_t r = 0; r < ranks; ++r) sums[r].copy(r, ProgramBuffer::input, chunk);
}

// ---------------------------------------------------------------- Swing

// The partner of `place` on a ring of `size` nodes in step `step`: even nodes go
// (1 - (-2)^(step + 1)) / 3 nodes forward, odd ones as far back; mirrored, the other way round.
std::uint32_t swing_partner(std::uint32_t place, std::uint32_t size, std::uint32_t step,
                            bool is_mirrored) {
  std::int64_t power = 1;
  for (std::uint32_t s = 0; s <= step; ++s) power *= -2;
  std::int64_t distance = (1 - power) / 3;
  if ((place % 2 == 1) != is_mirrored) distance = -distance;
  const auto modulus = static_cast<std::int64_t>(size);
  return static_cast<std::uint32_t>(((place + distance) % modulus + modulus) % modulus);
}

// The steps of one of the parts: twice as many as dimensions, each begins in another dimension or
// direction. Dimensions take turns; a dimension that is complete is left out.
std::vector<Partners> swing_steps(const GridShape& grid, std::uint32_t ranks, std::size_t part) {
  const std::size_t dims = long_dimensions(grid).size();
  const std::vector<std::size_t> order = dimensions_of_part(grid, part % dims);
  const bool is_mirrored = part >= dims;
  std::vector<Partners> steps;
  for (std::uint32_t s = 0, added = 1; added != 0; ++s) {
    added = 0;
    for (const std::size_t dim : order) {
      if (s >= bits_for(grid.dims[dim])) continue;
      Partners partners(ranks);
      for (std::uint32_t r = 0; r < ranks; ++r) {
        std::vector<std::uint32_t> at = grid.coordinates(NodeId(r));
        at[dim] = swing_partner(at[dim], grid.dims[dim], s, is_mirrored);
        partners[r] = grid.node_at(at).value();
      }
      steps.push_back(std::move(partners));
      ++added;
    }
  }
  return steps;
}

// The blocks of a reduce-scatter by halving. In step s, a rank keeps the half of its blocks that
// belongs to the ranks which it still reaches in the steps after s. Blocks are numbered so that
// every half is a run.
class Halving {
 public:
  explicit Halving(const std::vector<Partners>& steps) : ranks_(steps.front().size()) {
    // By step: the lowest rank that a rank reaches in this step and later ones.
    std::vector<Partners> reach(steps.size() + 1, Partners(ranks_));
    for (std::uint32_t r = 0; r < ranks_; ++r) reach.back()[r] = r;
    for (std::size_t s = steps.size(); s-- > 0;) {
      for (std::uint32_t r = 0; r < ranks_; ++r) {
        reach[s][r] = std::min(reach[s + 1][r], reach[s + 1][steps[s][r]]);
      }
    }
    Partners sorted(ranks_);
    for (std::uint32_t r = 0; r < ranks_; ++r) sorted[r] = r;
    const auto before = [&](std::uint32_t a, std::uint32_t b) {
      for (const Partners& set : reach) {
        if (set[a] != set[b]) return set[a] < set[b];
      }
      return false;
    };
    std::sort(sorted.begin(), sorted.end(), before);
    for (std::size_t s = 0; s <= steps.size(); ++s) {
      Partners firsts(ranks_);
      for (std::uint32_t i = 0; i < ranks_; ++i) {
        const std::uint32_t first = i - i % length_after(s);
        firsts[sorted[i]] = first;
        // Every set has the same size, or the pairs do not halve the blocks.
        if (reach[s][sorted[i]] != reach[s][sorted[first]]) {
          throw std::logic_error("the pairs of ranks do not halve the blocks");
        }
      }
      first_.push_back(std::move(firsts));
    }
  }

  // The run of blocks that `rank` keeps when `steps` steps are done.
  [[nodiscard]] std::uint32_t first_after(std::size_t steps, std::uint32_t rank) const {
    return first_[steps][rank];
  }
  [[nodiscard]] std::uint32_t length_after(std::size_t steps) const {
    return static_cast<std::uint32_t>(ranks_ >> steps);
  }

 private:
  std::size_t ranks_;
  std::vector<Partners> first_;  // by steps that are done
};

void write_swing_halves(ChunkTracer& tracer, const std::vector<Partners>& steps,
                        std::uint32_t part) {
  const Halving halves(steps);
  const auto ranks = static_cast<std::uint32_t>(steps.front().size());
  const auto kept = [&](std::uint32_t rank, std::size_t done, std::uint32_t keeper) {
    return tracer.chunk(rank, ProgramBuffer::input, part * ranks + halves.first_after(done, keeper),
                        halves.length_after(done));
  };
  for (std::size_t s = 0; s < steps.size(); ++s) {
    for (std::uint32_t r = 0; r < ranks; ++r) {
      kept(r, s + 1, r).reduce(kept(steps[s][r], s + 1, r), {part});
    }
  }
  for (std::size_t s = steps.size(); s-- > 0;) {
    for (std::uint32_t r = 0; r < ranks; ++r) {
      const ChunkRef run = kept(r, s + 1, r);
      run.copy(steps[s][r], ProgramBuffer::input, run.span().index, {part});
    }
  }
}

template <class Write>
void for_each_part(const BuiltinRequest& request, Write write) {
  const std::size_t parts = 2 * long_dimensions(*request.grid).size();
  for (std::uint32_t part = 0; part < parts; ++part) {
    write(swing_steps(*request.grid, request.ranks, part), part);
  }
}

}  // namespace

std::string unsuited_swing(const BuiltinRequest& request) {
  std::string why = unsuited_torus(request);
  if (!why.empty()) return why;
  for (const std::uint32_t size : request.grid->dims) {
    if ((size & (size - 1)) != 0) return "needs dimensions that are powers of two";
  }
  return {};
}

void write_swing_latency(ChunkTracer& tracer, const BuiltinRequest& request) {
  for_each_part(request, [&](const std::vector<Partners>& steps, std::uint32_t part) {
    write_whole_exchanges(tracer, steps, part);
  });
}

void write_swing_bandwidth(ChunkTracer& tracer, const BuiltinRequest& request) {
  for_each_part(request, [&](const std::vector<Partners>& steps, std::uint32_t part) {
    write_swing_halves(tracer, steps, part);
  });
}

// ---------------------------------------------------------------- recursive doubling
// Partners are 1, 2, 4, ... ranks apart and exchange all their data (Thakur, Rabenseifner, Gropp,
// 2005).

void write_recursive_doubling(ChunkTracer& tracer, const BuiltinRequest& request) {
  std::vector<Partners> steps;
  for (std::uint32_t distance = 1; distance < request.ranks; distance *= 2) {
    Partners& partners = steps.emplace_back();
    for (std::uint32_t r = 0; r < request.ranks; ++r) partners.push_back(r ^ distance);
  }
  write_whole_exchanges(tracer, steps, 0);
}

}  // namespace espalier
