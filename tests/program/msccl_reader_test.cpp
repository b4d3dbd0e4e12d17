#include <fmt/format.h>

#include <catch2/catch.hpp>
#include <regex>

#include "alg/program/program_certifier.h"
#include "alg/program/protocol.h"
#include "program_file_support.h"
#include "sims/formats/program/msccl_xml.h"
#include "sims/formats/program/promises_file.h"

using namespace espalier;

namespace {

struct Expected {
  std::string place;  // "4" or "4:17"
  std::string text;
};

// An invalid file ends with comments: <!-- error 4:17: what is wrong -->
std::vector<Expected> expected_errors(const std::string& text) {
  static const std::regex kComment("<!-- error ([0-9]+(:[0-9]+)?): (.*) -->");
  std::vector<Expected> expected;
  for (std::sregex_iterator it(text.begin(), text.end(), kComment), end; it != end; ++it) {
    expected.push_back({(*it)[1], (*it)[3]});
  }
  return expected;
}

// Of one message: "x.xml:4:17: error: gpu 0 ...".
bool says(const std::string& line, const Expected& expected) {
  return line.find(":" + expected.place + ":") != std::string::npos &&
         line.find("error: ") != std::string::npos && line.find(expected.text) != std::string::npos;
}

std::string valid_file(const std::string& name) {
  return contents_of(std::string(ESPALIER_SOURCE_DIR) + "/tests/program/xml/valid/" + name);
}

std::string with(std::string text, const std::string& old_text, const std::string& new_text) {
  const std::size_t at = text.find(old_text);
  if (at == std::string::npos) throw std::runtime_error("no " + old_text);
  return text.replace(at, old_text.size(), new_text);
}

std::string warnings_of(const std::string& text) {
  Diagnostics diagnostics;
  REQUIRE(read_msccl_xml("test.xml", text, diagnostics));
  return diagnostics.text();
}

}  // namespace

TEST_CASE("An empty range of sizes and a missing name of the later generation give warnings") {
  const std::string text = valid_file("two_rank_exchange.xml");
  CHECK_THAT(warnings_of(with(text, "coll=", "minBytes=\"8\" maxBytes=\"8\" coll=")),
             Catch::Contains("no size is at least minBytes and below maxBytes"));
  const std::string nameless = with(text, "<algo name=", "<algo redop=");
  CHECK_THAT(warnings_of(with(nameless, "coll=", "outofplace=\"0\" coll=")),
             Catch::Contains("it is missing"));
  Diagnostics diagnostics;
  CHECK_FALSE(read_msccl_xml("test.xml", nameless, diagnostics));
}

TEST_CASE("Every valid document is proven, with its promises, also out of place if it says so") {
  for (const std::string& path : corpus("xml/valid", ".xml")) {
    CAPTURE(path);
    Diagnostics diagnostics;
    auto program = read_msccl_xml(path, contents_of(path), diagnostics);
    REQUIRE(program);
    if (program->collective == CollectiveOp::custom) {
      const std::string promises = path.substr(0, path.size() - 3) + "promises";
      program->promises =
          read_promises(promises, contents_of(promises), *program, diagnostics).value();
    }
    const ProgramCertificate certificate = certify_program(*program);
    for (const ProgramViolation& violation : certificate.violations)
      UNSCOPED_INFO(describe(violation));
    CHECK(certificate.ok());
    CHECK(certificate.out_of_place.empty());
    CHECK(certificate.promises_known);
  }
}

TEST_CASE("Every document of a wrong program is refused for its reason, at its line") {
  static const std::regex kComment("<!-- violation ([a-z]+) ([0-9]+) -->");
  for (const std::string& path : corpus("xml/unproven", ".xml")) {
    CAPTURE(path);
    const std::string text = contents_of(path);
    Diagnostics diagnostics;
    const auto program = read_msccl_xml(path, text, diagnostics);
    REQUIRE(program);
    ProgramLimits limits;
    limits.slots = protocol_spec(program->protocol).slots;
    const ProgramCertificate certificate = certify_program(*program, limits);
    std::smatch expected;
    REQUIRE(std::regex_search(text, expected, kComment));
    std::string said;
    for (const ProgramViolation& violation : certificate.violations) {
      said += fmt::format("{} {}\n", to_string(violation.kind), violation.line);
    }
    CHECK_THAT(said, Catch::Contains(expected[1].str() + " " + expected[2].str() + "\n"));
  }
}

TEST_CASE("Every valid document is read") {
  for (const std::string& path : corpus("xml/valid", ".xml")) {
    CAPTURE(path);
    Diagnostics diagnostics;
    const auto program = read_msccl_xml(path, contents_of(path), diagnostics);
    INFO(diagnostics.text());
    REQUIRE(program);
    REQUIRE(diagnostics.num_warnings() == (file_name(path) == "lexical.xml" ? 4 : 0));
  }
}

