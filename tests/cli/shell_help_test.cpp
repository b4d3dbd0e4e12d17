// The completion scripts, which the program writes from its own definition, and the manual page.
#include <catch2/catch.hpp>
#include <sstream>

#include "cli_test_support.h"

namespace espalier {
namespace {

using Catch::Matchers::Contains;
using test::Outcome;

// The words that bash proposes for the last of `words`.
std::string proposed(const std::string& script, const std::string& words) {
  const Outcome outcome = test::run_program(
      "/bin/bash", {"-c", "source '" + script + "'; COMP_WORDS=('" + std::string(ESPALIER_PROGRAM) +
                              "' " + words +
                              "); COMP_CWORD=$((${#COMP_WORDS[@]} - 1)); _espalier; "
                              "echo \"${COMPREPLY[@]}\""});
  CHECK(outcome.err == "");
  return outcome.out;
}

TEST_CASE("bash completes commands, options, values and keys of configurations") {
  const test::TemporaryFolder folder;
  const Outcome written = test::espalier({"completion", "bash"});
  REQUIRE(written.exit_code == 0);
  const std::string script = folder.write("espalier.bash", written.out);
  CHECK(test::run_program("/bin/bash", {"-n", script}).exit_code == 0);
  CHECK(proposed(script, "ru") == "run\n");
  CHECK(proposed(script, "sweep g") == "gather\n");
  CHECK(proposed(script, "schedule -f do") == "dot\n");
  CHECK_THAT(proposed(script, "run --js"), Contains("--json"));
  CHECK_THAT(proposed(script, "run a.yaml -s system.li"),
             Contains("system.link.latency=") && !Contains("collective"));
  CHECK_THAT(proposed(script, "list topo"), Contains("topologies"));
  // Commands for other programs are not proposed.
  CHECK_THAT(proposed(script, "''"), !Contains("worker") && Contains("compare"));
  const Outcome zsh = test::espalier({"completion", "zsh"});
  CHECK_THAT(zsh.out, Contains("bashcompinit") && Contains("complete -o default"));
  CHECK(test::espalier({"completion", "fish"}).exit_code == 2);
}

TEST_CASE("The manual page has every command with its options, and man reads it") {
  const test::TemporaryFolder folder;
  const std::string file = folder.file("espalier.1");
  const std::string script = std::string(ESPALIER_SOURCE_DIR) + "/cmake/manual_page.cmake";
  const std::string program = ESPALIER_PROGRAM;
  const Outcome made = test::run_program(
      "/bin/sh",
      {"-c", "cmake '-DPROGRAM=" + program + "' '-DFILE=" + file + "' -P '" + script + "' 2>&1"});
  INFO(made.out);
  REQUIRE(made.exit_code == 0);
  const std::string page = test::read_text(file);
  for (const char* part : {".TH ESPALIER 1", ".SH espalier run", ".SH espalier sweep gather",
                           "\\-\\-wave\\-from", "\\-\\-facet", ".SH espalier latency"}) {
    CHECK_THAT(page, Contains(part));
  }
  CHECK_THAT(page, !Contains("espalier worker"));
  const Outcome man = test::run_program(
      "/bin/sh", {"-c", "command -v groff >/dev/null || exit 77; groff -man -Tutf8 -ww '" + file +
                            "' 2>&1 >/dev/null"});
  if (man.exit_code == 77) {
    WARN("groff is not installed: the page is not rendered");
    return;
  }
  CHECK(man.exit_code == 0);
  CHECK(man.out == "");
}

}  // namespace
}  // namespace espalier
