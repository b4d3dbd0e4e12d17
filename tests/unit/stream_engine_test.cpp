// The order in which one NI executes what its host posts, without a network.
#include "ni/engines/stream_engine.h"

#include <catch2/catch.hpp>
#include <memory>
#include <vector>

#include "alg/generators/generator.h"
#include "alg/schedule/schedule_table.h"
#include "tests/support/networks.h"

namespace espalier {
namespace {

using Catch::Matchers::Contains;

// Notes what is issued.
class FakeBackEnd : public BackEnd {
 public:
  [[nodiscard]] bool reduction_idle(Cycle) const override { return true; }
  [[nodiscard]] Cycle reduction_idle_at() const override { return 0; }
  [[nodiscard]] bool all_sent() const override { return true; }
  [[nodiscard]] bool has_room(const Operation&) const override { return true; }
  [[nodiscard]] bool has_ports_for(std::uint32_t) const override { return true; }
  void issue(const Operation& operation, Cycle) override { issued.push_back(operation); }
  WorkTimes work(const LocalWork&, Cycle) override { return {}; }

  std::vector<Operation> issued;
};

class FakeHosts : public StreamObserver {
 public:
  void collective_done(NodeId, StreamCollective& collective, Cycle now) override {
    done.emplace_back(collective.number, now);
  }
  [[nodiscard]] std::string name_of(const StreamCollective& collective) const override {
    return "<" + std::to_string(collective.number) + ">";
  }
  [[nodiscard]] std::string host_of(NodeId) const override { return "the host"; }

  std::vector<std::pair<std::uint32_t, Cycle>> done;
};

// Node 0 of two in a ring: in each collective it sends a Reduce and a Gather, and receives both.
class Stream {
 public:
  explicit Stream(std::uint32_t contexts = 1)
      : topology(make_mesh({2}, {150'000, 16'000'000'000})), engine(NodeId(0), contexts, hosts) {
    CollectiveRequest request;
    request.size = 800;
    program = std::make_unique<StreamProgram>(
        load_stream(lower_to_tables(find_generator("ring")->generate(topology, request)), 2));
    program->engine.lockstep = LockstepMode::off;
    for (std::size_t r = 0; r < program->tables.routes.size(); ++r) {
      program->bound[&group].emplace_back(RouteId(r), RouteId(100 + r));
    }
    first = std::make_unique<StreamCollective>(*program, group, 7, ChunkId(0));
    second = std::make_unique<StreamCollective>(*program, group, 4, ChunkId(program->numbers));
  }

  // What node 1 sends in `collective`.
  [[nodiscard]] Operation from_node_1(const StreamCollective& collective, TransferKind kind) const {
    Operation found;
    for (const Operation& send : program->program(NodeId(1)).sends) {
      if (send.on_arrival == kind) found = send;
    }
    found.flow = FlowId(found.flow.index() + collective.first.index());
    found.first_chunk = ChunkId(found.first_chunk.index() + collective.first.index());
    return found;
  }
  void receive(const StreamCollective& collective, TransferKind kind, Cycle now) {
    const Operation operation = from_node_1(collective, kind);
    engine.write(operation, std::vector<DataTag>(operation.num_chunks, 1));
    engine.completed(operation, now);
  }
  void send_all(Cycle now) {
    for (const Operation& operation : std::exchange(back_end.issued, {})) {
      engine.sent(operation, now);
    }
  }

