// What all tables of comma-separated values have in common.
#include "sims/text/table_reader.h"

#include <catch2/catch.hpp>

using namespace espalier;

namespace {

using NamedPort = std::pair<std::string, std::string>;

constexpr TableSpec kPortTable{"name, port", "port", "for example a,1"};

// Leaves out the rows of "nobody".
class PortReader : public TableReader<NamedPort> {
 public:
  PortReader(const TableSpec& spec, Diagnostics& diagnostics, std::size_t optional = 0)
      : TableReader(spec, diagnostics), optional_(optional) {}

 private:
  std::optional<NamedPort> read_row(const TableCells& row) override {
    if (!check_count(row, optional_) || !check_texts(row) || row[0].text == "nobody") {
      return std::nullopt;
    }
    return NamedPort{row[0].text, row[1].text};
  }

  std::size_t optional_;
};

std::vector<NamedPort> ports(const std::string& text, const TableSpec& spec = kPortTable) {
  Diagnostics diagnostics;
  const auto rows = PortReader(spec, diagnostics).read("ports.csv", text);
  INFO(diagnostics.text());
  REQUIRE(rows);
  CHECK(diagnostics.text().empty());
  return *rows;
}

// The errors as "line:column text (hint)", one per line.
std::string port_errors(const std::string& text, std::size_t optional = 0) {
  Diagnostics diagnostics;
  CHECK_FALSE(PortReader(kPortTable, diagnostics, optional).read("ports.csv", text));
  std::string all;
  for (const Diagnostics::Error& e : diagnostics.errors()) {
    all += std::to_string(e.place.line) + ":" + std::to_string(e.place.column) + " " + e.text +
           " (" + e.hint + ")\n";
  }
  return all;
}

}  // namespace

TEST_CASE("A table's rows come in order, without blank lines, comments and rows left out") {
  CHECK(ports("\xef\xbb\xbf# ports, by name\r\n"
              " \t\n"
              "name,port\r\n"
              " b , 2\n"
              "  # c,3\n"
              "nobody,4\n"
              "a,#1") == std::vector<NamedPort>{{"b", "2"}, {"a", "#1"}});
}

TEST_CASE("A format may split the lines of its table in its own way") {
  TableSpec spec = kPortTable;
  spec.split = [](std::string_view line, const Place& start) {
    return line == "end" ? TableCells{} : cells_of(line.substr(0, line.find(';')), start);
  };
  CHECK(ports("name,port;\na,1;x\nend\n;\nb,2\n", spec) ==
        std::vector<NamedPort>{{"a", "1"}, {"b", "2"}});
}

TEST_CASE("A table's header has exactly the columns of the format, or no row is read") {
  const std::string hint = " (the first line must be name, port)\n";
  CHECK(port_errors("a,1\nb\n") == "1:1 expected column 'name' here" + hint);
  CHECK(port_errors("\nname,ports\n") == "2:6 expected column 'port' here" + hint);
  CHECK(port_errors("name\n") == "1:1 expected column 'port' here" + hint);
  CHECK(port_errors("name,port, more,\n") == "1:12 found 4 columns" + hint);
}

TEST_CASE("Each row of a table with a missing or a surplus value is an error") {
  CHECK(port_errors("name,port\nab\n,2\nc,\nd,1,2,3\n") ==
        "2:3 no value for 'port' (for example a,1)\n"
        "3:1 no value for 'name' (for example a,1)\n"
        "4:3 no value for 'port' (for example a,1)\n"
        "5:5 found 4 values for 2 columns (for example a,1)\n");
  CHECK(port_errors("name,port\na,1,\nd,1,2,3\n", 1) ==
        "3:7 found 4 values for 3 columns (for example a,1)\n");
}

TEST_CASE("A table without rows is an error") {
  const std::string empty =
      "1:1 the file is empty (write the line name, port, then one line for each port, for example "
      "a,1)\n";
  CHECK(port_errors("") == empty);
  CHECK(port_errors("\n# name,port\n") == empty);
  const std::string no_rows = "2:1 the file has no ports after the header (for example a,1)\n";
  CHECK(port_errors("\n  name,port\n\n# a,1\n") == no_rows);
  CHECK(port_errors("\nname,port\nnobody,1\n") == no_rows);
  // Another error says enough.
  CHECK(port_errors("name,port\r# a\n") ==
        "1:10 a carriage return (0x0d) without a line feed (end each line with LF or CRLF)\n");
}
