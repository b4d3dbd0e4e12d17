#include <catch2/catch.hpp>
#include <optional>
#include <string>

#include "alg/program/chunk_language.h"

using namespace espalier;

namespace {

constexpr ProgramBuffer kInput = ProgramBuffer::input;
constexpr ProgramBuffer kOutput = ProgramBuffer::output;
constexpr ProgramBuffer kScratchBuffer = ProgramBuffer::scratch;

ProgramSignature signature(CollectiveOp collective, std::uint32_t ranks, std::uint32_t chunks,
                           bool in_place) {
  ProgramSignature result;
  result.name = "test";
  result.collective = collective;
  result.ranks = ranks;
  result.chunks = chunks;
  result.in_place = in_place;
  return result;
}

ProgramSignature all_reduce(std::uint32_t ranks = 2, std::uint32_t chunks = 2) {
  return signature(CollectiveOp::all_reduce, ranks, chunks, true);
}

}  // namespace

TEST_CASE("A chunk that was never written cannot be read") {
  ChunkTracer tracer(signature(CollectiveOp::all_reduce, 2, 2, false));
  REQUIRE_THROWS_MATCHES(
      tracer.chunk(0, kOutput, 1), ChunkError,
      Catch::Matchers::Message("rank 0 out[1] is read, but no operation before has written it"));
  REQUIRE_THROWS_MATCHES(tracer.chunk(0, kScratchBuffer, 7), ChunkError,
                         Catch::Matchers::Message(
                             "rank 0 scratch[7] is read, but no operation before has written it"));
  tracer.chunk(1, kInput, 0).copy(0, kScratchBuffer, 7);
  REQUIRE_NOTHROW(tracer.chunk(0, kScratchBuffer, 7));
  REQUIRE_THROWS_AS(tracer.chunk(0, kScratchBuffer, 6, 2), ChunkError);
}

TEST_CASE("A reference is stale as soon as its place is written again") {
  ChunkTracer tracer(all_reduce());
  const ChunkRef before = tracer.chunk(0, kInput, 0, 2);
  const ChunkRef other = tracer.chunk(0, kInput, 0);
  REQUIRE_NOTHROW(
      before.copy(1, kScratchBuffer, 0));  // two references to the same data are both good
  const ChunkRef written = tracer.chunk(1, kInput, 1).copy(0, kInput, 1);
  REQUIRE_THROWS_MATCHES(
      before.copy(1, kScratchBuffer, 0), ChunkError,
      Catch::Matchers::Message(
          "the reference to rank 0 in[0..1] is stale: rank 0 in[1] was written since"));
  REQUIRE_NOTHROW(other.copy(1, kScratchBuffer, 2));
  REQUIRE_NOTHROW(written.copy(1, kScratchBuffer, 3));
}

TEST_CASE("Neither operand of a reduction may be stale") {
  ChunkTracer tracer(all_reduce());
  const ChunkRef mine = tracer.chunk(0, kInput, 0);
  const ChunkRef theirs = tracer.chunk(1, kInput, 0);
  const ChunkRef sum = mine.reduce(theirs);
  REQUIRE_THROWS_AS(mine.reduce(theirs), ChunkError);
  REQUIRE_NOTHROW(sum.copy(1, kInput, 0));
  REQUIRE_THROWS_AS(sum.reduce(theirs), ChunkError);
}

TEST_CASE("A write makes references stale by every name of its place") {
  ChunkTracer tracer(signature(CollectiveOp::all_gather, 2, 4, true));
  const ChunkRef own = tracer.chunk(1, kInput, 0);
  REQUIRE_NOTHROW(tracer.chunk(1, kOutput, 2));  // the same place
  tracer.chunk(0, kInput, 0).copy(1, kOutput, 2);
  REQUIRE_THROWS_MATCHES(
      own.copy(0, kOutput, 2), ChunkError,
      Catch::Matchers::Message(
          "the reference to rank 1 in[0] is stale: rank 1 in[0] was written since"));
}

TEST_CASE("A reduction needs equal numbers of chunks") {
  ChunkTracer tracer(all_reduce());
  const ChunkRef one = tracer.chunk(0, kInput, 0);
  const ChunkRef two = tracer.chunk(1, kInput, 0, 2);
  REQUIRE_THROWS_MATCHES(
      one.reduce(two), ChunkError,
      Catch::Matchers::Message(
          "cannot reduce 2 chunks of rank 1 in[0..1] into 1 chunks of rank 0 in[0]"));
  REQUIRE_NOTHROW(tracer.chunk(0, kInput, 0, 2).reduce(two));
}

TEST_CASE("A chunk is not reduced with itself, nor copied onto a part of itself") {
  ChunkTracer tracer(all_reduce(2, 4));
  const ChunkRef pair = tracer.chunk(0, kInput, 0, 2);
  REQUIRE_THROWS_MATCHES(pair.reduce(pair), ChunkError,
                         Catch::Matchers::Message("rank 0 in[0..1] is reduced with itself"));
  REQUIRE_THROWS_AS(pair.reduce(tracer.chunk(0, kOutput, 1, 2)), ChunkError);
  REQUIRE_THROWS_MATCHES(
      pair.copy(0, kInput, 1), ChunkError,
      Catch::Matchers::Message("rank 0 in[0..1] and its copy rank 0 in[1..2] overlap"));
  REQUIRE_NOTHROW(pair.reduce(tracer.chunk(0, kInput, 2, 2)));
}

