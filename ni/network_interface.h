// The network interface: an issue engine on top of the back end (DMA, packetizers, reduction).
#pragma once

#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <systemc>
#include <vector>

#include "flowctl/flit.h"
#include "flowctl/train/train_channel.h"
#include "flowctl/wait_list.h"
#include "hw/clock/clock_domain.h"
#include "hw/counters.h"
#include "ni/dma_engine.h"
#include "ni/injection_port.h"
#include "ni/issue_engine.h"
#include "ni/message_store.h"
#include "ni/ni_observer.h"
#include "ni/node_memory.h"
#include "ni/reduction_unit.h"

namespace espalier {

struct NiSpec {
  DmaSpec dma;
  ReductionSpec reduction;
  Cycle delivery = 1;                // from ejected to visible in memory
  Bytes memory_bytes_per_cycle = 0;  // for program contexts; 0: never the bottleneck
  bool releases_early = false;       // a message holds its port until it has been pushed
};

// The start of a route: the path that routers follow, and the injection port in front of its first
// link. A route that is not bound to ports has a path for each ejection port of the receiver, of
// `hops` hops each, one after the other.
struct BoundRoute {
  std::uint32_t path = 0;
  VcMask injection_vcs = 0;  // of the channel from the NI
  std::uint32_t injection_port = 0;
  std::uint32_t ejection_ports = 0;  // 0: the route is bound to its ports
  std::uint32_t hops = 0;
  std::uint32_t share = 1;  // of an operation over several routes; share_of_route()

