// Trees: the reduction climbs to the root, the result comes down again. Tiles follow each other
// through the tree.
#include <algorithm>

#include "alg/generators/rank_shapes.h"
#include "alg/program/builtin_parts.h"

namespace espalier {

namespace {

// Rank r's children in the binomial tree are r + 1, r + 2, r + 4, ... as far as those are its own.
void write_binomial_reduce(ChunkTracer& tracer, std::uint32_t ranks) {
  for (std::uint32_t away = 1; away < ranks; away *= 2) {
    for (std::uint32_t r = 0; r + away < ranks; r += 2 * away) {
      const ChunkRef theirs = tracer.chunk(r + away, ProgramBuffer::input, 0);
      tracer.chunk(r, ProgramBuffer::input, 0).reduce(theirs);
    }
  }
}

void write_binomial_broadcast(ChunkTracer& tracer, std::uint32_t ranks) {
  std::uint32_t away = 1;
  while (2 * away < ranks) away *= 2;
  for (; away > 0; away /= 2) {
    for (std::uint32_t r = 0; r + away < ranks; r += 2 * away) {
      tracer.chunk(r, ProgramBuffer::input, 0).copy(r + away, ProgramBuffer::input, 0);
    }
  }
}

// Ranks by depth, the root first.
std::vector<std::uint32_t> downwards(const RankTree& tree) {
  std::vector<std::uint32_t> ranks(tree.size());
  for (std::size_t r = 0; r < ranks.size(); ++r) ranks[r] = static_cast<std::uint32_t>(r);
  std::stable_sort(ranks.begin(), ranks.end(),
                   [&](std::uint32_t a, std::uint32_t b) { return tree.depth[a] < tree.depth[b]; });
  return ranks;
}

// Chunk `index` over one tree.
void write_tree(ChunkTracer& tracer, const RankTree& tree, std::uint32_t index) {
  const Directives directives{index};
  std::vector<std::uint32_t> ranks = downwards(tree);
  const auto parent_of = [&](std::uint32_t r) {
    return tracer.chunk(static_cast<std::uint32_t>(tree.parent[r]), ProgramBuffer::input, index);
  };
  for (auto r = ranks.rbegin(); r != ranks.rend(); ++r) {
    if (*r == tree.root) continue;
    parent_of(*r).reduce(tracer.chunk(*r, ProgramBuffer::input, index), directives);
  }
  for (const std::uint32_t r : ranks) {
    if (r != tree.root) parent_of(r).copy(r, ProgramBuffer::input, index, directives);
  }
}

}  // namespace

Program build_binomial_tree(const BuiltinRequest& request) {
  const auto signature =
      signature_for(request, "gc3_binomial_tree", CollectiveOp::all_reduce, 1, true);
  return build_program(request, signature, [&](ChunkTracer& tracer) {
    write_binomial_reduce(tracer, request.ranks);
    write_binomial_broadcast(tracer, request.ranks);
  });
}

Program build_double_binary_tree(const BuiltinRequest& request) {
  const auto signature =
      signature_for(request, "gc3_double_binary_tree", CollectiveOp::all_reduce, 2, true);
  return build_program(request, signature, [&](ChunkTracer& tracer) {
    const auto trees = make_double_tree(request.ranks);
    for (std::uint32_t t = 0; t < trees.size(); ++t) write_tree(tracer, trees[t], t);
  });
}

Program build_broadcast_tree(const BuiltinRequest& request) {
  auto signature = signature_for(request, "gc3_broadcast_tree", CollectiveOp::broadcast, 1, true);
  signature.root = 0;
  return build_program(request, signature, [&](ChunkTracer& tracer) {
    write_binomial_broadcast(tracer, request.ranks);
  });
}

}  // namespace espalier
