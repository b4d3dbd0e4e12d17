#include "sims/system/host_network.h"

#include <fmt/format.h>

#include <algorithm>
#include <exception>
#include <limits>
#include <stdexcept>
#include <utility>

#include "sims/point/config.h"
#include "sims/system/simulated_system.h"

namespace espalier {

HostNetwork::HostNetwork(const Topology& topology, const RunPoint& point, SimulatedSystem& system,
                         const std::vector<NodeId>& nodes, HostProgram& hosts,
                         const TablesOfSize& tables_of)
    : topology_(topology),
      system_(system),
      nodes_(nodes),
      ranks_(nodes.size()),
      hosts_(hosts),
      routes_(topology, system.fabric()),
      programs_(topology, point, tables_of, routes_),
      messages_(topology, system.fabric(), routes_, nodes,
                [this](const HostMessage& message, Cycle now) {
                  hosts_.received(message, now);
                  end_if_finished(now);
                }),
      timers_(system.clock(), [this](RankId rank, Cycle now) {
        hosts_.woken(rank, now);
        end_if_finished(now);
      }) {
  for (std::size_t r = 0; r < nodes.size(); ++r) ranks_[nodes[r].index()] = RankId(r);
  StreamObserver& observer = *this;
  for (std::size_t n = 0; n < topology.num_nodes(); ++n) {
    auto stream = std::make_unique<StreamEngine>(NodeId(n), observer);
    streams_.push_back(stream.get());
    system.fabric().ni(NodeId(n)).load(std::move(stream), *streams_.back());
  }
  system.deliveries().connect_side(messages_);
  system.deliveries().expect_programs(1);  // all hosts count as one program
  system.connect_hosts(*this);
}

void HostNetwork::start() {
  hosts_.start(*this);
  end_if_finished(0);
}

void HostNetwork::wake(RankId rank, Cycle at) {
  latest_ = std::max(latest_, at);
  timers_.add(rank, at);
}

void HostNetwork::send(const HostMessage& message, Cycle at) {
  latest_ = std::max(latest_, at);
  try {
    messages_.send(message, at);
  } catch (const std::exception& error) {
    fail(fmt::format("a message from {} to {}: {}", host_name(message.from), host_name(message.to),
                     error.what()));
  }
}

void HostNetwork::post(RankId rank, CollectiveNumber collective, Bytes bytes, Cycle at) {
  if (!failure_.empty()) return;
  latest_ = std::max(latest_, at);
  try {
    if (collective >= collectives_.size() || collectives_[collective].first_post == kNever) {
      open(collective, bytes);
    }
    note_post(rank, collective, bytes, at);
  } catch (const std::exception& error) {
    fail(fmt::format("{}: {}", hosts_.name_of(collective), error.what()));
    return;
  }
  const NodeId node = nodes_[rank.index()];
  if (streams_[node.index()]->post(*running_[collective].stream, at)) {
    system_.fabric().ni(node).wake_engine(at);
  }
}

void HostNetwork::open(CollectiveNumber collective, Bytes bytes) {
  if (collective >= collectives_.size()) {
    collectives_.resize(collective + 1);
    running_.resize(collective + 1);
  }
  const StreamProgramCache::Program program = programs_.of_size(bytes);
  // The largest id means "invalid", so it cannot be used.
  if (next_number_ + program->numbers > std::numeric_limits<ChunkId::value_type>::max()) {
    throw std::length_error("the hosts have posted more chunks than the simulator can number");
  }
  Running& running = running_[collective];
  running.program = program;
  running.stream = std::make_unique<StreamCollective>(*program, collective, ChunkId(next_number_),
                                                      topology_.num_nodes());
  running.posted.resize(nodes_.size(), false);
  running.ranks_left = nodes_.size();
  next_number_ += program->numbers;
  collectives_[collective].bytes = bytes;
  ++num_running_;
  system_.deliveries().expect_more(program->operations);
}

void HostNetwork::note_post(RankId rank, CollectiveNumber collective, Bytes bytes, Cycle at) {
  HostedCollective& hosted = collectives_[collective];
  Running& running = running_[collective];
  if (!running.stream || running.posted[rank.index()]) {
    throw std::invalid_argument(fmt::format("{} posts this collective twice", host_name(rank)));
  }
  if (hosted.bytes != bytes) {
    throw std::invalid_argument(
        fmt::format("{} posts this collective with {} bytes, but other hosts posted it with {}",
                    host_name(rank), bytes, hosted.bytes));
  }
  running.posted[rank.index()] = true;
  hosted.first_post = std::min(hosted.first_post, at);
  hosted.last_post = std::max(hosted.last_post, at);
}

void HostNetwork::collective_done(NodeId node, StreamCollective& collective, Cycle now) {
  const CollectiveNumber number = collective.number;
  if (--running_[number].ranks_left == 0) close(number);
  hosts_.collective_done(ranks_[node.index()], number, now);
  end_if_finished(now);
}

void HostNetwork::close(CollectiveNumber collective) {
  const Running complete = std::exchange(running_[collective], {});
  const std::unique_ptr<StreamCollective>& stream = complete.stream;
  --num_running_;
  collectives_[collective].first_issue = stream->first_issue;
  collectives_[collective].last_visible = stream->last_visible;
  const ScheduleTables& tables = stream->program.tables;
  const std::string wrong = check_data(stream->memories, tables.op, tables.chunks, stream->first);
  if (!wrong.empty()) fail(fmt::format("{}: {}", hosts_.name_of(collective), wrong));
}

void HostNetwork::out_of_turn(NodeId node, const Operation& operation) {
  fail(
      fmt::format("a copy from node {} reached node {} before that node had begun the collective; "
                  "the schedule is not an all-reduce",
                  operation.from.index(), node.index()));
}

std::string HostNetwork::name_of(const StreamCollective& collective) const {
  return hosts_.name_of(collective.number);
}

std::string HostNetwork::host_of(NodeId node) const { return host_name(ranks_[node.index()]); }

void HostNetwork::end_if_finished(Cycle now) {
  if (has_ended_ || num_running_ != 0 || messages_.under_way() != 0 || !hosts_.finished()) return;
  has_ended_ = true;
  system_.deliveries().program_done(now);
}

void HostNetwork::fail(const std::string& reason) {
  if (failure_.empty()) failure_ = reason;
  system_.clock().stop();
}

}  // namespace espalier
