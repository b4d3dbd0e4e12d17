// espalier validate silicon: measured times beside ours.
#include <catch2/catch.hpp>
#include <sstream>
#include <string>

#include "cli_test_support.h"

using namespace espalier;
using Catch::Matchers::Contains;
using test::Outcome;
using test::TemporaryFolder;

namespace {

constexpr const char* kMeasured =
    "machine,nodes,gpus_per_node,op,size_bytes,time_us\n"
    "example-cluster01,1,8,all_gather,67108864,205.8\n"
    "example-cluster01,1,8,all_gather,134217728,382.6\n"
    "example-cluster00,2,8,sendrecv,33554432,2300\n";

}  // namespace

TEST_CASE(
    "validate silicon prints our time, the measured one and the error, and which rows are fitted") {
  const TemporaryFolder folder;
  const std::string data = folder.write("times.csv", kMeasured);
  const Outcome outcome = test::espalier({"validate", "silicon", data, "-o", folder.file("kept")});
  INFO(outcome.err);
  REQUIRE(outcome.exit_code == 0);
  CHECK_THAT(outcome.out, Contains("8 x H100, preset h100_8"));
  CHECK_THAT(outcome.out, Contains("64 MiB  ") && Contains("128 MiB f"));
  CHECK_THAT(outcome.out, Contains("205.8") && Contains("ring Simple x24"));
  CHECK_THAT(outcome.out, Contains("calibrated: system.ni.program.doorbell_cycles"));
  CHECK_THAT(outcome.out, Contains("| 8 x H100 | all_gather | 1 MiB and more |"));
  CHECK_THAT(outcome.out, Contains("1 rows of example-cluster00: NICs of about 100 Gb/s"));
  // The simulation agrees with silicon within a tenth, and a second call gives the same text.
  const Outcome csv = test::espalier(
      {"validate", "silicon", data, "-o", folder.file("kept"), "--csv", folder.file("out.csv")});
  REQUIRE(csv.exit_code == 0);
  CHECK(csv.out == outcome.out);
  const std::string table = test::read_text(folder.file("out.csv"));
  const std::size_t error = table.find(",1,", table.find(",67108864,0,")) + 3;
  CHECK(std::abs(std::stod(table.substr(error))) < 0.1);
}

TEST_CASE("validate silicon refuses a table without times, and a missing file") {
  const TemporaryFolder folder;
  const std::string data = folder.write("times.csv", "machine,nodes\n");
  const Outcome outcome = test::espalier({"validate", "silicon", data});
  CHECK(outcome.exit_code == 2);
  CHECK_THAT(outcome.err, Contains("no column 'op'"));
  CHECK(test::espalier({"validate", "silicon", folder.file("none.csv")}).exit_code == 2);
  CHECK(test::espalier({"validate"}).exit_code == 2);
}

TEST_CASE("validate silicon --fit looks at the fitted third only", "[slow]") {
  const TemporaryFolder folder;
  const std::string head = "machine,nodes,gpus_per_node,op,size_bytes,time_us\n";
  const std::string fitted = "example-cluster01,1,8,all_gather,134217728,382.6\n";
  const auto fit = [&](const std::string& text) {
    const Outcome outcome =
        test::espalier({"validate", "silicon", "--fit", folder.write("times.csv", text)});
    INFO(outcome.err);
    REQUIRE(outcome.exit_code == 0);
    return outcome.out;
  };
  const std::string alone = fit(head + fitted);
  CHECK_THAT(alone, Contains("8 x H100: error on the fitted rows"));
  // A test row that is four times as long changes nothing.
  CHECK(fit(head + fitted + "example-cluster01,1,8,all_gather,67108864,800\n") == alone);
}

TEST_CASE("The numbers of MSCCL++'s small kernels are those that the fit of H100's rows finds") {
  const Outcome outcome = test::espalier(
      {"validate", "silicon", "--fit", ESPALIER_SOURCE_DIR "/configs/silicon/mscclpp.csv",
       "--machine", "ND v5, 1 server, MSCCL++", "--machine", "ND v5, 2 servers, MSCCL++"});
  INFO(outcome.out << outcome.err);
  REQUIRE(outcome.exit_code == 0);
  std::size_t numbers = 0;
  std::istringstream lines(outcome.out);
  for (std::string line; std::getline(lines, line);) {
    std::string name, equals, found, in, the, program, value;
    std::istringstream words(line);
    words >> name >> equals >> found >> in >> the >> program >> value;
    if (equals != "=") continue;
    CHECK(found == value + ",");
    ++numbers;
  }
  CHECK(numbers == 2);
}
