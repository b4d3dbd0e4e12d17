// The header of a trace: the lines with the program's signature, before its operations.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "alg/program/chunk_language.h"
#include "sims/formats/program/line_parser.h"
#include "sims/formats/program/promises_file.h"

namespace espalier {

class TraceHeader {
 public:
  // The words that begin a line of the header.
  [[nodiscard]] static const std::vector<std::string>& words();

  // Precondition: the next word of `line` is its first, and one of words().
  void read_line(LineParser& line);
  // Called after the last line. Reports lines that contradict each other.
  void end(const Place& end_of_file, Diagnostics& diagnostics);

  // True if the line 'collective' has been read, which gives the number of ranks.
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
  std::map<std::string, Place> first_;   // by word: its first line
  std::optional<PromiseBounds> bounds_;  // set by the first promise
  std::map<std::pair<std::uint32_t, std::uint32_t>, Place> promised_;
};

}  // namespace espalier
