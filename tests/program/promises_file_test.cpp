#include "sims/formats/program/promises_file.h"

#include <catch2/catch.hpp>

#include "program_file_support.h"

using namespace espalier;

namespace {

Program to_next() {
  return read_valid(contents_of(std::string(ESPALIER_SOURCE_DIR) +
                                "/tests/program/xml/valid/custom_to_next.xml"));
}

std::string promise_errors(const std::string& text, const Program& program = to_next()) {
  Diagnostics diagnostics;
  return read_promises("p.txt", text, program, diagnostics) ? "" : diagnostics.text();
}

}  // namespace

TEST_CASE("A file of promises says what each output chunk holds") {
  Program program = to_next();
  Diagnostics diagnostics;
  const auto promises =
      read_promises("p.txt",
                    contents_of(std::string(ESPALIER_SOURCE_DIR) +
                                "/tests/program/xml/valid/custom_to_next.promises"),
                    program, diagnostics);
  REQUIRE(promises);
  REQUIRE(promises->size() == 4);
  REQUIRE(promises->at(3).rank == 2);
  REQUIRE(promises->at(3).index == 1);
  REQUIRE(promises->at(3).value == std::vector<InputChunk>{{1, 1}});
  program.promises = *promises;
  REQUIRE(write_promises(program) ==
          "rank 1 out 0 = 0:0\nrank 1 out 1 = 0:1\nrank 2 out 0 = 1:0\nrank 2 out 1 = 1:1\n");
}

TEST_CASE("Promises may stand in any order, sums as well") {
  const Program program = to_next();
  Diagnostics diagnostics;
  const auto promises = read_promises("p.txt", "rank 2 out 0=1:1+ 0:0 +1:1\r\n\trank 1 out 1 = 1:0",
                                      program, diagnostics);
  REQUIRE(promises);
  REQUIRE(promises->at(0).rank == 1);
  REQUIRE(promises->at(1).value == std::vector<InputChunk>{{0, 0}, {1, 1}, {1, 1}});
  Program written = program;
  written.promises = *promises;
  const auto again = read_promises("p.txt", write_promises(written), program, diagnostics);
  REQUIRE(again);
  Program read_again = program;
  read_again.promises = *again;
  REQUIRE(dump(read_again) == dump(written));
}

TEST_CASE("All errors in promises are reported with their places") {
  REQUIRE(promise_errors("rank 1 out 0 = 0:0\n"
                         "rank 1 out 0 = 1:0\n"
                         "rank 9 out 0 = 0:0\n"
                         "rank 1 out 2 = 0:0\n"
                         "rank 0 out 0 = 0:0\n"
                         "rank 2 out 0 = 0:0 + 2:0\n"
                         "rank 2 out 0 = 0:0 +\n"
                         "rank 2 in 0 = 0:0\n"
                         "rank 2 out 0 = 0:0 1:0\n"
                         "rank 2 out x = 0:0\n"
                         "promise rank 2 out 0 = 0:0\n") ==
          "p.txt:2:1: error: rank 1 out 0 already has a promise\n"
          "rank 1 out 0 = 1:0\n"
          "^\n"
          "hint: the first is in line 1\n"
          "p.txt:3:6: error: rank: 9 is out of range\n"
          "rank 9 out 0 = 0:0\n"
          "     ^\n"
          "hint: integer, 0 to 3\n"
          "p.txt:4:12: error: output: 2 is out of range\n"
          "rank 1 out 2 = 0:0\n"
          "           ^\n"
          "hint: integer, 0 to 1\n"
          "p.txt:5:12: error: rank 0 has no output chunks\n"
          "rank 0 out 0 = 0:0\n"
          "           ^\n"
          "p.txt:6:24: error: rank 2 has no input chunks\n"
          "rank 2 out 0 = 0:0 + 2:0\n"
          "                       ^\n"
          "p.txt:7:21: error: rank is missing\n"
          "rank 2 out 0 = 0:0 +\n"
          "                    ^\n"
          "hint: for example 'rank 1 out 0 = 0:0 + 1:0'\n"
          "p.txt:8:8: error: expected 'out', found 'in'\n"
          "rank 2 in 0 = 0:0\n"
          "       ^\n"
          "hint: for example 'rank 1 out 0 = 0:0 + 1:0'\n"
          "p.txt:9:20: error: expected the end of the line, found '1'\n"
          "rank 2 out 0 = 0:0 1:0\n"
          "                   ^\n"
          "hint: for example 'rank 1 out 0 = 0:0 + 1:0'\n"
          "p.txt:10:12: error: output: 'x' is not an integer\n"
          "rank 2 out x = 0:0\n"
          "           ^\n"
          "hint: integer, 0 to 1\n"
          "p.txt:11:1: error: expected 'rank', found 'promise'\n"
          "promise rank 2 out 0 = 0:0\n"
          "^\n"
          "hint: for example 'rank 1 out 0 = 0:0 + 1:0'\n");
}

TEST_CASE("Only custom collectives take promises") {
  Program program = to_next();
  program.collective = CollectiveOp::all_reduce;
  REQUIRE(
      promise_errors("", program) ==
      "p.txt:1:1: error: found promises, which only a custom collective may have; the results of "
      "all_reduce are known\n\n^\n");
}
