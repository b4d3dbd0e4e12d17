// Random programs: whatever the language accepts, the compiled program computes it.
#include <catch2/catch.hpp>
#include <map>
#include <random>
#include <tuple>
#include <vector>

#include "alg/program/compiler.h"
#include "program_interpreter.h"
#include "tests/support/share_of_cases.h"

using namespace espalier;

namespace {

struct RandomOperation {
  TransferKind kind = TransferKind::copy;
  ChunkSpan source;
  ChunkSpan target;
  Directives directives;
  std::uint32_t instances = 1;
  bool begins_call = false;
};

struct DrawnProgram {
  ProgramSignature signature;
  std::vector<RandomOperation> operations;
};

class ProgramGenerator {
 public:
  explicit ProgramGenerator(std::uint32_t seed) : random_(seed) {}

  DrawnProgram make() {
    DrawnProgram program;
    ProgramSignature& signature = program.signature;
    signature.collective = CollectiveOp::custom;
    signature.ranks = 1 + below(5);
    signature.chunks = 1 + below(5);
    signature.in_place = below(2) == 0;
    signature.protocol = below(2) == 0 ? Protocol::simple : Protocol::ll;
    const bool has_calls = below(3) == 0;
    const bool has_fragments = below(2) == 0;
    const bool has_channels = below(2) == 0;
    for (std::uint32_t r = 0; r < signature.ranks; ++r) {
      for (std::uint32_t k = 0; k < signature.chunks; ++k) {
        memory_[place(signature, {r, ProgramBuffer::input, k, 1})] = {{r, k}};
      }
    }
    const std::uint32_t wanted = 5 + below(60);
    for (std::uint32_t tries = 0; tries < 4 * wanted && program.operations.size() < wanted;
         ++tries) {
      RandomOperation operation;
      operation.kind = below(3) == 0 ? TransferKind::reduce : TransferKind::copy;
      const std::uint32_t count = 1 + below(signature.chunks);
      operation.source = span(signature, count);
      operation.target = span(signature, count);
      if (has_channels && below(2) == 0) operation.directives.channel = below(3);
      if (has_fragments) operation.instances = 1 + below(3);
      operation.begins_call = has_calls && below(12) == 0;
      if (apply(signature, operation)) program.operations.push_back(operation);
    }
    for (std::uint32_t r = 0; r < signature.ranks; ++r) {
      for (std::uint32_t k = 0; k < signature.chunks; ++k) {
        const auto at = memory_.find(place(signature, {r, ProgramBuffer::output, k, 1}));
        if (at != memory_.end()) signature.promises.push_back({r, k, at->second});
      }
    }
    return program;
  }

 private:
  using Place = std::tuple<std::uint32_t, int, std::uint32_t>;

  std::uint32_t below(std::uint32_t n) { return static_cast<std::uint32_t>(random_() % n); }

  static Place place(const ProgramSignature& signature, const ChunkSpan& chunk) {
    const bool is_shared = signature.in_place && chunk.buffer == ProgramBuffer::output;
    return {chunk.rank, static_cast<int>(is_shared ? ProgramBuffer::input : chunk.buffer),
            chunk.index};
  }
  ChunkSpan span(const ProgramSignature& signature, std::uint32_t count) {
    const auto buffer = static_cast<ProgramBuffer>(below(3));
    return {below(signature.ranks), buffer, below(signature.chunks - count + 1), count};
  }

  bool apply(const ProgramSignature& signature, const RandomOperation& operation) {
    std::vector<std::vector<InputChunk>> values;
    for (std::uint32_t k = 0; k < operation.source.count; ++k) {
      ChunkSpan from = operation.source;
      ChunkSpan to = operation.target;
      from.index += k;
      to.index += k;
      for (std::uint32_t other = 0; other < operation.source.count; ++other) {
        ChunkSpan also = operation.target;
        also.index += other;
        if (place(signature, from) == place(signature, also)) return false;
      }
      const auto source = memory_.find(place(signature, from));
      if (source == memory_.end()) return false;
      std::vector<InputChunk> value = source->second;
      if (operation.kind == TransferKind::reduce) {
        const auto target = memory_.find(place(signature, to));
        if (target == memory_.end()) return false;
        value.insert(value.end(), target->second.begin(), target->second.end());
        std::sort(value.begin(), value.end());
      }
      if (value.size() > 100) return false;
      values.push_back(value);
    }
    for (std::uint32_t k = 0; k < operation.source.count; ++k) {
      ChunkSpan to = operation.target;
      to.index += k;
      memory_[place(signature, to)] = values[k];
    }
    return true;
  }

  std::mt19937 random_;
  std::map<Place, std::vector<InputChunk>> memory_;
};

ChunkTrace trace(const DrawnProgram& program) {
  ChunkTracer tracer(program.signature);
  for (const RandomOperation& operation : program.operations) {
    if (operation.begins_call) tracer.next_call();
    const auto fragment = tracer.parallelize(operation.instances);
    const ChunkSpan& from = operation.source;
    const ChunkSpan& to = operation.target;
    const ChunkRef source = tracer.chunk(from.rank, from.buffer, from.index, from.count);
    if (operation.kind == TransferKind::copy) {
      source.copy(to.rank, to.buffer, to.index, operation.directives);
    } else {
      tracer.chunk(to.rank, to.buffer, to.index, to.count).reduce(source, operation.directives);
    }
  }
  return tracer.finish();
}

}  // namespace

TEST_CASE("A compiled program computes what its text says, with any number of slots") {
  constexpr std::uint32_t kFirstSeed = 1;
  constexpr std::uint32_t kPrograms = 300;
  test::ShareOfCases share(10);
  for (std::uint32_t seed = kFirstSeed; seed < kFirstSeed + kPrograms; ++seed) {
    if (!share.take()) continue;
    INFO("seed " << seed);
    const ChunkTrace program = trace(ProgramGenerator(seed).make());
    for (const std::uint32_t slots : {1U, 2U, 8U}) {
      INFO("slots " << slots);
      CompileOptions options;
      options.slots = slots;
      REQUIRE(interpret(compile(program, options), 2, slots).empty());
    }
  }
}
