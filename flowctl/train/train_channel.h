// A link in train fidelity: the trains that pass it or wait at its end, and the credits that flow
// back.
#pragma once

#include <cstdint>
#include <vector>

#include "flowctl/channel_observer.h"
#include "flowctl/flit_run.h"
#include "flowctl/message.h"
#include "flowctl/train/train_wheel.h"
#include "flowctl/virtual_channels.h"
#include "hw/clock/link.h"

namespace espalier {

// The sender of a channel; `port` is the sender's number for it. Called at the start of a cycle,
// before any evaluation.
class CreditListener {
 public:
  virtual ~CreditListener() = default;
  // More or fewer credits are coming. `look_now`: a packet may be able to move because of them.
  virtual void credits_changed(std::uint32_t port, bool look_now) = 0;
};

// The receiver of a channel; `port` is the receiver's number for it. Called like CreditListener.
class TrainListener {
 public:
  virtual ~TrainListener() = default;
  // A train has come into an empty VC.
  virtual void train_came(std::uint32_t port, std::uint32_t vc) = 0;
  // A train has come into a VC whose front train ends lazily, i.e. without a planned evaluation.
  virtual void train_followed(std::uint32_t port, std::uint32_t vc) = 0;
  // A train has come behind others or has grown; with `look_now`, a train has been cut.
  virtual void train_changed(std::uint32_t port, bool look_now) = 0;
};

// Part of a train in an input VC: promised flits of one message.
struct alignas(64) TrainSegment {
  std::uint64_t first = 0;  // offset of its first flit in the message
  FlitRun usable;           // when its flits may leave
  MessageId message;
  std::uint16_t hop = 0;   // routers passed
  std::uint32_t next = 0;  // in the pool: the next segment of the same VC

  [[nodiscard]] std::uint64_t end() const { return first + usable.n; }
};

// The segments of all VCs of a system, so that idle VCs own no memory.
class TrainSegmentPool {
 public:
  static constexpr std::uint32_t kNone = 0xffffffffU;
  [[nodiscard]] std::uint32_t add(const TrainSegment& segment);
  void remove(std::uint32_t index) {
    segments_[index].next = free_;
    free_ = index;
  }
  [[nodiscard]] TrainSegment& operator[](std::uint32_t index) { return segments_[index]; }
  [[nodiscard]] const TrainSegment& operator[](std::uint32_t index) const {
    return segments_[index];
  }

 private:
  std::vector<TrainSegment> segments_;
  std::uint32_t free_ = kNone;
};

// Credits of one VC as its sender sees them.
struct TrainCredits {
  std::uint64_t counted = 0;  // credits seen, minus the flits sent and accounted for
  FlitRun coming;             // the run in progress

  // The tick at which `flits` credits are seen; kNever if fewer are announced.
  [[nodiscard]] Tick room_at(std::uint64_t flits) const {
    if (flits <= counted) return 0;
    const std::uint64_t missing = flits - counted;
    return missing <= coming.n ? coming.tick_of(missing - 1) : kNever;
  }
  // `flits` flits have been sent with credits that the sender had seen.
  void spend(std::uint64_t flits) {
    if (flits > counted) {
      // Some credits of the current run are spent, so they are counted first.
      const std::uint64_t used = flits - counted;
      counted = flits;
      coming.drop(used);
    }
    counted -= flits;
  }
};

class TrainChannel {
 public:
  TrainChannel(Link& link, const ChannelSpec& spec, TrainWheel& wheel, TrainSegmentPool& segments);
  TrainChannel(const TrainChannel&) = delete;
  TrainChannel& operator=(const TrainChannel&) = delete;

  // To be called before the simulation starts, exactly once each. `port` is the channel's number at
  // its sender or receiver. The channel writes the set of its VCs that have a segment into the
  // receiver's `occupied`.
  void connect_sender(CreditListener& sender, std::uint32_t port) {
    sender_ = &sender;
    sender_port_ = port;
  }
  void connect_receiver(TrainListener& receiver, std::uint32_t port, VcMask& occupied) {
    receiver_ = &receiver;
    receiver_port_ = port;
    occupied_ = &occupied;
  }

  // See Channel.
  void observe(ChannelObserver& observer) { observers_.push_back(&observer); }
  // An observer sees each packet of a comb when it is promised, so a comb that is observed has at
  // most so many: what a cut takes back costs no more.
  static constexpr std::uint64_t kObservedPackets = 256;
  [[nodiscard]] bool is_observed() const { return !observers_.empty(); }

