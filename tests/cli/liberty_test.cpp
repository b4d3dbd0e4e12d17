// `espalier area --synthesize --liberty`. The tests that synthesize are skipped where yosys is not
// installed.
#include <fmt/format.h>

#include <catch2/catch.hpp>
#include <cmath>
#include <cstdlib>
#include <fstream>

#include "cli_test_support.h"

using namespace espalier;
using Catch::Matchers::Contains;
using test::Json;
using test::kSmallConfig;
using test::Outcome;
using test::TemporaryFolder;

namespace {

constexpr const char* kOsu018 = "/usr/share/qflow/tech/osu018/osu018_stdcells.lib";

bool is_there(const std::string& program) {
  return std::system(("command -v " + program + " > /dev/null 2>&1").c_str()) == 0;
}
bool lacks_yosys() {
  if (is_there("yosys")) return false;
  fmt::print("skipped: yosys is not installed\n");
  return true;
}

// A library of areas: NAND2 2, inverter 1, buffer 1.5, flip-flop 10. Leaks 3 uW a NAND2, 1 an
// inverter, 2 a flip-flop.
std::string small_library(const std::string& without = "") {
  const auto gate = [&](const std::string& name, const std::string& inputs, double area,
                        const std::string& function, int leakage) {
    if (name == without) return std::string();
    std::string text =
        fmt::format("  cell ({}) {{ area : {}; cell_leakage_power : {};\n", name, area, leakage);
    for (const char input : inputs)
      text += fmt::format("    pin ({}) {{ direction : input; }}\n", input);
    return text +
           fmt::format("    pin (Y) {{ direction : output; function : \"{}\"; }} }}\n", function);
  };
  std::string text = "/* areas only */\nlibrary (tiny) {\n  leakage_power_unit : \"1uW\";\n" +
                     gate("ND", "AB", 2, "(A B)'", 3) + gate("IV", "A", 1, "!A", 1) +
                     gate("BF", "A", 1.5, "A", 1);
  if (without != "FF") {
    text +=
        "  cell (FF) { area : 10; cell_leakage_power : 2;\n"
        "    ff (IQ, IQN) { clocked_on : \"CK\"; next_state : \"D\"; }\n"
        "    pin (CK) { direction : input; clock : true; }\n"
        "    pin (D) { direction : input; }\n"
        "    pin (Q) { direction : output; function : \"IQ\"; } }\n";
  }
  return text + "}\n";
}

Outcome area_with(const std::string& config, const std::string& library,
                  const std::string& node = "45nm") {
  return test::espalier(
      {"area", config, "--synthesize", "--liberty", library, "--node", node, "--json", "-"});
}

}  // namespace

