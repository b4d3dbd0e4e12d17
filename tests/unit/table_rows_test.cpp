#include <catch2/catch.hpp>

#include "sims/text/text_lines.h"

namespace espalier {
namespace {

using Rows = std::vector<std::vector<std::string>>;

TEST_CASE("A table of the program has its rows, without comments and blank lines") {
  CHECK(table_rows("# names\n\n a | b c|d \n   \n | x |\n", "names.txt", 3) ==
        Rows{{"a", "b c", "d"}, {"", "x", ""}});
}

TEST_CASE("A row with too few or too many cells is an error with its line") {
  CHECK_THROWS_WITH(table_rows("# names\na | b | c\na | b\n", "names.txt", 3),
                    "names.txt:3: expected 3 cells, not 2");
  CHECK_THROWS_WITH(table_rows("a | b | c | d\n", "names.txt", 3),
                    "names.txt:1: expected 3 cells, not 4");
}

}  // namespace
}  // namespace espalier
