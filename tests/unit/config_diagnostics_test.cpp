#include <catch2/catch.hpp>

#include "sims/text/diagnostics.h"
#include "sims/text/nearest_name.h"
#include "sims/text/utf8.h"

namespace espalier {

TEST_CASE("A message shows place, line, caret and hint") {
  Diagnostics diagnostics;
  const SourceIndex file = diagnostics.add_file("a.yaml", "one: 1\n  two: x\n");
  diagnostics.error({file, 2, 8}, "bad x", "write 2");
  CHECK(diagnostics.text() == "a.yaml:2:8: error: bad x\n  two: x\n       ^\nhint: write 2\n");
  CHECK(diagnostics.num_errors() == 1);
}

TEST_CASE("Messages come in the order of places, warnings among errors") {
  Diagnostics diagnostics;
  const SourceIndex file = diagnostics.add_file("a", "ab\nc\n");
  diagnostics.error({file, 2, 1}, "third");
  diagnostics.warning({file, 1, 2}, "second");
  diagnostics.error({file, 1, 1}, "first");
  CHECK(diagnostics.text() ==
        "a:1:1: error: first\nab\n^\n"
        "a:1:2: warning: second\nab\n ^\n"
        "a:2:1: error: third\nc\n^\n");
  CHECK(diagnostics.num_errors() == 2);
  CHECK(diagnostics.num_warnings() == 1);
}

TEST_CASE("The same message at the same place is recorded once") {
  Diagnostics diagnostics;
  const SourceIndex file = diagnostics.add_file("a", "x");
  diagnostics.error({file, 1, 1}, "bad");
  diagnostics.error({file, 1, 1}, "bad");
  CHECK(diagnostics.num_errors() == 1);
}

TEST_CASE("Columns count characters and the caret line keeps tabs") {
  Diagnostics diagnostics;
  const SourceIndex file = diagnostics.add_file("a", "\xc3\xa4\t\xe2\x82\xac x");
  diagnostics.error({file, 1, 8}, "bad");  // the eighth byte is x, the fifth character
  CHECK(diagnostics.text() == "a:1:5: error: bad\n\xc3\xa4\t\xe2\x82\xac x\n \t  ^\n");
}

TEST_CASE(
    "Of a long line the part around the caret is shown, and the column counts the whole line") {
  Diagnostics diagnostics;
  const std::string a(500, 'a');
  const SourceIndex file = diagnostics.add_file("f", a + "x" + a + "\n" + a);
  diagnostics.error({file, 1, 501}, "bad");
  diagnostics.error({file, 2, 1}, "start");
  diagnostics.error({file, 2, 501}, "end");
  CHECK(diagnostics.text() == "f:1:501: error: bad\n..." + a.substr(0, 120) + "x" +
                                  a.substr(0, 59) + "...\n" + std::string(123, ' ') + "^\n" +  //
                                  "f:2:1: error: start\n" + a.substr(0, 180) + "...\n^\n" +
                                  "f:2:501: error: end\n..." + a.substr(0, 180) + "\n" +
                                  std::string(183, ' ') + "^\n");
}

TEST_CASE("A hundred errors in a line of a megabyte fit on a few screens") {
  Diagnostics diagnostics;
  std::string line;
  for (int i = 0; i < (1 << 20) / 8; ++i) line += "\xe2\x82\xac \xc3\xa4\t";
  const SourceIndex file = diagnostics.add_file("f", line);
  const SourceIndex override = diagnostics.add_override(line);
  for (std::uint32_t i = 0; i < 50; ++i) {
    diagnostics.error({file, 1, 1 + 777 * i}, line, line);
    diagnostics.error({override, 1, 1 + 777 * i}, "bad");
  }
  CHECK(diagnostics.num_errors() == 100);
  CHECK(diagnostics.text().size() < 100 * 6000);
}

TEST_CASE("An override is its own source line") {
  Diagnostics diagnostics;
  const SourceIndex source = diagnostics.add_override("a.b=5");
  diagnostics.error({source, 1, Diagnostics::override_column(4)}, "no unit");
  CHECK(diagnostics.text() == "-s a.b=5: error: no unit\n-s a.b=5\n       ^\n");
}

TEST_CASE("Places past the end of a line or file stay printable") {
  Diagnostics diagnostics;
  const SourceIndex file = diagnostics.add_file("a", "xy\n");
  diagnostics.error({file, 1, 900}, "past the line");
  diagnostics.error({file, 900, 1}, "past the file");
  diagnostics.error({file, 0, 0}, "no place");
  CHECK(diagnostics.text() ==
        "a: error: no place\n"
        "a:1:4: error: past the line\nxy\n   ^\n"
        "a:2:1: error: past the file\n\n^\n");
}

TEST_CASE("Control characters and broken UTF-8 never reach the terminal") {
  Diagnostics diagnostics;
  const SourceIndex file = diagnostics.add_file("a", "x\x1b[2J\xff!");
  diagnostics.error({file, 1, 7}, "bad");
  CHECK(diagnostics.text() == "a:1:7: error: bad\nx?[2J?!\n      ^\n");
}

TEST_CASE("Messages and hints that quote the input are one printable line each") {
  Diagnostics diagnostics;
  const SourceIndex file = diagnostics.add_file("b\x1b.yaml", "x");
  diagnostics.error({file, 1, 1}, "bad 'a\nb\x07'", "no '\xff'");
  CHECK(diagnostics.text() == "b?.yaml:1:1: error: bad 'a?b?'\nx\n^\nhint: no '?'\n");
}

TEST_CASE("More than a hundred messages are counted rather than shown") {
  Diagnostics diagnostics;
  const SourceIndex file = diagnostics.add_file("a", std::string(200, 'x'));
  for (std::uint32_t i = 1; i <= 130; ++i) {
    diagnostics.error({file, 1, i}, "bad " + std::to_string(i));
  }
  const std::string text = diagnostics.text();
  CHECK(text.find("a:1:100: ") != std::string::npos);
  CHECK(text.find("a:1:101: ") == std::string::npos);
  CHECK(text.find("and 30 more\n") != std::string::npos);
}

TEST_CASE("Messages that differ only in their places are one message with a count") {
  Diagnostics diagnostics;
  const SourceIndex file = diagnostics.add_file("a", "x\nx\nx\nx\nx\nx\nx\nx");
  for (std::uint32_t line = 1; line <= 8; ++line) diagnostics.error({file, line, 1}, "bad");
  CHECK(diagnostics.num_errors() == 8);
  CHECK(diagnostics.text() ==
        "a:1:1: error: bad\nx\n^\nand at 7 more places, lines 2, 3, 4, 5, ... 8\n");
}

TEST_CASE("Edit distance counts a swap of neighbours as one") {
  CHECK(edit_distance("", "abc") == 3);
  CHECK(edit_distance("latency", "latency") == 0);
  CHECK(edit_distance("latnecy", "latency") == 1);
  CHECK(edit_distance("latecy", "latency") == 1);
  CHECK(edit_distance("kitten", "sitting") == 3);
}

TEST_CASE("The nearest name is the one that was meant, or none") {
  const std::vector<std::string> names{"latency", "bandwidth", "credit_latency"};
  CHECK(nearest_name("bandwith", names) == "bandwidth");
  CHECK(nearest_name("LATENCY", names) == "latency");
  CHECK(nearest_name("credit", names) == "credit_latency");
  CHECK(nearest_name("colour", names).empty());
  CHECK(nearest_name("c", {"a", "b"}).empty());
  CHECK(nearest_name("", names).empty());
  CHECK(nearest_name(std::string(10'000, 'x'), names).empty());
}

TEST_CASE("UTF-8 lengths are those of well-formed characters only") {
  CHECK(utf8_length("a", 0) == 1);
  CHECK(utf8_length("\xc3\xa4", 0) == 2);
  CHECK(utf8_length("\xe2\x82\xac", 0) == 3);
  CHECK(utf8_length("\xf0\x9f\x98\x80", 0) == 4);
  CHECK(utf8_length("\xc0\x80", 0) == 0);          // overlong
  CHECK(utf8_length("\xe0\x80\x80", 0) == 0);      // overlong
  CHECK(utf8_length("\xed\xa0\x80", 0) == 0);      // surrogate
  CHECK(utf8_length("\xf4\x90\x80\x80", 0) == 0);  // above U+10FFFF
  CHECK(utf8_length("\xc3", 0) == 0);              // cut off
  CHECK(utf8_length("\x80", 0) == 0);              // continuation
}

}  // namespace espalier
