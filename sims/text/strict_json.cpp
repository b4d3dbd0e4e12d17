#include "sims/text/strict_json.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <nlohmann/json.hpp>

#include "sims/text/utf8.h"

namespace espalier {

namespace {

using Json = nlohmann::ordered_json;
constexpr std::size_t kDeepest = 64;  // limits recursion in code that walks the result

std::string text_of(const JsonError::Pointer& pointer) {
  std::string text;
  for (const std::string& step : pointer) {
    text += '/';
    for (const char c : step) text += c == '~' ? "~0" : c == '/' ? "~1" : std::string(1, c);
  }
  return text.empty() ? "top level" : text;
}

std::size_t begin_of(const std::string& text) {
  return text.compare(0, kByteOrderMark.size(), kByteOrderMark) == 0 ? kByteOrderMark.size() : 0;
}

// Finds values in text whose beginning is JSON.
class JsonScanner {
 public:
  explicit JsonScanner(const std::string& text) : text_(text) {
    at_ = begin_of(text);
    skip_space();
  }

  [[nodiscard]] std::size_t at() const { return at_; }
  // Goes to a member of the object or array that begins here: the last one of this name. Returns
  // false if there is none.
  bool enter(const std::string& step) {
    const std::size_t begin = at_;
    const bool is_object = here() == '{';
    std::optional<std::size_t> found;
    std::size_t index = 0;
    do {
      ++at_;
      skip_space();
      std::string name = std::to_string(index++);
      if (is_object) {
        const std::size_t key = at_;
        skip_value();
        const Json decoded = Json::parse(text_.substr(key, at_ - key), nullptr, false);
        if (decoded.is_string()) name = decoded.get<std::string>();
        skip_space();
        ++at_;  // the colon
        skip_space();
      }
      if (name == step) found = at_;
      skip_value();
      skip_space();
    } while (here() == ',');
    at_ = found.value_or(begin);
    return found.has_value();
  }

  void skip_value() {
    std::size_t depth = 0;
    do {
      const char c = here();
      if (c == '"') {
        for (++at_; here() != '"' && at_ < text_.size(); ++at_) at_ += here() == '\\' ? 1U : 0U;
      } else if (c == '{' || c == '[') {
        ++depth;
      } else if ((c == '}' || c == ']') && depth > 0) {
        --depth;
      } else if (depth == 0) {  // a number or a word
        at_ = std::min(text_.find_first_of(",]} \t\r\n", at_), text_.size());
        return;
      }
      ++at_;
    } while (depth > 0 && at_ < text_.size());
  }

 private:
  [[nodiscard]] char here() const { return at_ < text_.size() ? text_[at_] : '\0'; }
  void skip_space() {
    while (here() != '\0' && std::strchr(" \t\r\n", here()) != nullptr) ++at_;
  }

  const std::string& text_;
  std::size_t at_ = 0;
};

// Builds the document while it is parsed. The library's own builder would accept equal keys and
// keep the last one.
class StrictBuilder : public nlohmann::json_sax<Json> {
 public:
  [[nodiscard]] Json take() { return std::move(root_); }

  bool null() override { return add(nullptr); }
  bool boolean(bool value) override { return add(value); }
  bool number_integer(number_integer_t value) override { return add(value); }
  bool number_unsigned(number_unsigned_t value) override { return add(value); }
  bool number_float(number_float_t value, const string_t& /*text*/) override { return add(value); }
  bool string(string_t& value) override { return add(std::move(value)); }
  bool binary(binary_t& /*value*/) override { return false; }  // does not occur in text
  bool start_object(std::size_t /*size*/) override { return open(Json::object()); }
  bool start_array(std::size_t /*size*/) override { return open(Json::array()); }
  bool end_object() override { return close(); }
  bool end_array() override { return close(); }
  bool key(string_t& name) override {
    if (open_.back()->contains(name)) {
      JsonError::Pointer where = pointer();
      where.push_back(name);
      throw JsonError(std::move(where), "the key is given twice");
    }
    key_ = std::move(name);
    return true;
  }
  bool parse_error(std::size_t position, const std::string& /*token*/,
                   const nlohmann::detail::exception& error) override {
    // Of the library's text "[json.exception...] parse error at line 1, column 2: syntax error
    // while parsing value - unexpected ']'" the end says what is wrong.
    const std::string what = error.what();
    const auto end = what.rfind(" - ");
    const auto name = what.find("] ");
    throw JsonError(position == 0 ? 0 : position - 1,
                    "not JSON: " + what.substr(end != std::string::npos    ? end + 3
                                               : name != std::string::npos ? name + 2
                                                                           : 0));
  }

 private:
  template <class Value>
  Json* place(Value&& value) {
    if (open_.empty()) {
      root_ = std::forward<Value>(value);
      return &root_;
    }
    if (open_.back()->is_array()) {
      open_.back()->push_back(std::forward<Value>(value));
      return &open_.back()->back();
    }
    Json& child = (*open_.back())[key_];
    child = std::forward<Value>(value);
    return &child;
  }
  template <class Value>
  bool add(Value&& value) {
    place(Json(std::forward<Value>(value)));
    return true;
  }
  bool open(Json value) {
    if (open_.size() == kDeepest) throw JsonError(pointer(), "nested too deeply");
    names_.push_back(key_);
    open_.push_back(place(std::move(value)));
    return true;
  }
  bool close() {
    open_.pop_back();
    names_.pop_back();
    return true;
  }
  [[nodiscard]] JsonError::Pointer pointer() const {
    JsonError::Pointer result;
    for (std::size_t depth = 1; depth < open_.size(); ++depth) {
      const Json& parent = *open_[depth - 1];
      result.push_back(parent.is_array() ? std::to_string(parent.size() - 1) : names_[depth]);
    }
    return result;
  }