  [[nodiscard]] bool takes_any_port() const { return ejection_ports != 0; }
  [[nodiscard]] std::uint32_t path_of(const Operation& operation) const {
    return takes_any_port() ? path + operation.arrival % ejection_ports * hops : path;
  }
};

// Learns when operations are issued and when they are visible at the receiver, reduction included.
class DeliveryObserver {
 public:
  virtual ~DeliveryObserver() = default;
  virtual void issued(const Operation& operation, Cycle now) = 0;
  virtual void delivered(const Operation& operation, Cycle now) = 0;
};

class NetworkInterface : public sc_core::sc_module,
                         public Clocked,
                         public PacketSink,
                         public CreditListener,
                         private BackEnd {
 public:
  NetworkInterface(sc_core::sc_module_name module_name, NodeId node, ClockDomain& clock,
                   const NiSpec& spec, MessageStore& messages,
                   const std::vector<BoundRoute>& routes, DeliveryObserver& observer);

  // Elaboration: adds injection ports in order. As many ejection ports lead back to the NI, and
  // ejection port p has the flit width of injection port p.
  void add_injection(std::unique_ptr<InjectionPort> port);
  void connect();
  // Before the simulation: a fault of the node's memory.
  void set_dma_jitter(const DmaJitter& jitter) { dma_.set_jitter(jitter); }
  // The host posts a collective: the engine with its program, and the rank's data. `memory` must
  // outlive the simulation. The collective starts in cycle `start`.
  void load(std::unique_ptr<IssueEngine> engine, DataMemory& memory, Cycle start = 0);
  // The host posts a single message before the simulation, to be issued at operation.ready. These
  // cycles must ascend for each NI.
  void post(const Operation& operation);
  // The host posts messages while the simulation runs. A message is issued when it is posted and
  // the queue of its injection port has room. connect_source: for messages that share queues and
  // VCs with the collective; if there are several sources, each posts its messages in order, and
  // the source that was connected first goes first. connect_control: for messages on the control
  // lane. Sources must outlive the simulation.
  void connect_source(MessageSource& source);
  void connect_control(MessageSource& source);
  // Flits of messages to this NI, up to the current cycle.
  [[nodiscard]] std::uint64_t received_flits() const { return received_flits_; }
  // While the simulation runs: a source has a message that is posted in cycle `at`, which is later
  // than now. Any process may call it.
  void wake_source(Cycle at) { wake_at(at); }

  // While the simulation runs: wakes the engine in cycle `at`, which is later than now, for a
  // reason other than a message of this NI.
  void wake_engine(Cycle at);

  // To be called before the simulation. `observer` must outlive the simulation; there may be
  // several. prepare_to_show() must be called before the engine is asked to show itself.
  void observe(NiObserver& observer) { ni_observers_.push_back(&observer); }
  void prepare_to_show() {
    if (engine_) engine_->prepare_to_show();
  }
  // The Verilog models that decide in this NI. To be called after the engine is loaded.
  [[nodiscard]] std::vector<RtlPlace> rtl() {
    return engine_ ? engine_->rtl(name()) : std::vector<RtlPlace>();
  }
  // Observes the engine, if there is one. To be called after the engine is loaded.
  void observe_engine(EngineObserver& observer) {
    if (engine_) engine_->observe(observer);
  }

  void evaluate(Cycle now) override;
  void packets_end(std::uint32_t port, MessageId message, std::uint64_t count, std::uint32_t flits,
                   Cycle first, Cycle arrival) override;
  // Train fidelity: credits for an injection port have changed.
  void credits_changed(std::uint32_t port, bool look_now) override;

  [[nodiscard]] NodeId node() const { return node_; }
  [[nodiscard]] const InjectionPorts& injection_ports() const { return ports_; }
  // Nullptr if no collective is posted at this NI.
  [[nodiscard]] const IssueEngine* engine() const { return engine_.get(); }
  // True if the engine decided or was told of something in the last evaluation. Otherwise its view
  // has not changed.
  [[nodiscard]] bool engine_acted() const { return engine_acted_; }
  // Issued messages that have not left, without control messages.
  [[nodiscard]] std::size_t active_sends() const { return queued_; }
  // True if messages release ports before they have left.
  [[nodiscard]] bool releases_early() const { return spec_.releases_early; }
  // Messages that hold ports.
  [[nodiscard]] std::size_t held_ports() const;
  // Bytes that the reduction unit has begun to add.
  [[nodiscard]] std::uint64_t added_bytes() const { return reduction_->added_bytes(); }
  [[nodiscard]] Cycle reduction_busy_until() const { return reduction_->busy_until(); }
  // Bytes of gradients or traffic that are in memory.
  [[nodiscard]] Bytes delivered_bytes() const { return delivered_bytes_; }
  // The most bytes that have waited in the NI at a time, because their collective had not begun or
  // a Reduce could not be added.
  [[nodiscard]] Bytes most_held_bytes() const { return most_held_bytes_; }
  // Sum of the NI's counters and its issue engine's.
  [[nodiscard]] Counters counters() const;
  // IssueEngine::decisions().
  [[nodiscard]] std::uint64_t decisions() const { return engine_ ? engine_->decisions() : 0; }
  // True if something will happen here without another event. Control messages do not count.
  [[nodiscard]] bool under_way(Cycle now) const;
  // For the watchdog: what the issue engine waits for, and what the injection ports wait for.
  void explain_engine(const std::vector<std::string>& ni_names, WaitList& waits) const;
  void explain_ports(WaitList& waits) const;

 private:
  struct Arrival {
    Cycle at;
    std::uint32_t port;
    MessageId message;
    Cycle lane_done;  // a streaming lane has reduced its packets
  };
  struct Reduction {
    Cycle done;
    MessageId message;
  };

  void run_engine(Cycle now);
  void issue_posted(Cycle now);
  void issue_control(Cycle now);
  void issue_from(MessageSource& source, Cycle now);
  [[nodiscard]] bool reduction_idle(Cycle now) const override { return reduction_->idle(now); }
  [[nodiscard]] Cycle reduction_idle_at() const override { return reduction_->busy_until(); }
  [[nodiscard]] bool all_sent() const override;
  [[nodiscard]] bool has_room(const Operation& operation) const override;
  [[nodiscard]] bool has_ports_for(std::uint32_t messages) const override;
  void issue(const Operation& operation, Cycle now) override;
  WorkTimes work(const LocalWork& work, Cycle now) override;
  MessageId send(const Operation& stripe, MessageId whole, Cycle now);
  // The least loaded port; the lowest number wins ties.
  [[nodiscard]] std::uint32_t port_for(const BoundRoute& route) const;
  // NiSpec::releases_early: whether messages release the port, and when to look again.
  void look_at_release(std::size_t port, Cycle now);
  // A queue has room from the next cycle on.
  void port_released(Cycle now);
  void tell_of_issue(MessageId message, std::uint32_t port, Cycle read, Cycle now);
  void send_flits(Cycle now);
  void message_sent(MessageId message, Cycle now);
  void take_arrivals(Cycle now);
  void start_reduction(const Arrival& arrival, Cycle now);
  // Whether the memory takes the message now.
  [[nodiscard]] bool may_enter(const Operation& operation) const;
  void enter(const Arrival& arrival, Cycle now);
  void release_held(Cycle now);
  void operation_sent(const Operation& operation, Cycle now);
  // Arrivals before the host has posted the collective do not start the engine.
  void look_at_engine(Cycle at) { engine_at_ = std::min(engine_at_, std::max(at, engine_start_)); }
  [[nodiscard]] Cycle due(Cycle now) const;
  void finish_reductions(Cycle now);
  void complete(MessageId message, Cycle now);
  // To be called during an evaluation: another evaluation is due at `at`.
  void wake(Cycle at) {
    asked_ = std::min(asked_, at);
    next_evaluation_ = std::min(next_evaluation_, at);
  }
  // May be called at any time.
  void wake_at(Cycle at) {
    wake(at);
    clock_.wake(id_, at);
  }

  NodeId node_;
  ClockDomain& clock_;
  ClockedId id_;
  NiSpec spec_;
  MessageStore& messages_;
  const std::vector<BoundRoute>& routes_;
  DeliveryObserver& observer_;
  InjectionPorts ports_;
  std::vector<Cycle> port_at_;     // by port: next cycle in which it may have something to do
  std::vector<Cycle> release_at_;  // by port: next cycle in which a message may release it
  std::size_t queued_ = 0;         // messages in the ports' queues
  DmaEngine dma_;
  MemoryPort memory_port_;
  std::optional<ReductionUnit> reduction_;
  std::unique_ptr<IssueEngine> engine_;
  std::vector<NiObserver*> ni_observers_;
  Bytes delivered_bytes_ = 0;
  DataMemory* memory_ = nullptr;
  std::vector<Operation> posted_;
  std::size_t next_posted_ = 0;
  MessageSource* control_ = nullptr;
  std::vector<MessageSource*> sources_;
  std::uint64_t received_flits_ = 0;
  Counters counters_;             // without the engine's counters
  std::deque<Arrival> arrivals_;  // complete messages on their way to memory, by time
  std::vector<Arrival> held_;     // messages that may not enter yet, in order of arrival
  Bytes held_bytes_ = 0;          // of `held_`
  Bytes most_held_bytes_ = 0;
  std::vector<Reduction> reductions_;  // in the reduction unit
  // Reductions that end in this cycle; a member only to reuse its memory.
  std::vector<Reduction> finished_;
  Cycle engine_start_ = 0;          // first cycle of the posted collective
  Cycle engine_at_ = 0;             // next cycle in which the issue engine may have something to do
  Cycle asked_ = kNever;            // the earliest evaluation that wake() asks for
  Cycle next_evaluation_ = kNever;  // the earliest cycle in which something is due
  bool engine_acted_ = false;
};

}  // namespace espalier
