#include "sims/text/values.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <limits>

#include "sims/text/nearest_name.h"
#include "sims/text/strict_map.h"
#include "sims/text/utf8.h"

namespace espalier {

namespace {

constexpr std::size_t kMostDims = 3;

bool all_digits(const std::string& text) {
  return !text.empty() &&
         std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
}

bool is_one_of(const std::string& text, const std::vector<std::string>& words) {
  return std::find(words.begin(), words.end(), text) != words.end();
}

bool has_ending(const std::string& text, const std::vector<std::string>& endings) {
  return std::any_of(endings.begin(), endings.end(), [&](const std::string& end) {
    return text.size() > end.size() && text.compare(text.size() - end.size(), end.size(), end) == 0;
  });
}

std::string without(std::string text, char unwanted) {
  text.erase(std::remove(text.begin(), text.end(), unwanted), text.end());
  return text;
}

std::string format_bound(std::uint64_t number, ValueType type) {
  const auto quantity = quantity_of(type);
  return quantity ? format_quantity(*quantity, number) : fmt::format("{}", number);
}

std::string range_of(const ValueShape& shape) {
  if (shape.type == ValueType::fraction) {
    return fmt::format("{}{} to {}{}", format_fraction(shape.min_fraction),
                       shape.min_excluded ? " (excluded)" : "", format_fraction(shape.max_fraction),
                       shape.max_excluded ? " (excluded)" : "");
  }
  if (shape.max == std::numeric_limits<std::uint64_t>::max()) {
    return fmt::format("{} to 2^64 - 1", format_bound(shape.min, shape.type));
  }
  return fmt::format("{} to {}", format_bound(shape.min, shape.type),
                     format_bound(shape.max, shape.type));
}

// Parses one value and keeps the data that every error message needs.
class ValueParser {
 public:
  ValueParser(const ConfigNode& node, const std::string& key, const ValueShape& shape,
              Diagnostics& diagnostics)
      : node_(node), key_(key), shape_(shape), diagnostics_(diagnostics) {}

  std::optional<Value> parse() {
    if (shape_.list != ListOf::nothing) return parse_list();
    if (shape_.type == ValueType::record) return parse_mapping();
    if (node_.kind == ConfigNode::Kind::list) {
      return fail("expected one value, found a list", describe(shape_));
    }
    if (node_.kind == ConfigNode::Kind::map) {
      return fail("expected a value, found a section of keys", describe(shape_));
    }
    if (node_.kind == ConfigNode::Kind::null) return fail("has no value", describe(shape_));
    if (shape_.type == ValueType::name) return parse_name();
    if (shape_.type == ValueType::text || shape_.type == ValueType::vertex ||
        shape_.type == ValueType::label || shape_.type == ValueType::part) {
      return parse_text();
    }
    if (!shape_.zero_word.empty() && node_.text == shape_.zero_word) {
      return number_value(shape_.word_number);
    }
    if (const auto quantity = quantity_of(shape_.type)) return parse_with_unit(*quantity);
    if (shape_.is_node && !node_.text.empty() && !all_digits(node_.text) && node_.text[0] != '-') {
      return parse_text();
    }
    if (node_.quoted) {
      return fail(fmt::format("expected a value without quotes, found the text '{}'", node_.text),
                  "remove the quotes");
    }
    if (shape_.type == ValueType::boolean) return parse_boolean();
    if (shape_.type == ValueType::fraction) return parse_fraction();
    return parse_integer();
  }

 private:
  std::nullopt_t fail(const std::string& message, const std::string& hint) {
    diagnostics_.error(node_.place, fmt::format("{}: {}", key_, message), hint);
    return std::nullopt;
  }

  std::optional<Value> parse_name() {
    const auto found = std::find(shape_.names.begin(), shape_.names.end(), node_.text);
    if (found == shape_.names.end() && has_ending(node_.text, shape_.file_endings)) {
      auto file = parse_text();
      if (file) file->number = shape_.file_name;
      return file;
    }
    if (found == shape_.names.end() && !node_.text.empty() && node_.text == shape_.missing[0]) {
      return fail(fmt::format("'{}' {}", node_.text, shape_.missing[1]), shape_.missing[2]);
    }
    if (found == shape_.names.end()) {
      const bool is_file = !shape_.file_key.empty() && node_.text.find('.') != std::string::npos;
      return fail(fmt::format("'{}' is not a valid name for this key", node_.text),
                  is_file ? fmt::format("a file is given by {}: {}", shape_.file_key, node_.text)
                          : name_hint(node_.text, shape_.names));
    }
    return number_value(static_cast<std::uint64_t>(found - shape_.names.begin()));
  }

