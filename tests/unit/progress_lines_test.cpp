// Progress in a log: seldom, and with what is left.
#include <catch2/catch.hpp>

#include "sims/study/progress.h"

using namespace espalier;
using std::chrono::seconds;

TEST_CASE("A line comes every half minute at most, once there is something to say") {
  const Progress::Time begin;
  Progress lines(200, Shown::in_logs_too, begin);
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

TEST_CASE("The time left is told once the pace is known") {
  const TimeLeft::Time begin;
  TimeLeft left;
  // Five seconds of setting up do not count.
  CHECK_FALSE(left.seconds(begin + seconds(5), 0));
  CHECK_FALSE(left.seconds(begin + seconds(5), 0.001));
  CHECK_FALSE(left.seconds(begin + seconds(6), 0.1));
  CHECK(left.seconds(begin + seconds(9), 0.201).value() == Approx(0.799 / 0.05));
  CHECK(left.seconds(begin + seconds(25), 1.0).value() == Approx(0));
}

TEST_CASE("A long job tells the time left after 20 seconds, however little is done") {
  const TimeLeft::Time begin;
  TimeLeft left;
  CHECK_FALSE(left.seconds(begin, 1e-6));
  CHECK_FALSE(left.seconds(begin + seconds(19), 0.002));
  CHECK(left.seconds(begin + seconds(20), 0.002).value() == Approx(20 * 0.998 / 0.001999));
  // Nothing moved: there is no pace.
  TimeLeft stuck;
  CHECK_FALSE(stuck.seconds(begin, 0.5));
  CHECK_FALSE(stuck.seconds(begin + seconds(60), 0.5));
}
