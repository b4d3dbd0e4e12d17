#include "sims/formats/link_rules.h"

#include <fmt/format.h>

#include <algorithm>

#include "sims/point/limits.h"
#include "sims/text/units.h"

namespace espalier {

namespace {

constexpr std::uint32_t kNarrowestProposal = 16;

Bytes multiple_of(Bytes unit, Bytes least) { return (least + unit - 1) / unit * unit; }

}  // namespace

std::optional<PacketSizes> packet_sizes_for(std::uint64_t bytes_per_second, std::uint64_t hertz,
                                            const FlowControlConfig& flow_control) {
  const std::uint64_t needed = (bytes_per_second + hertz - 1) / hertz;
  if (needed > kWidestFlit) return std::nullopt;
  PacketSizes sizes;
  sizes.flit = kNarrowestProposal;
  while (sizes.flit < needed) sizes.flit *= 2;
  if (sizes.flit > kWidestFlit) return std::nullopt;
  sizes.payload = multiple_of(sizes.flit, flow_control.payload_bytes);
  const bool has_sub_messages = flow_control.mode == FlowControlMode::message;
  sizes.sub_message = has_sub_messages ? multiple_of(sizes.payload, flow_control.sub_message_bytes)
                                       : flow_control.sub_message_bytes;
  return sizes;
}

std::string proposal(const PacketSizes& sizes, const FlowControlConfig& flow_control) {
  std::string text = fmt::format("set system.router.flit_bytes: {}", sizes.flit);
  if (sizes.payload != flow_control.payload_bytes) {
    text += fmt::format(", system.flow_control.payload_bytes: {}", sizes.payload);
  }
  if (sizes.sub_message != flow_control.sub_message_bytes) {
    text += fmt::format(", system.flow_control.sub_message_bytes: {}", sizes.sub_message);
  }
  return text;
}

void check_link_rate(std::uint64_t bytes_per_second, const LinkRateRule& rule, const Place& place,
                     Diagnostics& diagnostics) {
  const std::uint64_t fastest = rule.clock.hertz * rule.clock.flit_bytes;
  if (bytes_per_second <= fastest) return;
  const auto sizes = packet_sizes_for(std::max(bytes_per_second, rule.fastest), rule.clock.hertz,
                                      rule.flow_control);
  diagnostics.error(
      place,
      fmt::format(
          "a link carries at most one flit per router cycle: {} is more than {} B x {} = {}",
          format_quantity(Quantity::rate, bytes_per_second), rule.clock.flit_bytes,
          format_quantity(Quantity::frequency, rule.clock.hertz),
          format_quantity(Quantity::rate, fastest)),
      sizes ? proposal(*sizes, rule.flow_control)
            : fmt::format("a flit has at most {} B: use a slower link or a faster clock",
                          kWidestFlit));
}

void check_whole_cycles(const char* what, std::uint64_t picoseconds, const ClockSpec& clock,
                        const Place& place, Diagnostics& diagnostics) {
  __extension__ using Wide = unsigned __int128;
  constexpr std::uint64_t kPicosecondsPerSecond = 1'000'000'000'000;
  const Wide product = static_cast<Wide>(picoseconds) * clock.hertz;
  if (product % kPicosecondsPerSecond == 0) return;
  const Cycle cycles = cycles_covering(picoseconds, clock);
  diagnostics.warning(
      place, fmt::format("{} of {} is not a whole number of cycles at {}: rounded up to {} cycle{}",
                         what, format_quantity(Quantity::time, picoseconds),
                         format_quantity(Quantity::frequency, clock.hertz), cycles,
                         cycles == 1 ? "" : "s"));
}

}  // namespace espalier
