#include "sims/system/check_data.h"

#include <fmt/format.h>

namespace espalier {

std::string check_data(const std::vector<NodeMemory>& memories, CollectiveOp op,
                       const std::vector<Chunk>& chunks, ChunkId first) {
  const auto promised = promised_tags(op, chunks, memories.size(), first);
  for (std::size_t n = 0; n < memories.size(); ++n) {
    const NodeId rank(n);
    const auto wrong = wrong_chunks(rank, memories[n], op, chunks, promised);
    if (!wrong.empty()) {
      return fmt::format("wrong data at rank {}: chunk {} (and {} more)", n, wrong.front().index(),
                         wrong.size() - 1);
    }
  }
  return {};
}

}  // namespace espalier
