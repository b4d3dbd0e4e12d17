#include "flit_oracle.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <iterator>
#include <optional>
#include <set>
#include <stdexcept>
#include <vector>

#include "alg/routes/route_set.h"
#include "alg/routes/routing.h"
#include "hw/topology/link_timing.h"
#include "tests/support/networks.h"

namespace espalier::test {
namespace {

struct Flit {
  std::size_t message = 0;
  std::size_t hop = 0;        // routers passed so far
  std::uint32_t index = 0;    // within its packet
  std::uint32_t length = 0;   // of its packet
  bool first_packet = false;  // of what owns a VC: the packet, in message mode the message
  bool last_packet = false;   // likewise
  Tick arrival = 0;           // in the buffer that it lies in or is on its way to

  [[nodiscard]] bool ends_packet() const { return index + 1 == length; }
};

// A VC of a channel: the sender's account of it, and the receiver's buffer with the wire before it.
struct VirtualChannel {
  bool owned = false;
  std::uint32_t credits = 0;      // visible to the sender
  std::deque<Cycle> credits_due;  // when those under way become visible
  std::deque<Flit> flits;
  std::uint32_t granted_vc = 0;  // of the next channel, to the packet or message at the front
};

// A packet on its way through a crossbar.
struct Stream {
  std::size_t from = 0;  // channel
  std::uint32_t from_vc = 0;
  std::uint32_t to_vc = 0;
  Tick start = 0;  // the first flit's
  std::uint32_t sent = 0;
};

// An injection channel, a link or an ejection channel. It joins an NI or a router's output to a
// router's input or an NI.
struct Channel {
  Cycle latency = 0;
  Cycle credit_latency = 0;
  Tick ticks_per_flit = 0;
  bool ejects = false;  // the NI takes whatever comes: no credits
  std::vector<VirtualChannel> vcs;
  std::uint64_t flits = 0;  // sent

  // At the router's output it leaves from.
  std::optional<Stream> stream;
  Tick free_tick = 0;
  std::size_t output_pointer = 0;  // round robin over the crossbar's inputs

  // At the router's input it leads to.
  bool input_held = false;        // by a packet, where the VCs share one crossbar input
  std::size_t input_pointer = 0;  // round robin over the VCs
};

// What a packet may take at a router.
struct Hop {
  std::size_t channel = 0;
  std::uint32_t first_vc = 0;
  std::uint32_t end_vc = 0;
};

struct Message {
  std::size_t injection = 0;  // port
  std::vector<Hop> path;      // by router
  std::uint32_t packets = 0;
  std::uint32_t last_payload_flits = 0;
  std::uint32_t packets_left = 0;  // to arrive
};

struct Request {
  std::size_t input = 0;  // of the crossbar
  std::size_t from = 0;   // channel
  std::uint32_t from_vc = 0;
  std::size_t to = 0;  // channel
  std::uint32_t to_vc = 0;
  Tick start = 0;
};

struct Router {
  std::vector<std::size_t> inputs;   // channels, by port
  std::vector<std::size_t> outputs;  // likewise
};

struct InjectionPort {
  std::size_t channel = 0;
  std::deque<std::size_t> queue;  // messages issued whose last flit has not left
  std::uint32_t packet = 0;       // of the message at the front, the one that leaves next
  std::uint32_t sent = 0;         // flits of that packet
  std::uint32_t vc = 0;
};

struct Node {
  std::vector<std::size_t> posted;
  std::size_t next = 0;  // in `posted`, to be issued
  std::vector<InjectionPort> ports;
  std::vector<std::size_t> ejections;  // channels, by port
};

std::size_t distance_after(std::size_t pointer, std::size_t position, std::size_t count) {
  return (position + count - pointer) % count;
}

class Network {
 public:
  Network(const Topology& topology, const SystemConfig& config,
          const std::vector<OracleMessage>& posts, std::uint32_t ni_ports)
      : config_(config),
        posts_(posts),
        message_mode_(config.flow_control.mode == FlowControlMode::message),
        shared_inputs_(config.router.crossbar_inputs == CrossbarInputs::port),
        vcs_(config.router.vcs) {
    if (config.ni.dma_bytes_per_cycle != 0) {
      throw std::invalid_argument("the oracle knows no DMA bandwidth");
    }
    if (config.router.switching != Switching::vct) {
      throw std::invalid_argument("the oracle knows no wormhole switching");
    }
    if (config.router.hold != SwitchHold::packet) {
      throw std::invalid_argument("the oracle holds the switch for a packet");
    }
    build(topology, ni_ports);
    bind_messages(topology);
    result_.issued.assign(posts.size(), kNever);
    result_.delivered.assign(posts.size(), kNever);
  }

