// A program in rows, for those who go through it many times.
#include "alg/program/program_certifier_parts.h"

namespace espalier::program_certifier {

namespace {

void add_block(FlatProgram& flat, std::uint32_t rank, std::uint32_t number) {
  const ThreadBlock& block = flat.program.ranks[rank].blocks[number];
  const auto id = static_cast<std::uint32_t>(flat.blocks.size());
  FlatBlock added;
  added.rank = rank;
  added.number = number;
  added.call = block.call;
  added.first = static_cast<std::uint32_t>(flat.steps.size());
  std::size_t length = block.steps.size();
  while (length > 0 && block.steps[length - 1].op == ProgramOp::nop) --length;
  for (std::uint32_t s = 0; s < length; ++s) {
    FlatStep step;
    step.step = &block.steps[s];
    step.block = id;
    step.position = s;
    flat.steps.push_back(step);
  }
  added.end = static_cast<std::uint32_t>(flat.steps.size());
  flat.blocks.push_back(added);
}

void resolve_waits(FlatProgram& flat) {
  for (FlatStep& step : flat.steps) {
    if (step.step->wait_block < 0) continue;
    const std::uint32_t rank = flat.blocks[step.block].rank;
    const FlatBlock& awaited =
        flat.blocks[flat.first_block[rank] + static_cast<std::uint32_t>(step.step->wait_block)];
    // Not a nop, so not among the trailing ones.
    step.waits_for = awaited.first + static_cast<std::uint32_t>(step.step->wait_step);
  }
}

void resolve_connections(FlatProgram& flat) {
  for (const Connection& connection : connections_of(flat.program)) {
    const auto id = static_cast<std::uint32_t>(flat.connections.size());
    FlatConnection added;
    if (connection.send_block != kNoPeer) {
      added.sender =
          flat.first_block[connection.from] + static_cast<std::uint32_t>(connection.send_block);
      flat.blocks[added.sender].out = id;
    }
    if (connection.recv_block != kNoPeer) {
      added.receiver =
          flat.first_block[connection.to] + static_cast<std::uint32_t>(connection.recv_block);
      flat.blocks[added.receiver].in = id;
    }
    flat.connections.push_back(std::move(added));
  }
  for (std::uint32_t s = 0; s < flat.steps.size(); ++s) {
    const FlatBlock& block = flat.block_of(s);
    const ProgramOp op = flat.steps[s].step->op;
    if (sends(op)) flat.connections[block.out].sends.push_back(s);
    if (receives(op)) flat.connections[block.in].receives.push_back(s);
  }
}

}  // namespace

FlatProgram::FlatProgram(const Program& of) : program(of) {
  steps.reserve(program.num_steps());
  for (std::uint32_t r = 0; r < program.num_ranks(); ++r) {
    first_block.push_back(static_cast<std::uint32_t>(blocks.size()));
    for (std::uint32_t b = 0; b < program.ranks[r].blocks.size(); ++b) add_block(*this, r, b);
  }
  first_block.push_back(static_cast<std::uint32_t>(blocks.size()));
  resolve_waits(*this);
  resolve_connections(*this);
}

Site FlatProgram::site(std::uint32_t step) const {
  const FlatBlock& block = block_of(step);
  return site_of(program, block.rank, block.number, steps[step].position);
}

}  // namespace espalier::program_certifier
