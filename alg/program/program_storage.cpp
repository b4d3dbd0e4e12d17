#include "alg/program/program_storage.h"

#include <algorithm>

namespace espalier {

ProgramStorage::ProgramStorage(const Program& program)
    : program_(program), share_(program.chunks / static_cast<std::uint32_t>(program.num_ranks())) {}

std::uint32_t ProgramStorage::size(std::uint32_t rank, ProgramBuffer buffer) const {
  const RankProgram& of_rank = program_.ranks[rank];
  if (buffer == ProgramBuffer::scratch) return of_rank.scratch_chunks;
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
  switch (buffer) {
    case ProgramBuffer::input:
      return input_base(rank) + offset;
    case ProgramBuffer::output:
      return output_base(rank) + offset;
    case ProgramBuffer::scratch:
      break;
  }
  return first_scratch(rank) + offset;
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
      break;
  }
  for (const PromisedChunk& promise : program.promises) {
    if (promise.rank == rank && promise.index == index) return promise.value;
  }
  return {};
}

}  // namespace espalier
