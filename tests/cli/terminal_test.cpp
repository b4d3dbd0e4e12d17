// What people see who call the program on a terminal.
#include <pty.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <csignal>
#include <cstdlib>
#include <sstream>
#include <string>
#include <vector>

#include "cli_test_support.h"

using namespace espalier;
using Catch::Matchers::Contains;
using test::TemporaryFolder;

namespace {

struct Shown {
  std::string text;
  int exit_code = -1;  // -1: a signal ended the program
};

// Runs the program on a terminal of so many columns. Types Ctrl-C once the terminal shows `stop`.
Shown on_terminal(unsigned short columns, std::vector<std::string> words,
                  const std::string& stop = "") {
  words.insert(words.begin(), ESPALIER_PROGRAM);
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  winsize size{50, columns, 0, 0};
  int terminal = -1;
  const pid_t child = forkpty(&terminal, nullptr, nullptr, &size);
  REQUIRE(child >= 0);
  if (child == 0) {
    execv(ESPALIER_PROGRAM, arguments.data());
    _exit(127);
  }
  Shown shown;
  char piece[4096];
  bool stopped = stop.empty();
  for (ssize_t bytes = 0; (bytes = read(terminal, piece, sizeof piece)) > 0;) {
    shown.text.append(piece, static_cast<std::size_t>(bytes));
    if (stopped || shown.text.find(stop) == std::string::npos) continue;
    stopped = write(terminal, "\x03", 1) == 1;
  }
  close(terminal);
  int status = 0;
  waitpid(child, &status, 0);
  if (WIFEXITED(status)) shown.exit_code = WEXITSTATUS(status);
  return shown;
}

std::size_t longest_line(const std::string& text) {
  std::size_t longest = 0;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    longest = std::max(longest, line.substr(0, line.find('\r')).size());
  }
  return longest;
}

// Planning takes seconds, and simulating seconds more.
constexpr const char* kLongPlan =
    "system: {topology: {type: torus, dims: [16, 16]}}\n"
    "collective: {op: all_reduce, algorithm: auto, size: [1MiB, 2MiB]}\n";

}  // namespace

TEST_CASE("Lists, certificates, areas and keys end where the terminal ends") {
  const TemporaryFolder folder;
  const std::string config = folder.write("s.yaml", test::kSmallConfig);
  for (const auto& words : std::vector<std::vector<std::string>>{
           {"list"}, {"list", "algorithms"}, {"check", config}, {"area", config, "--summary"}}) {
    for (const unsigned short columns : std::vector<unsigned short>{60, 80, 120}) {
      const Shown shown = on_terminal(columns, words);
      CAPTURE(words, columns, shown.text);
      CHECK(shown.exit_code == 0);
      CHECK(longest_line(shown.text) <= columns);
    }
  }
  CHECK_THAT(on_terminal(500, {"area", config, "--summary"}).text, !Contains("|"));
}

TEST_CASE("A plan that takes long shows the time, and Ctrl-C ends it with one sentence") {
  const TemporaryFolder folder;
  const std::string config = folder.write("long.yaml", kLongPlan);
  for (const char* command : {"schedule", "check", "run"}) {
    const Shown shown =
        on_terminal(80, {command, config, "-s", "collective.size=1MiB"}, "planning, ");
    CAPTURE(command, shown.text);
    CHECK(shown.exit_code == 130);
    CHECK_THAT(shown.text, Contains("planning, 2 s so far"));
    const std::string after = shown.text.substr(shown.text.rfind('\x1b'));
    CHECK(after == "\x1b[Kstopped by SIGINT\r\n");
  }
}

TEST_CASE("A run of several points shows that it plans, and Ctrl-C says how many are finished") {
  const TemporaryFolder folder;
  const Shown shown = on_terminal(80, {"run", folder.write("long.yaml", kLongPlan)}, "planning, ");
  CAPTURE(shown.text);
  CHECK(shown.exit_code == 130);
  CHECK_THAT(shown.text, Contains("stopped by SIGINT; 0 of 2 points are finished"));
}
