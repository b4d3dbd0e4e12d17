#include "router/rtl/rtl_output_hold.h"

#include <RtlOutputHoldPort.h>
#include <RtlOutputHoldPort___024root.h>
#include <RtlOutputHoldVc.h>
#include <RtlOutputHoldVc___024root.h>
#include <fmt/format.h>

#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "hw/clocked_verilog.h"

namespace espalier {

namespace {

constexpr std::uint32_t kPortBits = 4;  // of kRtlPorts
constexpr std::uint32_t kVcBits = 4;

// Writes bits of a signal; fields do not cross words.
template <class Signal>
void put(Signal& signal, std::uint32_t first, std::uint32_t bits, std::uint32_t value) {
  const auto mask = (std::uint64_t{1} << bits) - 1;
  if constexpr (std::is_integral_v<Signal>) {
    const auto cleared = static_cast<std::uint64_t>(signal) & ~(mask << first);
    signal = static_cast<Signal>(cleared | std::uint64_t{value} << first);
  } else {
    put(signal[first / 32], first % 32, bits, value);
  }
}
template <class Signal>
std::uint32_t get(const Signal& signal, std::uint32_t first, std::uint32_t bits) {
  if constexpr (std::is_integral_v<Signal>) {
    return static_cast<std::uint32_t>(signal >> first) & ((1U << bits) - 1);
  } else {
    return get(signal[first / 32], first % 32, bits);
  }
}
// A field of a signal, in a waveform.
template <class Signal>
RtlSignal field(std::string name, const Signal& signal, std::uint32_t first, std::uint32_t bits,
                RtlKind kind = RtlKind::number) {
  return {std::move(name), bits, [&signal, first, bits] { return get(signal, first, bits); }, kind};
}
// A bit for each requester, or VC.
template <class Signal>
RtlSignal mask(std::string name, const Signal& signal, std::uint32_t first, std::uint32_t bits) {
  return field(std::move(name), signal, first, bits, RtlKind::mask);
}

// `Model`: output_hold.v with a crossbar input for each port or each VC.
template <class Model>
class RtlOutputHold : public OutputHold, private RtlProbe {
 public:
  explicit RtlOutputHold(const HoldSpec& spec)
      : inputs_(spec.inputs), outputs_(spec.outputs), vcs_(spec.vcs) {
    model_->hold_flit = spec.hold == SwitchHold::flit ? 1 : 0;
    model_->rotates = 0;
    for (std::uint32_t o = 0; o < spec.outputs; ++o) {
      put(model_->rotates, o, 1, spec.rotates[o] ? 1 : 0);
    }
    model_->wire_free = 0;
    forget_cycle();
    model_.reset();
  }

  void request(const HoldRequest& request) override {
    const std::uint32_t input_vc = request.input * kRtlVcs + request.vc;
    put(model_->request, input_vc, 1, 1);
    put(model_->starts, input_vc, 1, request.starts ? 1 : 0);
    put(model_->wire_free, request.output, 1, request.wire_free ? 1 : 0);
    put(model_->wants, input_vc * kPortBits, kPortBits, request.output);
    put(model_->permitted, input_vc * kRtlVcs, kRtlVcs, request.permitted);
    put(model_->credits, input_vc * kRtlVcs, kRtlVcs, request.credits);
  }

  const std::vector<HoldGrant>& decide() override {
    model_.low();
    grants_.clear();
    for (std::uint32_t o = 0; o < outputs_; ++o) {
      if (get(model_->grant, o, 1) == 0) continue;
      grants_.push_back({get(model_->port, o * kPortBits, kPortBits),
                         get(model_->vc, o * kVcBits, kVcBits), o,
                         get(model_->out_vc, o * kVcBits, kVcBits)});
    }
    changes_ = changes_ || !grants_.empty();
    return grants_;
  }

  void flit_leaves(std::uint32_t output, bool tail, bool frees_vc) override {
    put(model_->leaves, output, 1, 1);
    put(model_->tail, output, 1, tail ? 1 : 0);
    put(model_->frees_vc, output, 1, frees_vc ? 1 : 0);
    changes_ = true;
  }

  void end_cycle(Cycle now) override {
    if (!changes_) {
      forget_cycle();
      return;
    }
    // The clock is still high if flits have left and nothing was decided.
    if (model_->clk != 0) model_.low();
    settled(now);
    model_.rise();
    forget_cycle();
    // As the next cycle is without requests. If it has some, it is shown again.
    if (!is_watched()) return;
    model_.low();
    settled(now + 1);
  }
  [[nodiscard]] RtlProbe& rtl_probe() override { return *this; }

