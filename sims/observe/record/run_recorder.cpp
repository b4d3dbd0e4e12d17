#include "sims/observe/record/run_recorder.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <stdexcept>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "flowctl/channel_observer.h"
#include "ni/engine_view.h"
#include "ni/engines/engine_observer.h"
#include "ni/network_interface.h"
#include "ni/ni_observer.h"
#include "sims/system/fabric.h"

namespace espalier {

// Finds the records of messages by the hardware's message ids. An id is reused when its message is
// done.
class MessageRecords {
 public:
  // Writes into `records`. Both arguments must outlive this object.
  MessageRecords(const Fabric& fabric, std::vector<MessageRecord>& records)
      : fabric_(fabric), records_(records) {}

  // Opens a record for the message. `id` refers to it until another message is opened with the same
  // id.
  MessageRecord& open(MessageId id) {
    if (id.index() >= open_.size()) open_.resize(id.index() + 1);
    open_[id.index()] = {static_cast<RecordIndex>(records_.size()), 0};
    const InFlightMessage& message = fabric_.messages()[id];
    const Message& routing = fabric_.messages().routing(id);
    MessageRecord record;
    record.operation = message.operation;
    record.operation.to = end_of(routing.path, message.operation.from);
    record.grid = routing.grid;
    record.whole = index_of(message.whole);
    records_.push_back(record);
    return records_.back();
  }
  [[nodiscard]] RecordIndex index_of(MessageId id) const { return open_[id.index()].record; }
  [[nodiscard]] MessageRecord& operator[](MessageId id) { return records_[index_of(id)]; }
  [[nodiscard]] MessageRecord& at(RecordIndex index) const { return records_[index]; }
  // The output port by which the message's flits leave the `hop`-th router.
  [[nodiscard]] std::uint16_t out_port(MessageId id, std::uint16_t hop) const {
    return fabric_.paths().hop(fabric_.messages().routing(id).path, hop).out_port;
  }
  // The collective's message that was last to be in memory, of all NIs.
  [[nodiscard]] RecordIndex last_done() const { return last_done_; }
  void note_done(RecordIndex message, Cycle now) {
    records_[message].done = now;
    if (records_[message].operation.is_background()) return;
    const bool is_later = last_done_ == kNowhere || records_[last_done_].done < now;
    if (is_later || message < last_done_) last_done_ = message;
  }
  // Cycle fidelity: the message's next flit is injected; returns its offset.
  std::uint64_t next_injected(MessageId id) { return open_[id.index()].injected++; }

 private:
  // The last vertex of a path. Operations cannot be used here, because they name other vertices if
  // one NPU stands for all.
  [[nodiscard]] NodeId end_of(std::uint32_t path, NodeId from) const {
    const Topology& topology = fabric_.topology();
    NodeId vertex = from;
    for (std::uint32_t h = 0;; ++h) {
      const std::uint32_t port = fabric_.paths().hop(path, h).out_port;
      const auto& links = topology.out_links(vertex);
      if (port >= links.size()) return vertex;
      vertex = topology.link(links[port]).to;
    }
  }

  struct Open {
    RecordIndex record = 0;
    std::uint64_t injected = 0;
  };
  const Fabric& fabric_;
  std::vector<MessageRecord>& records_;
  std::vector<Open> open_;  // by message id
  RecordIndex last_done_ = kNowhere;
};

namespace {

FlitRun& flits_of(CarriedRun& run) { return run.flits; }
FlitRun& flits_of(FlitRun& run) { return run; }

template <class Runs>
void take_back(Runs& runs, std::uint64_t n) {
  cut_runs(runs, n, [](auto& run) -> FlitRun& { return flits_of(run); });
}

template <class Runs>
void take_back_from(Runs& runs, Tick end) {
  while (!runs.empty()) {
    const FlitRun& last = flits_of(runs.back());
    const std::uint64_t late = last.n - last.before(end);
    if (late == 0) return;
    take_back(runs, late);
  }
}

}  // namespace

class ChannelRecorder;

// Cycle fidelity: a flit in a switch. The observer is called when the flit leaves for the next
// channel, and then when it leaves its old buffer. Only the second call tells which flit of the
// message it is.
struct FlitInSwitch {
  ChannelRecorder* to = nullptr;  // nullptr: no flit is in the switch
  std::uint32_t vc = 0;
  RecordIndex message = 0;
  std::uint16_t hop = 0;
  std::uint16_t out_port = 0;  // of the next router
  FlitRun departure;
};

// Records the flits that a channel carries. The record is the same in both fidelities.
class ChannelRecorder : public ChannelObserver {
 public:
  // Writes into `record`, which has a VcRecord for each VC. All channels of a system share one
  // `in_switch`. All arguments must outlive this object.
  ChannelRecorder(ChannelRecord& record, MessageRecords& messages, FlitInSwitch& in_switch)
      : record_(record), messages_(messages), in_switch_(in_switch), fronts_(record.vcs.size()) {}

