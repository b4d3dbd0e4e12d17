#include "ni/engines/stream_engine.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
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

namespace {
// Gradients leave after messages of the hosts, which have rank 0.
constexpr std::uint64_t kGradientRank = 1;
}  // namespace

StreamCollective::StreamCollective(const StreamProgram& stream_program, std::uint32_t host_number,
                                   ChunkId first_number, std::size_t nodes)
    : program(stream_program), number(host_number), first(first_number) {
  memories.reserve(nodes);
  for (std::size_t n = 0; n < nodes; ++n) {
    memories.emplace_back(NodeId(n), program.tables.op, program.tables.chunks, first);
  }
}

// The back end as the running collective's engine sees it. Translates the collective's names into
// the network's names.
class StreamEngine::Outlet : public BackEnd {
 public:
  Outlet(const StreamEngine& stream, BackEnd& back_end) : stream_(stream), back_end_(back_end) {}

  [[nodiscard]] bool reduction_idle(Cycle now) const override {
    return back_end_.reduction_idle(now);
  }
  [[nodiscard]] Cycle reduction_idle_at() const override { return back_end_.reduction_idle_at(); }
  [[nodiscard]] bool all_sent() const override { return back_end_.all_sent(); }
  [[nodiscard]] bool has_ports_for(std::uint32_t messages) const override {
    return back_end_.has_ports_for(messages);
  }
  [[nodiscard]] bool has_room(const Operation& operation) const override {
    return back_end_.has_room(stream_.in_network(operation));
  }
  void issue(const Operation& operation, Cycle now) override {
    StreamCollective& collective = *stream_.running_;
    collective.first_issue = std::min(collective.first_issue, now);
    back_end_.issue(stream_.in_network(operation), now);
  }
  WorkTimes work(const LocalWork& work, Cycle now) override { return back_end_.work(work, now); }

 private:
  const StreamEngine& stream_;
  BackEnd& back_end_;
};

bool StreamEngine::post(StreamCollective& collective, Cycle at) {
  posted_.push_back({&collective, at});
  return running_ == nullptr && posted_.size() == 1;
}

Cycle StreamEngine::evaluate(Cycle now, BackEnd& back_end) {
  if (running_ == nullptr) {
    if (posted_.empty()) return kNever;
    if (posted_.front().at > now) return posted_.front().at;
    begin();
  }
  Outlet outlet(*this, back_end);
  const Cycle next = issue_->evaluate(now, outlet);
  if (!is_over()) return next;
  end(now);
  return posted_.empty() ? kNever : std::max(now + 1, posted_.front().at);
}

void StreamEngine::begin() {
  running_ = posted_.front().collective;
  posted_.pop_front();
  const StreamProgram& stream = running_->program;
  const TableProgram& program = stream.program(node_);
  issue_.emplace(program, NodeFrame(stream.tables, node_), stream.engine);
  if (is_shown_) issue_->prepare_to_show();
  unsent_ = static_cast<std::uint32_t>(program.sends.size());
  unreceived_ = static_cast<std::uint32_t>(stream.arrivals[node_.index()].size());
  received_.clear();
}

void StreamEngine::end(Cycle now) {
  StreamCollective& over = *std::exchange(running_, nullptr);
  decided_ += issue_->decisions();
  issue_.reset();
  observer_.collective_done(node_, over, now);
}

bool StreamEngine::end_if_over(Cycle now) {
  if (!is_over()) return false;
  end(now);
  return !posted_.empty();
}

bool StreamEngine::sent(const Operation& operation, Cycle now) {
  const bool may_issue = issue_->sent(in_collective(operation), now);
  --unsent_;
  return end_if_over(now) || may_issue;
}

bool StreamEngine::completed(const Operation& operation, Cycle now) {
  if (!runs(operation)) {
    observer_.out_of_turn(node_, operation);
    return false;
  }
  running_->last_visible = std::max(running_->last_visible, now);
  const Operation own = in_collective(operation);
  const bool reduced = own.on_arrival == TransferKind::reduce;
  received_.push_back(
      {own.flow, reduced ? TableEvent::Kind::reduced : TableEvent::Kind::gathered, own.from});
  const bool may_issue = issue_->completed(own, now);
  --unreceived_;
  return end_if_over(now) || may_issue;
}

bool StreamEngine::may_add(const Operation& operation) const {
  return runs(operation) && issue_->may_add(in_collective(operation));
}

void StreamEngine::read(const Operation& operation, std::vector<DataTag>& data) const {
  running_->memories[node_.index()].read(in_collective(operation), data);
}

void StreamEngine::write(const Operation& operation, const std::vector<DataTag>& data) {
  if (!runs(operation)) return;  // completed() reports such a message
  running_->memories[node_.index()].write(in_collective(operation), data);
}

Operation StreamEngine::in_network(Operation operation) const {
  const std::size_t first = running_->first.index();
  operation.flow = FlowId(first + operation.flow.index());
  operation.first_chunk = ChunkId(first + operation.first_chunk.index());
  operation.route = running_->program.bound[operation.route.index()];
  operation.rank = kGradientRank;
  return operation;
}

Operation StreamEngine::in_collective(Operation operation) const {
  const std::size_t first = running_->first.index();
  operation.flow = FlowId(operation.flow.index() - first);
  operation.first_chunk = ChunkId(operation.first_chunk.index() - first);
  return operation;
}

std::uint64_t StreamEngine::decisions() const {
  return decided_ + (issue_ ? issue_->decisions() : 0);
}

bool StreamEngine::timer_running(Cycle now) const {
  return issue_ ? issue_->timer_running(now) : !posted_.empty();
}

void StreamEngine::show(EngineView& view) const {
  if (!issue_) {
    view.table.emplace().done = true;
    return;
  }
  issue_->show(view);
  FlowId& flow = view.table->flow;
  if (flow.valid()) flow = FlowId(running_->first.index() + flow.index());
}

void StreamEngine::explain(const std::string& who, const std::vector<std::string>& ni_names,
                           WaitList& waits) const {
  if (running_ == nullptr) {
    waits.push_back(
        {who, observer_.host_of(node_), "all collectives that the host has posted are complete"});
    return;
  }
  const std::size_t first = waits.size();
  issue_->explain(who, ni_names, waits);
  if (issue_->done()) explain_missing(who, ni_names, waits);
  const std::string runs = fmt::format("runs {}, ", observer_.name_of(*running_));
  for (std::size_t w = first; w < waits.size(); ++w) waits[w].why.insert(0, runs);
}

// Adds one line for each NI from which messages are missing.
void StreamEngine::explain_missing(const std::string& who, const std::vector<std::string>& ni_names,
                                   WaitList& waits) const {
  std::vector<TableEvent> received = received_;
  std::sort(received.begin(), received.end());
  const std::vector<TableEvent>& expected = running_->program.arrivals[node_.index()];
  std::vector<TableEvent> missing;
  std::set_difference(expected.begin(), expected.end(), received.begin(), received.end(),
                      std::back_inserter(missing));
  std::stable_sort(missing.begin(), missing.end(),
                   [](const TableEvent& a, const TableEvent& b) { return a.peer < b.peer; });
  for (std::size_t m = 0; m < missing.size(); ++m) {
    const TableEvent& event = missing[m];
    if (m != 0 && missing[m - 1].peer == event.peer) continue;
    waits.push_back({who, ni_names[event.peer.index()],
                     fmt::format("waits for the {} of flow {} from node {}",
                                 event.kind == TableEvent::Kind::reduced ? "Reduce" : "Gather",
                                 event.flow.index(), event.peer.index())});
  }
}

}  // namespace espalier
