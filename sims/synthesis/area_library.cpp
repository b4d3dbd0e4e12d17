#include "sims/synthesis/area_library.h"

#include <fmt/format.h>

#include <string_view>

#include "hw/cost/technology.h"

namespace espalier {

namespace {

struct AreaCell {
  const char* name;
  double um2;
  std::string_view inputs;  // a letter each
  const char* function;
};

// Drive 1. Areas of inverter, NAND2, XOR2, MUX2 and flip-flop are those of the technology table.
std::string cell_text(const AreaCell& cell) {
  std::string text = fmt::format("  cell ({}) {{\n    area : {};\n", cell.name, cell.um2);
  for (const char input : cell.inputs) {
    text += fmt::format("    pin ({}) {{ direction : input; }}\n", input);
  }
  text += fmt::format("    pin (Z) {{ direction : output; function : \"{}\"; }}\n  }}\n",
                      cell.function);
  return text;
}

}  // namespace

std::string area_library() {
  const LibraryCells& table = cells_of(CellLibrary::nangate45);
  const AreaCell cells[] = {{"INV", table.inverter, "A", "!A"},
                            {"BUF", 0.798, "A", "A"},
                            {"NAND2", table.nand2, "AB", "!(A B)"},
                            {"NAND3", 1.064, "ABC", "!(A B C)"},
                            {"NOR2", 0.798, "AB", "!(A+B)"},
                            {"AND2", 1.064, "AB", "A B"},
                            {"OR2", 1.064, "AB", "A+B"},
                            {"AOI21", 1.064, "ABC", "!((A B)+C)"},
                            {"OAI21", 1.064, "ABC", "!((A+B) C)"},
                            {"XOR2", table.xor2, "AB", "A^B"},
                            {"XNOR2", table.xor2, "AB", "!(A^B)"},
                            {"MUX2", table.mux2, "ABS", "(A !S)+(B S)"}};
  std::string text = "library (areas) {\n  delay_model : table_lookup;\n";
  for (const AreaCell& cell : cells) text += cell_text(cell);
  text += fmt::format(
      "  cell (DFF) {{\n    area : {};\n"
      "    ff (IQ, IQN) {{ clocked_on : \"CK\"; next_state : \"D\"; }}\n"
      "    pin (CK) {{ direction : input; clock : true; }}\n"
      "    pin (D) {{ direction : input; }}\n"
      "    pin (Q) {{ direction : output; function : \"IQ\"; }}\n  }}\n}}\n",
      table.flip_flop);
  return text;
}

}  // namespace espalier
