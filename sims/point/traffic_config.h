// Sections traffic, control and tenants: messages that are not a collective's.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "hw/ids.h"

namespace espalier {

// Destinations of traffic, as in Dally and Towles, "Principles and Practices of Interconnection
// Networks", table 3.1, and in BookSim; `neighbor` is the next node by number.
enum class TrafficPattern : std::uint8_t {
  uniform,
  neighbor,
  transpose,
  bit_complement,
  bit_reverse,
  shuffle,
  tornado,
  hotspot,
  file,
  sockets  // messages of a program's TLM initiators
};

// open: sources post messages however full the network is; closed: each message is a request, and a
// source waits for replies.
enum class TrafficLoop : std::uint8_t { open, closed };

// One line of a file of messages.
struct TrafficMessage {
  Cycle ready = 0;
  NodeId from;
  NodeId to;
  Bytes bytes = 0;
};

// Point-to-point messages in place of a collective: drawn at random, as network simulators are
// commonly driven, or listed in a file.
struct TrafficConfig {
  TrafficPattern pattern = TrafficPattern::uniform;
  std::string file;    // file: path as written, relative to `folder`
  std::string folder;  // of the configuration; empty: the current one
  // file: the messages in it; for each source node ascending in time, equal times in the file's
  // order.
  std::vector<TrafficMessage> messages;
  // All other patterns:
  double injection_rate = 0.1;  // flits per node and cycle, head flits included
  Bytes message_bytes = 256;
  // hotspot: this share of the messages goes to one of `hotspots`, and the others go anywhere.
  std::vector<std::uint32_t> hotspots;
  double hotspot_share = 0.5;
  // Mean number of messages that a node generates at one flit per cycle before it pauses; 0: a node
  // draws in every cycle whether a message becomes ready (Bernoulli).
  std::uint32_t burst_messages = 0;
  TrafficLoop loop = TrafficLoop::open;
  // Closed loop: a node generates no request while `outstanding` of its requests have no reply.
  Bytes reply_bytes = 64;
  std::uint32_t outstanding = 4;
  // Messages generated in the measurement window are measured. Afterwards the sources go on for at
  // most drain_cycles, until all measured messages have arrived.
  Cycle warmup_cycles = 5000;
  Cycle measure_cycles = 10000;
  Cycle drain_cycles = 50000;
  std::uint64_t seed = 1;

  [[nodiscard]] Cycle window_end() const { return warmup_cycles + measure_cycles; }
  // No message becomes ready in this cycle or later.
  [[nodiscard]] Cycle end() const { return window_end() + drain_cycles; }
  [[nodiscard]] bool is_closed_loop() const { return loop == TrafficLoop::closed; }
  // The messages are drawn at random. Otherwise a file lists them, or sockets send them.
  [[nodiscard]] bool is_drawn() const {
    return pattern != TrafficPattern::file && pattern != TrafficPattern::sockets;
  }
};

// Destination of a node's control messages: any other node, or the next node.
enum class ControlPattern : std::uint8_t { uniform, neighbor };

// VCs of control messages: a set that gradients do not use, or all VCs together with gradients.
enum class ControlVcs : std::uint8_t { own, shared };

// Short control and synchronization messages. They are normal packets with wormhole switching,
// beside the gradients of a collective or alone on an idle network.
struct ControlConfig {
  ControlPattern pattern = ControlPattern::uniform;
  double injection_rate = 0.01;  // flits per node and cycle, head flits included
  Bytes message_bytes = 16;
  // Messages are posted during this time; 0 ("collective"): until the end of the collective.
  Cycle duration_cycles = 0;
  std::uint64_t seed = 1;
  ControlVcs vcs = ControlVcs::own;
  std::uint32_t vc_depth_flits = 0;  // of own VCs; 0 ("router"): as deep as other VCs
};

// Other tenants of a data centre: flows between racks that alternate between sending and pausing
// while the job runs.
struct TenantsConfig {
  std::uint32_t flows = 16;
  Bytes message_bytes = 65536;
  std::uint64_t bytes_per_second = 1'000'000'000;  // of a flow while it sends
  // Means of geometric distributions.
  std::uint64_t on_time_ps = 1'000'000'000;
  std::uint64_t off_time_ps = 1'000'000'000;
  std::uint64_t seed = 1;
};

}  // namespace espalier
