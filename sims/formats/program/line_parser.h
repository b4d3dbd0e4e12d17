// Reads one line of a text file word by word. The first wrong word is reported together with the
// expected word; the rest of the line is not read: answers are then the least number or the first
// name, and nothing more is reported.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sims/text/config_node.h"
#include "sims/text/values.h"

namespace espalier {

// Words are separated by blanks; '=', '+' and ':' are words by themselves; '#' begins a comment.
class LineParser {
 public:
  LineParser(std::string_view line, const Place& line_start, Diagnostics& diagnostics);

  // The form of the line, for hints.
  void set_form(std::string form) { form_ = std::move(form); }

  [[nodiscard]] bool at_end() const { return next_ == words_.size(); }
  [[nodiscard]] bool failed() const { return failed_; }
  // Returns an empty text at the end of the line.
  [[nodiscard]] const std::string& peek() const;
  [[nodiscard]] Place place() const;  // of the next word, or after the last one

  bool accept(const std::string& word);  // takes the next word if it is `word`
  void expect(const std::string& word);  // takes the next word, which must be `word`
  bool expect_end();  // the line must be at its end; returns whether all of it was right
  // Reads an integer from min to max; `what` is its name in errors.
  std::uint32_t number(const std::string& what, std::uint32_t min, std::uint32_t max);
  // Reads an integer, or a size with a unit ("64KiB").
  std::uint64_t bytes(const std::string& what);
  // Reads one of `names`; returns its index.
  std::size_t index_of(const std::string& what, const std::vector<std::string>& names);
  // Reads one of `choices` by its name.
  template <class Choice>
  Choice choice(const std::string& what, std::initializer_list<Choice> choices) {
    std::vector<std::string> names;
    for (const Choice value : choices) names.emplace_back(to_string(value));
    return choices.begin()[index_of(what, names)];
  }
  // The line from the next word on, with its blanks and without a comment.
  std::string rest();
  // Takes the next word. Reports an error at the end of the line.
  ConfigNode word(const std::string& what);

  void error(const Place& place, std::string message, std::string hint = {});

 private:
  std::uint64_t value(const std::string& what, const ValueShape& shape);

  Diagnostics& diagnostics_;
  std::string line_;  // without its comment
  Place start_;
  std::vector<ConfigNode> words_;
  std::size_t next_ = 0;
  std::string form_;
  bool failed_ = false;
};

}  // namespace espalier
