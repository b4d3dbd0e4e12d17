// One line for each delivered message: `espalier run --messages FILE`.
#pragma once

#include <cstddef>
#include <fstream>
#include <string>
#include <vector>

#include "hw/topology/topology.h"
#include "sims/system/simulation.h"
#include "sims/text/whole_file.h"

namespace espalier {

// The lines of one point, sorted by cycle of delivery, then sender, receiver and flow. Within a
// cycle the fidelities deliver in different orders, so the lines of a cycle are sorted.
class MessageLog {
 public:
  // `point` counts from 1. Columns that do not apply to a message stay empty.
  MessageLog(const std::string& path, std::size_t point, const Topology& topology, bool is_traffic);

  void note(const Operation& message, Cycle delivered);
  // Writes the last lines. Returns false and removes the file if it could not be written.
  [[nodiscard]] bool finish();

 private:
  void write_cycle();
  [[nodiscard]] std::string name_beside_gradients(const Operation& message) const;

  std::string path_;
  std::size_t point_;
  const Topology& topology_;
  bool is_traffic_;
  RemovedOnStop removed_;
  std::ofstream file_;
  Cycle cycle_ = 0;
  std::vector<Operation> delivered_;  // in `cycle_`
};

// The file of all points. Every simulation writes a part, possibly in another process; join()
// writes the parts in the order of the points. The destructor removes the parts.
class MessageLogParts {
 public:
  MessageLogParts(std::string target, std::size_t points);
  ~MessageLogParts();
  MessageLogParts(const MessageLogParts&) = delete;
  MessageLogParts& operator=(const MessageLogParts&) = delete;

  // The file for the lines of this point.
  [[nodiscard]] std::string part(std::size_t point) const;
  [[nodiscard]] bool has_part(std::size_t point) const;
  // A missing part adds no lines. Returns false if the target cannot be written; a file of that
  // name then keeps its contents.
  [[nodiscard]] bool join() const;

 private:
  std::string target_;
  std::string ending_;  // of the parts' names
  std::size_t points_;
};

}  // namespace espalier
