// Each kind of violation, where it is and what is said of it; and programs that are right.
#include "alg/program/program_certifier.h"

#include <catch2/catch.hpp>

#include <algorithm>

#include "program_builder.h"

using namespace espalier;
using namespace espalier::program_test;

namespace {

using Kind = ProgramViolationKind;
using Texts = std::vector<std::string>;

Texts texts(const ProgramCertificate& certificate) {
  Texts result;
  for (const ProgramViolation& v : certificate.violations) {
    result.push_back(std::string(to_string(v.kind)) + ": " + describe(v));
  }
  return result;
}
Texts texts(const Program& program, const ProgramLimits& limits = {}) {
  return texts(certify_program(program, limits));
}

// MSCCL-IR, A.1.
const char* const kExchange = R"(
gpu i2
tb >1 <1
s i1
rrcs i0
r i1
gpu i2
tb >0 <0
s i0
rrcs i1
r i0
)";

Program exchange() { return program_of(CollectiveOp::all_reduce, true, 2, kExchange); }

// Two blocks of gpu 0 that exchange what `middle` says, with one block of gpu 1.
Program custom(const std::string& text) { return program_of(CollectiveOp::custom, false, 4, text); }

ProgramStep& step(Program& program, std::size_t rank, std::size_t block, std::size_t s) {
  return program.ranks[rank].blocks[block].steps[s];
}

}  // namespace

TEST_CASE("The exchange of two ranks is proven, with its figures") {
  const ProgramCertificate certificate = certify_program(exchange());
  REQUIRE(texts(certificate) == Texts{});
  // Each fused step keeps the slot of its message until there is room for the one it sends.
  REQUIRE(certificate.least_slots == 2);
  REQUIRE(certificate.most_contexts == 1);
  REQUIRE(certificate.most_steps == 3);
  REQUIRE(certificate.messages == 4);
  REQUIRE(certificate.connections == 2);
  REQUIRE(certificate.promises_known);
}

TEST_CASE("A program with wrong ranks, chunks, sizes, root or promises is malformed") {
  SECTION("no ranks") {
    REQUIRE(texts(Program{}) == Texts{"malformed: the program has no ranks; it needs at least 1"});
  }
  SECTION("no chunks") {
    Program program = exchange();
    program.chunks = 0;
    REQUIRE(texts(program)[0] == "malformed: the program has no chunks; it needs at least 1");
  }
  SECTION("chunks that do not divide") {
    Program program = program_of(CollectiveOp::all_gather, false, 3, "gpu\ngpu");
    REQUIRE(texts(program) == Texts{"malformed: the program has 3 chunks, which is not a multiple "
                                    "of its 2 ranks, as all_gather needs"});
  }
  SECTION("sizes") {
    Program program = exchange();
    program.min_bytes = 10;
    program.max_bytes = 5;
    REQUIRE(
        texts(program) ==
        Texts{
            "malformed: the program's smallest size, 10 bytes, exceeds its largest size, 5 bytes"});
  }
  SECTION("root") {
    Program program = exchange();
    program.root = 2;
    REQUIRE(texts(program) == Texts{"malformed: the root is gpu 2, but the program has 2 ranks"});
  }
  SECTION("more chunks than can be followed") {
    REQUIRE(texts(custom("gpu s4294967295\ngpu s4294967295")) ==
            Texts{"malformed: the buffers of all ranks together have 8589934590 chunks; allowed "
                  "are at most 33554432"});
  }
  SECTION("declared chunks") {
    Program program = exchange();
    program.ranks[1].output_chunks = 1;
    REQUIRE(texts(program) == Texts{"malformed: gpu 1 (line 7): declares 1 output chunks, but with "
                                    "2 chunks on 2 ranks all_reduce has exactly 2"});
  }
  SECTION("declared chunks of a custom program") {
    REQUIRE(texts(custom("gpu i5")) ==
            Texts{"malformed: gpu 0 (line 1): declares 5 input chunks, but with 4 chunks on 1 "
                  "ranks custom has at most 4"});
  }
  SECTION("promises") {
    Program program = custom("gpu i1 o1");
    program.promises = {{0, 1, {{0, 0}}}, {1, 0, {{0, 0}}}, {0, 0, {{0, 1}}}, {0, 0, {{0, 0}}}};
    REQUIRE(texts(program) ==
            Texts{"malformed: gpu 0 (line 1): a promise names output chunk 1, but the rank has 1 "
                  "output chunks",
                  "malformed: a promise names gpu 1, but the program has 1 ranks",
                  "malformed: gpu 0 (line 1): the promise of output chunk 0 names input chunk 1 of "
                  "gpu 0, which does not exist",
                  "malformed: gpu 0 (line 1): output chunk 0 has two promises; allowed is one"});
  }
}

