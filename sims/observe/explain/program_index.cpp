#include "sims/observe/explain/program_index.h"

namespace espalier {

ProgramIndex::ProgramIndex(const ContextProgram& program, const RunRecord& record)
    : program_(program),
      record_(record),
      messages_(program.num_connections()),
      senders_(record.messages.size(), kNone),
      givers_(program.num_connections()) {
  for (RecordIndex m = 0; m < record.messages.size(); ++m) {
    const Operation& operation = record.messages[m].operation;
    if (operation.is_background()) continue;
    std::vector<RecordIndex>& of = messages_[operation.flow.index()];
    const std::size_t number = operation.first_chunk.index();
    if (number >= of.size()) of.resize(number + 1, kNowhere);
    of[number] = m;
  }
  for (std::size_t r = 0; r < program.program().num_ranks(); ++r) {
    const NodeId rank(r);
    first_step_.emplace_back();
    for (std::size_t b = 0; b < record.nis[r].contexts.size(); ++b) add_context(rank, b);
    first_step_.back().push_back(steps_.size());
  }
}

void ProgramIndex::add_context(NodeId rank, std::size_t block) {
  first_step_.back().push_back(steps_.size());
  const ContextRecord& context = record_.nis[rank.index()].contexts[block];
  const ConnectionId to = program_.send_connection(rank, block);
  const ConnectionId from = program_.recv_connection(rank, block);
  std::size_t sent = 0;
  std::size_t received = 0;
  std::size_t slots = 0;
  for (std::size_t s = 0; s < context.steps.size(); ++s) {
    const ContextRecord::Step& of = context.steps[s];
    const RequestGrid grid = program_.requests(of.step, of.place.tile);
    steps_.push_back({rank, static_cast<std::uint32_t>(s), requests_.size(), of.num_requests, &of});
    for (std::size_t q = 0; q < of.num_requests; ++q) {
      const espalier::Request cut = grid.at(q);
      const RequestIndex here = requests_.size();
      Request& request = requests_.emplace_back();
      request.step = steps_.size() - 1;
      request.times = &context.requests[of.first_request + q];
      if (sends(of.step.op)) {
        request.sends = messages_[to.index()][sent++];
        senders_[request.sends] = here;
        if (cut.begins_slot) request.slot = slots++;
      }
      if (receives(of.step.op)) {
        request.receives = messages_[from.index()][received++];
        if (cut.ends_slot) givers_[from.index()].push_back(here);
      }
    }
  }
}

std::pair<StepIndex, StepIndex> ProgramIndex::steps_of(NodeId rank, std::size_t block) const {
  const std::vector<StepIndex>& firsts = first_step_[rank.index()];
  return {firsts[block], firsts[block + 1]};
}

// Passes come one after the other, each with all steps of the block.
StepIndex ProgramIndex::find(NodeId rank, const StepPlace& place) const {
  const auto [first, last] = steps_of(rank, place.block);
  const std::size_t length = program_.blocks(rank)[place.block].steps.size();
  const StepIndex at = first + place.tile * length + place.step;
  return at < last ? at : kNone;
}

RequestIndex ProgramIndex::giver(ConnectionId connection, std::size_t n) const {
  const std::vector<RequestIndex>& of = givers_[connection.index()];
  return n < of.size() ? of[n] : kNone;
}

}  // namespace espalier
