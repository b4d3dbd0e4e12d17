#include "alg/program/compiler.h"

#include <catch2/catch.hpp>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "alg/program/compiler_passes.h"
#include "alg/program/program_certifier.h"
#include "program_interpreter.h"

using namespace espalier;

namespace {

constexpr ProgramBuffer kIn = ProgramBuffer::input;
constexpr ProgramBuffer kOut = ProgramBuffer::output;
constexpr ProgramBuffer kScratch = ProgramBuffer::scratch;

// Promises nothing: what is compiled is what counts.
ProgramSignature free_form(std::uint32_t ranks, std::uint32_t chunks) {
  ProgramSignature signature;
  signature.collective = CollectiveOp::custom;
  signature.ranks = ranks;
  signature.chunks = chunks;
  return signature;
}

// "rrs 2": op and rank, in the order of blocks.
std::vector<std::string> steps_of(const Program& program) {
  std::vector<std::string> result;
  for (std::size_t r = 0; r < program.num_ranks(); ++r) {
    for (const ThreadBlock& block : program.ranks[r].blocks) {
      for (const ProgramStep& step : block.steps) {
        result.push_back(fmt::format("{} {}", to_string(step.op), r));
      }
    }
  }
  return result;
}

using Steps = std::vector<std::string>;

// Figure 3 of the paper with the channels of its section 5.1.
struct PaperHierarchical {
  static constexpr std::uint32_t kServers = 2;
  static constexpr std::uint32_t kPerServer = 3;
  std::uint32_t instances = 1;  // of the phases in servers

  void reduce_scatter(ChunkTracer& tracer, const std::vector<std::uint32_t>& ranks,
                      std::uint32_t offset, std::uint32_t count, std::uint32_t channel) const {
    const std::size_t size = ranks.size();
    for (std::uint32_t r = 0; r < size; ++r) {
      const std::uint32_t index = offset + r * count;
      ChunkRef c = tracer.chunk(ranks[(r + 1) % size], kIn, index, count);
      for (std::size_t step = 1; step < size; ++step) {
        c = tracer.chunk(ranks[(step + r + 1) % size], kIn, index, count).reduce(c, {channel});
      }
    }
  }
  void all_gather(ChunkTracer& tracer, const std::vector<std::uint32_t>& ranks,
                  std::uint32_t offset, std::uint32_t count, std::uint32_t channel) const {
    const std::size_t size = ranks.size();
    for (std::uint32_t r = 0; r < size; ++r) {
      const std::uint32_t index = offset + r * count;
      ChunkRef c = tracer.chunk(ranks[r], kIn, index, count);
      for (std::size_t step = 1; step < size; ++step) {
        c = c.copy(ranks[(step + r) % size], kIn, index, {channel});
      }
    }
  }
  [[nodiscard]] ChunkTrace trace() const {
    ProgramSignature signature = free_form(6, 6);
    signature.collective = CollectiveOp::all_reduce;
    signature.in_place = true;
    ChunkTracer tracer(signature);
    for (const bool scatters : {true, false}) {
      if (!scatters) across(tracer);
      for (std::uint32_t n = 0; n < kServers; ++n) {
        const auto fragment = tracer.parallelize(instances);
        const std::vector<std::uint32_t> local{3 * n, 3 * n + 1, 3 * n + 2};
        if (scatters) {
          reduce_scatter(tracer, local, 0, kServers, 0);
        } else {
          all_gather(tracer, local, 0, kServers, 2);
        }
      }
    }
    return tracer.finish();
  }
  void across(ChunkTracer& tracer) const {
    for (std::uint32_t g = 0; g < kPerServer; ++g) {
      const std::vector<std::uint32_t> cross{g, 3 + g};
      reduce_scatter(tracer, cross, g * kServers, 1, 1);
      all_gather(tracer, cross, g * kServers, 1, 1);
    }
  }
};

bool touches_chunk_0(const ChunkSpan& span) { return span.index == 0; }

}  // namespace

