// The part that the routers of both fidelities share: the state of an input VC, the requests for
// the switch, and the list of waits. Elaboration is shared too: links end at input ports, and an
// output leads to a channel or to the NI.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "flowctl/flit.h"
#include "flowctl/message.h"
#include "flowctl/virtual_channels.h"
#include "flowctl/wait_list.h"
#include "hw/clock/link.h"
#include "router/router_spec.h"
#include "router/switch_allocator.h"

namespace espalier {

// The links and channels that end at a router's input ports. The links become child modules of the
// router that constructs this object.
template <class AnyChannel>
class InputChannels {
 public:
  // `more`: further arguments of each channel's constructor.
  template <class... More>
  explicit InputChannels(const std::vector<InputPortSpec>& inputs, StallPattern stalls,
                         More&... more) {
    for (const InputPortSpec& in : inputs) {
      links_.push_back(std::make_unique<Link>(in.name.c_str(), in.link_number, in.timing, stalls));
      channels_.push_back(std::make_unique<AnyChannel>(*links_.back(), in.channel, more...));
    }
  }
  [[nodiscard]] std::size_t size() const { return channels_.size(); }
  [[nodiscard]] AnyChannel& operator[](std::size_t input) const { return *channels_[input]; }

 private:
  std::vector<std::unique_ptr<Link>> links_;
  std::vector<std::unique_ptr<AnyChannel>> channels_;
};

// The NI behind an ejection port. It takes flits at line rate, so an ejection port needs no
// credits. Its VCs still have owners, because only the VC identifies the message of a body
// sub-packet.
struct EjectionPort {
  PacketSink* sink = nullptr;
  std::uint32_t port = 0;
  Cycle latency = 0;
  EjectionObserver* observer = nullptr;  // cycle fidelity: hears of each flit
};

// The packet (in message mode: the message) at the front of an input VC.
struct InputVc {
  bool routed = false;     // route computation is done: out and permitted are valid
  Lane lane = Lane::bulk;  // of the message
  Switching switching = Switching::vct;
  bool inside_packet = false;      // the packet's first flit has left, and its last flit has not
  std::uint16_t out = 0;           // output port
  VcMask permitted = 0;            // VCs of the next channel that the route permits
  std::uint32_t out_vc = kNoVc;    // the VC that the message or packet owns
  std::uint32_t packet_flits = 0;  // length of the packet that is leaving

  void route(const PathHop& hop) {
    routed = true;
    out = hop.out_port;
    permitted = hop.vcs;
  }
  void route(const PathHop& hop, const Message& message) {
    route(hop);
    lane = message.lane;
    switching = message.switching;
  }
  // VCs that the packet may take. `owned` is the set of VCs with an owner.
  [[nodiscard]] VcMask candidates(VcMask owned) const {
    return out_vc != kNoVc ? VcMask{1} << out_vc : permitted & ~owned;
  }
};

// Number of crossbar inputs of a router with `ports` input ports of `vcs` VCs.
[[nodiscard]] inline std::uint32_t num_crossbar_inputs(CrossbarInputs kind, std::size_t ports,
                                                       std::uint32_t vcs) {
  return static_cast<std::uint32_t>(ports) * (kind == CrossbarInputs::vc ? vcs : 1);
}
[[nodiscard]] inline std::uint32_t crossbar_input_of(CrossbarInputs kind, std::uint32_t port,
                                                     std::uint32_t vc, std::uint32_t vcs) {
  return kind == CrossbarInputs::vc ? port * vcs + vc : port;
}

// Ticks that a packet of `flits` flits from a slow link waits before a fast link, so that it
// streams without a gap.
[[nodiscard]] inline Tick wait_to_stream(std::uint64_t flits, Tick in_rate, Tick out_rate) {
  return in_rate > out_rate ? (flits - 1) * (in_rate - out_rate) : 0;
}

// VC allocation at an output port that leads to `channel`, or at an ejection port if `channel` is
// nullptr. Without candidates no VC is chosen, and there is no tick to ask again, because only the
// tail of an owner's packet can change the result.
template <class AnyChannel>
[[nodiscard]] VcChoice choose_out_vc(const AnyChannel* channel, VcMask candidates,
                                     std::uint32_t flits, Cycle now, Tick now_end,
                                     std::uint32_t first = 0) {
  if (candidates == 0) return {};
  if (channel == nullptr) return {static_cast<std::uint32_t>(__builtin_ctz(candidates)), 0};
  return choose_vc(*channel, candidates, flits, now, now_end, first);
}

// The input stage of switch allocation for one input port. `make_request(vc, request)` returns
// whether the packet at the front of the VC can be granted now, and if so fills in the request. If
// the VCs of a port share a crossbar input (`shared`), the port's arbiter picks one of them.
template <class MakeRequest>
inline void request_outputs(SwitchAllocator& allocator, const RoundRobinArbiter& arbiter,
                            bool shared, VcMask waiting, MakeRequest make_request) {
  VcMask grantable = 0;
  std::array<SwitchAllocator::Request, 32> requests;  // by VC that can be granted
  for (; waiting != 0; waiting &= waiting - 1) {
    const auto vc = static_cast<std::uint32_t>(__builtin_ctz(waiting));
    if (!make_request(vc, requests[vc])) continue;
    grantable |= VcMask{1} << vc;
    if (!shared) allocator.request(requests[vc]);
  }
  if (shared && grantable != 0) allocator.request(requests[arbiter.pick(grantable)]);
}

// For the watchdog: a routed packet that waits at the front of an input VC.
struct WaitingPacket {
  const Link& at;    // the link of its input port
  std::uint32_t vc;  // its VC
  const InputVc& state;
  // The link of the packet that holds this packet's output; nullptr: no other packet holds it.
  const Link* holder;
  std::uint32_t holder_vc;
  const Link* next;  // the link after its output; nullptr: an ejection port
};
// Adds the causes of the wait: the holder of the output, or missing credits and owners of the next
// channel's VCs.
void add_waits_of(const WaitingPacket& packet, const char* router, WaitList& waits);

}  // namespace espalier
