// Tables and lines that fit a terminal.
#include <catch2/catch.hpp>
#include <sstream>
#include <string>
#include <vector>

#include "sims/text/fitted_text.h"

using namespace espalier;

namespace {

const std::vector<std::vector<std::string>> kRows{
    {"algorithm", "time us", "slower", "table entries", "verified"},
    {"ring", "9.5", "+1051.0 %", "704", "true"},
    {"by levels (mine.trace)", "> 163.4", "> 5 x", "-", "false"}};

}  // namespace

TEST_CASE("A table has one line for each row, numbers to the right and no blanks at the end") {
  CHECK(fitted_table(kRows, kAnyWidth) ==
        "algorithm               time us     slower  table entries  verified\n"
        "ring                        9.5  +1051.0 %            704  true\n"
        "by levels (mine.trace)  > 163.4      > 5 x              -  false\n");
}

TEST_CASE("A column has numbers if its first value has, whatever is missing before it") {
  CHECK(fitted_table({{"link", "busy", "others"},
                      {"a", "-", "-"},
                      {"b", "5", "50.0 % sends of rank 3"},
                      {"c", "12", "7.0 % all others of them"}},
                     kAnyWidth) ==
        "link  busy  others\n"
        "a        -  -\n"
        "b        5  50.0 % sends of rank 3\n"
        "c       12  7.0 % all others of them\n");
}

TEST_CASE("A table that is too wide breaks its titles, and then stands in parts") {
  CHECK(fitted_table(kRows, 64) ==
        "                           time               table\n"
        "algorithm                    us     slower  entries  verified\n"
        "ring                        9.5  +1051.0 %      704  true\n"
        "by levels (mine.trace)  > 163.4      > 5 x        -  false\n");
  CHECK(fitted_table(kRows, 45, "  ") ==
        "                             time\n"
        "  algorithm                    us     slower\n"
        "  ring                        9.5  +1051.0 %\n"
        "  by levels (mine.trace)  > 163.4      > 5 x\n"
        "\n"
        "                            table\n"
        "  algorithm               entries  verified\n"
        "  ring                        704  true\n"
        "  by levels (mine.trace)        -  false\n");
}

TEST_CASE(
    "Parts of a table whose first column is the same in two rows begin with the row's number") {
  CHECK(fitted_table(
            {{"algorithm", "size", "time us"}, {"ring", "4 KiB", "9.5"}, {"ring", "8 KiB", "12.1"}},
            20) ==
        "row  algorithm\n"
        "1    ring\n"
        "2    ring\n"
        "\n"
        "            time\n"
        "row   size    us\n"
        "1    4 KiB   9.5\n"
        "2    8 KiB  12.1\n");
}

TEST_CASE("No line of a table is longer than the terminal, however wide its first column is") {
  const std::vector<std::vector<std::string>> rows{
      {"algorithm", "time us"},
      {"a program of mine/that-has-a-very-long-file-name.trace", "9.5"},
      {"ring", "12.1"}};
  CHECK(fitted_table(rows, 30) ==
        "row  algorithm\n"
        "1    a program of\n"
        "     mine/that-has-a-very-long\n"
        "     -file-name.trace\n"
        "2    ring\n"
        "\n"
        "     time\n"
        "row    us\n"
        "1     9.5\n"
        "2    12.1\n");
  for (std::size_t width = 14; width < 80; ++width) {
    std::istringstream text(fitted_table(rows, width));
    for (std::string line; std::getline(text, line);) CHECK(line.size() <= width);
  }
}

TEST_CASE("Lines end between words, and keep their words and their indentation") {
  const std::string text =
      "Best: forest, 34.7 us, 2.02 times as fast as multitree\n"
      "\n"
      "  bcube: needs a number of nodes that is a power of its base\n"
      "https://a.word/that/is/longer/than/the/line and more\n";
  CHECK(fitted_lines(text, kAnyWidth) == text);
  CHECK(fitted_lines(text, 30) ==
        "Best: forest, 34.7 us, 2.02\n"
        "  times as fast as multitree\n"
        "\n"
        "  bcube: needs a number of\n"
        "    nodes that is a power of\n"
        "    its base\n"
        "https://a.word/that/is/longer/than/the/line and more\n");
}

TEST_CASE("A letter of several bytes takes one column") {
  CHECK(fitted_lines("größer als äußerst\n", 18) == "größer als äußerst\n");
  CHECK(fitted_table({{"name", "n"}, {"äöü", "1"}}, 7) == "name  n\näöü   1\n");
}
