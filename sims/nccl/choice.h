// What NCCL runs for an operation: ring, tree or switches, with which protocol, over how many
// channels. The choice is that of NCCL's own cost model (src/graph/tuning.cc, src/enqueue.cc). Its
// estimates decide; they are not the times that a simulation finds.
#pragma once

#include <cstdint>

#include "alg/schedule/schedule.h"
#include "sims/nccl/machine.h"

namespace espalier {

// nvls: the switches of a server add and copy. nvls_tree: trees connect the servers as well.
enum class NcclAlgorithm : std::uint8_t { tree, ring, nvls, nvls_tree };

struct NcclChoice {
  NcclAlgorithm algorithm = NcclAlgorithm::ring;
  NcclProtocol protocol = NcclProtocol::simple;
  std::uint32_t channels = 1;
  double microseconds = 0;  // NCCL's estimate

  [[nodiscard]] bool is_in_switch() const { return algorithm >= NcclAlgorithm::nvls; }
};

// Preconditions: check_nccl_machine() found no mistake; op is all_reduce, all_gather or
// reduce_scatter; `size` as nccl-tests count, which is collective.size.
[[nodiscard]] NcclChoice nccl_choice(const NcclMachine& machine, CollectiveOp op, Bytes size);

// What a channel of the choice moves to the next rank in one round; with trees of switches, for
// each GPU of a server. Bytes; not for NcclAlgorithm::nvls.
[[nodiscard]] Bytes nccl_chunk(const NcclMachine& machine, Bytes size, const NcclChoice& choice);

// Channels over which a message to one peer is spread, of `channels` that all peers share, at most
// `most`.
[[nodiscard]] std::uint32_t nccl_message_channels(const NcclMachine& machine, Bytes size,
                                                  std::uint32_t channels, std::uint32_t most);

}  // namespace espalier
