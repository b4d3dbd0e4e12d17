// A plan's operations as messages and local steps.
//
// Other ranks' memory is reached by messages. A thread block has a port to each peer that it names,
// which is a block of the program, and the peer has a landing block for it, as its memory system
// serves reads and writes without its thread blocks:
//   put            the port sends, the landing block receives
//   signal         the same without data; it lands after the puts before it
//   wait           a step that waits for the signal's landing
//   read           the port sends a request without data, the landing block sends the answer
// Relaxed signals have ports of their own, because nothing orders them with data. So have channels
// through a proxy, which does not make its thread block wait (flush does).
#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <tuple>

#include "sims/formats/program/msccl_format.h"
#include "sims/formats/program/mscclpp_plan.h"

namespace espalier::mscclpp {

namespace {

constexpr std::uint64_t kMostWork = std::uint64_t{1} << 26;  // 2^20 steps, or moves of chunks
constexpr std::uint64_t kWorkOfStep = 64;
constexpr std::size_t kMostKnown = std::size_t{1} << 25;  // entries of clocks of a rank
constexpr std::uint32_t kNoNode = UINT32_MAX;

std::int32_t as_i32(std::uint64_t value) { return static_cast<std::int32_t>(value); }

// sendrecv and alltoallv are custom.
CollectiveOp collective_of(const std::string& name) {
  for (const auto& [known, op] : kMscclNamesOfCollectives) {
    if (name == known) return op;
  }
  return CollectiveOp::custom;
}

// A step of the program under construction. Its waits may be any number, and of steps that are not
// made yet.
struct Node {
  ProgramStep step;
  std::uint32_t rank = 0;
  std::uint32_t block = 0;
  std::vector<std::uint32_t> after;  // nodes of the same rank
  std::uint32_t sent_by = kNoNode;   // of a receive: its send
};

class Lowering {
 public:
  Lowering(const Plan& plan, Bytes size) : plan_(plan), size_(size) { choose_fineness(); }

  Program lower() {
    start_program();
    blocks_.resize(plan_.gpus.size());
    for (rank_ = 0; rank_ < plan_.gpus.size(); ++rank_) {
      blocks_[rank_].resize(plan_.gpus[rank_].blocks.size());
    }
    for (rank_ = 0; rank_ < plan_.gpus.size(); ++rank_) {
      for (tb_ = 0; tb_ < plan_.gpus[rank_].blocks.size(); ++tb_) lower_block();
    }
    resolve();
    for (rank_ = 0; rank_ < blocks_.size(); ++rank_) order_released_writes();
    write_steps();
    return std::move(program_);
  }

 private:
  enum class PortKind : std::uint8_t { data, relaxed, proxy };
  struct Block {
    std::int32_t peer = kNoPeer;  // sends to it and receives from it
    std::uint32_t channel = 0;
    std::vector<std::uint32_t> nodes;
  };
  struct Port {
    std::uint32_t block = 0;    // of the thread block's rank
    std::uint32_t landing = 0;  // block of the peer
    std::uint32_t last = kNoNode;
  };
  // rank, peer, type, pair of buffers, number: one direction of a channel, as its sender names it.
  using ChannelKey =
      std::tuple<std::uint32_t, std::uint32_t, ChannelType, std::string, std::uint32_t>;
  // Something that a thread block does on an object that it shares, in order.
  struct Use {
    std::uint32_t node = 0;
    std::uint32_t block = 0;  // thread block
    const Op* op = nullptr;
  };
  struct PacketRead {
    std::uint32_t node = 0;
    std::uint32_t rank = 0;
    std::uint64_t first = 0;
    std::uint64_t count = 0;
    const Op* op = nullptr;
  };
  struct StepWait {
    std::uint32_t node = 0;
    std::uint32_t tb = 0;
    std::uint32_t step = 0;
    const Op* op = nullptr;
  };

  [[noreturn]] static void fail(const ProgramStep& at, const Op& op, const std::string& what,
                                const std::string& hint = {}) {
    throw PlanError(op.place,
                    fmt::format("gpu {} tb {} op {}: {}: {}", at.plan_gpu, at.plan_block,
                                at.plan_step, op.name, what),
                    hint);
  }
  [[noreturn]] void fail(const Op& op, const std::string& what,
                         const std::string& hint = {}) const {
    fail(place_, op, what, hint);
  }

  // ---------------------------------------------------------------- sizes