  // Sender's side -----------------------------------------------------------------------------
  struct Train {
    MessageId message;
    std::uint16_t hop = 0;     // number of routers passed at the receiver
    std::uint64_t offset = 0;  // of the first flit in the message
    // Departures of the promised flits, which are whole packets. The first flit leaves in the
    // current cycle or later.
    FlitRun flits;
  };
  void send_begin(std::uint32_t vc, const Train& train);
  // The last `n` promised flits do not come. Must be called no later than the cycle in which the
  // first of the `n` flits would have left.
  void send_cut(std::uint32_t vc, std::uint64_t n, Cycle now);
  [[nodiscard]] bool has_room(std::uint32_t vc, std::uint64_t flits, Tick now_end) const {
    return room_at(vc, flits) <= now_end;
  }
  [[nodiscard]] Tick room_at(std::uint32_t vc, std::uint64_t flits) const {
    return vcs_[vc].credits.room_at(flits);
  }
  // Credits that have not been announced yet arrive with an event.
  [[nodiscard]] static Tick unsent_credit(Cycle) { return kNever; }
  [[nodiscard]] const TrainCredits& credits(std::uint32_t vc) const { return vcs_[vc].credits; }
  void spend(std::uint32_t vc, std::uint64_t flits) { vcs_[vc].credits.spend(flits); }
  // Asks to be called when credits for a VC in `vcs` are announced.
  void wait_for_credits(VcMask vcs) { awaited_ |= vcs; }
  [[nodiscard]] Tick ticks_per_flit() const { return rate_; }

  // Receiver's side ---------------------------------------------------------------------------
  // VCs with a segment.
  [[nodiscard]] VcMask occupied() const { return *occupied_; }
  // Precondition of all functions below that take a VC: the VC is occupied.
  [[nodiscard]] const TrainSegment& front(std::uint32_t vc) const {
    return segments_[vcs_[vc].head];
  }
  [[nodiscard]] bool has_second(std::uint32_t vc) const { return vcs_[vc].head != vcs_[vc].tail; }
  // Offset of the next flit to leave.
  [[nodiscard]] std::uint64_t next_flit(std::uint32_t vc) const { return vcs_[vc].next_flit; }
  [[nodiscard]] Tick usable(std::uint32_t vc) const {
    const TrainSegment& segment = front(vc);
    return segment.usable.tick_of(vcs_[vc].next_flit - segment.first);
  }
  // `n` flits of the front segment have left.
  void leave(std::uint32_t vc, std::uint64_t n);
  // `lazily`: the train from this VC ends with its data, and the receiver has planned no evaluation
  // for its end, so an arrival for the VC must cause one. Otherwise the receiver has planned an
  // evaluation.
  void set_ends_lazily(std::uint32_t vc, bool lazily) {
    const VcMask bit = VcMask{1} << vc;
    ends_lazily_ = lazily ? ends_lazily_ | bit : ends_lazily_ & ~bit;
  }
  // Returns the credits for a train that leaves VC `vc`. `flits` is as in TrainChannel::Train.
  void return_credits(std::uint32_t vc, const FlitRun& flits);
  void cut_credits(std::uint32_t vc, std::uint64_t n, Cycle now);

  // Called by the wheel.
  void arrive(const TrainEvent& event, Cycle now);

  [[nodiscard]] const ChannelSpec& spec() const { return spec_; }
  [[nodiscard]] CombPool& combs() const { return wheel_.combs(); }
  [[nodiscard]] const Link& link() const { return link_; }

 private:
  struct alignas(64) Vc {
    TrainCredits credits;  // as seen by the sender
    std::uint32_t head = TrainSegmentPool::kNone;
    std::uint32_t tail = TrainSegmentPool::kNone;
    std::uint64_t next_flit = 0;
  };
  static_assert(sizeof(Vc) == 64);

  [[nodiscard]] TrainEvent event(TrainEvent::Kind kind, std::uint32_t vc, const FlitRun& flits);
  // Posts a begin whose flits or credits arrive `latency` after they leave.
  void post_begin(TrainEvent& begin, Cycle latency);
  void begin(const TrainEvent& event);
  void cut(const TrainEvent& event);
  void drop_front(Vc& vc, std::uint32_t number);

  // Members for arrivals at the receiver come first, then members for the sender: each group is
  // close together in memory.
  std::vector<Vc> vcs_;
  VcMask* occupied_ = nullptr;
  TrainSegmentPool& segments_;
  Tick rate_;
  VcMask ends_lazily_ = 0;
  std::uint32_t receiver_port_ = 0;
  TrainListener* receiver_ = nullptr;

  CreditListener* sender_ = nullptr;
  std::uint32_t sender_port_ = 0;
  VcMask awaited_ = 0;
  TrainWheel& wheel_;
  Cycle forward_;  // from departure until usable at the receiver: link and pipeline
  ChannelSpec spec_;
  Link& link_;
  std::vector<ChannelObserver*> observers_;
};

}  // namespace espalier
