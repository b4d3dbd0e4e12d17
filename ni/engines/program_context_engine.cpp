#include "ni/engines/program_context_engine.h"

#include <fmt/format.h>

#include <algorithm>

namespace espalier {

ProgramContextEngine::ProgramContextEngine(const ContextProgram& program, NodeId rank,
                                           ProgramMemory& memory, SlotCredits& credits,
                                           ProgramObserver* observer)
    : program_(program),
      rank_(rank),
      memory_(memory),
      observer_(observer),
      scoreboard_(program.blocks(rank)),
      shared_{program, rank, scoreboard_, memory, credits, observers_} {
  const auto& blocks = program.blocks(rank);
  for (std::size_t b = 0; b < blocks.size(); ++b) {
    contexts_.emplace_back(program, rank, b);
    if (!contexts_.back().done()) num_calls_ = std::max(num_calls_, blocks[b].call + 1);
  }
  if (num_calls_ != 0) active_.push_back(0);  // until the first call is launched
  // Each rank starts with the first block that sends to a higher rank. If every rank started with
  // the same block in an all-to-all, their messages would contend for the same receivers again and
  // again.
  const auto to_higher = std::find_if(blocks.begin(), blocks.end(), [&](const ThreadBlock& block) {
    return block.send_peer > static_cast<std::int32_t>(rank.value());
  });
  if (to_higher != blocks.end()) {
    turn_ = static_cast<std::size_t>(to_higher - blocks.begin());
  }
}

Cycle ProgramContextEngine::evaluate(Cycle now, BackEnd& back_end) {
  if (done()) return kNever;
  shared_.back_end = &back_end;
  if (scoreboard_.show_published()) {
    for (const std::uint32_t c : active_) contexts_[c].wake();
  }
  launch_calls(now);
  // The contexts take turns with one request each, so they share ports and memory evenly.
  const auto first = std::lower_bound(active_.begin(), active_.end(), turn_);
  std::rotate(active_.begin(), first, active_.end());
  for (bool moves = true; moves;) {
    moves = false;
    next_ = kNever;
    for (const std::uint32_t c : active_) {
      next_ = std::min(next_, contexts_[c].advance(now, shared_));
      if (contexts_[c].has_issued()) turn_ = c + 1;
      moves = moves || contexts_[c].has_moved();
    }
  }
  const auto is_done = [&](std::uint32_t c) { return contexts_[c].done(); };
  active_.erase(std::remove_if(active_.begin(), active_.end(), is_done), active_.end());
  // Ascending again.
  std::rotate(active_.begin(), std::min_element(active_.begin(), active_.end()), active_.end());
  if (done()) {
    if (observer_ != nullptr) observer_->program_done(rank_, now);
    next_ = kNever;
  } else if (active_.empty() || scoreboard_.has_news()) {
    next_ = now + 1;
  }
  return next_;
}

// The host launches every call on every rank, so a call without a block at this rank costs its
// launch time too.
void ProgramContextEngine::launch_calls(Cycle now) {
  if (launched_ && !active_.empty()) return;
  Cycle at = now;
  if (launched_) ++call_;
  launched_ = true;
  active_.clear();
  for (;; ++call_) {
    at += program_.launch_cycles(rank_, call_);
    for (std::uint32_t c = 0; c < contexts_.size(); ++c) {
      if (contexts_[c].call() != call_ || contexts_[c].done()) continue;
      contexts_[c].launch(at);
      active_.push_back(c);
    }
    if (active_.empty()) continue;
    for (EngineObserver* observer : shared_.observers) observer->call_launched(call_, now, at);
    return;
  }
}

bool ProgramContextEngine::sent(const Operation& operation, Cycle) {
  const Connection& connection = program_.route(ConnectionId(operation.flow.index())).connection;
  contexts_[static_cast<std::size_t>(connection.send_block)].sent(operation.first_chunk.index());
  return true;
}

bool ProgramContextEngine::completed(const Operation& operation, Cycle) {
  memory_.arrived(operation);
  const Connection& connection = program_.route(ConnectionId(operation.flow.index())).connection;
  contexts_[static_cast<std::size_t>(connection.recv_block)].wake();
  return !done();
}

std::uint64_t ProgramContextEngine::decisions() const {
  std::uint64_t steps = 0;
  for (const ProgramContext& context : contexts_) steps += context.steps_done();
  return steps;
}

bool ProgramContextEngine::waits_for_ports() const {
  return std::any_of(active_.begin(), active_.end(),
                     [&](std::uint32_t c) { return contexts_[c].waits_for_port(); });
}

void ProgramContextEngine::show(EngineView& view) const {
  for (const ProgramContext& context : contexts_) view.contexts.push_back(context.view());
}

void ProgramContextEngine::explain(const std::string& who, const std::vector<std::string>& ni_names,
                                   WaitList& waits) const {
  for (const std::uint32_t c : active_) explain_context(contexts_[c], who, ni_names, waits);
}

void ProgramContextEngine::explain_context(const ProgramContext& context, const std::string& who,
                                           const std::vector<std::string>& ni_names,
                                           WaitList& waits) const {
  const ContextView view = context.view();
  const ProgramStep& step = context.step();
  const auto context_of = [](const std::string& ni, std::int32_t block) {
    return block == kNoPeer ? ni : fmt::format("{}.ctx{}", ni, block);
  };
  const std::string name = context_of(who, static_cast<std::int32_t>(context.block()));
  const std::string at =
      fmt::format("step {} ({}), pass {}", view.pc, to_string(step.op), view.tile);
  const auto peer = [&](ConnectionId id, bool is_sender) {
    const Connection& connection = program_.route(id).connection;
    const std::uint32_t rank = is_sender ? connection.from : connection.to;
    return context_of(ni_names[rank], is_sender ? connection.send_block : connection.recv_block);
  };
  switch (view.stall) {
    case ContextStall::dependency:
      waits.push_back({name, context_of(who, step.wait_block),
                       fmt::format("{} waits for step {}", at, step.wait_step)});
      break;
    case ContextStall::message:
      waits.push_back({name, peer(program_.recv_connection(rank_, context.block()), true),
                       at + " waits for its message"});
      break;
    case ContextStall::slot:
      waits.push_back({name, peer(program_.send_connection(rank_, context.block()), false),
                       at + " waits for a free slot"});
      break;
    case ContextStall::port:
      waits.push_back({name, who, at + " waits for an injection port"});
      break;
    default:
      break;
  }
}

}  // namespace espalier
