#include "sims/formats/program/msccl_xml.h"

#include <catch2/catch.hpp>

#include "alg/program/builtin_programs.h"
#include "program_file_support.h"
#include "sims/formats/program/promises_file.h"

using namespace espalier;

namespace {

Program two_rank_exchange() {
  return read_valid(contents_of(std::string(ESPALIER_SOURCE_DIR) +
                                "/tests/program/xml/valid/two_rank_exchange.xml"));
}

}  // namespace

TEST_CASE("Every valid document is the same program when it is written and read again") {
  for (const std::string& path : corpus("xml/valid", ".xml")) {
    CAPTURE(path);
    const Program program = read_valid(contents_of(path));
    REQUIRE(unwritable_as_msccl_xml(program).empty());
    const std::string text = write_msccl_xml(program);
    const Program again = read_valid(text);
    REQUIRE(dump(again) == dump(program));
    REQUIRE(write_msccl_xml(again) == text);
  }
}

TEST_CASE("A program is written byte by byte as both generations of runtimes read it") {
  Program program;
  program.name = "a \"quoted\" <name> & more";
  program.collective = CollectiveOp::reduce_scatter;
  program.protocol = Protocol::ll128;
  program.chunks = 1;
  program.ranks.resize(1);
  program.ranks[0].input_chunks = 1;
  program.ranks[0].output_chunks = 1;
  ThreadBlock block;
  ProgramStep step;
  step.op = ProgramOp::nop;
  block.steps.push_back(step);
  step = {ProgramOp::copy, ProgramBuffer::input, 0, ProgramBuffer::output, 0, 1, 0, 0, true, 7};
  block.steps.push_back(step);
  program.ranks[0].blocks.push_back(block);
  REQUIRE(write_msccl_xml(program) ==
          "<algo name=\"a &quot;quoted&quot; &lt;name&gt; &amp; more\" proto=\"LL128\" "
          "nchannels=\"1\" nchunksperloop=\"1\" ngpus=\"1\" coll=\"reducescatter\" inplace=\"0\" "
          "outofplace=\"1\" minBytes=\"0\" maxBytes=\"9223372036854775807\">\n"
          "  <gpu id=\"0\" i_chunks=\"1\" o_chunks=\"1\" s_chunks=\"0\">\n"
          "    <tb id=\"0\" send=\"-1\" recv=\"-1\" chan=\"0\">\n"
          "      <step s=\"0\" type=\"nop\" srcbuf=\"i\" srcoff=\"-1\" dstbuf=\"o\" dstoff=\"-1\" "
          "cnt=\"0\" depid=\"-1\" deps=\"-1\" hasdep=\"0\"/>\n"
          "      <step s=\"1\" type=\"cpy\" srcbuf=\"i\" srcoff=\"0\" dstbuf=\"o\" dstoff=\"0\" "
          "cnt=\"1\" depid=\"0\" deps=\"0\" hasdep=\"1\"/>\n"
          "    </tb>\n"
          "  </gpu>\n"
          "</algo>\n");
}

TEST_CASE("Places that a program leaves open are filled in from its peers") {
  Program program = two_rank_exchange();
  const std::string complete = dump(program);
  for (RankProgram& rank : program.ranks) {
    for (ProgramStep& step : rank.blocks[0].steps) {
      if (step.op == ProgramOp::send) step.dst_offset = -1;
      if (step.op == ProgramOp::send) step.dst_buffer = ProgramBuffer::output;
      if (step.op == ProgramOp::recv) step.src_offset = -1;
    }
  }
  REQUIRE(dump(program) != complete);
  fill_peer_fields(program);
  REQUIRE(dump(program) == complete);
  // Without a peer: its own.
  program.ranks[1].blocks[0].steps.clear();
  program.ranks[0].blocks[0].steps[0].dst_offset = -1;
  fill_peer_fields(program);
  REQUIRE(program.ranks[0].blocks[0].steps[0].dst_offset == 1);
}

