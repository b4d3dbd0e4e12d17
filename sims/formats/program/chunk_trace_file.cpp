#include "sims/formats/program/chunk_trace_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "alg/program/chunk_language.h"
#include "sims/formats/program/chunk_trace_header.h"
#include "sims/formats/program/line_parser.h"
#include "sims/text/nearest_name.h"
#include "sims/text/text_lines.h"
#include "sims/text/values.h"

namespace espalier {

namespace {

// ---------------------------------------------------------------- one operation

enum class TraceWord : std::uint8_t { chunk, copy, reduce, parallelize, end, call };

struct TraceOperation {
  TraceWord word = TraceWord::chunk;
  std::optional<std::uint32_t> result;   // "%3 = ..."
  std::vector<std::uint32_t> arguments;  // references; copy has 1, reduce has 2
  ChunkSpan span;                        // of a chunk; of copy: the target
  std::optional<std::uint32_t> channel;
  std::uint32_t instances = 1;  // parallelize
  Place place;                  // of the word
  Place result_place;
  std::vector<Place> argument_places;
};

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

const std::vector<std::string>& buffer_names() {
  static const std::vector<std::string> names{"in", "out", "scratch"};
  return names;
}
constexpr ProgramBuffer kBuffers[] = {ProgramBuffer::input, ProgramBuffer::output,
                                      ProgramBuffer::scratch};

// Reads a reference such as "%12".
std::optional<std::uint32_t> read_reference(LineParser& line, Place& place) {
  place = line.place();
  const auto word = line.word("a reference such as %1");
  if (!word) return std::nullopt;
  const std::string& text = word->text;
  const bool is_reference = text.size() > 1 && text.size() <= 11 && text.front() == '%' &&
                            text.find_first_not_of("0123456789", 1) == std::string::npos;
  const std::uint64_t number = is_reference ? std::stoull(text.substr(1)) : 0;
  if (is_reference && number <= kMost) return static_cast<std::uint32_t>(number);
  line.error(place, fmt::format("expected a reference, found '{}'", text), "for example %1");
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
  const auto buffer = line.index_of("buffer", buffer_names());
  if (!buffer) return false;
  const auto index = line.number("index", 0, kMost);
  if (!index) return false;
  span = {*rank, kBuffers[*buffer], *index, 1};
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

// The words that begin an operation, after the optional result.
const std::vector<std::string>& trace_words() {
  static const auto names = [] {
    std::vector<std::string> all;
    all.reserve(kWords.size());
    for (const WordForm& word : kWords) all.emplace_back(word.name);
    return all;
  }();
  return names;
}

// Returns nullopt after an error.
std::optional<TraceOperation> read_operation(LineParser& line) {
  TraceOperation operation;
  if (line.peek().substr(0, 1) == "%") {
    operation.result = read_reference(line, operation.result_place);
    line.set_form("for example '%2 = copy %1 rank 1 in 0'");
    if (!operation.result || !line.expect("=")) return std::nullopt;
  }
  operation.place = line.place();
  const auto index = line.index_of("operation", trace_words());
  if (!index) return std::nullopt;
  const WordForm& word = kWords[*index];
  operation.word = word.word;
  line.set_form(word.form);
  if (operation.result && !has_result(operation.word)) {
    line.error(operation.result_place,
               fmt::format("'{}' gives no result; remove the reference before '='", word.name));
    return std::nullopt;
  }
  if (!operation.result && operation.word == TraceWord::chunk) {
    line.error(operation.place, "'chunk' needs a reference for its result", word.form);
    return std::nullopt;
  }
  if (!read_rest(line, operation) || !line.expect_end()) return std::nullopt;
  return operation;
}

// ---------------------------------------------------------------- the file

constexpr std::size_t kMostErrors = 200;

bool contains(const std::vector<std::string>& words, const std::string& word) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

SourcePlace source_place(const Place& place) { return {place.line, place.column}; }

class TraceReader {
 public:
  TraceReader(SourceIndex source, Diagnostics& diagnostics)
      : source_(source), diagnostics_(diagnostics), errors_before_(diagnostics.num_errors()) {}

  std::optional<ChunkTrace> read(const std::string& text) {
    for_each_line(text, source_, diagnostics_, [&](std::string_view line, const Place& start) {
      read_line(line, start);
      return num_errors() < kMostErrors;
    });
    header_.end({source_, 1, 1}, diagnostics_);
    for (const Place& fragment : open_fragments_) {
      diagnostics_.error(fragment, "'parallelize' has no 'end'");
    }
    if (num_errors() != 0) return std::nullopt;
    return trace();
  }

 private:
  [[nodiscard]] std::size_t num_errors() const {
    return diagnostics_.num_errors() - errors_before_;
  }

  void read_line(std::string_view text, const Place& start) {
    LineParser line(text, start, diagnostics_);
    if (line.at_end()) return;
    const std::string& word = line.peek();
    if (contains(TraceHeader::words(), word)) {
      if (!operations_.empty()) {
        line.error(
            line.place(), fmt::format("'{}' must stand before the first operation", word),
            fmt::format("the first operation is in line {}", operations_.front().place.line));
        return;
      }
      header_.read_line(line);
    } else if (word.front() != '%' && !contains(trace_words(), word)) {
      std::vector<std::string> words = TraceHeader::words();
      words.insert(words.end(), trace_words().begin(), trace_words().end());
      line.error(line.place(), fmt::format("a line cannot begin with '{}'", word),
                 name_hint(word, words));
    } else if (auto operation = read_operation(line)) {
      check_references(line, *operation);
      check_fragments(line, *operation);
      operations_.push_back(std::move(*operation));
    } else {
      remember_broken(LineParser(text, start, diagnostics_));
    }
  }

  // Remembers a line with errors, so that later lines which use its results are not reported too.
  void remember_broken(const LineParser& line) {
    broken_.push_back(line.peek());
    if (line.peek() == "parallelize") open_fragments_.push_back(line.place());
  }

  void check_references(LineParser& line, const TraceOperation& operation) {
    for (std::size_t i = 0; i < operation.arguments.size(); ++i) {
      const std::string name = fmt::format("%{}", operation.arguments[i]);
      if (made_.count(operation.arguments[i]) != 0 || contains(broken_, name)) continue;
      line.error(operation.argument_places[i],
                 fmt::format("{} is used, but no line before gives it", name));
    }
    if (!operation.result) return;
    const auto [first, is_new] = made_.emplace(*operation.result, operation.result_place);
    if (is_new) return;
    line.error(operation.result_place, fmt::format("%{} is given twice", *operation.result),
               fmt::format("the first is in line {}", first->second.line));
  }

  void check_fragments(LineParser& line, const TraceOperation& operation) {
    if (operation.word == TraceWord::parallelize) open_fragments_.push_back(operation.place);
    if (operation.word != TraceWord::end) return;
    if (open_fragments_.empty()) {
      line.error(operation.place, "'end' has no open 'parallelize'");
    } else {
      open_fragments_.pop_back();
    }
  }

  std::optional<ChunkTrace> trace() {
    try {
      ChunkTracer tracer(header_.signature());
      std::map<std::uint32_t, ChunkRef> references;
      for (const TraceOperation& operation : operations_) run(tracer, operation, references);
      // The place of errors about unfulfilled promises.
      tracer.at(source_place(header_.collective_place()));
      return tracer.finish();
    } catch (const ChunkError& error) {
      const bool has_place = error.place().line != 0;
      const Place place = has_place ? Place{source_, error.place().line, error.place().column}
                                    : header_.collective_place();
      diagnostics_.error(place, error.what());
    }
    return std::nullopt;
  }

  static void run(ChunkTracer& tracer, const TraceOperation& operation,
                  std::map<std::uint32_t, ChunkRef>& references) {
    tracer.at(source_place(operation.place));
    const auto argument = [&](std::size_t i) -> const ChunkRef& {
      return references.at(operation.arguments[i]);
    };
    const auto keep = [&](const ChunkRef& made) {
      if (operation.result) references.emplace(*operation.result, made);
    };
    const ChunkSpan& span = operation.span;
    switch (operation.word) {
      case TraceWord::chunk:
        return keep(tracer.chunk(span.rank, span.buffer, span.index, span.count));
      case TraceWord::copy:
        return keep(argument(0).copy(span.rank, span.buffer, span.index, {operation.channel}));
      case TraceWord::reduce:
        return keep(argument(0).reduce(argument(1), {operation.channel}));
      case TraceWord::parallelize:
        return tracer.begin_parallelize(operation.instances);
      case TraceWord::end:
        return tracer.end_parallelize();
      case TraceWord::call:
        return tracer.next_call();
    }
  }

  SourceIndex source_;
  Diagnostics& diagnostics_;
  std::size_t errors_before_;
  TraceHeader header_;
  std::vector<TraceOperation> operations_;
  std::map<std::uint32_t, Place> made_;  // by the number of the reference: where it was made
  std::vector<std::string> broken_;      // first words of lines with errors
  std::vector<Place> open_fragments_;
};

}  // namespace

std::optional<ChunkTrace> read_trace(const std::string& file_name, const std::string& text,
                                     Diagnostics& diagnostics) {
  const SourceIndex source = diagnostics.add_file(file_name, text);
  return TraceReader(source, diagnostics).read(text);
}

}  // namespace espalier
