#include <catch2/catch.hpp>
#include <tuple>

#include "config_test_support.h"
#include "sims/formats/messages_file.h"

namespace espalier {

using namespace config_test;

namespace {

// Two nodes and a switch between them.
Topology small_graph() {
  Topology graph("graph");
  for (const char* name : {"a", "b", "gpu7"}) graph.add_node(name);
  graph.add_switch("s0");
  return graph;
}

struct Parsed {
  std::optional<std::vector<TrafficMessage>> messages;
  std::string diagnostics;
};

Parsed parse_messages_text(const std::string& text) {
  Diagnostics diagnostics;
  Parsed parsed;
  parsed.messages = parse_messages("messages.csv", text, small_graph(), diagnostics);
  parsed.diagnostics = diagnostics.text();
  return parsed;
}

using MessageRow = std::tuple<Cycle, std::size_t, std::size_t, Bytes>;

std::vector<MessageRow> rows_of(const std::string& text) {
  const Parsed parsed = parse_messages_text(text);
  INFO(parsed.diagnostics);
  REQUIRE(parsed.messages);
  CHECK(parsed.diagnostics.empty());
  std::vector<MessageRow> rows;
  for (const TrafficMessage& m : *parsed.messages) {
    rows.emplace_back(m.ready, m.from.index(), m.to.index(), m.bytes);
  }
  return rows;
}

}  // namespace

TEST_CASE("Messages come by sender and time, and in the file's order where both are equal") {
  CHECK(rows_of("ready,from,to,bytes\n"
                "9,b,a,1\n"
                "5,a,b,30\n"
                "0,b,a,2\n"
                "5,a,gpu7,10\n"
                "5,a,b,20\n") ==
        std::vector<MessageRow>{
            {5, 0, 1, 30}, {5, 0, 2, 10}, {5, 0, 1, 20}, {0, 1, 0, 2}, {9, 1, 0, 1}});
}

TEST_CASE("Nodes of a file of messages go by name or number") {
  CHECK(rows_of("ready,from,to,bytes\n0,gpu7,1,16\n0,0,gpu7,16\n") ==
        std::vector<MessageRow>{{0, 0, 2, 16}, {0, 2, 1, 16}});
}

TEST_CASE("Comments, blanks, blank lines, Windows line ends and a byte order mark are ignored") {
  CHECK(rows_of("\xef\xbb\xbf# a file, of messages\r\n"
                "\r\n"
                " ready , from,\tto,bytes # the header\r\n"
                "  \t\r\n"
                "1, a ,b,\t2  # the only one\r\n"
                "# 3,a,b,4") == std::vector<MessageRow>{{1, 0, 1, 2}});
}

TEST_CASE("The largest numbers of a file of messages") {
  CHECK(rows_of("ready,from,to,bytes\n1000000000000000,a,b,1073741824\n") ==
        std::vector<MessageRow>{{1'000'000'000'000'000, 0, 1, 1U << 30}});
}

TEST_CASE("Mistakes in a file of messages are reported at their place") {
  struct BadFile {
    std::string input;
    const char* message;
    const char* hint;
  };
  const std::string header = "ready,from,to,bytes\n";
  const std::vector<BadFile> cases{
      {"@", "the file is empty", "the line ready,from,to,bytes"},
      {"@\n# nothing\n\n", "the file is empty", "the line ready,from,to,bytes"},
      {"@ready,from,to,bytes\n# nothing\n", "the file has no messages", "0,0,1,4096"},
      {"\n@0,a,b,16\n", "expected column 'ready' here", "ready,from,to,bytes"},
      {"ready,@to,from,bytes\n", "expected column 'from' here", "ready,from,to,bytes"},
      {"ready,from,@to\n", "expected column 'bytes' here", "ready,from,to,bytes"},
      {"ready,from,to,bytes,@flow\n", "found 5 columns", "the first line must be ready,from"},
      {header + "0,a,b@\n", "no value for 'bytes'", "for example 0,0,1,4096"},
      {header + "0@\n", "no value for 'from'", "for example 0,0,1,4096"},
      {header + "0,a,b,16,@,\n", "found 6 values for 4 columns", "for example 0,0,1,4096"},
      {header + "0,a,b,16\n@-1,a,b,16\n", "ready: -1 is out of range", "integer, 0 to"},
      {header + "@soon,a,b,16\n", "ready: 'soon' is not an integer", "integer, 0 to"},
      {header + "@1000000000000001,a,b,16\n", "is out of range", "integer, 0 to"},
      {header + "0,a,b,@16B\n", "bytes: '16B' is not an integer", ""},
      {header + "0,a,b,@0\n", "bytes: 0 is out of range", "integer, 1 to 1073741824"},
      {header + "0,a,b,  @1073741825\n", "is out of range", "integer, 1 to 1073741824"},
      {header + "0,a,b, @# nothing\n", "bytes: '' is not an integer", "integer, 1 to"},
      {header + "0,a,@\xc3\xa4,16\n", "to: '\xc3\xa4' is no node of the network", "such as 'a'"},
      {header + "0,@gpu,b,16\n", "from: 'gpu' is no node of the network", "did you mean 'gpu7'?"},
      {header + "0,a,@s0,16\n", "to: 's0' is a switch; a node is needed", ""},
      {header + "0,@3,b,16\n", "from: '3' is no node of the network", "from 0 to 2"},
      {header + "0,b,@1,16\n", "to: 'b' sends to itself", ""},
  };
  for (const BadFile& bad : cases) {
    const Marked marked = unmark(bad.input);
    const Parsed parsed = parse_messages_text(marked.text);
    INFO(bad.input);
    INFO(parsed.diagnostics);
    CHECK_FALSE(parsed.messages);
    const auto all = parse_diagnostics(parsed.diagnostics);
    const Printed* found = find_at(all, marked, bad.message);
    REQUIRE(found != nullptr);
    CHECK(found->where == "messages.csv");
    CHECK(found->hint.find(bad.hint) != std::string::npos);
  }
}

TEST_CASE("All mistakes in a file of messages are reported at once") {
  const auto all = parse_diagnostics(
      parse_messages_text("ready,from,to,bytes\nx,a,b,16\n0,a,b,16\n0,c,b,-\n").diagnostics);
  CHECK(all.size() == 3);
}

}  // namespace espalier