  std::optional<Value> parse_text() {
    if (node_.text.empty()) return fail("is empty", describe(shape_));
    if (!is_plain_text(node_.text)) {
      return fail("contains a control character", describe(shape_));
    }
    Value value;
    value.text = node_.text;
    return value;
  }

  std::optional<Value> parse_boolean() {
    const std::string& text = node_.text;
    if (text == "true" || text == "false") return number_value(text == "true" ? 1 : 0);
    static const std::vector<std::string> yes{"yes", "Yes", "YES",  "y",    "Y", "on",
                                              "On",  "ON",  "True", "TRUE", "1"};
    static const std::vector<std::string> no{"no",  "No",  "NO",    "n",     "N", "off",
                                             "Off", "OFF", "False", "FALSE", "0"};
    return fail(fmt::format("'{}' is not true or false", text), is_one_of(text, yes) ? "write true"
                                                                : is_one_of(text, no)
                                                                    ? "write false"
                                                                    : "write true or false");
  }

  std::optional<Value> parse_integer() {
    const std::string& text = node_.text;
    if (!all_digits(text) || (text.size() > 1 && text[0] == '0')) {
      const auto [message, hint] = what_is_wrong_with_integer(text);
      return fail(message, hint);
    }
    Value value;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value.number);
    if (error != std::errc() || end != text.data() + text.size()) {
      return fail(fmt::format("{} is out of range", text), describe(shape_));
    }
    return in_range(std::move(value));
  }

  std::pair<std::string, std::string> what_is_wrong_with_integer(const std::string& text) const {
    if (all_digits(text)) {
      const std::size_t first = std::min(text.find_first_not_of('0'), text.size() - 1);
      return {fmt::format("'{}' has a leading zero, which some readers take for octal", text),
              fmt::format("write {}", text.substr(first))};
    }
    if (text.size() > 1 && text[0] == '-' && all_digits(text.substr(1))) {
      return {fmt::format("{} is out of range", text), describe(shape_)};
    }
    if (all_digits(without(text, '_'))) {
      return {fmt::format("'{}' is not an integer: no digit separators", text),
              fmt::format("write {}", without(text, '_'))};
    }
    const std::size_t e = text.find_first_of("eE");
    if (e != std::string::npos && all_digits(text.substr(0, e)) && all_digits(text.substr(e + 1)) &&
        text.size() - e <= 2) {
      const auto zeros = static_cast<std::size_t>(text[e + 1] - '0');
      return {fmt::format("'{}' is not an integer: no exponents", text),
              fmt::format("write {}", text.substr(0, e) + std::string(zeros, '0'))};
    }
    const ParsedQuantity as_size = parse_quantity(Quantity::size, text);
    const bool in_bytes = key_.size() > 6 && key_.compare(key_.size() - 6, 6, "_bytes") == 0;
    if (as_size.value && in_bytes) {
      return {fmt::format("'{}' is not an integer: the unit is in the key's name", text),
              fmt::format("write {}", *as_size.value)};
    }
    return {fmt::format("'{}' is not an integer", text), describe(shape_)};
  }

  std::optional<Value> parse_fraction() {
    const std::string& text = node_.text;
    const std::size_t point = std::min(text.find('.'), text.size());
    const std::string whole = text.substr(0, point);
    const bool plain = all_digits(whole) && (whole.size() == 1 || whole[0] != '0') &&
                       (point == text.size() || all_digits(text.substr(point + 1)));
    Value value;
    const auto [end, error] =
        std::from_chars(text.data(), text.data() + text.size(), value.fraction);
    if (!plain || end != text.data() + text.size() || error == std::errc::invalid_argument) {
      const bool negative = text.size() > 1 && text[0] == '-' && text[1] >= '0' && text[1] <= '9';
      return fail(negative ? fmt::format("{} is out of range", text)
                           : fmt::format("'{}' is not a plain decimal number such as 0.25", text),
                  describe(shape_));
    }
    const bool too_small = shape_.min_excluded ? value.fraction <= shape_.min_fraction
                                               : value.fraction < shape_.min_fraction;
    const bool too_large = shape_.max_excluded ? value.fraction >= shape_.max_fraction
                                               : value.fraction > shape_.max_fraction;
    if (too_small || too_large || error != std::errc()) {
      return fail(fmt::format("{} is out of range", text), describe(shape_));
    }
    return value;
  }

  std::optional<Value> parse_with_unit(Quantity quantity) {
    const ParsedQuantity parsed = parse_quantity(quantity, node_.text);
    if (!parsed.value) {
      const std::string word_hint =
          shape_.zero_word.empty() ? "" : fmt::format("; or the word '{}'", shape_.zero_word);
      return fail(parsed.error, parsed.hint + word_hint);
    }
    return in_range(number_value(*parsed.value));
  }

