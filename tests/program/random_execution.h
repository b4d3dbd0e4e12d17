// Executes a program in a random order, memory access by memory access, with real sums: what the
// certifier proves without executing it must show here too. Shares no code with it.
#pragma once

#include <cstdint>
#include <random>
#include <vector>

#include "alg/program/program.h"

namespace espalier::program_test {

struct ExecutionLimits {
  std::uint32_t slots = 8;
  std::uint32_t chunks_per_slot = 0;  // 0: any count travels in one
  std::uint32_t tiles = 1;
};

// A sum of input chunks, ascending; of what was never written: a chunk of no rank.
using Sum = std::vector<InputChunk>;

// To a place of a rank's memory, in the first tile.
struct MemoryAccess {
  std::uint32_t rank;
  std::uint32_t place;
  std::uint32_t block;
  std::uint32_t step;
  bool writes;
};

struct Outcome {
  bool is_stuck = false;
  bool has_read_nothing = false;
  // By tile, rank and place; what was never written is empty.
  std::vector<std::vector<std::vector<Sum>>> memory;
  std::vector<MemoryAccess> accesses;  // in the order of time
};

class RandomExecution {
 public:
  RandomExecution(const Program& program, const ExecutionLimits& limits, std::uint32_t seed);
  [[nodiscard]] Outcome run();

 private:
  struct PendingWrite {
    std::uint32_t place;
    Sum value;
  };
  struct Block {
    std::uint32_t rank = 0;
    std::uint32_t number = 0;
    const ThreadBlock* of = nullptr;
    std::size_t length = 0;  // steps, without trailing nops
    std::uint32_t tile = 0;
    std::size_t step = 0;
    bool has_begun = false;              // the step's wait is over
    std::uint32_t next_chunk = 0;        // of the step, that no transaction has begun to move
    bool is_moving = false;              // a transaction
    std::vector<std::uint32_t> to_read;  // chunks of it
    bool to_send = false;
    std::vector<Sum> values;  // of the transaction
    std::uint32_t first_chunk = 0;
    std::vector<PendingWrite> writes;  // of the step
    // Last step that was signalled, and its tile; -1: none.
    std::int64_t signalled_tile = -1;
    std::int64_t signalled_step = -1;
    std::uint32_t priority = 0;
    std::size_t in = 0;  // connections
    std::size_t out = 0;
  };
  struct Wire {
    std::vector<std::vector<Sum>> slots;  // transactions under way, oldest first
    std::uint32_t reserved = 0;
  };

  [[nodiscard]] std::size_t wire(std::uint32_t from, std::uint32_t to, const ThreadBlock& block);
  [[nodiscard]] bool has_ended(const Block& block) const { return block.tile == limits_.tiles; }
  // One small thing. Returns whether there was one that can be done.
  bool advance(Block& block);
  bool begin_step(Block& block);
  bool begin_transaction(Block& block);
  void read_one(Block& block);
  void end_transaction(Block& block);
  void write_one(Block& block);
  void end_step(Block& block);
  void skip_to_work(Block& block);
  void log(const Block& block, std::uint32_t place, bool writes);
  [[nodiscard]] Sum read(const Block& block, ProgramBuffer buffer, std::int32_t offset);
  [[nodiscard]] std::uint32_t random(std::uint32_t below) {
    return static_cast<std::uint32_t>(random_() % below);
  }

  ProgramStorage storage_;
  ExecutionLimits limits_;
  std::mt19937 random_;
  std::uint32_t write_odds_;  // one of so many turns writes, where there is something else to do
  bool by_priority_;
  std::vector<Block> blocks_;
  std::vector<std::size_t> first_block_;  // by rank
  std::vector<std::vector<std::uint32_t>> wire_names_;
  std::vector<Wire> wires_;
  Outcome outcome_;
};

// Whether every output chunk of every tile holds what the program promises.
[[nodiscard]] bool is_right(const Program& program, const Outcome& outcome, std::uint32_t root);

}  // namespace espalier::program_test
