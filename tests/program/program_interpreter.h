// Runs a program without time: blocks advance in random order, real sums travel in real slots.
// What it finds out about a program owes nothing to the certifier.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <deque>
#include <iterator>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "alg/program/program.h"
#include "alg/program/protocol.h"

namespace espalier {

struct InterpreterSetup {
  std::uint32_t slots = 0;            // 0: the protocol's
  std::uint32_t chunks_per_slot = 1;  // 0: any count travels in one slot
  std::uint32_t tiles = 2;
  std::uint32_t seed = 1;
  bool finds_races = true;
};

class ProgramInterpreter {
 public:
  ProgramInterpreter(const Program& program, const InterpreterSetup& setup)
      : program_(program),
        setup_(setup),
        storage_(program),
        random_(setup.seed),
        slots_(setup.slots != 0 ? setup.slots : protocol_spec(program.protocol).slots) {
    connect();
    fill_memory();
  }

  // Empty where the program does what it promises, else what went wrong.
  std::string run() {
    while (fault_.empty()) {
      std::shuffle(order_.begin(), order_.end(), random_);
      bool moves = false;
      for (const std::size_t b : order_) {
        // Some blocks are far behind the others for a while.
        auto burst = random_() % 8 == 0 ? 0 : random_() % 6;
        while (burst-- > 0 && advance(blocks_[b])) moves = true;
      }
      if (moves) continue;
      bool has_ended = true;
      for (Block& block : blocks_) {
        while (fault_.empty() && advance(block)) moves = true;
        has_ended = has_ended && ended(block);
      }
      if (moves) continue;
      if (!has_ended) return deadlock();
      break;
    }
    if (fault_.empty()) check_messages();
    if (fault_.empty()) check_promises();
    return fault_;
  }

 private:
  // nullptr: never written.
  using Value = std::shared_ptr<const std::vector<InputChunk>>;
  using Clock = std::vector<std::uint32_t>;
  struct Message {
    std::vector<Value> chunks;
    Clock clock;
  };
  struct Block {
    std::uint32_t rank = 0;
    std::uint32_t number = 0;
    std::size_t self = 0;  // among all blocks
    const ThreadBlock* code = nullptr;
    std::deque<Message>* to = nullptr;
    std::deque<Message>* from = nullptr;
    std::uint32_t tile = 0;
    std::uint32_t step = 0;
    std::uint32_t chunk = 0;  // done of this step
    Clock clock;
    std::vector<Clock> after_step;  // in this tile
  };
  struct Place {
    Value value;
    std::size_t writer = ~std::size_t{0};
    std::uint32_t written = 0;
    std::map<std::size_t, std::uint32_t> readers;
  };

  void connect() {
    for (std::uint32_t r = 0; r < program_.num_ranks(); ++r) {
      first_of_rank_.push_back(blocks_.size());
      for (std::uint32_t b = 0; b < program_.ranks[r].blocks.size(); ++b) {
        Block block;
        block.rank = r;
        block.number = b;
        block.self = blocks_.size();
        block.code = &program_.ranks[r].blocks[b];
        const ThreadBlock& code = *block.code;
        const auto fifo = [&](std::uint32_t from, std::uint32_t to) {
          return &fifos_[{from, to, code.channel, code.call}];
        };
        if (code.send_peer >= 0) block.to = fifo(r, static_cast<std::uint32_t>(code.send_peer));
        if (code.recv_peer >= 0) block.from = fifo(static_cast<std::uint32_t>(code.recv_peer), r);
        blocks_.push_back(std::move(block));
      }
    }
    first_of_rank_.push_back(blocks_.size());
    for (Block& block : blocks_) {
      order_.push_back(block.self);
      if (setup_.finds_races) block.clock.assign(blocks_.size(), 0);
      block.after_step.resize(block.code->steps.size());
    }
  }

  void fill_memory() {
    memory_.resize(setup_.tiles);
    for (auto& ranks : memory_) {
      ranks.resize(program_.num_ranks());
      for (std::uint32_t r = 0; r < program_.num_ranks(); ++r) {
        ranks[r].resize(storage_.num_places(r));
        for (std::uint32_t i = 0; i < storage_.size(r, ProgramBuffer::input); ++i) {
          ranks[r][storage_.place(r, ProgramBuffer::input, i)].value =
              std::make_shared<const std::vector<InputChunk>>(1, InputChunk{r, i});
        }
      }
    }
  }

