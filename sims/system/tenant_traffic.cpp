#include "sims/system/tenant_traffic.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "alg/routes/routing.h"
#include "hw/hash.h"
#include "sims/point/config.h"

namespace espalier {

namespace {

// Random streams of a flow.
enum Purpose : std::uint64_t { racks = 1, times = 2 };

std::uint64_t stream_of(const TenantsConfig& config, std::uint32_t number, Purpose purpose) {
  return mix(mix(config.seed, number), purpose);
}

// The flow number distinguishes flows between the same racks for ECMP, as transport ports do.
std::vector<LinkId> route_of(const Topology& topology, const TenantsConfig& config,
                             std::uint32_t flow) {
  const RackPair racks = racks_of_flow(config, topology.shape().racks.racks, flow);
  return route_packet(topology, topology.rack_switch(racks.from), topology.rack_switch(racks.to),
                      flow);
}

}  // namespace

TenantFlow::TenantFlow(const TenantsConfig& config, const ClockSpec& clock, std::uint32_t number)
    : stream_(stream_of(config, number, Purpose::times)),
      mean_on_(cycles_covering(config.on_time_ps, clock)),
      mean_off_(cycles_covering(config.off_time_ps, clock)),
      bytes_(config.message_bytes),
      hertz_(clock.hertz),
      bytes_per_second_(config.bytes_per_second) {
  const double interval = static_cast<double>(bytes_) * static_cast<double>(hertz_) /
                          static_cast<double>(bytes_per_second_);
  phase_ = static_cast<Cycle>(unit_interval(draw()) * interval);
  // A flow starts in a stationary state. Geometric times have no memory, so its first phase has the
  // usual length.
  const double sends = static_cast<double>(mean_on_) / static_cast<double>(mean_on_ + mean_off_);
  if (unit_interval(draw()) >= sends) begin_ = draw_time(mean_off_);
  length_ = draw_time(mean_on_);
  find_next();
}

void TenantFlow::advance() {
  ++message_;
  find_next();
}

std::uint64_t TenantFlow::drawn_stream(std::uint64_t index) const { return mix(stream_, index); }

// An exponential variate, rounded up, which is geometric. Von Neumann's method needs only
// comparisons, so the result is the same on every machine.
Cycle TenantFlow::draw_time(Cycle mean) {
  for (std::uint64_t whole = 0;; ++whole) {
    const double first = unit_interval(draw());
    double last = first;
    bool odd = true;
    for (double next = unit_interval(draw()); next < last; next = unit_interval(draw())) {
      last = next;
      odd = !odd;
    }
    if (!odd) continue;
    const double time = (static_cast<double>(whole) + first) * static_cast<double>(mean);
    return std::max<Cycle>(1, static_cast<Cycle>(std::ceil(time)));
  }
}

void TenantFlow::find_next() {
  __extension__ using Wide = unsigned __int128;
  const Cycle sending =
      phase_ + static_cast<Cycle>(Wide{message_} * bytes_ * hertz_ / bytes_per_second_);
  while (sending >= sent_before_ + length_) {
    sent_before_ += length_;
    begin_ += length_ + (mean_off_ == 0 ? 0 : draw_time(mean_off_));
    length_ = draw_time(mean_on_);
  }
  next_ = begin_ + (sending - sent_before_);
}

RackPair racks_of_flow(const TenantsConfig& config, std::uint32_t racks, std::uint32_t number) {
  const std::uint64_t stream = stream_of(config, number, Purpose::racks);
  const auto from = static_cast<std::uint32_t>(mix(stream, 0) % racks);
  const auto away = static_cast<std::uint32_t>(1 + mix(stream, 1) % (racks - 1));
  return {from, (from + away) % racks};
}

// One rack's hosts.
class TenantTraffic::Source : public MessageSource {
 public:
  explicit Source(TenantTraffic& traffic) : traffic_(traffic) {}

