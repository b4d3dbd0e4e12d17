// What one simulation shows of itself, as far as it must not depend on the fidelity.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "hw/topology/topology.h"
#include "sims/point/config.h"

namespace espalier::fuzz {

struct MessageKey {
  std::uint64_t from = 0;
  std::uint64_t to = 0;
  std::uint64_t flow = 0;  // the largest id for traffic
  std::uint64_t kind = 0;  // TransferKind
  std::uint64_t first_chunk = 0;
  std::uint64_t bytes = 0;
  std::uint64_t ready = 0;  // traffic: when it was posted; 0 for collectives, where it is a result
};
[[nodiscard]] bool operator<(const MessageKey& a, const MessageKey& b);
[[nodiscard]] bool operator==(const MessageKey& a, const MessageKey& b);

struct DeliveredMessage {
  MessageKey key;
  Cycle issued = 0;
  Cycle delivered = 0;
};

struct Quantity64 {
  std::string name;
  std::uint64_t value = 0;
};

struct Observation {
  bool ended = false;  // with an outcome, good or bad; else it threw, crashed or ran too long
  std::string words;   // the outcome's failure, or how it ended without one
  std::vector<Quantity64> quantities;        // always the same ones, in the same order
  std::vector<DeliveredMessage> deliveries;  // by key, then by time
};

// Simulates in a child process, with a limit on its CPU time.
[[nodiscard]] Observation observe(const Topology& topology, const RunPoint& point);

}  // namespace espalier::fuzz