  std::optional<Value> in_range(Value value) {
    if (value.number >= shape_.min && value.number <= shape_.max) return value;
    return fail(fmt::format("{} is out of range", node_.text), describe(shape_));
  }

  std::optional<Value> parse_list() {
    if (node_.kind == ConfigNode::Kind::scalar && !shape_.zero_word.empty() &&
        node_.text == shape_.zero_word) {
      return Value{};
    }
    if (node_.kind == ConfigNode::Kind::null && shape_.list != ListOf::grid) {
      return fail("has no value", describe(shape_));
    }
    if (node_.kind != ConfigNode::Kind::list) return fail_no_list();
    if (const std::string problem = wrong_length(); !problem.empty()) {
      return fail(problem, describe(shape_));
    }
    Value value;
    const ValueShape each = entry_shape(shape_);
    bool good = true;
    for (ConfigNode item : node_.items) {
      if (item.kind == ConfigNode::Kind::null) item.place = node_.place;
      if (each.type == ValueType::record) {
        const auto record = parse_record(item, each);
        good = good && record;
        if (record) value.records.push_back(*record);
        continue;
      }
      const auto parsed = parse_value(item, key_, each, diagnostics_);
      good = good && parsed;
      if (!parsed) continue;
      if (each.type == ValueType::part || each.type == ValueType::vertex) {
        value.texts.push_back(parsed->text);
      } else {
        value.items.push_back(parsed->number);
        if (each.is_node) value.texts.push_back(parsed->text);
      }
    }
    if (!good) return std::nullopt;
    return value;
  }

  std::nullopt_t fail_no_list() {
    if (shape_.list == ListOf::grid) {
      const bool number = node_.kind == ConfigNode::Kind::scalar && all_digits(node_.text);
      return fail("expected a list of sizes",
                  number ? fmt::format("write [{}]", node_.text) : "for example [8, 8]");
    }
    const bool scalar = node_.kind == ConfigNode::Kind::scalar;
    if (shape_.list == ListOf::per_dimension) {
      return fail("expected a list with one value for each dimension",
                  scalar ? fmt::format("write [{0}], or [{0}, {0}] for two", node_.text)
                         : describe(shape_));
    }
    if (shape_.type == ValueType::record) {
      return fail("expected a list of mappings", describe(shape_));
    }
    return fail("expected a list",
                scalar ? fmt::format("write [{}]", node_.text) : describe(shape_));
  }

  // Returns an empty string if the length is right.
  [[nodiscard]] std::string wrong_length() const {
    const std::size_t length = node_.items.size();
    if (shape_.list == ListOf::grid) {
      if (length != 0 && length <= kMostDims) return {};
      return fmt::format("has {} dimensions", length);
    }
    if (shape_.list == ListOf::per_dimension) {
      if (length != 0 && length <= kMostDimensions) return {};
      return fmt::format("has {} entries; a system has 1 to {} dimensions", length,
                         kMostDimensions);
    }
    if (length == 0) return "the list is empty";
    if (length <= kMostListed) return {};
    return fmt::format("has {} entries, more than {}", length, kMostListed);
  }

  std::optional<std::vector<Value>> parse_record(const ConfigNode& item, const ValueShape& shape) {
    const std::size_t errors_before = diagnostics_.num_errors();
    const ValueShape& first = shape.fields.front().shape;
    if (item.kind == ConfigNode::Kind::list && first.list != ListOf::nothing) {
      auto parsed = parse_value(item, key_, first, diagnostics_);
      if (!parsed) return std::nullopt;
      std::vector<Value> values(shape.fields.size());
      values.front() = std::move(*parsed);
      return values;
    }
    std::vector<std::string> names;
    for (const ValueField& field : shape.fields) names.push_back(field.name);
    const StrictMap map(item, key_, names, diagnostics_);
    std::vector<Value> values;
    for (const ValueField& field : shape.fields) {
      Value& value = values.emplace_back();
      if (field.required) static_cast<void>(map.require(field.name, describe(field.shape)));
      const ConfigNode* given = map.find(field.name);
      if (given == nullptr) continue;
      ConfigNode node = *given;
      node.place = map.place_of(field.name);
      const auto parsed =
          parse_value(node, fmt::format("{}.{}", key_, field.name), field.shape, diagnostics_);
      if (parsed) value = *parsed;
    }
    if (diagnostics_.num_errors() != errors_before) return std::nullopt;
    return values;
  }

