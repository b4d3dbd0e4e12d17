#include "sims/formats/layers_file.h"

#include <catch2/catch.hpp>
#include <tuple>

#include "config_test_support.h"

namespace espalier {

using namespace config_test;

namespace {

using LayerRow = std::tuple<std::string, std::uint32_t, std::uint32_t, std::uint32_t, std::uint32_t,
                            std::uint32_t, std::uint32_t, std::uint32_t, LayerWeights>;

struct ParsedLayers {
  std::optional<std::vector<Layer>> layers;
  std::string diagnostics;
};

ParsedLayers parse_layers_text(const std::string& text) {
  Diagnostics diagnostics;
  ParsedLayers parsed;
  parsed.layers = parse_layers("net.csv", text, diagnostics);
  parsed.diagnostics = diagnostics.text();
  return parsed;
}

std::vector<LayerRow> layer_rows(const std::string& text) {
  const ParsedLayers parsed = parse_layers_text(text);
  INFO(parsed.diagnostics);
  REQUIRE(parsed.layers);
  std::vector<LayerRow> rows;
  for (const Layer& l : *parsed.layers) {
    rows.emplace_back(l.name, l.ifmap_height, l.ifmap_width, l.filter_height, l.filter_width,
                      l.channels, l.filters, l.stride, l.weights);
  }
  return rows;
}

const std::string kHeader =
    "Layer name, IFMAP Height, IFMAP Width, Filter Height, Filter Width, Channels, Num Filter, "
    "Strides,\n";

}  // namespace

TEST_CASE("A SCALE-Sim topology file is read column by column") {
  CHECK(layer_rows(kHeader + "Conv1, 30, 28, 5, 3, 4, 16, 2,\n"
                             "FC, 1, 1, 1, 1, 138000, 8, 1,\n") ==
        std::vector<LayerRow>{{"Conv1", 30, 28, 5, 3, 4, 16, 2, LayerWeights::own},
                              {"FC", 1, 1, 1, 1, 138000, 8, 1, LayerWeights::own}});
}

TEST_CASE("A row of SCALE-Sim's GEMM tables is M pixels of K channels and N filters") {
  for (const char* table : {"Layer, M, N, K,\nfc1, 64, 32, 16,\n", "Layer,M,N,K\nfc1,64,32,16\n"}) {
    CHECK(layer_rows(table) ==
          std::vector<LayerRow>{{"fc1", 64, 1, 1, 1, 16, 32, 1, LayerWeights::own}});
  }
  const std::string said =
      parse_layers_text("Layer, M, N, K\nfc1, 64, 32\nfc2, 0, 1, 1\n").diagnostics;
  CHECK(said.find("net.csv:2:1: error: a GEMM has a name, M, N and K") != std::string::npos);
  CHECK(said.find("net.csv:3:6: error: IFMAP Height: 0") != std::string::npos);
}

TEST_CASE("Titles, lines of commas, blanks and Windows line ends of topology files are ignored") {
  const std::vector<LayerRow> expected{{"q x k'", 9, 8, 3, 2, 7, 6, 5, LayerWeights::own}};
  CHECK(layer_rows("\xef\xbb\xbf" + kHeader +
                   "\n,,,,,,,,\nSome Network,\r\n\t q x k',9, 8,3,2 ,7,6,5, \r\n" +
                   "# a comment, of this program\n\n\n") == expected);
  // No commas at the end, and other words for the columns.
  CHECK(layer_rows("Layer name,IFMAP Height,IFMAP Width,Filter Height,Filter Width,Channels,Num "
                   "Filters,Stride\n,,,,,,,\nAnother One\nq x k',9,8,3,2,7,6,5") == expected);
}

TEST_CASE("The ninth column says where the weights come from") {
  CHECK(layer_rows("Layer name, H, W, FH, FW, C, N, S, Weights,\n"
                   "a, 4, 4, 1, 1, 1, 1, 1, own,\n"
                   "b, 4, 4, 1, 1, 1, 1, 1,\n"
                   "c, 4, 4, 1, 1, 1, 1, 1, shared\n"
                   "d, 4, 4, 1, 1, 1, 1, 1, none,,\n"
                   "e, 4, 4, 1, 1, 1, 1, 1, lookup,\n") ==
        std::vector<LayerRow>{{"a", 4, 4, 1, 1, 1, 1, 1, LayerWeights::own},
                              {"b", 4, 4, 1, 1, 1, 1, 1, LayerWeights::own},
                              {"c", 4, 4, 1, 1, 1, 1, 1, LayerWeights::shared},
                              {"d", 4, 4, 1, 1, 1, 1, 1, LayerWeights::none},
                              {"e", 4, 4, 1, 1, 1, 1, 1, LayerWeights::lookup}});
}

TEST_CASE("Mistakes in a topology file are refused at their place") {
  struct BadFile {
    std::string input;
    const char* message;
    const char* hint;
  };
  const std::vector<BadFile> cases{
      {"@", "the file is empty", "the line Layer name"},
      {"@\n\n,,,\n# nothing\n", "the file is empty", "the line Layer name"},
      {"@" + kHeader + "\nOnly a title,,\n", "the file has no layers", "for example conv1"},
      {"Conv1, @30, 28, 5, 3, 4, 16, 2,\n", "found a number in the first line",
       "Layer name, IFMAP"},
      {"Layer, M, K, N@,\nfc, 1, 2, 3,\n", "found 4 columns; a layer has 8", "Layer name"},
      {"Layer name, H, W, FH, FW, C, N, S, @Sparsity,\n", "unknown column 'Sparsity'", "Weights"},
      {"Layer name, H, W, FH, FW, C, N, S, @Weights, more\n", "unknown column", "Weights"},
      {kHeader + "a, 4, 4, 1, 1, 1, 1@\n", "no value for 'Strides'", "for example"},
      {kHeader + "a, 4@,,,,\n", "no value for 'IFMAP Width'", "for example"},
      {kHeader + "a, 4, @, 1, 1, 1, 1, 1,\n", "no value for 'IFMAP Width'", "for example"},
      {kHeader + "@, 4, 4, 1, 1, 1, 1, 1,\n", "the layer has no name", "for example"},
      {kHeader + "a, 4, 4, 1, 1, 1, 1, 1, own, @2,\n", "found 10 values for 9", "for example"},
      {kHeader + "a, 4, 4, 1, 1, 1, 1, 1, @mine,\n", "Weights: 'mine' is not a valid name",
       "own, shared, none, lookup"},
      {kHeader + "a, 4, 4, @0, 1, 1, 1, 1,\n", "Filter Height: 0 is out of range", "integer, 1 to"},
      {kHeader + "a, 4, 4, 1, 1, @-3, 1, 1,\n", "Channels: -3 is out of range", "integer, 1 to"},
      {kHeader + "a, @four, 4, 1, 1, 1, 1, 1,\n", "IFMAP Height: 'four' is not an integer", ""},
      {kHeader + "a, 4, @4.5, 1, 1, 1, 1, 1,\n", "IFMAP Width: '4.5' is not an integer", ""},
      {kHeader + "a, 4, @65537, 1, 1, 1, 1, 1,\n", "is out of range", "integer, 1 to 65536"},
      {kHeader + "a, 4, 4, 1, 1, 1, @16777217, 1,\n", "is out of range", "1 to 16777216"},
      {kHeader + "a, 4, 6, @5, 5, 1, 1, 1,\n", "a filter of 5 rows does not fit into an IFMAP of 4",
       "zero padding"},
      {kHeader + "a, 6, 4, 5, @5, 1, 1, 1,\n", "a filter of 5 columns does not fit", "padding"},
      {kHeader + "@a, 900, 900, 900, 900, 2000, 9000000, 1,\n",
       "more than 1099511627776 parameters", ""},
      {"@Layer name, H, W, FH, FW, C, N, S, Weights\na, 4, 4, 1, 1, 1, 1, 1, none\n",
       "nothing to all-reduce", ""},
  };
  for (const BadFile& bad : cases) {
    const Marked marked = unmark(bad.input);
    const ParsedLayers parsed = parse_layers_text(marked.text);
    INFO(bad.input);
    INFO(parsed.diagnostics);
    CHECK_FALSE(parsed.layers);
    const auto all = parse_diagnostics(parsed.diagnostics);
    const Printed* found = find_at(all, marked, bad.message);
    REQUIRE(found != nullptr);
    CHECK(found->where == "net.csv");
    CHECK(found->hint.find(bad.hint) != std::string::npos);
  }
}

TEST_CASE("All mistakes in a topology file are reported at once") {
  const auto all = parse_diagnostics(
      parse_layers_text(kHeader + "a,x,4,1,1,y,1,1\nb,4,4,1,1,1,1,1\nc,4,4,5,5,1,1,1\nd,4\n")
          .diagnostics);
  CHECK(all.size() == 5);
}

}  // namespace espalier