TEST_CASE("A thread block with a wrong peer or channel is malformed") {
  REQUIRE(texts(custom("gpu\ntb >0\ntb <2 c4\ngpu")) ==
          Texts{"malformed: gpu 0 tb 0 (line 2): sends to itself",
                "malformed: gpu 0 tb 1 (line 3): receives from gpu 2, but the program has 2 ranks",
                "malformed: gpu 0 tb 1 (line 3): is on channel 4, but the program has 4 channels"});
}

TEST_CASE("A step with a wrong operand, count or peer is malformed") {
  SECTION("an offset") {
    Program program = exchange();
    step(program, 0, 0, 0).src_offset = -1;
    step(program, 1, 0, 2).count = 3;
    REQUIRE(texts(program) == Texts{"malformed: gpu 0 tb 0 step 0 (line 4): its source is i -1, 1 "
                                    "chunks long, but buffer i of this rank has 2 chunks",
                                    "malformed: gpu 1 tb 0 step 2 (line 11): its target is i 0, 3 "
                                    "chunks long, but buffer i of this rank has 2 chunks"});
  }
  SECTION("a buffer that is not declared") {
    REQUIRE(texts(custom("gpu i1\ntb\ncpy i0 o0")) ==
            Texts{"malformed: gpu 0 tb 0 step 0 (line 3): its target is o 0, 1 chunks long, but "
                  "buffer o of this rank has 0 chunks"});
  }
  SECTION("only local operands must exist") {
    Program program = exchange();
    step(program, 0, 0, 0).dst_offset = 7;
    step(program, 0, 0, 2).src_offset = -5;
    REQUIRE(texts(program) == Texts{});
  }
  SECTION("a count") {
    Program program = exchange();
    step(program, 0, 0, 0).count = 0;
    step(program, 1, 0, 1).count = 0;
    REQUIRE(texts(program) ==
            Texts{"malformed: gpu 0 tb 0 step 0 (line 4): its count is 0; allowed is 1 and more",
                  "malformed: gpu 1 tb 0 step 1 (line 10): its count is 0; allowed is 1 and more"});
  }
  SECTION("no peer") {
    REQUIRE(
        texts(custom("gpu i1\ntb\ns i0\nr i0\ngpu")) ==
        Texts{"malformed: gpu 0 tb 0 step 0 (line 3): sends, but its thread block has no send peer",
              "malformed: gpu 0 tb 0 step 1 (line 4): receives, but its thread block has no "
              "receive peer"});
  }
}

TEST_CASE("A wait for a step that does not exist or does not signal is malformed") {
  const auto of_wait = [](const std::string& wait) {
    const Texts found =
        texts(custom("gpu i1 s4\ntb\ncpy i0 s0 !\nnop !\ncpy i0 s1 @0.0\ntb\ncpy i0 s2 " + wait +
                     "\ntb k1\ncpy i0 s3 !"));
    return found.empty() ? "" : found[0];
  };
  const std::string place = "malformed: gpu 0 tb 1 step 0 (line 7): waits for gpu 0 ";
  REQUIRE(of_wait("@0.0").empty());
  REQUIRE(of_wait("@3.0") == place + "tb 3 step 0, which does not exist");
  REQUIRE(of_wait("@0.3") == place + "tb 0 step 3, which does not exist");
  REQUIRE(of_wait("@0.-1") == place + "tb 0 step -1, which does not exist");
  REQUIRE(of_wait("@-1.0") == place + "tb -1 step 0, which does not exist");
  REQUIRE(of_wait("@0.1") == place + "tb 0 step 1, a nop, which never signals");
  REQUIRE(of_wait("@0.2") == place + "tb 0 step 2, which does not signal");
  REQUIRE(of_wait("@1.0") == place + "tb 1 step 0, which comes later in its own thread block");
  REQUIRE(of_wait("@2.0") == place + "tb 2 step 0, which belongs to another call");
}