TEST_CASE("A copy onto its own place does nothing") {
  ChunkTracer tracer(signature(CollectiveOp::all_gather, 1, 1, true));
  const ChunkRef own = tracer.chunk(0, kInput, 0);
  own.copy(0, kOutput, 0);
  REQUIRE_NOTHROW(own.copy(0, kOutput, 0));
  REQUIRE(tracer.finish().operations.empty());
}

TEST_CASE("Places out of range are refused, and only scratch grows") {
  ChunkTracer tracer(all_reduce());
  REQUIRE_THROWS_MATCHES(
      tracer.chunk(2, kInput, 0), ChunkError,
      Catch::Matchers::Message("rank 2 does not exist; the program has 2 ranks"));
  REQUIRE_THROWS_MATCHES(
      tracer.chunk(0, kInput, 1, 2), ChunkError,
      Catch::Matchers::Message("rank 0 in[1..2] is out of range: the buffer has 2 chunks"));
  REQUIRE_THROWS_AS(tracer.chunk(0, kInput, ~0U, ~0U), ChunkError);
  REQUIRE_THROWS_AS(tracer.chunk(0, kInput, 0, 0), ChunkError);
  const ChunkRef chunk = tracer.chunk(0, kInput, 0);
  REQUIRE_THROWS_AS(chunk.copy(1, kInput, 2), ChunkError);
  REQUIRE_THROWS_AS(chunk.copy(2, kInput, 0), ChunkError);
  REQUIRE_THROWS_AS(chunk.copy(1, kScratchBuffer, ChunkTracer::kMostChunks), ChunkError);
  chunk.copy(1, kScratchBuffer, 41);
  tracer.chunk(1, kInput, 0).copy(0, kInput, 0);
  REQUIRE_THROWS_AS(tracer.finish(), ChunkError);
}

TEST_CASE("An error names the place of its operation in the text") {
  ChunkTracer tracer(all_reduce());
  tracer.at({17, 4});
  try {
    (void)tracer.chunk(5, kInput, 0);
    FAIL("accepted");
  } catch (const ChunkError& error) {
    REQUIRE(error.place().line == 17);
    REQUIRE(error.place().column == 4);
  }
}

TEST_CASE("An error leaves the program as it was") {
  ChunkTracer tracer(all_reduce(2, 1));
  const ChunkRef sum = tracer.chunk(0, kInput, 0).reduce(tracer.chunk(1, kInput, 0));
  REQUIRE_THROWS_AS(sum.copy(3, kInput, 0), ChunkError);
  sum.copy(1, kInput, 0);
  REQUIRE(tracer.finish().operations.size() == 2);
}

TEST_CASE("A sum without one part is not an all_reduce") {
  ChunkTracer tracer(all_reduce(3, 1));
  const ChunkRef sum = tracer.chunk(0, kInput, 0).reduce(tracer.chunk(1, kInput, 0));
  sum.copy(1, kInput, 0);
  REQUIRE_THROWS_MATCHES(
      tracer.finish(), ChunkError,
      Catch::Matchers::Message("at the end rank 0 out[0] must hold rank 0 in[0] + rank 1 in[0] + "
                               "rank 2 in[0], but holds rank 0 in[0] + rank 1 in[0]"));
}

TEST_CASE("A part that is added twice makes the sum wrong") {
  ChunkTracer tracer(all_reduce(2, 1));
  const ChunkRef copy = tracer.chunk(1, kInput, 0).copy(0, kScratchBuffer, 0);
  ChunkRef sum = tracer.chunk(0, kInput, 0).reduce(tracer.chunk(1, kInput, 0));
  const bool twice = GENERATE(false, true);
  if (twice) sum = sum.reduce(copy);
  sum.copy(1, kInput, 0);
  if (twice) {
    REQUIRE_THROWS_AS(tracer.finish(), ChunkError);
  } else {
    REQUIRE_NOTHROW(tracer.finish());
  }
}

TEST_CASE("Broadcast and reduce keep their promise to the given root") {
  ProgramSignature broadcast = signature(CollectiveOp::broadcast, 2, 1, true);
  REQUIRE_THROWS_MATCHES(ChunkTracer(broadcast), ChunkError,
                         Catch::Matchers::Message("broadcast needs a root"));
  broadcast.root = 2;
  REQUIRE_THROWS_AS(ChunkTracer(broadcast), ChunkError);
  broadcast.root = 1;
  ChunkTracer tracer(broadcast);
  REQUIRE_THROWS_AS(tracer.finish(), ChunkError);
  tracer.chunk(1, kInput, 0).copy(0, kInput, 0);
  REQUIRE_NOTHROW(tracer.finish());

  ProgramSignature reduce = signature(CollectiveOp::reduce, 2, 1, true);
  reduce.root = 1;
  ChunkTracer other(reduce);
  other.chunk(1, kInput, 0).reduce(other.chunk(0, kInput, 0));
  REQUIRE_NOTHROW(other.finish());
}

