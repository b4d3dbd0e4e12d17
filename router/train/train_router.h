// Input-queued virtual-channel router (virtual cut-through), train fidelity: takes the decisions of
// router.h, but only at times at which they can differ from the previous ones.
#pragma once

#include <map>
#include <optional>
#include <systemc>
#include <vector>

#include "flowctl/flit.h"
#include "flowctl/message.h"
#include "flowctl/train/packet_stops.h"
#include "flowctl/train/train_sender.h"
#include "flowctl/wait_list.h"
#include "hw/clock/clock_domain.h"
#include "router/router_rules.h"
#include "router/router_spec.h"
#include "router/switch_allocator.h"

namespace espalier {

struct TrainRouterSpec {
  std::uint32_t vcs = 4;
  CrossbarInputs crossbar_inputs = CrossbarInputs::port;
  VcOrder vc_order = VcOrder::lowest;  // rotating: message mode only
  Tick ticks_per_cycle = 1;
};

// Packets are granted as in the cycle-fidelity router, but not every packet boundary is evaluated.
// A train passes a boundary without a decision if the same grant is certain to follow: no other
// packet could be granted, the train's data and credits are there in time, and granting the same
// requester again moves no arbiter. docs/trains.md has the rules and explains why they are exact.
class TrainRouter : public sc_core::sc_module,
                    public Clocked,
                    public TrainListener,
                    public CreditListener {
 public:
  TrainRouter(sc_core::sc_module_name module_name, ClockDomain& clock, TrainWheel& wheel,
              TrainSegmentPool& segments, PacketStops& stops, const TrainRouterSpec& spec,
              const MessageTable& messages, const PathTable& paths,
              const std::vector<InputPortSpec>& inputs);

  // Elaboration, see Router.
  [[nodiscard]] TrainChannel& input_channel(std::size_t input) { return channels_[input]; }
  [[nodiscard]] const TrainChannel& input_channel(std::size_t input) const {
    return channels_[input];
  }
  [[nodiscard]] std::size_t num_inputs() const { return channels_.size(); }
  [[nodiscard]] std::size_t num_outputs() const { return outputs_.size(); }
  void add_output(TrainChannel& channel);
  void add_ejection(PacketSink& sink, std::uint32_t sink_port, Cycle latency);
  void connect();

  // Ports of another router, and of this one. Where packets of the former have been granted, this
  // router's arbiters then stand as if its own packets had been.
  using Ports = std::map<std::uint32_t, std::uint32_t>;
  // `outputs`: those whose arbiters are copied. Precondition: nothing is in either router, and
  // `inputs` has all inputs of packets that have left by `outputs`.
  void copy_arbiters(TrainRouter& other, const Ports& inputs, const Ports& outputs, Cycle now);

  void evaluate(Cycle now) override;
  void train_came(std::uint32_t input, std::uint32_t vc) override;
  void train_followed(std::uint32_t input, std::uint32_t vc) override;
  void train_changed(std::uint32_t input, bool look_now) override;
  void credits_changed(std::uint32_t output, bool look_now) override;

  // Flits that have passed this router up to cycle `now`, including the flits of trains in flight.
  [[nodiscard]] std::uint64_t flit_hops(Cycle now) const;
  // Flits that have left by output `output` up to cycle `now`.
  [[nodiscard]] std::uint64_t flits_sent(std::size_t output, Cycle now) const;
  [[nodiscard]] const Counters& counters() const { return counters_; }
  // For the watchdog: adds what each VC waits for.
  void explain_waits(Cycle now, WaitList& waits) const;

 private:
  struct Now {
    Cycle cycle;
    Tick begin;  // first tick
    Tick end;    // last tick
  };
  // Constants of a packet that waits at the front of an input VC.
  struct Front {
    bool known = false;
    std::uint32_t flits = 0;
    Tick head = 0;  // from this tick on it can be granted, and then streams without a gap
    // Its message owns a VC, in which its credits have been seen: nothing takes them back.
    bool has_room = false;
  };
  struct Vc {
    InputVc state;
    Front front;
  };
  struct Output {
    TrainSender train;
    std::uint32_t vc = 0;  // input VC of the train
    VcMask owned = 0;      // VCs whose owner has been granted and has not sent its tail
    // VcOrder::rotating: where the next message begins to look for a VC.
    std::uint32_t first_vc = 0;
    // The last first_unsure() of the promise. It holds until data or credits are cut.
    std::uint64_t sure_until = 0;
    Cycle ready = kNever;     // promise open: when its next packet may be able to start
    bool is_new = false;      // the train was granted in this cycle, and nothing is promised yet
    bool contends = false;    // the last plan found the output or its crossbar input contended
    bool is_short = false;    // not all flits that had been announced were promised
    bool is_told = false;     // the NI has been told of all packets of the train
    std::uint64_t flits = 0;  // flits that have left by this output
    EjectionPort ejection;

    [[nodiscard]] bool ejects() const { return train.to() == nullptr; }
  };
  // The first eight flags decide whether a plan remains valid; they share a byte.
  struct OutputFlags {
    bool held : 1;           // a packet is on the wire
    bool promise_open : 1;   // no packet is on the wire, but more flits of its train are promised
    bool active : 1;         // the output is in active_
    bool granted : 1;        // in this evaluation
    bool contended : 1;      // another packet could go if the output were free
    bool wanted : 1;         // another packet waits for the output
    bool credit_news : 1;    // credits have been announced or cut since the last plan
    bool planned_alone : 1;  // the last plan found the output neither contended nor wanted
    bool credit_check : 1;   // the next check is the first boundary at which credits may be missing
    bool new_head : 1;       // fast path: a new head wants the output
    bool resumed : 1;        // held since before the first packet on the wire starts
    bool sought : 1;         // in this evaluation: a VC's packet is for this output
    bool has_parked : 1;     // parked_ has packets for it
    bool at_boundary : 1;    // in this evaluation: at a boundary after which its train is sure
  };
  static_assert(sizeof(OutputFlags) == 2);
  struct InputFlags {
    bool contended : 1;  // a VC could go if the shared crossbar input were free
    bool news : 1;       // trains have come or been cut since the last evaluation
    bool new_head : 1;   // fast path: a new head is here
    bool sought : 1;     // in this evaluation: a VC's packet waits here
  };
  static_assert(sizeof(InputFlags) == 1);
  // What a packet at the front of a VC is waiting for.
  enum class RequestStatus : std::uint8_t {
    not_ready,          // for time: the packet or the wire is not ready; a recheck is planned
    no_credits_yet,     // for credits that are announced; a recheck is planned
    no_vc,              // for credits that are not announced, or a VC without an owner
    blocked_by_holder,  // for its output: it could go if the holder stopped at the next boundary
    grantable,          // for nothing: it can go now
  };
  // A packet that has just come to the front of a VC.
  struct NewHead {
    std::uint32_t input;
    std::uint32_t vc;
  };
  // A train that has come into a VC whose front train ends lazily.
  using Follower = NewHead;
  struct Waiter {
    std::uint32_t input;
    std::uint32_t vc;
    std::uint32_t output;
    RequestStatus status;
  };
  [[nodiscard]] Now present(Cycle cycle) const;
  // Decides for the whole router.
  void evaluate_all(const Now& now);
  // Decides only for new heads and ended trains. Returns false if two of them compete, so that the
  // whole router must decide.
  bool evaluate_fast_path(const Now& now);
  // Whether the train of a held output has ended and no other packet waits for its resources.
  [[nodiscard]] bool ended_alone(const Now& now, std::uint32_t output) const;
  void release_ended(const Now& now, std::uint32_t output);
  void evaluate_follower(const Now& now, const Follower& follower);
  // Whether a new head competes neither with another new head nor with a train at a boundary.
  bool stands_alone(const Now& now, const NewHead& head);
  void evaluate_new_head(const Now& now, const NewHead& head);
  // Flits that have left a held output whose train is at a boundary; 0 inside a packet.
  std::uint64_t gone_to_boundary(const Now& now, std::uint32_t output);
  enum class Wire : std::uint8_t { free, busy, at_boundary };
  // Releases the output if its train has ended.
  Wire wire_state(const Now& now, std::uint32_t output);
  // Notes for which outputs, and in which inputs, packets wait.
  void note_sought(const Now& now);
  // Whether a held output at a boundary, of whose train the next packet is sure, is certain to be
  // granted to it again: nothing else waits for its resources, and the grant changes nothing.
  [[nodiscard]] bool goes_on_alone(std::uint32_t output) const;
  // Whether the grant of its train's next packet would choose no VC and move no arbiter.
  [[nodiscard]] bool grant_is_idle(std::uint32_t output) const;
  // Returns whether a promise is open now.
  bool release_boundaries(const Now& now);
  void release(std::uint32_t output, std::uint64_t flits);
  void eject(const Output& out, std::uint64_t flits);
  void drop_broken_promises(const Now& now);
  void cut(const Now& now, std::uint32_t output);
  void allocate(const Now& now, bool promise_open);
  // Written field by field, because copying a finished record stalls on store forwarding.
  void note_waiter(std::uint32_t input, std::uint32_t vc, RequestStatus status) {
    waiters_.emplace_back();
    Waiter& waiter = waiters_.back();
    waiter.input = input;
    waiter.vc = vc;
    waiter.output = input_vc(input, vc).state.out;
    waiter.status = status;
  }
  // Returns what the packet in a VC is waiting for. If it can go, fills in the request. If it only
  // waits for time, plans a recheck.
  RequestStatus make_request(const Now& now, std::uint32_t input, std::uint32_t vc,
                             SwitchAllocator::Request& request);
  bool inspect_front(const Now& now, std::uint32_t input, std::uint32_t vc);
  // The VC of the next channel that the packet at the front of a VC would get, if any.
  VcChoice find_out_vc(const Now& now, const Output& out, Vc& waiting);
  void unpark(std::uint32_t output);
  void grant(const Now& now, const SwitchAllocator::Request& request);
  void mark_contention(const Now& now);
  void settle(const Now& now);
  void plan(const Now& now, std::uint32_t output);
  // Whether a VC waits in a gap of the train that it sends by `output`.
  [[nodiscard]] bool is_in_gap(std::uint32_t input, std::uint32_t vc, std::uint32_t output) const {
    return output_flags_[output].promise_open && input_of_[output] == input &&
           outputs_[output].vc == vc;
  }
  // In a gap: holds the output for the next packet of an open promise, if it is certain to be
  // granted as promised. Otherwise returns false.
  bool resume(const Now& now, std::uint32_t output);
  // Whether the packet for which a held output was resumed is not on the wire yet. An evaluation in
  // the cycle in which it starts decides anew.
  [[nodiscard]] bool waits_to_resume(const Now& now, std::uint32_t output) const {
    return output_flags_[output].resumed && outputs_[output].train.start_of_next(0) >= now.begin;
  }
  // The first boundary in [from, limit) after which a packet may start at another tick than
  // promised; `limit` if there is none.
  [[nodiscard]] std::uint64_t first_unsure(std::uint32_t output, std::uint64_t limit,
                                           std::uint64_t from);
  [[nodiscard]] std::uint64_t compute_first_unsure(std::uint32_t output, std::uint64_t limit,
                                                   std::uint64_t from) const;
  // Promises a new train to the next router, and its credits to the previous one.
  void announce(std::uint32_t output, std::uint64_t packet_end);
  // The first boundary at which skipping the decision could be wrong. Sets or clears credit_check.
  [[nodiscard]] Cycle next_check(const Now& now, std::uint32_t output);
  // Functions of a held output.
  // Whether its train, the train's data and its credits have no gaps.
  [[nodiscard]] bool is_plain(std::uint32_t output) const;
  // Whether the data of its train may come later than its wire is free.
  [[nodiscard]] bool comes_late(std::uint32_t output) const;
  // The data of its train from `boundary` on, as far as the front segment tells.
  [[nodiscard]] TrainSender::Data data_from(std::uint32_t output, std::uint64_t boundary) const;
  // When the packets of its train from `boundary` on are ready to stream, as far as the front
  // segment tells; nothing if they are not at equal distances.
  [[nodiscard]] std::optional<PacketStarts> heads_from(std::uint32_t output,
                                                       std::uint64_t boundary) const;
  [[nodiscard]] bool keeps_vc(std::uint32_t output) const;
  [[nodiscard]] bool may_choose_another_vc(std::uint32_t output) const;
  [[nodiscard]] bool completes_message(const Output& out) const;
  // Why its train is released after `flits` flits although more of its message follow.
  [[nodiscard]] StopReason reason_of_stop(std::uint32_t output, std::uint64_t flits) const;
  // For inputs with trains, in ascending order.
  template <class Visit>
  void for_each_filled(Visit visit) {
    for (std::size_t word = 0; word < filled_.size(); ++word) {
      for (std::uint64_t left = filled_[word]; left != 0; left &= left - 1) {
        const auto bit = static_cast<std::uint32_t>(__builtin_ctzll(left));
        const auto input = static_cast<std::uint32_t>(64 * word) + bit;
        if (occupied_[input] != 0) {
          visit(input);
        } else {
          filled_[word] &= ~(std::uint64_t{1} << bit);
        }
      }
    }
  }
  void note_news(std::uint32_t input) {
    if (!input_flags_[input].news) inputs_with_news_.push_back(input);
    input_flags_[input].news = true;
  }
  void note_contended(std::uint32_t input) {
    if (!input_flags_[input].contended) contended_inputs_.push_back(input);
    input_flags_[input].contended = true;
  }
  void recheck_now() {
    touched_ = true;
    fast_path_suffices_ = false;
    clock_.wake_now(id_);
  }
  void recheck_at(Cycle cycle) { recheck_cycle_ = std::min(recheck_cycle_, cycle); }
  // The next cycle in which there may be something to decide.
  [[nodiscard]] Cycle next_evaluation() const {
    Cycle next = recheck_cycle_;
    for (const std::uint32_t o : active_) {
      if (output_flags_[o].held) next = std::min(next, check_[o]);
    }
    return next;
  }
  void recheck_at_tick(const Now& now, Tick tick) {
    if (tick == kNever) return;
    recheck_at(std::max(now.cycle + 1, cycle_of_tick(tick, spec_.ticks_per_cycle)));
  }
  [[nodiscard]] Vc& input_vc(std::uint32_t input, std::uint32_t vc) {
    return vcs_[input * spec_.vcs + vc];
  }
  [[nodiscard]] const Vc& input_vc(std::uint32_t input, std::uint32_t vc) const {
    return vcs_[input * spec_.vcs + vc];
  }

  ClockDomain& clock_;
  ClockedId id_;
  PacketStops& stops_;
  TrainRouterSpec spec_;
  const MessageTable& messages_;
  const PathTable& paths_;
  InputChannels<TrainChannel> channels_;     // by input
  std::vector<RoundRobinArbiter> arbiters_;  // by input
  std::vector<Vc> vcs_;                      // by input, then VC
  std::vector<Output> outputs_;
  std::optional<SwitchAllocator> allocator_;  // made by connect()
  Counters counters_;
  std::vector<Waiter> waiters_;  // of this evaluation

  // Every evaluation reads the members below. The records above are accessed only for ports where
  // something changes.
  // The earliest cycle in which the clock will evaluate this router.
  Cycle next_ = kNever;
  // next_evaluation() after the last evaluation. It can only become later.
  Cycle planned_ = kNever;
  // Next cycle in which a waiting packet or an open promise may change.
  Cycle recheck_cycle_ = kNever;
  bool touched_ = false;            // an event of this cycle asks for an evaluation
  bool fast_path_suffices_ = true;  // all such events are new heads or followers
  std::vector<NewHead> new_heads_;
  std::vector<Follower> followers_;
  std::vector<OutputFlags> output_flags_;
  std::vector<InputFlags> input_flags_;
  std::vector<VcMask> occupied_;  // by input: VCs with a train, written by their channels
  // Inputs with trains, 64 a word, and some without: an evaluation may only look at the ports where
  // something is, because a switch may have thousands.
  std::vector<std::uint64_t> filled_;
  std::vector<std::uint32_t> inputs_with_news_;
  std::vector<std::uint32_t> contended_inputs_;
  std::vector<std::uint32_t> outputs_with_parked_;
  std::vector<VcMask> streaming_;  // by input: VCs that hold the switch
  // By output: packets that wait for a VC or for credits, and are not looked at until a VC loses
  // its owner, or credits are news.
  std::vector<std::vector<NewHead>> parked_;
  std::vector<VcMask> parked_vcs_;        // by input: VCs in parked_
  std::vector<std::uint32_t> active_;     // outputs that are held, or whose promise is open
  std::vector<std::uint32_t> input_of_;   // by output: input of its last train
  std::vector<std::uint32_t> output_of_;  // by input: output of its last train
  std::vector<Cycle> boundary_;  // by output: cycle in which the packet on the wire has left
  std::vector<Cycle> check_;     // by held output: next cycle that must evaluate the train
};

}  // namespace espalier