TEST_CASE(
    "Chunk 0 of the paper's hierarchical all_reduce has two levels of reductions and copies") {
  const ChunkTrace cut = cut_into_instances(PaperHierarchical{}.trace());
  std::vector<std::string> about_chunk_0;
  for (const ChunkOperation& node : cut.operations) {
    if (!touches_chunk_0(node.target)) continue;
    about_chunk_0.push_back(fmt::format("{} {}>{} x{}", to_string(node.kind), node.source.rank,
                                        node.target.rank, node.target.count));
  }
  REQUIRE(about_chunk_0 == Steps{"reduce 1>2 x2", "reduce 2>0 x2", "reduce 4>5 x2", "reduce 5>3 x2",
                                 "reduce 3>0 x1", "copy 0>3 x1", "copy 0>1 x2", "copy 1>2 x2",
                                 "copy 3>4 x2", "copy 4>5 x2"});
}

TEST_CASE(
    "The paper's hierarchical all_reduce fuses the middle of a server's reduction into an rrs") {
  const InstructionDag unfused = make_instruction_dag(PaperHierarchical{}.trace());
  const InstructionDag dag = fuse_and_assign_channels(unfused);
  std::vector<std::string> before;
  std::vector<std::string> after;
  const auto describe = [](const Instruction& node) {
    return fmt::format("{} rank {} x{} ch {}", to_string(node.op), node.rank, node.count(),
                       node.channel.value_or(99));
  };
  const auto is_shown = [](const Instruction& node) {
    const ChunkSpan& local = reads_source(node.op) ? node.source : node.target;
    return touches_chunk_0(local) && node.rank < 3;
  };
  for (const Instruction& node : unfused.nodes) {
    if (is_shown(node)) before.push_back(describe(node));
  }
  for (const Instruction& node : dag.nodes) {
    if (is_shown(node)) after.push_back(describe(node));
  }
  REQUIRE(before == Steps{"s rank 1 x2 ch 0", "rrc rank 2 x2 ch 0", "s rank 2 x2 ch 0",
                          "rrc rank 0 x2 ch 0", "rrc rank 0 x1 ch 1", "s rank 0 x1 ch 1",
                          "s rank 0 x2 ch 2", "r rank 1 x2 ch 2", "s rank 1 x2 ch 2",
                          "r rank 2 x2 ch 2"});
  REQUIRE(after == Steps{"s rank 1 x2 ch 0", "rrs rank 2 x2 ch 0", "rrc rank 0 x2 ch 0",
                         "rrcs rank 0 x1 ch 1", "s rank 0 x2 ch 2", "rcs rank 1 x2 ch 2",
                         "r rank 2 x2 ch 2"});
  REQUIRE(interpret(compile(PaperHierarchical{}.trace())).empty());
}

TEST_CASE("Parallel phases of the hierarchical all_reduce run on channels of their own") {
  PaperHierarchical paper;
  paper.instances = 2;
  const Program program = compile(paper.trace());
  REQUIRE(program.num_channels == 5);  // 0, 1 | 2 | 3, 4
  REQUIRE(program.chunks == 6);        // two chunks for two instances
  REQUIRE(interpret(program).empty());
}

TEST_CASE("A receive whose data are only sent on becomes one instruction") {
  ChunkTracer tracer(free_form(3, 1));
  tracer.chunk(0, kIn, 0).copy(1, kOut, 0).copy(2, kOut, 0);
  REQUIRE(steps_of(compile(tracer.finish())) == Steps{"s 0", "rcs 1", "r 2"});
}

TEST_CASE("With fusion off, nothing is fused") {
  ChunkTracer tracer(free_form(3, 1));
  tracer.chunk(0, kIn, 0).copy(1, kOut, 0).copy(2, kOut, 0);
  CompileOptions options;
  options.fuse = false;
  REQUIRE(steps_of(compile(tracer.finish(), options)) == Steps{"s 0", "r 1", "s 1", "r 2"});
}

TEST_CASE("A received chunk that is sent on with a neighbour is not fused") {
  ChunkTracer tracer(free_form(3, 2));
  tracer.chunk(1, kIn, 0).copy(1, kOut, 1);
  tracer.chunk(0, kIn, 0).copy(1, kOut, 0);
  tracer.chunk(1, kOut, 0, 2).copy(2, kOut, 0);
  const Program program = compile(tracer.finish());
  for (const std::string& step : steps_of(program)) REQUIRE(step.find("rcs") == std::string::npos);
}

TEST_CASE("A send of an aliased name is fused with the receive of its place") {
  ProgramSignature signature = free_form(3, 1);
  signature.in_place = true;
  ChunkTracer tracer(signature);
  tracer.chunk(0, kIn, 0).copy(1, kIn, 0);
  tracer.chunk(1, kOut, 0).copy(2, kIn, 0);
  REQUIRE(steps_of(compile(tracer.finish())) == Steps{"s 0", "rcs 1", "r 2"});
}

