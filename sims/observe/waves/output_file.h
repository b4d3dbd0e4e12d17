// A buffered output file whose errors carry path and reason.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sims/text/whole_file.h"

namespace espalier {

// The name under which a long file is written: run.vcd is run.unfinished.vcd until it is complete.
// So a run that fails or is killed leaves an older run.vcd as it was, and a run that is stopped
// leaves neither.
class UnfinishedFile {
 public:
  // Devices, pipes and folders are opened under their own names.
  explicit UnfinishedFile(std::string target);
  // A file that is not finished takes its name only if it has contents and no other file has the
  // name.
  ~UnfinishedFile();
  UnfinishedFile(const UnfinishedFile&) = delete;
  UnfinishedFile& operator=(const UnfinishedFile&) = delete;

  [[nodiscard]] const std::string& target() const { return target_; }
  // The file to be written.
  [[nodiscard]] const std::string& name() const { return name_; }
  // To be called when the file is complete and closed. Returns 0 or an errno.
  [[nodiscard]] int finish();

 private:
  std::string target_;
  std::string name_;
  std::optional<RemovedOnStop> removed_;
  bool is_finished_ = false;
};

// E.g. "run.vcd: cannot be written: No space left on device".
[[noreturn]] void throw_unwritable(const std::string& path, int error_number);

class OutputFile {
 public:
  // The constructor, append() and close() throw std::runtime_error with path and reason.
  explicit OutputFile(std::string path);
  void append(std::string_view text);
  void close();

  // Writes the rest of the buffer and ignores errors. A file that was not closed replaces no other.
  ~OutputFile();
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;

  // Returns room for at least `bytes`, which is at most kLargestPiece. used() then adds the bytes
  // that were written there.
  [[nodiscard]] char* room(std::size_t bytes) {
    if (buffer_.size() - filled_ < bytes) flush();
    return buffer_.data() + filled_;
  }
  void used(std::size_t bytes) { filled_ += bytes; }

  static constexpr std::size_t kLargestPiece = 4096;

 private:
  void flush();
  // Returns 0 or an errno.
  [[nodiscard]] int write_out();

  UnfinishedFile name_;
  int file_;
  std::vector<char> buffer_;
  std::size_t filled_ = 0;
};

}  // namespace espalier
