#include "ni/engines/stream_program.h"

#include <algorithm>
#include <utility>

namespace espalier {

namespace {

TableEvent arrival(const Operation& send) {
  const bool reduces = send.on_arrival == TransferKind::reduce;
  return {send.flow, reduces ? TableEvent::Kind::reduced : TableEvent::Kind::gathered, send.from};
}

}  // namespace

StreamProgram load_stream(ScheduleTables tables, std::size_t nodes) {
  std::vector<TableProgram> programs = load_tables(tables);
  tables.nodes.clear();
  StreamProgram stream{std::move(tables), std::move(programs), {}, {}, {}, 0, 0};
  stream.arrivals.resize(nodes);
  stream.numbers = stream.tables.chunks.size();
  for (std::size_t n = 0; n < nodes; ++n) {
    const NodeFrame frame(stream.tables, NodeId(n));
    for (const Operation& in_table : stream.program(NodeId(n)).sends) {
      const Operation send = frame.in_network(in_table);
      stream.arrivals[send.to.index()].push_back(arrival(send));
      stream.numbers = std::max(stream.numbers, send.flow.index() + 1);
      ++stream.operations;
    }
  }
  for (auto& of_node : stream.arrivals) std::sort(of_node.begin(), of_node.end());
  return stream;
}

}  // namespace espalier
