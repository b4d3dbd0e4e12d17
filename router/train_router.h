// Input-queued virtual-channel router (virtual cut-through), train fidelity: the decisions of
// router.h at the times when they can differ from the last ones.
#pragma once

#include <memory>
#include <systemc>
#include <vector>

#include "flowctl/flit.h"
#include "flowctl/message.h"
#include "flowctl/train_sender.h"
#include "flowctl/wait_list.h"
#include "hw/clock_domain.h"
#include "router/input_port_spec.h"
#include "router/input_vc.h"
#include "router/modes.h"
#include "router/switch_allocator.h"

namespace espalier {

struct TrainRouterSpec {
  std::uint32_t vcs = 4;
  CrossbarInputs crossbar_inputs = CrossbarInputs::port;
  Tick ticks_per_cycle = 1;
};

// A packet is granted as in the cycle-fidelity router. What differs is when it is looked at: a train
// of packets passes a boundary unseen where the same grant is certain to follow, because nobody else
// could be granted, its data and its credits are there in time, and granting the same requester again
// moves no arbiter. docs/trains.md has the rules and why they are exact.
class TrainRouter : public sc_core::sc_module, public Clocked, public TrainParty {
 public:
  TrainRouter(sc_core::sc_module_name module_name, ClockDomain& clock, TrainWheel& wheel,
              TrainSegmentPool& segments, const TrainRouterSpec& spec, const MessageTable& messages,
              const PathTable& paths, const std::vector<InputPortSpec>& inputs);

  // Elaboration, as for Router.
  [[nodiscard]] TrainChannel& input_channel(std::size_t input) { return *inputs_[input].channel; }
  [[nodiscard]] const TrainChannel& input_channel(std::size_t input) const {
    return *inputs_[input].channel;
  }
  void add_output(TrainChannel& channel);
  void add_ejection(PacketSink& sink, std::uint32_t sink_port, Cycle latency);
  void connect();

  void evaluate(Cycle now) override;
  void look_again() override;

  // Flits that have passed this router up to cycle `now`, those of trains under way included.
  [[nodiscard]] std::uint64_t flit_hops(Cycle now) const;
  // Of these, the flits that left by output `output`.
  [[nodiscard]] std::uint64_t flits_sent(std::size_t output, Cycle now) const;
  // For the watchdog: which VC waits for what.
  void explain_waits(Cycle now, WaitList& waits) const;

 private:
  struct Now {
    Cycle cycle;
    Tick begin;  // first tick
    Tick end;    // last tick
  };
  // A packet at the front of an input VC that has arrived: what does not change while it waits.
  struct Front {
    bool known = false;
    std::uint32_t flits = 0;
    Tick head = 0;  // it can be granted from this tick on, and then streams without a gap
  };
  struct Vc {
    InputVc state;
    Front front;
  };
  struct Input {
    TrainChannel* channel = nullptr;
    std::vector<Vc> vcs;
    VcMask streaming = 0;  // VCs that hold the switch
    bool contended = false;  // a VC could go if the shared crossbar input were free
    RoundRobinArbiter arbiter;
  };
  struct Output {
    TrainSender train;
    std::uint32_t input = 0;  // of the train
    std::uint32_t vc = 0;
    VcMask owned = 0;        // VCs between a head's grant and the tail
    bool contended = false;  // somebody else could go if the output were free
    bool wanted = false;     // somebody else has a packet for this output
    bool is_new = false;     // train: granted in this cycle, nothing promised yet
    bool is_told = false;    // train: the NI has been told of all its packets
    bool was_granted = false;    // train: granted in this cycle
    bool planned_alone = false;  // `check` was found without contention and without `wanted`
    bool is_active = false;  // in active_
    Cycle boundary = 0;      // held: the packet on the wire has left when this cycle begins
    Cycle check = kNever;    // next cycle in which the train must be looked at
    std::uint64_t flits = 0;
    // Ejection ports.
    PacketSink* sink = nullptr;
    std::uint32_t sink_port = 0;
    Cycle sink_latency = 0;
  };
  // What a waiting packet may hope for.
  enum class Hope : std::uint8_t {
    later,      // time will tell: it, or the wire, is not ready yet
    wants,      // it waits for credits or for the owner of its VC
    could_take, // it could go if the train that holds its output stopped at the next boundary
    could_go,   // it could go now
  };
  struct Waiter {
    std::uint32_t input;
    std::uint32_t vc;
    std::uint32_t output;
    Hope hope;
  };

  // True if a promise is open now.
  bool release_boundaries(const Now& now);
  void release(Output& out, std::uint64_t flits);
  void eject(const Output& out, std::uint64_t flits);
  void drop_broken_promises(const Now& now);
  void cut(const Now& now, Output& out);
  void allocate(const Now& now);
  // Asks for the switch on behalf of a waiting VC. Notes when to look again where time alone decides.
  Hope make_request(const Now& now, std::uint32_t input, std::uint32_t vc,
                    SwitchAllocator::Request& request);
  // The VC behind output `out` that a packet of `flits` flits would get; kNoVc if none has credits.
  std::uint32_t choose_out_vc(const Now& now, const Output& out, VcMask candidates,
                              std::uint64_t flits);
  void grant(const Now& now, const SwitchAllocator::Request& request);
  void mark_contention(const Now& now);
  void settle(const Now& now);
  void plan(const Now& now, Output& out);
  // Promises a new train, to the next router and, for the credits, to the one before.
  void announce(Output& out, std::uint64_t packet_end);
  [[nodiscard]] Cycle next_check(const Now& now, Output& out);
  [[nodiscard]] bool may_choose_another_vc(const Output& out) const;
  bool look_at_front(const Now& now, Input& in, std::uint32_t vc);
  [[nodiscard]] bool completes_message(const Output& out) const;
  void look_at(Cycle cycle) { next_ = std::min(next_, cycle); }
  void look_at_tick(const Now& now, Tick tick) {
    if (tick == kNever) return;
    look_at(std::max(now.cycle + 1, cycle_of_tick(tick, spec_.ticks_per_cycle)));
  }

  ClockDomain& clock_;
  ClockedId id_;
  TrainRouterSpec spec_;
  const MessageTable& messages_;
  const PathTable& paths_;
  std::vector<std::unique_ptr<Link>> links_;
  std::vector<std::unique_ptr<TrainChannel>> channels_;
  std::vector<Input> inputs_;
  std::vector<VcMask> occupied_;  // by input: VCs with a train, written by their channels
  std::vector<Output> outputs_;
  std::vector<std::uint32_t> active_;  // outputs that are held, or whose promise is open
  std::vector<Waiter> waiters_;  // of this evaluation
  std::vector<SwitchAllocator> allocator_;  // exactly one, made by connect()
  Cycle next_ = kNever;  // next cycle in which there may be something to decide
  bool touched_ = false;  // an event in this cycle may have changed that
};

}  // namespace espalier