TEST_CASE("A sum that is sent on and kept is an rrcs; a sum that is only sent on is an rrs") {
  const bool is_kept = GENERATE(true, false);
  ProgramSignature signature = free_form(3, 1);
  signature.in_place = true;
  if (is_kept) signature.promises = {{1, 0, {{0, 0}, {1, 0}}}};
  ChunkTracer tracer(signature);
  const ChunkRef sum = tracer.chunk(1, kIn, 0).reduce(tracer.chunk(0, kIn, 0));
  tracer.chunk(2, kIn, 0).reduce(sum);
  const std::string middle = is_kept ? "rrcs 1" : "rrs 1";
  REQUIRE(steps_of(compile(tracer.finish())) == Steps{"s 0", middle, "rrc 2"});
}

TEST_CASE("A sum that is overwritten later is not stored, unless it is read before") {
  const bool is_read = GENERATE(false, true);
  ProgramSignature signature = free_form(3, 1);
  signature.in_place = true;
  for (std::uint32_t r = 1; r < 3; ++r) {
    signature.promises.push_back({r, 0, {{0, 0}, {1, 0}, {2, 0}}});
  }
  ChunkTracer tracer(signature);
  ChunkRef sum = tracer.chunk(1, kIn, 0).reduce(tracer.chunk(0, kIn, 0));
  if (is_read) sum.copy(1, kScratch, 0);
  sum = tracer.chunk(2, kIn, 0).reduce(sum);
  sum.copy(1, kIn, 0);
  const Program program = compile(tracer.finish());
  const Steps steps = steps_of(program);
  const std::string expected = is_read ? "rrcs 1" : "rrs 1";
  REQUIRE(std::count(steps.begin(), steps.end(), expected) == 1);
  REQUIRE(interpret(program).empty());
}

TEST_CASE("Of several sends that wait for a receive the one on the longest path is fused") {
  ChunkTracer tracer(free_form(5, 1));
  const ChunkRef at_1 = tracer.chunk(0, kIn, 0).copy(1, kOut, 0);
  at_1.copy(2, kOut, 0);                   // ends there
  at_1.copy(3, kOut, 0).copy(4, kOut, 0);  // goes on
  const Program program = compile(tracer.finish());
  for (const ThreadBlock& block : program.ranks[1].blocks) {
    if (block.steps.front().op == ProgramOp::recv_copy_send) REQUIRE(block.send_peer == 3);
    if (block.steps.front().op == ProgramOp::send) REQUIRE(block.send_peer == 2);
  }
  REQUIRE(program.ranks[1].blocks.size() == 2);
  REQUIRE(interpret(program).empty());
}

TEST_CASE("Messages that are directed to different channels are not fused") {
  ChunkTracer tracer(free_form(3, 1));
  tracer.chunk(0, kIn, 0).copy(1, kOut, 0, {0}).copy(2, kOut, 0, {1});
  REQUIRE(steps_of(compile(tracer.finish())) == Steps{"s 0", "r 1", "s 1", "r 2"});
}

TEST_CASE("One channel goes all along a chain of fused instructions") {
  ChunkTracer tracer(free_form(4, 1));
  tracer.chunk(0, kIn, 0).copy(1, kOut, 0).copy(2, kOut, 0, {3}).copy(3, kOut, 0);
  const Program program = compile(tracer.finish());
  REQUIRE(steps_of(program) == Steps{"s 0", "rcs 1", "rcs 2", "r 3"});
  for (const RankProgram& rank : program.ranks) REQUIRE(rank.blocks.front().channel == 3);
  REQUIRE(program.num_channels == 4);
}

TEST_CASE("A chain takes the lowest channel on which no connection gets two owners") {
  // Both chains end on the connection from rank 2 to rank 3, and come from different ranks.
  ChunkTracer tracer(free_form(4, 2));
  tracer.chunk(0, kIn, 0).copy(2, kOut, 0).copy(3, kOut, 0);
  tracer.chunk(1, kIn, 0).copy(2, kOut, 1).copy(3, kOut, 1);
  const Program program = compile(tracer.finish());
  REQUIRE(program.num_channels == 2);
  const Steps steps = steps_of(program);
  REQUIRE(std::count(steps.begin(), steps.end(), "rcs 2") == 2);
  REQUIRE(interpret(program).empty());
}

