// A collective program as loaded into the contexts of all NIs. All NIs share one.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "alg/program/connection_routes.h"
#include "alg/program/program.h"
#include "alg/program/protocol.h"
#include "hw/ids.h"
#include "ni/engines/slot_credits.h"

namespace espalier {

struct Request {
  Bytes bytes = 0;  // of data
  // The chunks of the step whose last byte is in this request: [first_chunk, first_chunk +
  // num_chunks). They count as moved when the request has moved.
  std::uint32_t first_chunk = 0;
  std::uint32_t num_chunks = 0;
  bool begins_slot = false;
  bool ends_slot = false;
};

inline constexpr Bytes kSignalBytes = 8;  // what adds one to a semaphore in the peer's memory

// Cuts a step into requests. Sender and receiver cut in the same way, so the k-th request of the
// sender is the k-th request of the receiver.
class RequestGrid {
 public:
  RequestGrid() = default;
  // The requests of a step of `count` chunks in pass `tile`.
  RequestGrid(const Tiling& tiling, std::uint64_t tile, std::uint32_t count, Bytes request_bytes)
      : chunk_(tiling.bytes_in(tile)),
        request_(request_bytes),
        count_(count),
        chunks_per_slot_(tiling.chunks_per_slot) {
    per_slot_ = requests_for(std::min(count, chunks_per_slot_));
    const std::uint32_t slots = tiling.transactions(count);
    if (slots == 0) return;
    const std::uint32_t last = count - (slots - 1) * chunks_per_slot_;
    size_ = (slots - 1) * per_slot_ + requests_for(last);
  }

  // A signal: one request that carries no chunk.
  [[nodiscard]] static RequestGrid signal() {
    RequestGrid grid;
    grid.size_ = 1;
    return grid;
  }

  [[nodiscard]] std::uint64_t size() const { return size_; }

  [[nodiscard]] Request at(std::uint64_t index) const {
    if (count_ == 0) return {kSignalBytes, 0, 0, true, true};
    const std::uint64_t slot = index / per_slot_;
    const auto first = static_cast<std::uint32_t>(slot) * chunks_per_slot_;
    const Bytes slot_bytes = std::min(count_ - first, chunks_per_slot_) * chunk_;
    const Bytes begin = index % per_slot_ * request_;
    const Bytes end = std::min(begin + request_, slot_bytes);
    Request request;
    request.bytes = end - begin;
    request.first_chunk = first + static_cast<std::uint32_t>(begin / chunk_);
    request.num_chunks = static_cast<std::uint32_t>(end / chunk_ - begin / chunk_);
    request.begins_slot = begin == 0;
    request.ends_slot = end == slot_bytes;
    return request;
  }

 private:
  [[nodiscard]] std::uint64_t requests_for(std::uint32_t chunks) const {
    return (chunks * chunk_ + request_ - 1) / request_;
  }

  Bytes chunk_ = 0;
  Bytes request_ = 1;
  std::uint32_t count_ = 0;
  std::uint32_t chunks_per_slot_ = 1;
  std::uint64_t per_slot_ = 1;
  std::uint64_t size_ = 0;
};

// What a context costs; in cycles if no other unit is stated.
struct ContextSpec {
  Bytes request_bytes = 64 << 10;  // data of one request, which one message carries
  // Requests of a context that may be in flight at once. Together with the latency of memory, this
  // limits the bandwidth of one context.
  std::uint32_t requests = 8;
  // Bandwidth of one context, counted in bytes on the wire; 0: unlimited.
  Bytes bytes_per_cycle = 0;
  Cycle decode = 1;         // from the start of a step to its first request
  Cycle fence = 0;          // before the flag that completes a slot, if the protocol has a fence
  Cycle doorbell = 0;       // from the host's call, or the end of the previous call, to the load
  Cycle load_per_step = 0;  // for each step that the rank has in the call
  // Time of the proxy, one thread of the host for each NI, for a slot sent to another server, and
  // for a slot received from another server. The proxy handles one slot at a time.
  Cycle network_slot = 0;
  Cycle network_receive = 0;
  std::uint32_t ranks_per_server = 0;  // 0: there is only one server
};

// A connection with the routes of its messages.
struct ProgramRoute {
  Connection connection;
  ConnectionRoutes routes;
  std::vector<Bytes> bytes;  // on the wire, by route
};

class ContextProgram {
 public:
  // `program` must outlive this object, and be certified, or at least well-formed. `routes`: by
  // connection, in the order of connections_of(program).
  ContextProgram(const Program& program, const Tiling& tiling, const ProtocolSpec& protocol,
                 const ContextSpec& spec, const std::vector<ConnectionRoutes>& routes);

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
  // The connections of a block; an invalid id if the block does not send, or does not receive.
  [[nodiscard]] ConnectionId send_connection(NodeId rank, std::size_t block) const {
    return ends_[rank.index()][block].send;
  }
  [[nodiscard]] ConnectionId recv_connection(NodeId rank, std::size_t block) const {
    return ends_[rank.index()][block].recv;
  }
  [[nodiscard]] bool is_switch(NodeId rank) const { return rank.index() >= program_.num_ranks(); }
  [[nodiscard]] bool leaves_server(ConnectionId connection) const {
    if (spec_.ranks_per_server == 0) return false;
    const Connection& ends = routes_[connection.index()].connection;
    return ends.from / spec_.ranks_per_server != ends.to / spec_.ranks_per_server;
  }
  [[nodiscard]] RequestGrid requests(const ProgramStep& step, std::uint64_t tile) const {
    if (step.count == 0 && step.op != ProgramOp::nop) return RequestGrid::signal();
    return {tiling_, tile, step.count, spec_.request_bytes};
  }
  // Cycles from the launch of call `call` at `rank` to the first instruction.
  [[nodiscard]] Cycle launch_cycles(NodeId rank, std::uint32_t call) const;

  // Messages of the whole program, and their bytes on the wire.
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
