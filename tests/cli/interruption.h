// Commands that a signal stops.
#pragma once

#include <catch2/catch.hpp>
#include <csignal>
#include <string>
#include <vector>

#include "sweep_test_support.h"

namespace espalier::test {

// A command that is still running; killed at the end if it still is.
class RunningCommand {
 public:
  explicit RunningCommand(const std::vector<std::string>& arguments)
      : program_(ESPALIER_PROGRAM, arguments) {}

  void send(int signal) { ::kill(pid(), signal); }
  [[nodiscard]] bool running() { return program_.process().running(); }
  [[nodiscard]] int pid() { return program_.process().id(); }
  [[nodiscard]] Outcome wait() { return program_.wait(); }

 private:
  RunningProgram program_;
};

// Whether a mask of /proc/PID/status has the signal: SigCgt, which are handled; SigBlk, which wait.
inline bool has_signal(int pid, const std::string& mask, int signal) {
  std::ifstream status("/proc/" + std::to_string(pid) + "/status");
  for (std::string line; std::getline(status, line);) {
    if (line.rfind(mask + ":", 0) != 0) continue;
    return (std::stoull(line.substr(mask.size() + 1), nullptr, 16) >> (signal - 1) & 1U) != 0;
  }
  return false;
}

// Its second and third point end at once, the first one takes `size`.
inline std::string three_points(const std::string& size) {
  return "system: {topology: {type: mesh, dims: [2, 2]}}\nsimulation: {fidelity: cycle}\n"
         "collective: {algorithm: ring, size: [" +
         size + ", 4KiB, 8KiB]}\n";
}

// Sends `signal` when only the longest point is left.
inline Outcome interrupt(const std::vector<std::string>& command, int signal = SIGINT) {
  RunningCommand run(command);
  int alone = 0;
  REQUIRE(wait_until([&] {
    alone = children_of(run.pid()).size() == 1 ? alone + 1 : 0;
    std::this_thread::sleep_for(std::chrono::milliseconds(4));
    return alone == 25;
  }));
  run.send(signal);
  return run.wait();
}

inline Outcome in_shell(const std::string& command) {
  return run_program("/bin/sh", {"-c", "espalier() { " ESPALIER_PROGRAM " \"$@\"; }\n" + command});
}

}  // namespace espalier::test