TEST_CASE("A wait for an earlier step of the same block has no effect") {
  REQUIRE(texts(custom("gpu i1 o1\ntb\ncpy i0 o0 !\ncpy i0 o0 @0.0")) == Texts{});
}

TEST_CASE("Nops hand their waits to a step that has one") {
  const char* const three = R"(gpu i1 s3
tb
cpy i0 s0 !
tb
cpy i0 s1 !
tb
nop @0.0
%
re s0 s1
nop @0.0
nop @1.0)";
  const auto with = [&](const std::string& line) {
    std::string text = three;
    text.replace(text.find('%'), 1, line);
    return texts(custom(text));
  };
  REQUIRE(with("nop @1.0\ncpy s0 s2 @1.0") == Texts{});
  REQUIRE(with("cpy s0 s2 @1.0") == Texts{});
  REQUIRE(with("cpy s0 s2")[0] ==
          "malformed: gpu 0 tb 2 step 1 (line 8): comes after the nop gpu 0 tb 2 step 0, but waits "
          "for no step; the step after a nop must wait for a step");
}

TEST_CASE("Nops order as many blocks as they name") {
  const std::string text = R"(gpu i1 s3
tb
cpy i0 s0 !
tb
cpy i0 s1 !
tb
)";
  REQUIRE(texts(custom(text + "nop @0.0\nre s0 s1 @1.0")) == Texts{});
  REQUIRE(texts(custom(text + "re s0 s1 @1.0")) ==
          Texts{"race: gpu 0 tb 2 step 0 (line 7): reads s 0, which gpu 0 tb 0 step 0 writes, but "
                "no wait and no message orders the two steps"});
}

TEST_CASE("An end of a connection has one owner, even if the owner does not use it") {
  REQUIRE(texts(custom("gpu i1\ntb >1\ns i0\ntb >1\ngpu o1\ntb <0\nr o0")) ==
          Texts{"malformed: gpu 0 tb 1 (line 4): sends to gpu 1 on channel 0, as gpu 0 tb 0 does, "
                "but only one thread block may own this end of a connection"});
  REQUIRE(texts(custom("gpu i1\ntb >1\ns i0\ntb >1 k1\ngpu o1\ntb <0\nr o0\ntb <0 k1")) == Texts{});
}

TEST_CASE("A connection without its other end is refused at the first step that uses it") {
  REQUIRE(texts(custom("gpu i1\ntb >1\ns i0\ngpu o1\ntb <0 c1\nr o0")) ==
          Texts{"malformed: gpu 0 tb 0 step 0 (line 3): sends to gpu 1 on channel 0, but no thread "
                "block of gpu 1 has the other end of this connection",
                "malformed: gpu 1 tb 0 step 0 (line 6): receives from gpu 0 on channel 1, but no "
                "thread block of gpu 0 has the other end of this connection"});
}

TEST_CASE("Every message has a sender and a receiver with the same number of chunks") {
  const std::string gpu0 = "gpu i2\ntb >1\ns i0\ns i0 x2\n";
  REQUIRE(texts(custom(gpu0 + "gpu o2\ntb <0\nr o0\nr o0 x2")) == Texts{});
  REQUIRE(texts(custom(gpu0 + "gpu o2\ntb <0\nr o0")) ==
          Texts{"unmatched: gpu 0 tb 0 step 1 (line 4): sends message 1 of its connection, but gpu "
                "1 tb 0 receives only 1"});
  REQUIRE(texts(custom(gpu0 + "gpu o2\ntb <0\nr o0\nr o0 x2\nr o1")) ==
          Texts{"unmatched: gpu 1 tb 0 step 2 (line 9): receives message 2 of its connection, but "
                "gpu 0 tb 0 sends only 2"});
  REQUIRE(texts(custom(gpu0 + "gpu o2\ntb <0\nr o0\nr o0")) ==
          Texts{"unmatched: gpu 0 tb 0 step 1 (line 4): sends 2 chunks as message 1 of its "
                "connection, but gpu 1 tb 0 step 1 receives 1"});
}

