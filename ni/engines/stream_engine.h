// Collectives that a host posts while the simulation runs. Those of one group run one after the
// other in the order of the posts, as on a stream of an accelerator; those of several groups run at
// once, each in a context of the NI.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "alg/schedule/schedule_table.h"
#include "ni/engines/context_program.h"
#include "ni/engines/program_memory.h"
#include "ni/engines/schedule_table_engine.h"
#include "ni/engines/slot_credits.h"
#include "ni/issue_engine.h"
#include "ni/node_memory.h"

namespace espalier {

// The nodes that run collectives with each other. A program of the group calls them its members
// and numbers them from 0.
class StreamGroup {
 public:
  // All of `nodes` nodes: member m is node m.
  explicit StreamGroup(std::size_t nodes) : size_(nodes) {}
  // By member, none twice.
  explicit StreamGroup(std::vector<NodeId> nodes);

  [[nodiscard]] std::size_t size() const { return size_; }
  // Members are numbered as nodes.
  [[nodiscard]] bool is_whole() const { return nodes_.empty(); }
  [[nodiscard]] NodeId node(NodeId member) const {
    return nodes_.empty() ? member : nodes_[member.index()];
  }
  // An invalid id if the node is no member.
  [[nodiscard]] NodeId member(NodeId node) const;

 private:
  std::size_t size_;
  std::vector<NodeId> nodes_;                       // by member; empty: member m is node m
  std::vector<std::pair<NodeId, NodeId>> by_node_;  // node and member
};

using BoundRoutes = std::vector<std::pair<RouteId, RouteId>>;

// A program of thread blocks among the members of a group.
struct StreamBlocks {
  StreamBlocks(Program the_program, const Tiling& tiling, const ProtocolSpec& protocol,
               const ContextSpec& spec, const std::vector<ConnectionRoutes>& routes)
      : program(std::move(the_program)), loaded(program, tiling, protocol, spec, routes) {}
  StreamBlocks(const StreamBlocks&) = delete;  // `loaded` refers to `program`
  StreamBlocks& operator=(const StreamBlocks&) = delete;

  const Program program;
  const ContextProgram loaded;
  std::vector<SlotCredits::Spec> credits;  // by connection
  std::uint32_t root = 0;
};

// A collective that the NIs of a group, or of groups whose routes look alike, may execute any
// number of times. It is loaded once for all of them.
struct StreamProgram {
  // A route of its tables: the packets' route of turn `turn` (route_packet) between two members.
  struct Way {
    RouteId route;
    NodeId from;
    NodeId to;
    std::uint32_t turn = 0;
  };

  // Tables of the whole group, for node frames. The tables of single members are in `programs`.
  ScheduleTables tables;
  std::vector<TableProgram> programs;  // one per member, or a single one that fits all members
  TableEngine::Spec engine;
  // By group: route in the tables or of a connection, ascending, and route in the network.
  std::map<const StreamGroup*, BoundRoutes> bound;
  std::vector<std::vector<TableEvent>> arrivals;  // by member: its messages, ascending
  std::uint64_t operations = 0;                   // of all members
  std::size_t numbers = 0;                        // flow and chunk numbers are below this value
  bool keeps_to_packet_routes = false;            // `ways` has all its routes, ascending
  std::vector<Way> ways;
  // Instead of tables; then `tables`, `programs` and `arrivals` are empty.
  std::shared_ptr<const StreamBlocks> blocks = nullptr;

  [[nodiscard]] const TableProgram& program(NodeId member) const {
    return programs.size() == 1 ? programs.front() : programs[member.index()];
  }
  // The program contexts that a member needs.
  [[nodiscard]] std::size_t contexts_of(NodeId member) const {
    return blocks ? blocks->loaded.blocks(member).size() : 0;
  }
};

// Fills in all members except `engine`, `bound` and `ways`. `members`: of the group. Precondition:
// the tables name members instead of nodes, and pass the certifier.
[[nodiscard]] StreamProgram load_stream(ScheduleTables tables, std::size_t members);
// The same of a certified program.
[[nodiscard]] StreamProgram load_stream(std::shared_ptr<const StreamBlocks> blocks);

// A collective that a host has posted, and the data of all members.
struct StreamCollective {
  // `program` and `of_group` must outlive the collective. Precondition: the program's routes are
  // bound for the group.
  StreamCollective(const StreamProgram& stream_program, const StreamGroup& of_group,
                   std::uint32_t host_number, ChunkId first_number);

