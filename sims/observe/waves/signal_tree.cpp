#include "sims/observe/waves/signal_tree.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <stdexcept>

namespace espalier {

namespace {

// FST readers store a scope's name in a buffer of this size.
constexpr std::size_t kLongestName = 511;

bool is_identifier(const std::string& name) {
  return !name.empty() && name.size() <= kLongestName &&
         std::all_of(name.begin(), name.end(),
                     [](unsigned char c) { return std::isalnum(c) != 0 || c == '_'; });
}

bool is_path(const std::string& path) {
  for (std::size_t begin = 0; begin <= path.size();) {
    const std::size_t end = std::min(path.find('.', begin), path.size());
    if (!is_identifier(path.substr(begin, end - begin))) return false;
    begin = end + 1;
  }
  return true;
}

std::string before_last_dot(const std::string& path) {
  const std::size_t dot = path.rfind('.');
  return dot == std::string::npos ? std::string() : path.substr(0, dot);
}

std::string after_last_dot(const std::string& path) { return path.substr(path.rfind('.') + 1); }

void check(const EnumText& texts) {
  if (!is_identifier(texts.name)) {
    throw std::invalid_argument(fmt::format("\"{}\" cannot name texts for values", texts.name));
  }
  for (const std::string& text : texts.texts) {
    const bool fits = !text.empty() && std::none_of(text.begin(), text.end(), [](unsigned char c) {
      return std::iscntrl(c) != 0;
    });
    if (fits) continue;
    throw std::invalid_argument(fmt::format("a text of {} is empty or not one line", texts.name));
  }
}

}  // namespace

SignalTree::SignalTree() : scopes_(1) { scope_of_path_.emplace("", 0); }

SignalId SignalTree::add(const std::string& path, unsigned bits, const EnumText* texts) {
  const auto refuse = [&](const std::string& reason) {
    throw std::invalid_argument(fmt::format("signal {}: {}", path, reason));
  };
  if (bits < 1 || bits > kMostBits) refuse(fmt::format("has 1 to 64 bits, not {}", bits));
  if (scope_of_path_.count(path) != 0) refuse("is the name of a scope");
  if (signal_paths_.count(path) != 0) refuse("is defined twice");
  if (!is_path(path)) refuse("must be made of identifiers with dots between them");
  if (texts != nullptr) {
    check(*texts);
    if (bits < kMostBits && texts->texts.size() > (std::size_t{1} << bits)) {
      refuse(fmt::format("has {} bits for {} texts", bits, texts->texts.size()));
    }
  }
  Scope& place = scopes_[scope(before_last_dot(path))];
  const SignalId id(signals_.size());
  place.signals.push_back(id);
  signals_.push_back({after_last_dot(path), bits, texts == nullptr ? nullptr : keep(*texts)});
  signal_paths_.insert(path);
  return id;
}

void SignalTree::describe_scope(const std::string& path, const std::string& component) {
  components_[path] = component;
}

std::size_t SignalTree::scope(const std::string& path) {
  const auto found = scope_of_path_.find(path);
  if (found != scope_of_path_.end()) return found->second;
  if (signal_paths_.count(path) != 0) {
    throw std::invalid_argument(fmt::format("signal {}: is the name of a scope", path));
  }
  const std::size_t outer = scope(before_last_dot(path));
  const std::size_t number = scopes_.size();
  scopes_[outer].scopes.push_back(number);
  scopes_.push_back({after_last_dot(path), path, {}, {}});
  scope_of_path_.emplace(path, number);
  return number;
}

const EnumText* SignalTree::keep(const EnumText& texts) {
  const EnumText& kept = texts_.emplace(texts.name, texts).first->second;
  if (kept.texts == texts.texts) return &kept;
  throw std::invalid_argument(
      fmt::format("{} is the name of two different lists of texts", texts.name));
}

void SignalTree::write_header(WaveFormat& format, int timescale) const {
  format.begin_header(timescale, signals_.size());
  write_scope(format, scopes_.front());
  format.end_header();
}

void SignalTree::write_scope(WaveFormat& format, const Scope& scope) const {
  for (const SignalId id : scope.signals) format.declare(id, signals_[id.index()]);
  for (const std::size_t number : scope.scopes) {
    const Scope& inner = scopes_[number];
    const auto component = components_.find(inner.path);
    format.open_scope(inner.name, component == components_.end() ? "" : component->second);
    write_scope(format, inner);
    format.close_scope();
  }
}

}  // namespace espalier
