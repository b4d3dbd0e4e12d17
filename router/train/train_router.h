// Input-queued virtual-channel router (virtual cut-through), train fidelity: the decisions of
// router.h at the times when they can differ from the last ones.
#pragma once

#include <memory>
#include <systemc>
#include <vector>

#include "flowctl/flit.h"
#include "flowctl/message.h"
#include "flowctl/train/train_sender.h"
#include "flowctl/wait_list.h"
#include "hw/clock/clock_domain.h"
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

// A packet is granted as in the cycle-fidelity router. What differs is when it is looked at: a
// train of packets passes a boundary unseen where the same grant is certain to follow, because
// nobody else could be granted, its data and its credits are there in time, and granting the same
// requester again moves no arbiter. docs/trains.md has the rules and why they are exact.
class TrainRouter : public sc_core::sc_module,
                    public Clocked,
                    public TrainListener,
                    public CreditListener {
 public:
  TrainRouter(sc_core::sc_module_name module_name, ClockDomain& clock, TrainWheel& wheel,
              TrainSegmentPool& segments, const TrainRouterSpec& spec, const MessageTable& messages,
              const PathTable& paths, const std::vector<InputPortSpec>& inputs);

  // Elaboration, as for Router.
  [[nodiscard]] TrainChannel& input_channel(std::size_t input) { return *inputs_[input].channel; }
  [[nodiscard]] const TrainChannel& input_channel(std::size_t input) const {
    return *inputs_[input].channel;
  }
  [[nodiscard]] std::size_t num_inputs() const { return inputs_.size(); }
  void add_output(TrainChannel& channel);
  void add_ejection(PacketSink& sink, std::uint32_t sink_port, Cycle latency);
  void connect();

  void evaluate(Cycle now) override;
  void train_came(std::uint32_t input, std::uint32_t vc) override;
  void train_followed(std::uint32_t input, std::uint32_t vc) override;
  void train_changed(std::uint32_t input, bool look_now) override;
  void credits_changed(std::uint32_t output, bool look_now) override;

  // Flits that have passed this router up to cycle `now`, those of trains under way included.
  [[nodiscard]] std::uint64_t flit_hops(Cycle now) const;
  // Of these, the flits that left by output `output`.
  [[nodiscard]] std::uint64_t flits_sent(std::size_t output, Cycle now) const;
  // As of Router.
  [[nodiscard]] std::uint64_t link_conflicts() const { return link_conflicts_; }
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
    RoundRobinArbiter arbiter;
  };
  struct Output {
    TrainSender train;
    std::uint32_t vc = 0;  // input VC of the train
    VcMask owned = 0;      // VCs between a head's grant and the tail
    bool is_new = false;   // train: granted in this cycle, nothing promised yet
    bool is_told = false;  // train: the NI has been told of all its packets
    std::uint64_t flits = 0;
    // Ejection ports.
    PacketSink* sink = nullptr;
    std::uint32_t sink_port = 0;
    Cycle sink_latency = 0;
  };
  // What is noted of an output.
  enum Note : std::uint16_t {
    kHeld = 1,           // a packet is on the wire
    kPromiseOpen = 2,    // none, but more flits are promised
    kGranted = 4,        // in this evaluation
    kContended = 8,      // somebody else could go if the output were free
    kWanted = 16,        // somebody else has a packet for the output
    kCreditNews = 32,    // credits have been announced or cut since the last plan
    kPlannedAlone = 64,  // the last plan was made without contention and without kWanted
    kActive = 128,       // in active_
    kCreditCheck = 256,  // the next check is the first boundary at which credits may be missing
    kNewcomer = 512,     // a newcomer has a packet for the output
  };
  // Of an input.
  enum InputNote : std::uint8_t {
    kInputContended = 1,  // a VC could go if the shared crossbar input were free
    kInputNews = 2,       // trains have come or been cut since the last evaluation
    kInputNewcomer = 4,   // a newcomer is here
  };
  // What a waiting packet may hope for.
  enum class Hope : std::uint8_t {
    later,       // time will tell: it, or the wire, is not ready yet
    wants,       // it waits for credits or for the owner of its VC
    could_take,  // it could go if the train that holds its output stopped at the next boundary
    could_go,    // it could go now
  };
  // A packet at the front of a VC that had nothing to wait for before this cycle.
  struct Newcomer {
    std::uint32_t input;
    std::uint32_t vc;
  };
  struct Waiter {
    std::uint32_t input;
    std::uint32_t vc;
    std::uint32_t output;
    Hope hope;
  };

  [[nodiscard]] Now present(Cycle cycle) const;
  // The whole router.
  void evaluate_all(const Now& now);
  // Decides where nothing has changed but that trains have ended by themselves and packets have
  // come. False: that is not enough, the whole router must decide.
  bool evaluate_simply(const Now& now);
  // Whether the train of a held output has ended, and nobody waits for what it lets go.
  [[nodiscard]] bool ended_alone(const Now& now, std::uint32_t output) const;
  void release_ended(const Now& now, std::uint32_t output);
  void look_at_follower(const Now& now, const Newcomer& follower);
  // Whether a newcomer meets trains only inside a packet, or ended, and no other newcomer.
  bool stands_alone(const Now& now, const Newcomer& newcomer);
  void evaluate_newcomer(const Now& now, const Newcomer& newcomer);
  // Flits that have left a held output whose train stands at a boundary; 0 inside a packet.
  std::uint64_t gone_to_boundary(const Now& now, std::uint32_t output);
  enum class Wire : std::uint8_t { free, busy, at_boundary };
  // Whether the train of a held output is inside a packet; one that has ended is released.
  Wire look_at_wire(const Now& now, std::uint32_t output);
  // True if a promise is open now.
  bool release_boundaries(const Now& now);
  void release(std::uint32_t output, std::uint64_t flits);
  void eject(const Output& out, std::uint64_t flits);
  void drop_broken_promises(const Now& now);
  void cut(const Now& now, std::uint32_t output);
  void allocate(const Now& now);
  // Field by field: a record put together first and then copied stalls on its own parts.
  void note_waiter(std::uint32_t input, std::uint32_t vc, Hope hope) {
    waiters_.emplace_back();
    Waiter& waiter = waiters_.back();
    waiter.input = input;
    waiter.vc = vc;
    waiter.output = input_vc(input, vc).state.out;
    waiter.hope = hope;
  }
  // Asks for the switch on behalf of a waiting VC; the request is filled in where it could go.
  // Notes when to look again where time alone decides.
  Hope make_request(const Now& now, std::uint32_t input, std::uint32_t vc,
                    SwitchAllocator::Request& request);
  bool look_at_front(const Now& now, std::uint32_t input, std::uint32_t vc);
  // The VC behind output `out` that a packet of `flits` flits would get; kNoVc if none has credits.
  std::uint32_t choose_out_vc(const Now& now, const Output& out, VcMask candidates,
                              std::uint64_t flits);
  void grant(const Now& now, const SwitchAllocator::Request& request);
  void mark_contention(const Now& now);
  void settle(const Now& now);
  void plan(const Now& now, std::uint32_t output);
  // Promises a new train, to the next router and, for the credits, to the one before.
  void announce(std::uint32_t output, std::uint64_t packet_end);
  // Notes whether it is credits that this check is for.
  [[nodiscard]] Cycle next_check(const Now& now, std::uint32_t output);
  [[nodiscard]] bool may_choose_another_vc(std::uint32_t output) const;
  [[nodiscard]] bool completes_message(const Output& out) const;
  [[nodiscard]] bool has(std::uint32_t output, std::uint16_t notes) const {
    return (notes_[output] & notes) != 0;
  }
  void add(std::uint32_t output, std::uint16_t notes) {
    notes_[output] = static_cast<std::uint16_t>(notes_[output] | notes);
  }
  void remove(std::uint32_t output, std::uint16_t notes) {
    notes_[output] = static_cast<std::uint16_t>(notes_[output] & ~notes);
  }
  void look_again() {
    touched_ = true;
    only_simple_ = false;
    clock_.wake_now(id_);
  }
  void look_at(Cycle cycle) { waiters_next_ = std::min(waiters_next_, cycle); }
  // The next cycle in which there may be something to decide, as far as is known now.
  [[nodiscard]] Cycle next_look() const {
    Cycle next = waiters_next_;
    for (const std::uint32_t o : active_) {
      if (has(o, kHeld)) next = std::min(next, check_[o]);
    }
    return next;
  }
  void look_at_tick(const Now& now, Tick tick) {
    if (tick == kNever) return;
    look_at(std::max(now.cycle + 1, cycle_of_tick(tick, spec_.ticks_per_cycle)));
  }
  [[nodiscard]] Vc& input_vc(std::uint32_t input, std::uint32_t vc) {
    return vcs_[input * spec_.vcs + vc];
  }
  [[nodiscard]] const Vc& input_vc(std::uint32_t input, std::uint32_t vc) const {
    return vcs_[input * spec_.vcs + vc];
  }

  ClockDomain& clock_;
  ClockedId id_;
  TrainRouterSpec spec_;
  const MessageTable& messages_;
  const PathTable& paths_;
  std::vector<std::unique_ptr<Link>> links_;
  std::vector<std::unique_ptr<TrainChannel>> channels_;
  std::vector<Input> inputs_;
  std::vector<Vc> vcs_;  // by input, then VC
  std::vector<Output> outputs_;
  std::vector<SwitchAllocator> allocator_;  // exactly one, made by connect()
  std::uint64_t link_conflicts_ = 0;
  std::vector<Waiter> waiters_;  // of this evaluation

  // What every evaluation looks at stands together: it touches the records above only of ports at
  // which something changes.
  // The earliest cycle in which the clock will evaluate this router.
  Cycle next_ = kNever;
  // next_look() after the last evaluation: by now it can only be later.
  Cycle planned_ = kNever;
  // Next cycle in which a waiting packet or an open promise may change.
  Cycle waiters_next_ = kNever;
  bool touched_ = false;     // an event of this cycle asks for an evaluation
  bool only_simple_ = true;  // and only newcomers and followers do
  std::vector<Newcomer> newcomers_;
  std::vector<Newcomer> followers_;        // behind a train that ends lazily
  std::vector<std::uint16_t> notes_;       // by output
  std::vector<std::uint8_t> input_notes_;  // by input
  std::vector<VcMask> occupied_;           // by input: VCs with a train, written by their channels
  std::vector<VcMask> streaming_;          // by input: VCs that hold the switch
  std::vector<std::uint32_t> active_;      // outputs that are held, or whose promise is open
  std::vector<std::uint32_t> input_of_;    // by output: of its train
  std::vector<std::uint32_t> output_of_;   // by input: of the last train granted there
  // By output: the packet on the wire has left when this cycle begins.
  std::vector<Cycle> boundary_;
  std::vector<Cycle> check_;  // by output, held: next cycle in which the train must be looked at
};

}  // namespace espalier
