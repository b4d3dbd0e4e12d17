// Tables of other tools' times.
#include "sims/formats/published_times_file.h"

#include <catch2/catch.hpp>

using namespace espalier;

namespace {

constexpr const char* kTimesHeader = "network,op,size,tool,time,source\n";

std::string mistake_in(const std::string& text) {
  Diagnostics diagnostics;
  CHECK_FALSE(parse_published_times("times.csv", text, diagnostics).has_value());
  return diagnostics.text();
}

}  // namespace

TEST_CASE("A table of other tools' times is read with units, comments and commas in the source") {
  Diagnostics diagnostics;
  const auto times =
      parse_published_times("times.csv",
                            std::string("# from two papers\n\n") + kTimesHeader +
                                "my net, all_gather, 64KiB, TACOS, 1.5us, owner/repo@abc, Fig. 3\n"
                                "my net,all_to_all,64KiB,TACOS,2ms,here\n",
                            diagnostics);
  CHECK(diagnostics.text() == "");
  REQUIRE(times.has_value());
  REQUIRE(times->size() == 2);
  const PublishedTime& first = times->front();
  CHECK(first.network == "my net");
  CHECK(first.op == CollectiveOp::all_gather);
  CHECK(first.size == 65536);
  CHECK(first.tool == "TACOS");
  CHECK(first.picoseconds == 1'500'000);
  CHECK(first.source == "owner/repo@abc, Fig. 3");
  CHECK(times->back().picoseconds == 2'000'000'000);
}

TEST_CASE("A wrong table of other tools' times is refused with its place") {
  using Catch::Matchers::Contains;
  const std::string row = "net,all_gather,1kB,TACOS,1us,here\n";
  CHECK_THAT(mistake_in(""), Contains("times.csv:1:1") && Contains("the file is empty") &&
                                 Contains("then one line for each time, for example lab.yaml,"));
  CHECK_THAT(mistake_in(std::string("# none\n") + kTimesHeader),
             Contains("times.csv:2:1") && Contains("the file has no times after the header") &&
                 Contains("hint: for example lab.yaml,"));
  CHECK_THAT(mistake_in("network,op,bytes,tool,time,source\n" + row),
             Contains("times.csv:1:12") && Contains("expected column 'size' here"));
  CHECK_THAT(mistake_in("network,op,size,tool,time,source,more\n" + row),
             Contains("found 7 columns"));
  CHECK_THAT(mistake_in(std::string(kTimesHeader) + "net,all_gather,1kB,TACOS,1us\n"),
             Contains("times.csv:2:29") && Contains("no value for 'source'"));
  CHECK_THAT(mistake_in(std::string(kTimesHeader) + "net,gather,1kB,TACOS,1us,here\n"),
             Contains("times.csv:2:5") && Contains("gather"));
  CHECK_THAT(mistake_in(std::string(kTimesHeader) + "net,all_gather,1kB,TACOS,1,here\n"),
             Contains("times.csv:2:26"));
  CHECK_THAT(mistake_in(std::string(kTimesHeader) + "net,all_gather,0B,TACOS,1us,here\n"),
             Contains("times.csv:2:16"));
  CHECK_THAT(mistake_in(std::string(kTimesHeader) + "net,all_gather,1kB,T\xc9,1us,here\n"),
             Contains("times.csv:2:21") && Contains("this is not UTF-8 text"));
  CHECK_THAT(mistake_in(std::string(kTimesHeader) + "net,all_gather,1kB,T\x1b[0m,1us,here\n"),
             Contains("times.csv:2:21") && Contains("a control character (0x1b)"));
  CHECK_THAT(mistake_in(std::string(kTimesHeader) + "net,all_gather,1kB,\xc2\x9b,1us,here\n"),
             Contains("times.csv:2:20") && Contains("a control character (0x9b)"));
  CHECK_THAT(mistake_in(kTimesHeader + row + row),
             Contains("times.csv:3:20") && Contains("a second time of TACOS for this collective"));
}
