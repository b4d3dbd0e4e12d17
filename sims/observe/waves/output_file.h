// A file that is written through a buffer, and says why where it cannot.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace espalier {

// "run.vcd: cannot be written: No space left on device"
[[noreturn]] void throw_unwritable(const std::string& path, int error_number);

class OutputFile {
 public:
  // All three throw std::runtime_error with path and reason.
  explicit OutputFile(std::string path);
  void append(std::string_view text);
  void close();

  // Writes what is left, and is silent where that fails.
  ~OutputFile();
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;

  // Room for at least `bytes`, at most kLargestPiece. What was put there is added by used().
  [[nodiscard]] char* room(std::size_t bytes) {
    if (buffer_.size() - filled_ < bytes) flush();
    return buffer_.data() + filled_;
  }
  void used(std::size_t bytes) { filled_ += bytes; }

  static constexpr std::size_t kLargestPiece = 4096;

 private:
  void flush();
  // Zero, or what went wrong.
  [[nodiscard]] int write_out();

  std::string path_;
  int file_;
  std::vector<char> buffer_;
  std::size_t filled_ = 0;
};

}  // namespace espalier
