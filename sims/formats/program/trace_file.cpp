#include "sims/formats/program/trace_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <vector>

#include "sims/formats/program/trace_header.h"
#include "sims/formats/program/trace_operation.h"
#include "sims/text/nearest_name.h"
#include "sims/text/text_lines.h"

namespace espalier {

namespace {

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
    for_each_line(text, source_, [&](std::string_view line, const Place& start) {
      read_line(line, start);
      return num_errors() < kMostErrors;
    });
    header_.end({source_, 1, 1}, diagnostics_);
    for (const Place& fragment : open_fragments_) {
      diagnostics_.error(fragment, "no 'end' ends this fragment");
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
        line.error(line.place(), fmt::format("'{}' stands before the operations", word),
                   fmt::format("the first is in line {}", operations_.front().place.line));
        return;
      }
      header_.read_line(line);
    } else if (word.front() != '%' && !contains(trace_words(), word)) {
      std::vector<std::string> words = TraceHeader::words();
      words.insert(words.end(), trace_words().begin(), trace_words().end());
      line.error(line.place(), fmt::format("'{}' begins no line", word), name_hint(word, words));
    } else if (auto operation = read_operation(line)) {
      check_references(line, *operation);
      check_fragments(line, *operation);
      operations_.push_back(std::move(*operation));
    } else {
      remember_broken(LineParser(text, start, diagnostics_));
    }
  }

  // The line is wrong, but not those that need what it should have made.
  void remember_broken(const LineParser& line) {
    broken_.push_back(line.peek());
    if (line.peek() == "parallelize") open_fragments_.push_back(line.place());
  }

  void check_references(LineParser& line, const TraceOperation& operation) {
    for (std::size_t i = 0; i < operation.arguments.size(); ++i) {
      const std::string name = fmt::format("%{}", operation.arguments[i]);
      if (made_.count(operation.arguments[i]) != 0 || contains(broken_, name)) continue;
      line.error(operation.argument_places[i], fmt::format("no line before made {}", name));
    }
    if (!operation.result) return;
    const auto [first, is_new] = made_.emplace(*operation.result, operation.result_place);
    if (is_new) return;
    line.error(operation.result_place, fmt::format("a second %{}", *operation.result),
               fmt::format("the first is made in line {}", first->second.line));
  }

  void check_fragments(LineParser& line, const TraceOperation& operation) {
    if (operation.word == TraceWord::parallelize) open_fragments_.push_back(operation.place);
    if (operation.word != TraceWord::end) return;
    if (open_fragments_.empty()) {
      line.error(operation.place, "no 'parallelize' is open that could end");
    } else {
      open_fragments_.pop_back();
    }
  }

  std::optional<ChunkTrace> trace() {
    try {
      ChunkTracer tracer(header_.signature());
      std::map<std::uint32_t, ChunkRef> references;
      for (const TraceOperation& operation : operations_) run(tracer, operation, references);
      tracer.at(source_place(header_.collective_place()));  // that is who promises
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
  std::map<std::uint32_t, Place> made_;  // by the number of the reference
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