  // Chunks of the program in one chunk of the plan, so that slices and the pieces of pipelines are
  // whole chunks.
  void choose_fineness() {
    for (const Gpu& gpu : plan_.gpus) {
      chunks_ = std::max({chunks_, gpu.input_chunks, gpu.output_chunks});
    }
    if (chunks_ == 0) throw PlanError(plan_.gpus[0].place, "the plan has no input and no output");
    for (const Gpu& gpu : plan_.gpus) {
      for (const std::vector<Op>& ops : gpu.blocks) {
        for (const Op& op : ops) {
          refine(op, 1, 1);
          const std::uint64_t pieces = pieces_of(op);
          for (const Op& inner : op.ops) refine(inner, pieces, op.unit_chunks);
        }
      }
    }
  }
  void refine(const Op& op, std::uint64_t pieces, std::uint64_t chunks) {
    const auto parts = pieces * op.slices;
    for (const auto* ranges : {&op.src, &op.dst}) {
      for (const Range& range : *ranges) {
        const std::uint64_t whole = pieces == 1 ? range.count : chunks;
        fineness_ = std::lcm(fineness_, parts / std::gcd(parts, whole));
        if (fineness_ <= static_cast<std::uint64_t>(kMostChunksOfBuffer) / chunks_) continue;
        throw PlanError(op.place,
                        fmt::format("{}: slices and pieces of pipelines cut the {} chunks "
                                    "into more than {} parts",
                                    op.name, chunks_, kMostChunksOfBuffer));
      }
    }
  }
  // How often a pipeline runs.
  [[nodiscard]] std::uint64_t pieces_of(const Op& op) const {
    if (op.unit_chunks == 0) return 1;
    const Bytes bytes = (size_ + chunks_ - 1) / chunks_;
    const Bytes whole = bytes * std::min<std::uint64_t>(op.unit_chunks, chunks_);
    const std::uint64_t pieces =
        size_ == 0 ? op.unit_chunks : (whole + op.unit_bytes - 1) / op.unit_bytes;
    if (pieces > kMostWork) throw PlanError(op.place, "pipeline: it has too many pieces");
    return std::max<std::uint64_t>(pieces, 1);
  }

  void start_program() {
    program_.name = plan_.name;
    program_.collective = collective_of(plan_.collective);
    program_.in_place = plan_.in_place;
    program_.one_sided = true;
    program_.protocol = Protocol::message;
    program_.chunks = static_cast<std::uint32_t>(chunks_ * fineness_);
    program_.multiple = std::lcm<Bytes>(16, chunks_);
    program_.min_bytes = plan_.min_bytes;
    program_.max_bytes = plan_.max_bytes;
    std::uint64_t all = 0;
    for (const Gpu& gpu : plan_.gpus) {
      RankProgram& rank = program_.ranks.emplace_back();
      const auto fine = [&](std::uint64_t chunks) {
        all += chunks * fineness_;
        if (all <= static_cast<std::uint64_t>(kMostChunksOfProgram)) {
          return static_cast<std::uint32_t>(chunks * fineness_);
        }
        throw PlanError(gpu.place, fmt::format("all buffers together have more than {} chunks",
                                               kMostChunksOfProgram));
      };
      rank.input_chunks = fine(gpu.input_chunks);
      rank.output_chunks = fine(gpu.output_chunks);
      rank.scratch_chunks = fine(gpu.scratch_chunks);
      rank.line = gpu.place.line;
    }
    if (plan_.collective == "sendrecv" && plan_.gpus.size() == 2) promise_exchange();
  }

  // Each of two ranks has the other's input.
  void promise_exchange() {
    for (std::uint32_t r = 0; r < 2; ++r) {
      const RankProgram& peer = program_.ranks[1 - r];
      const std::uint32_t chunks = std::min(peer.input_chunks, program_.ranks[r].output_chunks);
      for (std::uint32_t k = 0; k < chunks; ++k) program_.promises.push_back({r, k, {{1 - r, k}}});
    }
  }

  // ---------------------------------------------------------------- thread blocks

  void lower_block() {
    ports_.clear();
    tail_.clear();
    home_is_free_ = true;
    unsynced_ = nullptr;
    const std::vector<Op>& ops = plan_.gpus[rank_].blocks[tb_];
    for (std::size_t s = 0; s < ops.size(); ++s) {
      place_.plan_gpu = as_i32(rank_);
      place_.plan_block = as_i32(tb_);
      place_.plan_step = as_i32(s);
      place_.line = ops[s].place.line;
      piece_ = unit_ = 0;
      if (ops[s].unit_chunks == 0) {
        lower(ops[s]);
      } else {
        const std::uint64_t pieces = pieces_of(ops[s]);
        unit_ = ops[s].unit_chunks * fineness_ / pieces;
        for (; piece_ < pieces && !ops[s].ops.empty(); ++piece_) {
          for (const Op& inner : ops[s].ops) lower(inner);
        }
      }
      ends_[{rank_, tb_, static_cast<std::uint32_t>(s)}] = tail_;
    }
  }