TEST_CASE("A Liberty file that cannot be used is refused, with the place") {
  const TemporaryFolder folder;
  const std::string config = folder.write("small.yaml", kSmallConfig);
  const auto error = [&](const std::string& text) {
    const Outcome outcome = area_with(config, folder.write("cells.lib", text));
    CHECK(outcome.exit_code == 2);
    return outcome.err;
  };
  CHECK_THAT(error("library (a) {\n  cell (b) {\n    area : 1;\n"),
             Contains("cells.lib:4:1: error: the file ends within a group"));
  CHECK_THAT(error("library (a) {\n}\n}\n"), Contains("cells.lib:3:1: error: found '}'"));
  CHECK_THAT(error("library (a) {\n  b : \"c;\n}\n"),
             Contains("cells.lib:2:7: error: a text that does not end"));
  CHECK_THAT(error("design (a) { }"), Contains("expected: library (NAME)"));
  CHECK_THAT(error("library (a) {\n /* never\n"), Contains("a comment that does not end"));
  CHECK_THAT(error(std::string(5000, '(')), Contains("cells.lib:1:"));
  // Long parts of a file cost no stack.
  const std::string long_part(300'000, 'a');
  CHECK_THAT(error("library (" + long_part + ") {}"),
             Contains("cells.lib:1:1009: error: a word of more than 1000"));
  CHECK_THAT(error("/*" + long_part + "*/ library (a) { leakage_power (\"" + long_part + "\") {"),
             Contains("the file ends within a group"));
  const Outcome missing = area_with(config, folder.file("missing.lib"));
  CHECK(missing.exit_code == 2);
  CHECK_THAT(missing.err, Contains("missing.lib: error: cannot read the Liberty file"));
  if (lacks_yosys()) return;
  CHECK_THAT(error("library (a) {\n  cell (b) {\n    area : ;\n  }\n}\n"),
             Contains("cells.lib:3:1: error: yosys cannot map"));
  for (const char* cell : {"ND", "IV", "BF", "FF"}) {
    CAPTURE(cell);
    CHECK_THAT(error(small_library(cell)), Contains("cells.lib: error: yosys cannot map") &&
                                               Contains("synthesis needs a NAND2"));
  }
}

TEST_CASE("A Liberty file needs a feature size and --synthesize") {
  if (lacks_yosys()) return;
  const TemporaryFolder folder;
  const std::string config = folder.write("small.yaml", kSmallConfig);
  const std::string library = folder.write("cells.lib", small_library());
  const Outcome no_node = test::espalier({"area", config, "--synthesize", "--liberty", library});
  CHECK(no_node.exit_code == 2);
  CHECK_THAT(no_node.err, Contains("add --node"));
  CHECK(test::espalier({"area", config, "--liberty", library}).exit_code == 2);
}

TEST_CASE("With a library of areas, every block with Verilog has its area and leakage", "[slow]") {
  if (lacks_yosys()) return;
  const TemporaryFolder folder;
  const std::string config = folder.write("small.yaml", kSmallConfig);
  const Outcome outcome = area_with(config, folder.write("cells.lib", small_library()));
  INFO(outcome.err);
  REQUIRE(outcome.exit_code == 0);
  const Json area = Json::parse(outcome.out).at("systems").at(0).at("area");
  CHECK(area.at("technology") == "tiny");
  int measured = 0;
  for (const Json& block : area.at("blocks")) {
    const std::string name = block.at("block");
    CAPTURE(name);
    // The library has no timing.
    CHECK(block.at("delay_origin") == "formula");
    if (block.at("origin") != "synthesized") continue;
    ++measured;
    CHECK(block.at("leakage_origin") == "synthesized");
    CHECK(block.at("leakage_mW").get<double>() > 0);
    // Every cell has a whole or half number as its area.
    const double each = block.at("um2").get<double>() / block.at("count").get<double>();
    CHECK(each * 2 == Approx(std::round(each * 2)));
  }
  CHECK(measured >= 7);
  for (const Json& block : area.at("blocks")) {
    // 5.67 gate equivalents a bit, of 2 um2 each.
    if (block.at("block") != "ni.ejection_registers") continue;
    CHECK(block.at("um2").get<double>() ==
          Approx(2 * 5.67 * block.at("count").get<double>() * block.at("bits").get<double>())
              .epsilon(1e-4));
  }
}

TEST_CASE("With the OSU 0.18 library, area and clock are of its cells", "[slow]") {
  if (lacks_yosys()) return;
  if (!std::ifstream(kOsu018)) {
    fmt::print("skipped: qflow-tech-osu018 is not installed\n");
    return;
  }
  const TemporaryFolder folder;
  const std::string config = folder.write("small.yaml", kSmallConfig);
  const Outcome outcome = area_with(config, kOsu018, "180nm");
  INFO(outcome.err);
  REQUIRE(outcome.exit_code == 0);
  const Json area = Json::parse(outcome.out).at("systems").at(0).at("area");
  CHECK(area.at("technology") == "osu018_stdcells");
  for (const Json& block : area.at("blocks")) {
    if (block.at("block") != "ni.control") continue;
    CHECK(block.at("origin") == "synthesized");
    CHECK(block.at("delay_origin") == "synthesized");
    // The library's areas are multiples of 4.
    CHECK(std::fmod(block.at("um2").get<double>(), 4) == 0);
    CHECK(block.at("ps").get<double>() > 1000);
    CHECK(block.at("ps").get<double>() < 6000);
    CHECK(block.at("leakage_mW").is_number() == (block.at("leakage_origin") == "synthesized"));
  }
}

TEST_CASE("area --summary prints a row of a Markdown table for each system") {
  const TemporaryFolder folder;
  const std::string config = folder.write("small.yaml", kSmallConfig);
  const Outcome outcome =
      test::espalier({"area", config, "--summary", "--node", "45nm", "--node", "22nm"});
  CHECK(outcome.exit_code == 0);
  CHECK_THAT(outcome.out, Contains("\n| nangate45 at 45 nm | ") &&
                              Contains("\n| nangate45 at 22 nm | ") && !Contains("router.buffers"));
}
