// Each connection of the program is a memory channel of the plan: its sender puts and signals, its
// receiver waits. Before all data a receiver says that it has begun, because nothing else keeps the
// peer's next call from writing into this one.
#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "alg/program/program_certifier.h"
#include "alg/program/program_certifier_parts.h"
#include "sims/formats/program/msccl_format.h"
#include "sims/formats/program/mscclpp.h"
#include "sims/formats/program/mscclpp_plan.h"

namespace espalier {

namespace {

using Json = nlohmann::ordered_json;
using program_certifier::FlatProgram;

constexpr std::size_t kMostSemaphoresOfOp = 16;
constexpr std::uint32_t kNoStep = program_certifier::kNone;

// Where the data of a message land at the receiver.
struct Target {
  ProgramBuffer buffer = ProgramBuffer::scratch;
  std::int64_t offset = -1;
};

class PlanWriter {
 public:
  // `direct`: what is received without an addition lands in its place; otherwise in scratch.
  PlanWriter(const Program& program, bool direct)
      : program_(program), flat_(program), direct_(direct), targets_(flat_.steps.size()) {
    program_certifier::Findings findings;
    program_certifier::pair_messages(flat_, findings);
    place_messages();
    place_semaphores();
  }

  // Throws std::length_error with the reason if the executor's limits are too low.
  std::string write() {
    Json plan;
    plan["name"] = program_.name;
    for (const auto& [name, op] : kMscclNamesOfCollectives) {
      if (op == program_.collective && !plan.contains("collective")) plan["collective"] = name;
    }
    plan["protocol"] = "Simple";
    plan["inplace"] = program_.in_place;
    plan["reuse_resources"] = false;
    plan["gpus"] = Json::array();
    for (std::uint32_t r = 0; r < program_.num_ranks(); ++r) plan["gpus"].push_back(gpu(r));
    plan["num_threads_per_block"] = 1024;
    plan["use_double_scratch_buffer"] = false;
    plan["buffer_alignment"] = 16;
    plan["min_message_size"] = program_.min_bytes;
    plan["max_message_size"] = program_.max_bytes == 0 ? UINT64_MAX : program_.max_bytes;
    return plan.dump(1) + "\n";
  }

 private:
  void place_messages() {
    for (const RankProgram& rank : program_.ranks) scratch_.push_back(rank.scratch_chunks);
    for (std::uint32_t s = 0; s < flat_.steps.size(); ++s) {
      const ProgramStep& step = *flat_.steps[s].step;
      if (!receives(step.op)) continue;
      if (direct_ && !reduces(step.op)) {
        targets_[s] = {step.dst_buffer, step.dst_offset};
      } else {
        std::uint32_t& end = scratch_[flat_.block_of(s).rank];
        targets_[s] = {ProgramBuffer::scratch, end};
        end += step.count;
      }
    }
  }
  // A semaphore for each step that waits for another thread block's.
  void place_semaphores() {
    acquires_.assign(flat_.steps.size(), kNoStep);
    releases_.resize(flat_.steps.size());
    semaphores_.resize(program_.num_ranks());
    for (std::uint32_t s = 0; s < flat_.steps.size(); ++s) {
      const std::uint32_t awaited = flat_.steps[s].waits_for;
      if (awaited == kNoStep || flat_.steps[awaited].block == flat_.steps[s].block) continue;
      acquires_[s] = semaphores_[flat_.block_of(s).rank]++;
      releases_[awaited].push_back(acquires_[s]);
    }
  }