  void lower(const Op& op) {
    using Lower = void (Lowering::*)(const Op&);
    static constexpr std::pair<Lower, const char*> kLowerings[] = {
        {&Lowering::wait_for_steps, " nop "},
        {&Lowering::barrier, " barrier "},
        {&Lowering::acquire, " sem_acquire "},
        {&Lowering::release, " sem_release "},
        {&Lowering::signal, " signal rlxsignal "},
        {&Lowering::wait, " wait rlxwait "},
        {&Lowering::flush, " flush "},
        {&Lowering::copy, " copy cpkt upkt "},
        {&Lowering::put, " put pws pwsf ppkt rppkt "},
        {&Lowering::get, " get "},
        {&Lowering::reduce, " re res rre rres repkt respkt recpkt recspkt "}};
    if (op.name == "glres" || op.name == "gstore" || op.name == "gstorepkt") {
      fail(op, "needs a machine whose thread blocks command switches that add and copy",
           "system.dimensions with algorithm: in_network has such switches, but no thread blocks");
    }
    const auto* const found =
        std::find_if(std::begin(kLowerings), std::end(kLowerings), [&](const auto& lowering) {
          return std::string(lowering.second).find(" " + op.name + " ") != std::string::npos;
        });
    if (found == std::end(kLowerings)) fail(op, "is not known");
    op_ = &op;
    count_work(1);
    // Packets carry the order with the data, so they need no signal.
    is_packets_ = op.name.size() > 3 && op.name.substr(op.name.size() - 3) == "pkt";
    (this->*found->first)(op);
  }

  // ---------------------------------------------------------------- nodes

  // Plans of a few bytes must neither run for long nor fill the memory.
  void count_work(std::uint64_t work) {
    work_ += work;
    if (work_ > kMostWork)
      fail(*op_, "the plan repeats too many operations, or moves too many chunks");
  }
  std::uint32_t add(std::uint32_t rank, std::uint32_t block, ProgramStep step,
                    std::vector<std::uint32_t> after = {}) {
    count_work(kWorkOfStep + step.count);
    step.plan_gpu = place_.plan_gpu;
    step.plan_block = place_.plan_block;
    step.plan_step = place_.plan_step;
    step.line = place_.line;
    const auto id = static_cast<std::uint32_t>(nodes_.size());
    nodes_.push_back({step, rank, block, std::move(after)});
    blocks_[rank][block].nodes.push_back(id);
    return id;
  }
  // A step of the thread block, behind all that it has done.
  std::uint32_t then(std::uint32_t block, const ProgramStep& step) {
    return add(rank_, block, step, tail_);
  }
  std::uint32_t then_nop() {
    const std::uint32_t node = then(tb_, {});
    tail_ = {node};
    return node;
  }

  Port& port(std::uint32_t peer, PortKind kind) {
    const auto [found, is_new] = ports_.try_emplace({peer, kind});
    Port& port = found->second;
    if (!is_new) return port;
    // The thread block itself is its first port, which saves hand-overs between blocks.
    const bool is_home = home_is_free_ && kind == PortKind::data;
    if (is_home) home_is_free_ = false;
    const auto pair = std::minmax(rank_, peer);
    const std::uint32_t channel = channels_[pair]++;
    program_.num_channels = std::max(program_.num_channels, channel + 1);
    port.block = is_home ? tb_ : static_cast<std::uint32_t>(blocks_[rank_].size());
    if (!is_home) blocks_[rank_].emplace_back();
    port.landing = static_cast<std::uint32_t>(blocks_[peer].size());
    blocks_[peer].emplace_back();
    blocks_[rank_][port.block].peer = as_i32(peer);
    blocks_[rank_][port.block].channel = channel;
    blocks_[peer][port.landing].peer = as_i32(rank_);
    blocks_[peer][port.landing].channel = channel;
    return port;
  }

