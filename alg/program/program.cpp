#include "alg/program/program.h"

#include <algorithm>
#include <array>
#include <map>
#include <tuple>

namespace espalier {

const char* to_string(ProgramBuffer buffer) {
  constexpr std::array kNames{"i", "o", "s"};
  return kNames.at(static_cast<std::size_t>(buffer));
}

const char* to_string(ProgramOp op) {
  constexpr std::array kNames{"nop", "s", "r", "rcs", "rrs", "rrc", "rrcs", "cpy", "re"};
  return kNames.at(static_cast<std::size_t>(op));
}

const char* to_string(Protocol protocol) {
  constexpr std::array kNames{"Simple", "LL", "LL128", "Message"};
  return kNames.at(static_cast<std::size_t>(protocol));
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
  for (std::uint32_t r = 0; r < program.ranks.size(); ++r) {
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

ProgramStorage::ProgramStorage(const Program& program)
    : program_(program), share_(program.chunks / static_cast<std::uint32_t>(program.num_ranks())) {}

std::uint32_t ProgramStorage::size(std::uint32_t rank, ProgramBuffer buffer) const {
  const RankProgram& of_rank = program_.ranks[rank];
  if (buffer == ProgramBuffer::scratch) return of_rank.scratch_chunks;
  if (rank >= program_.num_ranks()) return 0;
  const bool is_input = buffer == ProgramBuffer::input;
  switch (program_.collective) {
    case CollectiveOp::all_gather:
      return is_input ? share_ : program_.chunks;
    case CollectiveOp::reduce_scatter:
      return is_input ? program_.chunks : share_;
    case CollectiveOp::custom:
      return is_input ? of_rank.input_chunks : of_rank.output_chunks;
    default:
      return program_.chunks;
  }
}

std::uint32_t ProgramStorage::input_base(std::uint32_t rank) const {
  const bool is_shifted = program_.in_place && program_.collective == CollectiveOp::all_gather;
  return is_shifted ? rank * share_ : 0;
}

std::uint32_t ProgramStorage::output_base(std::uint32_t rank) const {
  if (!program_.in_place) return size(rank, ProgramBuffer::input);
  return program_.collective == CollectiveOp::reduce_scatter ? rank * share_ : 0;
}

std::uint32_t ProgramStorage::first_scratch(std::uint32_t rank) const {
  const std::uint32_t input = size(rank, ProgramBuffer::input);
  const std::uint32_t output = size(rank, ProgramBuffer::output);
  return program_.in_place ? std::max(input, output) : input + output;
}

std::uint32_t ProgramStorage::num_places(std::uint32_t rank) const {
  return first_scratch(rank) + program_.ranks[rank].scratch_chunks;
}

std::uint32_t ProgramStorage::place(std::uint32_t rank, ProgramBuffer buffer,
                                    std::uint32_t offset) const {
  if (buffer == ProgramBuffer::input) return input_base(rank) + offset;
  return (buffer == ProgramBuffer::output ? output_base(rank) : first_scratch(rank)) + offset;
}

std::vector<InputChunk> promised_value(const Program& program, std::uint32_t rank,
                                       std::uint32_t index, std::uint32_t root) {
  const auto ranks = static_cast<std::uint32_t>(program.num_ranks());
  const std::uint32_t share = program.chunks / ranks;
  const auto sum_of = [&](std::uint32_t chunk) {
    std::vector<InputChunk> value;
    for (std::uint32_t q = 0; q < ranks; ++q) value.push_back({q, chunk});
    return value;
  };
  switch (program.collective) {
    case CollectiveOp::all_reduce:
      return sum_of(index);
    case CollectiveOp::reduce_scatter:
      return sum_of(rank * share + index);
    case CollectiveOp::all_gather:
      return {{index / share, index % share}};
    case CollectiveOp::all_to_all:
      return {{index / share, rank * share + index % share}};
    case CollectiveOp::broadcast:
      return {{root, index}};
    case CollectiveOp::reduce:
      if (rank != root) return {};
      return sum_of(index);
    case CollectiveOp::custom:
    case CollectiveOp::all_to_allv:  // no program computes operations with counts
    case CollectiveOp::all_gatherv:
    case CollectiveOp::reduce_scatterv:
      break;
  }
  for (const PromisedChunk& promise : program.promises) {
    if (promise.rank == rank && promise.index == index) return promise.value;
  }
  return {};
}

}  // namespace espalier
