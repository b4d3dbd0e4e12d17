#include "router/router_rules.h"

#include <fmt/format.h>

namespace espalier {

void add_waits_of(const WaitingPacket& packet, const char* router, WaitList& waits) {
  const auto vc_name = [](const Link& link, std::uint32_t vc) {
    return fmt::format("{}.vc{}", link.name(), vc);
  };
  const std::string who = vc_name(packet.at, packet.vc);
  if (packet.holder != nullptr) {
    waits.push_back(
        {who, vc_name(*packet.holder, packet.holder_vc),
         fmt::format("another packet holds output {1} of {0}", router, packet.state.out)});
    return;
  }
  if (packet.next == nullptr) return;
  for (VcMask vcs = packet.state.candidates(0); vcs != 0; vcs &= vcs - 1) {
    const auto vc = static_cast<std::uint32_t>(__builtin_ctz(vcs));
    waits.push_back(
        {who, vc_name(*packet.next, vc), "it needs credits, or another message owns the VC"});
  }
}

}  // namespace espalier
