#include "sims/formats/program/trace_operation.h"

#include <fmt/format.h>

#include <utility>

#include "sims/text/values.h"

namespace espalier {

namespace {

constexpr std::uint32_t kMost = INT32_MAX;

struct WordForm {
  const char* name;
  TraceWord word;
  const char* form;
};
const std::vector<WordForm> kWords{
    {"chunk", TraceWord::chunk, "for example '%1 = chunk rank 0 in 0 count 2'"},
    {"copy", TraceWord::copy, "for example '%2 = copy %1 rank 1 scratch 0 ch=0'"},
    {"reduce", TraceWord::reduce, "for example '%3 = reduce %2 %1 ch=0': adds %1 into %2"},
    {"parallelize", TraceWord::parallelize, "for example 'parallelize 2'"},
    {"end", TraceWord::end, "'end'"},
    {"call", TraceWord::call, "'call'"}};

const std::vector<std::pair<const char*, const WordForm*>>& word_choices() {
  static const auto choices = [] {
    std::vector<std::pair<const char*, const WordForm*>> all;
    all.reserve(kWords.size());
    for (const WordForm& word : kWords) all.emplace_back(word.name, &word);
    return all;
  }();
  return choices;
}

const std::vector<std::pair<const char*, ProgramBuffer>>& buffers() {
  static const std::vector<std::pair<const char*, ProgramBuffer>> names{
      {"in", ProgramBuffer::input},
      {"out", ProgramBuffer::output},
      {"scratch", ProgramBuffer::scratch}};
  return names;
}

// "%12"
std::optional<std::uint32_t> read_reference(LineParser& line, Place& place) {
  place = line.place();
  const auto word = line.word("a reference such as %1");
  if (!word) return std::nullopt;
  const std::string& text = word->text;
  const bool is_reference = text.size() > 1 && text.size() <= 11 && text.front() == '%' &&
                            text.find_first_not_of("0123456789", 1) == std::string::npos;
  const std::uint64_t number = is_reference ? std::stoull(text.substr(1)) : 0;
  if (is_reference && number <= kMost) return static_cast<std::uint32_t>(number);
  line.error(place, fmt::format("'{}' is no reference", text), "for example %1");
  return std::nullopt;
}

bool read_argument(LineParser& line, TraceOperation& operation) {
  Place place;
  const auto reference = read_reference(line, place);
  if (!reference) return false;
  operation.arguments.push_back(*reference);
  operation.argument_places.push_back(place);
  return true;
}

bool read_span(LineParser& line, ChunkSpan& span) {
  if (!line.expect("rank")) return false;
  const auto rank = line.number("rank", 0, kMost);
  if (!rank) return false;
  const auto buffer = line.choice("buffer", buffers());
  if (!buffer) return false;
  const auto index = line.number("index", 0, kMost);
  if (!index) return false;
  span = {*rank, *buffer, *index, 1};
  return true;
}

bool read_count(LineParser& line, TraceOperation& operation) {
  if (!line.accept("count")) return true;
  const auto count = line.number("count", 1, ChunkTracer::kMostChunks);
  operation.span.count = count.value_or(1);
  return count.has_value();
}

bool read_channel(LineParser& line, TraceOperation& operation) {
  if (!line.accept("ch")) return true;
  if (!line.expect("=")) return false;
  operation.channel = line.number("ch", 0, kMost);
  return operation.channel.has_value();
}

bool read_rest(LineParser& line, TraceOperation& operation) {
  switch (operation.word) {
    case TraceWord::chunk:
      return read_span(line, operation.span) && read_count(line, operation);
    case TraceWord::copy:
      return read_argument(line, operation) && read_span(line, operation.span) &&
             read_channel(line, operation);
    case TraceWord::reduce:
      return read_argument(line, operation) && read_argument(line, operation) &&
             read_channel(line, operation);
    case TraceWord::parallelize: {
      const auto instances = line.number("parallelize", 1, ChunkTracer::kMostChunks);
      operation.instances = instances.value_or(1);
      return instances.has_value();
    }
    case TraceWord::end:
    case TraceWord::call:
      break;
  }
  return true;
}

bool has_result(TraceWord word) {
  return word == TraceWord::chunk || word == TraceWord::copy || word == TraceWord::reduce;
}

}  // namespace

const std::vector<std::string>& trace_words() {
  static const auto names = [] {
    std::vector<std::string> all;
    all.reserve(kWords.size());
    for (const WordForm& word : kWords) all.emplace_back(word.name);
    return all;
  }();
  return names;
}

std::optional<TraceOperation> read_operation(LineParser& line) {
  TraceOperation operation;
  if (line.peek().substr(0, 1) == "%") {
    operation.result = read_reference(line, operation.result_place);
    line.set_form("for example '%2 = copy %1 rank 1 in 0'");
    if (!operation.result || !line.expect("=")) return std::nullopt;
  }
  operation.place = line.place();
  const auto word = line.choice("operation", word_choices());
  if (!word) return std::nullopt;
  operation.word = (*word)->word;
  line.set_form((*word)->form);
  if (operation.result && !has_result(operation.word)) {
    line.error(operation.result_place, fmt::format("'{}' has no result", (*word)->name));
    return std::nullopt;
  }
  if (!operation.result && operation.word == TraceWord::chunk) {
    line.error(operation.place, "'chunk' without a result does nothing", (*word)->form);
    return std::nullopt;
  }
  if (!read_rest(line, operation) || !line.expect_end()) return std::nullopt;
  return operation;
}

}  // namespace espalier