  // The chunks of the program that the operation touches of a range: its slice, its piece.
  [[nodiscard]] Range fine(const Op& op, const Range& range) const {
    Range fine = range;
    fine.index = range.index * fineness_;
    fine.count = range.count * fineness_;
    if (unit_ != 0) {
      fine.index += piece_ * unit_;
      fine.count = unit_;
    }
    const std::uint64_t begin = fine.count * op.slice / op.slices;
    const std::uint64_t end = fine.count * (op.slice + 1) / op.slices;
    fine.index += begin;
    fine.count = end - begin;
    return fine;
  }
  static ProgramStep step(ProgramOp op, const Range* src, const Range* dst) {
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

  [[nodiscard]] bool is_own(const Range& range) const { return range.rank == rank_; }
  [[nodiscard]] std::vector<Range> fine(const Op& op, const std::vector<Range>& ranges, bool own) {
    std::vector<Range> found;
    for (const Range& range : ranges) {
      if (is_own(range) == own) found.push_back(fine(op, range));
    }
    return found;
  }
  void expect_equal(const Op& op, const Range& a, const Range& b) const {
    if (a.count == b.count) return;
    fail(op, "its source and its target have unequal numbers of chunks");
  }
  [[nodiscard]] PortKind kind_of(const Op& op) const {
    return op.type == ChannelType::port ? PortKind::proxy : PortKind::data;
  }
  void expect_memory(const Op& op) const {
    if (op.type == ChannelType::port) fail(op, "a proxy does not read or add");
    if (is_packets_) fail(op, "packets are read in the own scratch only");
  }

  // ---------------------------------------------------------------- packets

  void note_data(const Op& op) {
    (is_packets_ ? packets_ : plain_) = &op;
    if (packets_ != nullptr && plain_ != nullptr) {
      fail(op, "the plan sends packets as well as plain data, but a program has one protocol");
    }
    if (is_packets_) program_.protocol = Protocol::ll;
  }
  void wrote(std::uint32_t node, const Range& range, const Op& op) {
    if (!is_packets_ || range.buffer != ProgramBuffer::scratch) return;
    count_work(range.count * kWorkOfStep);
    for (std::uint64_t k = range.index; k < range.index + range.count; ++k) {
      const auto [first, is_new] = packet_writers_.emplace(std::make_pair(range.rank, k), node);
      if (is_new) continue;
      const ProgramStep& by = nodes_[first->second].step;
      fail(op, fmt::format("packets of scratch chunk {} of gpu {} are written twice in a call: by "
                           "gpu {} tb {} op {} before",
                           k / fineness_, range.rank, by.plan_gpu, by.plan_block, by.plan_step));
    }
  }
  void reads_packets(std::uint32_t node, const Range& range, const Op& op) {
    if (!is_packets_ || range.buffer != ProgramBuffer::scratch) return;
    count_work(range.count);
    packet_reads_.push_back({node, range.rank, range.index, range.count, &op});
  }

  // ---------------------------------------------------------------- operations

  void wait_for_steps(const Op& op) {
    unsynced_ = nullptr;
    if (op.after.empty()) return;
    const std::uint32_t node = then_nop();
    for (const auto& [tb, step] : op.after) step_waits_.push_back({node, tb, step, &op});
  }
  void barrier(const Op& op) {
    unsynced_ = nullptr;
    const std::uint32_t arrives = then_nop();
    barriers_[{rank_, op.barrier}].push_back({arrives, tb_, &op});
    then_nop();
  }
  void acquire(const Op& op) {
    const std::uint32_t node = then_nop();
    for (const std::uint32_t s : op.semaphores) acquires_[{rank_, s}].push_back({node, tb_, &op});
  }
  // One thread tells of what all threads of the block have written.
  void expect_synced(const Op& op) const {
    if (unsynced_ == nullptr) return;
    fail(op,
         fmt::format("the threads of the block may still be at work on {} before it",
                     unsynced_->name),
         "write a nop between the two");
  }
  void release(const Op& op) {
    expect_synced(op);
    const std::uint32_t node = then_nop();
    for (const std::uint32_t s : op.semaphores) releases_[{rank_, s}].push_back({node, tb_, &op});
  }

  std::uint32_t send_signal(const Channel& channel, const Op& op, PortKind kind,
                            const std::vector<std::uint32_t>& after) {
    Port& to = port(channel.peer, kind);
    const std::uint32_t sent = add(rank_, to.block, step(ProgramOp::send, nullptr, nullptr), after);
    const std::uint32_t landed =
        add(channel.peer, to.landing, step(ProgramOp::recv, nullptr, nullptr));
    nodes_[landed].sent_by = sent;
    signals_[{rank_, channel.peer, channel.type, channel.buffers, channel.number}].push_back(
        {landed, tb_, &op});
    to.last = sent;
    return sent;
  }
  void signal(const Op& op) {
    std::vector<std::uint32_t> sent;
    const bool is_relaxed = op.name == "rlxsignal";
    if (!is_relaxed) expect_synced(op);
    for (const Channel& channel : op.channels) {
      const bool by_proxy = channel.type == ChannelType::port;
      const PortKind kind = by_proxy     ? PortKind::proxy
                            : is_relaxed ? PortKind::relaxed
                                         : PortKind::data;
      const std::uint32_t node = send_signal(channel, op, kind, tail_);
      if (!by_proxy) sent.push_back(node);
    }
    if (!sent.empty()) tail_ = sent;
  }
  void wait(const Op& op) {
    const std::uint32_t node = then_nop();
    for (const Channel& channel : op.channels) {
      waits_[{channel.peer, rank_, channel.type, channel.buffers, channel.number}].push_back(
          {node, tb_, &op});
    }
  }
  void flush(const Op& op) {
    static_cast<void>(op);
    std::vector<std::uint32_t> left;
    for (const Channel& channel : op.channels) {
      const auto found = ports_.find({channel.peer, PortKind::proxy});
      if (found != ports_.end()) left.push_back(found->second.last);
    }
    if (left.empty()) return;
    left.insert(left.end(), tail_.begin(), tail_.end());
    tail_ = {add(rank_, tb_, {}, left)};
  }

  // The messages that write a range of this rank to other ranks.
  void send_all(const Op& op, const std::vector<std::pair<Range, Range>>& pairs, PortKind kind) {
    std::vector<std::uint32_t> sent;
    const auto is_on = [](const Channel& channel, const std::pair<Range, Range>& pair) {
      return channel.peer == pair.second.rank;
    };
    if (kind == PortKind::proxy &&
        !std::equal(op.channels.begin(), op.channels.end(), pairs.begin(), pairs.end(), is_on)) {
      fail(op, "its channels, one for each target, lead to other ranks than its targets");
    }
    for (const auto& [src, dst] : pairs) {
      note_data(op);
      expect_equal(op, src, dst);
      Port& to = port(dst.rank, kind);
      const std::uint32_t node = then(to.block, step(ProgramOp::send, &src, nullptr));
      const std::uint32_t landed = add(dst.rank, to.landing, step(ProgramOp::recv, nullptr, &dst));
      nodes_[landed].sent_by = node;
      puts_[{rank_, dst.rank}][to.block].push_back(landed);
      // A proxy takes packets as they are.
      if (op.name == "rppkt" || (op.name == "ppkt" && kind == PortKind::proxy)) {
        reads_packets(node, src, op);
      }
      wrote(landed, dst, op);
      to.last = node;
      if (kind != PortKind::proxy) sent.push_back(node);
    }
    if (!sent.empty()) tail_ = sent;
    if (!sent.empty() && !is_packets_) unsynced_ = &op;
  }
  void put(const Op& op) {
    if (op.src.empty() || op.dst.empty() ||
        (op.src.size() != op.dst.size() && op.src.size() != 1)) {
      fail(op, fmt::format("has {} sources and {} targets", op.src.size(), op.dst.size()));
    }
    const bool signals = op.name == "pws" || op.name == "pwsf";
    if (signals && op.type != ChannelType::port) fail(op, "needs a port channel");
    std::vector<std::pair<Range, Range>> pairs;
    for (std::size_t i = 0; i < op.dst.size(); ++i) {
      const Range& src = op.src[op.src.size() == 1 ? 0 : i];
      if (!is_own(src) || is_own(op.dst[i])) {
        fail(op, "its source must be its own buffer, and its target another rank's");
      }
      pairs.emplace_back(fine(op, src), fine(op, op.dst[i]));
    }
    send_all(op, pairs, kind_of(op));
    if (!signals) return;
    for (const Channel& channel : op.channels) send_signal(channel, op, PortKind::proxy, tail_);
    if (op.name == "pwsf") flush(op);
  }

  void copy(const Op& op) {
    if (op.src.size() != op.dst.size() || op.src.empty()) {
      fail(op, fmt::format("has {} sources and {} targets", op.src.size(), op.dst.size()));
    }
    for (std::size_t i = 0; i < op.src.size(); ++i) {
      if (!is_own(op.src[i]) || !is_own(op.dst[i])) fail(op, "names another rank's buffer");
      copy(op, fine(op, op.src[i]), fine(op, op.dst[i]));
    }
  }
  void copy(const Op& op, const Range& src, const Range& dst) {
    expect_equal(op, src, dst);
    const std::uint32_t node = then(tb_, step(ProgramOp::copy, &src, &dst));
    // Schema 1 has the word cpkt for the way back from packets.
    const bool unpacks = op.name == "upkt" || dst.buffer != ProgramBuffer::scratch;
    if (unpacks) {
      reads_packets(node, src, op);
    } else {
      wrote(node, dst, op);
    }
    tail_ = {node};
    if (!is_packets_) unsynced_ = &op;
  }

  // Asks for the ranges, all at once, then takes the answers in turn: make(i) is the step that
  // takes the i-th.
  template <class Make>
  void read_remote(const Op& op, const std::vector<Range>& ranges, const Make& make) {
    if (ranges.empty()) return;
    expect_memory(op);
    std::vector<std::uint32_t> asked = tail_;
    for (const Range& range : ranges) {
      note_data(op);
      const Port& to = port(range.rank, PortKind::data);
      asked.push_back(then(to.block, step(ProgramOp::send, nullptr, nullptr)));
      add(range.rank, to.landing, step(ProgramOp::recv, nullptr, nullptr));
      add(range.rank, to.landing, step(ProgramOp::send, &range, nullptr));
    }
    tail_ = asked;
    for (std::size_t i = 0; i < ranges.size(); ++i) {
      const std::uint32_t taken = then(port(ranges[i].rank, PortKind::data).block, make(i));
      tail_ = {taken};
    }
  }
  void get(const Op& op) {
    const std::vector<Range> from = fine(op, op.src, false);
    const std::vector<Range> into = fine(op, op.dst, true);
    if (from.empty() || from.size() != into.size() || op.src.size() != op.dst.size()) {
      fail(op, "needs as many targets of its own as sources of other ranks");
    }
    for (std::size_t i = 0; i < from.size(); ++i) {
      expect_equal(op, from[i], into[i]);
      if (from[i].index == into[i].index) continue;
      fail(op, "executors exchange its two indices, so it is right only if both are equal",
           "write the same index in src_buff and dst_buff");
    }
    read_remote(op, from, [&](std::size_t i) { return step(ProgramOp::recv, nullptr, &into[i]); });
    unsynced_ = &op;
  }

  void reduce(const Op& op) {
    const std::vector<Range> own = fine(op, op.src, true);
    const std::vector<Range> others = fine(op, op.src, false);
    const std::vector<Range> results = fine(op, op.dst, true);
    const std::vector<Range> targets = fine(op, op.dst, false);
    if (own.empty() || results.empty() || !is_own(op.dst[0])) {
      fail(op, "needs a first source and a first target among its own buffers");
    }
    const bool reads = op.name == "rre" || op.name == "rres";
    if (!reads && !others.empty()) fail(op, "reads from other ranks");
    if (op.name.find('s') == std::string::npos && !targets.empty())
      fail(op, "writes to other ranks");
    const Range& sum = results[0];
    for (const Range& range : others) expect_equal(op, range, sum);
    for (const Range& range : own) expect_equal(op, range, sum);
    const auto is_sum = [&](const Range& range) {
      return range.buffer == sum.buffer && range.index == sum.index;
    };
    add_own(op, own, sum,
            static_cast<std::size_t>(std::find_if(own.begin(), own.end(), is_sum) - own.begin()),
            !others.empty());
    // The first answer is added to the only own source, where it stands.
    read_remote(op, others, [&](std::size_t i) {
      return step(ProgramOp::recv_reduce_copy, i == 0 && own.size() == 1 ? own.data() : &sum, &sum);
    });
    if (!tail_.empty()) wrote(tail_.back(), sum, op);
    for (std::size_t i = 1; i < results.size(); ++i) {
      expect_equal(op, sum, results[i]);
      const std::uint32_t node = then(tb_, step(ProgramOp::copy, &sum, &results[i]));
      wrote(node, results[i], op);
      tail_ = {node};
    }
    if (!is_packets_) unsynced_ = &op;
    std::vector<std::pair<Range, Range>> pairs;
    for (const Range& target : targets) pairs.emplace_back(sum, target);
    send_all(op, pairs, kind_of(op));
  }

  // Sums the rank's own sources. `in_place` is the source that is the target, or own.size().
  void add_own(const Op& op, const std::vector<Range>& own, const Range& sum, std::size_t in_place,
               bool has_others) {
    const bool is_in_place = in_place < own.size();
    if (own.size() == 1 && (has_others || is_in_place)) return;
    // In place, input and output are one memory, so the sum begins with what is there already.
    const auto is_scratch = [](const Range& range) {
      return range.buffer == ProgramBuffer::scratch;
    };
    const auto kept = std::find_if_not(own.begin(), own.end(), is_scratch);
    const std::size_t first = is_in_place         ? in_place
                              : kept == own.end() ? 0
                                                  : static_cast<std::size_t>(kept - own.begin());
    if (!is_in_place) {
      const std::uint32_t node = then(tb_, step(ProgramOp::copy, &own[first], &sum));
      reads_packets(node, own[first], op);
      tail_ = {node};
    }
    for (std::size_t i = 0; i < own.size(); ++i) {
      if (i == first) continue;
      const std::uint32_t node = then(tb_, step(ProgramOp::reduce, &own[i], &sum));
      reads_packets(node, own[i], op);
      // The packets of the target are waited for, too.
      if (is_in_place) reads_packets(node, sum, op);
      tail_ = {node};
    }
  }

  // ---------------------------------------------------------------- what waits for what

  // The only thread block that uses an object in one way; the object's order is otherwise open.
  void expect_one_block(const std::vector<Use>& uses, const char* object) const {
    for (const Use& use : uses) {
      if (use.block == uses.front().block) continue;
      fail(nodes_[use.node].step, *use.op,
           fmt::format("tb {} does the same on its {}; which of the two comes first is open",
                       uses.front().block, object));
    }
  }
  void pair(const std::vector<Use>& waits, const std::vector<Use>* signals, std::size_t initial,
            const char* object, const char* lacks) {
    expect_one_block(waits, object);
    if (signals != nullptr) expect_one_block(*signals, object);
    for (std::size_t k = initial; k < waits.size(); ++k) {
      if (signals == nullptr || k - initial >= signals->size()) {
        fail(
            nodes_[waits[k].node].step, *waits[k].op,
            fmt::format(lacks, waits.size(), initial + (signals == nullptr ? 0 : signals->size())));
      }
      const std::uint32_t signal = (*signals)[k - initial].node;
      nodes_[waits[k].node].after.push_back(signal);
      if ((*signals)[k - initial].op->name == "signal") {
        released_[nodes_[nodes_[signal].sent_by].rank].emplace_back(waits[k].node, signal);
      }
    }
  }
  void resolve() {
    for (const auto& [key, waits] : waits_) {
      const auto found = signals_.find(key);
      pair(waits, found == signals_.end() ? nullptr : &found->second, 0, "channel",
           "unmatched: the channel has {} waits, but its peer sends {} signals");
    }
    for (const auto& [key, signals] : signals_) {
      const auto found = waits_.find(key);
      const std::size_t waits = found == waits_.end() ? 0 : found->second.size();
      if (waits >= signals.size()) continue;
      fail(nodes_[signals[waits].node].step, *signals[waits].op,
           fmt::format("unmatched: the channel has {} signals, but its peer waits {} times; a wait "
                       "of the next call would take the rest",
                       signals.size(), waits));
    }
    for (const auto& [key, acquires] : acquires_) {
      const auto found = releases_.find(key);
      pair(acquires, found == releases_.end() ? nullptr : &found->second,
           plan_.gpus[key.first].semaphores[key.second], "semaphore",
           "unmatched: the semaphore is acquired {} times, but has {} releases and initial values");
    }
    resolve_barriers();
    for (const StepWait& wait : step_waits_) {
      const std::uint32_t rank = nodes_[wait.node].rank;
      const auto found = ends_.find({rank, wait.tb, wait.step});
      if (found == ends_.end()) {
        fail(nodes_[wait.node].step, *wait.op,
             fmt::format("waits for tb {} step {}, which does not exist", wait.tb, wait.step));
      }
      for (const std::uint32_t node : found->second) nodes_[wait.node].after.push_back(node);
    }
    for (const PacketRead& read : packet_reads_) {
      for (std::uint64_t k = read.first; k < read.first + read.count; ++k) {
        const auto found = packet_writers_.find({read.rank, k});
        if (found == packet_writers_.end()) {
          fail(nodes_[read.node].step, *read.op,
               fmt::format("waits for packets in scratch chunk {}, but nobody writes them",
                           k / fineness_));
        }
        nodes_[read.node].after.push_back(found->second);
      }
    }
  }
  void resolve_barriers() {
    for (const auto& [key, uses] : barriers_) {
      std::map<std::uint32_t, std::vector<Use>> of_block;
      for (const Use& use : uses) of_block[use.block].push_back(use);
      const std::size_t times = of_block.begin()->second.size();
      for (const auto& [block, arrivals] : of_block) {
        const Op& op = *arrivals.front().op;
        const ProgramStep& at = nodes_[arrivals.front().node].step;
        if (of_block.size() != op.barrier_blocks) {
          fail(at, op,
               fmt::format("{} thread blocks meet at barrier {}, not {}", of_block.size(),
                           key.second, op.barrier_blocks));
        }
        if (arrivals.size() != times) {
          fail(at, op,
               fmt::format("comes to barrier {} {} times, tb {} {} times", key.second,
                           arrivals.size(), of_block.begin()->first, times));
        }
        for (std::size_t k = 0; k < times; ++k) {
          // The step behind the arrival leaves the barrier.
          std::vector<std::uint32_t>& after = nodes_[arrivals[k].node + 1].after;
          for (const auto& [other, others] : of_block) {
            if (other != block) after.push_back(others[k].node);
          }
        }
      }
    }
  }

  // A signal releases the writes of other thread blocks of its rank, too, which have met the
  // signal's thread block before. Their data may still be under way, so the wait is for them as
  // well. What has ended before a step of this rank is the newest node of each of its blocks.
  void order_released_writes() {
    const auto found = released_.find(rank_);
    const std::vector<Block>& blocks = blocks_[rank_];
    std::size_t of_rank = 0;
    for (const Block& block : blocks) of_rank += block.nodes.size();
    if (found == released_.end() || plan_.gpus[rank_].blocks.size() < 2) return;
    if (of_rank > kMostKnown / blocks.size()) {
      throw PlanError(plan_.gpus[rank_].place,
                      fmt::format("gpu {}: {} steps in {} thread blocks and ports are too many",
                                  rank_, of_rank, blocks.size()));
    }
    std::map<std::uint32_t, std::vector<std::uint32_t>> known;  // by node: by block, node + 1
    std::vector<std::size_t> next(blocks.size());
    for (bool moves = true; moves;) {
      moves = false;
      for (std::uint32_t b = 0; b < blocks.size(); ++b) {
        for (; next[b] < blocks[b].nodes.size(); ++next[b], moves = true) {
          const std::uint32_t id = blocks[b].nodes[next[b]];
          std::vector<std::uint32_t> before = nodes_[id].after;
          if (next[b] != 0) before.push_back(blocks[b].nodes[next[b] - 1]);
          const auto is_done = [&](std::uint32_t node) { return known.count(node) != 0; };
          if (!std::all_of(before.begin(), before.end(), is_done)) break;
          std::vector<std::uint32_t> now(blocks.size());
          for (const std::uint32_t node : before) {
            const std::vector<std::uint32_t>& then = known[node];
            for (std::size_t i = 0; i < now.size(); ++i) now[i] = std::max(now[i], then[i]);
          }
          now[b] = id + 1;
          known.emplace(id, std::move(now));
        }
      }
    }
    for (const auto& [wait, signal] : found->second) {
      const auto at = known.find(nodes_[signal].sent_by);
      if (at == known.end()) continue;  // a deadlock, which the certifier finds
      for (const auto& [block, landed] : puts_[{rank_, nodes_[wait].rank}]) {
        const std::uint32_t known_end = at->second[block];
        const auto behind = std::find_if(landed.begin(), landed.end(), [&](std::uint32_t node) {
          return nodes_[node].sent_by >= known_end;
        });
        const bool is_own = block == nodes_[nodes_[signal].sent_by].block;
        if (behind != landed.begin() && !is_own) nodes_[wait].after.push_back(*(behind - 1));
      }
    }
  }

  // ---------------------------------------------------------------- the program

  // A step waits for one other; nops before it wait for the rest.
  void write_steps() {
    std::vector<std::int32_t> index(nodes_.size());
    for (std::size_t r = 0; r < blocks_.size(); ++r) {
      for (std::size_t b = 0; b < blocks_[r].size(); ++b) {
        std::int32_t next = 0;
        for (const std::uint32_t id : blocks_[r][b].nodes) {
          std::vector<std::uint32_t>& after = nodes_[id].after;
          const auto is_implied = [&](std::uint32_t node) {
            return nodes_[node].block == b && node < id;
          };
          after.erase(std::remove_if(after.begin(), after.end(), is_implied), after.end());
          std::sort(after.begin(), after.end());
          after.erase(std::unique(after.begin(), after.end()), after.end());
          next += std::max(as_i32(after.size()), 1);
          index[id] = next - 1;
        }
      }
    }
    std::vector<char> is_awaited(nodes_.size());
    for (const Node& node : nodes_) {
      for (const std::uint32_t id : node.after) is_awaited[id] = 1;
    }
    for (std::size_t r = 0; r < blocks_.size(); ++r) {
      for (const Block& block : blocks_[r]) {
        ThreadBlock& made = program_.ranks[r].blocks.emplace_back();
        made.send_peer = made.recv_peer = block.peer;
        made.channel = block.channel;
        for (const std::uint32_t id : block.nodes)
          write_node(nodes_[id], is_awaited[id] != 0, index, made);
      }
    }
  }
  void write_node(const Node& node, bool is_awaited, const std::vector<std::int32_t>& index,
                  ThreadBlock& made) {
    ProgramStep step = node.step;
    for (std::size_t i = 0; i < node.after.size(); ++i) {
      const bool is_last = i + 1 == node.after.size();
      ProgramStep waits = node.step;
      if (!is_last) {
        waits = {};
        waits.plan_gpu = node.step.plan_gpu;
        waits.plan_block = node.step.plan_block;
        waits.plan_step = node.step.plan_step;
        waits.line = node.step.line;
      }
      waits.wait_block = as_i32(nodes_[node.after[i]].block);
      waits.wait_step = index[node.after[i]];
      if (is_last) {
        step = waits;
      } else {
        made.steps.push_back(waits);
      }
    }
    step.signals = is_awaited;
    made.steps.push_back(step);
  }

  const Plan& plan_;
  Bytes size_;
  std::uint32_t chunks_ = 0;  // of the plan
  std::uint64_t fineness_ = 1;
  Program program_;
  std::vector<Node> nodes_;
  std::vector<std::vector<Block>> blocks_;                                     // by rank
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint32_t> channels_;  // of two ranks

  std::map<ChannelKey, std::vector<Use>> signals_;
  std::map<ChannelKey, std::vector<Use>> waits_;
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::vector<Use>> acquires_;
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::vector<Use>> releases_;
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::vector<Use>> barriers_;
  std::map<std::tuple<std::uint32_t, std::uint32_t, std::uint32_t>, std::vector<std::uint32_t>>
      ends_;
  // By two ranks and the sender's block: where its puts land. By rank: waits for its signals.
  std::map<std::pair<std::uint32_t, std::uint32_t>,
           std::map<std::uint32_t, std::vector<std::uint32_t>>>
      puts_;
  std::map<std::uint32_t, std::vector<std::pair<std::uint32_t, std::uint32_t>>> released_;
  std::vector<StepWait> step_waits_;
  std::vector<PacketRead> packet_reads_;
  std::map<std::pair<std::uint32_t, std::uint64_t>, std::uint32_t> packet_writers_;

  // The operation that is being lowered.
  std::uint32_t rank_ = 0;
  std::uint32_t tb_ = 0;
  ProgramStep place_;
  const Op* op_ = nullptr;
  bool is_packets_ = false;
  std::uint64_t work_ = 0;
  std::uint64_t piece_ = 0;
  std::uint64_t unit_ = 0;  // chunks of the program in a piece; 0: in no pipeline
  // The thread block.
  std::map<std::pair<std::uint32_t, PortKind>, Port> ports_;
  std::vector<std::uint32_t> tail_;  // what it has done last
  bool home_is_free_ = true;
  const Op* unsynced_ = nullptr;  // the last that wrote data, if no nop followed
  const Op* packets_ = nullptr;   // an operation that moves packets
  const Op* plain_ = nullptr;     // and one that does not
};

}  // namespace

Program lower_plan(const Plan& plan, Bytes size) { return Lowering(plan, size).lower(); }

}  // namespace espalier::mscclpp
