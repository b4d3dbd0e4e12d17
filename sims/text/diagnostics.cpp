#include "sims/text/diagnostics.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "sims/text/utf8.h"

namespace espalier {

namespace {

constexpr std::size_t kMostMessagesShown = 100;
const std::string kOverridePrefix = "-s ";

std::vector<std::string> split_lines(const std::string& text) {
  std::vector<std::string> lines;
  std::size_t begin = 0;
  while (begin <= text.size()) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    lines.push_back(text.substr(begin, end - begin));
    if (!lines.back().empty() && lines.back().back() == '\r') lines.back().pop_back();
    begin = end + 1;
  }
  return lines;
}

// Bytes shown of a line, and how many of them before the caret.
constexpr std::size_t kWidestExcerpt = 180;
constexpr std::size_t kBeforeCaret = 120;
// Bytes shown of a message or a hint.
constexpr std::size_t kLongestMessage = 2000;

struct Excerpt {
  std::string line;
  std::string padding;     // as wide as the text before the caret
  std::size_t column = 1;  // of the caret in the whole line, in characters
};

// The position of the first character that begins at or after byte `at`.
std::size_t character_from(const std::string& text, std::size_t at) {
  while (at < text.size() && (static_cast<unsigned char>(text[at]) & 0xc0U) == 0x80) ++at;
  return std::min(at, text.size());
}

// Cuts a window around the caret out of a long line.
Excerpt make_excerpt(const std::string& line, std::size_t caret_offset) {
  Excerpt excerpt;
  std::size_t begin = 0;
  std::size_t end = line.size();
  if (line.size() > kWidestExcerpt) {
    if (caret_offset > kBeforeCaret) {
      begin = std::min(caret_offset - kBeforeCaret, line.size() - kWidestExcerpt);
      begin = character_from(line, begin);
    }
    end = character_from(line, begin + kWidestExcerpt);
  }
  if (begin != 0) excerpt.padding = "   ";
  for (std::size_t at = 0; at < std::min(caret_offset, line.size());
       at += std::max<std::size_t>(utf8_length(line, at), 1)) {
    if (at >= begin) excerpt.padding += line[at] == '\t' ? '\t' : ' ';
    ++excerpt.column;
  }
  // A place past the end marks something that is missing there.
  if (caret_offset > line.size()) {
    excerpt.padding += ' ';
    ++excerpt.column;
  }
  excerpt.line =
      fmt::format("{}{}{}", begin != 0 ? "..." : "", printable(line.substr(begin, end - begin)),
                  end != line.size() ? "..." : "");
  return excerpt;
}

std::string clipped(const std::string& text, std::size_t most) {
  if (text.size() <= most) return printable(text);
  return printable(text.substr(0, character_from(text, most))) + "...";
}

}  // namespace

bool operator<(const Place& a, const Place& b) {
  return std::tie(a.source, a.line, a.column) < std::tie(b.source, b.line, b.column);
}

SourceIndex Diagnostics::add_file(const std::string& name, const std::string& text,
                                  bool is_written) {
  file_hashes_[name] = hash_text(text);
  sources_.push_back({printable(name), split_lines(is_written ? text : ""), false, is_written});
  return static_cast<SourceIndex>(sources_.size() - 1);
}

SourceIndex Diagnostics::add_override(const std::string& assignment) {
  const std::string line = kOverridePrefix + assignment;
  for (std::size_t i = 0; i < sources_.size(); ++i) {
    if (sources_[i].is_override && sources_[i].lines.front() == line)
      return static_cast<SourceIndex>(i);
  }
  sources_.push_back({clipped(line, kWidestExcerpt), {line}, true});
  return static_cast<SourceIndex>(sources_.size() - 1);
}

std::uint32_t Diagnostics::override_column(std::size_t offset) {
  return static_cast<std::uint32_t>(kOverridePrefix.size() + offset + 1);
}

Diagnostics Diagnostics::without_messages() const {
  Diagnostics same;
  same.sources_ = sources_;
  same.file_hashes_ = file_hashes_;
  return same;
}

// Finds or adds a source. A configuration that was tried may have read files that are new here.
SourceIndex Diagnostics::source_like(const Source& source, SourceIndex index) {
  const auto is_same = [&](const Source& other) {
    return other.name == source.name && other.lines == source.lines;
  };
  if (index < sources_.size() && is_same(sources_[index])) return index;
  const auto found = std::find_if(sources_.begin(), sources_.end(), is_same);
  if (found != sources_.end()) return static_cast<SourceIndex>(found - sources_.begin());
  sources_.push_back(source);
  return static_cast<SourceIndex>(sources_.size() - 1);
}

