#include "router/output_hold.h"

#include "router/router_rules.h"

namespace espalier {

SeparableHold::SeparableHold(const HoldSpec& spec, std::uint32_t requesters)
    : vcs_(spec.vcs),
      hold_flit_(spec.hold == SwitchHold::flit),
      shared_(spec.crossbar_inputs == CrossbarInputs::port),
      output_first_(spec.allocation == SwitchAllocation::output_first),
      outputs_(spec.outputs),
      streaming_(spec.inputs, 0),
      own_vc_(std::size_t{spec.inputs} * spec.vcs, kNoVc),
      arbiters_(requesters, RoundRobinArbiter(spec.vcs)),
      allocator_(num_crossbar_inputs(spec.crossbar_inputs, requesters, spec.vcs), spec.outputs) {
  for (std::size_t o = 0; o < outputs_.size(); ++o) outputs_[o].rotates = spec.rotates[o];
}

const std::vector<SwitchAllocator::Request>& SeparableHold::decide() {
  const std::vector<SwitchAllocator::Request>& winners =
      output_first_ ? allocator_.allocate_by_output() : allocator_.allocate();
  for (const SwitchAllocator::Request& winner : winners) {
    Output& out = outputs_[winner.output];
    if (shared_) arbiters_[winner.crossbar_input].grant(winner.vc);
    if (out.rotates && winner.starts) out.first_vc = (winner.out_vc + 1) % vcs_;
    out.owned |= VcMask{1} << winner.out_vc;
    out.held = true;
    out.input = winner.input;
    out.vc = winner.vc;
    out.out_vc = winner.out_vc;
    streaming_[winner.input] |= VcMask{1} << winner.vc;
    own_vc_[winner.input * vcs_ + winner.vc] = winner.out_vc;
  }
  return winners;
}

}  // namespace espalier
