#include "sims/system/traffic_sources.h"

#include <algorithm>
#include <cmath>
#include <deque>
#include <numeric>
#include <unordered_map>

#include "alg/routes/routing.h"
#include "flowctl/framing.h"
#include "sims/model/idle_times.h"
#include "sims/point/config.h"

namespace espalier {

namespace {

// Batch means (Law and Kelton, "Simulation Modeling and Analysis"): the window in equal parts.
constexpr std::size_t kBatches = 20;
// Student's t for 95 % (two-sided) and kBatches - 1 degrees of freedom.
constexpr double kStudent = 2.093;
// A network is saturated if it does not accept a larger share than this of the messages generated
// in the window: of all messages, or of one source's messages, whose queue varies more.
constexpr double kLeftShare = 0.02;
constexpr double kLeftShareOfSource = 0.03;
constexpr std::uint64_t kLeftMessagesOfSource = 8;

// A request keeps its place in its source's table of outstanding requests, and its reply returns
// it, as a transaction tag does.
ChunkId request_tag(std::size_t slot) { return ChunkId(2 * slot); }
ChunkId reply_tag(ChunkId request) { return ChunkId(request.index() + 1); }
bool is_reply(const Operation& operation) { return operation.first_chunk.index() % 2 == 1; }
std::size_t slot_of(const Operation& operation) { return operation.first_chunk.index() / 2; }

std::uint64_t sum_of(const std::vector<std::uint64_t>& flits) {
  return std::accumulate(flits.begin(), flits.end(), std::uint64_t{0});
}

// Nearest rank. Precondition: `sorted` is not empty.
Cycle percentile(const std::vector<Cycle>& sorted, std::size_t percent) {
  return sorted[(sorted.size() * percent + 99) / 100 - 1];
}

}  // namespace

class TrafficSources::Source : public MessageSource {
 public:
  Source(TrafficSources& all, const TrafficConfig& config, NodeId node, Cycle end)
      : all_(all), config_(config), node_(node), end_(end) {
    if (config.is_closed_loop()) {
      requested_at_.resize(config.outstanding);
      for (std::size_t slot = config.outstanding; slot > 0; --slot) free_slots_.push_back(slot - 1);
    }
  }

  // Precondition: listed messages ascend in time.
  void list(const TrafficMessage& message) { push(message); }
  void generate(const MessageDraws& draws) {
    draws_.emplace(draws);
    draw_ahead();
  }

  [[nodiscard]] Cycle next_ready() const override {
    const Cycle request = requests_.empty() ? kNever : requests_.front().ready;
    return replies_.empty() ? request : std::min(request, replies_.front().ready);
  }
  [[nodiscard]] const Operation& front() override {
    const Waiting& next = next_is_reply() ? replies_.front() : requests_.front();
    operation_.ready = next.ready;
    operation_.from = node_;
    operation_.to = next.to;
    operation_.bytes = next.bytes;
    operation_.first_chunk = next.tag;
    if (next.to != routed_to_) {
      const std::uint32_t turns = all_.num_turns_;
      const std::uint32_t turn = turns == 1 ? 0 : turns_[next.to.index()] % turns;
      const auto [route, is_new] = routes_.try_emplace(next.to.index() * turns + turn);
      if (is_new) route->second = all_.route(node_, next.to, turn);
      operation_.route = route->second;
      routed_to_ = next.to;
    }
    return operation_;
  }
  void pop() override {
    ++posted_;
    if (all_.num_turns_ != 1) {
      // A reply may have come before the message that front() saw last.
      ++turns_[(next_is_reply() ? replies_.front() : requests_.front()).to.index()];
      routed_to_ = NodeId();
    }
    if (next_is_reply()) return replies_.pop_front();
    requests_.pop_front();
    draw_ahead();
  }

