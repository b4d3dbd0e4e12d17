// Input-queued virtual-channel router (virtual cut-through or wormhole), cycle fidelity.
#pragma once

#include <memory>
#include <systemc>
#include <vector>

#include "flowctl/message.h"
#include "flowctl/modes.h"
#include "flowctl/wait_list.h"
#include "hw/clock/clock_domain.h"
#include "router/input_port_spec.h"
#include "router/input_unit.h"
#include "router/modes.h"
#include "router/output_unit.h"
#include "router/switch_allocator.h"

namespace espalier {

struct RouterSpec {
  std::uint32_t vcs = 4;
  SwitchHold hold = SwitchHold::packet;
  CrossbarInputs crossbar_inputs = CrossbarInputs::port;
  Tick ticks_per_cycle = 1;
  bool has_control = false;  // there are control messages

  // Where a packet holds a crossbar input that it shares, a control packet behind it could miss
  // every moment in which its output is free. So an input port asks for outputs twice, for its
  // gradients and for its control messages. The crossbar input is multiplexed between the two
  // packets: a control packet breaks into the gradient's, which pauses; a gradient's packet, or a
  // second control packet in its time, waits for the other's tail.
  [[nodiscard]] bool lanes() const {
    return has_control && hold == SwitchHold::packet && crossbar_inputs == CrossbarInputs::port;
  }
};

// In every cycle: switch and VC allocation among the packets that wait, then each held output moves
// one flit if its wire is free. A packet granted in cycle t sends its first flit in t; the pipeline
// in front of the grant is part of the channel (a flit that arrives in a may leave from a +
// pipeline).
class Router : public sc_core::sc_module, public Clocked, public FlitReceiver {
 public:
  Router(sc_core::sc_module_name module_name, ClockDomain& clock, const RouterSpec& spec,
         const MessageTable& messages, const PathTable& paths,
         const std::vector<InputPortSpec>& inputs, StallPattern stalls);

  // Elaboration: the sender at the other end of an input's link gets its channel; outputs are
  // numbered in the order of the calls; then connect().
  [[nodiscard]] Channel& input_channel(std::size_t input) { return *inputs_[input].channel; }
  [[nodiscard]] std::size_t num_inputs() const { return inputs_.size(); }
  void add_output(Channel& channel);
  void add_ejection(PacketSink& sink, std::uint32_t sink_port, Cycle latency);
  void connect();

  void evaluate(Cycle now) override;
  void flit_coming(Cycle cycle) override;

  // Flits that have passed this router.
  [[nodiscard]] std::uint64_t flit_hops() const { return flit_hops_; }
  // Of these, of control messages.
  [[nodiscard]] std::uint64_t control_flit_hops() const { return control_flit_hops_; }
  // Packets granted a link that had been taken by another input port's when they could have gone.
  [[nodiscard]] std::uint64_t link_conflicts() const { return link_conflicts_; }
  // A flit is still on its way to this router, a wire busy, or a credit under way.
  [[nodiscard]] bool under_way(Cycle now) const;
  // For the watchdog: which VC waits for what.
  void explain_waits(Cycle now, WaitList& waits) const;

 private:
  // The present cycle in both units.
  struct Now {
    Cycle cycle;
    Tick begin;  // first tick
    Tick end;    // last tick
  };

  void allocate(const Now& now);
  // With lanes: the requests of one input port.
  void ask_in_lanes(const Now& now, std::uint32_t input);
  // Control packets that cannot go on let the switch go.
  void release_stalled(const Now& now);
  // Crossbar inputs that are free go to packets that have their output.
  void pass_turns();
  // Asks for the switch on behalf of a waiting VC; true if it could be granted now.
  bool make_request(const Now& now, std::uint32_t input, std::uint32_t vc,
                    SwitchAllocator::Request& request);
  void grant(const SwitchAllocator::Request& request);
  // One flit of the packet that holds `out`; true if the output is free afterwards.
  bool move_flit(const Now& now, OutputUnit& out);
  [[nodiscard]] bool may_send(const Now& now, const OutputUnit& out) const;
  [[nodiscard]] bool is_stalled(const Now& now, const OutputUnit& out) const;
  [[nodiscard]] bool has_turn(const OutputUnit& out) const {
    return !lanes_ || inputs_[out.input].turn == lane_of(out);
  }
  [[nodiscard]] static Lane lane_of(const OutputUnit& out) {
    return out.is_control ? Lane::control : Lane::bulk;
  }
  void let_go(OutputUnit& out);
  void release(OutputUnit& out, const Flit& flit);
  [[nodiscard]] Cycle cycle_of(const Now& now, Tick tick) const;
  // Allocation is worth trying again, or a held output has something to do, at `tick`.
  void allocate_again(const Now& now, Tick tick) {
    allocate_at_ = std::min(allocate_at_, cycle_of(now, tick));
  }
  void move_again(const Now& now, Tick tick) { move_at_ = std::min(move_at_, cycle_of(now, tick)); }

  ClockDomain& clock_;
  ClockedId id_;
  RouterSpec spec_;
  bool lanes_;
  const MessageTable& messages_;
  const PathTable& paths_;
  std::vector<std::unique_ptr<Link>> links_;
  std::vector<std::unique_ptr<Channel>> channels_;
  std::vector<InputUnit> inputs_;
  std::vector<OutputUnit> outputs_;
  std::vector<std::uint32_t> held_outputs_;
  std::vector<SwitchAllocator> allocator_;  // exactly one, made by connect()
  std::uint64_t flit_hops_ = 0;
  std::uint64_t control_flit_hops_ = 0;
  std::uint64_t link_conflicts_ = 0;
  // Next cycles in which there may be something to do. Between them waiting packets cannot be
  // granted: what could change that (a flit becomes usable, a wire free, a credit visible, a tail
  // leaves) has its cycle noted here.
  Cycle allocate_at_ = kNever;
  Cycle move_at_ = kNever;
};

}  // namespace espalier
