#include "sims/formats/program/chunk_trace_file.h"

#include <catch2/catch.hpp>
#include <random>

#include "program_file_support.h"
#include "tests/support/share_of_cases.h"

using namespace espalier;

namespace {

std::string trace_text(const std::string& name) {
  return contents_of(std::string(ESPALIER_SOURCE_DIR) + "/tests/program/trace/" + name);
}

ChunkTrace read_trace(const std::string& text) {
  Diagnostics diagnostics;
  auto trace = read_trace("t", text, diagnostics);
  if (!trace) throw std::runtime_error(diagnostics.text());
  return *trace;
}

std::string errors(const std::string& text) {
  Diagnostics diagnostics;
  return read_trace("t", text, diagnostics) ? "" : diagnostics.text();
}

const std::string kAllReduce = "collective all_reduce ranks 2 chunks 1 in_place\n";
const std::string kSum =
    "%1 = chunk rank 0 in 0\n%2 = chunk rank 1 in 0\n%3 = reduce %1 %2\ncopy %3 rank 1 in 0\n";

}  // namespace

TEST_CASE("A trace becomes the operations it lists") {
  const ChunkTrace trace = read_trace(trace_text("allreduce_two_ranks.trace"));
  REQUIRE(trace.signature.name == "two rank exchange");
  REQUIRE(trace.signature.collective == CollectiveOp::all_reduce);
  REQUIRE(trace.signature.in_place);
  REQUIRE(trace.signature.protocol == Protocol::ll);
  REQUIRE(trace.signature.chunks == 2);
  REQUIRE(trace.signature.min_bytes == 0);
  REQUIRE(trace.signature.max_bytes == Bytes{1} << 20);
  REQUIRE(trace.operations.size() == 4);
  const ChunkOperation& sum = trace.operations[2];
  REQUIRE(sum.kind == TransferKind::reduce);
  REQUIRE(to_string(sum.source) == "rank 0 in[1]");
  REQUIRE(to_string(sum.target) == "rank 1 in[1]");
  REQUIRE(sum.channel == 1U);
  REQUIRE(sum.place.line == 14);
  REQUIRE(sum.place.column == 6);
  REQUIRE(trace.operations[1].kind == TransferKind::copy);
  REQUIRE_FALSE(trace.operations[1].channel);
  REQUIRE(trace.operations[1].place.column == 1);
}

TEST_CASE("A trace has buffers, promises, fragments and calls of its own") {
  const ChunkTrace trace = read_trace(trace_text("custom_to_next.trace"));
  REQUIRE(trace.signature.ranks[0].input_chunks == 2);
  REQUIRE(trace.signature.ranks[1].input_chunks == 0);
  REQUIRE(trace.signature.ranks[2].output_chunks == 2);
  REQUIRE(trace.signature.ranks[1].scratch_chunks == 2);
  REQUIRE(trace.signature.promises.size() == 2);
  REQUIRE(trace.operations.size() == 2);
  REQUIRE(trace.operations[0].parallel == 2);
  REQUIRE(trace.operations[0].call == 0);
  REQUIRE(trace.operations[0].source.count == 2);
  REQUIRE(trace.operations[1].parallel == 1);
  REQUIRE(trace.operations[1].call == 1);
  REQUIRE(to_string(trace.operations[1].target) == "rank 2 out[0..1]");
}

TEST_CASE("Blanks, comments and Windows line ends are ignored in a trace") {
  const std::string text =
      "\xef\xbb\xbf# first\r\n\r\n  collective\tall_reduce ranks 2 chunks 1 in_place # here\r\n"
      "%1=chunk rank 0 in 0 count 1\r\n%2 = chunk rank 1 in 0\r\n%3 = reduce %1 %2 ch = 0\r\n"
      "%4 = copy %3 rank 1 in 0";
  REQUIRE(read_trace(text).operations.size() == 2);
}

