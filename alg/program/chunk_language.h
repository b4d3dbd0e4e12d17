// The chunk language (GC3, section 3): a program moves chunks by references to them, and is traced
// operation by operation.
//
//   ChunkTracer tracer(signature);
//   ChunkRef sum = tracer.chunk(1, ProgramBuffer::input, 0);
//   sum = sum.reduce(tracer.chunk(0, ProgramBuffer::input, 0));  // rank 0's into rank 1's
//   sum.copy(0, ProgramBuffer::input, 0, {1});  // on channel 1
//   Program program = compile(tracer.finish());
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "alg/program/program.h"

namespace espalier {

// The place of an operation in a text; line 0: none.
struct SourcePlace {
  std::uint32_t line = 0;
  std::uint32_t column = 0;
};

// An error in a program, as a sentence for its author.
class ChunkError : public std::runtime_error {
 public:
  ChunkError(const std::string& what, SourcePlace place)
      : std::runtime_error(what), place_(place) {}
  // The place of the operation, as given to ChunkTracer::at.
  [[nodiscard]] SourcePlace place() const { return place_; }

 private:
  SourcePlace place_;
};

struct ProgramSignature {
  std::string name;
  CollectiveOp collective = CollectiveOp::all_reduce;
  std::uint32_t ranks = 1;
  std::uint32_t chunks = 1;  // in the larger of input and output buffer
  bool in_place = false;     // see ProgramStorage
  Protocol protocol = Protocol::simple;
  std::optional<std::uint32_t> root;  // broadcast, reduce: required
  // custom: chunks of each rank's buffers; empty: `chunks` on all ranks.
  std::vector<std::uint32_t> input_chunks;
  std::vector<std::uint32_t> output_chunks;
  std::vector<PromisedChunk> promises;  // custom
  Bytes min_bytes = 0;
  Bytes max_bytes = 0;
};

// `count` consecutive chunks of a buffer.
struct ChunkSpan {
  std::uint32_t rank = 0;
  ProgramBuffer buffer = ProgramBuffer::input;
  std::uint32_t index = 0;
  std::uint32_t count = 1;
};
[[nodiscard]] std::string to_string(const ChunkSpan& span);  // "rank 1 in[2..3]"

struct Directives {
  std::optional<std::uint32_t> channel;  // none: the compiler chooses
};

struct ChunkOperation {
  TransferKind kind = TransferKind::copy;
  ChunkSpan source;  // source.count == target.count
  ChunkSpan target;  // reduce: accumulator and result
  std::optional<std::uint32_t> channel;
  std::uint32_t parallel = 1;  // number of instances, each with its share of the bytes
  std::uint32_t instance = 0;  // once the trace is cut into instances: the number of this one
  std::uint32_t call = 0;      // number of its library call
  SourcePlace place;

  [[nodiscard]] bool is_remote() const { return source.rank != target.rank; }
};

// A checked program as written.
struct ChunkTrace {
  Program signature;  // everything but thread blocks
  std::vector<ChunkOperation> operations;
};

class ChunkTracer;

// Refers to the chunks that are in a place when the reference is made. The reference is valid until
// the place is written again.
class ChunkRef {
 public:
  [[nodiscard]] const ChunkSpan& span() const { return span_; }

  // Copies the chunks; the result refers to the copy. A copy onto itself does nothing.
  ChunkRef copy(std::uint32_t rank, ProgramBuffer buffer, std::uint32_t index,
                Directives directives = {}) const;
  // Adds `other` to the chunks in place. The result refers to the sum.
  ChunkRef reduce(const ChunkRef& other, Directives directives = {}) const;

 private:
  friend class ChunkTracer;
  ChunkRef(ChunkTracer* tracer, const ChunkSpan& span, std::vector<std::uint32_t> versions)
      : tracer_(tracer), span_(span), versions_(std::move(versions)) {}

  ChunkTracer* tracer_;
  ChunkSpan span_;
  std::vector<std::uint32_t> versions_;  // by chunk: of its place
};

// Records a program while it is written. A function that throws ChunkError leaves the program as it
// was. References must not outlive the tracer.
class ChunkTracer {
 public:
  // Limit, exclusive, of an index of a scratch buffer and of the product of chunks and instances.
  static constexpr std::uint32_t kMostChunks = 1U << 20;
  // Most ranks times chunks.
  static constexpr std::uint32_t kMostPlaces = 1U << 22;
  // Limit, exclusive, of a directed channel.
  static constexpr std::uint32_t kMostChannels = 1U << 16;
  // Most terms of a sum, each counted as often as it was added.
  static constexpr std::size_t kMostTerms = std::size_t{1} << 16;

  explicit ChunkTracer(const ProgramSignature& signature);
  ~ChunkTracer();
  ChunkTracer(const ChunkTracer&) = delete;
  ChunkTracer& operator=(const ChunkTracer&) = delete;

  // Sets the place of the following operations.
  void at(SourcePlace place) { place_ = place; }

  // Refers to the chunks that are in a place now. They must have been written.
  [[nodiscard]] ChunkRef chunk(std::uint32_t rank, ProgramBuffer buffer, std::uint32_t index,
                               std::uint32_t count = 1);

  // Operations of a fragment run as `instances` instances. Each has its share of every chunk and
  // its own channels. The instances of nested fragments are multiplied.
  void begin_parallelize(std::uint32_t instances);
  void end_parallelize();
  class [[nodiscard]] Fragment {
   public:
    explicit Fragment(ChunkTracer& tracer) : tracer_(tracer) {}
    ~Fragment() { tracer_.leave_fragment(); }
    Fragment(const Fragment&) = delete;
    Fragment& operator=(const Fragment&) = delete;

   private:
    ChunkTracer& tracer_;
  };
  // A fragment until the end of the scope.
  Fragment parallelize(std::uint32_t instances);

  // The operations that follow belong to the next library call. A rank starts it when its part of
  // the previous call is done.
  void next_call() { ++call_; }

  // Completes the program and checks what the collective promises.
  [[nodiscard]] ChunkTrace finish();

 private:
  friend class ChunkRef;
  class Memory;

  [[noreturn]] void fail(const std::string& what) const;
  void check_signature(const ProgramSignature& signature) const;
  void check_span(const ChunkSpan& span) const;
  void check_fresh(const ChunkRef& ref) const;
  void check_promises() const;
  [[nodiscard]] ChunkRef reference_to(const ChunkSpan& span);
  ChunkRef record(TransferKind kind, const ChunkRef& source, const ChunkSpan& target,
                  Directives directives);
  void leave_fragment();

  ChunkTrace trace_;
  std::unique_ptr<Memory> memory_;
  std::vector<std::uint32_t> fragments_;  // instances of the open fragments, multiplied
  std::uint32_t call_ = 0;
  SourcePlace place_;
};

}  // namespace espalier
