// Which node an address of a generic payload selects.
#pragma once

#include <cstdint>
#include <optional>

#include "hw/ids.h"

namespace espalier {

// Node n owns the 2^bits addresses from n << bits on.
class AddressMap {
 public:
  static constexpr std::uint32_t kDefaultBits = 32;

  // Precondition: all nodes' addresses fit into 64 bits (fits()).
  AddressMap(std::size_t nodes, std::uint32_t bits) : nodes_(nodes), bits_(bits) {}

  [[nodiscard]] static bool fits(std::size_t nodes, std::uint32_t bits) {
    return bits >= 1 && bits <= 63 && nodes - 1 <= (~std::uint64_t{0} >> bits);
  }

  [[nodiscard]] std::uint64_t first_address(NodeId node) const {
    return std::uint64_t{node.index()} << bits_;
  }
  [[nodiscard]] std::uint64_t offset(std::uint64_t address) const {
    return address & ((std::uint64_t{1} << bits_) - 1);
  }
  // The node that owns all `bytes` addresses from `address` on; empty if no node does.
  // Precondition: bytes > 0.
  [[nodiscard]] std::optional<NodeId> owner(std::uint64_t address, std::uint64_t bytes) const {
    const std::uint64_t node = address >> bits_;
    const std::uint64_t room = (std::uint64_t{1} << bits_) - offset(address);
    if (node >= nodes_ || bytes > room) return std::nullopt;
    return NodeId(node);
  }

 private:
  std::size_t nodes_;
  std::uint32_t bits_;
};

}  // namespace espalier
