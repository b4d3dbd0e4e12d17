// A folder for files that nobody needs later.
#pragma once

#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <system_error>

namespace espalier {

// A new empty folder. The destructor removes it with all that is in it.
class WorkFolder {
 public:
  WorkFolder() {
    const std::filesystem::path above = std::filesystem::temp_directory_path();
    remove_left_ones(above);
    std::string name = (above / (kName + std::to_string(getpid()) + "-XXXXXX")).string();
    if (mkdtemp(name.data()) == nullptr) {
      throw std::system_error(errno, std::generic_category(), name);
    }
    path_ = name;
  }
  ~WorkFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  WorkFolder(const WorkFolder&) = delete;
  WorkFolder& operator=(const WorkFolder&) = delete;

  [[nodiscard]] const std::filesystem::path& path() const { return path_; }
  [[nodiscard]] std::string file(const std::string& name) const { return (path_ / name).string(); }

 private:
  inline static const std::string kName = "espalier-";

  // Removes the folders of processes that were killed.
  static void remove_left_ones(const std::filesystem::path& above) {
    std::error_code error;
    for (const auto& entry : std::filesystem::directory_iterator(above, error)) {
      const std::string name = entry.path().filename().string();
      if (name.rfind(kName, 0) != 0) continue;
      const int process = std::atoi(name.c_str() + kName.size());
      if (process <= 0 || kill(process, 0) == 0 || errno != ESRCH) continue;
      std::error_code ignored;
      std::filesystem::remove_all(entry.path(), ignored);
    }
  }

  std::filesystem::path path_;
};

}  // namespace espalier
