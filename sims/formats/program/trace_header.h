// The lines of a trace before its operations: what the program is for.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "alg/program/chunk_language.h"
#include "sims/formats/program/line_parser.h"
#include "sims/formats/program/promise_line.h"

namespace espalier {

class TraceHeader {
 public:
  // The words that begin a line of it.
  [[nodiscard]] static const std::vector<std::string>& words();

  // `line` is before its first word, which is one of words().
  void read_line(LineParser& line);
  // When the last line was read: what does not fit together is reported.
  void end(const Place& end_of_file, Diagnostics& diagnostics);

  // Whether there was the line 'collective'; before it, nobody knows of ranks.
  [[nodiscard]] bool has_collective() const { return has_collective_; }
  [[nodiscard]] const ProgramSignature& signature() const { return signature_; }
  [[nodiscard]] Place collective_place() const { return collective_place_; }

 private:
  void read_collective(LineParser& line);
  void read_protocol(LineParser& line);
  void read_bytes(LineParser& line, const Place& place);
  void read_root(LineParser& line, const Place& place);
  void read_buffer(LineParser& line, std::vector<std::uint32_t>& counts, const Place& place,
                   const std::string& word);
  void read_promise_line(LineParser& line, const Place& place);
  bool is_custom(LineParser& line, const Place& place, const std::string& word);

  ProgramSignature signature_;
  bool has_collective_ = false;
  Place collective_place_;
  std::map<std::string, Place> first_;   // of each word that may stand there once
  std::optional<PromiseBounds> bounds_;  // from the first promise on
  std::map<std::pair<std::uint32_t, std::uint32_t>, Place> promised_;
};

}  // namespace espalier