  Json root_;
  // Values are appended only to the innermost open value, so the pointers to open values stay
  // valid.
  std::vector<Json*> open_;
  std::vector<std::string> names_;  // key of each open value
  std::string key_;
};

}  // namespace

Json parse_strict_json(const std::string& text) {
  StrictBuilder builder;
  Json::sax_parse(text, &builder);
  return builder.take();
}

std::vector<Place> object_places(const std::string& text) {
  std::vector<Place> places;
  std::uint32_t line = 1;
  std::size_t begin = begin_of(text);
  bool in_text = false;
  for (std::size_t at = begin; at < text.size(); ++at) {
    const char c = text[at];
    if (c == '"') in_text = !in_text;
    if (c == '\\') ++at;
    if (c == '\n') {
      ++line;
      begin = at + 1;
    }
    if (c == '{' && !in_text) {
      places.push_back({0, line, static_cast<std::uint32_t>(at - begin + 1)});
    }
  }
  return places;
}

std::string member_at_its_place(const std::string& text, const std::string& name) {
  JsonScanner scanner(text);
  scanner.enter(name);
  const std::size_t begin = scanner.at();
  scanner.skip_value();
  std::string member = text.substr(0, scanner.at());
  bool in_text = false;
  for (std::size_t at = 0; at < member.size(); ++at) {
    char& c = member[at];
    if (at < begin || (c == '\t' && !in_text)) {
      if (c != '\n') c = ' ';
    } else if (c == '"') {
      in_text = !in_text;
    } else if (c == '\\') {
      ++at;
    }
  }
  return member;
}

JsonError::JsonError(Pointer pointer, const std::string& why)
    : std::runtime_error(fmt::format("{}: {}", text_of(pointer), why)),
      pointer_(std::move(pointer)) {}

Place JsonError::place(const std::string& text) const {
  std::size_t at = byte_.value_or(0);
  if (!byte_) {
    JsonScanner scanner(text);
    for (const std::string& step : pointer_) {
      if (!scanner.enter(step)) break;
    }
    at = scanner.at();
  }
  at = std::min(at, text.size());
  const auto is_begin = [](char c) { return (static_cast<unsigned char>(c) & 0xc0U) != 0x80; };
  const auto lines = std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(at), '\n');
  const std::size_t before = at == 0 ? std::string::npos : text.rfind('\n', at - 1);
  const std::size_t line = before == std::string::npos ? begin_of(text) : before + 1;
  at = std::max(at, line);
  const auto column = std::count_if(text.begin() + static_cast<std::ptrdiff_t>(line),
                                    text.begin() + static_cast<std::ptrdiff_t>(at), is_begin);
  return {0, static_cast<std::uint32_t>(lines + 1), static_cast<std::uint32_t>(column + 1)};
}

void JsonCursor::fail(const std::string& why) const {
  JsonError::Pointer pointer;
  for (const JsonCursor* c = this; c->parent_ != nullptr; c = c->parent_) {
    pointer.push_back(c->name_ != nullptr ? c->name_ : std::to_string(c->index_));
  }
  std::reverse(pointer.begin(), pointer.end());
  throw JsonError(std::move(pointer), why);
}

void JsonCursor::expect_object() const {
  if (!json_.is_object()) fail(fmt::format("expected an object, not {}", json_.type_name()));
}

void JsonCursor::expect_key(const char* name) const {
  expect_object();
  if (!json_.contains(name)) fail(fmt::format("key \"{}\" is missing", name));
}

void JsonCursor::expect_keys(std::initializer_list<const char*> required,
                             std::initializer_list<const char*> optional) const {
  expect_object();
  const auto is = [](const std::string& name) {
    return [&](const char* key) { return name == key; };
  };
  for (const auto& item : json_.items()) {
    if (std::none_of(required.begin(), required.end(), is(item.key())) &&
        std::none_of(optional.begin(), optional.end(), is(item.key()))) {
      fail(fmt::format("unknown key \"{}\"", item.key()));
    }
  }
  for (const char* name : required) expect_key(name);
}

bool JsonCursor::has(const char* key) const { return json_.contains(key); }

bool JsonCursor::is_null() const { return json_.is_null(); }

bool JsonCursor::is_object() const { return json_.is_object(); }

JsonCursor JsonCursor::key(const char* name) const { return {json_.at(name), *this, name, 0}; }

JsonCursor JsonCursor::at(std::size_t index) const {
  return {json_.at(index), *this, nullptr, index};
}

std::size_t JsonCursor::expect_array() const {
  if (!json_.is_array()) fail(fmt::format("expected an array, not {}", json_.type_name()));
  return json_.size();
}

std::uint64_t JsonCursor::integer(std::uint64_t least, std::uint64_t most) const {
  if (!json_.is_number_integer()) {
    fail(fmt::format("expected an integer, not {}",
                     json_.is_number() ? json_.dump() : std::string(json_.type_name())));
  }
  const bool negative = !json_.is_number_unsigned() && json_.get<std::int64_t>() < 0;
  const auto value = negative ? 0 : json_.get<std::uint64_t>();
  if (negative || value < least || value > most) {
    fail(fmt::format("{} is not between {} and {}", json_.dump(), least, most));
  }
  return value;
}

const std::string& JsonCursor::text() const {
  if (!json_.is_string()) fail(fmt::format("expected a string, not {}", json_.type_name()));
  return json_.get_ref<const std::string&>();
}

bool JsonCursor::boolean() const {
  if (!json_.is_boolean()) fail(fmt::format("expected true or false, not {}", json_.type_name()));
  return json_.get<bool>();
}

}  // namespace espalier
