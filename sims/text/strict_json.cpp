#include "sims/text/strict_json.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <vector>

namespace espalier {

namespace {

using Json = nlohmann::ordered_json;
constexpr std::size_t kDeepest = 64;  // limits recursion in code that walks the result

std::string escaped(const std::string& key) {
  std::string result;
  for (const char c : key) {
    if (c == '~') {
      result += "~0";
    } else if (c == '/') {
      result += "~1";
    } else {
      result += c;
    }
  }
  return result;
}

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
      throw JsonError(fmt::format("{}/{}: the key is given twice", pointer(), escaped(name)));
    }
    key_ = std::move(name);
    return true;
  }
  bool parse_error(std::size_t /*position*/, const std::string& /*token*/,
                   const nlohmann::detail::exception& error) override {
    // The library's text begins with the name and number of the error in brackets, which are cut
    // off.
    const std::string what = error.what();
    const auto end = what.find("] ");
    throw JsonError("not JSON: " + (end == std::string::npos ? what : what.substr(end + 2)));
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
    if (open_.size() == kDeepest) throw JsonError(fmt::format("{}: nested too deeply", pointer()));
    names_.push_back(key_);
    open_.push_back(place(std::move(value)));
    return true;
  }
  bool close() {
    open_.pop_back();
    names_.pop_back();
    return true;
  }
  [[nodiscard]] std::string pointer() const {
    std::string result;
    for (std::size_t depth = 1; depth < open_.size(); ++depth) {
      const Json& parent = *open_[depth - 1];
      result += '/';
      result += parent.is_array() ? std::to_string(parent.size() - 1) : escaped(names_[depth]);
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

std::string JsonCursor::pointer() const {
  std::vector<std::string> steps;
  for (const JsonCursor* c = this; c->parent_ != nullptr; c = c->parent_) {
    steps.push_back(c->name_ != nullptr ? escaped(c->name_) : std::to_string(c->index_));
  }
  std::string result;
  for (auto step = steps.rbegin(); step != steps.rend(); ++step) result += "/" + *step;
  return result.empty() ? "top level" : result;
}

void JsonCursor::fail(const std::string& why) const {
  throw JsonError(fmt::format("{}: {}", pointer(), why));
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
