#include "sims/synthesis/liberty_file.h"

#include <fmt/format.h>

#include <cctype>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <string_view>
#include <vector>

namespace espalier {

namespace {

// A group: `cell (NAND2) { area : 1; ... }`. A simple attribute has a value and no members.
struct Item {
  std::string name;
  std::string value;  // of an attribute, or the argument of a group
  std::vector<Item> members;
  bool is_group = false;
};

class LibertyParser {
 public:
  LibertyParser(std::string path, std::string text)
      : path_(std::move(path)), text_(std::move(text)) {}

  Item library() {
    Item top = item();
    if (!top.is_group || top.name != "library") refuse("expected: library (NAME) { ... }");
    return top;
  }

 private:
  [[noreturn]] void refuse(const std::string& what) const {
    throw std::runtime_error(fmt::format("{}:{}: {}", path_, line_, what));
  }

  char peek() {
    skip();
    return at_ < text_.size() ? text_[at_] : '\0';
  }
  void skip() {
    while (at_ < text_.size()) {
      const std::string_view rest = std::string_view(text_).substr(at_);
      if (rest.substr(0, 2) == "/*") {
        const std::size_t end = text_.find("*/", at_ + 2);
        if (end == std::string::npos) refuse("a comment that does not end");
        step_to(end + 2);
      } else if (rest.substr(0, 2) == "//") {
        step_to(std::min(text_.find('\n', at_), text_.size()));
      } else if (std::isspace(static_cast<unsigned char>(text_[at_])) != 0 || text_[at_] == '\\') {
        step_to(at_ + 1);
      } else {
        return;
      }
    }
  }
  void step_to(std::size_t end) {
    for (; at_ < end; ++at_) line_ += text_[at_] == '\n' ? 1 : 0;
  }
  void expect(char wanted) {
    const char found = peek();
    if (found != wanted) {
      refuse(found == '\0' ? fmt::format("the file ends; expected '{}'", wanted)
                           : fmt::format("found '{}'; expected '{}'", found, wanted));
    }
    step_to(at_ + 1);
  }

  std::string word() {
    std::string word;
    if (peek() == '"') {
      const std::size_t end = text_.find('"', at_ + 1);
      if (end == std::string::npos) refuse("a text that does not end");
      word = text_.substr(at_ + 1, end - at_ - 1);
      step_to(end + 1);
      return word;
    }
    constexpr std::string_view kEnds = "(){}:;,\"";
    while (at_ < text_.size() && kEnds.find(text_[at_]) == std::string_view::npos &&
           std::isspace(static_cast<unsigned char>(text_[at_])) == 0) {
      word += text_[at_];
      step_to(at_ + 1);
    }
    return word;
  }

  std::string arguments() {
    std::string first;
    bool any = false;
    expect('(');
    while (peek() != ')') {
      if (peek() == ',' || peek() == ':') {
        step_to(at_ + 1);
        continue;
      }
      const std::string one = word();
      if (one.empty()) refuse(fmt::format("found '{}' in a list", peek()));
      if (!any) first = one;
      any = true;
    }
    expect(')');
    return first;
  }

  Item item() {
    if (++depth_ > kDeepest) refuse("groups are nested too deep");
    Item item;
    item.name = word();
    if (item.name.empty()) {
      refuse(peek() == '\0' ? std::string("the file ends; expected a group or an attribute")
                            : fmt::format("found '{}'; expected a group or an attribute", peek()));
    }
    if (peek() == ':') {
      step_to(at_ + 1);
      item.value = word();
      while (peek() != ';' && peek() != '}' && peek() != '\0') {  // an expression
        if (word().empty()) step_to(at_ + 1);
      }
      if (peek() == ';') step_to(at_ + 1);
      --depth_;
      return item;
    }
    item.value = arguments();
    if (peek() == '{') {
      item.is_group = true;
      step_to(at_ + 1);
      while (peek() != '}') {
        if (peek() == ';') {
          step_to(at_ + 1);
          continue;
        }
        item.members.push_back(this->item());
      }
      expect('}');
    }
    if (peek() == ';') step_to(at_ + 1);
    --depth_;
    return item;
  }

  static constexpr int kDeepest = 32;
  std::string path_;
  std::string text_;
  std::size_t at_ = 0;
  int line_ = 1;
  int depth_ = 0;
};

// Evaluates a pin's function. Precedence: ! and ', ^, & (also * and a blank), + (also |).
class Function {
 public:
  Function(std::string_view text, const std::vector<std::string>& inputs, std::uint32_t values)
      : text_(text), inputs_(inputs), values_(values) {}

  // Empty if the text is not a function of the inputs.
  std::optional<bool> value() {
    const bool result = either();
    blanks();
    if (!good_ || at_ != text_.size()) return std::nullopt;
    return result;
  }

 private:
  void blanks() {
    while (at_ < text_.size() && text_[at_] == ' ') ++at_;
  }
  char next() {
    blanks();
    return at_ < text_.size() ? text_[at_] : '\0';
  }
  bool either() {
    bool result = both();
    while (next() == '+' || next() == '|') {
      ++at_;
      const bool right = both();
      result = result || right;
    }
    return result;
  }
  bool both() {
    bool result = differ();
    while (good_) {
      const char c = next();
      if (c == '&' || c == '*')
        ++at_;
      else if (c == '\0' || c == ')' || c == '+' || c == '|')
        break;
      const bool right = differ();
      result = result && right;
    }
    return result;
  }
  bool differ() {
    bool result = factor();
    while (next() == '^') {
      ++at_;
      const bool right = factor();
      result = result != right;
    }
    return result;
  }
  bool factor() {
    const char c = next();
    bool result = false;
    if (c == '!') {
      ++at_;
      return !factor();
    }
    if (c == '(') {
      ++at_;
      result = either();
      if (next() != ')') good_ = false;
      ++at_;
    } else {
      result = input();
    }
    while (next() == '\'') {
      ++at_;
      result = !result;
    }
    return result;
  }
  bool input() {
    std::string name;
    while (at_ < text_.size() && (std::isalnum(static_cast<unsigned char>(text_[at_])) != 0 ||
                                  text_[at_] == '_' || text_[at_] == '[' || text_[at_] == ']')) {
      name += text_[at_++];
    }
    for (std::size_t i = 0; i < inputs_.size(); ++i) {
      if (inputs_[i] == name) return ((values_ >> i) & 1U) != 0;
    }
    good_ = false;
    return false;
  }

