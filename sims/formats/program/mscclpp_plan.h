// An execution plan of MSCCL++ as its operations mean it, in every generation of the format: names
// and two-step indices are resolved.
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

#include "alg/program/program.h"
#include "sims/text/diagnostics.h"

namespace espalier::mscclpp {

// What is wrong with a plan, where it stands in the text.
class PlanError : public std::runtime_error {
 public:
  PlanError(Place at, const std::string& what, std::string what_is_right = {})
      : std::runtime_error(what), place(at), hint(std::move(what_is_right)) {}
  Place place;
  std::string hint;
};

inline constexpr std::size_t kMostOpsOfBlock = 64;  // of the executor, those in pipelines too

enum class ChannelType : std::uint8_t { memory, port };

struct Channel {
  std::uint32_t peer = 0;
  ChannelType type = ChannelType::memory;
  std::uint32_t number = 0;  // among the rank's channels to the peer of one type
  std::string buffers;       // schema 1: its pair of buffers
};

// Consecutive chunks of a rank's buffer.
struct Range {
  std::uint32_t rank = 0;
  ProgramBuffer buffer = ProgramBuffer::input;
  std::uint64_t index = 0;
  std::uint64_t count = 0;
  std::vector<std::uint32_t> group = {};  // the range of each of these ranks, behind a switch
};

struct Op {
  std::string name;  // of schema 2, as its newest plans spell it
  ChannelType type = ChannelType::memory;
  std::vector<Range> src;
  std::vector<Range> dst;
  std::vector<Channel> channels;
  std::uint32_t slice = 0;   // of the range, which a group of thread blocks shares
  std::uint32_t slices = 1;  // 1: no group
  std::uint32_t barrier = 0;
  std::uint32_t barrier_blocks = 0;
  std::vector<std::uint32_t> semaphores;
  std::vector<std::pair<std::uint32_t, std::uint32_t>> after;  // schema 1: block and step
  std::uint64_t unit_bytes = 0;                                // pipeline: of a piece
  std::uint64_t unit_chunks = 0;                               // pipeline: chunks that it walks
  std::vector<Op> ops;                                         // pipeline
  Place place;
};

struct Gpu {
  std::uint32_t input_chunks = 0;
  std::uint32_t output_chunks = 0;
  std::uint32_t scratch_chunks = 0;
  std::vector<std::uint32_t> semaphores;  // initial values
  std::vector<std::vector<Op>> blocks;
  Place place;
};

struct Plan {
  std::string name;
  std::string collective;
  std::string protocol;
  bool in_place = false;
  Bytes min_bytes = 0;
  Bytes max_bytes = 0;  // 0: no limit
  std::vector<Gpu> gpus;
};

// Throws PlanError or JsonError.
[[nodiscard]] Plan parse_plan(const std::string& text);

// The plan as a program whose messages are the accesses of other ranks' memory (one_sided). `size`
// is the call's, by which pipelines unroll; 0: unknown, a pipeline moves by chunks. Throws
// PlanError.
[[nodiscard]] Program lower_plan(const Plan& plan, Bytes size);

}  // namespace espalier::mscclpp