  Json gpu(std::uint32_t rank) {
    const RankProgram& of_rank = program_.ranks[rank];
    Json peers = Json::array();
    std::vector<std::uint32_t> ids(flat_.connections.size(), kNoStep);
    for (std::uint32_t c = 0; c < flat_.connections.size(); ++c) {
      const program_certifier::FlatConnection& connection = flat_.connections[c];
      if (connection.sends.empty()) continue;
      const std::uint32_t from = flat_.blocks[connection.sender].rank;
      const std::uint32_t to = flat_.blocks[connection.receiver].rank;
      if (from != rank && to != rank) continue;
      ids[c] = static_cast<std::uint32_t>(peers.size());
      peers.push_back(from == rank ? to : from);
    }
    remote_ = Json::array();
    Json blocks = Json::array();
    for (std::uint32_t b = flat_.first_block[rank]; b < flat_.first_block[rank + 1]; ++b) {
      blocks.push_back(block(flat_.blocks[b], ids));
    }
    Json semaphores = Json::array();
    for (std::uint32_t s = 0; s < semaphores_[rank]; ++s) semaphores.push_back({{"init_value", 0}});
    return {{"id", rank},
            {"input_chunks", of_rank.input_chunks},
            {"output_chunks", of_rank.output_chunks},
            {"scratch_chunks", scratch_[rank]},
            {"threadblocks", blocks},
            {"channels", {{{"channel_type", "memory"}, {"connected_to", peers}}}},
            {"remote_buffers", remote_},
            {"semaphores", semaphores}};
  }

  Json block(const program_certifier::FlatBlock& of_block, const std::vector<std::uint32_t>& ids) {
    ops_ = Json::array();
    Json channels = Json::array();
    refs_ = Json::array();
    const auto channel = [&](std::uint32_t connection) {
      if (connection == kNoStep || ids[connection] == kNoStep) return kNoStep;
      channels.push_back(ids[connection]);
      return static_cast<std::uint32_t>(channels.size() - 1);
    };
    in_ = channel(of_block.in);
    out_ = channel(of_block.out);
    if (in_ != kNoStep) sync("rlxsignal", in_);
    if (out_ != kNoStep) sync("rlxwait", out_);
    if (out_ != kNoStep) nop();
    for (std::uint32_t s = of_block.first; s < of_block.end; ++s) write_step(s);
    if (ops_.size() > mscclpp::kMostOpsOfBlock) {
      throw std::length_error(fmt::format(
          "gpu {} tb {} needs {} operations, but MSCCL++'s executor takes {} in a thread block; an "
          "algorithm with fewer messages of a thread block fits, as gc3_allpairs",
          of_block.rank, of_block.number, ops_.size(), mscclpp::kMostOpsOfBlock));
    }
    return {{"id", of_block.number},
            {"ops", ops_},
            {"channels", {{{"channel_type", "memory"}, {"channel_ids", channels}}}},
            {"remote_buffer_refs",
             {{{"access_channel_type", "memory"}, {"remote_buffer_ids", refs_}}}}};
  }

  void nop() { ops_.push_back({{"name", "nop"}}); }
  void sync(const char* name, std::uint32_t channel) {
    ops_.push_back(
        {{"name", name}, {"channel_ids", Json::array({channel})}, {"channel_type", "memory"}});
  }
  static Json range(ProgramBuffer buffer, std::int64_t offset, std::uint32_t count) {
    return {{"type", to_string(buffer)}, {"index", offset}, {"size", count}};
  }
  // An element of a list, added if it is new: its index.
  static std::size_t index_in(Json& list, const Json& item) {
    const auto found = std::find(list.begin(), list.end(), item);
    if (found != list.end()) return static_cast<std::size_t>(found - list.begin());
    list.push_back(item);
    return list.size() - 1;
  }
  Json remote(std::uint32_t sender) {
    const std::uint32_t receiver = flat_.steps[sender].received_by;
    const Target& target = targets_[receiver];
    const std::size_t id = index_in(remote_, {{"rank", flat_.block_of(receiver).rank},
                                              {"type", to_string(target.buffer)},
                                              {"access_channel_types", Json::array({"memory"})}});
    return {{"buffer_id", index_in(refs_, id)},
            {"index", target.offset},
            {"size", flat_.steps[sender].step->count}};
  }
  void move(const char* name, const Json& src, const Json& dst) {
    Json op{{"name", name}, {"src_buff", src}, {"dst_buff", dst}, {"channel_type", "memory"}};
    if (name[0] == 'r') op["reduce_op"] = "sum";
    ops_.push_back(op);
    nop();
  }