  // Removes flits that were announced for tick `end` or later, because the run is over.
  void end_at(Tick end) {
    for (VcRecord& vc : record_.vcs) {
      take_back_from(vc.carried, end);
      take_back_from(vc.left, end);
    }
  }

  void flit_sent(std::uint32_t vc, const Flit& flit, Tick departure) override {
    by_flits_ = true;
    const FlitRun alone{departure, record_.link.ticks_per_flit, 1};
    const RecordIndex message = messages_.index_of(flit.message);
    const std::uint16_t out_port = messages_.out_port(flit.message, flit.hop);
    if (flit.hop == 0) {
      carry(vc, {message, 0, out_port, messages_.next_injected(flit.message), alone});
    } else {
      in_switch_ = {this, vc, message, flit.hop, out_port, alone};
    }
  }
  void run_sent(const SentRun& run) override {
    carry(run.vc, {messages_.index_of(run.message), run.hop,
                   messages_.out_port(run.message, run.hop), run.offset, run.flits});
  }
  void run_cut(std::uint32_t vc, std::uint64_t n) override {
    take_back(record_.vcs[vc].carried, n);
  }
  void flits_left(std::uint32_t vc, const FlitRun& flits) override {
    if (!by_flits_) {
      leave(vc, flits);
      return;
    }
    const std::uint64_t offset = pop(vc);
    const FlitInSwitch flit = std::exchange(in_switch_, {});
    if (flit.to == nullptr) {  // the flit leaves for an NI
      leave(vc, flits);
      return;
    }
    leave(vc, flit.departure);
    flit.to->carry(flit.vc, {flit.message, flit.hop, flit.out_port, offset, flit.departure});
  }
  void leaving_cut(std::uint32_t vc, std::uint64_t n) override {
    take_back(record_.vcs[vc].left, n);
  }

 private:
  // The position in VcRecord::carried of the first flit in a buffer.
  struct Front {
    std::size_t run = 0;
    std::uint64_t flit = 0;
  };
  void carry(std::uint32_t vc, const CarriedRun& run) {
    std::vector<CarriedRun>& runs = record_.vcs[vc].carried;
    if (!runs.empty()) {
      CarriedRun& last = runs.back();
      if (last.message == run.message && last.offset + last.flits.n == run.offset &&
          last.flits.goes_on_with(run.flits)) {
        last.flits.n += run.flits.n;
        return;
      }
    }
    runs.push_back(run);
  }
  // An NI takes at most one flit per cycle, so only the cycle of a flit counts, not its tick.
  void leave(std::uint32_t vc, FlitRun flits) {
    const Tick q = record_.spec.ticks_per_cycle;
    if (flits.rate == q) flits.start -= flits.start % q;
    std::vector<FlitRun>& runs = record_.vcs[vc].left;
    if (!runs.empty() && runs.back().goes_on_with(flits)) {
      runs.back().n += flits.n;
    } else {
      runs.push_back(flits);
    }
  }
  // The first flit of a buffer leaves. Returns its offset in its message.
  std::uint64_t pop(std::uint32_t vc) {
    const std::vector<CarriedRun>& runs = record_.vcs[vc].carried;
    Front& front = fronts_[vc];
    if (front.flit == runs[front.run].flits.n) front = {front.run + 1, 0};
    return runs[front.run].offset + front.flit++;
  }

  ChannelRecord& record_;
  MessageRecords& messages_;
  FlitInSwitch& in_switch_;
  std::vector<Front> fronts_;  // by VC, in cycle fidelity
  bool by_flits_ = false;      // cycle fidelity
};

// Records the times of messages at a network interface, and the progress of its schedule table or
// program contexts.
class NiRecorder : public NiObserver, public EngineObserver {
 public:
  // To be constructed before the simulation, after the NI's engine is loaded. `channels`: the
  // channels of its injection ports, as indices into RunRecord::channels. Writes into `record`.
  // `record` and `records` must outlive this object.
  NiRecorder(NetworkInterface& ni, std::vector<std::uint32_t> channels, NiRecord& record,
             MessageRecords& records)
      : ni_(ni), channels_(std::move(channels)), record_(record), records_(records) {
    record_.name = ni.name();
    if (ni.engine() == nullptr) return;
    ni.prepare_to_show();
    EngineView view;
    ni.engine()->show(view);
    record_.contexts.resize(view.contexts.size());
  }

