// Files that are complete or absent, even if the program or the machine stops while it writes.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

namespace espalier {

// Whether the text names a file within a folder: not one elsewhere, and not a hidden one.
[[nodiscard]] bool is_file_name(const std::string& text);

// Writes all bytes to a file descriptor. False if it takes no more.
[[nodiscard]] bool write_all(int file, std::string_view bytes);

// Writes a file beside `path` and renames it. False if it cannot be written.
[[nodiscard]] bool write_whole_file(const std::filesystem::path& path, const std::string& text);

// `path` with an ending that nobody can guess, and that remove_unfinished_files() knows.
[[nodiscard]] std::filesystem::path unfinished_name(const std::filesystem::path& path);

// A file that is removed if a signal ends the program while this object exists.
class RemovedOnStop {
 public:
  explicit RemovedOnStop(std::string path);
  ~RemovedOnStop();
  RemovedOnStop(const RemovedOnStop&) = delete;
  RemovedOnStop& operator=(const RemovedOnStop&) = delete;

  // For the handler of the signals. Calls only what a signal handler may call.
  static void remove_all();

 private:
  std::string path_;
};

// Whether new files can be written in the folder. Leaves no file behind.
[[nodiscard]] bool can_write_in(const std::filesystem::path& folder);

// Removes temporary files that processes of this machine left in the folder when they were killed.
void remove_unfinished_files(const std::filesystem::path& folder);

}  // namespace espalier