  OracleResult run(Cycle limit) {
    for (Cycle now = 0; now < limit && undelivered_ != 0; ++now) {
      for (Channel& channel : channels_) take_credits(channel, now);
      for (Node& node : nodes_) issue(node, now);
      for (Node& node : nodes_) {
        for (InjectionPort& port : node.ports) inject(port, now);
      }
      for (const Router& router : routers_) {
        allocate(router, now);
        for (const std::size_t output : router.outputs) forward(channels_[output], now);
      }
    }
    // The last flit of a message may have left in time and still be on its way to memory.
    for (Cycle& delivered : result_.delivered) {
      if (delivered >= limit) delivered = kNever;
    }
    for (std::size_t l = 0; l < links_; ++l) result_.link_flits.push_back(channels_[l].flits);
    return result_;
  }

 private:
  // Channels: the links by id, then injection and ejection of each node.
  void build(const Topology& topology, std::uint32_t ni_ports) {
    const SystemTiming timing = time_links(topology, config_.clock);
    ticks_per_cycle_ = timing.ticks_per_cycle;
    for (const LinkTiming& link : timing.links) {
      const Cycle credit_latency =
          config_.credit_latency_cycles != 0 ? config_.credit_latency_cycles : link.latency;
      add_channel(link.latency, credit_latency, link.ticks_per_flit, false);
    }
    links_ = channels_.size();
    nodes_.resize(topology.num_nodes());
    for (std::size_t v = 0; v < topology.num_vertices(); ++v) {
      const std::vector<LinkId>& in = topology.in_links(NodeId(v));
      const std::vector<LinkId>& out = topology.out_links(NodeId(v));
      Router router;
      for (const LinkId link : in) router.inputs.push_back(link.index());
      for (const LinkId link : out) router.outputs.push_back(link.index());
      if (!topology.is_switch(NodeId(v))) {
        const std::size_t ports = std::min<std::size_t>(ni_ports, std::max(in.size(), out.size()));
        for (std::size_t p = 0; p < ports; ++p) {
          const Cycle injection = config_.ni.injection_cycles;
          router.inputs.push_back(add_channel(injection, injection, ticks_per_cycle_, false));
          nodes_[v].ports.emplace_back();
          nodes_[v].ports.back().channel = router.inputs.back();
          router.outputs.push_back(
              add_channel(config_.ni.ejection_cycles, 0, ticks_per_cycle_, true));
          nodes_[v].ejections.push_back(router.outputs.back());
        }
      }
      routers_.push_back(router);
    }
  }

  std::size_t add_channel(Cycle latency, Cycle credit_latency, Tick ticks_per_flit, bool ejects) {
    Channel channel;
    channel.latency = latency;
    channel.credit_latency = credit_latency;
    channel.ticks_per_flit = ticks_per_flit;
    channel.ejects = ejects;
    channel.vcs.resize(vcs_);
    for (VirtualChannel& vc : channel.vcs) vc.credits = config_.router.vc_depth_flits;
    channels_.push_back(channel);
    return channels_.size() - 1;
  }

