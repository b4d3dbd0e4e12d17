// The expected data of a collective program: the contents of a rank's buffers, and of the FIFO
// slots of its connections.
#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <vector>

#include "ni/engines/context_program.h"
#include "ni/node_memory.h"

namespace espalier {

// The pieces of a chunk that move in different passes are different data, so each piece has a tag.
// Chunks that were never written hold a value that no sum of contributions has.
class ProgramMemory : public DataMemory {
 public:
  // `program` must outlive this object. Contributions are numbered from `first` on (NodeMemory).
  ProgramMemory(const ContextProgram& program, NodeId rank, ChunkId first = ChunkId(0));

  // Sets the tags that the next issued request carries.
  void put_outgoing(const std::vector<DataTag>& tags) { outgoing_ = tags; }
  void read(const Operation& operation, std::vector<DataTag>& data) const override;
  void write(const Operation& operation, const std::vector<DataTag>& data) override;

  // A request of a connection has arrived. Requests may overtake each other on the way.
  void arrived(const Operation& operation);
  // True if the next request in order is in its slot.
  [[nodiscard]] bool has_arrived(ConnectionId connection) const;
  // Precondition: has_arrived(connection).
  [[nodiscard]] std::vector<DataTag> take(ConnectionId connection);

  // Executes a step on the chunks of one request. `message` is the received data. Returns the data
  // to send.
  std::vector<DataTag> execute(const ProgramStep& step, std::uint64_t tile, const Request& request,
                               const std::vector<DataTag>& message);

  // The tag of place `place` (ProgramStorage) in pass `tile`.
  [[nodiscard]] DataTag tag(std::uint32_t place, std::uint64_t tile) const {
    return tags_[place * tiles_ + tile];
  }

 private:
  struct Staged {
    bool here = false;
    std::vector<DataTag> data;
  };
  struct Fifo {
    std::uint64_t taken = 0;  // requests that were taken before the first one in `staged`
    std::deque<Staged> staged;
  };
  // The block that receives from a connection of this rank.
  [[nodiscard]] std::size_t receiver(ConnectionId connection) const;
  Staged& staged(const Operation& operation);

  const ContextProgram& program_;
  NodeId rank_;
  std::uint64_t tiles_;
  std::vector<DataTag> tags_;
  std::vector<DataTag> outgoing_;
  std::vector<Fifo> fifos_;  // by block, of the connection from which it receives
};

// The tag of the piece of an input chunk that moves in pass `tile`.
[[nodiscard]] DataTag piece_contribution(const InputChunk& chunk, std::uint64_t tile,
                                         std::uint64_t tiles, ChunkId first);

// Compares the data of all ranks with the result of the collective. Returns an error text, or an
// empty string if all data are right. Broadcast and reduce use `root`.
[[nodiscard]] std::string check_program_data(const ContextProgram& program,
                                             const std::vector<ProgramMemory>& memories,
                                             std::uint32_t root, ChunkId first = ChunkId(0));

}  // namespace espalier
