#include "sims/formats/program/promises_file.h"

#include <fmt/format.h>

#include <map>
#include <utility>

#include "sims/formats/program/promise_line.h"
#include "sims/text/text_lines.h"

namespace espalier {

std::optional<std::vector<PromisedChunk>> read_promises(const std::string& file_name,
                                                        const std::string& text,
                                                        const Program& program,
                                                        Diagnostics& diagnostics) {
  const SourceIndex source = diagnostics.add_file(file_name, text);
  const std::size_t errors_before = diagnostics.num_errors();
  if (program.collective != CollectiveOp::custom) {
    diagnostics.error({source, 0, 0},
                      fmt::format("promises are for a custom collective; what {} promises is known",
                                  to_string(program.collective)));
    return std::nullopt;
  }
  PromiseBounds bounds;
  for (const RankProgram& rank : program.ranks) {
    bounds.input_chunks.push_back(rank.input_chunks);
    bounds.output_chunks.push_back(rank.output_chunks);
  }
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::pair<PromisedChunk, Place>> promises;
  for_each_line(text, source, [&](std::string_view text_line, const Place& start) {
    LineParser line(text_line, start, diagnostics);
    if (line.at_end()) return true;
    const Place place = line.place();
    const auto promise = read_promise(line, bounds);
    if (!promise) return true;
    const auto [first, is_new] =
        promises.emplace(std::make_pair(promise->rank, promise->index), std::pair(*promise, place));
    if (!is_new) {
      diagnostics.error(
          place, fmt::format("rank {} out {} has a promise already", promise->rank, promise->index),
          fmt::format("it is in line {}", first->second.second.line));
    }
    return true;
  });
  if (diagnostics.num_errors() != errors_before) return std::nullopt;
  std::vector<PromisedChunk> ascending;
  ascending.reserve(promises.size());
  for (auto& [of, promise] : promises) ascending.push_back(std::move(promise.first));
  return ascending;
}

std::string write_promises(const Program& program) {
  std::string text;
  for (const PromisedChunk& promise : program.promises) text += promise_text(promise) + "\n";
  return text;
}

}  // namespace espalier
