// The decisions of a router: which packet gets which output and which VC of the next channel, and
// how long it keeps them (MultiTree, section V). hw/rtl/output_hold.v decides the same.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "flowctl/virtual_channels.h"
#include "hw/ids.h"
#include "hw/rtl_probe.h"
#include "router/router_spec.h"
#include "router/switch_allocator.h"

namespace espalier {

struct HoldSpec {
  std::uint32_t inputs = 0;  // ports
  std::uint32_t outputs = 0;
  std::uint32_t vcs = 1;
  SwitchHold hold = SwitchHold::packet;
  CrossbarInputs crossbar_inputs = CrossbarInputs::port;
  std::vector<bool> rotates;  // by output: VcOrder::rotating; an ejection port looks from VC 0 on
};

// A packet at the front of an input VC whose next flit is there.
struct HoldRequest {
  std::uint32_t input = 0;
  std::uint32_t vc = 0;
  std::uint32_t output = 0;
  bool starts = true;     // the flit is the first one of its packet or sub-packet
  bool wire_free = true;  // of the output
  VcMask permitted = 0;   // VCs of the next channel that the route permits
  VcMask credits = 0;     // VCs of the next channel that have enough credits
};

struct HoldGrant {
  std::uint32_t input;
  std::uint32_t vc;
  std::uint32_t output;
  std::uint32_t out_vc;

  [[nodiscard]] friend bool operator==(const HoldGrant& a, const HoldGrant& b) {
    return a.input == b.input && a.vc == b.vc && a.output == b.output && a.out_vc == b.out_vc;
  }
};

// Decisions that are taken outside of the router, by Verilog.
class OutputHold {
 public:
  OutputHold() = default;
  virtual ~OutputHold() = default;
  OutputHold(const OutputHold&) = delete;
  OutputHold& operator=(const OutputHold&) = delete;

  // Requests of a cycle come before its decision. A packet that holds an output may be among them.
  virtual void request(const HoldRequest& request) = 0;
  // Grants by ascending output; valid until the next call. The hold forgets the requests.
  virtual const std::vector<HoldGrant>& decide() = 0;
  // A flit leaves by a held output. `tail`: the last one of its packet or sub-packet. `frees_vc`:
  // its VC has no owner from now on.
  virtual void flit_leaves(std::uint32_t output, bool tail, bool frees_vc) = 0;
  // To be called after the decisions and flits of a cycle. A cycle without either may be left out.
  virtual void end_cycle(Cycle now) = 0;

  [[nodiscard]] virtual RtlProbe& rtl_probe() = 0;
};
using MakeOutputHold = std::function<std::unique_ptr<OutputHold>(const HoldSpec& spec)>;

// The model: separable allocation, input first. The router asks for credits only where they can
// matter, so it goes through the steps of a decision itself: candidates() and first_vc() for each
// request, allocator() and arbiter_of() for the input stage, then decide().
class SeparableHold {
 public:
  // `requesters`: ports that make a request each. With lanes a port has one for each lane.
  SeparableHold(const HoldSpec& spec, std::uint32_t requesters);

  [[nodiscard]] bool is_held(std::uint32_t output) const { return outputs_[output].held; }
  // VCs of an input port that hold the switch.
  [[nodiscard]] VcMask streaming(std::uint32_t input) const { return streaming_[input]; }
  // The VC of the next channel that the message or packet in an input VC owns; kNoVc: none.
  [[nodiscard]] std::uint32_t own_vc(std::uint32_t input, std::uint32_t vc) const {
    return own_vc_[input * vcs_ + vc];
  }
  // VCs of the next channel that the packet in an input VC may take.
  [[nodiscard]] VcMask candidates(std::uint32_t input, std::uint32_t vc, std::uint32_t output,
                                  VcMask permitted) const {
    const std::uint32_t own = own_vc(input, vc);
    return own != kNoVc ? VcMask{1} << own : permitted & ~outputs_[output].owned;
  }
  // Where a packet begins to look for a VC.
  [[nodiscard]] std::uint32_t first_vc(std::uint32_t output) const {
    return outputs_[output].first_vc;
  }

  [[nodiscard]] SwitchAllocator& allocator() { return allocator_; }
  // The input stage's arbiter of a port that shares a crossbar input among its VCs.
  [[nodiscard]] const RoundRobinArbiter& arbiter_of(std::uint32_t requester) const {
    return arbiters_[requester];
  }
  // Allocates among the allocator's requests. The winners hold their outputs and own their VCs.
  const std::vector<SwitchAllocator::Request>& decide();
  // See OutputHold.
  void flit_leaves(std::uint32_t output, bool tail, bool frees_vc) {
    if (tail || hold_flit_) release_switch(output);
    if (frees_vc) release_vc(output);
  }
  // The packet that holds the output cannot go on, and lets others pass.
  void release_switch(std::uint32_t output) {
    Output& out = outputs_[output];
    out.held = false;
    streaming_[out.input] &= ~(VcMask{1} << out.vc);
  }

 private:
  struct Output {
    VcMask owned = 0;            // VCs whose owner has been granted and has not sent its last flit
    std::uint32_t first_vc = 0;  // VcOrder::rotating: behind the VC of the last packet
    // Place of the packet that holds the output, or held it last.
    std::uint32_t input = 0;
    std::uint32_t vc = 0;
    std::uint32_t out_vc = 0;
    bool held = false;
    bool rotates = false;
  };

  void release_vc(std::uint32_t output) {
    Output& out = outputs_[output];
    out.owned &= ~(VcMask{1} << out.out_vc);
    own_vc_[out.input * vcs_ + out.vc] = kNoVc;
  }

  std::uint32_t vcs_;
  bool hold_flit_;
  bool shared_;
  std::vector<Output> outputs_;
  std::vector<VcMask> streaming_;            // by input
  std::vector<std::uint32_t> own_vc_;        // by input, then VC
  std::vector<RoundRobinArbiter> arbiters_;  // by requester
  SwitchAllocator allocator_;
};

}  // namespace espalier
