#include "sims/formats/program/promise_line.h"

#include <fmt/format.h>

#include <algorithm>

namespace espalier {

namespace {

constexpr const char* kForm = "for example 'rank 1 out 0 = 0:0 + 1:0'";

// An index of a buffer of `rank`; one that is empty has none.
std::optional<std::uint32_t> read_index(LineParser& line, const std::string& what,
                                        std::uint32_t rank, std::uint32_t size) {
  if (size != 0) return line.number(what, 0, size - 1);
  line.error(line.place(), fmt::format("rank {} has no {} chunks", rank, what));
  return std::nullopt;
}

}  // namespace

std::optional<PromisedChunk> read_promise(LineParser& line, const PromiseBounds& bounds) {
  line.set_form(kForm);
  const auto most_rank = static_cast<std::uint32_t>(bounds.output_chunks.size()) - 1;
  PromisedChunk promise;
  if (!line.expect("rank")) return std::nullopt;
  const auto rank = line.number("rank", 0, most_rank);
  if (!rank || !line.expect("out")) return std::nullopt;
  const auto index = read_index(line, "output", *rank, bounds.output_chunks[*rank]);
  if (!index || !line.expect("=")) return std::nullopt;
  do {
    const auto of = line.number("rank", 0, most_rank);
    if (!of || !line.expect(":")) return std::nullopt;
    const auto chunk = read_index(line, "input", *of, bounds.input_chunks[*of]);
    if (!chunk) return std::nullopt;
    promise.value.push_back({*of, *chunk});
  } while (line.accept("+"));
  if (!line.expect_end()) return std::nullopt;
  promise.rank = *rank;
  promise.index = *index;
  std::sort(promise.value.begin(), promise.value.end());
  return promise;
}

std::string promise_text(const PromisedChunk& promise) {
  std::string text = fmt::format("rank {} out {} =", promise.rank, promise.index);
  for (std::size_t i = 0; i < promise.value.size(); ++i) {
    text +=
        fmt::format("{} {}:{}", i == 0 ? "" : " +", promise.value[i].rank, promise.value[i].index);
  }
  return text;
}

}  // namespace espalier
