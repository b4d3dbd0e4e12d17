#include "sims/formats/program/promises_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

#include "sims/text/text_lines.h"

namespace espalier {

namespace {

constexpr const char* kForm = "for example 'rank 1 out 0 = 0:0 + 1:0'";

// Reads an index into a buffer of `rank`. An empty buffer has no valid index.
std::uint32_t read_index(LineParser& line, const std::string& what, std::uint32_t rank,
                         std::uint32_t size) {
  if (size != 0 || line.failed()) return line.number(what, 0, std::max(size, 1U) - 1);
  line.error(line.place(), fmt::format("rank {} has no {} chunks", rank, what));
  return 0;
}

}  // namespace

std::optional<PromisedChunk> read_promise(LineParser& line, const PromiseBounds& bounds) {
  line.set_form(kForm);
  const auto most_rank = static_cast<std::uint32_t>(bounds.output_chunks.size()) - 1;
  PromisedChunk promise;
  line.expect("rank");
  promise.rank = line.number("rank", 0, most_rank);
  line.expect("out");
  promise.index = read_index(line, "output", promise.rank, bounds.output_chunks[promise.rank]);
  line.expect("=");
  do {
    const std::uint32_t of = line.number("rank", 0, most_rank);
    line.expect(":");
    promise.value.push_back({of, read_index(line, "input", of, bounds.input_chunks[of])});
  } while (line.accept("+"));
  if (!line.expect_end()) return std::nullopt;
  std::sort(promise.value.begin(), promise.value.end());
  return promise;
}

std::optional<std::vector<PromisedChunk>> read_promises(const std::string& file_name,
                                                        const std::string& text,
                                                        const Program& program,
                                                        Diagnostics& diagnostics) {
  const SourceIndex source = diagnostics.add_file(file_name, text);
  const std::size_t errors_before = diagnostics.num_errors();
  if (program.collective != CollectiveOp::custom) {
    diagnostics.error(
        {source, 1, 1},
        fmt::format(
            "found promises, which only a custom collective may have; the results of {} are known",
            to_string(program.collective)));
    return std::nullopt;
  }
  PromiseBounds bounds;
  for (const RankProgram& rank : program.ranks) {
    bounds.input_chunks.push_back(rank.input_chunks);
    bounds.output_chunks.push_back(rank.output_chunks);
  }
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::pair<PromisedChunk, Place>> promises;
  for_each_line(text, source, diagnostics, [&](std::string_view text_line, const Place& start) {
    LineParser line(text_line, start, diagnostics);
    if (line.at_end()) return true;
    const Place place = line.place();
    const auto promise = read_promise(line, bounds);
    if (!promise) return true;
    const auto [first, is_new] =
        promises.emplace(std::make_pair(promise->rank, promise->index), std::pair(*promise, place));
    if (!is_new) {
      diagnostics.error(
          place, fmt::format("rank {} out {} already has a promise", promise->rank, promise->index),
          fmt::format("the first is in line {}", first->second.second.line));
    }
    return true;
  });
  if (diagnostics.num_errors() != errors_before) return std::nullopt;
  std::vector<PromisedChunk> ascending;
  ascending.reserve(promises.size());
  for (auto& [of, promise] : promises) ascending.push_back(std::move(promise.first));
  return ascending;
}

}  // namespace espalier
