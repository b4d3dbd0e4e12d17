
#include <catch2/catch.hpp>

#include "flowctl/framing.h"

namespace espalier {
namespace {

TEST_CASE("A packet grid has the boundaries of the packets that framing makes") {
  for (const bool message_mode : {true, false}) {
    for (const bool pad : {false, true}) {
      for (Bytes bytes = 1; bytes < 700; bytes += 7) {
        const Framing framing({message_mode, 16, 64, pad}, bytes);
        const PacketGrid grid = framing.grid();
        CAPTURE(message_mode, pad, bytes);
        REQUIRE(grid.flits == framing.flits());
        std::uint64_t begin = 0;
        for (std::uint32_t packet = 0; packet < framing.packets(); ++packet) {
          const std::uint64_t end = begin + framing.flits_in_packet(packet);
          REQUIRE(grid.is_boundary(begin));
          REQUIRE(grid.length_at(begin) == end - begin);
          for (std::uint64_t flit = begin; flit < end; ++flit) {
            REQUIRE(grid.packet_end(flit) == end);
            REQUIRE(grid.is_boundary(flit) == (flit == begin));
          }
          begin = end;
        }
        REQUIRE(begin == grid.flits);
        REQUIRE(grid.is_boundary(begin));
      }
    }
  }
}

}  // namespace
}  // namespace espalier
