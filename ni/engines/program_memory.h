// The functional truth of a collective program: what a rank's buffers hold, and what lies in the
// FIFO slots of its connections.
#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <vector>

#include "ni/engines/context_program.h"
#include "ni/node_memory.h"

namespace espalier {

// The pieces of a chunk that move in different passes are different data: a tag for each. Chunks
// that were never written hold a value that no sum of contributions has.
class ProgramMemory : public DataMemory {
 public:
  // `program` must outlive it.
  ProgramMemory(const ContextProgram& program, NodeId rank);

  // Of the next request that is issued.
  void put_outgoing(const std::vector<DataTag>& tags) { outgoing_ = tags; }
  void read(const Operation& operation, std::vector<DataTag>& data) const override;
  void write(const Operation& operation, const std::vector<DataTag>& data) override;

  // A request of a connection has arrived; they may overtake each other on their way.
  void arrived(const Operation& operation);
  // The next one in order lies in its slot.
  [[nodiscard]] bool has_arrived(ConnectionId connection) const;
  // Precondition: it has.
  [[nodiscard]] std::vector<DataTag> take(ConnectionId connection);

  // What a step does to the chunks of one request; returns what it sends. `message`: what it
  // received.
  std::vector<DataTag> execute(const ProgramStep& step, std::uint64_t tile, const Request& request,
                               const std::vector<DataTag>& message);

  // Of place `place` (ProgramStorage) in pass `tile`.
  [[nodiscard]] DataTag tag(std::uint32_t place, std::uint64_t tile) const {
    return tags_[place * tiles_ + tile];
  }

 private:
  struct Staged {
    bool here = false;
    std::vector<DataTag> data;
  };
  struct Fifo {
    std::uint64_t taken = 0;  // requests before the first in `staged`
    std::deque<Staged> staged;
  };
  Staged& staged(const Operation& operation);

  const ContextProgram& program_;
  NodeId rank_;
  std::uint64_t tiles_;
  std::vector<DataTag> tags_;
  std::vector<DataTag> outgoing_;
  std::vector<Fifo> fifos_;  // by connection
};

// The piece of an input chunk that moves in pass `tile`.
[[nodiscard]] DataTag piece_contribution(const InputChunk& chunk, std::uint64_t tile,
                                         std::uint64_t tiles);

// Compares what all ranks hold with what the collective promises. Empty, or what is wrong, for
// people. `root`: of broadcast and reduce.
[[nodiscard]] std::string check_program_data(const ContextProgram& program,
                                             const std::vector<ProgramMemory>& memories,
                                             std::uint32_t root);

}  // namespace espalier