  Topology topology;
  StreamGroup group{2};
  FakeHosts hosts;
  FakeBackEnd back_end;
  StreamEngine engine;
  std::unique_ptr<StreamProgram> program;
  std::unique_ptr<StreamCollective> first;
  std::unique_ptr<StreamCollective> second;
};

TEST_CASE("A stream begins a collective in the cycle in which it is posted, not before") {
  Stream stream;
  CHECK(stream.engine.evaluate(3, stream.back_end) == kNever);
  CHECK(stream.engine.post(*stream.first, 0, 10));
  CHECK_FALSE(stream.engine.post(*stream.second, 0, 10));
  CHECK(stream.engine.evaluate(9, stream.back_end) == 10);
  CHECK(stream.back_end.issued.empty());
  stream.engine.evaluate(10, stream.back_end);
  CHECK(stream.back_end.issued.size() == 1);
  CHECK(stream.first->first_issue == 10);
}

TEST_CASE("A stream's operations carry their collective's numbers and bound routes") {
  Stream stream;
  CHECK(stream.engine.post(*stream.second, 0, 1));
  stream.engine.evaluate(1, stream.back_end);
  REQUIRE(stream.back_end.issued.size() == 1);
  const Operation& issued = stream.back_end.issued.front();
  CHECK(stream.second->has(issued.flow));
  CHECK_FALSE(stream.first->has(issued.flow));
  CHECK(issued.first_chunk >= stream.second->first);
  CHECK(issued.route.index() >= 100);
  CHECK(issued.rank == 1);
  // What it sends is its own contribution, no other collective's.
  std::vector<DataTag> data;
  stream.engine.read(issued, data);
  REQUIRE(data.size() == issued.num_chunks);
  CHECK(data.front() == contribution(NodeId(0), issued.first_chunk));
}

TEST_CASE("The next collective of a stream waits for sends and arrivals of the one before") {
  for (const bool sends_last : {false, true}) {
    Stream stream;
    CHECK(stream.engine.post(*stream.first, 0, 1));
    CHECK_FALSE(stream.engine.post(*stream.second, 0, 2));
    stream.engine.evaluate(1, stream.back_end);
    stream.receive(*stream.first, TransferKind::reduce, 5);
    stream.engine.evaluate(8, stream.back_end);
    CHECK(stream.back_end.issued.size() == 2);
    if (!sends_last) stream.send_all(9);
    CHECK(stream.hosts.done.empty());
    stream.receive(*stream.first, TransferKind::copy, 11);
    CHECK(stream.hosts.done.empty() == sends_last);
    if (sends_last) {
      CHECK(stream.engine.evaluate(12, stream.back_end) == kNever);
      CHECK(stream.back_end.issued.size() == 2);
      stream.send_all(12);
    }
    const Cycle end = sends_last ? 12 : 11;
    CHECK(stream.hosts.done == std::vector<std::pair<std::uint32_t, Cycle>>{{7, end}});
    CHECK(stream.first->last_visible == 11);
    stream.engine.evaluate(end + 1, stream.back_end);
    REQUIRE(stream.back_end.issued.size() == 1);
    CHECK(stream.second->has(stream.back_end.issued.front().flow));
  }
}

TEST_CASE("A Reduce for a collective that has not begun is held until it has") {
  Stream stream;
  const Operation early = stream.from_node_1(*stream.second, TransferKind::reduce);
  CHECK_FALSE(stream.engine.may_add(early));
  CHECK(stream.engine.post(*stream.first, 0, 1));
  CHECK_FALSE(stream.engine.post(*stream.second, 0, 1));
  stream.engine.evaluate(1, stream.back_end);
  CHECK(stream.engine.may_add(stream.from_node_1(*stream.first, TransferKind::reduce)));
  CHECK_FALSE(stream.engine.may_add(early));
  stream.receive(*stream.first, TransferKind::reduce, 2);
  stream.engine.evaluate(5, stream.back_end);
  stream.send_all(6);
  stream.receive(*stream.first, TransferKind::copy, 7);
  CHECK_FALSE(stream.engine.may_add(early));
  stream.engine.evaluate(8, stream.back_end);
  CHECK(stream.engine.may_add(early));
}

TEST_CASE("A copy for a collective that has not begun is held until it has") {
  Stream stream;
  CHECK(stream.engine.post(*stream.first, 0, 1));
  const Operation copy = stream.from_node_1(*stream.first, TransferKind::copy);
  CHECK_FALSE(stream.engine.has_begun(copy));
  stream.engine.evaluate(1, stream.back_end);
  CHECK(stream.engine.has_begun(copy));
  CHECK_FALSE(stream.engine.has_begun(stream.from_node_1(*stream.second, TransferKind::copy)));
}

TEST_CASE("Collectives of two groups run at once in two contexts, those of one group in turn") {
  for (const std::uint32_t contexts : {1U, 2U}) {
    Stream stream(contexts);
    const StreamGroup other(2);
    stream.program->bound[&other] = stream.program->bound[&stream.group];
    StreamCollective third(*stream.program, other, 9, ChunkId(2 * stream.program->numbers));
    CHECK(stream.engine.post(*stream.first, 0, 1));
    CHECK_FALSE(stream.engine.post(*stream.second, 0, 1));
    CHECK(stream.engine.post(third, 0, 1) == (contexts == 2));
    stream.engine.evaluate(1, stream.back_end);
    REQUIRE(stream.back_end.issued.size() == contexts);
    CHECK(stream.first->has(stream.back_end.issued[0].flow));
    if (contexts == 2) CHECK(third.has(stream.back_end.issued[1].flow));
    CHECK_FALSE(stream.engine.has_begun(stream.from_node_1(*stream.second, TransferKind::copy)));
  }
}

TEST_CASE("The lowest priority number takes the free context and leaves its port first") {
  Stream stream(2);
  const StreamGroup other(2);
  stream.program->bound[&other] = stream.program->bound[&stream.group];
  StreamCollective third(*stream.program, other, 9, ChunkId(2 * stream.program->numbers));
  CHECK(stream.engine.post(*stream.first, 5, 1));
  CHECK(stream.engine.post(third, 3, 1));
  stream.engine.evaluate(1, stream.back_end);
  REQUIRE(stream.back_end.issued.size() == 2);
  CHECK(third.has(stream.back_end.issued[0].flow));
  CHECK(stream.back_end.issued[0].rank == 1 + 3);
  CHECK(stream.back_end.issued[1].rank == 1 + 5);
}

TEST_CASE("A group's program names its members, and the NI puts their nodes in") {
  const StreamGroup group({NodeId(7), NodeId(2), NodeId(5)});
  CHECK(group.size() == 3);
  CHECK(group.node(NodeId(1)) == NodeId(2));
  CHECK(group.member(NodeId(5)) == NodeId(2));
  CHECK_FALSE(group.member(NodeId(3)).valid());
}

WaitList explained(const Stream& stream) {
  WaitList waits;
  stream.engine.explain("ni_0", {"ni_0", "ni_1"}, waits);
  return waits;
}

TEST_CASE("A stream that is stuck says with which collective, and whose message is missing") {
  Stream stream;
  CHECK(explained(stream).front().whom == "the host");
  CHECK(stream.engine.post(*stream.first, 0, 1));
  stream.engine.evaluate(1, stream.back_end);
  REQUIRE(explained(stream).size() == 1);
  CHECK(explained(stream).front().whom == "ni_1");
  CHECK_THAT(explained(stream).front().why, Contains("runs <7>, ") && Contains("the Reduce"));
  stream.receive(*stream.first, TransferKind::reduce, 2);
  stream.engine.evaluate(5, stream.back_end);
  // Nothing is left to issue.
  REQUIRE(explained(stream).size() == 1);
  CHECK(explained(stream).front().whom == "ni_1");
  CHECK_THAT(explained(stream).front().why, Contains("runs <7>, waits for the Gather"));
}

}  // namespace
}  // namespace espalier
