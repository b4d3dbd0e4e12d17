// A collective program as the contexts of all NIs are loaded with it: what they share.
#pragma once

#include <cstdint>
#include <vector>

#include "alg/program/program.h"
#include "alg/program/protocol.h"
#include "hw/ids.h"
#include "ni/engines/request_grid.h"
#include "ni/engines/slot_credits.h"

namespace espalier {

// What a context costs, in cycles where nothing else is said.
struct ContextSpec {
  Bytes request_bytes = 64 << 10;  // data of one request, the piece that a message carries
  // Requests that a context has under way at once: with the latency of memory they bound what one
  // context can move.
  std::uint32_t requests = 8;
  Bytes bytes_per_cycle = 0;  // what one context moves, on the wire; 0: unlimited
  Cycle decode = 1;           // from a step's turn to its first request
  Cycle fence = 0;            // before the flag that completes a slot; where the protocol has one
  Cycle doorbell = 0;         // from the host's call, or the end of the one before, to the load
  Cycle load_per_step = 0;    // of a rank's steps of the call
  // Of each slot that is sent to another server, one after the other at an NI: posting it to the
  // network.
  Cycle network_slot = 0;
  std::uint32_t ranks_per_server = 0;  // 0: there is one
};

// A connection with the way its messages take.
struct ProgramRoute {
  Connection connection;
  RouteId route;
};

class ContextProgram {
 public:
  // `program` must outlive it, and be certified, or at least not malformed. `routes`: one for each
  // of connections_of(program), in its order.
  ContextProgram(const Program& program, const Tiling& tiling, const ProtocolSpec& protocol,
                 const ContextSpec& spec, const std::vector<RouteId>& routes);

  [[nodiscard]] const Program& program() const { return program_; }
  [[nodiscard]] const ProgramStorage& storage() const { return storage_; }
  [[nodiscard]] const Tiling& tiling() const { return tiling_; }
  [[nodiscard]] const ProtocolSpec& protocol() const { return protocol_; }
  [[nodiscard]] const ContextSpec& spec() const { return spec_; }
  [[nodiscard]] const std::vector<ThreadBlock>& blocks(NodeId rank) const {
    return program_.ranks[rank.index()].blocks;
  }
  [[nodiscard]] const ProgramRoute& route(ConnectionId connection) const {
    return routes_[connection.index()];
  }
  [[nodiscard]] std::size_t num_connections() const { return routes_.size(); }
  // The connections of a block; invalid where it has none.
  [[nodiscard]] ConnectionId send_connection(NodeId rank, std::size_t block) const {
    return ends_[rank.index()][block].send;
  }
  [[nodiscard]] ConnectionId recv_connection(NodeId rank, std::size_t block) const {
    return ends_[rank.index()][block].recv;
  }
  [[nodiscard]] bool leaves_server(ConnectionId connection) const {
    if (spec_.ranks_per_server == 0) return false;
    const Connection& ends = routes_[connection.index()].connection;
    return ends.from / spec_.ranks_per_server != ends.to / spec_.ranks_per_server;
  }
  [[nodiscard]] RequestGrid requests(const ProgramStep& step, std::uint64_t tile) const {
    return {tiling_, tile, step.count, spec_.request_bytes};
  }
  // From the launch of call `call` at `rank` to its first instruction.
  [[nodiscard]] Cycle launch_cycles(NodeId rank, std::uint32_t call) const;

  // Of the whole program: messages, and their bytes on the wire.
  [[nodiscard]] std::uint64_t num_operations() const { return num_operations_; }
  [[nodiscard]] Bytes total_bytes() const { return total_bytes_; }

 private:
  struct Ends {
    ConnectionId send;
    ConnectionId recv;
  };
  void count_operations();

  const Program& program_;
  ProgramStorage storage_;
  Tiling tiling_;
  ProtocolSpec protocol_;
  ContextSpec spec_;
  std::vector<ProgramRoute> routes_;
  std::vector<std::vector<Ends>> ends_;  // by rank and block
  std::uint64_t num_operations_ = 0;
  Bytes total_bytes_ = 0;
};

}  // namespace espalier
