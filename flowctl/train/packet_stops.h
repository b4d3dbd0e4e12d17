// Which part of a simulation with packet trains went packet by packet, and why.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <optional>

namespace espalier {

// Why a sender decided again after a packet although more packets of the message follow.
enum class StopReason : std::uint8_t {
  contention,  // another packet could go if the output or the crossbar input were free
  credits,     // the next packet may have to wait for credits
  data,        // data come at a lower rate than they are sent, or packet by packet from the DMA
  vc_choice,   // the next packet may take another VC
  elsewhere,   // packets came one by one, or another decision fell on this packet's end
};

struct PacketStops {
  std::uint64_t flit_hops = 0;           // of trains that have left
  std::array<std::uint64_t, 5> flits{};  // of packets that such a decision followed, by reason

  std::uint64_t& operator[](StopReason reason) { return flits[static_cast<std::size_t>(reason)]; }
  std::uint64_t operator[](StopReason reason) const {
    return flits[static_cast<std::size_t>(reason)];
  }
  PacketStops& operator+=(const PacketStops& other) {
    flit_hops += other.flit_hops;
    for (std::size_t i = 0; i < flits.size(); ++i) flits[i] += other.flits[i];
    return *this;
  }
  // 0: every message went as whole trains; 1: packet by packet. Nothing if no train has left.
  [[nodiscard]] std::optional<double> share() const {
    if (flit_hops == 0) return std::nullopt;
    const std::uint64_t sum = std::accumulate(flits.begin(), flits.end(), std::uint64_t{0});
    return static_cast<double>(sum) / static_cast<double>(flit_hops);
  }
};

}  // namespace espalier
