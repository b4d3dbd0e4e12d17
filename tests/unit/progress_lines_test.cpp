// Progress in a log: seldom, and with what is left.
#include <catch2/catch.hpp>

#include "sims/experiment/progress.h"

using namespace espalier;
using std::chrono::seconds;

TEST_CASE("A line comes every half minute at most, once there is something to say") {
  const ProgressLines::Time begin;
  ProgressLines lines(200, begin);
  CHECK(lines.line(begin + seconds(100)).empty());
  for (int i = 0; i < 39; ++i) lines.count(false);
  lines.count(true);
  CHECK(lines.line(begin + seconds(29)).empty());
  CHECK(lines.line(begin + seconds(40)) == "40 of 200 points, 1 failed; 2:40 min left");
  CHECK(lines.line(begin + seconds(69)).empty());
  CHECK(lines.line(begin + seconds(7200)) == "40 of 200 points, 1 failed; 8:00 h left");
  for (int i = 0; i < 160; ++i) lines.count(false);
  CHECK(lines.line(begin + seconds(9000)).empty());  // the tally says it
}