  [[nodiscard]] bool has(FlowId flow) const {
    return flow >= FlowId(first.index()) && flow.index() - first.index() < program.numbers;
  }
  [[nodiscard]] DataMemory& memory(NodeId member) {
    if (program.blocks) return block_memories[member.index()];
    return memories[member.index()];
  }
  const StreamProgram& program;
  const StreamGroup& group;
  const BoundRoutes& bound;
  std::uint32_t number;  // its number at the hosts
  ChunkId first;         // first number of its chunks and flows; no two collectives share a number
  std::vector<NodeMemory> memories;           // by member; of tables
  std::vector<ProgramMemory> block_memories;  // by member; of blocks
  // Of blocks, whose members have a communicator of their own: FIFO slots and a proxy.
  std::optional<SlotCredits> credits;
  Cycle first_issue = kNever;  // earliest of all members
  Cycle last_visible = 0;      // reduction included
};

// The host side, which posts collectives to the streams of a system.
class StreamObserver {
 public:
  virtual ~StreamObserver() = default;
  // Node `node` has sent everything and has its result. The node's engine accepts posts again.
  virtual void collective_done(NodeId node, StreamCollective& collective, Cycle now) = 0;
  [[nodiscard]] virtual std::string name_of(const StreamCollective& collective) const = 0;
  [[nodiscard]] virtual std::string host_of(NodeId node) const = 0;
  // Where an NI named `ni` executes the collective, if it has several contexts.
  [[nodiscard]] std::string place_of(const std::string& ni,
                                     const StreamCollective& collective) const {
    return ni + " in " + name_of(collective);
  }
  // A collective waits for the program contexts in which it runs; until it begins, they wait for
  // it. Both have names of their own.
  static void explain_blocks(const std::string& place, std::size_t contexts, bool has_begun,
                             WaitList& waits) {
    for (std::size_t c = 0; c < contexts; ++c) {
      const std::string context = place + ".ctx" + std::to_string(c);
      waits.push_back(has_begun ? Wait{place, context, "runs in it"}
                                : Wait{context, place, "waits for the collective to begin"});
    }
  }
};

// A collective begins when contexts are free for it: the one of the lowest priority number, among
// these the one that was posted first. Collectives take different numbers of program contexts; each
// leaves enough of them to every waiting one that goes before it. So ranks that post in one order
// and priority never wait for each other in a circle.
//
// Each context has a schedule table, a timestep and a down-counter of its own, or program contexts,
// one for each thread block. The contexts share the ports, the DMA engine, the memory port and the
// reduction unit; where several have something to issue in a cycle, they issue in the same order.
//
// A collective is over at this NI when all its entries have issued, or all its steps are done, its
// sends have left and all its arrivals are in memory. Its contexts are free in the following cycle.
// Other NIs may be ahead: this NI holds their messages for a collective that has not begun here,
// because the collective's buffer does not exist yet.
class StreamEngine : public IssueEngine, public DataMemory {
 public:
  // `observer` must outlive the engine. `program_contexts`: for all thread blocks together; 0: as
  // many as they need.
  StreamEngine(NodeId node, std::uint32_t contexts, StreamObserver& observer,
               std::uint32_t program_contexts = 0)
      : node_(node),
        most_contexts_(contexts),
        most_blocks_(program_contexts),
        observer_(observer) {}

  // Appends a collective to its group's stream in cycle `at`, which is later than now and not
  // before the cycle of the last post. Lower `priority` goes first. Returns true if the NI must
  // wake the engine in this cycle. `collective` must outlive its execution.
  [[nodiscard]] bool post(StreamCollective& collective, std::uint32_t priority, Cycle at);
  // A credit for a slot of the collective comes in cycle `at`, which is later than now. The NI must
  // wake the engine.
  void credit_comes(const StreamCollective& collective, Cycle at);

