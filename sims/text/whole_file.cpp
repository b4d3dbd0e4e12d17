#include "sims/text/whole_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <charconv>
#include <csignal>
#include <random>
#include <system_error>
#include <utility>

#include "sims/text/utf8.h"

namespace espalier {

namespace {

namespace fs = std::filesystem;

constexpr const char* kEnding = ".new";

// A signal handler reaches static data only. A process writes a few files at once.
std::array<std::atomic<const char*>, 16> removed_on_stop{};

void replace_path(const char* old_path, const char* new_path) {
  const auto place = std::find(removed_on_stop.begin(), removed_on_stop.end(), old_path);
  if (place != removed_on_stop.end()) *place = new_path;
}

std::string host_name() {
  std::array<char, 256> name{};
  if (gethostname(name.data(), name.size() - 1) != 0) return "host";
  return name.data();
}

// In a folder that others may write, too, a name that exists may be a link to any file.
int open_new(const fs::path& path) {
  return open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);
}

bool write_to_disk(const fs::path& path, const std::string& text) {
  const int file = open_new(path);
  if (file < 0) return false;
  // Without this, a machine that loses power may keep the new name without the content.
  const bool written = write_all(file, text) && fsync(file) == 0;
  return close(file) == 0 && written;
}

}  // namespace

// Another process or machine may write the same file.
fs::path unfinished_name(const fs::path& path) {
  return fmt::format("{}.{:08x}.{}.{}{}", path.string(), std::random_device()(), host_name(),
                     getpid(), kEnding);
}

RemovedOnStop::RemovedOnStop(std::string path) : path_(std::move(path)) {
  replace_path(nullptr, path_.c_str());
}

RemovedOnStop::~RemovedOnStop() { replace_path(path_.c_str(), nullptr); }

void RemovedOnStop::remove_all() {
  for (const auto& path : removed_on_stop) {
    if (const char* name = path; name != nullptr) unlink(name);
  }
}

bool is_file_name(const std::string& text) {
  return is_plain_text(text) && !text.empty() && text.front() != '.' &&
         text.find('/') == std::string::npos;
}

bool write_all(int file, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t now = write(file, bytes.data(), bytes.size());
    if (now < 0 && errno == EINTR) continue;
    if (now <= 0) return false;
    bytes.remove_prefix(static_cast<std::size_t>(now));
  }
  return true;
}

bool write_whole_file(const fs::path& path, const std::string& text) {
  const fs::path unfinished = unfinished_name(path);
  const RemovedOnStop removed(unfinished.string());
  std::error_code error;
  if (write_to_disk(unfinished, text)) {
    fs::rename(unfinished, path, error);
    if (!error) return true;
  }
  fs::remove(unfinished, error);
  return false;
}

bool can_write_in(const fs::path& folder) {
  const fs::path tried = unfinished_name(folder / "try");
  const int file = open_new(tried);
  if (file < 0) return false;
  close(file);
  std::error_code ignored;
  fs::remove(tried, ignored);
  return true;
}

void remove_unfinished_files(const fs::path& folder) {
  std::error_code error;
  const std::string host = "." + host_name() + ".";
  for (const auto& entry : fs::directory_iterator(folder, error)) {
    if (entry.path().extension() != kEnding) continue;
    const std::string name = entry.path().stem().string();
    const std::size_t dot = name.rfind('.');
    const std::size_t begin = dot + 1 - std::min(dot + 1, host.size());
    if (dot == std::string::npos || name.compare(begin, host.size(), host) != 0) continue;
    pid_t pid = 0;
    const auto [end, problem] =
        std::from_chars(name.data() + dot + 1, name.data() + name.size(), pid);
    if (problem != std::errc() || pid <= 0 || (kill(pid, 0) == 0 || errno != ESRCH)) continue;
    std::error_code ignored;
    fs::remove(entry.path(), ignored);
  }
}

}  // namespace espalier
