// Bytes of the control plane's messages, as Horovod serializes them (a measured fit; L is the
// length of a tensor's name, D its dimensions, N the ranks).
#pragma once

#include <cstddef>
#include <cstdint>

#include "hw/ids.h"

namespace espalier {

struct NameShape {
  std::uint32_t name_bytes = 48;
  std::uint32_t dimensions = 2;
};

inline constexpr Bytes kListLengthBytes = 4;  // sent before a list
inline constexpr Bytes kEmptyListBytes = 24;
inline constexpr Bytes kListBytes = 52;  // of a list that is not empty, without its entries

// 60 + L + 8 D for each request: 161 tensors of L = 48, D = 2 are 20016 B.
[[nodiscard]] constexpr Bytes request_list_bytes(const NameShape& shape, std::size_t requests) {
  return requests == 0
             ? kEmptyListBytes
             : kListBytes + requests * (60 + shape.name_bytes + Bytes{8} * shape.dimensions);
}

// 76 + 4 N (device list) for each response, 20 + L for each of its tensors.
[[nodiscard]] constexpr Bytes response_list_bytes(const NameShape& shape, std::size_t responses,
                                                  std::size_t tensors, std::size_t ranks) {
  return responses == 0
             ? kEmptyListBytes
             : kListBytes + responses * (76 + 4 * ranks) + tensors * (20 + shape.name_bytes);
}

// A bit for each entry of the cache, and three flags, in words of 64 bits.
inline constexpr std::size_t kFlagBits = 3;
[[nodiscard]] constexpr Bytes bit_vector_bytes(std::size_t entries) {
  return 8 * ((entries + kFlagBits + 63) / 64);
}

}  // namespace espalier