TEST_CASE("A custom collective must keep its given promises") {
  ProgramSignature custom = signature(CollectiveOp::custom, 2, 2, false);
  custom.input_chunks = {2, 0};
  custom.output_chunks = {0, 1};
  custom.promises = {{1, 0, {{0, 0}, {0, 1}}}};
  ChunkTracer tracer(custom);
  REQUIRE_THROWS_AS(tracer.chunk(1, kInput, 0), ChunkError);
  const ChunkRef first = tracer.chunk(0, kInput, 0).copy(1, kOutput, 0);
  REQUIRE_THROWS_AS(tracer.finish(), ChunkError);
  first.reduce(tracer.chunk(0, kInput, 1));
  REQUIRE_NOTHROW(tracer.finish());

  custom.promises = {{1, 1, {{0, 0}}}};
  REQUIRE_THROWS_MATCHES(
      ChunkTracer(custom), ChunkError,
      Catch::Matchers::Message("a promise names rank 1 out[1], which does not exist"));
  custom.promises = {{1, 0, {{1, 0}}}};
  REQUIRE_THROWS_AS(ChunkTracer(custom), ChunkError);
}

TEST_CASE("Signatures that do not describe a collective are refused") {
  REQUIRE_THROWS_AS(ChunkTracer(all_reduce(0, 1)), ChunkError);
  REQUIRE_THROWS_AS(ChunkTracer(all_reduce(1, 0)), ChunkError);
  REQUIRE_THROWS_AS(ChunkTracer(all_reduce(~0U, 1)), ChunkError);
  REQUIRE_THROWS_AS(ChunkTracer(all_reduce(1, ~0U)), ChunkError);
  REQUIRE_THROWS_MATCHES(
      ChunkTracer(signature(CollectiveOp::all_to_all, 3, 4, false)), ChunkError,
      Catch::Matchers::Message("the program has 4 chunks, but the number of chunks of all_to_all "
                               "must be a multiple of its 3 ranks"));
}

TEST_CASE("Fragments end in the order in which they began, and multiply") {
  ChunkTracer tracer(signature(CollectiveOp::all_gather, 2, 2, true));
  REQUIRE_THROWS_AS(tracer.end_parallelize(), ChunkError);
  REQUIRE_THROWS_AS(tracer.begin_parallelize(0), ChunkError);
  REQUIRE_THROWS_AS(tracer.begin_parallelize(ChunkTracer::kMostChunks), ChunkError);
  {
    const auto outer = tracer.parallelize(2);
    tracer.begin_parallelize(3);
    tracer.chunk(0, kInput, 0).copy(1, kOutput, 0);
    tracer.end_parallelize();
    tracer.chunk(1, kInput, 0).copy(0, kOutput, 1);
    REQUIRE_THROWS_MATCHES(
        tracer.finish(), ChunkError,
        Catch::Matchers::Message("a fragment is still open at the end of the program"));
  }
  const ChunkTrace trace = tracer.finish();
  REQUIRE(trace.operations[0].parallel == 6);
  REQUIRE(trace.operations[1].parallel == 2);
}

TEST_CASE("Operations after next_call belong to the next library call") {
  ChunkTracer tracer(all_reduce(2, 1));
  const ChunkRef sum = tracer.chunk(0, kInput, 0).reduce(tracer.chunk(1, kInput, 0));
  tracer.next_call();
  sum.copy(1, kInput, 0);
  const ChunkTrace trace = tracer.finish();
  REQUIRE(trace.operations[0].call == 0);
  REQUIRE(trace.operations[1].call == 1);
}

TEST_CASE("Sums that double without end are stopped") {
  ChunkTracer tracer(all_reduce(2, 1));
  const auto double_it = [&](int times) {
    for (int i = 0; i < times; ++i) {
      tracer.chunk(0, kInput, 0).reduce(tracer.chunk(0, kInput, 0).copy(0, kScratchBuffer, 0));
    }
  };
  REQUIRE_NOTHROW(double_it(16));
  REQUIRE_THROWS_MATCHES(
      double_it(1), ChunkError,
      Catch::Matchers::Message("the sum has more than 65536 chunks, which is the limit"));
}

TEST_CASE("A channel above the limit is refused") {
  ChunkTracer tracer(all_reduce());
  const ChunkRef chunk = tracer.chunk(0, kInput, 0);
  REQUIRE_NOTHROW(chunk.copy(1, kScratchBuffer, 0, {ChunkTracer::kMostChannels - 1}));
  REQUIRE_THROWS_MATCHES(
      chunk.copy(1, kScratchBuffer, 0, {~0U}), ChunkError,
      Catch::Matchers::Message("channel 4294967295 is too large; allowed are 0 to 65535"));
}
