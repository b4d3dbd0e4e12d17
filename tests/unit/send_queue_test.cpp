// When a message releases its injection port.
#include "ni/send_queue.h"

#include <catch2/catch.hpp>

namespace espalier {
namespace {

constexpr std::uint32_t kBuffer = 848;  // flits

InjectionSpec pushed_spec(std::uint32_t buffer_flits) {
  InjectionSpec spec;
  spec.framing.message_mode = true;
  spec.buffer_flits = buffer_flits;
  spec.queue_depth = 1;
  return spec;
}

// A message of as many sub-packets of 256 B: 16 flits each, and one head flit.
Framing sub_packets(const InjectionSpec& spec, Bytes count) { return {spec.framing, count * 256}; }

void post(SendQueue& queue, Bytes packets, Cycle now) {
  queue.push(MessageId(0), sub_packets(queue.spec(), packets), all_vcs(1));
  queue.begin_push(now);
  queue.fetch_all(now + 2);
}

TEST_CASE("A message that fits the buffer releases its port when a packet a cycle is pushed") {
  SendQueue queue(pushed_spec(kBuffer));
  post(queue, 16, 100);
  CHECK(queue.full());
  CHECK(queue.pushed_at_best() == 116);
  CHECK(queue.flits_in_the_way() == 0);
  queue.release(116);
  CHECK_FALSE(queue.full());
  CHECK(queue.held() == 0);
  CHECK_FALSE(queue.empty());  // its flits have still to leave
}

TEST_CASE("A longer message releases its port when what has not left fits the buffer") {
  SendQueue queue(pushed_spec(kBuffer));
  post(queue, 64, 0);
  CHECK(queue.flits_in_the_way() == 64 * 16 + 1 - kBuffer);
  // The message before it is still in the buffer.
  queue.release(1025 - kBuffer);
  post(queue, 64, 200);
  CHECK(queue.pushed_at_best() == 264);
  CHECK(queue.flits_in_the_way() == 64 * 16 + 1);  // all of the first message, and some more
}

TEST_CASE("A buffer that is smaller than a packet holds one packet") {
  SendQueue queue(pushed_spec(0));
  post(queue, 3, 0);
  CHECK(queue.flits_in_the_way() == 2 * 16 + 1);
}

TEST_CASE("A message that has left has released its port in any case") {
  InjectionSpec spec = pushed_spec(kBuffer);
  SendQueue queue(spec);
  post(queue, 2, 0);
  CHECK_FALSE(queue.packet_sent());
  CHECK(queue.full());
  CHECK(queue.packet_sent());
  CHECK_FALSE(queue.full());
}

}  // namespace
}  // namespace espalier
