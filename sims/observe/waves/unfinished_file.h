// The name under which a long file is written: run.vcd is run.unfinished.vcd until it is complete.
// So a run that fails or is killed leaves an older run.vcd as it was.
#pragma once

#include <string>

namespace espalier {

class UnfinishedFile {
 public:
  // Devices, pipes and folders are opened under their own names.
  explicit UnfinishedFile(std::string target);
  // A file that is not finished takes its name only if no other file has the name.
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
  bool is_finished_ = false;
};

}  // namespace espalier
