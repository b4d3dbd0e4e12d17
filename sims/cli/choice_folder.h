// The folder in which the processes of a command share what `algorithm: auto` has decided.
#pragma once

#include <string>
#include <vector>

#include "sims/cli/input.h"

namespace espalier {

class ChoiceFolder {
 public:
  // `given`: the folder that the user names, which stays. Empty: a temporary folder, if several
  // points of `inputs` run auto; it ends with this object.
  ChoiceFolder(const std::string& given, const std::vector<Input>& inputs);
  ~ChoiceFolder();
  ChoiceFolder(const ChoiceFolder&) = delete;
  ChoiceFolder& operator=(const ChoiceFolder&) = delete;

  // Empty if there is none.
  [[nodiscard]] const std::string& path() const { return path_; }
  // Why the folder that the user names cannot be used; empty if it can.
  [[nodiscard]] const std::string& mistake() const { return mistake_; }

 private:
  std::string path_;
  std::string mistake_;
  bool is_temporary_ = false;
};

}  // namespace espalier
