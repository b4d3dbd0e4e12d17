// What synthesis needs to know of a Liberty file: which cells it has, their areas, whether they
// have timing, and what they leak. Yosys and OpenSTA read the file itself.
#pragma once

#include <map>
#include <optional>
#include <string>

namespace espalier {

struct LibertyFile {
  std::string path;       // absolute
  std::string name;       // of the library
  double nand2_area = 0;  // of the smallest two-input NAND; as in the file, µm²
  bool has_timing = false;
  // nW, by cell; without the cells for which the file states none.
  std::map<std::string, double> leakage_nw;
};

// Throws std::runtime_error with the place if the file cannot be read or is no Liberty file, and
// says which cell is missing if it has no NAND2, inverter, buffer or D flip-flop with an area.
[[nodiscard]] LibertyFile read_liberty(const std::string& path);

}  // namespace espalier
