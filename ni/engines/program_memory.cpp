#include "ni/engines/program_memory.h"

#include <fmt/format.h>

#include <utility>

namespace espalier {

namespace {

// The value of a chunk that was never written. A sum that includes it differs from every sum of
// contributions.
constexpr DataTag kUninitialised = 0x756e696e69747321;

std::uint32_t offset(std::int32_t chunk) { return static_cast<std::uint32_t>(chunk); }

}  // namespace

DataTag piece_contribution(const InputChunk& chunk, std::uint64_t tile, std::uint64_t tiles,
                           ChunkId first) {
  return contribution(NodeId(chunk.rank), ChunkId(first.index() + chunk.index * tiles + tile));
}

ProgramMemory::ProgramMemory(const ContextProgram& program, NodeId rank, ChunkId first)
    : program_(program),
      rank_(rank),
      tiles_(program.tiling().tiles),
      tags_(program.storage().num_places(rank.value()) * tiles_, kUninitialised),
      fifos_(program.blocks(rank).size()) {
  const ProgramStorage& storage = program.storage();
  for (std::uint32_t k = 0; k < storage.size(rank.value(), ProgramBuffer::input); ++k) {
    const std::uint32_t place = storage.place(rank.value(), ProgramBuffer::input, k);
    for (std::uint64_t t = 0; t < tiles_; ++t) {
      tags_[place * tiles_ + t] = piece_contribution({rank.value(), k}, t, tiles_, first);
    }
  }
}

void ProgramMemory::read(const Operation&, std::vector<DataTag>& data) const { data = outgoing_; }

std::size_t ProgramMemory::receiver(ConnectionId connection) const {
  return static_cast<std::size_t>(program_.route(connection).connection.recv_block);
}

ProgramMemory::Staged& ProgramMemory::staged(const Operation& operation) {
  Fifo& fifo = fifos_[receiver(ConnectionId(operation.flow.index()))];
  const std::uint64_t place = operation.first_chunk.index() - fifo.taken;
  if (place >= fifo.staged.size()) fifo.staged.resize(place + 1);
  return fifo.staged[place];
}

void ProgramMemory::write(const Operation& operation, const std::vector<DataTag>& data) {
  staged(operation).data = data;
}

void ProgramMemory::arrived(const Operation& operation) { staged(operation).here = true; }

bool ProgramMemory::has_arrived(ConnectionId connection) const {
  const Fifo& fifo = fifos_[receiver(connection)];
  return !fifo.staged.empty() && fifo.staged.front().here;
}

std::vector<DataTag> ProgramMemory::take(ConnectionId connection) {
  Fifo& fifo = fifos_[receiver(connection)];
  std::vector<DataTag> data = std::move(fifo.staged.front().data);
  fifo.staged.pop_front();
  ++fifo.taken;
  return data;
}

std::vector<DataTag> ProgramMemory::execute(const ProgramStep& step, std::uint64_t tile,
                                            const Request& request,
                                            const std::vector<DataTag>& message) {
  const ProgramStorage& storage = program_.storage();
  std::vector<DataTag> sent;
  for (std::uint32_t c = 0; c < request.num_chunks; ++c) {
    const std::uint32_t chunk = request.first_chunk + c;
    const auto at = [&](ProgramBuffer buffer, std::int32_t first) -> DataTag& {
      const std::uint32_t place = storage.place(rank_.value(), buffer, offset(first) + chunk);
      return tags_[place * tiles_ + tile];
    };
    DataTag value = reads_source(step.op) ? at(step.src_buffer, step.src_offset) : 0;
    if (receives(step.op)) value += message[c];
    if (step.op == ProgramOp::reduce) value += at(step.dst_buffer, step.dst_offset);
    if (writes_target(step.op)) at(step.dst_buffer, step.dst_offset) = value;
    if (sends(step.op)) sent.push_back(value);
  }
  return sent;
}

std::string check_program_data(const ContextProgram& program,
                               const std::vector<ProgramMemory>& memories, std::uint32_t root,
                               ChunkId first) {
  const ProgramStorage& storage = program.storage();
  const std::uint64_t tiles = program.tiling().tiles;
  for (std::uint32_t rank = 0; rank < memories.size(); ++rank) {
    for (std::uint32_t k = 0; k < storage.size(rank, ProgramBuffer::output); ++k) {
      const auto promised = promised_value(program.program(), rank, k, root);
      if (promised.empty()) continue;
      const std::uint32_t place = storage.place(rank, ProgramBuffer::output, k);
      for (std::uint64_t t = 0; t < tiles; ++t) {
        DataTag sum = 0;
        for (const InputChunk& chunk : promised) sum += piece_contribution(chunk, t, tiles, first);
        if (memories[rank].tag(place, t) != sum) {
          return fmt::format("wrong data at rank {}: output chunk {}, pass {}", rank, k, t);
        }
      }
    }
  }
  return {};
}

}  // namespace espalier