void Diagnostics::take(const Diagnostics& tried, const std::string& note) {
  for (Message message : tried.messages_) {
    message.place.source =
        source_like(tried.sources_.at(message.place.source), message.place.source);
    message.note = note;
    add(std::move(message));
  }
}

void Diagnostics::error(const Place& place, std::string message, std::string hint) {
  add({place, true, std::move(message), std::move(hint), {}});
}

void Diagnostics::warning(const Place& place, std::string message, std::string hint) {
  add({place, false, std::move(message), std::move(hint), {}});
}

std::vector<Diagnostics::Error> Diagnostics::errors() const {
  std::vector<Error> errors;
  for (const Message& message : messages_) {
    if (message.is_error) errors.push_back({message.place, message.text, message.hint});
  }
  return errors;
}

void Diagnostics::add(Message message) {
  message.text = clipped(message.text, kLongestMessage);
  message.hint = clipped(message.hint, kLongestMessage);
  message.note = clipped(message.note, kLongestMessage);
  if (!seen_.insert({message.place, message.text}).second) return;
  if (message.is_error) ++num_errors_;
  messages_.push_back(std::move(message));
}

std::string Diagnostics::render(const Message& message) const {
  const Source& source = sources_.at(message.place.source);
  const char* severity = message.is_error ? "error" : "warning";
  std::string out;
  if (message.place.line == 0 || !source.is_written) {
    out = fmt::format("{}: {}: {}\n", source.name, severity, message.text);
  } else {
    // The YAML parser puts the end of a file on a line of its own.
    const std::size_t line_index =
        std::min<std::size_t>(message.place.line, source.lines.size()) - 1;
    const std::string& line = source.lines[line_index];
    const std::size_t offset = std::min<std::size_t>(
        message.place.column == 0 ? 0 : message.place.column - 1, line.size() + 1);
    const Excerpt excerpt = make_excerpt(line, offset);
    const std::string where =
        source.is_override ? source.name
                           : fmt::format("{}:{}:{}", source.name, line_index + 1, excerpt.column);
    out = fmt::format("{}: {}: {}\n{}\n{}^\n", where, severity, message.text, excerpt.line,
                      excerpt.padding);
  }
  if (!message.hint.empty()) out += fmt::format("hint: {}\n", message.hint);
  if (!message.note.empty()) out += fmt::format("at: {}\n", message.note);
  return out;
}

// "and at 14 more places, lines 9, 10, 11, ..., 23"
std::string Diagnostics::other_places(const std::vector<const Message*>& group) {
  if (group.size() < 2) return {};
  constexpr std::size_t kMostLinesNamed = 4;
  const std::size_t more = group.size() - 1;
  std::vector<std::string> lines;
  for (std::size_t i = 1; i < group.size() && i <= kMostLinesNamed; ++i) {
    lines.push_back(fmt::format("{}", group[i]->place.line));
  }
  if (more > kMostLinesNamed) lines.push_back(fmt::format("... {}", group.back()->place.line));
  return fmt::format("and at {} more place{}, line{} {}\n", more, more == 1 ? "" : "s",
                     more == 1 ? "" : "s", fmt::join(lines, ", "));
}

std::string Diagnostics::text() const {
  std::vector<const Message*> order;
  order.reserve(messages_.size());
  for (const Message& message : messages_) order.push_back(&message);
  std::stable_sort(order.begin(), order.end(),
                   [](const Message* a, const Message* b) { return a->place < b->place; });
  // One mistake at many places of a file, such as a rate that every link repeats, is one message.
  std::vector<std::vector<const Message*>> groups;
  std::map<std::tuple<SourceIndex, bool, std::string, std::string, std::string>, std::size_t> known;
  for (const Message* message : order) {
    const auto [group, is_new] = known.try_emplace(
        {message->place.source, message->is_error, message->text, message->hint, message->note},
        groups.size());
    if (is_new) groups.emplace_back();
    groups[group->second].push_back(message);
  }
  std::string out;
  for (std::size_t i = 0; i < groups.size() && i < kMostMessagesShown; ++i) {
    out += render(*groups[i].front()) + other_places(groups[i]);
  }
  if (groups.size() > kMostMessagesShown) {
    out += fmt::format("and {} more\n", groups.size() - kMostMessagesShown);
  }
  return out;
}

}  // namespace espalier