TEST_CASE("All errors of an invalid document are reported with their places") {
  for (const std::string& path : corpus("xml/invalid", ".xml")) {
    const std::string text = contents_of(path);
    Diagnostics diagnostics;
    REQUIRE_FALSE(read_msccl_xml(file_name(path), text, diagnostics));
    const std::string messages = diagnostics.text();
    INFO(messages);
    CAPTURE(path);
    const std::vector<Expected> expected = expected_errors(text);
    REQUIRE_FALSE(expected.empty());
    CHECK(diagnostics.num_errors() == expected.size());
    std::vector<std::string> lines;
    for (std::size_t at = 0; at < messages.size();) {
      const std::size_t end = std::min(messages.find('\n', at), messages.size());
      lines.push_back(messages.substr(at, end - at));
      at = end + 1;
    }
    for (const Expected& error : expected) {
      CAPTURE(error.place, error.text);
      CHECK(std::any_of(lines.begin(), lines.end(),
                        [&](const std::string& line) { return says(line, error); }));
    }
  }
}

// Each ends with <!-- violation KIND LINE -->: what certify_program must find, and where.
TEST_CASE(
    "The reader accepts well-formed documents of wrong programs, which the certifier refuses") {
  for (const std::string& path : corpus("xml/unproven", ".xml")) {
    CAPTURE(path);
    const std::string text = contents_of(path);
    REQUIRE(text.find("<!-- violation ") != std::string::npos);
    REQUIRE(dump(read_valid(write_msccl_xml(read_valid(text)))) == dump(read_valid(text)));
  }
}

TEST_CASE("A document becomes the program it describes") {
  const Program program = read_valid(valid_file("allpairs_waits.xml"));
  REQUIRE(program.name == "all pairs");
  REQUIRE(program.collective == CollectiveOp::all_reduce);
  REQUIRE(program.in_place);
  REQUIRE_FALSE(program.also_out_of_place);
  REQUIRE(program.protocol == Protocol::simple);
  REQUIRE(program.num_channels == 1);
  REQUIRE(program.chunks == 2);
  REQUIRE(program.num_ranks() == 2);
  REQUIRE(program.ranks[1].input_chunks == 2);
  REQUIRE(program.ranks[1].output_chunks == 0);
  REQUIRE(program.ranks[1].scratch_chunks == 2);
  REQUIRE(program.ranks[1].line == 13);
  REQUIRE(program.ranks[0].blocks.size() == 2);
  const ThreadBlock& sending = program.ranks[0].blocks[0];
  REQUIRE(sending.send_peer == 1);
  REQUIRE(sending.recv_peer == 1);
  REQUIRE(sending.line == 4);
  REQUIRE(sending.steps[1].op == ProgramOp::recv);
  REQUIRE(sending.steps[1].dst_buffer == ProgramBuffer::scratch);
  REQUIRE(sending.steps[1].dst_offset == 0);
  REQUIRE(sending.steps[1].count == 2);
  REQUIRE(sending.steps[1].signals);
  REQUIRE(sending.steps[1].line == 6);
  const ThreadBlock& local = program.ranks[0].blocks[1];
  REQUIRE(local.send_peer == kNoPeer);
  REQUIRE(local.steps[0].op == ProgramOp::nop);
  REQUIRE(local.steps[0].count == 0);
  REQUIRE(local.steps[0].src_offset == -1);
  REQUIRE(local.steps[1].wait_block == 0);
  REQUIRE(local.steps[1].wait_step == 1);
}

TEST_CASE("A prolog, comments, C numbers and any order of elements change nothing") {
  const Program plain = read_valid(valid_file("two_rank_exchange.xml"));
  Program program = read_valid(valid_file("lexical.xml"));
  REQUIRE(program.name == "a <b> & \"c\" \xc3\xa9");
  REQUIRE(program.ranks[1].blocks.size() == 2);
  program.ranks[1].blocks.pop_back();
  program.name = plain.name;
  program.max_bytes = plain.max_bytes;
  REQUIRE(dump(program) == dump(plain));
  // A byte order mark and Windows line ends.
  std::string text = "\xef\xbb\xbf";
  for (const char c : valid_file("two_rank_exchange.xml"))
    text += c == '\n' ? "\r\n" : std::string(1, c);
  REQUIRE(dump(read_valid(text)) == dump(plain));
  REQUIRE(read_valid(text).ranks[1].line == 10);
}

