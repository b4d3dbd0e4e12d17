// Schedule tables as a JSON file, to be inspected, checked and run again.
#pragma once

#include <iosfwd>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "alg/schedule/schedule_table.h"
#include "hw/topology/topology.h"
#include "sims/text/diagnostics.h"
#include "sims/text/file_hashes.h"
#include "sims/text/strict_json.h"

namespace espalier {

// The value read, or an error: a sentence, and its place in the file.
template <class T>
struct FileResult {
  std::optional<T> value;
  std::string error;
  Place place;

  // "path:line:column", or the path if the file as a whole is wrong.
  [[nodiscard]] std::string place_in(const std::string& path) const {
    if (place.line == 0) return path;
    return path + ":" + std::to_string(place.line) + ":" + std::to_string(place.column);
  }
};

// `config` is stored unchanged; the caller builds `topology` from it again. Throws
// std::invalid_argument if a transfer has no route.
void write_schedule_file(std::ostream& out, const nlohmann::ordered_json& config,
                         const Topology& topology, const ScheduleTables& tables);

// Reading takes two steps, because the tables need the topology that `config` describes. parse()
// reads JSON of this format and version, without duplicate keys.
class ScheduleDocument {
 public:
  [[nodiscard]] static FileResult<ScheduleDocument> parse(const std::string& text);
  // Reads the file `path` and parses it. `hashes` gets the hash of its text if it can be read.
  [[nodiscard]] static FileResult<ScheduleDocument> load(const std::string& path,
                                                         FileHashes& hashes);
  // The `config` given to write_schedule_file, at its place in the file.
  [[nodiscard]] std::string config_text() const { return member_at_its_place(text_, "config"); }
  // Strict: all keys are known, none is missing, and numbers are in range. certify() proves that
  // the tables implement the collective.
  [[nodiscard]] FileResult<ScheduleTables> read_tables(const Topology& topology) const;

 private:
  ScheduleDocument(nlohmann::ordered_json json, std::string text)
      : json_(std::move(json)), text_(std::move(text)) {}
  nlohmann::ordered_json json_;
  std::string text_;  // for the places of errors
};

}  // namespace espalier
