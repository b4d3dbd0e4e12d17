#include "sims/text/yaml_loader.h"

#include <fmt/format.h>
#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/mark.h>
#include <yaml-cpp/parser.h>

#include <map>
#include <sstream>

#include "sims/text/utf8.h"

namespace espalier {

namespace {

constexpr std::size_t kDeepestNesting = 32;

// The position of the loader's text in its source: an override's value starts inside a line.
struct Origin {
  SourceIndex source = 0;
  std::uint32_t first_column = 1;

  // The YAML library counts from 0, and uses -1 for "nowhere".
  [[nodiscard]] Place place(const YAML::Mark& mark) const {
    if (mark.line < 0 || mark.column < 0) return {source, 1, first_column};
    return at(static_cast<std::size_t>(mark.line), static_cast<std::size_t>(mark.column));
  }
  [[nodiscard]] Place at(std::size_t line, std::size_t column) const {
    const std::size_t shift = line == 0 ? first_column : 1;
    return {source, static_cast<std::uint32_t>(line + 1),
            static_cast<std::uint32_t>(column + shift)};
  }
};

// Checks the bytes before parsing, because the library silently replaces broken characters and
// stops at control characters.
bool check_characters(const std::string& text, const Origin& origin, Diagnostics& diagnostics) {
  std::size_t line = 0;
  std::size_t line_begin = 0;
  bool in_indentation = true;
  bool good = true;
  for (std::size_t at = 0; at < text.size();) {
    const Place place = origin.at(line, at - line_begin);
    const char c = text[at];
    const std::size_t length = std::max<std::size_t>(utf8_length(text, at), 1);
    const bool ends_line = c == '\n' || (c == '\r' && at + 1 < text.size() && text[at + 1] == '\n');
    if (c == '\t' && in_indentation) {
      const std::size_t content = text.find_first_not_of(" \t\r", at);
      const bool blank =
          content == std::string::npos || text[content] == '\n' || text[content] == '#';
      if (!blank) {
        diagnostics.error(place, "a tab cannot indent YAML", "indent with spaces");
        good = false;
      }
      in_indentation = false;  // report tabs once per line
    } else if (!ends_line && first_unplain({text.data() + at, length}, "\t") != length) {
      report_unplain({text.data() + at, length}, place, diagnostics);
      return false;
    }
    if (c != ' ') in_indentation = false;
    at += length;
    if (c == '\n') {
      ++line;
      line_begin = at;
      in_indentation = true;
    }
  }
  return good;
}

// Ends the parse if it cannot continue. The error is already recorded.
struct Stop {};

class TreeBuilder final : public YAML::EventHandler {
 public:
  TreeBuilder(Origin origin, const std::string& text, Diagnostics& diagnostics)
      : origin_(origin), text_(text), diagnostics_(diagnostics) {}

  [[nodiscard]] ConfigNode take_root() { return std::move(root_); }

  void OnDocumentStart(const YAML::Mark& mark) override {
    if (++documents_ == 1) return;
    const bool marked =
        mark.pos >= 0 && text_.compare(static_cast<std::size_t>(mark.pos), 3, "---") == 0;
    diagnostics_.error(origin_.place(mark),
                       marked ? "a second YAML document starts here"
                              : "this text comes after the end of the document",
                       marked ? "a configuration is one document: use one file for each" : "");
    throw Stop{};
  }
  void OnDocumentEnd() override {}

  void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    refuse_anchor(mark, anchor);
    ConfigNode node;
    node.place = origin_.place(mark);
    finish(std::move(node));
  }

  void OnAlias(const YAML::Mark& mark, YAML::anchor_t /*anchor*/) override {
    diagnostics_.error(origin_.place(mark), "YAML aliases are not supported",
                       "write the value out in full");
    throw Stop{};
  }

  void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                const std::string& value) override {
    refuse_anchor(mark, anchor);
    refuse_tag(mark, tag);
    ConfigNode node;
    node.kind = ConfigNode::Kind::scalar;
    node.place = origin_.place(mark);
    node.text = value;
    node.quoted = tag == "!";
    finish(std::move(node));
  }

