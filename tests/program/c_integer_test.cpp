#include "sims/formats/program/xml_document.h"

#include <catch2/catch.hpp>

using namespace espalier;

TEST_CASE("Integers are read as C reads them with base 0") {
  REQUIRE(parse_c_integer("12").value == 12);
  REQUIRE(parse_c_integer("-1").value == -1);
  REQUIRE(parse_c_integer("+3").value == 3);
  REQUIRE(parse_c_integer("0").value == 0);
  REQUIRE(parse_c_integer("-0").value == 0);
  REQUIRE(parse_c_integer("0x1F").value == 31);
  REQUIRE(parse_c_integer("-0X10").value == -16);
  REQUIRE(parse_c_integer("017").value == 15);
  REQUIRE(parse_c_integer("00").value == 0);
  REQUIRE(parse_c_integer("9223372036854775807").value == INT64_MAX);
}

TEST_CASE("Text that is only partly an integer is refused") {
  for (const char* text : {"", " 1", "1 ", "1\n", "\t", "1x", "x", "-", "+", "--1", "0x", "0xg",
                           "08", "1.0", "1e3", "0b1", "1,000", "\xc2\xa0"}) {
    CAPTURE(text);
    const CInteger number = parse_c_integer(text);
    REQUIRE_FALSE(number.value.has_value());
    REQUIRE_FALSE(number.error.empty());
  }
  REQUIRE(parse_c_integer("09").error.find("octal") != std::string::npos);
}

TEST_CASE("An integer that does not fit 64 bits is out of range") {
  for (const char* text : {"9223372036854775808", "-9223372036854775808", "0x8000000000000000",
                           "99999999999999999999999999999999999999", "01777777777777777777777"}) {
    CAPTURE(text);
    REQUIRE(parse_c_integer(text).error == "is out of range");
  }
}