  Cycle evaluate(Cycle now, BackEnd& back_end) override;
  bool sent(const Operation& operation, Cycle now) override;
  bool completed(const Operation& operation, Cycle now) override;
  [[nodiscard]] bool may_add(const Operation& operation) const override;
  [[nodiscard]] bool has_begun(const Operation& operation) const override {
    return context_of(operation) != nullptr;
  }
  void read(const Operation& operation, std::vector<DataTag>& data) const override;
  void write(const Operation& operation, const std::vector<DataTag>& data) override;

  [[nodiscard]] std::uint64_t decisions() const override;
  // Hosts may always post more.
  [[nodiscard]] bool done() const override { return false; }
  [[nodiscard]] bool waits_for_ports() const override;
  [[nodiscard]] bool timer_running(Cycle now) const override;
  void prepare_to_show() override { is_shown_ = true; }
  // Shows the first context with a table.
  void show(EngineView& view) const override;
  void explain(const std::string& who, const std::vector<std::string>& ni_names,
               WaitList& waits) const override;

 private:
  class Outlet;
  struct Posted {
    StreamCollective* collective;
    std::uint64_t priority;
    std::uint64_t age;   // the number of posts before
    std::size_t blocks;  // the program contexts that it takes here
    Cycle at;
  };
  // The stream of a group.
  struct Stream {
    const StreamGroup* group;
    bool is_running = false;
    std::deque<Posted> posted;  // not begun
  };
  struct Context {
    Context(const Posted& begun, NodeId member);

    StreamCollective& collective;
    std::uint64_t priority;
    std::uint64_t age;
    std::size_t blocks;
    std::unique_ptr<IssueEngine> issue;
    Cycle at = 0;                      // next cycle in which it may have something to do
    std::size_t unreceived;            // of tables; the steps of blocks wait for their messages
    std::uint32_t in_flight = 0;       // issued, and not sent
    std::vector<TableEvent> received;  // in the tables' own numbers
  };

  // The stream whose first collective begins next; nullptr if all are empty or run a collective, or
  // contexts are not free. Only collectives that have been posted by `now` count.
  [[nodiscard]] Stream* next_stream(Cycle now);
  // True if contexts are free for the first collective of the stream.
  [[nodiscard]] bool has_contexts_for(const Stream& stream) const;
  void begin(Stream& stream, Cycle now);
  [[nodiscard]] static bool is_over(const Context& context) {
    return context.issue->done() && context.in_flight == 0 && context.unreceived == 0;
  }
  void end(const Context& context, Cycle now);
  // Returns true if evaluate() has something to do in the next cycle.
  bool note_event(Context& context, bool may_issue, Cycle now);
  // The context that executes the operation's collective; nullptr if none does.
  [[nodiscard]] Context* context_of(const Operation& operation) const;
  // The next cycle in which a collective begins in a free context; kNever if none does.
  [[nodiscard]] Cycle next_begin() const;
  // Translate between the collective's own numbers and the network's numbers.
  [[nodiscard]] static Operation in_network(const Context& context, Operation operation);
  [[nodiscard]] static Operation in_collective(const Context& context, Operation operation);
  void explain_context(const Context& context, const std::string& who,
                       const std::vector<std::string>& ni_names, WaitList& waits) const;
  // `names`: by member.
  void explain_missing(const Context& context, const std::string& who,
                       const std::vector<std::string>& names, WaitList& waits) const;

  NodeId node_;
  std::uint32_t most_contexts_;
  std::uint32_t most_blocks_;
  StreamObserver& observer_;
  std::vector<Stream> streams_;
  std::uint64_t posts_ = 0;
  std::vector<std::unique_ptr<Context>> contexts_;  // by priority, then age
  std::uint64_t decided_ = 0;                       // decisions in collectives that are over
  bool is_shown_ = false;
};

}  // namespace espalier