TEST_CASE("Ranks that both receive first wait for each other") {
  const Program program =
      custom("gpu i1 o1\ntb >1 <1\nr o0\ns i0\ngpu i1 o1\ntb >0 <0\nr o0\ns i0");
  const ProgramCertificate certificate = certify_program(program);
  REQUIRE(texts(certificate) ==
          Texts{"deadlock: gpu 0 tb 0 step 0 (line 3): deadlocks with any number of slots; thread "
                "blocks wait for each other in a cycle:\n"
                "  gpu 0 tb 0 step 0 waits for the message of gpu 1 tb 0 step 1\n"
                "  gpu 1 tb 0 step 0 waits for the message of gpu 0 tb 0 step 1\n"
                "  (back to the first line)"});
  REQUIRE(certificate.least_slots == 0);
}

TEST_CASE("Ranks that both send first need a slot for each message") {
  const Program program = custom(
      "gpu i2 o2\ntb >1 <1\ns i0\ns i1\nr o0\nr o1\ngpu i2 o2\ntb >0 <0\ns i0\ns i1\nr o0\nr o1");
  ProgramLimits limits;
  limits.slots = 1;
  const ProgramCertificate certificate = certify_program(program, limits);
  REQUIRE(texts(certificate) ==
          Texts{"deadlock: gpu 0 tb 0 step 1 (line 4): deadlocks with 1 slots of a connection, but "
                "needs 2; thread blocks wait for each other in a cycle:\n"
                "  gpu 0 tb 0 step 1 waits for a free slot, which gpu 1 tb 0 step 2 would free\n"
                "  gpu 1 tb 0 step 1 waits for a free slot, which gpu 0 tb 0 step 2 would free\n"
                "  (back to the first line)"});
  REQUIRE(certificate.least_slots == 2);
  limits.slots = 2;
  REQUIRE(certify_program(program, limits).ok());
}

TEST_CASE("A step of many chunks takes as many slots as they fill") {
  const Program program =
      custom("gpu i4 o4\ntb >1 <1\ns i0 x4\nr o0 x4\ngpu i4 o4\ntb >0 <0\ns i0 x4\nr o0 x4");
  const auto least = [&](std::uint32_t chunks_per_slot) {
    ProgramLimits limits;
    limits.chunks_per_slot = chunks_per_slot;
    return certify_program(program, limits).least_slots;
  };
  REQUIRE(least(0) == 1);
  REQUIRE(least(4) == 1);
  REQUIRE(least(3) == 2);
  REQUIRE(least(1) == 4);
}

TEST_CASE("A fused step passes on each transaction before it takes the next") {
  const Program program =
      custom("gpu i4\ntb >1\ns i0 x4\ngpu s4\ntb >2 <0\nrcs s0 x4\ngpu o4\ntb <1\nr o0 x4");
  ProgramLimits limits;
  limits.slots = 1;
  limits.chunks_per_slot = 1;
  REQUIRE(texts(program, limits) == Texts{});
}

TEST_CASE("A cycle of a wait and a message is a deadlock") {
  const Program program = custom(R"(gpu i1 o2
tb >1
s i0 @1.0
tb <1
r o0 !
gpu i1 s1
tb <0 >0
rcs s0
)");
  REQUIRE(texts(program) == Texts{"deadlock: gpu 0 tb 0 step 0 (line 3): deadlocks with any number "
                                  "of slots; thread blocks wait for each other in a cycle:\n"
                                  "  gpu 0 tb 0 step 0 waits for gpu 0 tb 1 step 0\n"
                                  "  gpu 0 tb 1 step 0 waits for the message of gpu 1 tb 0 step 0\n"
                                  "  gpu 1 tb 0 step 0 waits for the message of gpu 0 tb 0 step 0\n"
                                  "  (back to the first line)"});
}

