#include <catch2/catch.hpp>
#include <random>

#include "program_file_support.h"
#include "sims/formats/program/msccl_xml.h"
#include "tests/support/share_of_cases.h"

using namespace espalier;

namespace {

constexpr unsigned kSeed = 20240601;

using Random = std::mt19937;

std::size_t draw_below(Random& random, std::size_t limit) {
  return std::uniform_int_distribution<std::size_t>(0, limit - 1)(random);
}

// Bytes that mean something to the format are drawn often.
char a_byte(Random& random) {
  static const std::string kMeaningful = "<>/=\"'&;! -?x0123456789abcdefiors\n\t";
  if (draw_below(random, 4) == 0) return static_cast<char>(draw_below(random, 256));
  return kMeaningful[draw_below(random, kMeaningful.size())];
}

void edit(std::string& text, Random& random) {
  const std::size_t at = draw_below(random, text.size());
  switch (draw_below(random, 5)) {
    case 0:
      text[at] = a_byte(random);
      return;
    case 1:
      text.insert(at, 1, a_byte(random));
      return;
    case 2:
      text.erase(at, 1 + draw_below(random, 8));
      break;
    case 3:  // a piece of it once more, elsewhere
      text.insert(draw_below(random, text.size()), text.substr(at, 1 + draw_below(random, 80)));
      break;
    default: {  // another number
      const std::size_t digit = text.find_first_of("0123456789", at);
      if (digit != std::string::npos) text[digit] = static_cast<char>('0' + draw_below(random, 10));
    }
  }
  if (text.empty()) text = "<";
}

}  // namespace

TEST_CASE("Every document is read or refused, and every document that is read can be written") {
  INFO("seed " << kSeed);
  Random random(kSeed);
  std::size_t num_read = 0;
  for (const std::string& path : corpus("xml/valid", ".xml")) {
    const std::string original = contents_of(path);
    for (int round = 0; round < (test::kSanitized ? 150 : 1500); ++round) {
      std::string text = original;
      for (std::size_t edits = 1 + draw_below(random, 3); edits > 0; --edits) edit(text, random);
      Diagnostics diagnostics;
      const auto program = read_msccl_xml(path, text, diagnostics);
      if (program.has_value() != (diagnostics.num_errors() == 0)) FAIL(text << diagnostics.text());
      if (!program) {
        if (diagnostics.text().empty()) FAIL(text);
        continue;
      }
      ++num_read;
      if (const std::string why = unwritable_as_msccl_xml(*program); !why.empty())
        FAIL(why << text);
      const std::string written = write_msccl_xml(*program);
      const Program again = read_valid(written);
      if (write_msccl_xml(again) != written) FAIL(text);
    }
  }
  REQUIRE(num_read > (test::kSanitized ? 100 : 1000));
}
