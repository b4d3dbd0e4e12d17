#include "ni/engines/table_program.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <map>
#include <set>
#include <tuple>

#include "alg/generators/generator.h"
#include "tests/support/networks.h"
#include "tests/unit/test_graphs.h"

namespace espalier {
namespace {

using Kind = TableEvent::Kind;

ScheduleTables tables_of(const char* algorithm, const Topology& topology, Bytes size,
                         CollectiveOp op = CollectiveOp::all_reduce) {
  CollectiveRequest request;
  request.op = op;
  request.size = size;
  return lower_to_tables(find_generator(algorithm)->generate(topology, request));
}

std::vector<TableEvent> events_of(const TableProgram& program, std::size_t entry) {
  std::vector<TableEvent> events;
  for (const auto& waiter : program.waiters) {
    if (waiter.entry == entry) events.push_back(waiter.event);
  }
  return events;
}

TEST_CASE("Loading the paper's 2x2 mesh gives waits and sends of accelerator 0") {
  const Topology mesh = make_mesh({2, 2}, test::kPlainLink);
  const auto programs = load_tables(tables_of("multitree", mesh, 4096));
  REQUIRE(programs.size() == 4);
  const TableProgram& program = programs[0];
  // Reduce 3 -> 1 | Reduce 1 -> 1 | Reduce 2 -> 2 after child 1 | Gather 0 (root) to 1 and 2 |
  // Gather 2 from 2 to 1
  REQUIRE(program.entries.size() == 5);
  CHECK(program.entries[0].waits_for == 0);
  CHECK(program.entries[1].waits_for == 0);
  CHECK(events_of(program, 2) == std::vector<TableEvent>{{FlowId(2), Kind::reduced, NodeId(1)}});
  CHECK(events_of(program, 3) == std::vector<TableEvent>{{FlowId(0), Kind::reduced, NodeId(1)},
                                                         {FlowId(0), Kind::reduced, NodeId(2)}});
  CHECK(events_of(program, 4) == std::vector<TableEvent>{{FlowId(2), Kind::gathered, NodeId(2)}});
  for (std::size_t e = 0; e < 5; ++e) {
    CHECK(program.entries[e].reads_back == (e == 3));
    CHECK(program.entries[e].num_sends == (e == 3 ? 2 : 1));
    CHECK(program.entries[e].waits_for == events_of(program, e).size());
    CHECK(program.entries[e].waits_for_flows == 0);
  }
  const Operation& reduce = program.sends[program.entries[0].first_send];
  CHECK(reduce.on_arrival == TransferKind::reduce);
  CHECK(reduce.from == NodeId(0));
  CHECK(reduce.to == NodeId(1));
  CHECK(reduce.first_chunk == ChunkId(3));
  CHECK(reduce.num_chunks == 1);
  CHECK(reduce.bytes == 1024);
  CHECK(program.sends[program.entries[3].first_send].on_arrival == TransferKind::copy);
}

TEST_CASE("A root waits for nothing in an all_gather") {
  const Topology mesh = make_mesh({2, 2}, test::kPlainLink);
  for (const TableProgram& program :
       load_tables(tables_of("multitree", mesh, 4096, CollectiveOp::all_gather))) {
    REQUIRE_FALSE(program.entries.empty());
    CHECK(program.entries[0].waits_for == 0);
    for (const ProgramEntry& entry : program.entries) CHECK_FALSE(entry.reads_back);
  }
}

TEST_CASE("A ring's root waits for the Reduce that ends there though its children are elsewhere") {
  const Topology torus = make_torus({2, 2}, test::kPlainLink);
  const ScheduleTables tables = tables_of("ring", torus, 4096);
  const auto programs = load_tables(tables);
  std::size_t roots = 0;
  for (std::size_t n = 0; n < programs.size(); ++n) {
    for (std::size_t e = 0; e < programs[n].entries.size(); ++e) {
      const TableEntry& entry = tables.nodes[n][e];
      if (entry.op != TableOp::gather || entry.parent.node.valid()) continue;
      ++roots;
      const auto events = events_of(programs[n], e);
      REQUIRE(events.size() == 1);
      CHECK(events[0].kind == Kind::reduced);
      CHECK(events[0].flow == entry.flow);
      CHECK(programs[n].entries[e].reads_back);
    }
  }
  CHECK(roots == 4);
}

TEST_CASE("Every awaited message is sent by the peer and every message sent has its bytes") {
  for (const char* algorithm : {"ring", "bidirectional_ring", "2d_ring", "multitree"}) {
    const Topology torus = make_torus({4, 4}, test::kPlainLink);
    for (const Bytes size : {Bytes{64}, Bytes{1000}, Bytes{65536}}) {
      const ScheduleTables tables = tables_of(algorithm, torus, size);
      const auto programs = load_tables(tables);
      std::map<std::tuple<NodeId, TableEvent>, int> sent;
      for (const TableProgram& program : programs) {
        for (const Operation& send : program.sends) {
          const Kind kind =
              send.on_arrival == TransferKind::reduce ? Kind::reduced : Kind::gathered;
          ++sent[{send.to, {send.flow, kind, send.from}}];
          const Kind left =
              send.on_arrival == TransferKind::reduce ? Kind::reduce_sent : Kind::gather_sent;
          ++sent[{send.from, {send.flow, left, send.to}}];
          Bytes bytes = 0;
          for (std::uint32_t c = 0; c < send.num_chunks; ++c) {
            bytes += tables.chunks[send.first_chunk.index() + c].size;
          }
          CHECK(bytes == send.bytes);
          CHECK(send.bytes != 0);
        }
      }
      CAPTURE(algorithm, size);
      for (std::size_t n = 0; n < programs.size(); ++n) {
        CHECK(std::is_sorted(programs[n].waiters.begin(), programs[n].waiters.end(),
                             [](const auto& a, const auto& b) { return a.event < b.event; }));
        for (const auto& waiter : programs[n].waiters) {
          const auto found = sent.find({NodeId(n), waiter.event});
          CHECK(found != sent.end());
        }
      }
    }
  }
}

TEST_CASE("Flows an entry comes after become awaited events and hold its Reduces") {
  // 0 - 1: flow 0 is gathered from 0 to 1; flow 1's Reduce at node 1 comes after flow 0.
  const Topology line = make_mesh({2}, test::kPlainLink);
  ScheduleTables tables(line);
  tables.num_steps = 2;
  tables.size = 16;
  tables.chunks = {{0, 8, NodeId(0)}, {8, 8, NodeId(1)}};
  const auto there = RouteSet::single(line.link_between(NodeId(0), NodeId(1)));
  const auto back = RouteSet::single(line.link_between(NodeId(1), NodeId(0)));
  TableEntry gather;
  gather.op = TableOp::gather;
  gather.flow = FlowId(0);
  gather.children = {{NodeId(1), there}};
  gather.size = 8;
  TableEntry reduce;
  reduce.op = TableOp::reduce;
  reduce.flow = FlowId(1);
  reduce.parent = {NodeId(0), back};
  reduce.step = 2;
  reduce.start_addr = 8;
  reduce.size = 8;
  reduce.after = {FlowId(0)};
  tables.nodes = {{gather}, {reduce}};
  const auto programs = load_tables(tables);
  const TableProgram& program = programs[1];
  REQUIRE(program.entries.size() == 1);
  CHECK(program.entries[0].waits_for == 1);
  CHECK(program.entries[0].waits_for_flows == 1);
  CHECK_FALSE(program.entries[0].reads_back);
  REQUIRE(program.waiters.size() == 1);
  CHECK(program.waiters[0].event == TableEvent{FlowId(0), Kind::gathered, NodeId(0)});
  CHECK(program.waiters[0].completes_flow);
  REQUIRE(program.holds.size() == 1);
  CHECK(program.holds[0].flow == FlowId(1));
  CHECK(program.sends[0].first_chunk == ChunkId(1));

  // At node 0 flow 0 is sent: an entry after it waits for the message to have left.
  TableEntry own = gather;
  own.flow = FlowId(2);
  own.step = 2;
  own.after = {FlowId(0)};
  tables.nodes[0].push_back(own);
  const TableProgram sender = load_tables(tables)[0];
  CHECK(events_of(sender, 1) == std::vector<TableEvent>{{FlowId(0), Kind::gather_sent, NodeId(1)}});
}

// In a ring a node's Reduce and its Gather of one flow go to the same neighbour: two messages that
// leave at different times.
TEST_CASE("The events that one entry waits for are all different") {
  const Topology torus = make_torus({4, 4}, test::kPlainLink);
  std::size_t repeated = 0;
  for (const TableProgram& program : load_tables(tables_of("2d_ring", torus, 65536))) {
    for (std::size_t e = 0; e < program.entries.size(); ++e) {
      const auto events = events_of(program, e);  // sorted
      if (std::adjacent_find(events.begin(), events.end()) != events.end()) ++repeated;
    }
  }
  CHECK(repeated == 0);
}

TEST_CASE("An address range maps to its chunks and skips empty ones before it") {
  const Topology line = make_mesh({2}, test::kPlainLink);
  ScheduleTables tables(line);
  tables.num_steps = 1;
  tables.size = 24;
  tables.chunks = {{0, 8, NodeId(0)}, {8, 0, NodeId(0)},  {8, 0, NodeId(0)},
                   {8, 8, NodeId(0)}, {16, 0, NodeId(0)}, {16, 8, NodeId(0)}};
  TableEntry entry;
  entry.op = TableOp::gather;
  entry.flow = FlowId(0);
  entry.children = {{NodeId(1), RouteSet::single(line.link_between(NodeId(0), NodeId(1)))}};
  entry.start_addr = 8;
  entry.size = 16;
  tables.nodes = {{entry}, {}};
  const Operation send = load_tables(tables)[0].sends[0];
  CHECK(send.first_chunk == ChunkId(3));
  CHECK(send.num_chunks == 3);
}

TEST_CASE("Events order by flow then kind then peer") {
  const TableEvent base{FlowId(1), Kind::gathered, NodeId(1)};
  CHECK(TableEvent{FlowId(0), Kind::reduce_sent, NodeId(9)} < base);
  CHECK(TableEvent{FlowId(1), Kind::reduced, NodeId(9)} < base);
  CHECK(TableEvent{FlowId(1), Kind::gathered, NodeId(0)} < base);
  CHECK_FALSE(base < base);
  CHECK(base < TableEvent{FlowId(1), Kind::reduce_sent, NodeId(0)});
}

TEST_CASE("Messages to a node are numbered without gaps in each timestep") {
  for (const char* algorithm : {"multitree", "2d_ring"}) {
    const Topology torus = make_torus({4, 4}, test::kPlainLink);
    const ScheduleTables tables = tables_of(algorithm, torus, 65536);
    std::vector<TableProgram> programs = load_tables(tables);
    number_arrivals(torus, tables, programs);
    std::map<std::pair<NodeId, Timestep>, std::set<std::uint32_t>> numbers;
    std::map<std::pair<NodeId, Timestep>, std::size_t> messages;
    for (const TableProgram& program : programs) {
      for (const ProgramEntry& entry : program.entries) {
        for (std::uint32_t s = 0; s < entry.num_sends; ++s) {
          const Operation& send = program.sends[entry.first_send + s];
          numbers[{send.to, entry.step}].insert(send.arrival);
          ++messages[{send.to, entry.step}];
        }
      }
    }
    REQUIRE(!numbers.empty());
    for (const auto& [place, of_place] : numbers) {
      CHECK(of_place.size() == messages[place]);
      CHECK(*of_place.rbegin() == messages[place] - 1);
    }
  }
}

TEST_CASE("A receiver's messages are numbered by the roots of their flows") {
  const Topology torus = make_torus({4, 4}, test::kPlainLink);
  const ScheduleTables tables = tables_of("multitree", torus, 65536);
  std::vector<TableProgram> programs = load_tables(tables);
  number_arrivals(torus, tables, programs);
  std::map<std::pair<NodeId, Timestep>, std::map<std::uint32_t, FlowId>> arrivals;
  for (const TableProgram& program : programs) {
    for (const ProgramEntry& entry : program.entries) {
      for (std::uint32_t s = 0; s < entry.num_sends; ++s) {
        const Operation& send = program.sends[entry.first_send + s];
        arrivals[{send.to, entry.step}][send.arrival] = send.flow;
      }
    }
  }
  for (const auto& [place, flows] : arrivals) {
    for (auto f = flows.begin(); std::next(f) != flows.end(); ++f) {
      CHECK(f->second <= std::next(f)->second);  // MultiTree's flows are numbered by root
    }
  }
}

}  // namespace
}  // namespace espalier