  // The links that a node's messages leave by share its injection ports in port order, round and
  // round; those that they arrive on its ejection ports.
  void bind_messages(const Topology& topology) {
    std::vector<std::set<std::uint32_t>> leave_by(nodes_.size());
    std::vector<std::set<std::uint32_t>> arrive_on(nodes_.size());
    for (const OracleMessage& post : posts_) {
      leave_by[post.from].insert(topology.link(post.links.front()).out_port);
      arrive_on[post.to].insert(topology.link(post.links.back()).in_port);
    }
    const auto share = [](const std::set<std::uint32_t>& used, std::uint32_t link_port,
                          std::size_t ni_ports) {
      const auto place = std::distance(used.begin(), used.find(link_port));
      return static_cast<std::size_t>(place) % ni_ports;
    };
    RouteSet routes(topology);
    const auto classes = std::min<std::uint32_t>(vc_classes(topology), vcs_);
    for (const OracleMessage& post : posts_) {
      Message message;
      const RouteId route = routes.add(topology, post.links);
      for (std::size_t h = 0; h < post.links.size(); ++h) {
        Hop hop{post.links[h].index(), 0, vcs_};
        const std::uint32_t vc_class =
            std::min(vc_classes_of(topology, routes, route)[h], classes - 1);
        hop.first_vc = vcs_ * vc_class / classes;
        hop.end_vc = vcs_ * (vc_class + 1) / classes;
        message.path.push_back(hop);
      }
      Node& from = nodes_[post.from];
      const Node& to = nodes_[post.to];
      message.injection =
          share(leave_by[post.from], topology.link(post.links.front()).out_port, from.ports.size());
      const std::size_t ejection =
          share(arrive_on[post.to], topology.link(post.links.back()).in_port, to.ejections.size());
      message.path.push_back({to.ejections[ejection], 0, vcs_});
      cut_into_packets(message, post.bytes);
      from.posted.push_back(messages_.size());
      messages_.push_back(message);
    }
    undelivered_ = messages_.size();
  }

  void cut_into_packets(Message& message, Bytes bytes) const {
    const Bytes payload = config_.flow_control.payload_bytes;
    const Bytes flit = config_.clock.flit_bytes;
    message.packets = static_cast<std::uint32_t>((bytes + payload - 1) / payload);
    message.packets_left = message.packets;
    const bool padded = !message_mode_ && config_.flow_control.pad_last_packet;
    const Bytes last = padded ? payload : bytes - (message.packets - 1) * payload;
    message.last_payload_flits = static_cast<std::uint32_t>((last + flit - 1) / flit);
  }

  [[nodiscard]] Flit make_flit(std::size_t m, std::uint32_t packet, std::uint32_t index) const {
    const Message& message = messages_[m];
    const bool first = packet == 0;
    const bool last = packet + 1 == message.packets;
    const auto full =
        static_cast<std::uint32_t>(config_.flow_control.payload_bytes / config_.clock.flit_bytes);
    const std::uint32_t heads = first || !message_mode_ ? 1 : 0;
    Flit flit;
    flit.message = m;
    flit.index = index;
    flit.length = (last ? message.last_payload_flits : full) + heads;
    flit.first_packet = first || !message_mode_;
    flit.last_packet = last || !message_mode_;
    return flit;
  }

  // What arrives ------------------------------------------------------------------------------

  static void take_credits(Channel& channel, Cycle now) {
    for (VirtualChannel& vc : channel.vcs) {
      while (!vc.credits_due.empty() && vc.credits_due.front() <= now) {
        vc.credits_due.pop_front();
        ++vc.credits;
      }
    }
  }

  // Network interfaces ------------------------------------------------------------------------

