#include "sims/process/child_process.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <new>
#include <system_error>

namespace espalier {

namespace {

[[noreturn]] void fail(const char* what) {
  throw std::system_error(errno, std::generic_category(), what);
}

void end_with(pid_t parent) {
  // A parent that is killed cannot end its children. It may have been killed already.
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) _exit(EXIT_FAILURE);
}

pid_t fork_or_fail() {
  // The caller of this process may ignore SIGCHLD; then the status of a child would be lost.
  std::signal(SIGCHLD, SIG_DFL);
  const pid_t child = fork();
  if (child < 0) fail("fork");
  return child;
}

// dup2() clears the flag that closes a descriptor at exec, except where both are the same.
bool put_at(int target, int descriptor) {
  if (descriptor < 0) return true;
  return descriptor == target ? fcntl(target, F_SETFD, 0) == 0 : dup2(descriptor, target) >= 0;
}

// Runs in the child before exec, so it may only call functions that are safe after fork(). Returns
// false if a call failed.
bool set_up(const ChildOptions& options, int input, pid_t parent) {
  if (options.is_worker) {
    end_with(parent);
    for (const int signal : kStopSignals) std::signal(signal, SIG_IGN);
  }
  // This process blocks the signals that it reads as data (sims/study/workers.cpp).
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
  if (options.memory_bytes != 0) {
    const rlimit limit{options.memory_bytes, options.memory_bytes};
    setrlimit(RLIMIT_AS, &limit);
  }
  if (!options.folder.empty() && chdir(options.folder.c_str()) != 0) return false;
  return put_at(STDOUT_FILENO, options.out) && put_at(STDERR_FILENO, options.err) &&
         put_at(STDIN_FILENO, input);
}

// A file without a name: unlike a pipe it takes the whole text before anybody reads.
Descriptor file_of(const std::string& text) {
  Descriptor file(memfd_create("input", MFD_CLOEXEC));
  if (file.number() < 0) fail("memfd_create");
  for (std::size_t begin = 0; begin < text.size();) {
    const ssize_t bytes = write(file.number(), text.data() + begin, text.size() - begin);
    if (bytes < 0 && errno != EINTR) fail("input of a process");
    begin += static_cast<std::size_t>(std::max<ssize_t>(bytes, 0));
  }
  lseek(file.number(), 0, SEEK_SET);
  return file;
}

int wait_for(pid_t child) {
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  return status;
}

}  // namespace

void Descriptor::close() {
  if (number_ >= 0) ::close(number_);
  number_ = -1;
}

Pipe::Pipe() {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) fail("pipe");
  read = Descriptor(ends[0]);
  write = Descriptor(ends[1]);
}

ChildProcess::ChildProcess(const std::string& program, const std::vector<std::string>& arguments,
                           const ChildOptions& options) {
  std::vector<char*> words{const_cast<char*>(program.c_str())};
  for (const std::string& argument : arguments) {
    words.push_back(const_cast<char*>(argument.c_str()));
  }
  words.push_back(nullptr);
  const pid_t parent = getpid();
  const Descriptor input = file_of(options.input);
  // exec closes the pipe; before that, the child writes the error that kept it from exec.
  Pipe problem;
  id_ = fork_or_fail();
  if (id_ == 0) {
    if (set_up(options, input.number(), parent)) execv(program.c_str(), words.data());
    const int error = errno;
    const ssize_t ignored = write(problem.write.number(), &error, sizeof error);
    static_cast<void>(ignored);
    _exit(EXIT_FAILURE);
  }
  problem.write.close();
  int error = 0;
  ssize_t bytes = 0;
  while ((bytes = read(problem.read.number(), &error, sizeof error)) < 0 && errno == EINTR) {
  }
  if (bytes != sizeof error) return;
  wait_for(id_);
  throw std::system_error(error, std::generic_category(), program);
}