  void OnSequenceStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                       YAML::EmitterStyle::value /*style*/) override {
    begin(ConfigNode::Kind::list, mark, tag, anchor);
  }
  void OnSequenceEnd() override { end(); }

  void OnMapStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                  YAML::EmitterStyle::value /*style*/) override {
    begin(ConfigNode::Kind::map, mark, tag, anchor);
  }
  void OnMapEnd() override { end(); }

 private:
  struct PendingKey {
    std::string name;
    Place place;
    bool usable = true;
  };
  struct Frame {
    ConfigNode node;
    std::optional<PendingKey> key;  // map: the key has been read, its value has not
    std::map<std::string, Place> seen;
  };

  void refuse_anchor(const YAML::Mark& mark, YAML::anchor_t anchor) {
    if (anchor == 0) return;
    diagnostics_.error(origin_.place(mark), "YAML anchors are not supported",
                       "write the value out in full where it is needed");
    throw Stop{};
  }

  // The library passes "?" and "!" as tags of untagged plain and quoted values.
  void refuse_tag(const YAML::Mark& mark, const std::string& tag) {
    if (tag.empty() || tag == "?" || tag == "!") return;
    diagnostics_.error(origin_.place(mark), "YAML tags are not supported", "remove the '!...'");
  }

  void begin(ConfigNode::Kind kind, const YAML::Mark& mark, const std::string& tag,
             YAML::anchor_t anchor) {
    refuse_anchor(mark, anchor);
    refuse_tag(mark, tag);
    if (frames_.size() == kDeepestNesting) {
      diagnostics_.error(
          origin_.place(mark),
          fmt::format("the text is nested more than {} levels deep", kDeepestNesting));
      throw Stop{};
    }
    Frame frame;
    frame.node.kind = kind;
    frame.node.place = origin_.place(mark);
    frames_.push_back(std::move(frame));
  }

  void end() {
    ConfigNode node = std::move(frames_.back().node);
    frames_.pop_back();
    finish(std::move(node));
  }

  void finish(ConfigNode node) {
    if (frames_.empty()) {
      root_ = std::move(node);
      return;
    }
    Frame& frame = frames_.back();
    if (frame.node.kind == ConfigNode::Kind::list) {
      frame.node.items.push_back(std::move(node));
    } else if (!frame.key) {
      frame.key = make_key(frame, node);
    } else {
      if (frame.key->usable) {
        frame.node.entries.push_back({frame.key->name, frame.key->place, std::move(node)});
      }
      frame.key.reset();
    }
  }

  PendingKey make_key(Frame& frame, const ConfigNode& node) {
    PendingKey key{node.text, node.place, false};
    if (node.kind != ConfigNode::Kind::scalar) {
      diagnostics_.error(node.place, "a key must be a plain name");
    } else if (node.text == "<<" && !node.quoted) {
      diagnostics_.error(node.place, "YAML merge keys are not supported",
                         "write the keys out in full");
    } else if (const auto [first, is_new] = frame.seen.emplace(node.text, node.place); !is_new) {
      diagnostics_.error(node.place, fmt::format("'{}' is given twice", node.text),
                         fmt::format("the first is in line {}", first->second.line));
    } else {
      key.usable = true;
    }
    return key;
  }

  Origin origin_;
  const std::string& text_;
  Diagnostics& diagnostics_;
  std::size_t documents_ = 0;
  std::vector<Frame> frames_;
  ConfigNode root_;
};

std::string syntax_hint(const YAML::ParserException& problem, const std::string& text) {
  std::istringstream lines(text);
  std::string line;
  for (int i = 0; i <= problem.mark.line && std::getline(lines, line);) ++i;
  if (line.find('\t') != std::string::npos) return "the line contains a tab: use spaces";
  if (problem.msg == "illegal map value") {
    return "a key and its value stand on one line, 'key: value'; several in one line need braces, "
           "'{a: 1, b: 2}'";
  }
  if (problem.msg.find("end of map flow") != std::string::npos) return "a closing '}' is missing";
  if (problem.msg.find("end of sequence flow") != std::string::npos)
    return "a closing ']' is missing";
  if (problem.msg == "end of map not found" || problem.msg == "end of sequence not found") {
    return "check the indentation: keys of one section start in the same column";
  }
  return {};
}

std::optional<ConfigNode> parse(const std::string& text, const Origin& origin,
                                Diagnostics& diagnostics) {
  if (!check_characters(text, origin, diagnostics)) return std::nullopt;
  TreeBuilder builder(origin, text, diagnostics);
  try {
    std::istringstream stream(text);
    YAML::Parser parser(stream);
    while (parser.HandleNextDocument(builder)) {
    }
  } catch (const Stop&) {
    return std::nullopt;
  } catch (const YAML::ParserException& problem) {
    diagnostics.error(origin.place(problem.mark), "not valid YAML: " + problem.msg,
                      syntax_hint(problem, text));
    return std::nullopt;
  }
  return builder.take_root();
}

}  // namespace

std::optional<ConfigNode> load_yaml(const std::string& text, SourceIndex source,
                                    Diagnostics& diagnostics) {
  // A byte order mark does not count as a column.
  const bool marked = text.compare(0, kByteOrderMark.size(), kByteOrderMark) == 0;
  const Origin origin{source, 1};
  return parse(marked ? text.substr(kByteOrderMark.size()) : text, origin, diagnostics);
}

std::optional<ConfigNode> load_yaml_map(const std::string& text, SourceIndex source,
                                        const char* expected, const char* example,
                                        Diagnostics& diagnostics) {
  auto root = load_yaml(text, source, diagnostics);
  if (!root || root->kind == ConfigNode::Kind::map) return root;
  const bool is_empty = root->kind == ConfigNode::Kind::null;
  diagnostics.error({source, 1, 1}, is_empty ? "the file is empty" : expected, example);
  return std::nullopt;
}

std::optional<ConfigNode> load_override_value(const std::string& value, SourceIndex source,
                                              std::size_t offset, Diagnostics& diagnostics) {
  return parse(value, Origin{source, Diagnostics::override_column(offset)}, diagnostics);
}

}  // namespace espalier
