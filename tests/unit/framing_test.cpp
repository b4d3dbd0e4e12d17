#include "flowctl/framing.h"

#include <catch2/catch.hpp>
#include <string>
#include <vector>

namespace espalier {
namespace {

FramingSpec packet_mode() {
  FramingSpec spec;
  spec.message_mode = false;
  return spec;
}

const std::vector<Bytes> kSizes{1,    15,   16,   17,    240,   255,       256,      257,
                                272,  273,  511,  512,   513,   4095,      4096,     4097,
                                4352, 8192, 8193, 65536, 65537, 1'000'000, 1'048'576};

std::vector<FlitType> flits_of(const Framing& framing) {
  std::vector<FlitType> types;
  for (std::uint32_t p = 0; p < framing.packets(); ++p) {
    for (std::uint32_t f = 0; f < framing.flits_in_packet(p); ++f) {
      types.push_back(framing.type_of(p, f));
    }
  }
  return types;
}

TEST_CASE("A full packet has a head flit and 16 flits of payload") {
  const Framing framing(packet_mode(), 512);
  CHECK(framing.packets() == 2);
  CHECK(framing.flits_in_packet(0) == 17);
  CHECK(framing.flits_in_packet(1) == 17);
  CHECK(framing.flits() == 34);
  CHECK(framing.head_flits() == 2);
}

TEST_CASE("A message has one head flit and so its first sub-packet is longer by one") {
  const Framing framing(FramingSpec{}, 1024);
  CHECK(framing.packets() == 4);
  CHECK(framing.flits_in_packet(0) == 17);
  CHECK(framing.flits_in_packet(1) == 16);
  CHECK(framing.flits_in_packet(3) == 16);
  CHECK(framing.flits() == 65);
  CHECK(framing.head_flits() == 1);
}

TEST_CASE("The last packet is as long as what is left unless it is padded") {
  CHECK(Framing(packet_mode(), 257).flits() == 17 + 2);
  CHECK(Framing(packet_mode(), 272).flits() == 17 + 2);
  CHECK(Framing(packet_mode(), 273).flits() == 17 + 3);
  CHECK(Framing(packet_mode(), 1).flits() == 2);
  FramingSpec padded = packet_mode();
  padded.pad_last_packet = true;
  CHECK(Framing(padded, 257).flits() == 34);
  CHECK(Framing(padded, 1).flits() == 17);
  CHECK(Framing(padded, 256).flits() == 17);
  CHECK(Framing(padded, 257).payload_of_packet(1) == 1);
}

TEST_CASE("Padding concerns normal packets only") {
  FramingSpec spec;
  spec.pad_last_packet = true;
  CHECK(Framing(spec, 257).flits() == 1 + 17);
}

TEST_CASE("Flit counts follow the closed forms for many sizes") {
  for (const Bytes size : kSizes) {
    CAPTURE(size);
    const std::uint64_t payload = (size + 15) / 16;
    const std::uint64_t packets = (size + 255) / 256;
    const Framing packet(packet_mode(), size);
    CHECK(packet.packets() == packets);
    CHECK(packet.flits() == payload + packets);
    CHECK(packet.head_flits() == packets);
    const Framing message(FramingSpec{}, size);
    CHECK(message.packets() == packets);
    CHECK(message.flits() == payload + 1);
    CHECK(message.head_flits() == 1);
    FramingSpec padded = packet_mode();
    padded.pad_last_packet = true;
    CHECK(Framing(padded, size).flits() == 17 * packets);
  }
}

TEST_CASE("Packets add up to the message in flits and in bytes") {
  for (const bool message_mode : {false, true}) {
    for (const Bytes payload : {Bytes{16}, Bytes{64}, Bytes{128}, Bytes{256}}) {
      FramingSpec spec;
      spec.message_mode = message_mode;
      spec.payload_bytes = payload;
      for (const Bytes size : kSizes) {
        CAPTURE(message_mode, payload, size);
        const Framing framing(spec, size);
        std::uint64_t flits = 0;
        Bytes bytes = 0;
        for (std::uint32_t p = 0; p < framing.packets(); ++p) {
          flits += framing.flits_in_packet(p);
          bytes += framing.payload_of_packet(p);
          REQUIRE(framing.flits_in_packet(p) <= spec.payload_bytes / spec.flit_bytes + 1);
          REQUIRE(framing.payload_of_packet(p) >= 1);
        }
        CHECK(flits == framing.flits());
        CHECK(bytes == size);
      }
    }
  }
}

TEST_CASE("Normal packets go head body tail") {
  const auto types = flits_of(Framing(packet_mode(), 256 + 32));
  REQUIRE(types.size() == 17 + 3);
  CHECK(types[0] == FlitType::head);
  for (std::size_t f = 1; f < 16; ++f) CHECK(types[f] == FlitType::body);
  CHECK(types[16] == FlitType::tail);
  CHECK(types[17] == FlitType::head);
  CHECK(types[18] == FlitType::body);
  CHECK(types[19] == FlitType::tail);
}

TEST_CASE(
    "A message has a single head first and a single tail last and a sub-tail per sub-packet") {
  for (const Bytes size : kSizes) {
    CAPTURE(size);
    const Framing framing(FramingSpec{}, size);
    const auto types = flits_of(framing);
    REQUIRE(types.size() == framing.flits());
    std::uint64_t wrong = 0;
    for (std::uint64_t f = 0; f < types.size(); ++f) {
      FlitType expected = FlitType::sub_body;
      if (f != 0 && f % 16 == 0) expected = FlitType::sub_tail;  // head flit + 16 per sub-packet
      if (f == 0) expected = FlitType::sub_head;
      if (f + 1 == types.size()) expected = FlitType::message_tail;
      wrong += types[f] == expected ? 0U : 1U;
    }
    CHECK(wrong == 0);
  }
}

TEST_CASE("A packet ends exactly with its last flit in both modes") {
  for (const bool message_mode : {false, true}) {
    FramingSpec spec;
    spec.message_mode = message_mode;
    for (const Bytes size : kSizes) {
      const Framing framing(spec, size);
      std::uint64_t wrong = 0;
      for (std::uint32_t p = 0; p < framing.packets(); ++p) {
        for (std::uint32_t f = 0; f < framing.flits_in_packet(p); ++f) {
          const FlitType type = framing.type_of(p, f);
          const bool last = f + 1 == framing.flits_in_packet(p);
          wrong += ends_packet(type) == last ? 0U : 1U;
          wrong += carries_header(type) == (f == 0 && (!message_mode || p == 0)) ? 0U : 1U;
          const bool last_of_owner = last && (!message_mode || p + 1 == framing.packets());
          wrong += releases_vc(type) == last_of_owner ? 0U : 1U;
        }
      }
      CAPTURE(message_mode, size);
      CHECK(wrong == 0);
    }
  }
}

TEST_CASE("A message may have more packets than 32 bits can count") {
  const Bytes bytes = Bytes{160} << 30;
  for (const bool message_mode : {true, false}) {
    const Framing framing({message_mode, 16, 16, false}, bytes);
    CHECK(framing.packets() == bytes / 16);
    CHECK(framing.flits() == bytes / 16 + (message_mode ? 1 : bytes / 16));
    CHECK(framing.grid().flits == framing.flits());
    CHECK(framing.payload_of_packet(framing.packets() - 1) == 16);
  }
}

}  // namespace
}  // namespace espalier
