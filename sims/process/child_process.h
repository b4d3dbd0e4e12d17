// Child processes: other programs, and copies of this one.
#pragma once

#include <sys/types.h>

#include <array>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace espalier {

// By which a terminal, a person or a batch system ends the program.
inline constexpr std::array kStopSignals{SIGHUP, SIGINT, SIGTERM};

// A file descriptor; closed by the destructor.
class Descriptor {
 public:
  explicit Descriptor(int number = -1) : number_(number) {}
  Descriptor(Descriptor&& other) noexcept : number_(other.number_) { other.number_ = -1; }
  Descriptor& operator=(Descriptor&& other) noexcept {
    std::swap(number_, other.number_);
    return *this;
  }
  ~Descriptor() { close(); }

  [[nodiscard]] int number() const { return number_; }
  void close();

 private:
  int number_;
};

// Children that run another program do not get the descriptors.
struct Pipe {
  Pipe();  // throws std::system_error

  Descriptor read;
  Descriptor write;
};

struct ChildOptions {
  std::string folder;  // working folder; empty: the one of this process
  std::string input;   // the text on stdin
  int out = -1;        // stdout; -1: the one of this process
  int err = -1;        // stderr; likewise
  // The child ends with this process, and ignores kStopSignals: a terminal sends them to all its
  // processes, and this process decides what they mean.
  bool is_worker = false;
  std::uint64_t memory_bytes = 0;  // of address space; 0: no limit
};

// The destructor ends a child that still runs.
class ChildProcess {
 public:
  // Starts the program at a path. Throws std::system_error.
  ChildProcess(const std::string& program, const std::vector<std::string>& arguments,
               const ChildOptions& options);
  // A copy of this process that calls `work` and ends with its value as exit code. It also ends
  // with this process. Throws std::system_error.
  explicit ChildProcess(const std::function<int()>& work);
  ~ChildProcess();
  ChildProcess(ChildProcess&& other) noexcept;
  ChildProcess& operator=(ChildProcess&& other) = delete;

  [[nodiscard]] pid_t id() const { return id_; }
  [[nodiscard]] bool running();
  void end();
  // Waits until the child has ended. Returns its wait status (waitpid).
  int wait();

 private:
  pid_t id_ = 0;
  bool ended_ = false;
  int status_ = 0;
};

// A number that a copy of this process finds out, for instance by a simulation of its own.
class NumberOfCopy {
 public:
  // An exception of `find` is no number.
  explicit NumberOfCopy(const std::function<std::optional<std::uint64_t>()>& find);
  [[nodiscard]] std::optional<std::uint64_t> wait();

 private:
  Pipe pipe_;
  ChildProcess process_;
};

struct ChildOutcome {
  std::string problem;  // why the program could not be started; empty if it was
  int exit_code = -1;   // the signal's number if a signal ended the program
  std::string out;
  std::string err;
};

// A program that runs without input, and whose output is kept. The output goes to unnamed files:
// unlike a pipe a file is never full, and a grandchild that keeps it open does not block the
// reader.
class RunningProgram {
 public:
  // Throws std::system_error.
  RunningProgram(const std::string& program, const std::vector<std::string>& arguments,
                 const std::string& folder = "");

  [[nodiscard]] ChildProcess& process() { return process_; }
  [[nodiscard]] ChildOutcome wait();

 private:
  using File = std::unique_ptr<FILE, int (*)(FILE*)>;
  static File temporary_file();
  static std::string text_in(const File& file);

  File out_ = temporary_file();
  File err_ = temporary_file();
  ChildProcess process_;
};

// Runs the program in `folder` and waits until it ends. Does not wait for processes that the
// program leaves behind.
[[nodiscard]] ChildOutcome run_child(const std::string& program,
                                     const std::vector<std::string>& arguments,
                                     const std::string& folder = "");

// Finds the program's path with PATH; empty if it is not installed.
[[nodiscard]] std::string find_program(const std::string& name);

}  // namespace espalier
