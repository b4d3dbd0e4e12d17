// One line for each delivered message: `espalier run --messages FILE`.
#pragma once

#include <cstddef>
#include <fstream>
#include <string>
#include <vector>

#include "hw/topology/topology.h"
#include "sims/system/simulation.h"

namespace espalier {

// The lines of one point, in the order of delivery; within a cycle by sender, receiver, flow, so
// that they do not depend on the order in which a simulation finds out.
class MessageLog {
 public:
  // `point` counts from 1. What does not belong to traffic, or to a collective, stays empty.
  MessageLog(const std::string& path, std::size_t point, const Topology& topology, bool is_traffic);

  void note(const Operation& message, Cycle delivered);
  // Writes what is left. Throws std::runtime_error where the file could not be written.
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

// The file of all points: every simulation writes a part of its own, perhaps from a process of its
// own, and these are joined in the order of the points. The parts are gone with this object.
class MessageLogParts {
 public:
  MessageLogParts(std::string target, std::size_t points);
  ~MessageLogParts();
  MessageLogParts(const MessageLogParts&) = delete;
  MessageLogParts& operator=(const MessageLogParts&) = delete;

  // Begins the target with its header; false where it cannot be written.
  [[nodiscard]] bool begin() const;
  [[nodiscard]] std::string part(std::size_t point) const;
  // A part that is missing adds nothing. False where the target cannot be written.
  [[nodiscard]] bool join() const;

 private:
  std::string target_;
  std::size_t points_;
};

}  // namespace espalier
