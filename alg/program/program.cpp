#include "alg/program/program.h"

#include <algorithm>
#include <map>
#include <tuple>

namespace espalier {

const char* to_string(ProgramBuffer buffer) {
  switch (buffer) {
    case ProgramBuffer::input:
      return "i";
    case ProgramBuffer::output:
      return "o";
    case ProgramBuffer::scratch:
      return "s";
  }
  return "?";
}

const char* to_string(ProgramOp op) {
  switch (op) {
    case ProgramOp::nop:
      return "nop";
    case ProgramOp::send:
      return "s";
    case ProgramOp::recv:
      return "r";
    case ProgramOp::recv_copy_send:
      return "rcs";
    case ProgramOp::recv_reduce_send:
      return "rrs";
    case ProgramOp::recv_reduce_copy:
      return "rrc";
    case ProgramOp::recv_reduce_copy_send:
      return "rrcs";
    case ProgramOp::copy:
      return "cpy";
    case ProgramOp::reduce:
      return "re";
  }
  return "?";
}

const char* to_string(Protocol protocol) {
  switch (protocol) {
    case Protocol::simple:
      return "Simple";
    case Protocol::ll:
      return "LL";
    case Protocol::ll128:
      return "LL128";
  }
  return "?";
}

std::size_t Program::num_steps() const {
  std::size_t steps = 0;
  for (const RankProgram& rank : ranks) {
    for (const ThreadBlock& block : rank.blocks) steps += block.steps.size();
  }
  return steps;
}

std::uint32_t Program::num_calls() const {
  std::uint32_t calls = 1;
  for (const RankProgram& rank : ranks) {
    for (const ThreadBlock& block : rank.blocks) calls = std::max(calls, block.call + 1);
  }
  return calls;
}

std::vector<Connection> connections_of(const Program& program) {
  using Name = std::tuple<std::uint32_t, std::uint32_t, std::uint32_t, std::uint32_t>;
  std::map<Name, Connection> found;
  const auto end_of = [&](std::uint32_t from, std::uint32_t to, const ThreadBlock& block,
                          std::int32_t Connection::*end, std::size_t number) {
    Connection& connection = found[{from, to, block.channel, block.call}];
    connection.from = from;
    connection.to = to;
    connection.channel = block.channel;
    connection.call = block.call;
    if (connection.*end == kNoPeer) connection.*end = static_cast<std::int32_t>(number);
  };
  for (std::uint32_t r = 0; r < program.num_ranks(); ++r) {
    const auto& blocks = program.ranks[r].blocks;
    for (std::size_t b = 0; b < blocks.size(); ++b) {
      const ThreadBlock& block = blocks[b];
      if (block.send_peer != kNoPeer) {
        end_of(r, static_cast<std::uint32_t>(block.send_peer), block, &Connection::send_block, b);
      }
      if (block.recv_peer != kNoPeer) {
        end_of(static_cast<std::uint32_t>(block.recv_peer), r, block, &Connection::recv_block, b);
      }
    }
  }
  std::vector<Connection> connections;
  connections.reserve(found.size());
  for (const auto& [name, connection] : found) connections.push_back(connection);
  return connections;
}

}  // namespace espalier
