// Input-queued virtual-channel router (virtual cut-through or wormhole), cycle fidelity.
#pragma once

#include <array>
#include <memory>
#include <optional>
#include <systemc>
#include <vector>

#include "flowctl/channel.h"
#include "flowctl/message.h"
#include "flowctl/wait_list.h"
#include "hw/clock/clock_domain.h"
#include "router/flit_router.h"
#include "router/output_hold.h"
#include "router/router_rules.h"
#include "router/router_spec.h"
#include "router/switch_allocator.h"

namespace espalier {

// An input port: the buffers at the end of a channel.
struct InputUnit {
  InputUnit(Channel& in, std::uint32_t num_vcs) : channel(&in), vcs(num_vcs) {}

  Channel* channel;
  std::vector<InputVc> vcs;
  // With lanes (RouterSpec::has_lanes): each lane holds an output for one packet at a time, and the
  // two packets take turns at the port's crossbar input.
  std::array<bool, kLanes> granted{};
  std::optional<Lane> turn;  // the lane that uses the crossbar input
  // The bulk packet that holds an output has been interrupted by a control packet.
  bool was_interrupted = false;

  [[nodiscard]] bool& granted_in(Lane lane) { return granted.at(static_cast<std::size_t>(lane)); }
  // True if a control packet that was granted an output may use the crossbar input now.
  [[nodiscard]] bool may_be_interrupted() const { return turn == Lane::bulk && !was_interrupted; }
};

// An output port. It leads to a neighbour (channel) or to the NI (ejection).
struct OutputUnit {
  // The wire is busy before this tick; the fraction of a cycle is kept from packet to packet.
  Tick free_tick = 0;
  Tick ticks_per_flit = 1;
  // The members below are valid while held.
  ChannelVc* from = nullptr;
  ChannelVc* to = nullptr;  // nullptr for an ejection port
  Channel* channel = nullptr;
  bool may_refuse = false;
  std::uint32_t vc = 0;
  std::uint32_t input = 0;
  bool is_wormhole = false;  // while held: flits of the packet may have to wait for credits
  Lane lane = Lane::bulk;    // while held: the packet's lane
  EjectionPort ejection;
};

// In every cycle the router allocates switch and VCs to waiting packets; then each held output
// moves one flit if its wire is free. A packet granted in cycle t sends its first flit in t. The
// pipeline before the grant is part of the channel: a flit that arrives in cycle a may leave from a
// + pipeline on.
class Router : public sc_core::sc_module, public Clocked, public FlitReceiver, public FlitRouter {
 public:
  // `make_outside_hold`: what decides in place of the model; not with spec.has_control.
  Router(sc_core::sc_module_name module_name, ClockDomain& clock, const RouterSpec& spec,
         const MessageTable& messages, const PathTable& paths,
         const std::vector<InputPortSpec>& inputs, StallPattern stalls,
         MakeOutputHold make_outside_hold = {});

  [[nodiscard]] Channel& input_channel(std::size_t input) override { return channels_[input]; }
  [[nodiscard]] std::size_t num_inputs() const override { return inputs_.size(); }
  void add_output(Channel& channel) override;
  void add_ejection(PacketSink& sink, std::uint32_t sink_port, Cycle latency) override;
  void connect() override;

  void evaluate(Cycle now) override;
  void flit_coming(Cycle cycle) override;

  [[nodiscard]] std::uint64_t flit_hops() const override { return flit_hops_; }
  [[nodiscard]] std::uint64_t control_flit_hops() const override { return control_flit_hops_; }
  [[nodiscard]] Counters counters() const override { return counters_; }
  [[nodiscard]] bool under_way(Cycle now) const override;
  void explain_waits(Cycle now, WaitList& waits) const override;
  [[nodiscard]] std::vector<RtlPlace> rtl() override;

 private:
  // The current cycle as cycle and as ticks.
  struct Now {
    Cycle cycle;
    Tick begin;  // first tick
    Tick end;    // last tick
  };

  void allocate(const Now& now);
  // The same with decisions from outside.
  void allocate_outside(const Now& now);
  // SwitchAllocation::output_first: makes the requests of one input port.
  void request_every_output(const Now& now, std::uint32_t input, VcMask waiting);
  // With lanes: makes the requests of one input port.
  void request_in_lanes(const Now& now, std::uint32_t input);
  // Control packets that cannot go on release the switch.
  void release_stalled(const Now& now);
  // Gives free crossbar inputs to packets that hold an output.
  void pass_turns();
  // The next flit of the packet at the front of an input VC.
  struct Front {
    Tick usable;
    Flit flit;
  };
  // Whether the next flit in a VC is usable. If so, fills it in, and the packet's route is known.
  bool inspect_front(const Now& now, std::uint32_t input, std::uint32_t vc, Front& front);
  bool is_wire_free(const Now& now, const OutputUnit& out);
  // The first tick at which the packet at the front of an input VC would stream without a gap. If
  // it is later than now, allocation is due again then.
  Tick ready_to_stream(const Now& now, std::uint32_t input, const InputVc& state,
                       const Front& front);
  // VCs of `vcs` with the credits. Allocation is due again when another VC gets them.
  VcMask vcs_with_credits(const Now& now, const Channel* channel, VcMask vcs, std::uint32_t flits);
  // Whether the packet that waits in a VC can be granted an output now. If so, fills in the
  // request.
  bool make_request(const Now& now, std::uint32_t input, std::uint32_t vc,
                    SwitchAllocator::Request& request);
  void grant(const SwitchAllocator::Request& request);
  // Moves one flit of the packet that holds an output. Returns true if the output is free
  // afterwards.
  bool move_flit(const Now& now, std::uint32_t output);
  [[nodiscard]] bool may_send(const Now& now, const OutputUnit& out) const;
  [[nodiscard]] bool is_stalled(const Now& now, const OutputUnit& out) const;
  [[nodiscard]] bool has_turn(const OutputUnit& out) const {
    return !has_lanes_ || inputs_[out.input].turn == out.lane;
  }
  // The input port of the packet that held an output is free for another packet.
  void leave_input(const OutputUnit& out);
  // To be called after the last flit of a (sub-)packet, or after each flit if the switch is held
  // for one flit.
  void release(std::uint32_t output, const Flit& flit);
  [[nodiscard]] Cycle cycle_of(const Now& now, Tick tick) const;
  // Allocation may have another result, or a held output has something to do, at `tick`.
  void allocate_again(const Now& now, Tick tick) {
    allocate_at_ = std::min(allocate_at_, cycle_of(now, tick));
  }
  void move_again(const Now& now, Tick tick) { move_at_ = std::min(move_at_, cycle_of(now, tick)); }

  ClockDomain& clock_;
  ClockedId id_;
  RouterSpec spec_;
  bool has_lanes_;
  const MessageTable& messages_;
  const PathTable& paths_;
  InputChannels<Channel> channels_;
  std::vector<InputUnit> inputs_;
  std::vector<OutputUnit> outputs_;
  std::vector<std::uint32_t> held_outputs_;
  MakeOutputHold make_outside_hold_;
  std::optional<SeparableHold> hold_;         // made by connect()
  std::unique_ptr<OutputHold> outside_hold_;  // decides in place of hold_; may be nullptr
  std::uint64_t flit_hops_ = 0;
  std::uint64_t control_flit_hops_ = 0;
  Counters counters_;
  // The next cycles in which there may be something to do. Every event that could change a decision
  // (a flit becomes usable, a wire becomes free, a credit becomes visible, a tail leaves) updates
  // these cycles.
  Cycle allocate_at_ = kNever;
  Cycle move_at_ = kNever;
};

}  // namespace espalier
