#include "sims/cli/output.h"

#include <fcntl.h>
#include <fmt/format.h>

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <system_error>

#include "sims/text/people.h"
#include "sims/text/whole_file.h"

namespace espalier {

namespace {

namespace fs = std::filesystem;

// Devices and pipes are written directly. They must not be replaced by a file.
bool is_stream(const fs::path& path) {
  const std::string name = path.string();
  if (name.rfind("/dev/", 0) == 0 || name.rfind("/proc/", 0) == 0) return true;
  std::error_code ignored;
  const fs::file_status status = fs::status(path, ignored);
  return fs::exists(status) && !fs::is_regular_file(status) && !fs::is_directory(status);
}

// Returns the system's reason if the file cannot be created; otherwise an empty text. Leaves no
// file behind.
std::string refusal(const std::string& path) {
  std::error_code error;
  if (fs::is_directory(path, error)) return std::strerror(EISDIR);
  const bool stream = is_stream(path);
  const std::string tried = stream ? path : fmt::format("{}.{}.try", path, getpid());
  const int flags = O_WRONLY | O_CLOEXEC | (stream ? O_NONBLOCK : O_CREAT | O_EXCL);
  const int file = open(tried.c_str(), flags, 0666);
  // A pipe without a reader may get one later.
  if (file < 0) return stream && errno == ENXIO ? "" : std::strerror(errno);
  close(file);
  if (!stream) fs::remove(tried, error);
  return {};
}

bool are_one_file(const std::string& a, const std::string& b) {
  std::error_code ignored;
  return fs::weakly_canonical(a, ignored) == fs::weakly_canonical(b, ignored) ||
         fs::equivalent(a, b, ignored);
}

}  // namespace

std::string output_mistake(const std::vector<CommandFile>& outputs,
                           const std::vector<CommandFile>& inputs) {
  std::vector<CommandFile> used = inputs;
  std::string on_stdout;
  for (const CommandFile& output : outputs) {
    if (output.path.empty()) continue;
    if (output.path == "-") {
      if (!on_stdout.empty()) {
        return fmt::format(
            "{} - and {} -: only one of the two outputs can go to stdout; name a file for the "
            "other",
            on_stdout, output.what);
      }
      on_stdout = output.what;
      const int flags = fcntl(STDOUT_FILENO, F_GETFL);
      if (flags == -1 || (flags & O_ACCMODE) == O_RDONLY) {
        return fmt::format("{} -: error: stdout cannot be written: it is closed", output.what);
      }
      continue;
    }
    for (const CommandFile& other : used) {
      if (!is_stream(output.path) && are_one_file(output.path, other.path)) {
        return fmt::format("{} {}: this file is also the {}; name another file", output.what,
                           output.path, other.what);
      }
    }
    used.push_back({output.what + " file", output.path});
  }
  for (const CommandFile& output : outputs) {
    if (output.path.empty() || output.path == "-") continue;
    const std::string reason = refusal(output.path);
    if (!reason.empty())
      return fmt::format("{}: error: cannot be written: {}", output.path, reason);
  }
  return {};
}

bool can_write(const std::vector<CommandFile>& outputs, const std::vector<CommandFile>& inputs) {
  return !say_mistake({output_mistake(outputs, inputs)});
}

bool say_mistake(const std::vector<std::string>& mistakes) {
  for (const std::string& mistake : mistakes) {
    if (mistake.empty()) continue;
    tell(stderr, "{}\n", mistake);
    return true;
  }
  return false;
}

int usage_error(const std::string& what, const std::string& problem) {
  tell(stderr, "{}: error: {}\n", what, problem);
  return kUsageError;
}

std::string first_file(const std::vector<std::string>& outputs) {
  const auto is_file = [](const std::string& output) {
    std::error_code ignored;
    return !output.empty() && output != "-" &&
           (!fs::exists(output, ignored) || fs::is_regular_file(output, ignored));
  };
  const auto found = std::find_if(outputs.begin(), outputs.end(), is_file);
  return found == outputs.end() ? "" : *found;
}

bool write_text(const std::string& target, const std::string& text) {
  if (target == "-") {
    std::cout << text;
    return true;
  }
  bool written = false;
  if (is_stream(target)) {
    std::ofstream file(target, std::ios::binary);
    file << text;
    file.close();
    written = !file.fail();
  } else {
    // A symbolic link stays, and the file to which it points is replaced.
    std::error_code ignored;
    const fs::path file = fs::weakly_canonical(target, ignored);
    written = write_whole_file(file.empty() ? fs::path(target) : file, text);
  }
  if (!written) tell(stderr, "{}: error: cannot be written\n", target);
  return written;
}

void reserve_standard_streams() {
  for (const int descriptor : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (fcntl(descriptor, F_GETFD) != -1) continue;
    // A read-only stdout makes every write fail. Errors about a closed stderr would have no reader.
    const int flags = descriptor == STDERR_FILENO ? O_WRONLY : O_RDONLY;
    if (open("/dev/null", flags) != descriptor) std::abort();
  }
}

int exit_code_after_flush(int exit_code) {
  std::cout.flush();
  errno = 0;
  const bool flushed = std::fflush(stdout) == 0;
  const int reason = errno;
  if (flushed && std::ferror(stdout) == 0 && std::cout.good()) return exit_code;
  tell(stderr, "stdout: error: cannot be written{}{}\n", reason == 0 ? "" : ": ",
       reason == 0 ? "" : std::strerror(reason));
  return std::max(exit_code, kUsageError);
}

std::vector<std::string> command_words(
    const char* command, const std::vector<std::string>& inputs,
    const std::vector<std::string>& overrides,
    const std::vector<std::pair<const char*, std::string>>& options) {
  std::vector<std::string> words{"espalier", command};
  words.insert(words.end(), inputs.begin(), inputs.end());
  for (const std::string& setting : overrides) words.insert(words.end(), {"-s", setting});
  for (const auto& [option, value] : options) {
    if (!value.empty()) words.insert(words.end(), {option, value});
  }
  return words;
}

}  // namespace espalier
