#include "ni/engines/context_program.h"

namespace espalier {

ContextProgram::ContextProgram(const Program& program, const Tiling& tiling,
                               const ProtocolSpec& protocol, const ContextSpec& spec,
                               const std::vector<ConnectionRoutes>& routes)
    : program_(program), storage_(program), tiling_(tiling), protocol_(protocol), spec_(spec) {
  for (const RankProgram& rank : program.ranks) ends_.emplace_back(rank.blocks.size());
  const std::vector<Connection> connections = connections_of(program);
  for (std::size_t c = 0; c < connections.size(); ++c) {
    const Connection& connection = connections[c];
    routes_.push_back({connection, routes[c], std::vector<Bytes>(routes[c].size(), 0)});
    if (connection.send_block != kNoPeer) {
      ends_[connection.from][static_cast<std::size_t>(connection.send_block)].send =
          ConnectionId(c);
    }
    if (connection.recv_block != kNoPeer) {
      ends_[connection.to][static_cast<std::size_t>(connection.recv_block)].recv = ConnectionId(c);
    }
  }
  count_operations();
}

Cycle ContextProgram::launch_cycles(NodeId rank, std::uint32_t call) const {
  if (is_switch(rank)) return 0;  // no host calls it
  Cycle steps = 0;
  for (const ThreadBlock& block : blocks(rank)) {
    if (block.call == call) steps += block.steps.size();
  }
  return spec_.doorbell + steps * spec_.load_per_step;
}

void ContextProgram::count_operations() {
  for (std::size_t rank = 0; rank < program_.ranks.size(); ++rank) {
    const std::vector<ThreadBlock>& blocks = program_.ranks[rank].blocks;
    for (std::size_t b = 0; b < blocks.size(); ++b) {
      for (const ProgramStep& step : blocks[b].steps) {
        if (!sends(step.op)) continue;
        ProgramRoute& route = routes_[ends_[rank][b].send.index()];
        // All passes but the last have the same sizes.
        const auto count_pass = [&](std::uint64_t tile, std::uint64_t passes) {
          const RequestGrid grid = requests(step, tile);
          num_operations_ += passes * grid.size();
          for (std::uint64_t r = 0; r < grid.size(); ++r) {
            const Bytes bytes = protocol_.wire_bytes(grid.at(r).bytes);
            total_bytes_ += passes * bytes;
            const std::vector<Bytes> parts = route.routes.cut(bytes);
            for (std::size_t p = 0; p < parts.size(); ++p) route.bytes[p] += passes * parts[p];
          }
        };
        if (tiling_.tiles > 1) count_pass(0, tiling_.tiles - 1);
        count_pass(tiling_.tiles - 1, 1);
      }
    }
  }
}

}  // namespace espalier