  std::optional<Value> parse_mapping() {
    Value value;
    if (node_.kind == ConfigNode::Kind::scalar && node_.text == shape_.zero_word) return value;
    const std::size_t errors_before = diagnostics_.num_errors();
    std::vector<Value> fields(shape_.fields.size());
    parse_group(node_, "", fields);
    if (diagnostics_.num_errors() != errors_before) return std::nullopt;
    const bool is_given = std::any_of(fields.begin(), fields.end(),
                                      [](const Value& field) { return !(field == Value{}); });
    if (is_given) value.records.push_back(std::move(fields));
    return value;
  }

  void parse_group(const ConfigNode& node, const std::string& group, std::vector<Value>& fields) {
    const std::string name = group.empty() ? key_ : key_ + "." + group;
    for (std::size_t f = 0; f < fields.size(); ++f) {
      if (shape_.fields[f].name != group) continue;
      fields[f] = parse_value(node, name, shape_.fields[f].shape, diagnostics_).value_or(Value{});
      return;
    }
    const std::vector<std::string> parts = names_in_group(shape_.fields, group);
    const StrictMap map(node, name, parts, diagnostics_);
    for (const std::string& part : parts) {
      const ConfigNode* given = map.find(part);
      if (given == nullptr) continue;
      ConfigNode placed = *given;
      placed.place = map.place_of(part);
      parse_group(placed, group.empty() ? part : group + "." + part, fields);
    }
  }

  const ConfigNode& node_;
  const std::string& key_;
  const ValueShape& shape_;
  Diagnostics& diagnostics_;
};

// In the order of ValueType.
constexpr std::array<const char*, 14> kTypeNames{
    "name",           "text",
    "true or false",  "integer",
    "decimal number", "a node's number or a vertex's name",
    "a line of text", "node N, switch S, link A-B (both ways) or link A->B",
    "mapping",        "size",
    "time",           "bandwidth",
    "frequency",      "length"};

const char* type_name(ValueType type) { return kTypeNames.at(static_cast<std::size_t>(type)); }

}  // namespace

std::optional<Quantity> quantity_of(ValueType type) {
  if (type < ValueType::size) return std::nullopt;
  constexpr std::array kQuantities{Quantity::size, Quantity::time, Quantity::rate,
                                   Quantity::frequency, Quantity::length};
  return kQuantities.at(static_cast<std::size_t>(type) - static_cast<std::size_t>(ValueType::size));
}

bool operator==(const Value& a, const Value& b) {
  return std::tie(a.number, a.fraction, a.text, a.items, a.texts, a.records) ==
         std::tie(b.number, b.fraction, b.text, b.items, b.texts, b.records);
}

bool is_word(const Value& value, const ValueShape& shape) {
  if (shape.zero_word.empty()) return false;
  if (shape.list != ListOf::nothing) {
    return value.items.empty() && value.texts.empty() && value.records.empty();
  }
  if (shape.type == ValueType::record) return value.records.empty();
  if (shape.type == ValueType::fraction) return value.fraction == 0;
  if (shape.type == ValueType::text) return value.text == shape.zero_word;
  return value.number == shape.word_number;
}

bool is_path(const std::string& text, const ValueShape& shape) {
  if (is_one_of(text, shape.names)) return false;
  if (shape.type == ValueType::name) return has_ending(text, shape.file_endings);
  return shape.type == ValueType::text && !text.empty() && text != shape.zero_word;
}

std::vector<std::string> names_in_group(const std::vector<ValueField>& fields,
                                        const std::string& group) {
  const std::string prefix = group.empty() ? "" : group + ".";
  std::vector<std::string> names;
  for (const ValueField& field : fields) {
    if (field.name.compare(0, prefix.size(), prefix) != 0) continue;
    const std::string rest = field.name.substr(prefix.size());
    std::string name = rest.substr(0, rest.find('.'));
    if (!is_one_of(name, names)) names.push_back(std::move(name));
  }
  return names;
}

std::optional<Value> parse_value(const ConfigNode& node, const std::string& key,
                                 const ValueShape& shape, Diagnostics& diagnostics) {
  return ValueParser(node, key, shape, diagnostics).parse();
}

std::string format_fraction(double value) {
  std::array<char, 512> buffer{};
  const auto [end, error] =
      std::to_chars(buffer.data(), buffer.data() + buffer.size(), value, std::chars_format::fixed);
  return error == std::errc() ? std::string(buffer.data(), end) : std::string("0");
}

ValueShape range_shape(std::uint64_t min, std::uint64_t max, ValueType type) {
  ValueShape shape;
  shape.type = type;
  shape.min = min;
  shape.max = max;
  return shape;
}

