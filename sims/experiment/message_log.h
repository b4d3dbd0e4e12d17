// One line for each delivered message: `espalier run --messages FILE`.
#pragma once

#include <cstddef>
#include <fstream>
#include <string>
#include <vector>

#include "hw/topology/topology.h"
#include "sims/system/simulation.h"

namespace espalier {

// The lines of one point, by cycle of delivery, then sender, receiver and flow. The simulation's
// own order within a cycle must not show, because the fidelities differ in it.
class MessageLog {
 public:
  // `point` counts from 1. Columns that do not apply to a message stay empty.
  MessageLog(const std::string& path, std::size_t point, const Topology& topology, bool is_traffic);

  void note(const Operation& message, Cycle delivered);
  // Writes the last cycle. Throws std::runtime_error if the file could not be written.
  void finish();

 private:
  void write_cycle();
  [[nodiscard]] std::string name_beside_gradients(const Operation& message) const;

  std::string path_;
  std::size_t point_;
  const Topology& topology_;
  bool is_traffic_;
  std::ofstream file_;
  Cycle cycle_ = 0;
  std::vector<Operation> delivered_;  // in `cycle_`
};

// The file of all points. Each simulation, perhaps in a process of its own, writes a part; the
// parts are joined in the order of the points. The destructor removes the parts.
class MessageLogParts {
 public:
  MessageLogParts(std::string target, std::size_t points);
  ~MessageLogParts();
  MessageLogParts(const MessageLogParts&) = delete;
  MessageLogParts& operator=(const MessageLogParts&) = delete;

  // Begins the target with its header; false where it cannot be written.
  [[nodiscard]] bool begin() const;
  [[nodiscard]] std::string part(std::size_t point) const;
  // A missing part adds nothing. False if the target cannot be written.
  [[nodiscard]] bool join() const;

 private:
  std::string target_;
  std::size_t points_;
};

}  // namespace espalier