TEST_CASE("A later call starts when the earlier one has ended, and is ordered after it") {
  const std::string text = R"(gpu i1 s1 o1
tb
cpy i0 s0
tb $
cpy s0 o0
)";
  const auto in_call = [&](const char* call) {
    std::string filled = text;
    filled.replace(filled.find('$'), 1, call);
    return texts(custom(filled));
  };
  REQUIRE(in_call("k1") == Texts{});
  REQUIRE(in_call("k7") == Texts{});
  REQUIRE(in_call("").size() == 1);
  REQUIRE(in_call("")[0].substr(0, 5) == "race:");
}

TEST_CASE("A deadlock of a call keeps later ones from starting") {
  const Program program = custom(
      "gpu i1 o1\ntb k1\ncpy i0 o0\ntb >1 <1\nr o0\ns i0\n"
      "gpu i1 o1\ntb >0 <0\nr o0\ns i0\ntb k1\ncpy i0 o0");
  const ProgramCertificate certificate = certify_program(program);
  REQUIRE(certificate.violations.size() == 1);
  REQUIRE(certificate.violations[0].kind == Kind::deadlock);
  REQUIRE(certificate.violations[0].tb == 1);
}

TEST_CASE("A chunk that was never written must not be read") {
  REQUIRE(texts(custom("gpu i1 s2 o1\ntb\ncpy s1 o0\nre i0 s0")) ==
          Texts{"uninitialised: gpu 0 tb 0 step 0 (line 3): reads s 1, which was never written "
                "before",
                "uninitialised: gpu 0 tb 0 step 1 (line 4): reads s 0, which was never written "
                "before"});
}

TEST_CASE("A value made of unwritten data is reported once, where it is read") {
  const Program program = program_of(CollectiveOp::broadcast, false, 1,
                                     "gpu i1 o1 s1\ntb >1\ns s0\ncpy i0 o0\ngpu o1\ntb <0\nr o0");
  REQUIRE(texts(program) == Texts{"uninitialised: gpu 0 tb 0 step 0 (line 3): reads s 0, which was "
                                  "never written before"});
}

TEST_CASE("Accesses through two names of one place are a race") {
  const std::string text = "gpu i2 o2\ntb\ncpy i1 i0\ntb\ncpy o0 o1\n";
  REQUIRE(texts(program_of(CollectiveOp::custom, true, 2, text)) ==
          Texts{"race: gpu 0 tb 1 step 0 (line 5): reads o 0, which gpu 0 tb 0 step 0 writes as i "
                "0, but no wait and no message orders the two steps"});
}

TEST_CASE("Accesses to partly overlapping ranges are a race") {
  REQUIRE(texts(custom("gpu i4 o4\ntb\ncpy i0 o0 x3\ntb\ncpy i0 o2 x2")) ==
          Texts{"race: gpu 0 tb 1 step 0 (line 5): writes o 2, which gpu 0 tb 0 step 0 writes, but "
                "no wait and no message orders the two steps"});
}

TEST_CASE("Interleaved instances of recursive doubling have a race") {
  // As a public compiler makes two instances: chunk A becomes 2 A + i, but the two chunks of the
  // second exchange stay consecutive.
  std::string text;
  for (int r = 0; r < 4; ++r) {
    text += "gpu o8\n";
    for (int i = 0; i < 2; ++i) {
      const auto exchange = [&](int peer, int own, int other, const char* count) {
        return " >" + std::to_string(peer) + " <" + std::to_string(peer) + " c" +
               std::to_string(i) + "\ns o" + std::to_string(2 * own + i) + count + "\nr o" +
               std::to_string(2 * other + i) + count;
      };
      text += "tb" + exchange(r ^ 1, r, r ^ 1, "") + " !\n";
      std::string second = exchange(r ^ 2, r & 2, (r & 2) ^ 2, " x2");
      second.insert(second.find(" x2") + 3, " @" + std::to_string(2 * i) + ".1");
      text += "tb" + second + "\n";
    }
  }
  const ProgramCertificate certificate =
      certify_program(program_of(CollectiveOp::all_gather, true, 8, text));
  // In rank 0 the second exchange of instance 1 reads what the first one of instance 0 writes.
  const auto race = std::find_if(certificate.violations.begin(), certificate.violations.end(),
                                 [](const ProgramViolation& v) { return v.kind == Kind::race; });
  REQUIRE(race != certificate.violations.end());
  REQUIRE(race->gpu == 0);
  REQUIRE(race->what.find("gpu 0 tb") != std::string::npos);
}

