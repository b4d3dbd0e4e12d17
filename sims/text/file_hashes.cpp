#include "sims/text/file_hashes.h"

#include <fmt/format.h>

#include <filesystem>

namespace espalier {

std::uint64_t hash_text(const std::string& text, std::uint64_t hash) {
  constexpr std::uint64_t kPrime = 1099511628211ULL;
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * kPrime;
  return hash;
}

std::vector<std::string> to_words(const FileHashes& files) {
  std::vector<std::string> words;
  for (const auto& [path, hash] : files) words.push_back(fmt::format("{:016x} {}", hash, path));
  return words;
}

namespace {
constexpr std::size_t kHashAndSpace = 17;
}  // namespace

std::string removed_file(const std::vector<std::string>& before, const FileHashes& now) {
  for (const std::string& word : before) {
    if (word.size() < kHashAndSpace) continue;
    const std::string path = word.substr(kHashAndSpace);
    if (now.count(path) == 0 && !std::filesystem::exists(path)) return path;
  }
  return {};
}

std::string changed_file(const std::vector<std::string>& before, const FileHashes& now) {
  for (const std::string& word : before) {
    if (word.size() < kHashAndSpace) continue;
    const auto found = now.find(word.substr(kHashAndSpace));
    if (found == now.end()) continue;
    if (word.compare(0, kHashAndSpace - 1, fmt::format("{:016x}", found->second)) != 0)
      return found->first;
  }
  return {};
}

std::string changed_file_error(const std::string& path) {
  return fmt::format(
      "{}: changed after the points were read and before this one was simulated; run the command "
      "again",
      path);
}

}  // namespace espalier
