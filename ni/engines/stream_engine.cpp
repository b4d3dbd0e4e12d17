#include "ni/engines/stream_engine.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <iterator>

#include "ni/engines/program_context_engine.h"

namespace espalier {

namespace {

TableEvent arrival(const Operation& send) {
  const bool reduces = send.on_arrival == TransferKind::reduce;
  return {send.flow, reduces ? TableEvent::Kind::reduced : TableEvent::Kind::gathered, send.from};
}

// Of posted or begun collectives: the lowest goes first.
template <class Collective>
auto order(const Collective& of) {
  return std::pair(of.priority, of.age);
}

}  // namespace

StreamGroup::StreamGroup(std::vector<NodeId> nodes)
    : size_(nodes.size()), nodes_(std::move(nodes)) {
  for (std::size_t m = 0; m < size_; ++m) by_node_.emplace_back(nodes_[m], NodeId(m));
  std::sort(by_node_.begin(), by_node_.end());
}

NodeId StreamGroup::member(NodeId node) const {
  if (nodes_.empty()) return node;
  const auto found =
      std::lower_bound(by_node_.begin(), by_node_.end(), node,
                       [](const auto& pair, NodeId wanted) { return pair.first < wanted; });
  return found != by_node_.end() && found->first == node ? found->second : NodeId();
}

StreamProgram load_stream(ScheduleTables tables, std::size_t members) {
  std::vector<TableProgram> programs = load_tables(tables);
  tables.nodes.clear();
  StreamProgram stream{std::move(tables), std::move(programs), {}, {}, {}, 0, 0, false, {}};
  stream.arrivals.resize(members);
  stream.numbers = stream.tables.chunks.size();
  for (std::size_t m = 0; m < members; ++m) {
    const NodeFrame frame(stream.tables, NodeId(m));
    for (const Operation& in_table : stream.program(NodeId(m)).sends) {
      const Operation send = frame.in_network(in_table);
      stream.arrivals[send.to.index()].push_back(arrival(send));
      stream.numbers = std::max(stream.numbers, send.flow.index() + 1);
      ++stream.operations;
    }
  }
  for (auto& of_member : stream.arrivals) std::sort(of_member.begin(), of_member.end());
  return stream;
}

StreamProgram load_stream(std::shared_ptr<const StreamBlocks> blocks) {
  const ContextProgram& loaded = blocks->loaded;
  StreamProgram stream{ScheduleTables(Topology("")), {}, {}, {}, {}, 0, 0, false, {}};
  stream.operations = loaded.num_operations();
  // Flows are connections, and each pass moves a piece of each chunk.
  stream.numbers = std::max<std::size_t>(loaded.num_connections(),
                                         loaded.program().chunks * loaded.tiling().tiles);
  stream.blocks = std::move(blocks);
  return stream;
}

namespace {
// Gradients leave after messages of the hosts, which have rank 0.
constexpr std::uint64_t kGradientRank = 1;
}  // namespace

StreamCollective::StreamCollective(const StreamProgram& stream_program, const StreamGroup& of_group,
                                   std::uint32_t host_number, ChunkId first_number)
    : program(stream_program),
      group(of_group),
      bound(stream_program.bound.at(&of_group)),
      number(host_number),
      first(first_number) {
  if (program.blocks) credits.emplace(program.blocks->credits);
  for (std::size_t m = 0; m < group.size() && program.blocks; ++m) {
    block_memories.emplace_back(program.blocks->loaded, NodeId(m), first);
  }
  for (std::size_t m = 0; m < group.size() && !program.blocks; ++m) {
    memories.emplace_back(NodeId(m), program.tables.op, program.tables.chunks, first);
  }
}

StreamEngine::Context::Context(const Posted& begun, NodeId member)
    : collective(*begun.collective),
      priority(begun.priority),
      age(begun.age),
      blocks(begun.blocks),
      unreceived(0) {
  const StreamProgram& loaded = collective.program;
  if (loaded.blocks) {
    issue = std::make_unique<ProgramContextEngine>(loaded.blocks->loaded, member,
                                                   collective.block_memories[member.index()],
                                                   *collective.credits, nullptr);
    return;
  }
  issue = std::make_unique<ScheduleTableEngine>(loaded.program(member),
                                                NodeFrame(loaded.tables, member), loaded.engine);
  unreceived = loaded.arrivals[member.index()].size();
}

// The back end as a context sees it. Translates the collective's names into the network's names.
class StreamEngine::Outlet : public BackEnd {
 public:
  Outlet(Context& context, BackEnd& back_end) : context_(context), back_end_(back_end) {}

