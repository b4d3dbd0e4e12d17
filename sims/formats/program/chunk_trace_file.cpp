#include "sims/formats/program/chunk_trace_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "sims/formats/program/line_parser.h"
#include "sims/formats/program/promises_file.h"
#include "sims/text/nearest_name.h"
#include "sims/text/text_lines.h"
#include "sims/text/utf8.h"

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

constexpr ProgramBuffer kBuffers[] = {ProgramBuffer::input, ProgramBuffer::output,
                                      ProgramBuffer::scratch};

// Reads a reference such as "%12".
std::uint32_t read_reference(LineParser& line, Place& place) {
  place = line.place();
  const std::string text = line.word("a reference such as %1").text;
  if (line.failed()) return 0;
  const bool is_reference = text.size() > 1 && text.size() <= 11 && text.front() == '%' &&
                            text.find_first_not_of("0123456789", 1) == std::string::npos;
  const std::uint64_t number = is_reference ? std::stoull(text.substr(1)) : 0;
  if (is_reference && number <= kMost) return static_cast<std::uint32_t>(number);
  line.error(place, fmt::format("expected a reference, found '{}'", text), "for example %1");
  return 0;
}

// Reads what follows the word.
void read_rest(LineParser& line, TraceOperation& operation) {
  const TraceWord word = operation.word;
  const std::size_t num_arguments = word == TraceWord::reduce ? 2 : word == TraceWord::copy ? 1 : 0;
  for (std::size_t i = 0; i < num_arguments; ++i) {
    Place& place = operation.argument_places.emplace_back();
    operation.arguments.push_back(read_reference(line, place));
  }
  ChunkSpan& span = operation.span;
  if (word == TraceWord::chunk || word == TraceWord::copy) {
    line.expect("rank");
    span.rank = line.number("rank", 0, kMost);
    span.buffer = kBuffers[line.index_of("buffer", {"in", "out", "scratch"})];
    span.index = line.number("index", 0, kMost);
  }
  if (word == TraceWord::chunk && line.accept("count")) {
    span.count = line.number("count", 1, ChunkTracer::kMostChunks);
  }
  if (num_arguments != 0 && line.accept("ch")) {
    line.expect("=");
    operation.channel = line.number("ch", 0, kMost);
  }
  if (word == TraceWord::parallelize) {
    operation.instances = line.number("parallelize", 1, ChunkTracer::kMostChunks);
  }
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
    line.expect("=");
  }
  operation.place = line.place();
  const WordForm& word = kWords[line.index_of("operation", trace_words())];
  if (line.failed()) return std::nullopt;
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
  read_rest(line, operation);
  return line.expect_end() ? std::make_optional(operation) : std::nullopt;
}

// ---------------------------------------------------------------- the header

// The lines with the program's signature, before its operations.
class TraceHeader {
 public:
  // The words that begin a line of the header.
  [[nodiscard]] static const std::vector<std::string>& words() {
    static const std::vector<std::string> all{"collective", "name",  "protocol", "bytes",
                                              "root",       "input", "output",   "promise"};
    return all;
  }

  // Precondition: the next word of `line` is its first, and one of words().
  void read_line(LineParser& line) {
    const Place place = line.place();
    const std::string word = line.word("a word").text;
    const bool may_repeat = word == "input" || word == "output" || word == "promise";
    const auto [first, is_new] = first_.emplace(word, place);
    if (!is_new && !may_repeat) {
      line.error(place, fmt::format("'{}' is given twice", word),
                 fmt::format("the first is in line {}", first->second.line));
      return;
    }
    if (word == "collective") {
      collective_place_ = place;
      read_collective(line);
    } else if (word == "name") {
      signature_.name = line.rest();
      if (!is_plain_text(signature_.name)) {
        line.error(place, "name: contains a control character or broken UTF-8");
      }
    } else if (word == "protocol") {
      read_protocol(line);
    } else if (word == "bytes") {
      read_bytes(line, place);
    } else if (!has_collective_) {
      // If there is a line 'collective', it was wrong and has been reported.
      const bool is_missing = first_.count("collective") == 0;
      if (is_missing) line.error(place, fmt::format("'{}' must stand after 'collective'", word));
    } else if (word == "root") {
      read_root(line, place);
    } else if (word == "promise") {
      read_promise_line(line, place);
    } else {
      read_buffer(line, word == "input" ? signature_.input_chunks : signature_.output_chunks, place,
                  word);
    }
  }
  // Called after the last line. Reports lines that contradict each other.
  void end(const Place& end_of_file, Diagnostics& diagnostics) {
    if (first_.count("collective") == 0) {
      diagnostics.error(end_of_file, "the line 'collective' is missing",
                        "for example 'collective all_reduce ranks 4 chunks 4 in_place'");
    }
    const auto by_place = [](const PromisedChunk& a, const PromisedChunk& b) {
      return std::pair(a.rank, a.index) < std::pair(b.rank, b.index);
    };
    std::sort(signature_.promises.begin(), signature_.promises.end(), by_place);
  }

