#include "sims/system/check_data.h"

#include <fmt/format.h>

namespace espalier {

std::string check_data(Fabric& fabric, CollectiveOp op, const std::vector<Chunk>& chunks) {
  const auto promised = promised_tags(op, chunks, fabric.num_nis());
  for (std::size_t n = 0; n < fabric.num_nis(); ++n) {
    const NodeId rank(n);
    const auto wrong = wrong_chunks(rank, fabric.ni(rank).memory(), op, chunks, promised);
    if (!wrong.empty()) {
      return fmt::format("wrong data at rank {}: chunk {} (and {} more)", n, wrong.front().index(),
                         wrong.size() - 1);
    }
  }
  return {};
}

}  // namespace espalier