TEST_CASE("Unknown parts of a document are ignored with one warning each") {
  const std::string warnings = warnings_of(valid_file("lexical.xml"));
  REQUIRE(warnings.find("test.xml:5:19: warning: attribute 'rate' of 'algo' is ignored") !=
          std::string::npos);
  REQUIRE(warnings.find("attribute 'depid2' of 'step' is ignored, 2 times in this file") !=
          std::string::npos);
  REQUIRE(warnings.find("element 'note' in 'algo' is ignored") != std::string::npos);
  const std::string text =
      with(valid_file("two_rank_exchange.xml"), "<tb id=\"0\"", "stray <tbs/><tb id=\"0\"");
  REQUIRE(warnings_of(text).find("text in 'gpu' is ignored") != std::string::npos);
  REQUIRE(warnings_of(text).find("did you mean 'tb'?") != std::string::npos);
}

TEST_CASE("A misspelled name comes with the right one") {
  const auto hint_of = [&](const std::string& old_text, const std::string& new_text) {
    return errors_of(with(valid_file("two_rank_exchange.xml"), old_text, new_text));
  };
  REQUIRE(hint_of("Simple", "simple").find("did you mean 'Simple'?") != std::string::npos);
  REQUIRE(hint_of("allreduce", "all_reduce").find("did you mean 'allreduce'?") !=
          std::string::npos);
  REQUIRE(hint_of("rrcs", "cyp").find("did you mean 'cpy'?") != std::string::npos);
  REQUIRE(hint_of("srcbuf=\"i\"", "srcbuf=\"x\"").find("valid names: i, o, s") !=
          std::string::npos);
  const std::string missing = hint_of("srcoff", "srcof");
  REQUIRE(missing.find("hint: found 'srcof'") != std::string::npos);
  REQUIRE(missing.find("did you mean 'srcoff'?") != std::string::npos);
}

TEST_CASE("inplace and outofplace together say which buffers a program is for") {
  const std::string text = valid_file("two_rank_exchange.xml");
  const auto read = [&](const std::string& attributes) {
    return read_valid(with(text, "inplace=\"1\"", attributes));
  };
  REQUIRE(read("inplace=\"5\"").in_place);
  REQUIRE_FALSE(read("inplace=\"5\"").also_out_of_place);
  REQUIRE_FALSE(read("inplace=\"0\"").in_place);
  REQUIRE_FALSE(read("inplace=\"0\"").also_out_of_place);
  REQUIRE_FALSE(read("inplace=\"0\" outofplace=\"1\"").in_place);
  REQUIRE_FALSE(read("inplace=\"1\" outofplace=\"0\"").also_out_of_place);
  REQUIRE(read("inplace=\"1\" outofplace=\"1\"").in_place);
  REQUIRE(read("inplace=\"1\" outofplace=\"1\"").also_out_of_place);
}

TEST_CASE("Sizes are inclusive, whatever the generation of the document") {
  const std::string text = valid_file("two_rank_exchange.xml");
  const auto read = [&](const std::string& attributes) {
    return read_valid(with(text, "inplace=\"1\"", "inplace=\"1\" " + attributes));
  };
  REQUIRE(read("").min_bytes == 0);
  REQUIRE(read("").max_bytes == (Bytes{1} << 27) - 1);
  REQUIRE(read("minBytes=\"16\" maxBytes=\"0x100\"").min_bytes == 16);
  REQUIRE(read("minBytes=\"16\" maxBytes=\"0x100\"").max_bytes == 255);
  REQUIRE(read("outofplace=\"0\" minBytes=\"256\" maxBytes=\"256\"").max_bytes == 256);
  REQUIRE(read("outofplace=\"0\"").max_bytes == 0);
  REQUIRE(read("outofplace=\"0\" minBytes=\"5\" maxBytes=\"0\"").max_bytes == 0);
  REQUIRE(read("maxBytes=\"9223372036854775807\"").max_bytes == 0);
  REQUIRE(read("maxBytes=\"0\"").max_bytes == 0);
}

TEST_CASE("Requirements that only runtimes have give warnings") {
  const std::string text = valid_file("two_rank_exchange.xml");
  REQUIRE(warnings_of(with(text, "nchannels=\"1\"", "nchannels=\"33\""))
              .find("runtimes use 32 at most") != std::string::npos);
  REQUIRE(warnings_of(with(text, "nchannels=\"1\"", "nchannels=\"2\""))
              .find("the highest channel used is 0") != std::string::npos);
  REQUIRE(warnings_of(with(text, "inplace=\"1\"", "inplace=\"1\" maxBytes=\"0\""))
              .find("0 is read as 'no limit'") != std::string::npos);
  REQUIRE(warnings_of(with(text, "inplace=\"1\"", "inplace=\"1\" root=\"1\""))
              .find("the collective has no root") != std::string::npos);
  REQUIRE(warnings_of(with(valid_file("custom_to_next.xml"), "i_chunks=\"2\"", "i_chunks=\"1\""))
              .find("is less than nchunksperloop") != std::string::npos);
}

