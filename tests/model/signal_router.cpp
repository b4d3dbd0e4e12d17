#include "tests/model/signal_router.h"

#include <fmt/format.h>

#include <stdexcept>

#include "hw/clock/link.h"

namespace espalier {

namespace {

ChannelSpec channel_at_pins(const FlitChannelSpec& spec, Cycle pipeline) {
  ChannelSpec channel;
  channel.vcs = spec.vcs;
  channel.vc_depth_flits = spec.vc_depth_flits;
  // Flits and credits are in the module when their signals are sampled.
  channel.credit_latency = 0;
  channel.receiver_pipeline = pipeline;
  return channel;
}

std::vector<InputPortSpec> router_inputs(const RouterSignals& like) {
  std::vector<InputPortSpec> inputs;
  for (const auto& signals : like.inputs) {
    const FlitChannelSpec& spec = signals->spec;
    inputs.push_back({fmt::format("in{}", inputs.size()),
                      inputs.size(),
                      {0, spec.cycles_per_flit},
                      channel_at_pins(spec, like.pipeline)});
  }
  return inputs;
}

}  // namespace

// Notes the credits that an input returns in this cycle.
class SignalRouter::InputEnd : public FlitObserver {
 public:
  explicit InputEnd(Channel& channel) { channel.observe(*this); }
  void flits_left(std::uint32_t vc, const FlitRun&) override { credits_ |= VcMask{1} << vc; }
  [[nodiscard]] VcMask take() { return std::exchange(credits_, 0); }

 private:
  VcMask credits_ = 0;
};

// The channel that the router sends into. Its buffer counts the credits of the receiver behind the
// signals; its flits go to the signals.
class SignalRouter::OutputEnd : public FlitObserver, public FlitReceiver {
 public:
  OutputEnd(SignalRouter& owner, std::size_t number, const FlitChannelSpec& spec)
      : owner_(owner),
        link_(fmt::format("out{}", number).c_str(), number, {0, spec.cycles_per_flit},
              StallPattern{}),
        channel_(link_, channel_at_pins(spec, 0)) {
    channel_.connect_receiver(*this);
    channel_.observe(*this);
  }
  [[nodiscard]] Channel& channel() { return channel_; }
  void flit_coming(Cycle) override {}
  void flit_sent(std::uint32_t vc, const Flit& flit, Tick) override {
    flit_ = owner_.leaving(vc, flit);
    valid_ = true;
  }
  void sample(const FlitOutPort& port, Cycle now) {
    for (VcMask left = port.credits.read(); left != 0; left &= left - 1) {
      channel_.pop(static_cast<std::uint32_t>(__builtin_ctz(left)), now);
    }
  }
  void drive(FlitOutPort& port) {
    port.valid.write(valid_);
    if (valid_) port.flit.write(flit_);
    valid_ = false;
  }

 private:
  SignalRouter& owner_;
  Link link_;
  Channel channel_;
  bool valid_ = false;
  SignalFlit flit_;
};

class SignalRouter::EjectionEnd : public PacketSink, public EjectionObserver {
 public:
  explicit EjectionEnd(SignalRouter& owner) : owner_(owner) {}
  void packets_end(std::uint32_t, MessageId, std::uint64_t, std::uint32_t, Cycle, Cycle) override {}
  [[nodiscard]] EjectionObserver* flit_observer() override { return this; }
  void flit_ejected(std::uint32_t, std::uint32_t vc, const Flit& flit) override {
    flit_ = owner_.leaving(vc, flit);
    valid_ = true;
  }
  void drive(FlitOutPort& port) {
    port.valid.write(valid_);
    if (valid_) port.flit.write(flit_);
    valid_ = false;
  }

