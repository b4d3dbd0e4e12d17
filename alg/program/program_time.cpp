#include "alg/program/program_time.h"

#include <algorithm>
#include <queue>
#include <tuple>
#include <vector>

#include "alg/program/connection_routes.h"
#include "alg/routes/route_set.h"
#include "alg/time/message_timeline.h"

namespace espalier {

namespace {

constexpr std::uint64_t kNotDone = std::numeric_limits<std::uint64_t>::max();

class ProgramTime {
 public:
  ProgramTime(const Topology& topology, const Program& program, const Tiling& tiling,
              const ContextTiming& timing)
      : timing_(timing),
        tiling_(tiling),
        routes_(topology),
        links_(topology, routes_, timing_.message),
        loads_(topology, routes_, timing_.message),
        port_free_(topology.num_links(), 0) {
    for (const RankProgram& rank : program.ranks) {
      first_block_.push_back(contexts_.size());
      for (const ThreadBlock& block : rank.blocks) {
        Context& context = contexts_.emplace_back();
        context.block = &block;
        context.first = first_block_.back();
        context.done.assign(block.steps.size(), kNotDone);
      }
    }
    for (const Connection& connection : connections_of(program)) {
      const auto context_of = [&](std::uint32_t rank, std::int32_t block) {
        return first_block_[rank] + static_cast<std::size_t>(block);
      };
      Channel& channel = channels_.emplace_back();
      channel.routes = connection_routes(topology, routes_, NodeId(connection.from),
                                         NodeId(connection.to), connection.channel);
      channel.receiver = context_of(connection.to, connection.recv_block);
      contexts_[channel.receiver].receives_from = channels_.size() - 1;
      contexts_[context_of(connection.from, connection.send_block)].sends_to = channels_.size() - 1;
    }
  }

  std::uint64_t run(std::uint64_t limit) {
    add_loads();
    if (const std::uint64_t busy = loads_.busiest_ps(); busy > limit) return busy;
    for (std::size_t c = contexts_.size(); c-- > 0;) ready_.push_back(c);
    advance_all();
    while (!events_.empty() && end_ <= limit) {
      const auto [at, hop, message] = events_.top();
      events_.pop();
      if (hop == 0) {
        issue(message, at);
      } else {
        pass(message, hop - 1, at);
      }
      advance_all();
    }
    return end_;
  }

 private:
  struct Context {
    const ThreadBlock* block = nullptr;
    std::size_t first = 0;  // context of its rank
    std::size_t sends_to = 0;
    std::size_t receives_from = 0;
    std::size_t step = 0;
    std::size_t moved = 0;                  // messages of the step that have arrived or are issued
    bool is_decoded = false;                // the step
    std::uint64_t at = 0;                   // the context has come to this time
    std::vector<std::uint64_t> done;        // by step
    std::vector<std::size_t> waiting = {};  // contexts that wait for a step of this one
  };
  // A connection.
  struct Channel {
    ConnectionRoutes routes;
    std::size_t receiver = 0;
    std::vector<std::uint64_t> arrived = {};  // by message: when its data are usable
    std::size_t taken = 0;
  };
  // Or a part of one, which takes a route of its own.
  struct Message {
    std::size_t context = 0;  // that sends it
    RouteId route;
    Bytes bytes = 0;
    bool is_last = false;         // of its step
    std::size_t whole = 0;        // its first part
    std::size_t missing = 0;      // of the whole: parts that have not arrived
    std::uint64_t tail = 0;       // when it is at the end of the link
    std::uint64_t last_tail = 0;  // of the whole: of the parts that have arrived
  };
  // When, hop and message. Hop 0: the message is issued. Otherwise its head is before link
  // `hop` - 1 of its route.
  using Event = std::tuple<std::uint64_t, std::size_t, std::size_t>;

  // The messages of a step, which requests make: of whole requests, but for the last of a slot.
  [[nodiscard]] std::size_t messages_of(const ProgramStep& step) const {
    const std::uint32_t slots = tiling_.transactions(step.count);
    if (slots == 0) return 0;
    const std::uint32_t last = step.count - (slots - 1) * tiling_.chunks_per_slot;
    return (slots - 1) * requests_for(std::min(step.count, tiling_.chunks_per_slot)) +
           requests_for(last);
  }
  [[nodiscard]] Bytes bytes_of(const ProgramStep& step, std::size_t message) const {
    const std::uint32_t chunks = std::min(step.count, tiling_.chunks_per_slot);
    const std::size_t per_slot = requests_for(chunks);
    const auto slot = static_cast<std::uint32_t>(message / per_slot);
    const std::uint32_t left = step.count - slot * tiling_.chunks_per_slot;
    const Bytes slot_bytes = std::min(left, tiling_.chunks_per_slot) * tiling_.chunk_bytes;
    return std::min(timing_.request_bytes, slot_bytes - message % per_slot * timing_.request_bytes);
  }
  [[nodiscard]] std::size_t requests_for(std::uint32_t chunks) const {
    return (chunks * tiling_.chunk_bytes + timing_.request_bytes - 1) / timing_.request_bytes;
  }

  void add_loads() {
    for (const Context& context : contexts_) {
      for (const ProgramStep& step : context.block->steps) {
        for (std::size_t m = 0; sends(step.op) && m < messages_of(step); ++m) {
          const ConnectionRoutes& routes = channels_[context.sends_to].routes;
          const std::vector<Bytes> parts = routes.cut(bytes_of(step, m));
          for (std::size_t p = 0; p < parts.size(); ++p) loads_.add(routes.route(p), parts[p]);
        }
      }
    }
  }