  // In order: a message whose queue is full blocks those behind it.
  void issue(Node& node, Cycle now) {
    while (node.next < node.posted.size()) {
      const std::size_t m = node.posted[node.next];
      InjectionPort& port = node.ports[messages_[m].injection];
      if (posts_[m].ready > now || port.queue.size() >= config_.ni.send_queue) return;
      port.queue.push_back(m);
      result_.issued[m] = now;
      ++node.next;
    }
  }

  void inject(InjectionPort& port, Cycle now) {
    if (port.queue.empty()) return;
    const std::size_t m = port.queue.front();
    if (now < result_.issued[m] + config_.ni.dma_latency_cycles) return;
    const Flit flit = make_flit(m, port.packet, port.sent);
    Channel& channel = channels_[port.channel];
    if (flit.index == 0) {
      const auto vc = vc_for(channel, {port.channel, 0, vcs_}, flit, port.vc);
      if (!vc) return;
      port.vc = *vc;
    }
    send(channel, port.vc, flit, now * ticks_per_cycle_);
    ++port.sent;
    if (!flit.ends_packet()) return;
    port.sent = 0;
    ++port.packet;
    if (port.packet < messages_[m].packets) return;
    port.packet = 0;
    port.queue.pop_front();
  }

  // Routers -----------------------------------------------------------------------------------

  // The VC that packet `head` may take into `channel` now: of the permitted ones, or `granted` to
  // the message of which it is a later sub-packet. Virtual cut-through: with room for all of it.
  [[nodiscard]] static std::optional<std::uint32_t> vc_for(const Channel& channel, const Hop& hop,
                                                           const Flit& head,
                                                           std::uint32_t granted) {
    const auto has_room = [&](std::uint32_t vc) {
      return channel.ejects || channel.vcs[vc].credits >= head.length;
    };
    if (!head.first_packet) {
      return has_room(granted) ? std::optional(granted) : std::nullopt;
    }
    for (std::uint32_t vc = hop.first_vc; vc < hop.end_vc; ++vc) {
      if (!channel.vcs[vc].owned && has_room(vc)) return vc;
    }
    return std::nullopt;
  }

  // What the packet at the front of a VC could be granted now.
  [[nodiscard]] std::optional<Request> request_of(std::size_t from, std::uint32_t from_vc,
                                                  Cycle now) const {
    const Channel& in = channels_[from];
    const VirtualChannel& vc = in.vcs[from_vc];
    if (vc.flits.empty() || vc.flits.front().index != 0) return std::nullopt;
    const Flit& head = vc.flits.front();
    const Hop& hop = messages_[head.message].path[head.hop];
    const Channel& out = channels_[hop.channel];
    if (out.stream) return std::nullopt;
    Tick usable = head.arrival + config_.router.pipeline_cycles * ticks_per_cycle_;
    if (in.ticks_per_flit > out.ticks_per_flit) {  // else it would run out of flits
      usable += (head.length - 1) * (in.ticks_per_flit - out.ticks_per_flit);
    }
    const Tick start = std::max({usable, out.free_tick, now * ticks_per_cycle_});
    if (start / ticks_per_cycle_ > now) return std::nullopt;
    const auto to_vc = vc_for(out, hop, head, vc.granted_vc);
    if (!to_vc) return std::nullopt;
    return Request{0, from, from_vc, hop.channel, *to_vc, start};
  }

  // Separable, input first, one iteration.
  void allocate(const Router& router, Cycle now) {
    std::vector<Request> requests;  // at most one of each crossbar input
    for (std::size_t port = 0; port < router.inputs.size(); ++port) {
      const std::size_t from = router.inputs[port];
      const Channel& in = channels_[from];
      if (shared_inputs_ && in.input_held) continue;
      for (std::uint32_t k = 0; k < vcs_; ++k) {
        const auto vc =
            shared_inputs_ ? static_cast<std::uint32_t>((in.input_pointer + k) % vcs_) : k;
        std::optional<Request> request = request_of(from, vc, now);
        if (!request) continue;
        request->input = shared_inputs_ ? port : port * vcs_ + vc;
        requests.push_back(*request);
        if (shared_inputs_) break;
      }
    }
    const std::size_t inputs = router.inputs.size() * (shared_inputs_ ? 1 : vcs_);
    for (const std::size_t output : router.outputs) {
      const std::size_t pointer = channels_[output].output_pointer;
      const Request* winner = nullptr;
      for (const Request& request : requests) {
        if (request.to != output) continue;
        if (winner == nullptr || distance_after(pointer, request.input, inputs) <
                                     distance_after(pointer, winner->input, inputs)) {
          winner = &request;
        }
      }
      if (winner != nullptr) grant(*winner, inputs);
    }
  }