TEST_CASE("Two fused steps that store their results in one place race") {
  // As in the middle one of three nodes of a public all-to-next: nobody reads the scratch.
  REQUIRE(texts(custom("gpu i1\ntb >1\ns i0\n"
                       "gpu s1\ntb <0 >3\nrcs s0\ntb <2 >4\nrcs s0\n"
                       "gpu i1\ntb >1\ns i0\n"
                       "gpu o1\ntb <1\nr o0\n"
                       "gpu o1\ntb <1\nr o0\n")) ==
          Texts{"race: gpu 1 tb 1 step 0 (line 8): writes s 0, which gpu 1 tb 0 step 0 writes, but "
                "no wait and no message orders the two steps"});
}

TEST_CASE("A step must not move chunks by less than their number") {
  REQUIRE(texts(custom("gpu i4\ntb\ncpy i0 i1 x2")) ==
          Texts{"race: gpu 0 tb 0 step 0 (line 3): its source i 0 and its target i 1, 2 chunks "
                "each, overlap in part"});
  REQUIRE(texts(custom("gpu i4\ntb\ncpy i0 i2 x2\nre i0 i0 x2")) == Texts{});
}

namespace {
// gpu 0 sends away i 0..3; they come back to another block, which `back` receives.
std::string round_trip(const std::string& there, const std::string& back,
                       const std::string& between = "rcs s0 x4") {
  return "gpu i4 o4 s4\ntb >1\n" + there + "\ntb <1\n" + back + "\ngpu s4\ntb <0 >0\n" + between +
         "\n";
}
}  // namespace

TEST_CASE("A message comes after the sender's earlier steps, and after the read of its source") {
  REQUIRE(texts(custom(round_trip("cpy i0 o0\ns i0", "r o0", "rcs s0"))) == Texts{});
  REQUIRE(texts(custom(round_trip("s i0", "r i0", "rcs s0"))) == Texts{});
  REQUIRE(texts(custom(round_trip("s i0\ncpy i0 o0", "r o0", "rcs s0"))) ==
          Texts{"race: gpu 0 tb 1 step 0 (line 6): writes o 0, which gpu 0 tb 0 step 1 writes, but "
                "no wait and no message orders the two steps"});
}

TEST_CASE(
    "A lane of a streamed message comes after the earlier lanes of its source, not after the later "
    "ones") {
  REQUIRE(texts(custom(round_trip("s i0 x4", "r i0 x4"))) == Texts{});
  REQUIRE(texts(custom(round_trip("s i0 x3", "r i1 x3", "rcs s0 x3"))).size() == 1);
  REQUIRE(texts(custom(round_trip("s i1 x3", "r i0 x3", "rcs s0 x3"))) == Texts{});
  // Where the message is complete before it is sent on, all of it has been read.
  REQUIRE(texts(custom(round_trip("s i0 x3", "r i1 x3", "r s0 x3\ns s0 x3"))) == Texts{});
}

TEST_CASE("A fused step has written a lane before it passes it on") {
  // gpu 1 forwards to gpu 2, which answers to another block of gpu 1.
  const std::string text = R"(gpu i1
tb >1
s i0
gpu s1 o1
tb <0 >2
rcs s0 !
tb <2
r s0 %
gpu o1
tb <1 >1
rcs o0
)";
  const auto with = [&](const char* wait) {
    std::string filled = text;
    filled.replace(filled.find('%'), 1, wait);
    return texts(custom(filled));
  };
  REQUIRE(with("@0.0") == Texts{});
  REQUIRE(with("") == Texts{});
}

