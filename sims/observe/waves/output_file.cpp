#include "sims/observe/waves/output_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <stdexcept>
#include <system_error>
#include <utility>

namespace espalier {

namespace {
namespace fs = std::filesystem;
constexpr std::size_t kBufferBytes = std::size_t{1} << 18;
}  // namespace

UnfinishedFile::UnfinishedFile(std::string target) : target_(std::move(target)), name_(target_) {
  std::error_code ignored;
  const fs::file_status status = fs::status(target_, ignored);
  if (fs::exists(status) && !fs::is_regular_file(status)) return;
  fs::path name(target_);
  name.replace_filename(name.stem().string() + ".unfinished" + name.extension().string());
  name_ = name.string();
  removed_.emplace(name_);
  // A link that somebody has put there could lead to any file.
  if (fs::is_symlink(name, ignored)) fs::remove(name, ignored);
}

UnfinishedFile::~UnfinishedFile() {
  if (is_finished_ || name_ == target_) return;
  std::error_code ignored;
  if (fs::exists(target_, ignored) || fs::is_empty(name_, ignored)) {
    fs::remove(name_, ignored);
  } else {
    fs::rename(name_, target_, ignored);
  }
}

int UnfinishedFile::finish() {
  is_finished_ = true;
  if (name_ == target_) return 0;
  std::error_code error;
  // A symbolic link stays, and the file to which it points is replaced.
  const fs::path target = fs::weakly_canonical(target_, error);
  fs::rename(name_, error ? fs::path(target_) : target, error);
  return error.value();
}

void throw_unwritable(const std::string& path, int error_number) {
  throw std::runtime_error(
      fmt::format("{}: cannot be written: {}", path, std::strerror(error_number)));
}

OutputFile::OutputFile(std::string path)
    : name_(std::move(path)),
      file_(open(name_.name().c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666)),
      buffer_(kBufferBytes) {
  if (file_ < 0) throw_unwritable(name_.target(), errno);
}

OutputFile::~OutputFile() {
  if (file_ < 0) return;
  static_cast<void>(write_out());
  ::close(file_);
}

void OutputFile::append(std::string_view text) {
  while (!text.empty()) {
    const std::size_t piece = std::min(text.size(), kLargestPiece);
    std::memcpy(room(piece), text.data(), piece);
    used(piece);
    text.remove_prefix(piece);
  }
}

void OutputFile::close() {
  flush();
  const int file = std::exchange(file_, -1);
  if (::close(file) != 0) throw_unwritable(name_.target(), errno);
  if (const int error = name_.finish(); error != 0) throw_unwritable(name_.target(), error);
}

void OutputFile::flush() {
  const int error = write_out();
  if (error != 0) throw_unwritable(name_.target(), error);
}

int OutputFile::write_out() {
  // Bytes that could not be written are dropped, so that a caller who continues after an error does
  // not get the same error again.
  const std::size_t bytes = std::exchange(filled_, 0);
  for (std::size_t written = 0; written < bytes;) {
    const ssize_t now = write(file_, buffer_.data() + written, bytes - written);
    if (now < 0 && errno != EINTR) return errno;
    if (now > 0) written += static_cast<std::size_t>(now);
  }
  return 0;
}

}  // namespace espalier
