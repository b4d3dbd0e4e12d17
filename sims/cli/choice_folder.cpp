#include "sims/cli/choice_folder.h"

#include <fmt/format.h>
#include <stdlib.h>

#include <filesystem>
#include <system_error>

#include "sims/text/whole_file.h"

namespace espalier {

namespace {

namespace fs = std::filesystem;

std::size_t points_with_auto(const std::vector<Input>& inputs) {
  std::size_t count = 0;
  for (const Input& input : inputs) {
    for (const RunPoint& point : input.points) {
      if (!input.tables && point.collective && point.collective->algorithm == kAutoAlgorithm) {
        ++count;
      }
    }
  }
  return count;
}

}  // namespace

ChoiceFolder::ChoiceFolder(const std::string& given, const std::vector<Input>& inputs) {
  std::error_code error;
  if (!given.empty()) {
    path_ = fs::absolute(given, error).string();
    if (!error) fs::create_directories(path_, error);
    if (error || !can_write_in(path_)) {
      mistake_ = fmt::format("--choices {}: error: no files can be written in this folder", given);
    }
    return;
  }
  if (points_with_auto(inputs) < 2) return;
  std::string name = (fs::temp_directory_path(error) / "espalier-choices-XXXXXX").string();
  // Without the folder, every process decides for itself.
  if (error || mkdtemp(name.data()) == nullptr) return;
  path_ = std::move(name);
  is_temporary_ = true;
}

ChoiceFolder::~ChoiceFolder() {
  std::error_code ignored;
  if (is_temporary_) fs::remove_all(path_, ignored);
}

}  // namespace espalier