  void reply_to(const Operation& request, Cycle now) {
    replies_.push_back(
        {now + 1, request.from, config_.reply_bytes, reply_tag(request.first_chunk)});
    all_.generated(request.from, now + 1, true);
  }
  // Returns the cycle in which the request was generated. A source that had to wait for this reply
  // draws again from the next cycle on.
  Cycle end_request(std::size_t slot, Cycle now) {
    if (free_slots_.empty()) draws_->skip_to(now + 1);
    const Cycle requested_at = requested_at_[slot];  // the next request may take this slot
    free_slots_.push_back(slot);
    draw_ahead();
    return requested_at;
  }

  // Draws the messages that become ready before cycle `end`. In a closed loop, stops when as many
  // requests as may be outstanding are drawn.
  void draw_until(Cycle end) {
    while (draw(end)) {
    }
  }
  // Drops messages that become ready after `last`, and draws all others.
  void close(Cycle last) {
    while (!requests_.empty() && requests_.back().ready > last) {
      ++dropped_;
      requests_.pop_back();
    }
    end_ = std::min(end_, last + 1);
    draw_until(end_);
  }

  [[nodiscard]] std::uint64_t requests() const { return requests_drawn_ - dropped_; }
  [[nodiscard]] std::uint64_t posted(Cycle now) const {
    const auto is_ready = [&](const Waiting& waiting) { return waiting.ready <= now; };
    return posted_ +
           static_cast<std::uint64_t>(std::count_if(requests_.begin(), requests_.end(), is_ready) +
                                      std::count_if(replies_.begin(), replies_.end(), is_ready));
  }

 private:
  struct Waiting {
    Cycle ready;
    NodeId to;
    Bytes bytes;
    ChunkId tag;
  };

  [[nodiscard]] bool next_is_reply() const {
    return !replies_.empty() &&
           (requests_.empty() || replies_.front().ready <= requests_.front().ready);
  }
  // One message ahead is enough for next_ready().
  void draw_ahead() {
    if (requests_.empty()) draw(end_);
  }
  bool draw(Cycle end) {
    if (!draws_ || (config_.is_closed_loop() && free_slots_.empty())) return false;
    const auto message = draws_->next(std::min(end, end_));
    if (message) push(*message);
    return message.has_value();
  }
  void push(const TrafficMessage& message) {
    ChunkId tag(0);
    if (config_.is_closed_loop()) {
      tag = request_tag(free_slots_.back());
      requested_at_[free_slots_.back()] = message.ready;
      free_slots_.pop_back();
    }
    requests_.push_back({message.ready, message.to, message.bytes, tag});
    ++requests_drawn_;
    all_.generated(node_, message.ready, false);
    if (all_.is_measured(message.ready)) ++all_.to_measure_;
  }

