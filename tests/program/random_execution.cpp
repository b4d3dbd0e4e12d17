#include "random_execution.h"

#include <algorithm>
#include <numeric>

namespace espalier::program_test {

namespace {
constexpr std::uint32_t kNoRank = 1000000;
}

RandomExecution::RandomExecution(const Program& program, const ExecutionLimits& limits,
                                 std::uint32_t seed)
    : storage_(program), limits_(limits), random_(seed) {
  write_odds_ = random(2) == 0 ? 2 : 40;
  by_priority_ = random(2) == 0;
  outcome_.memory.resize(limits.tiles);
  for (std::uint32_t r = 0; r < program.num_ranks(); ++r) {
    std::vector<Sum> places(storage_.num_places(r));
    for (std::uint32_t k = 0; k < storage_.size(r, ProgramBuffer::input); ++k) {
      places[storage_.place(r, ProgramBuffer::input, k)] = {{r, k}};
    }
    for (auto& tile : outcome_.memory) tile.push_back(places);
    first_block_.push_back(blocks_.size());
    for (const ThreadBlock& of : program.ranks[r].blocks) {
      Block block;
      block.rank = r;
      block.number = static_cast<std::uint32_t>(blocks_.size() - first_block_[r]);
      block.of = &of;
      block.length = of.steps.size();
      while (block.length > 0 && of.steps[block.length - 1].op == ProgramOp::nop) --block.length;
      if (of.send_peer >= 0) block.out = wire(r, static_cast<std::uint32_t>(of.send_peer), of);
      if (of.recv_peer >= 0) block.in = wire(static_cast<std::uint32_t>(of.recv_peer), r, of);
      block.priority = random(1000);
      skip_to_work(block);
      blocks_.push_back(std::move(block));
    }
  }
  wires_.resize(wire_names_.size());
}

std::size_t RandomExecution::wire(std::uint32_t from, std::uint32_t to, const ThreadBlock& block) {
  const std::vector<std::uint32_t> name = {from, to, block.channel, block.call};
  const auto found = std::find(wire_names_.begin(), wire_names_.end(), name);
  const auto place = static_cast<std::size_t>(found - wire_names_.begin());
  if (found == wire_names_.end()) wire_names_.push_back(name);
  return place;
}

// A block without steps is done with every tile at once.
void RandomExecution::skip_to_work(Block& block) {
  if (block.length == 0) block.tile = limits_.tiles;
}

Outcome RandomExecution::run() {
  std::vector<std::size_t> turn(blocks_.size());
  std::iota(turn.begin(), turn.end(), 0U);
  while (true) {
    if (by_priority_) {
      if (random(50) == 0)
        blocks_[random(static_cast<std::uint32_t>(blocks_.size()))].priority = random(1000);
      std::sort(turn.begin(), turn.end(), [&](std::size_t a, std::size_t b) {
        return blocks_[a].priority != blocks_[b].priority
                   ? blocks_[a].priority < blocks_[b].priority
                   : a < b;
      });
    } else {
      std::shuffle(turn.begin(), turn.end(), random_);
    }
    if (std::any_of(turn.begin(), turn.end(), [&](std::size_t b) { return advance(blocks_[b]); })) {
      continue;
    }
    outcome_.is_stuck = !std::all_of(blocks_.begin(), blocks_.end(),
                                     [&](const Block& block) { return has_ended(block); });
    return std::move(outcome_);
  }
}

bool RandomExecution::advance(Block& block) {
  if (has_ended(block)) return false;
  if (!block.has_begun) return begin_step(block);
  if (!block.writes.empty() && random(write_odds_) == 0) {
    write_one(block);
    return true;
  }
  if (block.is_moving) {
    if (!block.to_read.empty()) {
      read_one(block);
    } else if (block.to_send && !block.writes.empty()) {
      write_one(block);
    } else {
      end_transaction(block);
    }
    return true;
  }
  if (block.next_chunk < block.of->steps[block.step].count && begin_transaction(block)) return true;
  if (!block.writes.empty()) {
    write_one(block);
    return true;
  }
  if (block.next_chunk < block.of->steps[block.step].count) return false;
  end_step(block);
  return true;
}

bool RandomExecution::begin_step(Block& block) {
  const std::size_t first = first_block_[block.rank];
  for (std::size_t b = first; b < blocks_.size() && blocks_[b].rank == block.rank; ++b) {
    if (blocks_[b].of->call < block.of->call && !has_ended(blocks_[b])) return false;
  }
  const ProgramStep& step = block.of->steps[block.step];
  if (step.wait_block >= 0) {
    const Block& other = blocks_[first + static_cast<std::size_t>(step.wait_block)];
    const bool is_over =
        other.signalled_tile > block.tile ||
        (other.signalled_tile == block.tile && other.signalled_step >= step.wait_step);
    if (!is_over) return false;
  }
  block.has_begun = true;
  block.next_chunk = step.op == ProgramOp::nop ? step.count : 0;
  return true;
}

bool RandomExecution::begin_transaction(Block& block) {
  const ProgramStep& step = block.of->steps[block.step];
  if (receives(step.op) && wires_[block.in].slots.empty()) return false;
  if (sends(step.op)) {
    Wire& out = wires_[block.out];
    if (out.slots.size() + out.reserved == limits_.slots) return false;
    ++out.reserved;
  }
  const bool is_message = receives(step.op) || sends(step.op);
  const std::uint32_t most =
      is_message && limits_.chunks_per_slot != 0 ? limits_.chunks_per_slot : step.count;
  const std::uint32_t chunks = std::min(most, step.count - block.next_chunk);
  block.first_chunk = block.next_chunk;
  block.next_chunk += chunks;
  block.values.assign(chunks, {});
  if (receives(step.op)) {
    auto& slots = wires_[block.in].slots;
    block.values = std::move(slots.front());
    slots.erase(slots.begin());
  }
  block.to_read.resize(chunks);
  std::iota(block.to_read.begin(), block.to_read.end(), 0U);
  std::shuffle(block.to_read.begin(), block.to_read.end(), random_);
  block.to_send = sends(step.op);
  block.is_moving = true;
  return true;
}

void RandomExecution::log(const Block& block, std::uint32_t place, bool writes) {
  if (block.tile != 0) return;
  outcome_.accesses.push_back(
      {block.rank, place, block.number, static_cast<std::uint32_t>(block.step), writes});
}

Sum RandomExecution::read(const Block& block, ProgramBuffer buffer, std::int32_t offset) {
  const std::uint32_t place =
      storage_.place(block.rank, buffer, static_cast<std::uint32_t>(offset));
  log(block, place, false);
  const Sum& value = outcome_.memory[block.tile][block.rank][place];
  if (!value.empty()) return value;
  outcome_.has_read_nothing = true;
  return {{kNoRank, 0}};
}

// Reads what one chunk needs; its write comes some time later, but before it is passed on.
void RandomExecution::read_one(Block& block) {
  const ProgramStep& step = block.of->steps[block.step];
  const std::uint32_t k = block.to_read.back();
  block.to_read.pop_back();
  const auto chunk = static_cast<std::int32_t>(block.first_chunk + k);
  Sum& value = block.values[k];
  const auto add = [&](const Sum& other) {
    value.insert(value.end(), other.begin(), other.end());
    std::sort(value.begin(), value.end());
  };
  if (step.op == ProgramOp::reduce) add(read(block, step.dst_buffer, step.dst_offset + chunk));
  if (reads_source(step.op)) add(read(block, step.src_buffer, step.src_offset + chunk));
  if (writes_target(step.op)) {
    block.writes.push_back({storage_.place(block.rank, step.dst_buffer,
                                           static_cast<std::uint32_t>(step.dst_offset + chunk)),
                            value});
  }
}

void RandomExecution::end_transaction(Block& block) {
  block.is_moving = false;
  if (!block.to_send) return;
  Wire& out = wires_[block.out];
  --out.reserved;
  out.slots.push_back(std::move(block.values));
}

void RandomExecution::write_one(Block& block) {
  const std::size_t which = random(static_cast<std::uint32_t>(block.writes.size()));
  PendingWrite& write = block.writes[which];
  log(block, write.place, true);
  outcome_.memory[block.tile][block.rank][write.place] = std::move(write.value);
  block.writes.erase(block.writes.begin() + static_cast<std::ptrdiff_t>(which));
}

void RandomExecution::end_step(Block& block) {
  const ProgramStep& step = block.of->steps[block.step];
  if (step.signals && step.op != ProgramOp::nop) {
    block.signalled_tile = block.tile;
    block.signalled_step = static_cast<std::int64_t>(block.step);
  }
  block.has_begun = false;
  if (++block.step < block.length) return;
  block.step = 0;
  ++block.tile;
}

bool is_right(const Program& program, const Outcome& outcome, std::uint32_t root) {
  if (outcome.is_stuck) return false;
  const ProgramStorage storage(program);
  const auto holds = [&](std::uint32_t rank, std::uint32_t index, Sum promised) {
    std::sort(promised.begin(), promised.end());
    const std::uint32_t place = storage.place(rank, ProgramBuffer::output, index);
    return promised.empty() ||
           std::all_of(outcome.memory.begin(), outcome.memory.end(),
                       [&](const auto& tile) { return tile[rank][place] == promised; });
  };
  if (program.collective == CollectiveOp::custom) {
    return std::all_of(program.promises.begin(), program.promises.end(), [&](const auto& promise) {
      return holds(promise.rank, promise.index, promise.value);
    });
  }
  for (std::uint32_t r = 0; r < program.num_ranks(); ++r) {
    for (std::uint32_t k = 0; k < storage.size(r, ProgramBuffer::output); ++k) {
      if (!holds(r, k, promised_value(program, r, k, root))) return false;
    }
  }
  return true;
}

}  // namespace espalier::program_test
