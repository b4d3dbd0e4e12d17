// Names and limits of MSCCL XML documents, for the reader and the writer.
#pragma once

#include <cstdint>
#include <utility>

#include "alg/program/program.h"

namespace espalier {

// Limits of the first runtime generation, which the later one keeps.
inline constexpr std::int64_t kMostBlocksOfRank = 216;
inline constexpr std::int64_t kMostBlocksOfChannel = 32;  // of one rank
inline constexpr std::int64_t kMostStepsOfBlock = 256;
inline constexpr std::int64_t kMostChunksOfStep = 71;
// Above this number, runtimes print a warning.
inline constexpr std::int64_t kMostUsableChannels = 32;
// Espalier's own limits: a document of a few bytes must not fill the memory.
inline constexpr std::int64_t kMostChunksOfBuffer = std::int64_t{1} << 20;
inline constexpr std::int64_t kMostChunksOfProgram = std::int64_t{1} << 25;  // of all ranks

// The default of maxBytes in the first generation.
inline constexpr std::int64_t kDefaultMaxBytes = std::int64_t{1} << 27;
// The writer's value for "no upper limit", which both generations accept.
inline constexpr std::int64_t kUnlimitedBytes = INT64_MAX;

// The name of a value in documents, and the value.
template <class Value>
using MscclName = std::pair<const char*, Value>;

// The writer uses the first name of a value. The later generation reads reduce_scatter.
inline constexpr MscclName<CollectiveOp> kMscclNamesOfCollectives[] = {
    {"allreduce", CollectiveOp::all_reduce},
    {"allgather", CollectiveOp::all_gather},
    {"reducescatter", CollectiveOp::reduce_scatter},
    {"reduce_scatter", CollectiveOp::reduce_scatter},
    {"alltoall", CollectiveOp::all_to_all},
    {"broadcast", CollectiveOp::broadcast},
    {"reduce", CollectiveOp::reduce},
    {"custom", CollectiveOp::custom}};

inline constexpr MscclName<Protocol> kMscclNamesOfProtocols[] = {
    {"Simple", Protocol::simple}, {"LL", Protocol::ll}, {"LL128", Protocol::ll128}};

inline constexpr MscclName<ProgramBuffer> kMscclNamesOfBuffers[] = {
    {"i", ProgramBuffer::input}, {"o", ProgramBuffer::output}, {"s", ProgramBuffer::scratch}};

inline constexpr MscclName<ProgramOp> kMscclNamesOfOps[] = {
    {"nop", ProgramOp::nop},
    {"s", ProgramOp::send},
    {"r", ProgramOp::recv},
    {"rcs", ProgramOp::recv_copy_send},
    {"rrs", ProgramOp::recv_reduce_send},
    {"rrc", ProgramOp::recv_reduce_copy},
    {"rrcs", ProgramOp::recv_reduce_copy_send},
    {"cpy", ProgramOp::copy},
    {"re", ProgramOp::reduce}};

// The larger buffer of a rank has one share per rank, so chunks must divide by ranks.
[[nodiscard]] constexpr bool has_shares(CollectiveOp collective) {
  return collective == CollectiveOp::all_gather || collective == CollectiveOp::reduce_scatter ||
         collective == CollectiveOp::all_to_all;
}
// Chunks of a rank's input and output, as the collective fixes them; custom: the maximum.
[[nodiscard]] constexpr std::int64_t input_chunks_of(CollectiveOp collective, std::int64_t chunks,
                                                     std::int64_t ranks) {
  return collective == CollectiveOp::all_gather ? chunks / ranks : chunks;
}
[[nodiscard]] constexpr std::int64_t output_chunks_of(CollectiveOp collective, std::int64_t chunks,
                                                      std::int64_t ranks) {
  return collective == CollectiveOp::reduce_scatter ? chunks / ranks : chunks;
}

}  // namespace espalier