  void advance_all() {
    while (!ready_.empty()) {
      const std::size_t context = ready_.back();
      ready_.pop_back();
      advance(context);
    }
  }

  // Goes on until a step waits for another context, for a message, or until its own has left.
  void advance(std::size_t c) {
    Context& context = contexts_[c];
    while (context.step < context.block->steps.size()) {
      const ProgramStep& step = context.block->steps[context.step];
      if (!context.is_decoded && !decode(c, step)) return;
      const std::size_t messages = messages_of(step);
      const bool is_local = !sends(step.op) && !receives(step.op);
      if (is_local && step.op != ProgramOp::nop) context.at += timing_.memory_ps;
      if (is_local && reduces(step.op)) context.at += timing_.message.reduction_ps;
      for (; !is_local && context.moved < messages; ++context.moved) {
        if (receives(step.op) && !take(context, step)) return;
        if (!sends(step.op)) continue;
        const bool is_last = context.moved + 1 == messages;
        send(c, bytes_of(step, context.moved), is_last);
      }
      if (sends(step.op) && messages != 0) return;
      end_step(context);
    }
  }

  void send(std::size_t c, Bytes bytes, bool is_last) {
    const ConnectionRoutes& routes = channels_[contexts_[c].sends_to].routes;
    const std::vector<Bytes> parts = routes.cut(bytes);
    const std::size_t whole = messages_.size();
    for (std::size_t p = 0; p < parts.size(); ++p) {
      const bool ends = is_last && p + 1 == parts.size();
      messages_.push_back({c, routes.route(p), parts[p], ends, whole, parts.size()});
      events_.push({contexts_[c].at, 0, messages_.size() - 1});
    }
  }

  // False if the step waits for another context.
  bool decode(std::size_t c, const ProgramStep& step) {
    Context& context = contexts_[c];
    if (step.wait_block != kNoPeer) {
      Context& other = contexts_[context.first + static_cast<std::size_t>(step.wait_block)];
      const std::uint64_t done = other.done[static_cast<std::size_t>(step.wait_step)];
      if (done == kNotDone) {
        other.waiting.push_back(c);
        return false;
      }
      context.at = std::max(context.at, done);
    }
    context.at += timing_.decode_ps;
    context.is_decoded = true;
    return true;
  }

  // False if the next message has not arrived.
  bool take(Context& context, const ProgramStep& step) {
    Channel& channel = channels_[context.receives_from];
    if (channel.taken == channel.arrived.size()) return false;
    context.at = std::max(context.at, channel.arrived[channel.taken++]);
    if (reduces(step.op)) context.at += timing_.message.reduction_ps;
    return true;
  }

  void end_step(Context& context) {
    context.done[context.step] = context.at;
    end_ = std::max(end_, context.at);
    ++context.step;
    context.moved = 0;
    context.is_decoded = false;
    ready_.insert(ready_.end(), context.waiting.begin(), context.waiting.end());
    context.waiting.clear();
  }

  void issue(std::size_t m, std::uint64_t at) {
    const Message& message = messages_[m];
    Context& context = contexts_[message.context];
    const LinkId first = routes_.link(message.route, 0);
    std::uint64_t& port_free = port_free_[first.index()];
    const std::uint64_t start = std::max(at + timing_.message.injection_ps, port_free);
    port_free = start + links_.occupancy_ps(first, message.bytes);
    events_.push({start + timing_.message.router_ps, 1, m});
    if (!message.is_last) return;
    context.at = std::max(context.at, port_free);
    end_step(context);
    ready_.push_back(message.context);
  }

  void pass(std::size_t m, std::size_t hop, std::uint64_t at) {
    Message& message = messages_[m];
    Channel& channel = channels_[contexts_[message.context].sends_to];
    const LinkId link = routes_.link(message.route, hop);
    const std::uint64_t start = links_.pass(link, message.bytes, at, message.tail);
    if (hop + 1 < routes_.hops(message.route)) {
      events_.push({start + links_.hop_ps(link), hop + 2, m});
      return;
    }
    Message& whole = messages_[message.whole];
    whole.last_tail = std::max(whole.last_tail, message.tail);
    if (--whole.missing != 0) return;
    channel.arrived.push_back(whole.last_tail + timing_.message.delivery_ps);
    // Otherwise it waits for another context, which wakes it.
    if (contexts_[channel.receiver].is_decoded) ready_.push_back(channel.receiver);
  }

  const ContextTiming& timing_;
  const Tiling& tiling_;
  RouteSet routes_;
  MessageTimeline links_;
  LinkLoads loads_;
  std::vector<std::size_t> first_block_;  // by rank, into contexts_
  std::vector<Context> contexts_;
  std::vector<Channel> channels_;
  std::vector<Message> messages_;
  std::vector<std::uint64_t> port_free_;  // by link: the NI port that feeds it
  std::vector<std::size_t> ready_;        // contexts that may go on
  std::priority_queue<Event, std::vector<Event>, std::greater<>> events_;
  std::uint64_t end_ = 0;
};

}  // namespace

std::uint64_t program_time_ps(const Topology& topology, const Program& program,
                              const Tiling& tiling, const ContextTiming& timing,
                              std::uint64_t limit) {
  return ProgramTime(topology, program, tiling, timing).run(limit);
}

}  // namespace espalier