  void evaluated(const NetworkInterface& /*ni*/, Cycle /*now*/) override {
    told_of_ = kNowhere;
    issued_.clear();
  }
  void message_issued(MessageId message, std::uint32_t port, Cycle read, Cycle now) override {
    MessageRecord& record = records_.open(message);
    record.channel = channels_[port];
    record.issued = now;
    record.read = read;
    if (record.operation.is_background()) return;
    issued_.push_back(records_.index_of(message));
    // Its queue was full before.
    if (ni_.injection_ports()[port]->queue().full()) {
      record.room_by = left_in_cycle_before(now, record.channel);
    }
  }
  void message_released(MessageId message, Cycle now) override {
    records_[message].released = now;
    note_left(message, now);
  }
  void message_sent(MessageId message, Cycle now) override {
    MessageRecord& record = records_[message];
    record.sent = now;
    told_of_ = record.whole;
    if (record.released == kNever) note_left(message, now);
  }
  void message_visible(MessageId message, Cycle now) override { records_[message].visible = now; }
  void reduction_begins(MessageId message, Cycle now) override {
    MessageRecord& record = records_[message];
    record.adding = now;
    if (now != record.visible) record.held_for = told_of_;
  }
  void message_done(MessageId message, Cycle now) override {
    const RecordIndex index = records_.index_of(message);
    const MessageRecord& record = records_[message];
    records_.note_done(index, now);
    told_of_ = record.whole;
    if (record_.steps.empty() || record.operation.on_arrival != TransferKind::reduce) return;
    NiRecord::Released& step = record_.steps.back();
    const bool ends_wait = step.why == Release::reduction && step.at == now;
    if (ends_wait && step.message == kNowhere) step.message = record.whole;
  }

  void event_came(std::uint32_t entry, std::size_t number, Cycle now) override {
    element(record_.entries, entry).awaited.push_back({now, number, told_of_});
  }
  void timestep_began(Timestep step, Release why, std::uint32_t after, Cycle now) override {
    // The NI tells of a reduction that ends in this cycle after its decisions.
    const RecordIndex message = why == Release::any_port ? left_in_cycle_before(now, kNowhere)
                                : why == Release::post   ? records_.last_done()
                                                         : kNowhere;
    element(record_.steps, step) = {now, why, after, message};
  }
  void entry_issued(std::uint32_t index, Release why, std::uint32_t after, Cycle now) override {
    NiRecord::Entry& entry = element(record_.entries, index);
    RecordIndex by = why == Release::any_port ? left_in_cycle_before(now, kNowhere) : kNowhere;
    for (const RecordIndex message : issued_) {
      records_.at(message).entry = index;
      if (why == Release::port && by == kNowhere) by = records_.at(message).room_by;
    }
    // The entry before it, in this cycle, was in its way, and not a port.
    const bool follows = after != kNoEntry && record_.entries[after].at == now;
    if (why == Release::port && by == kNowhere && follows) why = Release::order;
    if (why == Release::event) by = last_of(entry.awaited).message;
    entry = {{now, why, after, by}, std::exchange(issued_, {}), std::move(entry.awaited)};
  }

  void call_launched(std::uint32_t call, Cycle now, Cycle begins) override {
    record_.launches.push_back({call, now, begins});
  }
  void step_began(const StepPlace& place, const ProgramStep& step, Cycle now) override {
    ContextRecord& context = record_.contexts[place.block];
    ContextRecord::Step& begun = context.steps.emplace_back();
    begun.place = place;
    begun.step = step;
    begun.times.turn = now;
    begun.times.ended = kNever;
    begun.first_request = context.requests.size();
  }
  void request_ended(const StepPlace& place, const RequestTimes& times) override {
    ContextRecord& context = record_.contexts[place.block];
    context.requests.push_back(times);
    ++context.steps.back().num_requests;
  }
  void step_ended(const StepPlace& place, const StepTimes& times) override {
    record_.contexts[place.block].steps.back().times = times;
  }

