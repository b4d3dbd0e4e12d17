#include "flowctl/flit_format.h"

#include <catch2/catch.hpp>
#include <stdexcept>
#include <string>
#include "flowctl/flit.h"

namespace espalier {
namespace {

using Catch::Matchers::Contains;

TEST_CASE("Flit types have the codes of Table II") {
  CHECK(static_cast<unsigned>(FlitType::head) == 0b000);
  CHECK(static_cast<unsigned>(FlitType::body) == 0b001);
  CHECK(static_cast<unsigned>(FlitType::tail) == 0b010);
  CHECK(static_cast<unsigned>(FlitType::head_tail) == 0b011);
  CHECK(static_cast<unsigned>(FlitType::sub_head) == 0b100);
  CHECK(static_cast<unsigned>(FlitType::sub_body) == 0b101);
  CHECK(static_cast<unsigned>(FlitType::sub_tail) == 0b110);
  CHECK(static_cast<unsigned>(FlitType::message_tail) == 0b111);
}

TEST_CASE("What a flit ends and carries follows from its type") {
  struct Row {
    FlitType type;
    bool ends, releases, header;
  };
  for (const Row& row :
       {Row{FlitType::head, false, false, true}, Row{FlitType::body, false, false, false},
        Row{FlitType::tail, true, true, false}, Row{FlitType::head_tail, true, true, true},
        Row{FlitType::sub_head, false, false, true}, Row{FlitType::sub_body, false, false, false},
        Row{FlitType::sub_tail, true, false, false},
        Row{FlitType::message_tail, true, true, false}}) {
    CAPTURE(to_string(row.type));
    CHECK(ends_packet(row.type) == row.ends);
    CHECK(releases_vc(row.type) == row.releases);
    CHECK(carries_header(row.type) == row.header);
  }
}

TEST_CASE("A 4x4 torus has the field widths of Fig. 8") {
  const FlitFormat format(16, 8, 4);  // four neighbours and four ejection ports
  CHECK(format.vc_bits() == 2);
  CHECK(FlitFormat::kTypeBits == 3);
  CHECK(format.node_bits() == 4);
  CHECK(format.port_bits() == 3);
  CHECK(format.packet_info_bits() == 10);
  CHECK(format.head_control_bits() == 15);
  CHECK(FlitFormat::kUnusedBits == 3);
}

TEST_CASE("Packet Info is as wide as the larger of its layouts") {
  // 64 nodes, 8 ports: 12 bits of Dest and Src, 12 of Next, Eject, Tree ID.
  CHECK(FlitFormat(64, 8, 4).packet_info_bits() == 12);
  CHECK(FlitFormat(1024, 8, 4).packet_info_bits() == 20);
  CHECK(FlitFormat(4, 16, 4).packet_info_bits() == 10);
}

TEST_CASE("Widths are the logarithms rounded up") {
  const FlitFormat odd(17, 9, 5);
  CHECK(odd.node_bits() == 5);
  CHECK(odd.port_bits() == 4);
  CHECK(odd.vc_bits() == 3);
  const FlitFormat least(2, 1, 1);
  CHECK(least.node_bits() == 1);
  CHECK(least.port_bits() == 0);
  CHECK(least.vc_bits() == 0);
}

TEST_CASE("A format without nodes or wider than a word is refused") {
  CHECK_THROWS_AS(FlitFormat(1, 8, 4), std::invalid_argument);
  CHECK_THROWS_AS(FlitFormat(16, 0, 4), std::invalid_argument);
  CHECK_THROWS_AS(FlitFormat(16, 8, 0), std::invalid_argument);
  CHECK_THROWS_AS(FlitFormat(16, 8, 4, 0), std::invalid_argument);
  CHECK_THROWS_AS(FlitFormat(16, 8, 4, 40), std::invalid_argument);
  CHECK_THROWS_AS(FlitFormat(0x80000000U, 0x80000000U, 4), std::invalid_argument);
}

TEST_CASE("The description for people names widths and codes") {
  const std::string text = FlitFormat(16, 8, 4).describe();
  CHECK_THAT(text, Contains("VC 2 | Type 3 | Packet Info 10"));
  CHECK_THAT(text, Contains("unused 2 | Dest 4 | Src 4"));
  CHECK_THAT(text, Contains("Next 3 | Eject 3 | Tree ID 4"));
  CHECK_THAT(text, Contains("110 sub_tail"));
  // 64 nodes of an 8-ary fat-tree: node, leaf, spine, leaf, and out at the last router.
  const FlitFormat routed(64, 17, 4, 4);
  CHECK(routed.packet_info_bits() == 5 * 5 + 6);
  CHECK_THAT(routed.describe(), Contains("Next 4 x 5 | Eject 5 | Tree ID 6"));
}

}  // namespace
}  // namespace espalier
