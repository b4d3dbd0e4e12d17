#include "sims/observe/waves/unfinished_file.h"

#include <filesystem>
#include <system_error>
#include <utility>

namespace espalier {

namespace fs = std::filesystem;

UnfinishedFile::UnfinishedFile(std::string target) : target_(std::move(target)), name_(target_) {
  std::error_code ignored;
  const fs::file_status status = fs::status(target_, ignored);
  if (fs::exists(status) && !fs::is_regular_file(status)) return;
  fs::path name(target_);
  name.replace_filename(name.stem().string() + ".unfinished" + name.extension().string());
  name_ = name.string();
}

UnfinishedFile::~UnfinishedFile() {
  if (is_finished_ || name_ == target_) return;
  std::error_code ignored;
  if (fs::exists(target_, ignored)) {
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

}  // namespace espalier
