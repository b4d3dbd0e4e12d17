#include "flowctl/flit_format.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <stdexcept>
#include <string>
#include <vector>

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
  CHECK(format.body_control_bits() == 8);
}

TEST_CASE("Fields stand where Fig. 8 puts them") {
  const FlitFormat format(16, 8, 4);
  FlitFields normal;
  normal.vc = 0b10;
  normal.type = FlitType::head;
  normal.dest = 0b1001;
  normal.src = 0b0110;
  CHECK(format.encode(normal) == 0b10'000'00'1001'0110);

  FlitFields sub;
  sub.vc = 0b01;
  sub.type = FlitType::sub_head;
  sub.next = 0b101;
  sub.eject = 0b011;
  sub.tree_id = 0b1110;
  CHECK(format.encode(sub) == 0b01'100'101'011'1110);

  FlitFields body;
  body.vc = 0b11;
  body.type = FlitType::sub_tail;
  CHECK(format.encode(body) == 0b11'110'000);
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

TEST_CASE("Decoding gives back every value of every field that was encoded") {
  const FlitFormat format(16, 8, 4);
  std::size_t wrong = 0;
  for (std::uint32_t vc = 0; vc < 4; ++vc) {
    for (unsigned code = 0; code < 8; ++code) {
      FlitFields fields;
      fields.vc = vc;
      fields.type = static_cast<FlitType>(code);
      if (!carries_header(fields.type)) {
        wrong += format.decode(format.encode(fields), false) == fields ? 0U : 1U;
        continue;
      }
      for (std::uint32_t info = 0; info < 1024; ++info) {
        if (code < 4) {
          if (info >> 8 != 0) continue;
          fields.dest = info >> 4 & 0xf;
          fields.src = info & 0xf;
        } else {
          fields.next = info >> 7;
          fields.eject = info >> 4 & 0x7;
          fields.tree_id = info & 0xf;
        }
        const std::uint64_t word = format.encode(fields);
        wrong += word >> format.head_control_bits() == 0 ? 0U : 1U;
        wrong += format.decode(word, true) == fields ? 0U : 1U;
      }
    }
  }
  CHECK(wrong == 0);
}

TEST_CASE("Different fields never share a code word") {
  const FlitFormat format(5, 3, 3);
  std::vector<std::uint64_t> words;
  for (std::uint32_t vc = 0; vc < 4; ++vc) {
    for (std::uint32_t next = 0; next < 4; ++next) {
      for (std::uint32_t eject = 0; eject < 4; ++eject) {
        for (std::uint32_t tree = 0; tree < 8; ++tree) {
          words.push_back(format.encode({vc, FlitType::sub_head, 0, 0, next, eject, tree}));
        }
      }
    }
  }
  std::sort(words.begin(), words.end());
  CHECK(std::adjacent_find(words.begin(), words.end()) == words.end());
}

TEST_CASE("The largest value of a field is accepted and the next one refused") {
  const FlitFormat format(16, 8, 4);
  const auto with = [](FlitType type, std::uint32_t FlitFields::*field, std::uint32_t value) {
    FlitFields fields;
    fields.type = type;
    fields.*field = value;
    return fields;
  };
  struct Row {
    FlitType type;
    std::uint32_t FlitFields::*field;
    std::uint32_t largest;
    const char* name;
  };
  for (const Row& row : {Row{FlitType::body, &FlitFields::vc, 3, "VC"},
                         Row{FlitType::head, &FlitFields::dest, 15, "Dest"},
                         Row{FlitType::head_tail, &FlitFields::src, 15, "Src"},
                         Row{FlitType::sub_head, &FlitFields::next, 7, "Next"},
                         Row{FlitType::sub_head, &FlitFields::eject, 7, "Eject"},
                         Row{FlitType::sub_head, &FlitFields::tree_id, 15, "Tree ID"}}) {
    CAPTURE(row.name);
    CHECK_NOTHROW(format.encode(with(row.type, row.field, row.largest)));
    CHECK_THROWS_AS(format.encode(with(row.type, row.field, row.largest + 1)), std::out_of_range);
    CHECK_THROWS_WITH(format.encode(with(row.type, row.field, row.largest + 1)),
                      Contains(row.name));
  }
}

TEST_CASE("Route computation exchanges Next and Eject and nothing else") {
  const FlitFields before{2, FlitType::sub_head, 0, 0, 5, 3, 9};
  const FlitFields after{2, FlitType::sub_head, 0, 0, 3, 5, 9};
  CHECK(turn_route_info(before) == after);
  CHECK(turn_route_info(after) == before);
}

TEST_CASE("On a route through switches each router finds its own port in front") {
  // 64 nodes of an 8-ary fat-tree: node, leaf, spine, leaf, and out at the last router.
  const FlitFormat format(64, 17, 4, 4);
  CHECK(format.packet_info_bits() == 5 * 5 + 6);
  FlitFields fields{1, FlitType::sub_head, 0, 0, 0, 16, 33, {9, 3, 12}};
  const FlitFields before = fields;
  std::vector<std::uint32_t> taken;
  for (int router = 0; router < 5; ++router) {
    CHECK(format.decode(format.encode(fields), true) == fields);
    taken.push_back(fields.next);
    fields = turn_route_info(fields);
  }
  CHECK(taken == std::vector<std::uint32_t>{0, 9, 3, 12, 16});
  CHECK(fields == before);
  CHECK_THAT(format.describe(), Contains("Next 4 x 5 | Eject 5 | Tree ID 6"));
  CHECK_THROWS_AS(format.encode({1, FlitType::sub_head, 0, 0, 0, 16, 33}), std::out_of_range);
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
}

}  // namespace
}  // namespace espalier
