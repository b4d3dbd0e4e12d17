#include <catch2/catch.hpp>

#include "alg/program/program.h"
#include "alg/program/protocol.h"

using namespace espalier;

namespace {

Program empty_program(CollectiveOp collective, bool in_place, std::uint32_t ranks,
                      std::uint32_t chunks) {
  Program program;
  program.collective = collective;
  program.in_place = in_place;
  program.chunks = chunks;
  program.ranks.resize(ranks);
  for (RankProgram& rank : program.ranks) rank.scratch_chunks = 2;
  return program;
}

}  // namespace

TEST_CASE("An in-place all_gather has its input inside the output") {
  const Program program = empty_program(CollectiveOp::all_gather, true, 3, 6);
  const ProgramStorage storage(program);
  REQUIRE(storage.size(1, ProgramBuffer::input) == 2);
  REQUIRE(storage.size(1, ProgramBuffer::output) == 6);
  REQUIRE(storage.place(1, ProgramBuffer::input, 0) == storage.place(1, ProgramBuffer::output, 2));
  REQUIRE(storage.num_places(1) == 8);
  REQUIRE(storage.place(1, ProgramBuffer::scratch, 0) == storage.first_scratch(1));
}

TEST_CASE("An in-place reduce_scatter has its output inside the input") {
  const Program program = empty_program(CollectiveOp::reduce_scatter, true, 3, 6);
  const ProgramStorage storage(program);
  REQUIRE(storage.place(2, ProgramBuffer::output, 1) == storage.place(2, ProgramBuffer::input, 5));
}

TEST_CASE("Out of place no two chunks share a place") {
  const Program program = empty_program(CollectiveOp::all_to_all, false, 3, 6);
  const ProgramStorage storage(program);
  REQUIRE(storage.place(0, ProgramBuffer::input, 5) == 5);
  REQUIRE(storage.place(0, ProgramBuffer::output, 0) == 6);
  REQUIRE(storage.first_scratch(0) == 12);
}

TEST_CASE("An all_to_all promises the chunks that every rank has for this rank") {
  const Program program = empty_program(CollectiveOp::all_to_all, false, 3, 6);
  REQUIRE(promised_value(program, 1, 5) == std::vector<InputChunk>{{2, 3}});
}

TEST_CASE("A chunk that is larger than a slot takes several passes, the last one shorter") {
  const Program program = empty_program(CollectiveOp::all_reduce, true, 2, 2);
  const Tiling tiling = tile(program, 2000, 4, 384);
  REQUIRE(tiling.chunk_bytes == 1000);
  REQUIRE(tiling.tiles == 3);
  REQUIRE(tiling.bytes_in(0) == 384);
  REQUIRE(tiling.bytes_in(2) == 232);
  REQUIRE(tiling.transactions(3) == 3);
}

TEST_CASE("Small chunks travel together, as many as a slot holds") {
  const Program program = empty_program(CollectiveOp::all_reduce, true, 2, 10);
  const Tiling tiling = tile(program, 1000, 4, 384);
  REQUIRE(tiling.chunk_bytes == 100);
  REQUIRE(tiling.tiles == 1);
  REQUIRE(tiling.chunks_per_slot == 3);
  REQUIRE(tiling.transactions(7) == 3);
}

TEST_CASE("A size that does not divide is padded to whole chunks of whole elements") {
  const Program program = empty_program(CollectiveOp::all_reduce, true, 2, 7);
  REQUIRE(tile(program, 1001, 4, 4096).chunk_bytes == 144);  // 251 elements, 36 in each of 7
}
