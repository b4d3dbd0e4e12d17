// Which vertices of a directed acyclic graph come before which: many questions at once, in
// bit-parallel sweeps.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

namespace espalier {

// The predecessors of each vertex: before[begin[v] .. begin[v + 1]), all below v.
struct PredecessorView {
  const std::size_t* begin;
  const std::uint32_t* before;
};

// Is there a path from `first` to `second`?
struct PathQuestion {
  std::uint32_t first;
  std::uint32_t second;
  std::uint32_t tag;  // for whoever asks
};

// Each sweep follows 64 * Words sources through the vertices between the first of them and the last
// vertex asked about.
template <std::size_t Words>
class PathFinder {
 public:
  // Calls `missing` for each question whose answer is no, by ascending `first`; stops when it
  // returns false.
  template <class Missing>
  void find_missing(PredecessorView graph, std::vector<PathQuestion>& questions, Missing missing) {
    std::sort(questions.begin(), questions.end(), [](const PathQuestion& a, const PathQuestion& b) {
      return a.first != b.first ? a.first < b.first : a.second < b.second;
    });
    for (std::size_t begin = 0; begin < questions.size();) {
      const std::size_t end = take_batch(questions, begin);
      sweep(graph, questions[begin].first);
      for (std::size_t q = begin, source = 0; q < end; ++q) {
        if (q != begin && questions[q].first != questions[q - 1].first) ++source;
        const bool found =
            questions[q].second > questions[q].first &&
            (row(questions[q].second, questions[begin].first)[source / 64] >> (source % 64) & 1U) !=
                0;
        if (!found && !missing(questions[q])) return;
      }
      begin = end;
    }
  }

 private:
  using Row = std::array<std::uint64_t, Words>;

  // Questions of as many different sources as a row has bits.
  std::size_t take_batch(const std::vector<PathQuestion>& questions, std::size_t begin) {
    sources_.clear();
    last_ = 0;
    std::size_t end = begin;
    for (; end < questions.size(); ++end) {
      if (sources_.empty() || sources_.back() != questions[end].first) {
        if (sources_.size() == 64 * Words) break;
        sources_.push_back(questions[end].first);
      }
      last_ = std::max(last_, questions[end].second);
    }
    return end;
  }

  void sweep(PredecessorView graph, std::uint32_t base) {
    if (last_ < base) return;
    const std::size_t span = std::size_t{last_} - base + 1;
    if (rows_.size() < span) rows_.resize(span);
    std::size_t source = 0;
    for (std::uint32_t v = base; v <= last_; ++v) {
      Row reached{};
      for (std::size_t e = graph.begin[v]; e < graph.begin[v + 1]; ++e) {
        const std::uint32_t p = graph.before[e];
        if (p < base) continue;
        const Row& from = row(p, base);
        for (std::size_t w = 0; w < Words; ++w) reached[w] |= from[w];
      }
      if (source < sources_.size() && sources_[source] == v) {
        reached[source / 64] |= std::uint64_t{1} << (source % 64);
        ++source;
      }
      row(v, base) = reached;
    }
  }

  Row& row(std::uint32_t v, std::uint32_t base) { return rows_[v - base]; }

  std::vector<Row> rows_;
  std::vector<std::uint32_t> sources_;  // ascending
  std::uint32_t last_ = 0;
};

}  // namespace espalier