  [[nodiscard]] const ProgramSignature& signature() const { return signature_; }
  [[nodiscard]] Place collective_place() const { return collective_place_; }

 private:
  static constexpr std::uint32_t kMostRanks = 65536;
  static constexpr std::uint32_t kMostChunks = ChunkTracer::kMostChunks - 1;

  void read_collective(LineParser& line) {
    line.set_form("for example 'collective all_reduce ranks 4 chunks 4 in_place'");
    const auto op = line.choice(
        "collective", {CollectiveOp::all_reduce, CollectiveOp::reduce_scatter,
                       CollectiveOp::all_gather, CollectiveOp::all_to_all, CollectiveOp::broadcast,
                       CollectiveOp::reduce, CollectiveOp::custom});
    line.expect("ranks");
    const std::uint32_t ranks = line.number("ranks", 1, kMostRanks);
    line.expect("chunks");
    const std::uint32_t chunks = line.number("chunks", 1, kMostChunks);
    signature_.in_place = line.accept("in_place");
    if (!line.expect_end()) return;
    signature_.collective = op;
    signature_.ranks = ranks;
    signature_.chunks = chunks;
    has_collective_ = true;
  }
  void read_protocol(LineParser& line) {
    line.set_form("for example 'protocol LL128'");
    signature_.protocol = line.choice(
        "protocol", {Protocol::simple, Protocol::ll, Protocol::ll128, Protocol::message});
    line.expect_end();
  }
  void read_bytes(LineParser& line, const Place& place) {
    line.set_form(
        "for example 'bytes 0 1MiB': smallest and largest size; a largest size of 0 means no "
        "limit");
    signature_.min_bytes = line.bytes("bytes");
    signature_.max_bytes = line.bytes("bytes");
    if (!line.expect_end() || signature_.max_bytes == 0) return;
    if (signature_.min_bytes <= signature_.max_bytes) return;
    line.error(place, fmt::format("the smallest size, {} bytes, exceeds the largest size, {} bytes",
                                  signature_.min_bytes, signature_.max_bytes));
  }
  void read_root(LineParser& line, const Place& place) {
    line.set_form("for example 'root 0'");
    if (!is_rooted(signature_.collective)) {
      line.error(place,
                 fmt::format("found a root, but {} has none", to_string(signature_.collective)));
      return;
    }
    const std::uint32_t root = line.number("root", 0, signature_.ranks - 1);
    if (line.expect_end()) signature_.root = root;
  }
  void read_buffer(LineParser& line, std::vector<std::uint32_t>& counts, const Place& place,
                   const std::string& word) {
    line.set_form("for example 'input 0 4': rank 0 has 4 chunks");
    if (!is_custom(line, place, word)) return;
    if (bounds_) {
      line.error(place, "write buffers before promises");
      return;
    }
    const std::uint32_t rank = line.number("rank", 0, signature_.ranks - 1);
    const std::uint32_t count = line.number("chunks", 0, signature_.chunks);
    if (!line.expect_end()) return;
    if (counts.empty()) counts.assign(signature_.ranks, signature_.chunks);
    counts[rank] = count;
  }
  void read_promise_line(LineParser& line, const Place& place) {
    if (!is_custom(line, place, "promise")) return;
    if (!bounds_) {
      const std::vector<std::uint32_t> all(signature_.ranks, signature_.chunks);
      bounds_ = {signature_.input_chunks.empty() ? all : signature_.input_chunks,
                 signature_.output_chunks.empty() ? all : signature_.output_chunks};
    }
    const auto promise = read_promise(line, *bounds_);
    if (!promise) return;
    const auto [first, is_new] =
        promised_.emplace(std::make_pair(promise->rank, promise->index), place);
    if (is_new) {
      signature_.promises.push_back(*promise);
    } else {
      line.error(place,
                 fmt::format("rank {} out {} already has a promise", promise->rank, promise->index),
                 fmt::format("the first is in line {}", first->second.line));
    }
  }
  bool is_custom(LineParser& line, const Place& place, const std::string& word) {
    if (signature_.collective == CollectiveOp::custom) return true;
    line.error(place, fmt::format("found '{}', which only a custom collective may have", word),
               fmt::format("remove it: {} has known buffers and results",
                           to_string(signature_.collective)));
    return false;
  }

  ProgramSignature signature_;
  bool has_collective_ = false;  // the line 'collective' has given the number of ranks
  Place collective_place_;
  std::map<std::string, Place> first_;   // by word: its first line
  std::optional<PromiseBounds> bounds_;  // set by the first promise
  std::map<std::pair<std::uint32_t, std::uint32_t>, Place> promised_;
};

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
