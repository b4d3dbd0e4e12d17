#include "sims/formats/program/mscclpp_switches.h"

#include <fmt/format.h>

#include "sims/formats/program/msccl_format.h"

namespace espalier::mscclpp {

namespace {

ProgramStep on_the_fly(ProgramOp op, const Range* src, const Range* dst) {
  ProgramStep step = step_of(op, src, dst);
  step.on_the_fly = true;
  return step;
}

}  // namespace

SwitchPorts::Port SwitchPorts::make(std::uint32_t rank, std::uint32_t block,
                                    const std::vector<std::uint32_t>& group) {
  if (program_.switches == 0) {
    switch_ = static_cast<std::uint32_t>(program_.ranks.size());
    program_.ranks.emplace_back();
    program_.switches = 1;
    steps_.add_switch();
  }
  Port port{rank, block, steps_.add_block(switch_), steps_.add_block(switch_), {}, {}};
  const std::uint32_t channel = steps_.new_channel(rank, switch_);
  steps_.connect(rank, block, switch_, port.takes, channel);
  steps_.connect(switch_, port.gives, rank, block, channel);
  for (const std::uint32_t member : group) {
    port.members.push_back({member, steps_.add_block(switch_), steps_.add_block(switch_),
                            steps_.add_block(member), steps_.add_block(member)});
    const Port::Member& made = port.members.back();
    const std::uint32_t to_member = steps_.new_channel(switch_, member);
    steps_.connect(switch_, made.asks, member, made.lands, to_member);
    steps_.connect(member, made.answers, switch_, made.adds, to_member);
  }
  return port;
}

Range SwitchPorts::reserve(std::uint32_t rank, std::uint64_t count) {
  std::uint32_t& chunks = program_.ranks[rank].scratch_chunks;
  const std::uint64_t first = chunks;
  if (first + count > static_cast<std::uint64_t>(kMostChunksOfProgram)) {
    steps_.fail(fmt::format("the switch passes on more than {} chunks", kMostChunksOfProgram));
  }
  chunks += static_cast<std::uint32_t>(count);
  return {rank, ProgramBuffer::scratch, first, count};
}

std::uint32_t SwitchPorts::load_reduce(Port& port, const Range& src, const Range& dst,
                                       const PlanSteps::Nodes& after, PlanSteps::Nodes& landed) {
  const ProgramStep request = step_of(ProgramOp::send, nullptr, nullptr);
  const ProgramStep requested = step_of(ProgramOp::recv, nullptr, nullptr);
  const Range sum = reserve(switch_, src.count);
  steps_.add(port.rank, port.block, request, after);
  const std::uint32_t taken = steps_.add(switch_, port.takes, requested);
  PlanSteps::Nodes added;
  for (const Port::Member& member : port.members) {
    steps_.add(switch_, member.asks, request, {taken});
    const std::uint32_t asked = steps_.add(member.rank, member.lands, requested);
    steps_.add(member.rank, member.answers, step_of(ProgramOp::send, &src, nullptr), {asked});
    const ProgramOp op = added.empty() ? ProgramOp::recv : ProgramOp::recv_reduce_copy;
    added = {steps_.add(switch_, member.adds, on_the_fly(op, added.empty() ? nullptr : &sum, &sum),
                        added)};
  }
  steps_.add(switch_, port.gives, on_the_fly(ProgramOp::send, &sum, nullptr), added);
  if (port.registers.count < src.count) port.registers = reserve(port.rank, src.count);
  Range passed = port.registers;
  passed.count = src.count;
  const std::uint32_t stored =
      steps_.add(port.rank, port.block, on_the_fly(ProgramOp::recv_copy_send, nullptr, &passed));
  copy(port, stored, sum, dst, landed);
  return stored;
}

std::uint32_t SwitchPorts::multicast(Port& port, const Range& src, const Range& dst,
                                     const PlanSteps::Nodes& after, PlanSteps::Nodes& landed) {
  const std::uint32_t sent =
      steps_.add(port.rank, port.block, step_of(ProgramOp::send, &src, nullptr), after);
  copy(port, sent, reserve(switch_, src.count), dst, landed);
  return sent;
}

void SwitchPorts::copy(const Port& port, std::uint32_t sent, const Range& held, const Range& dst,
                       PlanSteps::Nodes& landed) {
  const std::uint32_t taken =
      steps_.add(switch_, port.takes, on_the_fly(ProgramOp::recv, nullptr, &held), {}, sent);
  for (const Port::Member& member : port.members) {
    steps_.add(switch_, member.asks, on_the_fly(ProgramOp::send, &held, nullptr), {taken});
    landed.push_back(
        steps_.add(member.rank, member.lands, step_of(ProgramOp::recv, nullptr, &dst), {}, sent));
    steps_.puts[{port.rank, member.rank}][port.block].push_back(landed.back());
  }
}

}  // namespace espalier::mscclpp