TEST_CASE("With directed channels, fusion gives way to the owner of a connection") {
  ChunkTracer tracer(free_form(4, 2));
  tracer.chunk(0, kIn, 0).copy(2, kOut, 0, {0}).copy(3, kOut, 0, {0});
  tracer.chunk(1, kIn, 0).copy(2, kOut, 1, {0}).copy(3, kOut, 1, {0});
  const Program program = compile(tracer.finish());
  REQUIRE(program.num_channels == 1);
  const Steps steps = steps_of(program);
  REQUIRE(std::count(steps.begin(), steps.end(), "rcs 2") == 1);
  REQUIRE(interpret(program).empty());
}

TEST_CASE("A plain send goes to the block that a fused instruction gave its connection to") {
  ChunkTracer tracer(free_form(3, 2));
  tracer.chunk(1, kIn, 1).copy(2, kOut, 1);                   // (2, -1, 0)
  tracer.chunk(0, kIn, 0).copy(1, kOut, 0).copy(2, kOut, 0);  // (2, 0, 0)
  const Program program = compile(tracer.finish());
  REQUIRE(program.ranks[1].blocks.size() == 1);
  REQUIRE(program.ranks[1].blocks[0].send_peer == 2);
  REQUIRE(program.ranks[1].blocks[0].recv_peer == 0);
  REQUIRE(interpret(program).empty());
}

TEST_CASE("Every end of a connection has one owner") {
  const Program program = compile(PaperHierarchical{}.trace());
  for (std::size_t r = 0; r < program.num_ranks(); ++r) {
    std::set<std::tuple<bool, std::int32_t, std::uint32_t>> owned;
    for (const ThreadBlock& block : program.ranks[r].blocks) {
      if (block.send_peer >= 0) {
        REQUIRE(owned.insert({true, block.send_peer, block.channel}).second);
      }
      if (block.recv_peer >= 0) {
        REQUIRE(owned.insert({false, block.recv_peer, block.channel}).second);
      }
    }
  }
}

TEST_CASE("Fragments of 2 and 3 instances cut every chunk into 6, and a whole program runs on") {
  ProgramSignature signature = free_form(3, 1);
  signature.promises = {{1, 0, {{0, 0}}}, {2, 0, {{0, 0}}}};
  ChunkTracer tracer(signature);
  tracer.begin_parallelize(2);
  const ChunkRef at_1 = tracer.chunk(0, kIn, 0).copy(1, kOut, 0);
  tracer.end_parallelize();
  tracer.begin_parallelize(3);
  at_1.copy(2, kOut, 0);
  tracer.end_parallelize();
  const Program program = compile(tracer.finish());
  REQUIRE(program.chunks == 6);
  REQUIRE(program.promises.size() == 12);
  REQUIRE(program.num_channels == 3);
  REQUIRE(program.ranks[0].input_chunks == 6);
  REQUIRE(program.ranks[0].blocks.size() == 2);
  REQUIRE(program.ranks[2].blocks.size() == 3);
  REQUIRE(program.ranks[0].blocks[0].steps[0].count == 3);
  REQUIRE(program.ranks[2].blocks[0].steps[0].count == 2);
  REQUIRE(interpret(program).empty());
}

TEST_CASE("A program whose instances cut it into too many chunks is refused") {
  ChunkTracer tracer(free_form(2, 1));
  for (const std::uint32_t prime : {1021U, 1031U}) {
    const auto fragment = tracer.parallelize(prime);
    tracer.chunk(0, kIn, 0).copy(1, kOut, 0);
  }
  REQUIRE_THROWS_AS(compile(tracer.finish()), ChunkError);
}

TEST_CASE("A program whose instances cut a scratch buffer into too many chunks is refused") {
  ChunkTracer tracer(free_form(2, 1));
  {
    const auto instances = tracer.parallelize(4096);
    tracer.chunk(0, kIn, 0).copy(1, kScratch, 4096);
  }
  REQUIRE_THROWS_AS(compile(tracer.finish()), ChunkError);
}

