#include "sims/text/read_file.h"

#include <catch2/catch.hpp>
#include <fstream>

#include "hw/topology/topology.h"
#include "sims/formats/layers_file.h"
#include "sims/formats/messages_file.h"
#include "sims/formats/program/chunk_trace_file.h"
#include "sims/formats/program/promises_file.h"
#include "sims/formats/rank_order_file.h"
#include "sims/formats/topology_file.h"
#include "sims/text/utf8.h"
#include "tests/support/networks.h"
#include "wave_folder.h"

using namespace espalier;

TEST_CASE("A file is read up to the limit and not beyond") {
  const wave_test::WaveFolder folder;
  const std::string path = folder.file("ten.txt");
  std::ofstream(path) << "0123456789";
  CHECK(read_file_bytes(path, 10).text == "0123456789");
  CHECK_FALSE(read_file_bytes(path, 9).text);
  CHECK(read_file_bytes(path, 9).problem == "is too large; allowed are at most 9B");
  std::ofstream(path, std::ios::trunc).close();
  CHECK(read_file_bytes(path, 0).text == "");
}

TEST_CASE("The limit holds for files without a size of their own") {
  CHECK(read_file_bytes("/proc/self/status").text->find("Name:") == 0);
  CHECK(read_file_bytes("/proc/self/status", 8).problem == "is too large; allowed are at most 8B");
}

TEST_CASE("A named file that cannot be read is an error where it is named") {
  Diagnostics diagnostics;
  const SourceIndex source = diagnostics.add_file("c.yaml", "file: none.csv");
  CHECK_FALSE(read_named_file("none.csv", {source, 1, 7}, diagnostics));
  CHECK(diagnostics.text() ==
        "c.yaml:1:7: error: 'none.csv' cannot be read: No such file or directory\n"
        "file: none.csv\n      ^\n"
        "hint: the path is relative to the configuration's folder\n");
}

TEST_CASE("UTF-8 and plain text are told apart") {
  CHECK(is_utf8("caf\xc3\xa9\t"));
  CHECK_FALSE(is_utf8("caf\xe9"));
  CHECK(is_plain_text("caf\xc3\xa9"));
  CHECK_FALSE(is_plain_text("caf\xc3\xa9\t"));
}

TEST_CASE("A carriage return alone does not end a line: every reader of lines says so") {
  const Topology mesh = make_mesh({2, 1}, LinkSpec{});
  const auto refused = [](auto&& read) {
    Diagnostics diagnostics;
    CHECK_FALSE(read(diagnostics).has_value());
    INFO(diagnostics.text());
    CHECK(
        diagnostics.text().find("f:1:10: error: a carriage return (0x0d) without a line feed\n") !=
        std::string::npos);
  };
  const std::string text = "# comment\rrank 0 out 0 = 0:0\n";
  Program program;
  program.collective = CollectiveOp::custom;
  program.ranks.resize(1);
  refused([&](Diagnostics& d) { return read_promises("f", text, program, d); });
  refused([&](Diagnostics& d) { return read_trace("f", text, d); });
  refused([&](Diagnostics& d) { return parse_layers("f", text, d); });
  refused([&](Diagnostics& d) { return parse_latencies("f", text, 2, d); });
  refused([&](Diagnostics& d) { return parse_messages("f", text, mesh, d); });
  refused([&](Diagnostics& d) { return parse_anynet("f", text, {}, d); });
}
