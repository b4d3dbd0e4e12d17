#include "sims/text/read_file.h"

#include <fmt/format.h>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "sims/text/foreign_formats.h"
#include "sims/text/units.h"
#include "sims/text/utf8.h"

namespace espalier {

namespace {

class OpenFile {
 public:
  explicit OpenFile(const std::string& path)
      : descriptor_(::open(path.c_str(), O_RDONLY | O_CLOEXEC)) {}
  ~OpenFile() {
    if (descriptor_ >= 0) ::close(descriptor_);
  }
  OpenFile(const OpenFile&) = delete;
  OpenFile& operator=(const OpenFile&) = delete;

  [[nodiscard]] int descriptor() const { return descriptor_; }

 private:
  int descriptor_;
};

FileText unreadable(int error) {
  return {std::nullopt, fmt::format("cannot be read: {}", std::strerror(error))};
}

FileText too_large(std::uint64_t most_bytes) {
  return {std::nullopt, fmt::format("is too large; allowed are at most {}",
                                    format_quantity(Quantity::size, most_bytes))};
}

// Returns an empty string for a file or a pipe.
std::string refused_kind(mode_t mode) {
  if (S_ISDIR(mode)) return "is a folder";
  if (S_ISCHR(mode) || S_ISBLK(mode)) return "is a device";
  return S_ISREG(mode) || S_ISFIFO(mode) ? "" : "is neither a file nor a pipe";
}

bool is_pipe(const std::string& path) {
  struct stat status {};
  return ::stat(path.c_str(), &status) == 0 && S_ISFIFO(status.st_mode);
}

}  // namespace

FileText read_kept_file(const std::string& path) {
  return is_pipe(path) ? FileText{std::nullopt, "is a pipe"} : read_file_bytes(path);
}

FileText read_file_bytes(const std::string& path, std::uint64_t most_bytes) {
  // The kind is checked before the file is opened, because opening a device may have an effect.
  struct stat status {};
  if (::stat(path.c_str(), &status) != 0) return unreadable(errno);
  std::string refused = refused_kind(status.st_mode);
  if (!refused.empty()) return {std::nullopt, std::move(refused)};
  const auto expected = static_cast<std::uint64_t>(std::max<off_t>(status.st_size, 0));
  if (expected > most_bytes) return too_large(most_bytes);
  const OpenFile file(path);
  if (file.descriptor() < 0) return unreadable(errno);

  constexpr std::size_t kBlock = std::size_t{1} << 16;
  std::string text;
  text.reserve(expected + kBlock);
  while (true) {
    const std::size_t begin = text.size();
    text.resize(begin + kBlock);
    const ssize_t got = ::read(file.descriptor(), text.data() + begin, kBlock);
    text.resize(begin + static_cast<std::size_t>(std::max<ssize_t>(got, 0)));
    if (got < 0 && errno != EINTR) return unreadable(errno);
    // The size of a pipe or of a growing file is not known beforehand.
    if (text.size() > most_bytes) return too_large(most_bytes);
    if (got == 0) return {std::move(text), {}};
  }
}

FileText read_file_text(const std::string& path) {
  if (!is_utf8(path)) {
    return {std::nullopt,
            "has a path that is not UTF-8, which JSON results cannot contain; rename it"};
  }
  FileText file = read_file_bytes(path);
  std::string format = file.text ? foreign_format(*file.text) : "";
  if (format.empty()) return file;
  return {std::nullopt, std::move(format), true};
}

std::string path_from(const std::string& folder, const std::string& file) {
  return (std::filesystem::path(folder) / file).string();
}

std::optional<std::string> read_named_file(const std::string& path, const Place& place,
                                           Diagnostics& diagnostics, const std::string& hint) {
  if (is_pipe(path)) {
    diagnostics.error(place, fmt::format("'{}' is a pipe, which can be read only once", path),
                      hint);
    return std::nullopt;
  }
  FileText file = read_file_text(path);
  if (!file.text) {
    diagnostics.error(place, fmt::format("'{}' {}", path, file.problem),
                      file.is_foreign ? "" : hint);
  }
  return std::move(file.text);
}

}  // namespace espalier