  [[nodiscard]] bool ended(const Block& block) const {
    return block.tile == setup_.tiles || block.code->steps.empty();
  }
  [[nodiscard]] std::string name(const Block& block) const {
    return fmt::format("gpu {} tb {} step {} tile {}", block.rank, block.number, block.step,
                       block.tile);
  }
  void fail(const Block& block, const std::string& what) {
    if (fault_.empty()) fault_ = fmt::format("{}: {}", name(block), what);
  }

  static void learn(Clock& clock, const Clock& other) {
    for (std::size_t i = 0; i < other.size(); ++i) clock[i] = std::max(clock[i], other[i]);
  }

  bool may_start(Block& block) {
    if (block.code->call > 0 && block.tile == 0 && block.step == 0) {
      for (std::size_t b = first_of_rank_[block.rank]; b < first_of_rank_[block.rank + 1]; ++b) {
        if (blocks_[b].code->call >= block.code->call) continue;
        if (!ended(blocks_[b])) return false;
        learn(block.clock, blocks_[b].clock);
      }
    }
    const ProgramStep& step = block.code->steps[block.step];
    if (step.wait_block < 0) return true;
    const Block& target =
        blocks_[first_of_rank_[block.rank] + static_cast<std::size_t>(step.wait_block)];
    const auto wanted = static_cast<std::uint32_t>(step.wait_step);
    const ProgramStep& awaited = target.code->steps[wanted];
    if (!awaited.signals || awaited.op == ProgramOp::nop) fail(block, "waits for no signal");
    if (std::tie(target.tile, target.step) <= std::tie(block.tile, wanted)) return false;
    learn(block.clock, target.after_step[wanted]);
    return true;
  }

  Place& place(const Block& block, ProgramBuffer buffer, std::int32_t offset) {
    const auto at = static_cast<std::uint32_t>(offset);
    if (offset < 0 || at >= storage_.size(block.rank, buffer)) {
      fail(block, "out of range");
      return nowhere_;
    }
    return memory_[block.tile][block.rank][storage_.place(block.rank, buffer, at)];
  }
  Value read(const Block& block, ProgramBuffer buffer, std::int32_t offset) {
    Place& at = place(block, buffer, offset);
    if (!at.value) {
      fail(block, "reads what was never written");
      return std::make_shared<const std::vector<InputChunk>>();
    }
    if (setup_.finds_races) {
      if (at.written > (at.written != 0 ? block.clock[at.writer] : 0)) {
        fail(block, "reads what nothing orders after its write");
      }
      at.readers[block.self] = block.clock[block.self] + 1;
    }
    return at.value;
  }
  void write(const Block& block, ProgramBuffer buffer, std::int32_t offset, const Value& value) {
    Place& at = place(block, buffer, offset);
    if (setup_.finds_races) {
      const std::uint32_t own = block.clock[block.self] + 1;
      if (at.written != 0 && at.writer != block.self && at.written > block.clock[at.writer]) {
        fail(block, "writes what nothing orders after an earlier write");
      }
      for (const auto& [reader, when] : at.readers) {
        if (reader != block.self && when > block.clock[reader]) {
          fail(block, fmt::format("writes what nothing orders after a read by gpu {} tb {}",
                                  blocks_[reader].rank, blocks_[reader].number));
        }
      }
      at.readers.clear();
      at.writer = block.self;
      at.written = own;
    }
    at.value = value;
  }
  static Value sum(const Value& a, const Value& b) {
    auto merged = std::make_shared<std::vector<InputChunk>>();
    std::merge(a->begin(), a->end(), b->begin(), b->end(), std::back_inserter(*merged));
    return merged;
  }

