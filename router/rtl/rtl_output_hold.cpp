#include "router/rtl/rtl_output_hold.h"

#include <RtlOutputHoldPort.h>
#include <RtlOutputHoldVc.h>
#include <fmt/format.h>

#include <stdexcept>
#include <type_traits>

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
  return static_cast<std::uint32_t>(signal >> first) & ((1U << bits) - 1);
}

// `Model`: output_hold.v with a crossbar input for each port or each VC.
template <class Model>
class RtlOutputHold : public OutputHold {
 public:
  explicit RtlOutputHold(const HoldSpec& spec) : outputs_(spec.outputs), model_(&context_) {
    model_.hold_flit = spec.hold == SwitchHold::flit ? 1 : 0;
    model_.rotates = 0;
    for (std::uint32_t o = 0; o < spec.outputs; ++o) {
      put(model_.rotates, o, 1, spec.rotates[o] ? 1 : 0);
    }
    model_.wire_free = 0;
    forget_cycle();
    model_.reset = 1;
    model_.clk = 0;
    model_.eval();
    rise();
    model_.reset = 0;
  }
  ~RtlOutputHold() override { model_.final(); }
  RtlOutputHold(const RtlOutputHold&) = delete;
  RtlOutputHold& operator=(const RtlOutputHold&) = delete;

  void request(const HoldRequest& request) override {
    const std::uint32_t input_vc = request.input * kRtlVcs + request.vc;
    put(model_.request, input_vc, 1, 1);
    put(model_.starts, input_vc, 1, request.starts ? 1 : 0);
    put(model_.wire_free, request.output, 1, request.wire_free ? 1 : 0);
    put(model_.wants, input_vc * kPortBits, kPortBits, request.output);
    put(model_.permitted, input_vc * kRtlVcs, kRtlVcs, request.permitted);
    put(model_.credits, input_vc * kRtlVcs, kRtlVcs, request.credits);
  }

  const std::vector<HoldGrant>& decide() override {
    model_.clk = 0;
    model_.eval();
    grants_.clear();
    for (std::uint32_t o = 0; o < outputs_; ++o) {
      if (get(model_.grant, o, 1) == 0) continue;
      grants_.push_back({get(model_.port, o * kPortBits, kPortBits),
                         get(model_.vc, o * kVcBits, kVcBits), o,
                         get(model_.out_vc, o * kVcBits, kVcBits)});
    }
    changes_ = changes_ || !grants_.empty();
    return grants_;
  }

  void flit_leaves(std::uint32_t output, bool tail, bool frees_vc) override {
    put(model_.leaves, output, 1, 1);
    put(model_.tail, output, 1, tail ? 1 : 0);
    put(model_.frees_vc, output, 1, frees_vc ? 1 : 0);
    changes_ = true;
  }

  void end_cycle() override {
    if (changes_) {
      if (model_.clk != 0) {  // flits have left, and nothing was decided
        model_.clk = 0;
        model_.eval();
      }
      rise();
    }
    forget_cycle();
  }

 private:
  void rise() {
    model_.clk = 1;
    model_.eval();
  }
  void forget_cycle() {
    for (std::size_t w = 0; w < kRtlPorts * kRtlVcs / 32; ++w) model_.request[w] = 0;
    model_.leaves = 0;
    changes_ = false;
  }

  std::uint32_t outputs_;
  VerilatedContext context_;
  Model model_;
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