ChildProcess::ChildProcess(const std::function<int()>& work) {
  const pid_t parent = getpid();
  id_ = fork_or_fail();
  if (id_ > 0) return;
  end_with(parent);
  for (const int signal : kStopSignals) std::signal(signal, SIG_IGN);
  // A worker's handler reports to its parent for the worker, not for the copy.
  std::set_new_handler(nullptr);
  _exit(work());
}

NumberOfCopy::NumberOfCopy(const std::function<std::optional<std::uint64_t>()>& find)
    : process_([&] {
        try {
          const std::optional<std::uint64_t> number = find();
          const bool is_told =
              number && write(pipe_.write.number(), &*number, sizeof *number) == sizeof *number;
          return is_told ? 0 : 1;
        } catch (const std::exception&) {
          return 1;
        }
      }) {
  pipe_.write.close();
}

std::optional<std::uint64_t> NumberOfCopy::wait() {
  std::uint64_t number = 0;
  const bool is_told = read(pipe_.read.number(), &number, sizeof number) == sizeof number;
  pipe_.read.close();
  return process_.wait() == 0 && is_told ? std::optional(number) : std::nullopt;
}

ChildProcess::ChildProcess(ChildProcess&& other) noexcept
    : id_(other.id_), ended_(other.ended_), status_(other.status_) {
  other.ended_ = true;
}

ChildProcess::~ChildProcess() {
  if (!running()) return;
  end();
  wait();
}

bool ChildProcess::running() {
  if (!ended_) ended_ = waitpid(id_, &status_, WNOHANG) != 0;
  return !ended_;
}

void ChildProcess::end() {
  if (!ended_) ::kill(id_, SIGKILL);
}

int ChildProcess::wait() {
  if (!ended_) status_ = wait_for(id_);
  ended_ = true;
  return status_;
}

RunningProgram::RunningProgram(const std::string& program,
                               const std::vector<std::string>& arguments, const std::string& folder)
    : process_(program, arguments, [&] {
        ChildOptions options;
        options.folder = folder;
        options.out = fileno(out_.get());
        options.err = fileno(err_.get());
        return options;
      }()) {}

RunningProgram::File RunningProgram::temporary_file() {
  File file(std::tmpfile(), &std::fclose);
  if (!file) fail("temporary file");
  fcntl(fileno(file.get()), F_SETFD, FD_CLOEXEC);
  return file;
}

std::string RunningProgram::text_in(const File& file) {
  std::rewind(file.get());
  std::string result;
  char piece[4096];
  while (const std::size_t bytes = std::fread(piece, 1, sizeof piece, file.get())) {
    result.append(piece, bytes);
  }
  return result;
}

ChildOutcome RunningProgram::wait() {
  const int status = process_.wait();
  ChildOutcome outcome;
  outcome.exit_code = WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status);
  outcome.out = text_in(out_);
  outcome.err = text_in(err_);
  return outcome;
}

ChildOutcome run_child(const std::string& program, const std::vector<std::string>& arguments,
                       const std::string& folder) {
  try {
    return RunningProgram(program, arguments, folder).wait();
  } catch (const std::system_error& error) {
    ChildOutcome outcome;
    outcome.problem = error.code().message();
    return outcome;
  }
}

std::string find_program(const std::string& name) {
  const char* variable = std::getenv("PATH");
  const std::string path = variable == nullptr ? "" : variable;
  for (std::size_t begin = 0; begin <= path.size();) {
    const std::size_t end = std::min(path.find(':', begin), path.size());
    const std::string folder = path.substr(begin, end - begin);
    std::string file = (folder.empty() ? "." : folder) + "/" + name;
    struct stat entry {};
    const bool is_file = stat(file.c_str(), &entry) == 0 && S_ISREG(entry.st_mode);
    if (is_file && access(file.c_str(), X_OK) == 0) return file;
    begin = end + 1;
  }
  return "";
}

}  // namespace espalier