TEST_CASE("A program that cannot be written is refused with the reason") {
  const auto reason = [](const auto& change) {
    Program program = two_rank_exchange();
    change(program, program.ranks[1].blocks[0], program.ranks[1].blocks[0].steps[1]);
    return unwritable_as_msccl_xml(program);
  };
  REQUIRE(reason([](Program&, ThreadBlock& block, ProgramStep&) { block.call = 1; }) ==
          "the program has 2 library calls, but a document has one call");
  REQUIRE(reason([](Program&, ThreadBlock&, ProgramStep& step) { step.count = 72; }) ==
          "gpu 1: tb 0: step 1: moves 72 chunks; runtimes accept 1 to 71, and 0 for a nop");
  REQUIRE(reason([](Program&, ThreadBlock& block, ProgramStep& step) {
            block.steps.resize(257, step);
          }) == "gpu 1: tb 0: has 257 steps; runtimes accept at most 256");
  REQUIRE(reason([](Program& program, ThreadBlock&, ProgramStep&) {
            program.ranks[0].blocks.resize(217);
          }) == "gpu 0: has 217 thread blocks; runtimes accept at most 216");
  REQUIRE(reason([](Program& program, ThreadBlock&, ProgramStep&) {
            program.ranks[0].blocks.resize(33);
          }) == "gpu 0: has more than 32 thread blocks of channel 0");
  REQUIRE(reason([](Program&, ThreadBlock& block, ProgramStep&) { block.send_peer = 1; }) ==
          "gpu 1: tb 0: its peer 1 does not exist");
  REQUIRE(reason([](Program&, ThreadBlock& block, ProgramStep&) { block.channel = 1; }) ==
          "gpu 1: tb 0: is on channel 1, but the program has 1 channels");
  REQUIRE(reason([](Program&, ThreadBlock&, ProgramStep& step) { step.wait_block = 0; }) ==
          "gpu 1: tb 0: step 1: waits for tb 0 step -1, which is not a valid dependency");
  REQUIRE(reason([](Program&, ThreadBlock& block, ProgramStep&) {
            block.steps[0] = ProgramStep{};
          }) == "gpu 1: tb 0: step 1: follows a nop, so it must wait for a step");
  REQUIRE(reason([](Program& program, ThreadBlock&, ProgramStep&) { program.name = "\n"; }) ==
          "the program's name contains a control character or broken UTF-8");
  REQUIRE(reason([](Program& program, ThreadBlock&, ProgramStep&) {
            program.max_bytes = ~Bytes{0};
          }).find("below 2^63") != std::string::npos);
  REQUIRE(reason([](Program& program, ThreadBlock&, ProgramStep&) {
            program.ranks[0].input_chunks = 1;
          }) == "gpu 0: has 1 input and 0 output chunks, but the collective has 2 and 2");
  REQUIRE(reason([](Program& program, ThreadBlock&, ProgramStep&) { program.ranks.clear(); }) ==
          "the program has no ranks");
}

TEST_CASE("Built-in programs come back from their documents and promises") {
  std::size_t num_written = 0;
  for (const BuiltinProgram& builtin : builtin_programs()) {
    for (const std::uint32_t ranks : {2U, 3U, 4U, 8U}) {
      BuiltinRequest request;
      request.ranks = ranks;
      request.ranks_per_server = ranks % 4 == 0 ? ranks / 2 : 1;
      request.instances = 2;
      request.protocol = Protocol::ll128;
      if (!builtin.unsuited(request).empty()) continue;
      CAPTURE(builtin.name, ranks);
      Program program = builtin.build(request);
      if (program.num_calls() > 1) {
        REQUIRE(unwritable_as_msccl_xml(program).find("library calls") != std::string::npos);
        continue;
      }
      REQUIRE(unwritable_as_msccl_xml(program).empty());
      Program again = read_valid(write_msccl_xml(program));
      Diagnostics diagnostics;
      if (program.collective == CollectiveOp::custom) {
        again.promises = *read_promises("p", write_promises(program), again, diagnostics);
      }
      fill_peer_fields(program);
      REQUIRE(dump(again) == dump(program));
      ++num_written;
    }
  }
  REQUIRE(num_written > 10);
}
