// What a user says of the hardware's cost: technology, storage, and macros of his own.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace espalier {

// The modules of hw/rtl. A synthesis tool can measure them in place of a formula.
enum class RtlModule : std::uint8_t {
  ni_control,
  dependency_table,
  fifo_control,
  scf_finder,
  readiness_table
};

// A module with its parameters in the order of its source: ni_control S, L; dependency_table N, K;
// fifo_control A, 0; scf_finder N, K; readiness_table UNITS, CHILDREN.
struct RtlInstance {
  RtlModule module = RtlModule::ni_control;
  std::uint32_t first = 0;
  std::uint32_t second = 0;

  [[nodiscard]] friend bool operator==(const RtlInstance& a, const RtlInstance& b) {
    return a.module == b.module && a.first == b.first && a.second == b.second;
  }
};

// A module as measured by a synthesis tool: area in drive-1 NAND2s and critical path in FO4, both
// of the library that the module was mapped to. Wires and setup are not included.
struct SynthesizedLogic {
  RtlInstance instance;
  double gates = 0;
  double fo4 = 0;
};

// Cell libraries whose areas were read from their Liberty or LEF files (hw/cost/technology.cpp).
enum class CellLibrary : std::uint8_t {
  osu050,
  osu035,
  osu018,
  gf180mcu,
  ihp_sg13g2,
  sky130hd,
  nangate45,
  asap7
};

// What a memory is built of; automatic: the smaller of the two.
enum class Storage : std::uint8_t { automatic, flip_flop, sram };

// What is priced. Router: per input port buffers, per VC FIFO control, crossbar, allocators. NI:
// per port buffers and DMA request registers; schedule table, its control and dependency table; or,
// per dimension, dimension queue and SCF finder; where NIs coordinate jobs, readiness table.
enum class CostBlock : std::uint8_t {
  router_buffers,
  router_fifo_control,
  router_crossbar,
  router_allocators,
  ni_buffers,
  ni_fifo_control,
  ni_dma_registers,
  ni_schedule_table,
  ni_control,
  ni_dependency_table,
  ni_dimension_queue,
  ni_scf_finder,
  ni_readiness_table
};
inline constexpr std::size_t kNumCostBlocks = 13;

// A user's numbers for one instance of a block. The formulas supply numbers that are 0. For logic,
// `read_pj` is the energy of one use.
struct UserMacro {
  double area_um2 = 0;
  std::uint64_t delay_ps = 0;  // access time of a memory, critical path of logic; margin included
  double read_pj = 0;
  double write_pj = 0;
};

struct CostSpec {
  CellLibrary library = CellLibrary::nangate45;
  std::uint64_t node_nm = 0;  // feature size; 0: the library's own
  std::uint64_t fo4_ps = 0;   // delay of an inverter that drives four; 0: of the node
  double utilization = 0.70;  // cell area / placed area
  double wire_margin = 0.30;  // added to logic delay for wires and setup
  Storage buffers = Storage::automatic;
  Storage table = Storage::automatic;
  Storage queues = Storage::automatic;
  std::uint32_t table_entry_bits = 0;  // 0: of the fields that the topology needs
  std::uint32_t queue_entries = 0;     // of a dimension queue; 0: of the chunks that come
  double link_pj_per_bit = 0;          // 0: not known
  std::array<UserMacro, kNumCostBlocks> macros;
  std::vector<SynthesizedLogic> synthesized;  // in place of the formulas for these

  [[nodiscard]] const UserMacro& macro(CostBlock block) const {
    return macros[static_cast<std::size_t>(block)];
  }
  [[nodiscard]] UserMacro& macro(CostBlock block) {
    return macros[static_cast<std::size_t>(block)];
  }
};

}  // namespace espalier