TEST_CASE("A remote reduction adds the message to the accumulator's place") {
  ProgramSignature signature = free_form(2, 3);
  signature.promises = {{1, 2, {{0, 1}, {1, 0}}}};
  ChunkTracer tracer(signature);
  tracer.chunk(1, kIn, 0).copy(1, kOut, 2).reduce(tracer.chunk(0, kIn, 1));
  const Program program = compile(tracer.finish());
  const ProgramStep& sum = program.ranks[1].blocks.front().steps.back();
  REQUIRE(sum.op == ProgramOp::recv_reduce_copy);
  REQUIRE(sum.src_buffer == kOut);
  REQUIRE(sum.src_offset == 2);
  REQUIRE(sum.dst_offset == 2);
  REQUIRE(interpret(program).empty());
}

TEST_CASE(
    "Waits lead to steps that signal; all but one wait of a step are nops, and no wait is idle") {
  // Rank 2 needs what two ranks send it, on two blocks, before it sends both on.
  ChunkTracer tracer(free_form(4, 2));
  tracer.chunk(0, kIn, 0).copy(2, kScratch, 0);
  tracer.chunk(1, kIn, 0).copy(2, kScratch, 1);
  tracer.chunk(2, kScratch, 0, 2).copy(3, kOut, 0);
  const Program program = compile(tracer.finish());
  const auto& blocks = program.ranks[2].blocks;
  REQUIRE(blocks.size() == 3);
  const auto sends_on = [](const ThreadBlock& block) { return block.send_peer == 3; };
  const auto& steps = std::find_if(blocks.begin(), blocks.end(), sends_on)->steps;
  REQUIRE(steps.size() == 2);
  REQUIRE(steps[0].op == ProgramOp::nop);
  REQUIRE(steps[1].op == ProgramOp::send);
  for (const ProgramStep& step : steps) {
    const auto& target = blocks[static_cast<std::size_t>(step.wait_block)];
    REQUIRE(target.steps[static_cast<std::size_t>(step.wait_step)].signals);
  }
  REQUIRE(steps[0].wait_block != steps[1].wait_block);
}

TEST_CASE("A wait that an earlier wait implies is left out") {
  ChunkTracer tracer(free_form(2, 2));
  const ChunkRef both = tracer.chunk(0, kIn, 0, 2).copy(1, kScratch, 0);
  (void)both;
  tracer.chunk(1, kScratch, 0).copy(0, kOut, 0);
  tracer.chunk(1, kScratch, 1).copy(0, kOut, 1);
  const Program program = compile(tracer.finish());
  std::size_t waits = 0;
  for (const ThreadBlock& block : program.ranks[1].blocks) {
    for (const ProgramStep& step : block.steps) waits += step.wait_block >= 0 ? 1 : 0;
  }
  REQUIRE(waits == 1);
  REQUIRE(interpret(program).empty());
}

TEST_CASE("Calls have connections of their own, and no waits between them") {
  ProgramSignature signature = free_form(2, 1);
  signature.promises = {{0, 0, {{0, 0}}}};
  ChunkTracer tracer(signature);
  const ChunkRef at_1 = tracer.chunk(0, kIn, 0).copy(1, kScratch, 0);
  tracer.next_call();
  at_1.copy(0, kOut, 0);
  const Program program = compile(tracer.finish());
  REQUIRE(program.num_calls() == 2);
  REQUIRE(program.ranks[1].blocks.size() == 2);
  REQUIRE(program.ranks[1].blocks[0].call == 0);
  REQUIRE(program.ranks[1].blocks[1].call == 1);
  for (const RankProgram& rank : program.ranks) {
    for (const ThreadBlock& block : rank.blocks) {
      for (const ProgramStep& step : block.steps) REQUIRE(step.wait_block == -1);
    }
  }
  REQUIRE(connections_of(program).size() == 2);
  REQUIRE(interpret(program).empty());
}

TEST_CASE("Two ranks that exchange more chunks than there are slots do not get stuck") {
  ProgramSignature signature = free_form(2, 5);
  ChunkTracer tracer(signature);
  tracer.chunk(0, kIn, 0, 5).copy(1, kOut, 0);
  tracer.chunk(1, kIn, 0, 5).copy(0, kOut, 0);
  CompileOptions options;
  options.slots = 1;
  const Program program = compile(tracer.finish(), options);
  REQUIRE(ends_with_slots(program, 1, 1));
}