ValueShape entry_shape(const ValueShape& list) {
  ValueShape entry = list;
  entry.list = ListOf::nothing;
  if (list.list == ListOf::any_number) entry.zero_word.clear();
  return entry;
}

namespace {

std::string format_record(const std::vector<Value>& record, const ValueShape& shape) {
  std::vector<std::string> given;
  for (std::size_t f = 0; f < record.size(); ++f) {
    const ValueField& field = shape.fields[f];
    if (!field.required && record[f] == Value{}) continue;
    given.push_back(fmt::format("{}: {}", field.name, format_value(record[f], field.shape)));
  }
  return fmt::format("{{{}}}", fmt::join(given, ", "));
}

std::string describe_record(const ValueShape& shape) {
  std::vector<std::string> fields;
  for (const ValueField& field : shape.fields) {
    fields.push_back(fmt::format("{}: {}{}", field.name, describe(field.shape),
                                 field.required ? "" : ", optional"));
  }
  return fmt::format("{{{}}}", fmt::join(fields, "; "));
}

}  // namespace

std::vector<std::string> format_items(const Value& value, const ValueShape& shape) {
  const ValueShape each = entry_shape(shape);
  std::vector<std::string> texts;
  for (std::size_t i = 0; i < value.items.size(); ++i) {
    const bool is_named = i < value.texts.size() && !value.texts[i].empty();
    texts.push_back(is_named ? value.texts[i] : format_value(number_value(value.items[i]), each));
  }
  if (!each.is_node) texts.insert(texts.end(), value.texts.begin(), value.texts.end());
  for (const std::vector<Value>& record : value.records) {
    texts.push_back(format_record(record, each));
  }
  return texts;
}

std::string format_value(const Value& value, const ValueShape& shape) {
  // A node that is named has no number before the network is known.
  if (shape.is_node && shape.list == ListOf::nothing && !value.text.empty()) return value.text;
  if (shape.list != ListOf::nothing) {
    if (is_word(value, shape)) return shape.zero_word;
    return fmt::format("[{}]", fmt::join(format_items(value, shape), ", "));
  }
  switch (shape.type) {
    case ValueType::name:
      return value.text.empty() ? shape.names.at(value.number) : value.text;
    case ValueType::text:
    case ValueType::vertex:
    case ValueType::label:
    case ValueType::part:
      return value.text;
    case ValueType::boolean:
      return value.number != 0 ? "true" : "false";
    case ValueType::fraction:
      return is_word(value, shape) ? shape.zero_word : format_fraction(value.fraction);
    default:
      break;
  }
  if (is_word(value, shape)) return shape.zero_word;
  if (shape.type == ValueType::record) return format_record(value.records.front(), shape);
  return format_bound(value.number, shape.type);
}

std::string describe(const ValueShape& shape) {
  if (shape.list == ListOf::grid) {
    return fmt::format("list of 1 to {} integers, {}", kMostDims, range_of(shape));
  }
  if (shape.list == ListOf::per_dimension) {
    return "list with one entry for each dimension: " + describe(entry_shape(shape));
  }
  if (shape.list == ListOf::any_number) {
    const std::string list = fmt::format("list of {}", describe(entry_shape(shape)));
    return shape.zero_word.empty() ? list : fmt::format("{}, or {}", list, shape.zero_word);
  }
  switch (shape.type) {
    case ValueType::name: {
      std::string names = fmt::format("one of {}", fmt::join(shape.names, ", "));
      if (!shape.all_word.empty()) names += fmt::format("; or {}", shape.all_word);
      if (!shape.file_endings.empty()) {
        names += fmt::format("; or a file that ends in {}", fmt::join(shape.file_endings, " or "));
      }
      return names;
    }
    case ValueType::text:
      return shape.zero_word.empty() ? "a file's path"
                                     : fmt::format("{}, {}, or a file's path", shape.zero_word,
                                                   fmt::join(shape.names, ", "));
    case ValueType::record:
      if (shape.zero_word.empty()) return describe_record(shape);
      return fmt::format("mapping of {}, or {}", fmt::join(names_in_group(shape.fields, ""), ", "),
                         shape.zero_word);
    case ValueType::vertex:
    case ValueType::label:
    case ValueType::part:
    case ValueType::boolean:
      return type_name(shape.type);
    default:
      break;
  }
  if (shape.is_node) return "a node's number or name";
  const std::string word = shape.zero_word.empty() ? "" : fmt::format(", or {}", shape.zero_word);
  return fmt::format("{}, {}{}", type_name(shape.type), range_of(shape), word);
}

}  // namespace espalier
