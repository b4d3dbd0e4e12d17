// The tree of scopes and signals, built from the signals' full names.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "sims/observe/waves/wave_format.h"

namespace espalier {

inline constexpr unsigned kMostBits = 64;  // of one signal

class SignalTree {
 public:
  SignalTree();

  // As in WaveRecorder.
  SignalId add(const std::string& path, unsigned bits, const EnumText* texts);
  void describe_scope(const std::string& path, const std::string& component);

  void write_header(WaveFormat& format, int timescale) const;

 private:
  struct Scope {
    std::string name;
    std::string path;
    std::vector<std::size_t> scopes;
    std::vector<SignalId> signals;
  };

  // Creates the scope and its outer scopes if they do not exist.
  std::size_t scope(const std::string& path);
  const EnumText* keep(const EnumText& texts);
  void write_scope(WaveFormat& format, const Scope& scope) const;

  std::vector<Scope> scopes_;  // the first one contains all others and has no name
  std::unordered_map<std::string, std::size_t> scope_of_path_;
  std::unordered_set<std::string> signal_paths_;
  std::vector<WaveSignal> signals_;
  std::map<std::string, EnumText> texts_;          // by name
  std::map<std::string, std::string> components_;  // by the scope's path
};

}  // namespace espalier