TEST_CASE("A program with too few slots is refused with the steps that wait for a slot") {
  // By hand: both ranks send twice before they receive.
  Program program = [] {
    ChunkTracer tracer(free_form(2, 2));
    for (std::uint32_t k = 0; k < 2; ++k) {
      tracer.chunk(0, kIn, k).copy(1, kOut, k);
      tracer.chunk(1, kIn, k).copy(0, kOut, k);
    }
    return compile(tracer.finish());
  }();
  for (RankProgram& rank : program.ranks) {
    ThreadBlock merged = rank.blocks[0];
    const ThreadBlock& other = rank.blocks[1];
    const bool sends_first = merged.send_peer != kNoPeer;
    if (!sends_first) merged = other;
    const ThreadBlock& receiver = sends_first ? other : rank.blocks[0];
    merged.recv_peer = receiver.recv_peer;
    merged.steps.insert(merged.steps.end(), receiver.steps.begin(), receiver.steps.end());
    rank.blocks = {merged};
  }
  REQUIRE(ends_with_slots(program, 2, 1));
  REQUIRE_FALSE(ends_with_slots(program, 1, 1));
  ProgramLimits limits;
  limits.slots = 1;
  limits.chunks_per_slot = 1;
  REQUIRE(certify_program(program, limits).violations.front().what ==
          "deadlocks with 1 slots of a connection, but needs 2; thread blocks wait for each other "
          "in a cycle:\n"
          "  gpu 0 tb 0 step 1 waits for a free slot, which gpu 1 tb 0 step 2 would free\n"
          "  gpu 1 tb 0 step 1 waits for a free slot, which gpu 0 tb 0 step 2 would free\n"
          "  (back to the first line)");
}

TEST_CASE("A rank that only works on its own memory has one block without peers") {
  ChunkTracer tracer(free_form(1, 2));
  tracer.chunk(0, kIn, 0).copy(0, kOut, 0).reduce(tracer.chunk(0, kIn, 1));
  const Program program = compile(tracer.finish());
  REQUIRE(steps_of(program) == Steps{"cpy 0", "re 0"});
  REQUIRE(program.ranks[0].blocks.size() == 1);
  REQUIRE(program.ranks[0].blocks[0].send_peer == kNoPeer);
}

TEST_CASE("Buffers that no step of a rank names have no chunks on that rank") {
  ProgramSignature signature;
  signature.collective = CollectiveOp::all_gather;
  signature.ranks = 2;
  signature.chunks = 2;
  signature.in_place = true;
  ChunkTracer tracer(signature);
  tracer.chunk(0, kOut, 0).copy(1, kOut, 0);
  tracer.chunk(1, kIn, 0).copy(0, kOut, 1);
  const Program program = compile(tracer.finish());
  REQUIRE(program.ranks[0].input_chunks == 0);
  REQUIRE(program.ranks[0].output_chunks == 2);
  REQUIRE(program.ranks[1].input_chunks == 1);
  REQUIRE(program.ranks[1].output_chunks == 2);
}

TEST_CASE("The interpreter of these tests notices a missing wait") {
  ProgramSignature signature = free_form(3, 1);
  signature.promises = {{2, 0, {{0, 0}}}};
  ChunkTracer tracer(signature);
  tracer.chunk(0, kIn, 0).copy(1, kScratch, 0).copy(1, kScratch, 1).copy(2, kOut, 0);
  Program program = compile(tracer.finish());
  REQUIRE(interpret(program).empty());
  for (ThreadBlock& block : program.ranks[1].blocks) {
    for (ProgramStep& step : block.steps) step.wait_block = step.wait_step = -1;
  }
  REQUIRE_FALSE(interpret(program).empty());
}

TEST_CASE("A place is written again only after those who read it") {
  ChunkTracer tracer(free_form(3, 1));
  tracer.chunk(0, kIn, 0).copy(1, kOut, 0).copy(2, kOut, 0);
  tracer.chunk(2, kIn, 0).copy(1, kOut, 0);
  const InstructionDag dag = fuse_and_assign_channels(make_instruction_dag(tracer.finish()));
  std::vector<std::string> ops;
  for (const Instruction& node : dag.nodes) {
    ops.push_back(fmt::format("{} rank {}", to_string(node.op), node.rank));
  }
  REQUIRE(ops == Steps{"s rank 0", "rcs rank 1", "r rank 2", "s rank 2", "r rank 1"});
  REQUIRE(dag.nodes[1].message_from == 0);
  REQUIRE(dag.nodes[4].message_from == 3);
  REQUIRE(dag.nodes[4].after == std::vector<DagEdge>{{1, false}});
}