 private:
  [[nodiscard]] const char* module() const override { return "output_hold"; }
  [[nodiscard]] std::vector<RtlSignal> signals() const override {
    std::vector<RtlSignal> all;
    for (std::uint32_t o = 0; o < outputs_; ++o) add_output(o, all);
    for (std::uint32_t i = 0; i < inputs_; ++i) add_input(i, all);
    return all;
  }
  void add_output(std::uint32_t o, std::vector<RtlSignal>& all) const {
    const auto& registers = *model_->rootp;
    const std::string out = fmt::format("out{}.", o);
    all.push_back(field(out + "grant", model_->grant, o, 1));
    all.push_back(field(out + "holds", model_->holds, o, 1));
    all.push_back(field(out + "port", model_->port, o * kPortBits, kPortBits));
    all.push_back(field(out + "vc", model_->vc, o * kVcBits, kVcBits));
    all.push_back(field(out + "out_vc", model_->out_vc, o * kVcBits, kVcBits));
    all.push_back(field(out + "held", registers.output_hold__DOT__state__DOT__held, o, 1));
    const std::uint32_t vcs = o * kRtlVcs;
    all.push_back(mask(out + "owned", registers.output_hold__DOT__state__DOT__owned, vcs, vcs_));
    all.push_back(mask(out + "vc_order", registers.output_hold__DOT__state__DOT__order, vcs, vcs_));
    const auto& order = registers.output_hold__DOT__allocator__DOT__output_order;
    if constexpr (kIsShared) {
      all.push_back(mask(out + "order", order, o * kRtlPorts, inputs_));
    } else {
      for (std::uint32_t i = 0; i < inputs_; ++i) {
        const std::uint32_t first = (o * kRtlPorts + i) * kRtlVcs;
        all.push_back(mask(fmt::format("{}order_in{}", out, i), order, first, vcs_));
      }
    }
  }
  void add_input(std::uint32_t i, std::vector<RtlSignal>& all) const {
    const auto& registers = *model_->rootp;
    const std::string in = fmt::format("in{}.", i);
    const std::uint32_t vcs = i * kRtlVcs;
    if constexpr (kIsShared) {
      const auto& order = registers.output_hold__DOT__allocator__DOT__input_stage__DOT__order;
      all.push_back(mask(in + "order", order, vcs, vcs_));
    }
    all.push_back(mask(in + "owns", registers.output_hold__DOT__state__DOT__owns, vcs, vcs_));
    for (std::uint32_t v = 0; v < vcs_; ++v) {
      all.push_back(field(fmt::format("{}own_vc{}", in, v),
                          registers.output_hold__DOT__state__DOT__own_vc, (vcs + v) * kVcBits,
                          kVcBits));
    }
  }
  // The model is never left behind.
  void catch_up(Cycle /*until*/) override {}

  void forget_cycle() {
    for (std::size_t w = 0; w < kRtlPorts * kRtlVcs / 32; ++w) model_->request[w] = 0;
    model_->leaves = 0;
    changes_ = false;
  }

  static constexpr bool kIsShared = std::is_same_v<Model, RtlOutputHoldPort>;

  std::uint32_t inputs_;  // ports
  std::uint32_t outputs_;
  std::uint32_t vcs_;
  ClockedVerilog<Model> model_;
  std::vector<HoldGrant> grants_;
  bool changes_ = false;  // registers, at the end of this cycle
};

}  // namespace

std::unique_ptr<OutputHold> make_rtl_output_hold(const HoldSpec& spec) {
  if (spec.inputs > kRtlPorts || spec.outputs > kRtlPorts || spec.vcs > kRtlVcs) {
    throw std::invalid_argument(
        fmt::format("output_hold.v has up to {} ports of up to {} VCs here, but a router has {} "
                    "input and {} output ports of {} VCs",
                    kRtlPorts, kRtlVcs, spec.inputs, spec.outputs, spec.vcs));
  }
  if (spec.crossbar_inputs == CrossbarInputs::port) {
    return std::make_unique<RtlOutputHold<RtlOutputHoldPort>>(spec);
  }
  return std::make_unique<RtlOutputHold<RtlOutputHoldVc>>(spec);
}

}  // namespace espalier
