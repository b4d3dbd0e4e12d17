#include <catch2/catch.hpp>
#include <limits>
#include <random>

#include "sims/text/units.h"

namespace espalier {

TEST_CASE("Every unit of every quantity reads as its number of base units") {
  const auto value = [](Quantity q, const char* text) {
    return parse_quantity(q, text).value.value();
  };
  CHECK(value(Quantity::time, "7ps") == 7);
  CHECK(value(Quantity::time, "150ns") == 150'000);
  CHECK(value(Quantity::time, "2us") == 2'000'000);
  CHECK(value(Quantity::time, "3ms") == 3'000'000'000);
  CHECK(value(Quantity::time, "1s") == 1'000'000'000'000);
  CHECK(value(Quantity::rate, "5B/s") == 5);
  CHECK(value(Quantity::rate, "5kB/s") == 5'000);
  CHECK(value(Quantity::rate, "5MB/s") == 5'000'000);
  CHECK(value(Quantity::rate, "16GB/s") == 16'000'000'000);
  CHECK(value(Quantity::rate, "2TB/s") == 2'000'000'000'000);
  CHECK(value(Quantity::rate, "100Gb/s") == 12'500'000'000);
  CHECK(value(Quantity::rate, "1Gb/s") == 125'000'000);
  CHECK(value(Quantity::rate, "100Mb/s") == 12'500'000);
  CHECK(value(Quantity::rate, "1.5Tb/s") == 187'500'000'000);
  CHECK(value(Quantity::rate, "50GiB/s") == 53'687'091'200);
  CHECK(value(Quantity::rate, "3MiB/s") == 3'145'728);
  CHECK(value(Quantity::frequency, "50Hz") == 50);
  CHECK(value(Quantity::frequency, "50kHz") == 50'000);
  CHECK(value(Quantity::frequency, "50MHz") == 50'000'000);
  CHECK(value(Quantity::frequency, "1.5GHz") == 1'500'000'000);
  CHECK(value(Quantity::size, "9B") == 9);
  CHECK(value(Quantity::size, "9kB") == 9'000);
  CHECK(value(Quantity::size, "9KiB") == 9'216);
  CHECK(value(Quantity::size, "9MB") == 9'000'000);
  CHECK(value(Quantity::size, "9MiB") == 9'437'184);
  CHECK(value(Quantity::size, "9GB") == 9'000'000'000);
  CHECK(value(Quantity::size, "9GiB") == 9'663'676'416);
}

TEST_CASE("Decimals are exact where floating point is not") {
  CHECK(parse_quantity(Quantity::time, "0.001ns").value == 1);
  CHECK(parse_quantity(Quantity::rate, "0.1GB/s").value == 100'000'000);
  // 4.35 * 100 is 434.99999999999994 in double precision.
  CHECK(parse_quantity(Quantity::time, "4.35us").value == 4'350'000);
  CHECK(parse_quantity(Quantity::size, "0.5KiB").value == 512);
  CHECK(parse_quantity(Quantity::time, "1.000000000000000000000000s").value == 1'000'000'000'000);
  CHECK(parse_quantity(Quantity::size, "16 MiB").value == 16'777'216);
  CHECK(parse_quantity(Quantity::size, "0B").value == 0);
}

TEST_CASE("A text that is not a quantity is refused with the reason") {
  const auto refused = [](Quantity q, const char* text, const char* reason) {
    const ParsedQuantity parsed = parse_quantity(q, text);
    INFO(text << " -> " << parsed.error << " / " << parsed.hint);
    CHECK_FALSE(parsed.value);
    CHECK(parsed.error.find(reason) != std::string::npos);
    CHECK(parsed.hint.find("units: ") != std::string::npos);
  };
  refused(Quantity::time, "150", "has no unit");
  refused(Quantity::time, "150GB", "not a unit of time");
  refused(Quantity::time, "0.5ps", "not a whole number of picoseconds");
  refused(Quantity::rate, "16GB", "not a unit of bandwidth");
  refused(Quantity::rate, "16GBps", "not a unit of bandwidth");
  refused(Quantity::rate, "0.000001Mb/s", "not a whole number of bytes per second");
  refused(Quantity::size, "0.3KiB", "not a whole number of bytes");
  refused(Quantity::size, "1_000B", "not a plain decimal number");
  refused(Quantity::size, "1e3B", "not a plain decimal number");
  refused(Quantity::size, "1E+3", "not a plain decimal number");
  refused(Quantity::size, "1,000B", "not a plain decimal number");
  refused(Quantity::size, "1.2.3B", "not a plain decimal number");
  refused(Quantity::size, "-1B", "negative");
  refused(Quantity::size, "+1B", "not a number");
  refused(Quantity::size, ".5KiB", "not a number");
  refused(Quantity::size, "5.KiB", "not a number");
  refused(Quantity::size, "", "not a number");
  refused(Quantity::size, ".inf", "not a number");
  refused(Quantity::size, "010B", "leading zero");
  refused(Quantity::size, "99999999999999999999B", "too many digits");
  refused(Quantity::size, "9999999999999999999GiB", "too large");
}

TEST_CASE("A unit in the wrong letter case gets the right one as a hint") {
  CHECK(parse_quantity(Quantity::time, "5NS").hint.find("did you mean 5ns?") == 0);
  CHECK(parse_quantity(Quantity::frequency, "1ghz").hint.find("did you mean 1GHz?") == 0);
  CHECK(parse_quantity(Quantity::size, "4mib").hint.find("did you mean 4MiB?") == 0);
}

TEST_CASE("Quantities are printed in the largest unit that is exact") {
  CHECK(format_quantity(Quantity::time, 150'000) == "150ns");
  CHECK(format_quantity(Quantity::time, 1'500) == "1500ps");
  CHECK(format_quantity(Quantity::rate, 16'000'000'000) == "16GB/s");
  CHECK(format_quantity(Quantity::rate, 125'000'000) == "125MB/s");
  CHECK(format_quantity(Quantity::rate, 125'000'000'000) == "125GB/s");
  CHECK(format_quantity(Quantity::frequency, 1'500'000'000) == "1500MHz");
  CHECK(format_quantity(Quantity::size, 16'777'216) == "16MiB");
  CHECK(format_quantity(Quantity::size, 1'000'000) == "1MB");
  CHECK(format_quantity(Quantity::size, 4) == "4B");
  CHECK(format_quantity(Quantity::size, 0) == "0B");
}

TEST_CASE("Printed quantities read back to the same value") {
  constexpr std::uint64_t kSeed = 7;
  std::mt19937_64 random(kSeed);
  INFO("seed " << kSeed);
  for (int i = 0; i < 20'000; ++i) {
    // Of every magnitude, a third of them round.
    std::uint64_t value = random() >> (random() % 64);
    if (i % 3 == 0) value = value % 1'000 * (i % 2 == 0 ? 1'000'000 : 1U << 20U);
    for (const Quantity q : {Quantity::time, Quantity::rate, Quantity::frequency, Quantity::size}) {
      const std::string text = format_quantity(q, value);
      const ParsedQuantity parsed = parse_quantity(q, text);
      INFO(text);
      if (value >= 10'000'000'000'000'000'000U) continue;  // 20 digits are refused
      REQUIRE(parsed.value == value);
    }
  }
}

}  // namespace espalier
