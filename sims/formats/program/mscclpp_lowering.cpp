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

#include "sims/formats/program/msccl_format.h"
#include "sims/formats/program/mscclpp_switches.h"

namespace espalier::mscclpp {

namespace {

constexpr std::uint64_t kMostPieces = std::uint64_t{1} << 26;

// sendrecv and alltoallv are custom.
CollectiveOp collective_of(const std::string& name) {
  for (const auto& [known, op] : kMscclNamesOfCollectives) {
    if (name == known) return op;
  }
  return CollectiveOp::custom;
}

class Lowering {
 public:
  Lowering(const Plan& plan, Bytes size) : plan_(plan), size_(size), steps_(plan, fineness_) {
    choose_fineness();
  }

  Program lower() {
    start_program();
    for (rank_ = 0; rank_ < plan_.gpus.size(); ++rank_) {
      for (tb_ = 0; tb_ < plan_.gpus[rank_].blocks.size(); ++tb_) lower_block();
    }
    steps_.write(program_);
    return std::move(program_);
  }

 private:
  enum class PortKind : std::uint8_t { data, relaxed, proxy };
  struct Port {
    std::uint32_t block = 0;    // of the thread block's rank
    std::uint32_t landing = 0;  // block of the peer
    std::uint32_t last = kNoNode;
  };

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
    if (pieces > kMostPieces) throw PlanError(op.place, "pipeline: it has too many pieces");
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
    switch_ports_.clear();
    multicast_.clear();
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
      steps_.ends[{rank_, tb_, static_cast<std::uint32_t>(s)}] = tail_;
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
        {&Lowering::command_switch, " glres gstore gstorepkt "},
        {&Lowering::reduce, " re res rre rres repkt respkt recpkt recspkt "}};
    steps_.begin(op, place_);
    const auto* const found =
        std::find_if(std::begin(kLowerings), std::end(kLowerings), [&](const auto& lowering) {
          return std::string(lowering.second).find(" " + op.name + " ") != std::string::npos;
        });
    if (found == std::end(kLowerings)) steps_.fail("is not known");
    // Packets carry the order with the data, so they need no signal.
    is_packets_ = op.name.size() > 3 && op.name.substr(op.name.size() - 3) == "pkt";
    (this->*found->first)(op);
  }

  // ---------------------------------------------------------------- nodes