  // A transaction of a step, or a chunk of a local one.
  bool advance(Block& block) {
    if (!fault_.empty() || ended(block)) return false;
    const ProgramStep& step = block.code->steps[block.step];
    if (block.chunk == 0 && !may_start(block)) return false;
    if (receives(step.op) && (block.from == nullptr || block.from->empty())) return false;
    if (sends(step.op) && (block.to == nullptr || block.to->size() >= slots_)) return false;
    const bool is_local = !receives(step.op) && !sends(step.op);
    const std::uint32_t most = is_local                      ? 1
                               : setup_.chunks_per_slot == 0 ? step.count
                                                             : setup_.chunks_per_slot;
    const std::uint32_t count = std::min(most, step.count - block.chunk);
    Message in;
    if (receives(step.op)) {
      in = std::move(block.from->front());
      block.from->pop_front();
      if (in.chunks.size() != count) fail(block, "receives another count than was sent");
      learn(block.clock, in.clock);
    }
    Message out;
    for (std::uint32_t k = 0; k < count && fault_.empty(); ++k) {
      const auto at = static_cast<std::int32_t>(block.chunk + k);
      Value value = receives(step.op) ? in.chunks[k] : nullptr;
      if (reads_source(step.op)) {
        const Value local = read(block, step.src_buffer, step.src_offset + at);
        value = value ? sum(local, value) : local;
      }
      if (step.op == ProgramOp::reduce) {
        value = sum(read(block, step.dst_buffer, step.dst_offset + at), value);
      }
      if (writes_target(step.op)) write(block, step.dst_buffer, step.dst_offset + at, value);
      out.chunks.push_back(value);
    }
    if (setup_.finds_races) ++block.clock[block.self];
    if (sends(step.op)) {
      out.clock = block.clock;
      block.to->push_back(std::move(out));
    }
    block.chunk += count;
    if (block.chunk < step.count) return true;
    block.after_step[block.step] = block.clock;
    block.chunk = 0;
    if (++block.step < block.code->steps.size()) return true;
    block.step = 0;
    ++block.tile;
    return true;
  }

  std::string deadlock() const {
    for (const Block& block : blocks_) {
      if (!ended(block)) return fmt::format("{}: stands still for ever", name(block));
    }
    return {};
  }
  void check_messages() {
    for (const auto& [connection, fifo] : fifos_) {
      if (!fifo.empty() && fault_.empty()) {
        fault_ = fmt::format("a message from rank {} to rank {} is never received",
                             std::get<0>(connection), std::get<1>(connection));
      }
    }
  }
  void check_promises() {
    for (std::uint32_t t = 0; t < setup_.tiles; ++t) {
      for (std::uint32_t r = 0; r < program_.num_ranks(); ++r) {
        for (std::uint32_t i = 0; i < storage_.size(r, ProgramBuffer::output); ++i) {
          const auto promised = promised_value(program_, r, i, program_.root.value_or(0));
          const Value& value = memory_[t][r][storage_.place(r, ProgramBuffer::output, i)].value;
          if (promised.empty() || (value && *value == promised)) continue;
          fault_ = fmt::format("tile {}: rank {} out[{}] is not what was promised", t, r, i);
          return;
        }
      }
    }
  }

  const Program& program_;
  InterpreterSetup setup_;
  ProgramStorage storage_;
  std::mt19937 random_;
  std::uint32_t slots_;
  std::map<std::tuple<std::uint32_t, std::uint32_t, std::uint32_t, std::uint32_t>,
           std::deque<Message>>
      fifos_;
  std::vector<Block> blocks_;
  std::vector<std::size_t> first_of_rank_;
  std::vector<std::size_t> order_;
  std::vector<std::vector<std::vector<Place>>> memory_;  // by tile, rank and place
  Place nowhere_;
  std::string fault_;
};

// Runs it several times, each with another order, one and all chunks per slot; the fault names the
// seed with which it can be found again.
[[nodiscard]] inline std::string interpret(const Program& program, std::uint32_t runs = 4,
                                           std::uint32_t slots = 0) {
  std::size_t blocks = 0;
  for (const RankProgram& rank : program.ranks) blocks += rank.blocks.size();
  for (std::uint32_t seed = 1; seed <= runs; ++seed) {
    const InterpreterSetup setup{slots, seed % 2, 2, seed, blocks <= 400};
    const std::string fault = ProgramInterpreter(program, setup).run();
    if (!fault.empty()) return fmt::format("{} (seed {})", fault, seed);
  }
  return {};
}

}  // namespace espalier