 private:
  template <class Element>
  static Element& element(std::vector<Element>& of, std::size_t index) {
    if (of.size() <= index) of.resize(index + 1);
    return of[index];
  }
  // Of several in one cycle, the first one in the table stands for all.
  static const NiRecord::Event& last_of(const std::vector<NiRecord::Event>& events) {
    return *std::min_element(events.begin(), events.end(), [](const auto& a, const auto& b) {
      return std::tie(b.at, a.number) < std::tie(a.at, b.number);
    });
  }
  // A message of the bulk lane has released its port.
  void note_left(MessageId message, Cycle now) {
    if (left_at_ != now) left_.clear();
    left_at_ = now;
    const RecordIndex index = records_.index_of(message);
    left_.insert(std::lower_bound(left_.begin(), left_.end(), index), index);
  }
  // The collective's message that released its port in the cycle before `now`, on `channel` if that
  // is given; kNowhere: none.
  [[nodiscard]] RecordIndex left_in_cycle_before(Cycle now, std::uint32_t channel) const {
    for (const RecordIndex message : left_) {
      const MessageRecord& record = records_.at(message);
      if (left_at_ + 1 != now || record.operation.is_background()) continue;
      if (channel == kNowhere || record.channel == channel) return message;
    }
    return kNowhere;
  }

  const NetworkInterface& ni_;
  std::vector<std::uint32_t> channels_;
  NiRecord& record_;
  MessageRecords& records_;
  RecordIndex told_of_ = kNowhere;   // the message that the engine is told of
  std::vector<RecordIndex> issued_;  // since the last entry issued, in this evaluation
  std::vector<RecordIndex> left_;    // released their ports in cycle left_at_; ascending
  Cycle left_at_ = 0;
};

struct RunRecorder::Watchers {
  Watchers(Fabric& fabric, RunRecord& record) : messages(fabric, record.messages) {
    watch_channels(fabric, record);
    watch_nis(fabric, record);
  }
  void watch_channels(Fabric& fabric, RunRecord& record) {
    const std::vector<ChannelPlace> places = fabric.channels();
    for (const ChannelPlace& place : places) {
      record.channels.push_back(
          {place.name, place.spec, place.link, std::vector<VcRecord>(place.spec.vcs)});
    }
    for (std::size_t c = 0; c < places.size(); ++c) {
      channels.push_back(
          std::make_unique<ChannelRecorder>(record.channels[c], messages, in_switch));
      places[c].observe(*channels.back());
    }
  }
  void watch_nis(Fabric& fabric, RunRecord& record) {
    std::map<std::string, std::uint32_t> channel_of;
    for (std::size_t c = 0; c < record.channels.size(); ++c) {
      channel_of[record.channels[c].name] = static_cast<std::uint32_t>(c);
    }
    record.nis.resize(fabric.topology().num_vertices());
    for (std::size_t v = 0; v < record.nis.size(); ++v) {
      NetworkInterface* ni = fabric.ni_at(NodeId(v));
      if (ni == nullptr) continue;
      std::vector<std::uint32_t> injection;
      for (const auto& port : ni->injection_ports()) {
        injection.push_back(channel_of.at(port->link_name()));
      }
      nis.push_back(std::make_unique<NiRecorder>(*ni, injection, record.nis[v], messages));
      ni->observe(*nis.back());
      ni->observe_engine(*nis.back());
    }
  }

  MessageRecords messages;
  FlitInSwitch in_switch;
  std::vector<std::unique_ptr<ChannelRecorder>> channels;
  std::vector<std::unique_ptr<NiRecorder>> nis;
};

RunRecorder::RunRecorder() = default;
RunRecorder::~RunRecorder() = default;

void refuse_sockets(Fabric& fabric) {
  if (fabric.sockets() != nullptr) {
    throw std::invalid_argument(
        "timelines and explanations follow messages through built-in routers and network "
        "interfaces; with system.topology.external, waveforms show what happens");
  }
}

void RunRecorder::begin(Fabric& fabric) {
  refuse_sockets(fabric);
  record_.ticks_per_cycle = fabric.timing().ticks_per_cycle;
  watchers_ = std::make_unique<Watchers>(fabric, record_);
}

void RunRecorder::finish(Cycle end) {
  record_.end = end;
  for (const auto& channel : watchers_->channels) channel->end_at(end * record_.ticks_per_cycle);
}

}  // namespace espalier
