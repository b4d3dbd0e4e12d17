// Schedule tables as a JSON file: written to be looked at, checked and run again by others.
#pragma once

#include <iosfwd>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "alg/schedule/schedule_table.h"
#include "hw/topology/topology.h"

namespace espalier {

// What came out of reading, or why nothing did: a sentence that names the place as a JSON pointer.
template <class T>
struct FileResult {
  std::optional<T> value;
  std::string error;
};

// `config` is whatever the caller needs to build `topology` again; it is stored as it is.
// Throws std::invalid_argument where a peer that is sent to has no route: such tables cannot be
// stored.
void write_schedule_file(std::ostream& out, const nlohmann::ordered_json& config,
                         const Topology& topology, const ScheduleTables& tables);

// Reading takes two steps, for the tables mean nothing without the topology that `config`
// describes. First the text: JSON in which no object has a key twice, of this format and version.
class ScheduleDocument {
 public:
  [[nodiscard]] static FileResult<ScheduleDocument> parse(const std::string& text);
  // What was given to write_schedule_file.
  [[nodiscard]] const nlohmann::ordered_json& config() const { return json_.at("config"); }
  // Strict: every key is known, none is missing, every number fits. Whether the tables do what they
  // should is for certify() to say.
  [[nodiscard]] FileResult<ScheduleTables> read_tables(const Topology& topology) const;

 private:
  explicit ScheduleDocument(nlohmann::ordered_json json) : json_(std::move(json)) {}
  nlohmann::ordered_json json_;
};

}  // namespace espalier