  void grant(const Request& request, std::size_t inputs) {
    Channel& in = channels_[request.from];
    Channel& out = channels_[request.to];
    VirtualChannel& vc = in.vcs[request.from_vc];
    vc.granted_vc = request.to_vc;
    in.input_held = true;
    in.input_pointer = (request.from_vc + 1) % vcs_;
    out.stream = Stream{request.from, request.from_vc, request.to_vc, request.start, 0};
    out.free_tick = request.start + vc.flits.front().length * out.ticks_per_flit;
    out.output_pointer = (request.input + 1) % inputs;
  }

  // Sends the next flit of the packet that holds the output, if it is its turn.
  void forward(Channel& out, Cycle now) {
    if (!out.stream) return;
    const Tick departure = out.stream->start + out.stream->sent * out.ticks_per_flit;
    if (departure / ticks_per_cycle_ != now) return;
    Channel& in = channels_[out.stream->from];
    VirtualChannel& vc = in.vcs[out.stream->from_vc];
    if (vc.flits.empty() ||
        vc.flits.front().arrival / ticks_per_cycle_ + config_.router.pipeline_cycles > now) {
      throw std::logic_error("a packet ran out of flits");
    }
    Flit flit = vc.flits.front();
    vc.flits.pop_front();
    vc.credits_due.push_back(now + in.credit_latency);
    ++flit.hop;
    ++result_.flit_hops;
    send(out, out.stream->to_vc, flit, departure);
    ++out.stream->sent;
    if (!flit.ends_packet()) return;
    out.stream.reset();
    in.input_held = false;
    if (out.ejects) arrive(flit.message, now);
  }

  // Both --------------------------------------------------------------------------------------

  void send(Channel& channel, std::uint32_t to_vc, Flit flit, Tick departure) {
    VirtualChannel& vc = channel.vcs[to_vc];
    ++channel.flits;
    vc.owned = !(flit.ends_packet() && flit.last_packet);
    if (channel.ejects) return;
    --vc.credits;
    flit.arrival = departure + channel.latency * ticks_per_cycle_;
    vc.flits.push_back(flit);
  }

  // A packet's last flit leaves for the NI. Packets of a message may overtake each other.
  void arrive(std::size_t m, Cycle now) {
    if (--messages_[m].packets_left != 0) return;
    result_.delivered[m] = now + config_.ni.ejection_cycles + config_.ni.delivery_cycles;
    --undelivered_;
  }

  const SystemConfig& config_;
  const std::vector<OracleMessage>& posts_;
  bool message_mode_;
  bool shared_inputs_;
  std::uint32_t vcs_;
  Tick ticks_per_cycle_ = 1;
  std::size_t links_ = 0;
  std::vector<Channel> channels_;
  std::vector<Router> routers_;
  std::vector<Node> nodes_;
  std::vector<Message> messages_;
  std::size_t undelivered_ = 0;
  OracleResult result_;
};

}  // namespace

OracleResult run_oracle(const Topology& topology, const SystemConfig& config,
                        const std::vector<OracleMessage>& messages, std::uint32_t ni_ports,
                        Cycle limit) {
  return Network(topology, config, messages, ni_ports).run(limit);
}

}  // namespace espalier::test
