// The header of a trace: the lines with the program's signature, before its operations.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "alg/program/chunk_language.h"
#include "sims/formats/program/line_parser.h"
#include "sims/formats/program/promises_file.h"
#include "sims/text/utf8.h"

namespace espalier {

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
    const std::string word = line.word("a word")->text;
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
    if (!op || !line.expect("ranks")) return;
    const auto ranks = line.number("ranks", 1, kMostRanks);
    if (!ranks || !line.expect("chunks")) return;
    const auto chunks = line.number("chunks", 1, kMostChunks);
    if (!chunks) return;
    signature_.in_place = line.accept("in_place");
    if (!line.expect_end()) return;
    signature_.collective = *op;
    signature_.ranks = *ranks;
    signature_.chunks = *chunks;
    has_collective_ = true;
  }
  void read_protocol(LineParser& line) {
    line.set_form("for example 'protocol LL128'");
    signature_.protocol = line.choice("protocol", {Protocol::simple, Protocol::ll, Protocol::ll128,
                                                   Protocol::message})
                              .value_or(Protocol::simple);
    if (!line.failed()) line.expect_end();
  }
  void read_bytes(LineParser& line, const Place& place) {
    line.set_form(
        "for example 'bytes 0 1MiB': smallest and largest size; a largest size of 0 means no "
        "limit");
    const auto min = line.bytes("bytes");
    if (!min) return;
    const auto max = line.bytes("bytes");
    if (!max || !line.expect_end()) return;
    if (*max != 0 && *min > *max) {
      line.error(place,
                 fmt::format("the smallest size, {} bytes, exceeds the largest size, {} bytes",
                             *min, *max));
      return;
    }
    signature_.min_bytes = *min;
    signature_.max_bytes = *max;
  }
  void read_root(LineParser& line, const Place& place) {
    line.set_form("for example 'root 0'");
    if (signature_.collective != CollectiveOp::broadcast &&
        signature_.collective != CollectiveOp::reduce) {
      line.error(place,
                 fmt::format("found a root, but {} has none", to_string(signature_.collective)));
      return;
    }
    const auto root = line.number("root", 0, signature_.ranks - 1);
    if (root && line.expect_end()) signature_.root = *root;
  }
  void read_buffer(LineParser& line, std::vector<std::uint32_t>& counts, const Place& place,
                   const std::string& word) {
    line.set_form("for example 'input 0 4': rank 0 has 4 chunks");
    if (!is_custom(line, place, word)) return;
    if (bounds_) {
      line.error(place, "write buffers before promises");
      return;
    }
    const auto rank = line.number("rank", 0, signature_.ranks - 1);
    if (!rank) return;
    const auto count = line.number("chunks", 0, signature_.chunks);
    if (!count || !line.expect_end()) return;
    if (counts.empty()) counts.assign(signature_.ranks, signature_.chunks);
    counts[*rank] = *count;
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

}  // namespace espalier