  [[nodiscard]] bool reduction_idle(Cycle now) const override {
    return back_end_.reduction_idle(now);
  }
  [[nodiscard]] Cycle reduction_idle_at() const override { return back_end_.reduction_idle_at(); }
  // A step does not wait for sends of other contexts.
  [[nodiscard]] bool all_sent() const override {
    return context_.in_flight == 0 || back_end_.all_sent();
  }
  [[nodiscard]] bool has_ports_for(std::uint32_t messages) const override {
    return back_end_.has_ports_for(messages);
  }
  [[nodiscard]] bool has_room(const Operation& operation) const override {
    return back_end_.has_room(in_network(context_, operation));
  }
  void issue(const Operation& operation, Cycle now) override {
    Cycle& first_issue = context_.collective.first_issue;
    first_issue = std::min(first_issue, now);
    ++context_.in_flight;
    back_end_.issue(in_network(context_, operation), now);
  }
  WorkTimes work(const LocalWork& work, Cycle now) override { return back_end_.work(work, now); }

 private:
  Context& context_;
  BackEnd& back_end_;
};

bool StreamEngine::post(StreamCollective& collective, std::uint32_t priority, Cycle at) {
  auto stream = std::find_if(streams_.begin(), streams_.end(),
                             [&](const Stream& s) { return s.group == &collective.group; });
  if (stream == streams_.end()) stream = streams_.insert(stream, {&collective.group, false, {}});
  const auto waiting = std::count_if(streams_.begin(), streams_.end(), [&](const Stream& s) {
    return !s.is_running && !s.posted.empty() && has_contexts_for(s);
  });
  const bool is_next = !stream->is_running && stream->posted.empty();
  const std::size_t blocks = collective.program.contexts_of(collective.group.member(node_));
  stream->posted.push_back({&collective, priority, posts_++, blocks, at});
  return is_next && contexts_.size() + static_cast<std::size_t>(waiting) < most_contexts_;
}

void StreamEngine::credit_comes(const StreamCollective& collective, Cycle at) {
  for (const auto& context : contexts_) {
    if (&context->collective == &collective) context->at = std::min(context->at, at);
  }
}

Cycle StreamEngine::evaluate(Cycle now, BackEnd& back_end) {
  while (Stream* const stream = next_stream(now)) begin(*stream, now);
  Cycle next = kNever;
  for (std::size_t c = 0; c < contexts_.size();) {
    Context& context = *contexts_[c];
    if (context.at <= now || context.issue->waits_for_ports()) {
      Outlet outlet(context, back_end);
      context.at = context.issue->evaluate(now, outlet);
    }
    if (is_over(context)) {
      end(context, now);
      continue;
    }
    next = std::min(next, context.at);
    ++c;
  }
  return std::min(next, std::max(next_begin(), now + 1));
}

StreamEngine::Stream* StreamEngine::next_stream(Cycle now) {
  Stream* best = nullptr;
  for (Stream& stream : streams_) {
    if (stream.is_running || stream.posted.empty() || stream.posted.front().at > now ||
        !has_contexts_for(stream)) {
      continue;
    }
    if (best == nullptr || order(stream.posted.front()) < order(best->posted.front())) {
      best = &stream;
    }
  }
  return best;
}

bool StreamEngine::has_contexts_for(const Stream& stream) const {
  if (contexts_.size() == most_contexts_) return false;
  const Posted& first = stream.posted.front();
  if (most_blocks_ == 0 || first.blocks == 0) return true;
  std::size_t in_use = first.blocks;
  for (const auto& context : contexts_) in_use += context->blocks;
  if (in_use > most_blocks_) return false;
  // When all before `earlier` are over, the stream's collective and later ones still hold theirs.
  const auto leaves_room_for = [&](const Posted& earlier) {
    std::size_t later = first.blocks + earlier.blocks;
    for (const auto& context : contexts_) {
      const bool is_before = &context->collective.group == &earlier.collective->group;
      if (!is_before && order(earlier) < order(*context)) later += context->blocks;
    }
    return later <= most_blocks_;
  };
  for (const Stream& other : streams_) {
    for (const Posted& waiting : other.posted) {
      const bool goes_before = &other != &stream && order(waiting) < order(first);
      if (goes_before && in_use + waiting.blocks > most_blocks_ && !leaves_room_for(waiting)) {
        return false;
      }
    }
  }
  return true;
}

Cycle StreamEngine::next_begin() const {
  Cycle next = kNever;
  for (const Stream& stream : streams_) {
    if (!stream.is_running && !stream.posted.empty() && has_contexts_for(stream))
      next = std::min(next, stream.posted.front().at);
  }
  return next;
}

void StreamEngine::begin(Stream& stream, Cycle now) {
  const Posted posted = stream.posted.front();
  stream.posted.pop_front();
  stream.is_running = true;
  auto context = std::make_unique<Context>(posted, posted.collective->group.member(node_));
  if (is_shown_) context->issue->prepare_to_show();
  context->at = now;
  const auto place = std::find_if(contexts_.begin(), contexts_.end(), [&](const auto& other) {
    return order(*context) < order(*other);
  });
  contexts_.insert(place, std::move(context));
}

void StreamEngine::end(const Context& context, Cycle now) {
  StreamCollective& over = context.collective;
  decided_ += context.issue->decisions();
  // The last steps of blocks may add or copy after the last message has come.
  if (over.program.blocks) over.last_visible = std::max(over.last_visible, now);
  for (Stream& stream : streams_) stream.is_running &= stream.group != &over.group;
  contexts_.erase(std::find_if(contexts_.begin(), contexts_.end(),
                               [&](const auto& c) { return c.get() == &context; }));
  observer_.collective_done(node_, over, now);
}

bool StreamEngine::note_event(Context& context, bool may_issue, Cycle now) {
  if (is_over(context)) {
    end(context, now);
    return next_begin() != kNever;
  }
  if (may_issue) context.at = std::min(context.at, now + 1);
  return may_issue;
}

bool StreamEngine::sent(const Operation& operation, Cycle now) {
  Context& context = *context_of(operation);
  const bool may_issue = context.issue->sent(in_collective(context, operation), now);
  --context.in_flight;
  return note_event(context, may_issue, now);
}

bool StreamEngine::completed(const Operation& operation, Cycle now) {
  Context& context = *context_of(operation);
  Cycle& last_visible = context.collective.last_visible;
  last_visible = std::max(last_visible, now);
  const Operation own = in_collective(context, operation);
  const bool may_issue = context.issue->completed(own, now);
  if (!context.collective.program.blocks) {
    context.received.push_back(arrival(own));
    --context.unreceived;
  }
  return note_event(context, may_issue, now);
}

bool StreamEngine::may_add(const Operation& operation) const {
  const Context* const context = context_of(operation);
  return context != nullptr && context->issue->may_add(in_collective(*context, operation));
}

void StreamEngine::read(const Operation& operation, std::vector<DataTag>& data) const {
  const Context& context = *context_of(operation);
  const NodeId member = context.collective.group.member(node_);
  context.collective.memory(member).read(in_collective(context, operation), data);
}

void StreamEngine::write(const Operation& operation, const std::vector<DataTag>& data) {
  const Context& context = *context_of(operation);
  const NodeId member = context.collective.group.member(node_);
  context.collective.memory(member).write(in_collective(context, operation), data);
}

StreamEngine::Context* StreamEngine::context_of(const Operation& operation) const {
  for (const auto& context : contexts_) {
    if (context->collective.has(operation.flow)) return context.get();
  }
  return nullptr;
}

Operation StreamEngine::in_network(const Context& context, Operation operation) {
  const StreamCollective& collective = context.collective;
  const BoundRoutes& bound = collective.bound;
  const std::size_t first = collective.first.index();
  operation.flow = FlowId(first + operation.flow.index());
  // Blocks number the messages of a connection, and their flows tell the collectives apart.
  if (!collective.program.blocks) {
    operation.first_chunk = ChunkId(first + operation.first_chunk.index());
  }
  operation.from = collective.group.node(operation.from);
  operation.to = collective.group.node(operation.to);
  operation.route =
      std::lower_bound(bound.begin(), bound.end(), operation.route,
                       [](const auto& pair, RouteId route) { return pair.first < route; })
          ->second;
  operation.rank = kGradientRank + context.priority;
  return operation;
}

Operation StreamEngine::in_collective(const Context& context, Operation operation) {
  const StreamCollective& collective = context.collective;
  const std::size_t first = collective.first.index();
  operation.flow = FlowId(operation.flow.index() - first);
  if (!collective.program.blocks) {
    operation.first_chunk = ChunkId(operation.first_chunk.index() - first);
  }
  operation.from = collective.group.member(operation.from);
  operation.to = collective.group.member(operation.to);
  return operation;
}

std::uint64_t StreamEngine::decisions() const {
  std::uint64_t sum = decided_;
  for (const auto& context : contexts_) sum += context->issue->decisions();
  return sum;
}

bool StreamEngine::waits_for_ports() const {
  return std::any_of(contexts_.begin(), contexts_.end(),
                     [](const auto& context) { return context->issue->waits_for_ports(); });
}

bool StreamEngine::timer_running(Cycle now) const {
  return next_begin() != kNever ||
         std::any_of(contexts_.begin(), contexts_.end(),
                     [&](const auto& context) { return context->issue->timer_running(now); });
}

void StreamEngine::show(EngineView& view) const {
  const auto found = std::find_if(contexts_.begin(), contexts_.end(), [](const auto& context) {
    return !context->collective.program.blocks;
  });
  if (found == contexts_.end()) {
    view.table.emplace().done = true;
    return;
  }
  const Context& context = **found;
  context.issue->show(view);
  FlowId& flow = view.table->flow;
  if (flow.valid()) flow = FlowId(context.collective.first.index() + flow.index());
}

void StreamEngine::explain(const std::string& who, const std::vector<std::string>& ni_names,
                           WaitList& waits) const {
  for (const auto& context : contexts_) explain_context(*context, who, ni_names, waits);
  if (contexts_.empty()) {
    waits.push_back(
        {who, observer_.host_of(node_), "all collectives that the host has posted are complete"});
  }
  if (most_contexts_ == 1) return;
  for (const Stream& stream : streams_) {
    for (std::size_t p = 0; p < stream.posted.size(); ++p) {
      const Posted& posted = stream.posted[p];
      const std::string waiter = observer_.place_of(who, *posted.collective);
      StreamObserver::explain_blocks(waiter, posted.blocks, false, waits);
      for (const auto& context : contexts_) {
        const bool is_before = &context->collective.group == stream.group;
        if (stream.is_running && !is_before) continue;
        waits.push_back({waiter, observer_.place_of(who, context->collective),
                         stream.is_running ? "comes after it in the stream of its group"
                                           : "waits for one of the NI's contexts"});
      }
    }
  }
}

void StreamEngine::explain_context(const Context& context, const std::string& who,
                                   const std::vector<std::string>& ni_names,
                                   WaitList& waits) const {
  const StreamCollective& collective = context.collective;
  const bool is_only = most_contexts_ == 1;
  const auto name = [&](const std::string& ni) {
    return is_only ? ni : observer_.place_of(ni, collective);
  };
  std::vector<std::string> names;  // by member
  for (std::size_t m = 0; m < collective.group.size(); ++m) {
    names.push_back(name(ni_names[collective.group.node(NodeId(m)).index()]));
  }
  const std::size_t first = waits.size();
  context.issue->explain(name(who), names, waits);
  const bool has_table = !collective.program.blocks;
  if (has_table && context.issue->done()) explain_missing(context, name(who), names, waits);
  for (std::size_t w = first; w < waits.size() && has_table && !collective.group.is_whole(); ++w) {
    std::string& why = waits[w].why;
    why.replace(why.rfind(" node "), std::strlen(" node "), " member ");
  }
  if (!is_only) {
    StreamObserver::explain_blocks(name(who), context.blocks, true, waits);
    return;
  }
  const std::string runs = fmt::format("runs {}, ", observer_.name_of(collective));
  for (std::size_t w = first; w < waits.size(); ++w) waits[w].why.insert(0, runs);
}

// Adds one line for each member from which messages are missing.
void StreamEngine::explain_missing(const Context& context, const std::string& who,
                                   const std::vector<std::string>& names, WaitList& waits) const {
  std::vector<TableEvent> received = context.received;
  std::sort(received.begin(), received.end());
  const StreamCollective& collective = context.collective;
  const std::vector<TableEvent>& expected =
      collective.program.arrivals[collective.group.member(node_).index()];
  std::vector<TableEvent> missing;
  std::set_difference(expected.begin(), expected.end(), received.begin(), received.end(),
                      std::back_inserter(missing));
  std::stable_sort(missing.begin(), missing.end(),
                   [](const TableEvent& a, const TableEvent& b) { return a.peer < b.peer; });
  for (std::size_t m = 0; m < missing.size(); ++m) {
    const TableEvent& event = missing[m];
    if (m != 0 && missing[m - 1].peer == event.peer) continue;
    waits.push_back({who, names[event.peer.index()],
                     fmt::format("waits for the {} of flow {} from node {}",
                                 event.kind == TableEvent::Kind::reduced ? "Reduce" : "Gather",
                                 event.flow.index(), event.peer.index())});
  }
}

}  // namespace espalier
