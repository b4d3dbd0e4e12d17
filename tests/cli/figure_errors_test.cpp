// What goes wrong with a figure, and what is left then.
#include <catch2/catch.hpp>

#include <filesystem>
#include <string>

#include "cli_test_support.h"

using namespace espalier;
using Catch::Matchers::Contains;
using test::Outcome;
using test::TemporaryFolder;

namespace {

namespace fs = std::filesystem;

// Two series at two sizes; `axes`, one line each, and the second series' additions to the system.
std::string figure_text(const std::string& x, const std::string& y,
                        const std::string& system = "{}") {
  return "title: t\nx: {field: " + x + "}\ny: {field: " + y +
         "}\n"
         "config: {system: {topology: {type: mesh, dims: [2, 2]}}, collective: {size: [4KiB, "
         "8KiB]}}\n"
         "series:\n"
         "  - {label: RING, config: {collective: {algorithm: ring}}}\n"
         "  - {label: MULTITREE, config: {system: " +
         system + ", collective: {algorithm: multitree}}}\n";
}

}  // namespace

TEST_CASE("A mistake in a figure file exits with 2 at its place, before anything is simulated") {
  const TemporaryFolder folder;
  const std::string good = folder.write("good.yaml", figure_text("size_bytes", "time_ns"));
  const std::string bad =
      folder.write("bad.yaml", figure_text("size_bytes", "time_ns", "{ni: {ports: many}}"));
  const Outcome outcome = test::espalier({"figure", good, bad, "-o", folder.file("out")});
  CHECK(outcome.exit_code == 2);
  CHECK(outcome.out.empty());
  CHECK_THAT(outcome.err, Contains("bad.yaml:7:54: error: system.ni.ports:"));
  CHECK_FALSE(fs::exists(folder.file("out")));
}

TEST_CASE("A field that the results do not have is named at its place with the nearest one") {
  const TemporaryFolder folder;
  const std::string file = folder.write("fig.yaml", figure_text("size_bytes", "bandwidth_GBp"));
  const Outcome outcome = test::espalier({"figure", file, "-o", folder.file("out")});
  CHECK(outcome.exit_code == 2);
  CHECK_THAT(outcome.err, Contains("fig.yaml:3:12: error: the results have no field "
                                   "'bandwidth_GBp'") &&
                              Contains("did you mean 'bandwidth_GBps'?"));
  CHECK_FALSE(fs::exists(folder.file("out/fig.csv")));
}

TEST_CASE("Two figures of one name would overwrite each other") {
  const TemporaryFolder folder;
  fs::create_directory(folder.file("a"));
  const std::string one = folder.write("fig.yaml", figure_text("size_bytes", "time_ns"));
  const std::string two = folder.write("a/fig.yaml", figure_text("size_bytes", "time_ns"));
  const Outcome outcome = test::espalier({"figure", one, two, "-o", folder.file("out")});
  CHECK(outcome.exit_code == 2);
  CHECK_THAT(outcome.err, Contains("a/fig.yaml: error: another figure has the same name, fig"));
}

TEST_CASE("A figure's folder that cannot be written is an input error") {
  const TemporaryFolder folder;
  const std::string file = folder.write("fig.yaml", figure_text("size_bytes", "time_ns"));
  const Outcome outcome = test::espalier({"figure", file, "-o", file});
  CHECK(outcome.exit_code == 2);
  CHECK_THAT(outcome.err, Contains("error: is not a folder that can be made and written"));
}

TEST_CASE(
    "A failed point is named, the other points are drawn, and the next call simulates it again") {
  const TemporaryFolder folder;
  // MULTITREE needs five entries.
  const std::string file =
      folder.write("fig.yaml", figure_text("size_bytes", "time_ns", "{ni: {table_entries: 4}}"));
  for (int attempt = 0; attempt < 2; ++attempt) {
    const Outcome outcome = test::espalier({"figure", file, "-o", folder.file("out")});
    CHECK(outcome.exit_code == 1);
    CHECK_THAT(outcome.err, Contains("fig.yaml: error: panel '', series 'MULTITREE', ") &&
                                Contains("collective.size=8KiB: the schedule does not pass") &&
                                Contains("needs 5 table entries, but its table holds at most 4"));
    CHECK_THAT(outcome.out, Contains(attempt == 0 ? "4 simulations, 0 of them kept"
                                                  : "4 simulations, 2 of them kept"));
    const std::string csv = test::read_text(folder.file("out/fig.csv"));
    CHECK_THAT(csv, Contains(",RING,4096,") && Contains(",RING,8192,") && !Contains("MULTITREE"));
    CHECK(fs::exists(folder.file("out/fig.svg")));
  }
}

TEST_CASE(
    "Without gnuplot the figure's data and script are written, and a message says what to "
    "install") {
  const TemporaryFolder folder;
  const std::string file = folder.write("fig.yaml", figure_text("size_bytes", "time_ns"));
  const std::string output = folder.file("out");
  const Outcome outcome =
      test::run_program("/bin/sh", {"-c", "PATH=/nowhere exec '" ESPALIER_PROGRAM "' figure '" +
                                              file + "' -o '" + output + "'"});
  CHECK(outcome.exit_code == 1);
  CHECK_THAT(outcome.err, Contains("no picture: gnuplot is not installed") &&
                              Contains("apt-get install gnuplot-nox") &&
                              Contains("cd " + output + " && gnuplot fig.gp"));
  CHECK(fs::exists(output + "/fig.csv"));
  CHECK(fs::exists(output + "/fig.gp"));
  CHECK_FALSE(fs::exists(output + "/fig.svg"));
}