  std::string_view text_;
  const std::vector<std::string>& inputs_;
  std::uint32_t values_;
  std::size_t at_ = 0;
  bool good_ = true;
};

const std::string* attribute(const Item& group, std::string_view name) {
  for (const Item& member : group.members) {
    if (!member.is_group && member.name == name) return &member.value;
  }
  return nullptr;
}
double number(const std::string* text) {
  return text == nullptr ? 0 : std::strtod(text->c_str(), nullptr);
}

// The truth table of a cell with one output of at most two inputs, as bits; 0 if it is another
// cell.
struct SmallCell {
  std::size_t inputs = 0;
  std::uint32_t truth = 0;
};
SmallCell small_cell(const Item& cell) {
  std::vector<std::string> inputs;
  const std::string* function = nullptr;
  std::size_t outputs = 0;
  for (const Item& pin : cell.members) {
    if (pin.name == "ff" || pin.name == "latch" || pin.name == "statetable") return {};
    if (pin.name != "pin" || !pin.is_group) continue;
    const std::string* direction = attribute(pin, "direction");
    if (direction != nullptr && *direction == "input") inputs.push_back(pin.value);
    if (direction == nullptr || *direction != "output") continue;
    ++outputs;
    function = attribute(pin, "function");
  }
  if (outputs != 1 || function == nullptr || inputs.empty() || inputs.size() > 2) return {};
  SmallCell small{inputs.size(), 0};
  for (std::uint32_t v = 0; v < (1U << inputs.size()); ++v) {
    const std::optional<bool> value = Function(*function, inputs, v).value();
    if (!value) return {};
    if (*value) small.truth |= 1U << v;
  }
  return small;
}

bool is_flip_flop(const Item& cell) {
  for (const Item& member : cell.members) {
    if (member.name == "ff" && member.is_group) return true;
  }
  return false;
}

bool has_timing(const Item& cell) {
  for (const Item& pin : cell.members) {
    for (const Item& member : pin.members) {
      if (member.name == "timing" && member.is_group && !member.members.empty()) return true;
    }
  }
  return false;
}

// nW of one unit of leakage: "1nW", "1pW", "10uW".
double leakage_unit(const Item& library) {
  const std::string* unit = attribute(library, "leakage_power_unit");
  if (unit == nullptr) return 1;
  char* rest = nullptr;
  const double count = std::strtod(unit->c_str(), &rest);
  const double size = *rest == 'p' ? 1e-3 : *rest == 'u' ? 1e3 : *rest == 'm' ? 1e6 : 1;
  return (count == 0 ? 1 : count) * size;
}

// Of its own, or the mean over the cell's states; empty: the file states none.
std::optional<double> leakage_of_cell(const Item& cell) {
  const std::string* own = attribute(cell, "cell_leakage_power");
  if (own != nullptr) return number(own);
  double sum = 0;
  std::size_t states = 0;
  for (const Item& member : cell.members) {
    if (member.name != "leakage_power" || !member.is_group) continue;
    sum += number(attribute(member, "value"));
    ++states;
  }
  if (states == 0) return std::nullopt;
  return sum / static_cast<double>(states);
}

}  // namespace

LibertyFile read_liberty(const std::string& path) {
  namespace fs = std::filesystem;
  std::ifstream in(path);
  if (!in || !fs::is_regular_file(path)) {
    throw std::runtime_error(fmt::format("{}: cannot read the Liberty file", path));
  }
  const Item library = LibertyParser(path, {std::istreambuf_iterator<char>(in), {}}).library();
  LibertyFile file;
  file.path = fs::absolute(path).string();
  file.name = library.value;
  const double unit = leakage_unit(library);
  bool inverter = false;
  bool buffer = false;
  bool flip_flop = false;
  for (const Item& cell : library.members) {
    if (cell.name != "cell" || !cell.is_group) continue;
    const double area = number(attribute(cell, "area"));
    const SmallCell small = small_cell(cell);
    const bool is_nand2 = small.inputs == 2 && small.truth == 0b0111;
    if (is_nand2 && area > 0 && (file.nand2_area == 0 || area < file.nand2_area)) {
      file.nand2_area = area;
    }
    inverter = inverter || (small.inputs == 1 && small.truth == 0b01 && area > 0);
    buffer = buffer || (small.inputs == 1 && small.truth == 0b10 && area > 0);
    flip_flop = flip_flop || (is_flip_flop(cell) && area > 0);
    file.has_timing = file.has_timing || has_timing(cell);
    if (const auto leakage = leakage_of_cell(cell)) file.leakage_nw[cell.value] = unit * *leakage;
  }
  const auto need = [&](bool there, const char* what) {
    if (there) return;
    throw std::runtime_error(
        fmt::format("{}: the library {} has no {} with an area; synthesis needs a NAND2, an "
                    "inverter, a buffer and a D flip-flop",
                    path, file.name, what));
  };
  need(file.nand2_area > 0, "NAND2");
  need(inverter, "inverter");
  need(buffer, "buffer");
  need(flip_flop, "flip-flop");
  return file;
}

}  // namespace espalier