 private:
  SignalRouter& owner_;
  bool valid_ = false;
  SignalFlit flit_;
};

SignalRouter::SignalRouter(sc_core::sc_module_name module_name, const RouterSignals& like)
    : sc_module(module_name),
      switching_(like.switching),
      links_out_(like.links_out),
      domain_("domain", sc_core::sc_time(1, sc_core::SC_NS), false, CycleSource::module),
      entering_(like.inputs.size(), std::vector<MessageId>(like.spec.vcs)),
      router_("router", domain_, like.spec, messages_, paths_, router_inputs(like),
              StallPattern{}) {
  for (std::size_t i = 0; i < like.inputs.size(); ++i) {
    inputs.push_back(std::make_unique<FlitInPort>(fmt::format("in{}", i)));
    input_ends_.push_back(std::make_unique<InputEnd>(router_.input_channel(i)));
  }
  for (std::size_t o = 0; o < like.outputs.size(); ++o) {
    outputs.push_back(std::make_unique<FlitOutPort>(fmt::format("out{}", o)));
    if (o < links_out_) {
      output_ends_.push_back(std::make_unique<OutputEnd>(*this, o, like.outputs[o]->spec));
      router_.add_output(output_ends_.back()->channel());
    } else {
      ejection_ends_.push_back(std::make_unique<EjectionEnd>(*this));
      router_.add_ejection(*ejection_ends_.back(), 0, 1);
    }
  }
  router_.connect();
  SC_HAS_PROCESS(SignalRouter);
  SC_METHOD(rise);
  sensitive << clk.pos();
  dont_initialize();
}

SignalRouter::~SignalRouter() = default;

void SignalRouter::bind(sc_core::sc_clock& clock, RouterSignals& signals) {
  clk.bind(clock);
  for (std::size_t i = 0; i < inputs.size(); ++i) inputs[i]->bind(*signals.inputs[i]);
  for (std::size_t o = 0; o < outputs.size(); ++o) outputs[o]->bind(*signals.outputs[o]);
}

void SignalRouter::rise() {
  const Cycle now = cycle_++;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    if (inputs[i]->valid.read()) accept(i, inputs[i]->flit.read(), now);
  }
  for (std::size_t o = 0; o < output_ends_.size(); ++o) output_ends_[o]->sample(*outputs[o], now);
  domain_.run_cycle(now);
  for (std::size_t i = 0; i < inputs.size(); ++i) inputs[i]->credits.write(input_ends_[i]->take());
  for (std::size_t o = 0; o < output_ends_.size(); ++o) output_ends_[o]->drive(*outputs[o]);
  for (std::size_t e = 0; e < ejection_ends_.size(); ++e) {
    ejection_ends_[e]->drive(*outputs[links_out_ + e]);
  }
}

void SignalRouter::accept(std::size_t input, const SignalFlit& flit, Cycle now) {
  MessageId& message = entering_[input][flit.vc];
  if (carries_header(flit.type)) {
    const auto [hop, is_new] = hops_.try_emplace({flit.out_port, flit.out_vcs}, 0);
    if (is_new) {
      hop->second = paths_.add({{static_cast<std::uint16_t>(flit.out_port), flit.out_vcs}});
    }
    Message entering;
    entering.path = hop->second;
    entering.switching = switching_;
    message = messages_.add(entering);
    if (message.index() >= headers_.size()) headers_.resize(message.index() + 1);
    headers_[message.index()] = flit;
  }
  Channel& channel = router_.input_channel(input);
  if (!message.valid() || !channel.has_room(flit.vc, 1, now)) {
    throw std::logic_error(
        fmt::format("{}: input {} got a flit without a {}", name(), input,
                    message.valid() ? "slot of the buffer" : "head flit before it"));
  }
  channel.send(flit.vc, {message, static_cast<std::uint16_t>(flit.left_in_packet), 0, flit.type},
               now);
}

SignalFlit SignalRouter::leaving(std::uint32_t vc, const Flit& flit) {
  SignalFlit signal = headers_[flit.message.index()];
  signal.vc = vc;
  signal.type = flit.type;
  signal.left_in_packet = flit.left_in_packet;
  if (releases_vc(flit.type)) messages_.remove(flit.message);
  return signal;
}

}  // namespace espalier