  void write_step(std::uint32_t s) {
    const ProgramStep& step = *flat_.steps[s].step;
    if (acquires_[s] != kNoStep) {
      ops_.push_back({{"name", "sem_acquire"}, {"semaphore_ids", Json::array({acquires_[s]})}});
      nop();
    }
    if (receives(step.op)) sync("wait", in_);
    if (receives(step.op)) nop();
    const Json src = range(step.src_buffer, step.src_offset, step.count);
    const Json dst = range(step.dst_buffer, step.dst_offset, step.count);
    const Target& target = targets_[s];
    const Json landed = range(target.buffer, target.offset, step.count);
    const bool is_kept = step.op != ProgramOp::recv_reduce_send;  // memory keeps the source
    if (step.op == ProgramOp::recv_reduce_copy_send) {
      move("res", {src, landed}, {dst, remote(s)});
    } else if (receives(step.op) && reduces(step.op)) {
      move("re", {src, landed}, Json::array({is_kept ? dst : landed}));
    } else if (step.op == ProgramOp::reduce) {
      move("re", {dst, src}, Json::array({dst}));
    } else if (step.op == ProgramOp::copy) {
      move("copy", Json::array({src}), Json::array({dst}));
    } else if (receives(step.op) && landed != dst) {
      move("copy", Json::array({landed}), Json::array({dst}));
    }
    if (sends(step.op)) {
      const Json& from = step.op == ProgramOp::send             ? src
                         : step.op == ProgramOp::recv_copy_send ? dst
                                                                : landed;
      if (step.op != ProgramOp::recv_reduce_copy_send) {
        move("put", Json::array({from}), Json::array({remote(s)}));
      }
      sync("signal", out_);
    }
    const std::vector<std::uint32_t>& released = releases_[s];
    for (std::size_t i = 0; i < released.size(); i += kMostSemaphoresOfOp) {
      const auto first = released.begin() + static_cast<std::ptrdiff_t>(i);
      const std::size_t n = std::min(kMostSemaphoresOfOp, released.size() - i);
      ops_.push_back({{"name", "sem_release"},
                      {"semaphore_ids",
                       std::vector<std::uint32_t>(first, first + static_cast<std::ptrdiff_t>(n))}});
    }
  }

  const Program& program_;
  FlatProgram flat_;
  bool direct_;
  std::vector<Target> targets_;                       // by receiving step
  std::vector<std::uint32_t> scratch_;                // by rank: chunks
  std::vector<std::uint32_t> semaphores_;             // by rank
  std::vector<std::uint32_t> acquires_;               // by step: a semaphore
  std::vector<std::vector<std::uint32_t>> releases_;  // by step
  // Of the gpu and of the thread block that are written.
  Json remote_;
  Json ops_;
  Json refs_;
  std::uint32_t in_ = kNoStep;
  std::uint32_t out_ = kNoStep;
};

}  // namespace

MscclppDocument write_mscclpp(const Program& program) try {
  if (program.one_sided) return {{}, "it is a plan of MSCCL++ already"};
  if (program.num_calls() > 1) return {{}, "it has several library calls, but a plan is one"};
  ProgramLimits form;
  form.form_only = true;
  for (const bool direct : {true, false}) {
    if (!certify_program(program, form).ok()) break;
    std::string text = PlanWriter(program, direct).write();
    Diagnostics unheard;
    auto plan = read_mscclpp("", text, 0, unheard);
    if (!plan) return {{}, unheard.text()};
    plan->promises = program.promises;
    if (certify_program(*plan).ok()) return {std::move(text), {}};
  }
  return {{}, "it does not pass the certifier"};
} catch (const std::length_error& error) {
  return {{}, error.what()};
}

}  // namespace espalier
