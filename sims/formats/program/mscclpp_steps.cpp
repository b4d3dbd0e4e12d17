#include "sims/formats/program/mscclpp_steps.h"

#include <fmt/format.h>

#include <algorithm>

namespace espalier::mscclpp {

namespace {

constexpr std::uint64_t kMostWork = std::uint64_t{1} << 26;  // 2^20 steps, or moves of chunks
constexpr std::uint64_t kWorkOfStep = 64;
constexpr std::size_t kMostKnown = std::size_t{1} << 25;  // entries of clocks of a rank

}  // namespace

ProgramStep step_of(ProgramOp op, const Range* src, const Range* dst) {
  ProgramStep step;
  step.op = op;
  if (src != nullptr) {
    step.src_buffer = src->buffer;
    step.src_offset = as_i32(src->index);
    step.count = static_cast<std::uint32_t>(src->count);
  }
  if (dst != nullptr) {
    step.dst_buffer = dst->buffer;
    step.dst_offset = as_i32(dst->index);
    step.count = static_cast<std::uint32_t>(dst->count);
  }
  return step;
}

PlanSteps::PlanSteps(const Plan& plan, const std::uint64_t& fineness)
    : plan_(plan), fineness_(fineness) {
  for (const Gpu& gpu : plan.gpus) blocks_.emplace_back(gpu.blocks.size());
}

void PlanSteps::begin(const Op& op, const ProgramStep& at) {
  op_ = &op;
  place_ = at;
  count_work(1);
}

void PlanSteps::fail(const ProgramStep& at, const Op& op, const std::string& what,
                     const std::string& hint) {
  throw PlanError(op.place,
                  fmt::format("gpu {} tb {} op {}: {}: {}", at.plan_gpu, at.plan_block,
                              at.plan_step, op.name, what),
                  hint);
}
void PlanSteps::fail(const std::string& what, const std::string& hint) const {
  fail(place_, *op_, what, hint);
}

void PlanSteps::count_work(std::uint64_t work) {
  work_ += work;
  if (work_ > kMostWork) fail("the plan repeats too many operations, or moves too many chunks");
}

// ---------------------------------------------------------------- steps

std::uint32_t PlanSteps::add(std::uint32_t rank, std::uint32_t block, ProgramStep step, Nodes after,
                             std::uint32_t sent_by) {
  count_work(kWorkOfStep + step.count);
  step.plan_gpu = place_.plan_gpu;
  step.plan_block = place_.plan_block;
  step.plan_step = place_.plan_step;
  step.line = place_.line;
  const auto id = static_cast<std::uint32_t>(nodes_.size());
  nodes_.push_back({step, op_, rank, block, std::move(after), sent_by});
  blocks_[rank][block].nodes.push_back(id);
  return id;
}

std::uint32_t PlanSteps::add_block(std::uint32_t rank) {
  blocks_[rank].emplace_back();
  return static_cast<std::uint32_t>(blocks_[rank].size() - 1);
}

std::uint32_t PlanSteps::new_channel(std::uint32_t rank, std::uint32_t peer) {
  const std::uint32_t channel = channels_[std::minmax(rank, peer)]++;
  num_channels_ = std::max(num_channels_, channel + 1);
  return channel;
}

void PlanSteps::connect(std::uint32_t from, std::uint32_t sender, std::uint32_t to,
                        std::uint32_t receiver, std::uint32_t channel) {
  blocks_[from][sender].send_peer = as_i32(to);
  blocks_[to][receiver].recv_peer = as_i32(from);
  blocks_[from][sender].channel = blocks_[to][receiver].channel = channel;
}

void PlanSteps::wrote_packets(std::uint32_t node, const Range& range) {
  if (range.buffer != ProgramBuffer::scratch) return;
  count_work(range.count * kWorkOfStep);
  for (std::uint64_t k = range.index; k < range.index + range.count; ++k) {
    const auto [first, is_new] = packet_writers_.emplace(std::make_pair(range.rank, k), node);
    if (is_new) continue;
    const ProgramStep& by = nodes_[first->second].step;
    fail(
        fmt::format("packets of scratch chunk {} of gpu {} are written twice in a call: by gpu {} "
                    "tb {} op {} before",
                    k / fineness_, range.rank, by.plan_gpu, by.plan_block, by.plan_step));
  }
}

void PlanSteps::reads_packets(std::uint32_t node, const Range& range) {
  if (range.buffer != ProgramBuffer::scratch) return;
  count_work(range.count);
  packet_reads_.push_back({node, range});
}

// ---------------------------------------------------------------- what waits for what

// The only thread block that uses an object in one way; the object's order is otherwise open.
void PlanSteps::expect_one_block(const Nodes& uses, const char* object) const {
  for (const std::uint32_t use : uses) {
    if (tb_of(use) == tb_of(uses.front())) continue;
    fail(use, fmt::format("tb {} does the same on its {}; which of the two comes first is open",
                          tb_of(uses.front()), object));
  }
}

void PlanSteps::pair(const Nodes& waiting, const Nodes* signalled, std::size_t initial,
                     const char* object, const char* lacks) {
  expect_one_block(waiting, object);
  if (signalled != nullptr) expect_one_block(*signalled, object);
  for (std::size_t k = initial; k < waiting.size(); ++k) {
    const std::size_t given = initial + (signalled == nullptr ? 0 : signalled->size());
    if (k >= given) fail(waiting[k], fmt::format(lacks, waiting.size(), given));
    const std::uint32_t signal = (*signalled)[k - initial];
    nodes_[waiting[k]].after.push_back(signal);
    if (nodes_[signal].op->name != "signal") continue;
    if (nodes_[waiting[k]].op->name == "rlxwait") {
      fail(waiting[k], "a relaxed wait has no order with the data of the signal that ends it");
    }
    released_[nodes_[nodes_[signal].sent_by].rank].emplace_back(waiting[k], signal);
  }
}

void PlanSteps::resolve() {
  const auto in = [](const auto& map, const auto& key) {
    const auto found = map.find(key);
    return found == map.end() ? nullptr : &found->second;
  };
  for (const auto& [key, of_channel] : waits) {
    pair(of_channel, in(signals, key), 0, "channel",
         "unmatched: the channel has {} waits, but its peer sends {} signals");
  }
  for (const auto& [key, of_channel] : signals) {
    const Nodes* awaited = in(waits, key);
    const std::size_t taken = awaited == nullptr ? 0 : awaited->size();
    if (taken >= of_channel.size()) continue;
    fail(of_channel[taken],
         fmt::format("unmatched: the channel has {} signals, but its peer waits {} times; a wait "
                     "of the next call would take the rest",
                     of_channel.size(), taken));
  }
  for (const auto& [key, of_semaphore] : acquires) {
    pair(of_semaphore, in(releases, key), plan_.gpus[key.first].semaphores[key.second], "semaphore",
         "unmatched: the semaphore is acquired {} times, but has {} releases and initial values");
  }
  resolve_barriers();
  for (const auto& [node, awaited] : step_waits) {
    const Nodes* found =
        in(ends, std::make_tuple(nodes_[node].rank, awaited.first, awaited.second));
    if (found == nullptr) {
      fail(node, fmt::format("waits for tb {} step {}, which does not exist", awaited.first,
                             awaited.second));
    }
    nodes_[node].after.insert(nodes_[node].after.end(), found->begin(), found->end());
  }
  for (const auto& [node, range] : packet_reads_) {
    for (std::uint64_t k = range.index; k < range.index + range.count; ++k) {
      const std::uint32_t* writer = in(packet_writers_, std::make_pair(range.rank, k));
      if (writer == nullptr) {
        fail(node, fmt::format("waits for packets in scratch chunk {}, but nobody writes them",
                               k / fineness_));
      }
      nodes_[node].after.push_back(*writer);
    }
  }
}

void PlanSteps::resolve_barriers() {
  for (const auto& [key, uses] : barriers) {
    std::map<std::uint32_t, Nodes> of_block;
    for (const std::uint32_t use : uses) of_block[tb_of(use)].push_back(use);
    const std::size_t times = of_block.begin()->second.size();
    for (const auto& [block, arrivals] : of_block) {
      const std::uint32_t expected = nodes_[arrivals.front()].op->barrier_blocks;
      if (of_block.size() != expected) {
        fail(arrivals.front(), fmt::format("{} thread blocks meet at barrier {}, not {}",
                                           of_block.size(), key.second, expected));
      }
      if (arrivals.size() != times) {
        fail(arrivals.front(),
             fmt::format("comes to barrier {} {} times, tb {} {} times", key.second,
                         arrivals.size(), of_block.begin()->first, times));
      }
      for (std::size_t k = 0; k < times; ++k) {
        for (const auto& [other, others] : of_block) {
          if (other != block) nodes_[arrivals[k] + 1].after.push_back(others[k]);
        }
      }
    }
  }
}

// A signal releases the writes of other thread blocks of its rank, too, which have met the signal's
// thread block before. Their data may still be under way, so the wait is for them as well. What has
// ended before a step of this rank is the newest node of each of its blocks.
void PlanSteps::order_released_writes(std::uint32_t rank) {
  const auto found = released_.find(rank);
  const std::vector<Block>& blocks = blocks_[rank];
  std::size_t of_rank = 0;
  for (const Block& block : blocks) of_rank += block.nodes.size();
  const bool has_switch = blocks_.size() > plan_.gpus.size();
  if (found == released_.end() || (plan_.gpus[rank].blocks.size() < 2 && !has_switch)) return;
  if (of_rank > kMostKnown / blocks.size()) {
    throw PlanError(plan_.gpus[rank].place,
                    fmt::format("gpu {}: {} steps in {} thread blocks and ports are too many", rank,
                                of_rank, blocks.size()));
  }
  std::map<std::uint32_t, Nodes> known;  // by node: by block, node + 1
  std::vector<std::size_t> next(blocks.size());
  for (bool moves = true; moves;) {
    moves = false;
    for (std::uint32_t b = 0; b < blocks.size(); ++b) {
      for (; next[b] < blocks[b].nodes.size(); ++next[b], moves = true) {
        const std::uint32_t id = blocks[b].nodes[next[b]];
        Nodes before = nodes_[id].after;
        if (next[b] != 0) before.push_back(blocks[b].nodes[next[b] - 1]);
        const auto is_done = [&](std::uint32_t node) { return known.count(node) != 0; };
        if (!std::all_of(before.begin(), before.end(), is_done)) break;
        Nodes now(blocks.size());
        for (const std::uint32_t node : before) {
          const Nodes& then = known[node];
          for (std::size_t i = 0; i < now.size(); ++i) now[i] = std::max(now[i], then[i]);
        }
        now[b] = id + 1;
        known.emplace(id, std::move(now));
      }
    }
  }
  for (const auto& [wait, signal] : found->second) {
    const std::uint32_t sent = nodes_[signal].sent_by;
    const auto at = known.find(sent);
    if (at == known.end()) continue;  // a deadlock, which the certifier finds
    for (const auto& [block, landed] : puts[{rank, nodes_[wait].rank}]) {
      const std::uint32_t known_end = at->second[block];
      const auto behind = std::find_if(landed.begin(), landed.end(), [&](std::uint32_t node) {
        return nodes_[node].sent_by >= known_end;
      });
      const bool is_own = block == nodes_[sent].block;
      if (behind != landed.begin() && !is_own) nodes_[wait].after.push_back(*(behind - 1));
    }
  }
}

// ---------------------------------------------------------------- the program

// By node: its place in its block. A step waits for one other; nops before it wait for the rest.
std::vector<std::int32_t> PlanSteps::numbers() {
  std::vector<std::int32_t> index(nodes_.size());
  for (const std::vector<Block>& of_rank : blocks_) {
    for (const Block& block : of_rank) {
      std::int32_t next = 0;
      for (const std::uint32_t id : block.nodes) {
        Nodes& after = nodes_[id].after;
        const auto is_implied = [&](std::uint32_t node) {
          return nodes_[node].block == nodes_[id].block && node < id;
        };
        after.erase(std::remove_if(after.begin(), after.end(), is_implied), after.end());
        std::sort(after.begin(), after.end());
        after.erase(std::unique(after.begin(), after.end()), after.end());
        next += std::max(as_i32(after.size()), 1);
        index[id] = next - 1;
      }
    }
  }
  return index;
}

void PlanSteps::write(Program& program) {
  resolve();
  for (std::uint32_t r = 0; r < blocks_.size(); ++r) order_released_writes(r);
  const std::vector<std::int32_t> index = numbers();
  std::vector<char> is_awaited(nodes_.size());
  for (const Node& node : nodes_) {
    for (const std::uint32_t id : node.after) is_awaited[id] = 1;
  }
  program.num_channels = num_channels_;
  for (std::size_t r = 0; r < blocks_.size(); ++r) {
    for (const Block& block : blocks_[r]) {
      ThreadBlock& made = program.ranks[r].blocks.emplace_back();
      made.send_peer = block.send_peer;
      made.recv_peer = block.recv_peer;
      made.channel = block.channel;
      for (const std::uint32_t id : block.nodes)
        write_node(nodes_[id], is_awaited[id] != 0, index, made);
    }
  }
}

void PlanSteps::write_node(const Node& node, bool is_awaited,
                           const std::vector<std::int32_t>& index, ThreadBlock& made) const {
  for (std::size_t i = 0; i < std::max<std::size_t>(node.after.size(), 1); ++i) {
    ProgramStep step = node.step;
    const bool is_last = i + 1 >= node.after.size();
    if (!is_last) {
      step = {};
      step.plan_gpu = node.step.plan_gpu;
      step.plan_block = node.step.plan_block;
      step.plan_step = node.step.plan_step;
      step.line = node.step.line;
    }
    if (!node.after.empty()) {
      step.wait_block = as_i32(nodes_[node.after[i]].block);
      step.wait_step = index[node.after[i]];
    }
    step.signals = is_last && is_awaited;
    made.steps.push_back(step);
  }
}

}  // namespace espalier::mscclpp