TEST_CASE("All errors of a trace's grammar are reported with their places and what is expected") {
  const std::string text = kAllReduce +
                           "%1 = chunk rank 0 in 0\n"
                           "%1 = chunk rank 1 in 0\n"
                           "%2 = chunk rank 1 inn 0\n"
                           "%3 = reduce %1 %2\n"
                           "%4 = reduce %1\n"
                           "copy %9 rank 1 in 0\n"
                           "copy 3 rank 1 in 0\n"
                           "copy %3 rank 1 in 0 ch 0\n"
                           "copy %3 rank 1 in 0 channel=0\n"
                           "cpoy %3 rank 1 in 0\n"
                           "chunk rank 0 in 0\n"
                           "%5 = call\n"
                           "protocol LL\n"
                           "end\n"
                           "parallelize 0\n"
                           "end\n"
                           "parallelize 2\n"
                           "%6 : chunk\n";
  REQUIRE(errors(text) ==
          "t:3:1: error: %1 is given twice\n"
          "%1 = chunk rank 1 in 0\n^\nhint: the first is in line 2\n"
          "t:4:19: error: unknown buffer 'inn'\n"
          "%2 = chunk rank 1 inn 0\n                  ^\nhint: did you mean 'in'?\n"
          "t:6:15: error: a reference such as %1 is missing\n"
          "%4 = reduce %1\n              ^\n"
          "hint: for example '%3 = reduce %2 %1 ch=0': adds %1 into %2\n"
          "t:7:6: error: %9 is used, but no line before gives it\n"
          "copy %9 rank 1 in 0\n     ^\n"
          "t:8:6: error: expected a reference, found '3'\n"
          "copy 3 rank 1 in 0\n     ^\nhint: for example %1\n"
          "t:9:24: error: expected '=', found '0'\n"
          "copy %3 rank 1 in 0 ch 0\n                       ^\n"
          "hint: for example '%2 = copy %1 rank 1 scratch 0 ch=0'\n"
          "t:10:21: error: expected the end of the line, found 'channel'\n"
          "copy %3 rank 1 in 0 channel=0\n                    ^\n"
          "hint: for example '%2 = copy %1 rank 1 scratch 0 ch=0'\n"
          "t:11:1: error: a line cannot begin with 'cpoy'\n"
          "cpoy %3 rank 1 in 0\n^\nhint: did you mean 'copy'?\n"
          "t:12:1: error: 'chunk' needs a reference for its result\n"
          "chunk rank 0 in 0\n^\nhint: for example '%1 = chunk rank 0 in 0 count 2'\n"
          "t:13:1: error: 'call' gives no result; remove the reference before '='\n%5 = call\n^\n"
          "t:14:1: error: 'protocol' must stand before the first operation\n"
          "protocol LL\n^\nhint: the first operation is in line 2\n"
          "t:15:1: error: 'end' has no open 'parallelize'\nend\n^\n"
          "t:16:13: error: parallelize: 0 is out of range\n"
          "parallelize 0\n            ^\nhint: integer, 1 to 1048576\n"
          "t:18:1: error: 'parallelize' has no 'end'\nparallelize 2\n^\n"
          "t:19:4: error: expected '=', found ':'\n"
          "%6 : chunk\n   ^\nhint: for example '%2 = copy %1 rank 1 in 0'\n");
}

TEST_CASE("All errors of a trace's header are reported") {
  REQUIRE(errors("protocol simple\nprotocol LL\ninput 0 1\n") ==
          "t:1:1: error: the line 'collective' is missing\nprotocol simple\n^\n"
          "hint: for example 'collective all_reduce ranks 4 chunks 4 in_place'\n"
          "t:1:10: error: unknown protocol 'simple'\nprotocol simple\n         ^\n"
          "hint: did you mean 'Simple'?\n"
          "t:2:1: error: 'protocol' is given twice\nprotocol LL\n^\nhint: the first is in line 1\n"
          "t:3:1: error: 'input' must stand after 'collective'\ninput 0 1\n^\n");
  REQUIRE(errors("collective allreduce ranks 2 chunks 1\nroot 0\n")
              .find("did you mean 'all_reduce'?") != std::string::npos);
  REQUIRE(
      errors(kAllReduce + "root 0\ninput 0 1\npromise rank 0 out 0 = 0:0\nbytes 4 3\n" + kSum) ==
      "t:2:1: error: found a root, but all_reduce has none\nroot 0\n^\n"
      "t:3:1: error: found 'input', which only a custom collective may have\ninput 0 1\n^\n"
      "hint: remove it: all_reduce has known buffers and results\n"
      "t:4:1: error: found 'promise', which only a custom collective may have\npromise rank 0 out "
      "0 = 0:0\n^\n"
      "hint: remove it: all_reduce has known buffers and results\n"
      "t:5:1: error: the smallest size, 4 bytes, exceeds the largest size, 3 bytes\nbytes 4 "
      "3\n^\n");
  REQUIRE(errors("collective custom ranks 2 chunks 1\npromise rank 0 out 0 = 1:0\n"
                 "promise rank 0 out 0 = 0:0\ninput 0 0\npromise rank 2 out 0 = 0:0\n") ==
          "t:3:1: error: rank 0 out 0 already has a promise\npromise rank 0 out 0 = 0:0\n^\n"
          "hint: the first is in line 2\n"
          "t:4:1: error: write buffers before promises\ninput 0 0\n^\n"
          "t:5:14: error: rank: 2 is out of range\npromise rank 2 out 0 = 0:0\n             ^\n"
          "hint: integer, 0 to 1\n");
}

