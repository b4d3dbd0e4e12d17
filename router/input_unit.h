#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "flowctl/channel.h"
#include "router/input_vc.h"
#include "router/switch_allocator.h"

namespace espalier {

// Gradients and control messages ask for the switch apart from each other (RouterSpec::lanes).
enum class Lane : std::uint8_t { bulk, control, none };
inline constexpr std::size_t kLanes = 2;
inline constexpr std::array kEveryLane{Lane::bulk, Lane::control};

// One input port: the buffers at the end of a channel.
struct InputUnit {
  InputUnit(Channel& in, std::uint32_t num_vcs)
      : channel(&in), vcs(num_vcs), arbiter(num_vcs), control_arbiter(num_vcs) {}

  Channel* channel;
  std::vector<InputVc> vcs;
  VcMask streaming = 0;  // VCs that hold the switch
  RoundRobinArbiter arbiter;
  // With lanes: each has an output for one packet at a time, and the packets take turns on the
  // port's crossbar input. A control packet may break into a gradient's packet, once.
  RoundRobinArbiter control_arbiter;
  std::array<bool, kLanes> granted{};
  Lane turn = Lane::none;
  bool was_broken_into = false;  // the gradient's packet that has an output

  // VCs with a flit (under way or arrived) that wait for the switch.
  [[nodiscard]] VcMask waiting() const { return channel->occupied() & ~streaming; }
  [[nodiscard]] bool& granted_in(Lane lane) { return granted.at(static_cast<std::size_t>(lane)); }
  // A control packet was granted an output, and may use the crossbar input now.
  [[nodiscard]] bool may_break_in() const { return turn == Lane::bulk && !was_broken_into; }
  [[nodiscard]] RoundRobinArbiter& arbiter_of(Lane lane) {
    return lane == Lane::control ? control_arbiter : arbiter;
  }
};

}  // namespace espalier
