// The folder in which the processes of a command share what `algorithm: auto` has decided.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "sims/cli/input.h"
#include "sims/process/work_folder.h"
#include "sims/text/utf8.h"
#include "sims/text/whole_file.h"

namespace espalier {

class AutoFolder {
 public:
  // `given`: the folder that the user names, which stays. Empty: a temporary folder, if several
  // points of `inputs` run auto; it ends with this object.
  AutoFolder(const std::string& given, const std::vector<Input>& inputs) : path_(given) {
    const auto runs_auto = [](const PointRef& ref) {
      return !ref.input->tables && ref.point->collective &&
             ref.point->collective->algorithm == kAutoAlgorithm;
    };
    const std::vector<PointRef> points = all_points(inputs);
    std::error_code error;
    if (!given.empty()) {
      std::filesystem::create_directories(path_, error);
      if (!error && can_write_in(path_)) return;
      mistake_ = fmt::format("--choices {}: error: no files can be written in this folder", given);
    } else if (std::count_if(points.begin(), points.end(), runs_auto) > 1) {
      path_ = temporary_.emplace().path().string();
      if (!is_utf8(path_)) mistake_ = fmt::format("TMPDIR {}: error: it is not UTF-8", path_);
    }
  }

  // Empty if there is none.
  [[nodiscard]] const std::string& path() const { return path_; }
  // Why the folder that the user names cannot be used; empty if it can.
  [[nodiscard]] const std::string& mistake() const { return mistake_; }

 private:
  std::optional<WorkFolder> temporary_;
  std::string path_;
  std::string mistake_;
};

}  // namespace espalier