  void add(std::uint32_t number, const ClockSpec& clock) {
    const Topology& topology = traffic_.topology_;
    const RackPair racks = racks_of_flow(traffic_.config_, topology.shape().racks.racks, number);
    flows_.push_back({TenantFlow(traffic_.config_, clock, number), number,
                      topology.rack_switch(racks.from), topology.rack_switch(racks.to), RouteId()});
    push(flows_.size() - 1);
  }

  [[nodiscard]] Cycle next_ready() const override {
    return queue_.empty() ? kNever : queue_.front().first;
  }
  [[nodiscard]] const Operation& front() override {
    Flow& flow = flows_[queue_.front().second];
    if (!flow.route.valid()) flow.route = traffic_.bind(flow.number);
    operation_.traffic = TrafficClass::tenant;
    operation_.from = flow.from;
    operation_.to = flow.to;
    operation_.route = flow.route;
    operation_.bytes = traffic_.config_.message_bytes;
    operation_.ready = queue_.front().first;
    return operation_;
  }
  void pop() override {
    std::pop_heap(queue_.begin(), queue_.end(), std::greater<>());
    const std::size_t flow = queue_.back().second;
    queue_.pop_back();
    flows_[flow].times.advance();
    push(flow);
    ++posted_;
  }

  // Includes messages that wait for the network.
  [[nodiscard]] std::uint64_t posted(Cycle now) const {
    std::uint64_t count = posted_;
    for (const Flow& flow : flows_) {
      for (TenantFlow times = flow.times; times.next() <= now; times.advance()) ++count;
    }
    return count;
  }

 private:
  struct Flow {
    TenantFlow times;
    std::uint32_t number;
    NodeId from;
    NodeId to;
    RouteId route;  // invalid until the flow's first message
  };

  void push(std::size_t flow) {
    queue_.emplace_back(flows_[flow].times.next(), flow);
    std::push_heap(queue_.begin(), queue_.end(), std::greater<>());
  }

  TenantTraffic& traffic_;
  std::vector<Flow> flows_;
  std::vector<std::pair<Cycle, std::size_t>> queue_;  // a heap of next messages and their flows
  std::uint64_t posted_ = 0;
  Operation operation_;
};

TenantTraffic::TenantTraffic(const Topology& topology, const TenantsConfig& config,
                             const ClockSpec& clock, BindSideRoute bind)
    : topology_(topology), config_(config), bind_(std::move(bind)), routes_(topology) {
  const std::uint32_t racks = topology.shape().racks.racks;
  for (std::uint32_t r = 0; r < racks; ++r) sources_.push_back(std::make_unique<Source>(*this));
  for (std::uint32_t f = 0; f < config.flows; ++f) {
    sources_[racks_of_flow(config, racks, f).from]->add(f, clock);
  }
}

TenantTraffic::~TenantTraffic() = default;

RouteId TenantTraffic::bind(std::uint32_t flow) {
  return bind_(routes_, routes_.add(topology_, route_of(topology_, config_, flow)));
}

MessageSource& TenantTraffic::source(std::uint32_t rack) { return *sources_[rack]; }

void TenantTraffic::delivered(const Operation& operation, Cycle now) {
  ++messages_;
  bytes_ += operation.bytes;
  latency_ += now - operation.ready;
}

TenantStatistics TenantTraffic::statistics(Cycle now) const {
  TenantStatistics statistics;
  for (const auto& source : sources_) statistics.posted_messages += source->posted(now);
  statistics.posted_bytes = statistics.posted_messages * config_.message_bytes;
  statistics.messages = messages_;
  statistics.bytes = bytes_;
  if (messages_ != 0) {
    statistics.mean_cycles = static_cast<double>(latency_) / static_cast<double>(messages_);
  }
  statistics.duration = now + 1;
  return statistics;
}

void add_tenants(ChannelDependencies& dependencies, const Topology& topology,
                 const RunPoint& point) {
  if (!point.tenants) return;
  RouteSet routes(topology);
  for (std::uint32_t f = 0; f < point.tenants->flows; ++f) {
    dependencies.add(routes, routes.add(topology, route_of(topology, *point.tenants, f)));
  }
}

}  // namespace espalier