  TrafficSources& all_;
  const TrafficConfig& config_;
  NodeId node_;
  Cycle end_;  // no message becomes ready in this cycle or later
  std::optional<MessageDraws> draws_;
  std::deque<Waiting> requests_;
  std::deque<Waiting> replies_;
  std::vector<Cycle> requested_at_;                       // by slot; closed loop
  std::vector<std::size_t> free_slots_;                   // a stack
  std::unordered_map<std::size_t, RouteId> routes_;       // by destination and turn
  std::unordered_map<std::size_t, std::uint32_t> turns_;  // by destination, if there are several
  std::uint64_t requests_drawn_ = 0;
  std::uint64_t dropped_ = 0;
  std::uint64_t posted_ = 0;
  Operation operation_;
  NodeId routed_to_;  // whose route operation_ has; invalid at first
};

TrafficSources::TrafficSources(const Topology& topology, const RunPoint& point, ClockDomain& clock,
                               Fabric& fabric, Deliveries& deliveries)
    : topology_(topology),
      config_(*point.traffic),
      measures_all_(!config_.is_drawn()),
      clock_(clock),
      id_(clock.add(*this)),
      fabric_(fabric),
      deliveries_(deliveries),
      routes_(topology, fabric),
      num_turns_(packet_turns(topology)),
      generated_flits_(topology.num_nodes(), 0),
      accepted_flits_(topology.num_nodes(), 0) {
  const FramingSpec framing = framing_spec(point.system);
  request_flits_ = Framing(framing, config_.message_bytes).flits();
  if (config_.is_closed_loop()) reply_flits_ = Framing(framing, config_.reply_bytes).flits();
  const Cycle end = measures_all_ ? kNever : config_.end();
  for (std::size_t n = 0; n < topology.num_nodes(); ++n) {
    sources_.push_back(std::make_unique<Source>(*this, config_, NodeId(n), end));
    if (!measures_all_) {
      sources_[n]->generate(MessageDraws(topology, config_, request_flits_, NodeId(n)));
    }
  }
  for (const TrafficMessage& message : config_.messages) {
    sources_[message.from.index()]->list(message);
  }
  for (std::size_t n = 0; n < topology.num_nodes(); ++n) {
    fabric.ni(NodeId(n)).connect_source(*sources_[n]);
  }
  deliveries.connect_traffic(*this);
  if (config_.pattern == TrafficPattern::sockets) {
    closed_ = true;  // SocketTraffic knows when the last message has been posted
  } else if (measures_all_) {
    close(kNever - 1);
  } else if (config_.drain_cycles == 0 && !config_.is_closed_loop()) {
    window_over_ = true;
    close(config_.window_end() - 1);
  } else {
    clock.wake(id_, config_.window_end());
  }
}

TrafficSources::~TrafficSources() = default;

RouteId TrafficSources::route(NodeId from, NodeId to, std::uint32_t turn) {
  return routes_.bind(route_packet(topology_, from, to, turn));
}

void TrafficSources::generated(NodeId requester, Cycle ready, bool is_reply) {
  if (measures_all_ || !is_measured(ready)) return;
  generated_flits_[requester.index()] += is_reply ? reply_flits_ : request_flits_;
}

void TrafficSources::evaluate(Cycle now) {
  if (closed_ || now < config_.window_end()) return;
  if (!window_over_) {
    for (const auto& source : sources_) source->draw_until(config_.window_end());
    window_over_ = true;
    // A saturated network would only fill up further.
    if (samples_.size() == to_measure_ || !accepts_window()) close(now);
    if (!closed_ && now < config_.end()) clock_.wake(id_, config_.end());
  }
  if (!closed_ && now >= config_.end()) {
    drain_time_over_ = config_.drain_cycles != 0;
    close(config_.end() - 1);
  }
}

void TrafficSources::delivered(const Operation& operation, Cycle now) {
  const bool reply = is_reply(operation);
  if (!measures_all_ && is_measured(now)) {
    const NodeId requester = reply ? operation.to : operation.from;
    accepted_flits_[requester.index()] += reply ? reply_flits_ : request_flits_;
  }
  if (!config_.is_closed_loop()) {
    measured(operation.ready, now);
  } else if (!reply) {
    sources_[operation.to.index()]->reply_to(operation, now);
    fabric_.ni(operation.to).wake_source(now + 1);
  } else {
    Source& source = *sources_[operation.to.index()];
    measured(source.end_request(slot_of(operation), now), now);
    const Cycle next = source.next_ready();
    if (next != kNever && next > now) fabric_.ni(operation.to).wake_source(next);
  }
  if (!closed_ && window_over_ && samples_.size() == to_measure_) close(now);
}

void TrafficSources::measured(Cycle ready, Cycle now) {
  if (is_measured(ready)) samples_.push_back({ready, now - ready});
}

void TrafficSources::close(Cycle last) {
  closed_ = true;
  std::uint64_t expected = 0;
  for (const auto& source : sources_) {
    source->close(last);
    expected += source->requests();
  }
  deliveries_.expect_exactly(config_.is_closed_loop() ? 2 * expected : expected);
}

bool TrafficSources::has_more(Cycle now) const {
  return std::any_of(sources_.begin(), sources_.end(), [&](const auto& source) {
    return source->next_ready() != kNever && source->next_ready() > now;
  });
}

std::uint64_t TrafficSources::posted(Cycle now) const {
  std::uint64_t sum = 0;
  for (const auto& source : sources_) sum += source->posted(now);
  return sum;
}

double TrafficSources::progress(Cycle now) const {
  if (measures_all_) return 0;  // nobody knows how many messages sockets will send
  return std::min(1.0, static_cast<double>(now) / static_cast<double>(config_.window_end()));
}

TrafficStatistics TrafficSources::statistics() const {
  TrafficStatistics statistics;
  statistics.messages = samples_.size();
  if (!samples_.empty()) {
    std::vector<Cycle> sorted;
    sorted.reserve(samples_.size());
    Cycle sum = 0;
    for (const Sample& sample : samples_) {
      sorted.push_back(sample.latency);
      sum += sample.latency;
    }
    std::sort(sorted.begin(), sorted.end());
    statistics.mean_cycles = static_cast<double>(sum) / static_cast<double>(sorted.size());
    statistics.p50_cycles = percentile(sorted, 50);
    statistics.p95_cycles = percentile(sorted, 95);
    statistics.p99_cycles = percentile(sorted, 99);
    statistics.max_cycles = sorted.back();
  }
  if (measures_all_) return statistics;
  statistics.half_width_cycles = half_width();
  const auto window = static_cast<double>(config_.measure_cycles);
  const auto rate = [window](std::uint64_t flits) { return static_cast<double>(flits) / window; };
  const auto nodes = static_cast<double>(topology_.num_nodes());
  statistics.generated = rate(sum_of(generated_flits_)) / nodes;
  statistics.accepted = rate(sum_of(accepted_flits_)) / nodes;
  for (std::size_t n = 0; n < topology_.num_nodes(); ++n) {
    if (generated_flits_[n] == 0) continue;
    const double accepted = rate(accepted_flits_[n]);
    statistics.accepted_min = std::min(statistics.accepted_min.value_or(accepted), accepted);
  }
  if (config_.warmup_cycles != 0) statistics.saturated = drain_time_over_ || !accepts_window();
  return statistics;
}

// One message per node, or a burst, may be under way at the end of the window and not at its begin.
bool TrafficSources::accepts_window() const {
  if (config_.warmup_cycles == 0) return true;  // the network fills up
  const std::uint64_t message =
      std::max(request_flits_, reply_flits_) * std::max(1U, config_.burst_messages);
  const auto accepts = [](std::uint64_t accepted, std::uint64_t generated, double left_share,
                          std::uint64_t under_way) {
    return static_cast<double>(accepted + under_way) >=
           (1 - left_share) * static_cast<double>(generated);
  };
  for (std::size_t n = 0; n < topology_.num_nodes(); ++n) {
    if (!accepts(accepted_flits_[n], generated_flits_[n], kLeftShareOfSource,
                 kLeftMessagesOfSource * message)) {
      return false;
    }
  }
  return accepts(sum_of(accepted_flits_), sum_of(generated_flits_), kLeftShare,
                 topology_.num_nodes() * message);
}

std::optional<double> TrafficSources::half_width() const {
  std::vector<double> sums(kBatches, 0);
  std::vector<std::uint64_t> counts(kBatches, 0);
  for (const Sample& sample : samples_) {
    const std::size_t batch =
        (sample.ready - config_.warmup_cycles) * kBatches / config_.measure_cycles;
    sums[batch] += static_cast<double>(sample.latency);
    ++counts[batch];
  }
  double sum = 0;
  double squares = 0;
  for (std::size_t b = 0; b < kBatches; ++b) {
    if (counts[b] == 0) return std::nullopt;
    const double mean = sums[b] / static_cast<double>(counts[b]);
    sum += mean;
    squares += mean * mean;
  }
  const double n = kBatches;
  const double variance = std::max(0.0, (squares - sum * sum / n) / (n - 1));
  return kStudent * std::sqrt(variance / n);
}

}  // namespace espalier