TEST_CASE("A program that is also offered out of place is proven out of place, too") {
  Program program = program_of(CollectiveOp::all_gather, true, 1, "gpu i1 o1\ntb\n");
  program.also_out_of_place = true;
  const ProgramCertificate certificate = certify_program(program);
  REQUIRE(certificate.ok());
  REQUIRE(certificate.out_of_place.size() == 1);
  REQUIRE(certificate.out_of_place.front().kind == Kind::postcondition);
}

TEST_CASE("A connection without its other end is refused, even if no step uses it") {
  REQUIRE(texts(custom("gpu i1\ntb >1\ngpu i1\n")) ==
          Texts{"malformed: gpu 0 tb 0 (line 2): sends to gpu 1 on channel 0, but no thread block "
                "of gpu 1 has the other end of this connection"});
}

TEST_CASE("Reductions that may run as one have one count") {
  REQUIRE(texts(custom("gpu i2 s2\ntb\nre i0 s0\nre i0 s0 x2")) ==
          Texts{"malformed: gpu 0 tb 0 step 1 (line 4): reduces 2 chunks into the place into which "
                "gpu 0 tb 0 step 0 reduces 1; a runtime may join the two reductions, so their "
                "counts must be equal"});
}

TEST_CASE("A full slot does not order accesses to memory") {
  // With one slot, the second send comes after the first receive, and all that waits for it.
  const std::string text = R"(gpu i2
tb >1
s i0
s i0 !
tb >1 c1
s i0 @0.1
gpu o2
tb <0
r o0
r o1
tb <0 c1
r o0
)";
  const Texts found = texts(custom(text));
  REQUIRE(found == Texts{"race: gpu 1 tb 1 step 0 (line 12): writes o 0, which gpu 1 tb 0 step 0 "
                         "writes, but no wait and no message orders the two steps"});
  ProgramLimits limits;
  limits.slots = 1;
  REQUIRE(texts(custom(text), limits) == found);
}

TEST_CASE("A contribution that is missing or counted twice is reported") {
  SECTION("one is missing") {
    Program program = exchange();
    step(program, 1, 0, 1).op = ProgramOp::recv_copy_send;
    REQUIRE(
        texts(program) ==
        Texts{"postcondition: gpu 0 (line 2): output chunk 1 lacks input chunk 1 of gpu 1; last "
              "written by gpu 0 tb 0 step 2",
              "postcondition: gpu 1 (line 7): output chunk 1 lacks input chunk 1 of gpu 1; last "
              "written by gpu 1 tb 0 step 1"});
  }
  SECTION("one is there twice") {
    Program program = exchange();
    step(program, 1, 0, 2).op = ProgramOp::recv_reduce_copy;
    REQUIRE(
        texts(program) ==
        Texts{"postcondition: gpu 1 (line 7): output chunk 0 holds input chunk 0 of gpu 1 twice "
              "instead of once; last written by gpu 1 tb 0 step 2"});
  }
  SECTION("nothing is there") {
    Program program = program_of(CollectiveOp::all_gather, false, 1, "gpu i1");
    REQUIRE(texts(program) == Texts{"postcondition: gpu 0 (line 1): output chunk 0 lacks input "
                                    "chunk 0 of gpu 0; no step writes it"});
  }
  SECTION("something else is there") {
    Program program =
        program_of(CollectiveOp::broadcast, false, 2, "gpu i2 o2\ntb\ncpy i0 o0\ncpy i0 o1");
    REQUIRE(texts(program) ==
            Texts{"postcondition: gpu 0 (line 1): output chunk 1 holds input chunk 0 of gpu 0 once "
                  "instead of not at all, lacks input chunk 1 of gpu 0; last written by gpu 0 tb 0 "
                  "step 1"});
  }
}

