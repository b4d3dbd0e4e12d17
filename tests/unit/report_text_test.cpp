#include "sims/page/text.h"

#include <catch2/catch.hpp>

#include "sims/page/section.h"

using namespace espalier::report;
using Catch::Matchers::Contains;

TEST_CASE("Characters with a meaning in HTML are escaped in text and in attributes") {
  CHECK(escape("a<b> & \"c\" 'd'") == "a&lt;b&gt; &amp; &quot;c&quot; &#39;d&#39;");
  CHECK(escape("&amp;") == "&amp;amp;");
  CHECK(escape("\u00b5s, \u4e16\u754c, \U0001F333") == "\u00b5s, \u4e16\u754c, \U0001F333");
}

TEST_CASE("Bytes that an HTML document cannot contain are replaced") {
  const std::string bad = "\xEF\xBF\xBD";
  CHECK(escape(std::string("a\0b", 3)) == "a" + bad + "b");
  CHECK(escape("a\x1b[1m") == "a" + bad + "[1m");
  CHECK(escape("\xc2\x9b"
               "1m") == bad + "1m");
  CHECK(escape("exe.\u202efdp\u2066\u200b") == "exe." + bad + "fdp" + bad + bad);
  CHECK(escape("\u0645\u06cc\u200c\u0634") ==
        "\u0645\u06cc\u200c\u0634");  // a joiner is a letter's shape
  CHECK(escape("\xff\xc3") == bad + bad);
  CHECK(escape("\xc0\x80") == bad + bad);            // overlong
  CHECK(escape("\xed\xa0\x80") == bad + bad + bad);  // a surrogate
  CHECK(escape("line\n\tnext") == "line\n\tnext");
}

TEST_CASE("Titles and captions of pictures are escaped") {
  Pictures pictures;
  CHECK_THAT(pictures.add("<t>", {{"kind", "xy"}}, "a & b"),
             Contains("<h3>&lt;t&gt;</h3>") && Contains("a &amp; b</figcaption>") &&
                 Contains("id=\"picture-0\""));
  CHECK(pictures.pictures().at(0).at("title") == "<t>");
}

TEST_CASE("Equal maps are stored once") {
  Pictures pictures;
  CHECK(pictures.add_map({{"width", 1}}) == 0);
  CHECK(pictures.add_map({{"width", 2}}) == 1);
  CHECK(pictures.add_map({{"width", 1}}) == 0);
  CHECK(pictures.maps().size() == 2);
}

TEST_CASE("Tables escape titles and texts, and keep cells that are HTML") {
  CHECK_THAT(table_html("<caption>", {{"<x>", true}}, {{{escape("1 < 2")}}, {{"<b>3</b>"}}}),
             Contains("&lt;x&gt;") && Contains("<td class=\"n\">1 &lt; 2</td></tr>") &&
                 Contains("<b>3</b>") && Contains("&lt;caption&gt;") && !Contains("<x>"));
}

TEST_CASE("Numbers have four digits and no exponent where people read them") {
  CHECK(number_text(0) == "0");
  CHECK(number_text(-0.0) == "0");
  CHECK(number_text(0.25) == "0.25");
  CHECK(number_text(12.3456) == "12.35");
  CHECK(number_text(4323.44) == "4323");
  CHECK(number_text(36320) == "36320");
  CHECK(number_text(1.5e12) == "1.5e+12");
  CHECK(place_text("M", 3.0, 10.126) == "M3 10.13");
  CHECK(place_text("L", -0.001, 4) == "L0 4");
  CHECK(bytes_text(65536) == "64 KiB");
  CHECK(bytes_text(100'000'000) == "100 MB");
  CHECK(bytes_text(64'000'000) == "64 MB");  // and not 62500 KiB
  CHECK(bytes_text(64'000) == "64 kB");
  CHECK(bytes_text(12'345'678) == "12.35 MB");
  CHECK(bytes_text(6001) == "6001 B");
  CHECK(percent_text(0.8885) == "88.8 %");
  CHECK(percent_text(1e5) == "10000000.0 %");
  CHECK(percent_text(1e308) == "over 1e+09 %");
  CHECK(percent_text(-1e308) == "below -1e+09 %");
  CHECK(count_text(1, "run") == "1 run");
  CHECK(count_text(2, "run") == "2 runs");
}
