// One line of a text file of ours, word by word. The first word that is wrong is reported, with
// what was expected; nothing after it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sims/text/config_node.h"

namespace espalier {

// Words are separated by blanks; '=', '+' and ':' are words by themselves; '#' begins a comment.
class LineParser {
 public:
  LineParser(std::string_view line, const Place& line_start, Diagnostics& diagnostics);

  // What the line should look like, for hints.
  void set_form(std::string form) { form_ = std::move(form); }

  [[nodiscard]] bool at_end() const { return next_ == words_.size(); }
  [[nodiscard]] bool failed() const { return failed_; }
  // Empty at the end.
  [[nodiscard]] const std::string& peek() const;
  [[nodiscard]] Place place() const;  // of the next word, or behind the last one

  // Takes the next word, if it is this one. No error where it is not.
  bool accept(const std::string& word);
  // It must be this one.
  bool expect(const std::string& word);
  // Nothing may follow.
  bool expect_end();
  // An integer from min to max; `what` names it.
  std::optional<std::uint32_t> number(const std::string& what, std::uint32_t min,
                                      std::uint32_t max);
  // An integer, or with a unit, "64KiB".
  std::optional<std::uint64_t> bytes(const std::string& what);
  template <class Choice>
  std::optional<Choice> choice(const std::string& what,
                               const std::vector<std::pair<const char*, Choice>>& choices) {
    std::vector<std::string> names;
    names.reserve(choices.size());
    for (const auto& [name, chosen] : choices) names.emplace_back(name);
    const auto index = index_of(what, names);
    if (!index) return std::nullopt;
    return choices[*index].second;
  }
  // The line from the next word on, as it stands there, without a comment.
  std::string rest();
  // The next word, whatever it is; nothing at the end.
  std::optional<ConfigNode> word(const std::string& what);

  void error(const Place& place, std::string message, std::string hint = {});

 private:
  std::optional<std::size_t> index_of(const std::string& what,
                                      const std::vector<std::string>& names);
  bool missing(const std::string& what);

  Diagnostics& diagnostics_;
  std::string line_;  // without its comment
  Place start_;
  std::vector<ConfigNode> words_;
  std::size_t next_ = 0;
  std::string form_;
  bool failed_ = false;
};

}  // namespace espalier