  // A step of the thread block, behind all that it has done.
  std::uint32_t then(std::uint32_t block, const ProgramStep& step) {
    return steps_.add(rank_, block, step, tail_);
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
    const std::uint32_t channel = steps_.new_channel(rank_, peer);
    port.block = is_home ? tb_ : steps_.add_block(rank_);
    port.landing = steps_.add_block(peer);
    steps_.connect(rank_, port.block, peer, port.landing, channel);
    steps_.connect(peer, port.landing, rank_, port.block, channel);
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
  [[nodiscard]] bool is_own(const Range& range) const { return range.rank == rank_; }
  [[nodiscard]] std::vector<Range> fine(const Op& op, const std::vector<Range>& ranges, bool own) {
    std::vector<Range> found;
    for (const Range& range : ranges) {
      if (is_own(range) == own) found.push_back(fine(op, range));
    }
    return found;
  }
  void expect_equal(const Range& a, const Range& b) const {
    if (a.count == b.count) return;
    steps_.fail("its source and its target have unequal numbers of chunks");
  }
  [[nodiscard]] PortKind kind_of(const Op& op) const {
    return op.type == ChannelType::port ? PortKind::proxy : PortKind::data;
  }
  void expect_memory(const Op& op) const {
    if (op.type == ChannelType::port) steps_.fail("a proxy does not read or add");
    if (is_packets_) steps_.fail("packets are read in the own scratch only");
  }

  // ---------------------------------------------------------------- packets

  void note_data(const Op& op) {
    (is_packets_ ? packets_ : plain_) = &op;
    if (packets_ != nullptr && plain_ != nullptr) {
      steps_.fail("the plan sends packets as well as plain data, but a program has one protocol");
    }
    if (is_packets_) program_.protocol = Protocol::ll;
  }
  void wrote(std::uint32_t node, const Range& range) {
    if (is_packets_) steps_.wrote_packets(node, range);
  }
  void reads_packets(std::uint32_t node, const Range& range) {
    if (is_packets_) steps_.reads_packets(node, range);
  }

  // ---------------------------------------------------------------- operations

  // The threads see what they have written; a switch brings it back to their own rank, too.
  void synchronize() {
    unsynced_ = nullptr;
    tail_.insert(tail_.end(), multicast_.begin(), multicast_.end());
    multicast_.clear();
  }
  void wait_for_steps(const Op& op) {
    synchronize();
    if (op.after.empty()) return;
    const std::uint32_t node = then_nop();
    for (const auto& [tb, step] : op.after) steps_.step_waits.push_back({node, {tb, step}});
  }
  void barrier(const Op& op) {
    synchronize();
    const std::uint32_t arrives = then_nop();
    steps_.barriers[{rank_, op.barrier}].push_back(arrives);
    then_nop();
  }
  void acquire(const Op& op) {
    const std::uint32_t node = then_nop();
    for (const std::uint32_t s : op.semaphores) steps_.acquires[{rank_, s}].push_back(node);
  }
  // One thread tells of what all threads of the block have written.
  void expect_synced() const {
    if (unsynced_ == nullptr) return;
    steps_.fail(fmt::format("the threads of the block may still be at work on {} before it",
                            unsynced_->name),
                "write a nop between the two");
  }
  void release(const Op& op) {
    expect_synced();
    const std::uint32_t node = then_nop();
    for (const std::uint32_t s : op.semaphores) steps_.releases[{rank_, s}].push_back(node);
  }

  std::uint32_t send_signal(const Channel& channel, PortKind kind,
                            const std::vector<std::uint32_t>& after) {
    Port& to = port(channel.peer, kind);
    const ProgramStep sends = step_of(ProgramOp::send, nullptr, nullptr);
    const std::uint32_t sent = steps_.add(rank_, to.block, sends, after);
    steps_.signals[{rank_, channel.peer, channel.type, channel.buffers, channel.number}].push_back(
        steps_.add(channel.peer, to.landing, step_of(ProgramOp::recv, nullptr, nullptr), {}, sent));
    to.last = sent;
    return sent;
  }
  void signal(const Op& op) {
    std::vector<std::uint32_t> sent;
    const bool is_relaxed = op.name == "rlxsignal";
    if (!is_relaxed) expect_synced();
    for (const Channel& channel : op.channels) {
      const bool by_proxy = channel.type == ChannelType::port;
      const PortKind kind = by_proxy     ? PortKind::proxy
                            : is_relaxed ? PortKind::relaxed
                                         : PortKind::data;
      const std::uint32_t node = send_signal(channel, kind, tail_);
      if (!by_proxy) sent.push_back(node);
    }
    if (!sent.empty()) tail_ = sent;
  }
  void wait(const Op& op) {
    const std::uint32_t node = then_nop();
    for (const Channel& channel : op.channels) {
      steps_.waits[{channel.peer, rank_, channel.type, channel.buffers, channel.number}].push_back(
          node);
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
    tail_ = {steps_.add(rank_, tb_, {}, left)};
  }

  // The messages that write a range of this rank to other ranks.
  void send_all(const Op& op, const std::vector<std::pair<Range, Range>>& pairs, PortKind kind) {
    std::vector<std::uint32_t> sent;
    const auto is_on = [](const Channel& channel, const std::pair<Range, Range>& pair) {
      return channel.peer == pair.second.rank;
    };
    if (kind == PortKind::proxy &&
        !std::equal(op.channels.begin(), op.channels.end(), pairs.begin(), pairs.end(), is_on)) {
      steps_.fail("its channels, one for each target, lead to other ranks than its targets");
    }
    for (const auto& [src, dst] : pairs) {
      note_data(op);
      expect_equal(src, dst);
      Port& to = port(dst.rank, kind);
      const std::uint32_t node = then(to.block, step_of(ProgramOp::send, &src, nullptr));
      const std::uint32_t landed =
          steps_.add(dst.rank, to.landing, step_of(ProgramOp::recv, nullptr, &dst), {}, node);
      steps_.puts[{rank_, dst.rank}][to.block].push_back(landed);
      // A proxy takes packets as they are.
      if (op.name == "rppkt" || (op.name == "ppkt" && kind == PortKind::proxy)) {
        reads_packets(node, src);
      }
      wrote(landed, dst);
      to.last = node;
      if (kind != PortKind::proxy) sent.push_back(node);
    }
    if (!sent.empty()) tail_ = sent;
    if (!sent.empty() && !is_packets_) unsynced_ = &op;
  }
  void put(const Op& op) {
    if (op.src.empty() || op.dst.empty() ||
        (op.src.size() != op.dst.size() && op.src.size() != 1)) {
      steps_.fail(fmt::format("has {} sources and {} targets", op.src.size(), op.dst.size()));
    }
    const bool signals = op.name == "pws" || op.name == "pwsf";
    if (signals && op.type != ChannelType::port) steps_.fail("needs a port channel");
    std::vector<std::pair<Range, Range>> pairs;
    for (std::size_t i = 0; i < op.dst.size(); ++i) {
      const Range& src = op.src[op.src.size() == 1 ? 0 : i];
      if (!is_own(src) || is_own(op.dst[i])) {
        steps_.fail("its source must be its own buffer, and its target another rank's");
      }
      pairs.emplace_back(fine(op, src), fine(op, op.dst[i]));
    }
    send_all(op, pairs, kind_of(op));
    if (!signals) return;
    for (const Channel& channel : op.channels) send_signal(channel, PortKind::proxy, tail_);
    if (op.name == "pwsf") flush(op);
  }

  void copy(const Op& op) {
    if (op.src.size() != op.dst.size() || op.src.empty()) {
      steps_.fail(fmt::format("has {} sources and {} targets", op.src.size(), op.dst.size()));
    }
    for (std::size_t i = 0; i < op.src.size(); ++i) {
      if (!is_own(op.src[i]) || !is_own(op.dst[i])) steps_.fail("names another rank's buffer");
      copy(op, fine(op, op.src[i]), fine(op, op.dst[i]));
    }
  }
  void copy(const Op& op, const Range& src, const Range& dst) {
    expect_equal(src, dst);
    const std::uint32_t node = then(tb_, step_of(ProgramOp::copy, &src, &dst));
    // Schema 1 has the word cpkt for the way back from packets.
    const bool unpacks = op.name == "upkt" || dst.buffer != ProgramBuffer::scratch;
    if (unpacks) {
      reads_packets(node, src);
    } else {
      wrote(node, dst);
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
      asked.push_back(then(to.block, step_of(ProgramOp::send, nullptr, nullptr)));
      steps_.add(range.rank, to.landing, step_of(ProgramOp::recv, nullptr, nullptr));
      steps_.add(range.rank, to.landing, step_of(ProgramOp::send, &range, nullptr));
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
      steps_.fail("needs as many targets of its own as sources of other ranks");
    }
    for (std::size_t i = 0; i < from.size(); ++i) {
      expect_equal(from[i], into[i]);
      if (from[i].index == into[i].index) continue;
      steps_.fail("executors exchange its two indices, so it is right only if both are equal",
                  "write the same index in src_buff and dst_buff");
    }
    read_remote(op, from,
                [&](std::size_t i) { return step_of(ProgramOp::recv, nullptr, &into[i]); });
    unsynced_ = &op;
  }

  void command_switch(const Op& op) {
    const bool loads = op.name == "glres";
    const auto is_switched = [](const Range& range) { return !range.group.empty(); };
    if (op.src.size() != 1 || op.dst.size() != 1 || !is_switched(op.dst[0]) ||
        is_switched(op.src[0]) != loads || (!loads && !is_own(op.src[0])) ||
        (loads && op.src[0].group != op.dst[0].group)) {
      steps_.fail(loads ? "needs a source and a target on switch channels of one group"
                        : "needs a source of its own, and a target on a switch channel");
    }
    const Range src = fine(op, op.src[0]);
    const Range dst = fine(op, op.dst[0]);
    expect_equal(src, dst);
    note_data(op);
    const auto [port, is_new] = switch_ports_.try_emplace(dst.group);
    if (is_new) {
      const std::uint32_t block = home_is_free_ ? tb_ : steps_.add_block(rank_);
      home_is_free_ = false;
      port->second = switches_.make(rank_, block, dst.group);
    }
    std::vector<std::uint32_t> landed;
    const std::uint32_t sent = loads ? switches_.load_reduce(port->second, src, dst, tail_, landed)
                                     : switches_.multicast(port->second, src, dst, tail_, landed);
    for (std::size_t i = 0; i < landed.size(); ++i) {
      Range at = dst;
      at.rank = dst.group[i];
      wrote(landed[i], at);
      if (at.rank == rank_) multicast_.push_back(landed[i]);
    }
    tail_ = {sent};
    if (!is_packets_) unsynced_ = &op;
  }

  void reduce(const Op& op) {
    const std::vector<Range> own = fine(op, op.src, true);
    const std::vector<Range> others = fine(op, op.src, false);
    const std::vector<Range> results = fine(op, op.dst, true);
    const std::vector<Range> targets = fine(op, op.dst, false);
    if (own.empty() || results.empty() || !is_own(op.dst[0])) {
      steps_.fail("needs a first source and a first target among its own buffers");
    }
    const bool reads = op.name == "rre" || op.name == "rres";
    if (!reads && !others.empty()) steps_.fail("reads from other ranks");
    if (op.name.find('s') == std::string::npos && !targets.empty())
      steps_.fail("writes to other ranks");
    const Range& sum = results[0];
    for (const Range& range : others) expect_equal(range, sum);
    for (const Range& range : own) expect_equal(range, sum);
    const auto is_sum = [&](const Range& range) {
      return range.buffer == sum.buffer && range.index == sum.index;
    };
    add_own(own, sum,
            static_cast<std::size_t>(std::find_if(own.begin(), own.end(), is_sum) - own.begin()),
            !others.empty());
    // The first answer is added to the only own source, where it stands.
    read_remote(op, others, [&](std::size_t i) {
      return step_of(ProgramOp::recv_reduce_copy, i == 0 && own.size() == 1 ? own.data() : &sum,
                     &sum);
    });
    if (!tail_.empty()) wrote(tail_.back(), sum);
    for (std::size_t i = 1; i < results.size(); ++i) {
      expect_equal(sum, results[i]);
      const std::uint32_t node = then(tb_, step_of(ProgramOp::copy, &sum, &results[i]));
      wrote(node, results[i]);
      tail_ = {node};
    }
    if (!is_packets_) unsynced_ = &op;
    std::vector<std::pair<Range, Range>> pairs;
    for (const Range& target : targets) pairs.emplace_back(sum, target);
    send_all(op, pairs, kind_of(op));
  }

  // Sums the rank's own sources. `in_place` is the source that is the target, or own.size().
  void add_own(const std::vector<Range>& own, const Range& sum, std::size_t in_place,
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
      const std::uint32_t node = then(tb_, step_of(ProgramOp::copy, &own[first], &sum));
      reads_packets(node, own[first]);
      tail_ = {node};
    }
    for (std::size_t i = 0; i < own.size(); ++i) {
      if (i == first) continue;
      const std::uint32_t node = then(tb_, step_of(ProgramOp::reduce, &own[i], &sum));
      reads_packets(node, own[i]);
      // The packets of the target are waited for, too.
      if (is_in_place) reads_packets(node, sum);
      tail_ = {node};
    }
  }

  const Plan& plan_;
  Bytes size_;
  std::uint32_t chunks_ = 0;  // of the plan
  std::uint64_t fineness_ = 1;
  Program program_;
  PlanSteps steps_;
  SwitchPorts switches_{steps_, program_};

  // The operation that is being lowered.
  std::uint32_t rank_ = 0;
  std::uint32_t tb_ = 0;
  ProgramStep place_;
  bool is_packets_ = false;
  std::uint64_t piece_ = 0;
  std::uint64_t unit_ = 0;  // chunks of the program in a piece; 0: in no pipeline
  // The thread block.
  std::map<std::pair<std::uint32_t, PortKind>, Port> ports_;
  std::map<std::vector<std::uint32_t>, SwitchPorts::Port> switch_ports_;  // by group
  std::vector<std::uint32_t> multicast_;  // landings at the own rank since the last nop
  std::vector<std::uint32_t> tail_;       // what it has done last
  bool home_is_free_ = true;
  const Op* unsynced_ = nullptr;  // the last that wrote data, if no nop followed
  const Op* packets_ = nullptr;   // an operation that moves packets
  const Op* plain_ = nullptr;     // and one that does not
};

}  // namespace

Program lower_plan(const Plan& plan, Bytes size) { return Lowering(plan, size).lower(); }

}  // namespace espalier::mscclpp