namespace {

std::string many_steps(int steps) {
  std::string text =
      "<algo name=\"x\" proto=\"LL\" nchannels=\"1\" nchunksperloop=\"2\" ngpus=\"1\" "
      "coll=\"allreduce\" inplace=\"1\">\n<gpu id=\"0\" i_chunks=\"2\" o_chunks=\"0\" "
      "s_chunks=\"0\">\n<tb id=\"0\" send=\"-1\" recv=\"-1\" chan=\"0\">\n";
  for (int s = 0; s < steps; ++s) {
    text += fmt::format(
        "<step s=\"{}\" type=\"cpy\" srcbuf=\"i\" srcoff=\"0\" dstbuf=\"i\" dstoff=\"1\" cnt=\"1\" "
        "depid=\"-1\" deps=\"-1\" hasdep=\"0\"/>\n",
        s);
  }
  return text + "</tb></gpu></algo>";
}

std::string many_blocks(int blocks, int channels) {
  std::string text = fmt::format(
      "<algo name=\"x\" proto=\"LL\" nchannels=\"{}\" nchunksperloop=\"2\" ngpus=\"1\" "
      "coll=\"allreduce\" inplace=\"1\">\n<gpu id=\"0\" i_chunks=\"2\" o_chunks=\"0\" "
      "s_chunks=\"0\">\n",
      channels);
  for (int b = 0; b < blocks; ++b) {
    text += fmt::format("<tb id=\"{}\" send=\"-1\" recv=\"-1\" chan=\"{}\"/>\n", b, b % channels);
  }
  return text + "</gpu></algo>";
}

}  // namespace

TEST_CASE("Documents beyond the limits of runtimes are refused") {
  REQUIRE(errors_of(many_steps(256)).empty());
  REQUIRE(errors_of(many_steps(257))
              .find("test.xml:260:2: error: gpu 0 tb 0: has more than 256 steps") !=
          std::string::npos);
  REQUIRE(errors_of(many_blocks(216, 7)).empty());
  REQUIRE(errors_of(many_blocks(217, 7)).find("gpu 0: has 217 thread blocks") != std::string::npos);
  REQUIRE(errors_of(many_blocks(32, 1)).empty());
  REQUIRE(errors_of(many_blocks(33, 1)).find("more than 32 thread blocks of this rank have") !=
          std::string::npos);
}

TEST_CASE("A document cannot make its reader fill the memory") {
  std::string text =
      "<algo name=\"x\" proto=\"LL\" nchannels=\"1\" nchunksperloop=\"1048576\" "
      "ngpus=\"40\" coll=\"allreduce\" inplace=\"0\">\n";
  for (int r = 0; r < 40; ++r) {
    text += fmt::format("<gpu id=\"{}\" i_chunks=\"0\" o_chunks=\"0\" s_chunks=\"0\"/>\n", r);
  }
  REQUIRE(errors_of(text + "</algo>")
              .find("all buffers together have 83886080 chunks, which is too many") !=
          std::string::npos);
}

TEST_CASE("The number of reported errors is limited") {
  std::string text = many_steps(250);
  for (std::size_t at = text.find("cnt"); at != std::string::npos; at = text.find("cnt", at + 3)) {
    text.replace(at, 3, "xxx");
  }
  Diagnostics diagnostics;
  REQUIRE_FALSE(read_msccl_xml("test.xml", text, diagnostics));
  REQUIRE(diagnostics.num_errors() == 200);
}

TEST_CASE("Text that is not UTF-8 is refused") {
  REQUIRE(errors_of(std::string("\xff\xfe<\0a\0", 6)).find("expected an XML document in UTF-8") !=
          std::string::npos);
  REQUIRE(errors_of(std::string("<algo/>\n \0 <gpu/>", 17)).find("test.xml:2:2: error") !=
          std::string::npos);
  const std::string text = with(valid_file("two_rank_exchange.xml"), "two_rank", "\xff");
  REQUIRE(errors_of(text).find("broken UTF-8") != std::string::npos);
}

TEST_CASE("Deep nesting is read without recursion") {
  std::string text;
  for (int i = 0; i < 100000; ++i) text += "<gpu>";
  REQUIRE_FALSE(errors_of(text).empty());
  for (int i = 0; i < 100000; ++i) text += "</gpu>";
  REQUIRE_FALSE(errors_of(text).empty());
}
