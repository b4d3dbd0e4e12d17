// Strict JSON for files that people edit. Ambiguous input is an error, and every error names its
// place.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "sims/text/diagnostics.h"

namespace espalier {

// what() names the value by its JSON pointer. Callers catch it where they have the whole text.
class JsonError : public std::runtime_error {
 public:
  using Pointer = std::vector<std::string>;
  // The value at `pointer`; of equal keys the last one.
  JsonError(Pointer pointer, const std::string& why);
  // The character at `byte` is no JSON.
  JsonError(std::size_t byte, const std::string& why) : std::runtime_error(why), byte_(byte) {}

  // In the text that was parsed; its source is 0, and columns count characters, as editors do.
  [[nodiscard]] Place place(const std::string& text) const;

 private:
  Pointer pointer_;
  std::optional<std::size_t> byte_;
};

// Throws JsonError on a syntax error, on a duplicate key in an object, and on nesting deeper than
// any of our files.
[[nodiscard]] nlohmann::ordered_json parse_strict_json(const std::string& text);

// The places of all objects, in the order in which they begin. Precondition: `text` is JSON.
[[nodiscard]] std::vector<Place> object_places(const std::string& text);

// The text of the top level's member `name`, with blanks for all that stands in front of it, so
// that errors in it have places of the file. YAML can read it: there is no tab between values.
// Precondition: `text` is strict JSON with that member.
[[nodiscard]] std::string member_at_its_place(const std::string& text, const std::string& name);

// A value and its place. A place is a chain of parents and becomes text only for an error. A child
// must not outlive its parent.
class JsonCursor {
 public:
  explicit JsonCursor(const nlohmann::ordered_json& root) : json_(root) {}
  JsonCursor(const JsonCursor&) = delete;
  JsonCursor& operator=(const JsonCursor&) = delete;

  [[noreturn]] void fail(const std::string& why) const;

  void expect_object() const;
  // Throws if this is not an object, lacks a required key, or has a key that is neither required
  // nor optional.
  void expect_keys(std::initializer_list<const char*> required,
                   std::initializer_list<const char*> optional = {}) const;
  void expect_key(const char* name) const;  // for a key on which the set of other keys depends
  [[nodiscard]] bool has(const char* key) const;
  [[nodiscard]] JsonCursor key(const char* name) const;  // precondition: expect_keys
  [[nodiscard]] JsonCursor at(std::size_t index) const;  // precondition: expect_array
  std::size_t expect_array() const;                      // returns its length
  // Calls visit(item) for each item. Throws if this is not an array.
  template <class Visit>
  void for_each(const Visit& visit) const {
    const std::size_t count = expect_array();
    for (std::size_t i = 0; i < count; ++i) visit(at(i));
  }
  [[nodiscard]] std::uint64_t integer(std::uint64_t least, std::uint64_t most) const;
  [[nodiscard]] const std::string& text() const;
  [[nodiscard]] bool boolean() const;

  [[nodiscard]] const nlohmann::ordered_json& value() const { return json_; }
  [[nodiscard]] bool is_null() const;
  [[nodiscard]] bool is_object() const;

 private:
  JsonCursor(const nlohmann::ordered_json& json, const JsonCursor& parent, const char* name,
             std::size_t index)
      : json_(json), parent_(&parent), name_(name), index_(index) {}
  const nlohmann::ordered_json& json_;
  const JsonCursor* parent_ = nullptr;
  const char* name_ = nullptr;  // nullptr: an array element, at index_
  std::size_t index_ = 0;
};

}  // namespace espalier
