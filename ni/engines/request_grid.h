// How a context moves the chunks of one step in one pass: transactions of a FIFO slot each, and
// these in requests, the pieces that a message carries.
#pragma once

#include <algorithm>
#include <cstdint>

#include "alg/program/protocol.h"
#include "hw/ids.h"

namespace espalier {

struct Request {
  Bytes bytes = 0;  // data
  // Chunks of the step whose last byte is in it: [first_chunk, first_chunk + num_chunks). They
  // count as moved with it.
  std::uint32_t first_chunk = 0;
  std::uint32_t num_chunks = 0;
  bool begins_slot = false;
  bool ends_slot = false;
};

// Sender and receiver cut alike, so that the k-th request of either end is the same.
class RequestGrid {
 public:
  RequestGrid() = default;
  // Of a step of `count` chunks in pass `tile`.
  RequestGrid(const Tiling& tiling, std::uint64_t tile, std::uint32_t count, Bytes request_bytes)
      : chunk_(tiling.bytes_in(tile)),
        request_(request_bytes),
        count_(count),
        chunks_per_slot_(tiling.chunks_per_slot) {
    per_slot_ = requests_for(std::min(count, chunks_per_slot_));
    const std::uint32_t slots = tiling.transactions(count);
    if (slots == 0) return;
    const std::uint32_t last = count - (slots - 1) * chunks_per_slot_;
    size_ = (slots - 1) * per_slot_ + requests_for(last);
  }

  [[nodiscard]] std::uint64_t size() const { return size_; }

  [[nodiscard]] Request at(std::uint64_t index) const {
    const std::uint64_t slot = index / per_slot_;
    const auto first = static_cast<std::uint32_t>(slot) * chunks_per_slot_;
    const Bytes slot_bytes = std::min(count_ - first, chunks_per_slot_) * chunk_;
    const Bytes begin = index % per_slot_ * request_;
    const Bytes end = std::min(begin + request_, slot_bytes);
    Request request;
    request.bytes = end - begin;
    request.first_chunk = first + static_cast<std::uint32_t>(begin / chunk_);
    request.num_chunks = static_cast<std::uint32_t>(end / chunk_ - begin / chunk_);
    request.begins_slot = begin == 0;
    request.ends_slot = end == slot_bytes;
    return request;
  }

 private:
  [[nodiscard]] std::uint64_t requests_for(std::uint32_t chunks) const {
    return (chunks * chunk_ + request_ - 1) / request_;
  }

  Bytes chunk_ = 0;
  Bytes request_ = 1;
  std::uint32_t count_ = 0;
  std::uint32_t chunks_per_slot_ = 1;
  std::uint64_t per_slot_ = 1;
  std::uint64_t size_ = 0;
};

}  // namespace espalier