TEST_CASE("The first error of the language is reported at its place") {
  // Stale: the place was written since.
  const std::string stale = kAllReduce + kSum + "  copy %2 rank 0 in 0\n";
  REQUIRE(errors(stale).find("t:6:3: error: the reference to rank 1 in[0] is stale") !=
          std::string::npos);
  REQUIRE(
      errors(kAllReduce + "%1 = chunk rank 0 scratch 0\n")
          .find(
              "t:2:6: error: rank 0 scratch[0] is read, but no operation before has written it") !=
      std::string::npos);
  REQUIRE(errors(kAllReduce + "%1 = chunk rank 2 in 0\n")
              .find("t:2:6: error: rank 2 does not exist; the program has 2 ranks") !=
          std::string::npos);
  // What is promised: at the collective.
  REQUIRE(errors("# comment\n" + kAllReduce + "%1 = chunk rank 0 in 0\n")
              .find("t:2:1: error: at the end rank 0 out[0] must hold") != std::string::npos);
  REQUIRE(errors("collective all_gather ranks 2 chunks 1\n")
              .find("t:1:1: error: the program has 1 chunks, but the number of chunks of "
                    "all_gather must be a multiple of its 2 ranks") != std::string::npos);
  REQUIRE(errors("collective broadcast ranks 2 chunks 1\n").find("t:1:1: error: broadcast needs") !=
          std::string::npos);
  REQUIRE(errors("collective broadcast ranks 2 chunks 1 in_place\nroot 1\n%1 = chunk rank 1 in 0\n"
                 "copy %1 rank 0 in 0\n")
              .empty());
}

TEST_CASE("A header cannot make its reader fill the memory") {
  REQUIRE(errors("collective custom ranks 65536 chunks 1048575\n")
              .find("allowed are at most 4194304 in all") != std::string::npos);
}

TEST_CASE("Any trace is read or refused") {
  constexpr unsigned kTraceSeed = 977;
  INFO("seed " << kTraceSeed);
  std::mt19937 random(kTraceSeed);
  const auto below = [&](std::size_t limit) {
    return std::uniform_int_distribution<std::size_t>(0, limit - 1)(random);
  };
  const std::string meaningful = "%=:+# \n0123456789inoutscrachpkeld";
  std::size_t num_read = 0;
  for (const std::string& path : corpus("trace", ".trace")) {
    const std::string original = contents_of(path);
    for (int round = 0; round < (test::kSanitized ? 600 : 4000); ++round) {
      std::string text = original;
      for (std::size_t edits = 1 + below(2); edits > 0; --edits) {
        const std::size_t at = below(text.size());
        const char byte =
            below(8) == 0 ? static_cast<char>(below(256)) : meaningful[below(meaningful.size())];
        switch (below(4)) {
          case 0:
            text[at] = byte;
            break;
          case 1:
            text.insert(at, 1, byte);
            break;
          case 2:
            text.erase(at, 1 + below(6));
            break;
          default:
            text.insert(below(text.size()), text.substr(at, 1 + below(60)));
        }
      }
      Diagnostics diagnostics;
      const auto trace = read_trace(path, text, diagnostics);
      if (trace.has_value() != (diagnostics.num_errors() == 0)) FAIL(text << diagnostics.text());
      if (trace) ++num_read;
    }
  }
  REQUIRE(num_read > (test::kSanitized ? 15 : 100));
}