TEST_CASE("The accumulator of a receive-reduce is the local source") {
  // As a public generator writes a remote reduce from i 0 into i 1: its source is the sender's
  // place.
  const Program program =
      program_of(CollectiveOp::custom, true, 2, "gpu i2\ntb >1\ns i0\ngpu i2\ntb <0\nrrc i0 i1");
  Program promised = program;
  promised.promises = {{1, 1, {{0, 0}, {1, 1}}}};
  REQUIRE(texts(promised) ==
          Texts{"postcondition: gpu 1 (line 4): output chunk 1 holds input chunk 0 of gpu 1 once "
                "instead of not at all, lacks input chunk 1 of gpu 1; last written by gpu 1 tb 0 "
                "step 0"});
}

TEST_CASE("The root is found if it is not given") {
  const std::string broadcast =
      "gpu i1\ntb <1\nr i0\ngpu i1\ntb >0\ns i0\ntb >2\ns i0\ngpu i1\ntb <1\nr i0";
  Program program = program_of(CollectiveOp::broadcast, true, 1, broadcast);
  ProgramCertificate certificate = certify_program(program);
  REQUIRE(texts(certificate) == Texts{});
  REQUIRE(certificate.root == 1);
  program.root = 0;
  certificate = certify_program(program);
  REQUIRE(certificate.violations.size() == 3);
  REQUIRE(certificate.root == 0);

  const std::string reduce = "gpu i1\ntb >1\ns i0\ngpu i1\ntb <0 >2\nrrs i0\ngpu i1\ntb <1\nrrc i0";
  certificate = certify_program(program_of(CollectiveOp::reduce, true, 1, reduce));
  REQUIRE(texts(certificate) == Texts{});
  REQUIRE(certificate.root == 2);
}

TEST_CASE("A custom program without promises proves nothing of its results") {
  Program program = custom("gpu i1 o1\ntb\ncpy i0 o0");
  REQUIRE_FALSE(certify_program(program).promises_known);
  program.promises = {{0, 0, {{0, 0}}}};
  REQUIRE(certify_program(program).promises_known);
  REQUIRE(certify_program(program).ok());
  program.promises = {{0, 0, {{0, 0}, {0, 0}}}};
  REQUIRE(texts(program) ==
          Texts{"postcondition: gpu 0 (line 1): output chunk 0 holds input chunk 0 of gpu 0 once "
                "instead of twice; last written by gpu 0 tb 0 step 0"});
}

TEST_CASE("Out of place the input may be overwritten") {
  const Program program =
      program_of(CollectiveOp::broadcast, false, 2, "gpu i2 o2\ntb\ncpy i0 o0 x2\ncpy o0 i1");
  REQUIRE(texts(program) == Texts{});
}

TEST_CASE("A program must fit the contexts of the NI") {
  ProgramLimits limits;
  limits.contexts = 1;
  limits.context_steps = 2;
  REQUIRE(texts(exchange(), limits) ==
          Texts{"capacity: gpu 0 tb 0 (line 3): has 3 steps, but a context holds at most 2",
                "capacity: gpu 1 tb 0 (line 8): has 3 steps, but a context holds at most 2"});
  const std::string blocks = "gpu\ntb\ntb\ntb k1\n";
  REQUIRE(texts(custom(blocks), limits) ==
          Texts{"capacity: gpu 0 (line 1): needs 2 contexts in call 0, but an NI has 1"});
  REQUIRE(certify_program(custom(blocks)).most_contexts == 2);
}

TEST_CASE("Of many violations the first are listed and the others counted") {
  std::string text = "gpu i1 s20\ntb\n";
  for (int k = 0; k < 20; ++k) text += "cpy s" + std::to_string(k) + " i0\n";
  const ProgramCertificate certificate = certify_program(custom(text));
  REQUIRE(certificate.violations.size() == ProgramCertificate::kListedPerKind + 1);
  REQUIRE(texts(certificate).back() == "uninitialised: and 12 more");
}

TEST_CASE("A program without blocks does nothing, which may be correct") {
  REQUIRE(texts(program_of(CollectiveOp::all_reduce, true, 3, "gpu")) == Texts{});
}
